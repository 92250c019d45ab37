/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON values that are compared: exactly, without rounding, and for what they say.
 *
 * Two values are equal where their canonical texts are: members in the order of their
 * names, strings by code points, numbers by their decimal value (1, 1.0 and 1e0 are the
 * same, 1e400 and 2e400 are not). All work is bounded: a number of more than
 * CANON_DIGITS bytes, or with an exponent of more than five digits, has no canonical
 * text, and neither has what is nested deeper than CANON_DEPTH.
 */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

enum { CANON_DEPTH = 16, CANON_DIGITS = 256, CANON_MEMBERS = 256 };

/* ERR_TOO_BIG, ERR_TOO_DEEP: it has none. Appends on one line; on failure the buffer may
 * hold a part of it. */
enum err canon_put(struct buf *out, const struct json *value);

/* The same in an arena. */
enum err canon_text(const struct json *value, struct arena *arena, struct str *ret);

/* A number: its sign, its digits without zeros at either end, and where they stand:
 * 0.DIGITS times ten to the power of `point`. No digits: zero. */
struct canon_number {
    bool is_negative;
    char digits[CANON_DIGITS];
    size_t count;
    int32_t point;
};

/* As JSON writes numbers. ERR_INVALID: it is none; ERR_TOO_BIG. */
enum err canon_number_parse(struct str text, struct canon_number *ret);
void canon_number_put(struct buf *out, const struct canon_number *number);

/* Below 0, 0, above 0. */
int canon_number_compare(const struct canon_number *a, const struct canon_number *b);
bool canon_number_is_whole(const struct canon_number *number);
