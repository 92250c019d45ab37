/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread: an envelope and everything that refers to it along correlation_id, at any
 * distance, as far as it was seen. A proposal, the call that fulfils it and its answer
 * are one. Pure, and bounded: what begins a thread too long is still in it, but what
 * refers to that no longer is.
 */
#pragma once

#include <stdbool.h>

#include "base/map.h"
#include "base/str.h"

struct thread {
    struct map ids; /* keys and values are copies of ours */
};

enum { THREAD_MAX = 100'000 };

void thread_init(struct thread *thread, struct str id);
void thread_done(struct thread *thread);

/* Is this envelope part of it? Then what it is and what it refers to are, too.
 * `correlation_id` is empty where there is none. */
bool thread_takes(struct thread *thread, struct str id, struct str correlation_id);
