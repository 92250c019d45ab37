/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict RFC 8259 scanner over a text in memory: it checks every byte (grammar, UTF-8,
 * escapes, depth), allocates nothing, and hands out the members of an object or the items
 * of an array as spans of the text. The tree (json.h) and the envelope are built on it.
 *
 *     struct json_scan s;
 *     struct json_member m;
 *     json_scan_init(&s, text, max_depth);
 *     err = json_object_begin(&s);
 *     while (!err && json_object_next(&s, &m, &err))
 *         … m.key, m.value …
 *     if (!err)
 *         err = json_scan_end(&s);          nothing but white space may follow
 *
 * Errors: ERR_UTF8 (bytes that are not UTF-8), ERR_TOO_DEEP, ERR_INVALID (grammar); `at`
 * is then the offset of the offending byte and `what` says in a few words what was wrong.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum json_type {
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

/* A value as it stands in the text. For strings `text` is what stands between the quotes,
 * still escaped; for all others the whole value. */
struct json_span {
    enum json_type type;
    bool has_escape; /* strings: holds a backslash */
    struct str text;
};

struct json_member {
    struct json_span key; /* always JSON_STRING */
    struct json_span value;
};

struct json_scan {
    struct str text;
    size_t at;
    size_t max_depth;
    size_t depth;     /* objects and arrays that were begun and have not ended */
    bool is_first;    /* no member or item of the innermost was read yet */
    bool is_sure;     /* what stands there was scanned before: json_walk_init() */
    enum err err;     /* the first failure sticks */
    const char *what; /* what was wrong, for people; static text */
};

enum { JSON_MAX_DEPTH = 1024 }; /* the most that max_depth may be */

void json_scan_init(struct json_scan *scan, struct str text, size_t max_depth);

/* For an object or array that was scanned before, and whose text is still the same: its
 * members are found with less work, because nothing inside them is checked again. */
void json_walk_init(struct json_scan *scan, struct json_span value);

/* Enters the object at the current position; it must be one. */
enum err json_object_begin(struct json_scan *scan);

/* The next member, its value wholly checked. False at the end of the object or on error;
 * `ret_err` says which, and `ret` may then be half written. Objects and arrays that are
 * begun count towards the depth, so a text of max_depth brackets is accepted and one more
 * is ERR_TOO_DEEP. */
bool json_object_next(struct json_scan *scan, struct json_member *ret, enum err *ret_err);

enum err json_array_begin(struct json_scan *scan);
bool json_array_next(struct json_scan *scan, struct json_span *ret, enum err *ret_err);

/* Checks one whole value of any type and gives its span. */
enum err json_value(struct json_scan *scan, struct json_span *ret);

/* Nothing but white space may follow. */
enum err json_scan_end(struct json_scan *scan);

/* Resolves the escapes of a string span that was scanned: borrowed from the text where
 * there are none, else from the arena. ERR_TOO_BIG when the arena is full. */
enum err json_unescape(struct json_span string, struct arena *arena, struct str *ret);

/* True if the string span means exactly `plain`, escapes resolved; allocates nothing. */
bool json_string_is(struct json_span string, struct str plain);
