/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON values that rules look at: their canonical text (json/canonical.h), within
 * bounds. A number of more than VALUE_DIGITS bytes, or with an exponent of more than
 * VALUE_EXPONENT digits, has none, and neither has an object of more than VALUE_MEMBERS
 * members or what is nested deeper than VALUE_DEPTH.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"
#include "json/number.h"

enum {
    VALUE_DEPTH = 16,
    VALUE_DIGITS = 256,
    VALUE_EXPONENT = 5,
    VALUE_MEMBERS = 256,
};

/* ERR_TOO_BIG, ERR_TOO_DEEP: it has none. On failure the buffer may hold a part of it. */
enum err value_put(struct buf *out, const struct json *value);

/* The same in an arena. */
enum err value_text(const struct json *value, struct arena *arena, struct str *ret);

/* ERR_INVALID: it is no number; ERR_TOO_BIG. Borrows from the text. */
enum err value_number(struct str text, struct json_number *ret);
