/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The participants with the most violations, for GET /metrics: however many there are,
 * the worst OFFENDERS_MAX of them are told.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum { OFFENDERS_MAX = 100 };

struct offender {
    uint64_t violations;
    struct str topic;
    struct str id;
};

struct offenders {
    size_t count;
    struct offender worst[OFFENDERS_MAX]; /* the worst first; texts are borrowed */
};

/* Takes it in, if it is among the worst. Of two that are as bad the first stays. */
void offenders_add(struct offenders *offenders, const struct offender *offender);

/* Copies the texts. What does not fit into the arena, the least bad, is left out. */
void offenders_keep(struct offenders *offenders, struct arena *arena);

/* NAME{topic="…",participant="…"} N, a line each, with HELP and TYPE before. */
void offenders_write(const struct offenders *offenders, struct buf *out);
