/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room in a terminal: what is said, who is here, what waits for a decision, and a
 * line to type in.
 */
#pragma once

#include <moot.h>

#include "base/buf.h"
#include "base/err.h"

struct tui_options {
    struct moot_options connection; /* url, topic, token, ca_file; the rest is ours */
    const char *on_proposal;        /* a command for /bin/sh, or NULL */
};

/* Until the person leaves. ERR_INVALID: the terminal or the options cannot be used.
 * ERR_CLOSED: the server did not let us in. `ret_why` says more, and is plain. */
enum err tui_run(const struct tui_options *options, struct buf *ret_why);
