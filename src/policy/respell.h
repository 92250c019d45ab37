/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns in another spelling, for those who read it (D20): dotted members are shown
 * mcp.*, mcpx.withdraw.*, mcpx.reject.* and mcpx.approve.* for what was written as "mcp/"
 * and a star. Only where the meaning is equal; what has no equal is shown as it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "envelope/dialect.h"

struct pattern;

enum { RESPELL_MAX = 4 }; /* patterns that one may become */

/* The patterns that together match exactly what `pattern` does, in the dialect given
 * where there are such, else the pattern itself. Returns how many, at least one; the
 * texts are static, borrowed from `pattern`, or in `space` (KIND_MAX_BYTES). */
size_t respell_pattern(struct str pattern, enum dialect to, char *space,
                       struct str ret[RESPELL_MAX]);

/* A pattern together with its equals in the other spelling, compiled once: they are asked
 * for again and again. */
struct respelt {
    const struct pattern *as_written;
    struct pattern *equals[RESPELL_MAX];
    size_t count; /* 0: it has none */
};

/* Borrows the pattern. */
void respelt_init(struct respelt *respelt, const struct pattern *pattern);
void respelt_done(struct respelt *respelt);

/* pattern_covers() for patterns of any spelling: across spellings one of them is respelt,
 * and where it has no equal, nothing is shown. */
bool respelt_covers(const struct respelt *held, const struct respelt *wanted);

/* True only if whatever `wanted` is shown to cover, `held` is shown to cover as well. */
bool respelt_covers_all_of(const struct respelt *held, const struct respelt *wanted);
