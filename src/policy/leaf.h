/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one field of a payload must be (D15):
 *
 *     "read_*"          a string that the pattern matches
 *     "!secret*"        a string that it does not match
 *     true, null, 12    the same JSON; numbers by their text
 *     ["a", "!b*", 5]   nothing that a `!` excludes; one of the others, if there are any
 *
 * A `!` asks for a string: whatever else stands there does not hold.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

struct leaf;

/* From a string, `true`, `false`, `null`, a number, or an array of those that is not
 * empty; borrows their texts. ERR_INVALID with a static text in *ret_why. */
enum err leaf_new(const struct json *value, struct leaf **ret, const char **ret_why);
void leaf_free(struct leaf *leaf);

/* How many values it names. */
size_t leaf_count(const struct leaf *leaf);

enum leaf_verdict { LEAF_HOLDS, LEAF_DIFFERS, LEAF_OTHER_TYPE };

enum { LEAF_MAX_BYTES = 16 * 1024 }; /* a longer string fits nothing: it costs time */

/* `value` was scanned. Escapes are resolved in the scratch arena; what does not fit there
 * differs. */
enum leaf_verdict leaf_judge(const struct leaf *leaf, struct json_span value,
                             struct arena *scratch);

/* True only if whatever `wanted` accepts is accepted by `held`. */
bool leaf_covers(const struct leaf *held, const struct leaf *wanted);
