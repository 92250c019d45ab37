/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When two JSON values mean the same: the order of an object's members is no difference;
 * strings are compared by their code points, escapes resolved and nothing normalised;
 * numbers by their exact decimal value (number.h).
 *
 * The canonical form is the one text that all values with the same meaning share:
 *
 *     {"b": [1.50, "\u0041"], "a": {}}   becomes   {"a":{},"b":[1.5,"A"]}
 *
 * Trees are those of json_parse(): no name stands twice in them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

/* Appends on one line; on failure `out` may hold a part of it. The arena holds members in
 * their order meanwhile. ERR_TOO_BIG: it, or `out`, is full. */
enum err json_canonical_put(struct buf *out, const struct json *value,
                            struct arena *arena);

/* The members of an object in the order of their names, in the arena; NULL: it is full.
 */
const struct json **json_members(const struct json *object, struct arena *arena);

/* What stands in one and not, or otherwise, in the other. */
struct json_difference {
    struct str path;         /* JSON pointer (RFC 6901), in the arena */
    const struct json *from; /* NULL: there is none, likewise the next */
    const struct json *to;
};

struct json_differences {
    struct json_difference *items; /* room for `max`, the caller's */
    size_t max;
    size_t count;
    bool has_more;
};

/* The first `max` of them, members in the order of their names; both values are known by
 * `path` (a pointer, "" for a whole document). ERR_TOO_BIG: the arena is full. */
enum err json_differ(const struct json *from, const struct json *to, struct str path,
                     struct arena *arena, struct json_differences *ret);
