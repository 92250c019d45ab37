/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of JSON by their exact decimal value: 1, 1.0 and 10e-1 are equal, 1e400 is a
 * number like any other, and nothing is ever rounded. The work grows with the text and
 * with nothing else, however large the exponent.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* 0.DIGITS times ten to the power of `places` plus the exponent. No digits: zero. It
 * borrows from the text. */
struct json_number {
    struct str digits;   /* from the first that is not 0 to the last; may hold a point */
    size_t count;        /* of the digits, without the point */
    int64_t places;      /* from the first digit to the point; below 0: zeros before it */
    struct str exponent; /* as it was given, without sign and leading zeros */
    bool is_negative;
    bool has_negative_exponent;
};

/* ERR_INVALID: it is none as JSON writes them. */
enum err json_number_parse(struct str text, struct json_number *ret);

/* The one text of this value: -120.50 is -120.5, 1e2 is 100, 0.0 and -0 are 0. Where many
 * zeros would have to be written out there is an exponent: 10e399 is 1e400. */
void json_number_put(struct buf *out, const struct json_number *number);

/* Below 0, 0, above 0. */
int json_number_compare(const struct json_number *a, const struct json_number *b);
bool json_number_is_whole(const struct json_number *number);
