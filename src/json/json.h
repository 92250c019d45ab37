/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as a tree, for configuration-like texts: admin bodies, claims, payloads. Built in
 * an arena on the strict scanner; a name given twice in one object is refused; numbers
 * keep their text. The hot path uses scan.h instead.
 *
 * Reading into a struct goes by a table: key and type come from the member itself.
 *
 *     #define F(member, need) JSON_FIELD(struct promotion, member, need)
 *     static const struct json_field promotion_fields[] = { F(add, JSON_OPTIONAL), … };
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/scan.h"

enum { JSON_TREE_DEPTH = 128 };

struct json {
    enum json_type type;
    struct str text;          /* string: unescaped; number: as written */
    struct str key;           /* the unescaped name, inside an object */
    struct str raw;           /* as it stands in the text, quotes included */
    const struct json *first; /* items or members */
    const struct json *next;
    size_t count;
};

struct json_problem {
    size_t at;        /* byte offset */
    const char *what; /* static text */
    struct str field; /* json_read: the name concerned; borrowed */
};

/* The tree lives in the arena and borrows from the text. ERR_INVALID, ERR_UTF8,
 * ERR_TOO_DEEP (JSON_TREE_DEPTH), ERR_TOO_BIG (arena full); `problem` may be NULL. */
enum err json_parse(struct str text, struct arena *arena, const struct json **ret,
                    struct json_problem *problem);

/* The member of that name, or NULL; also NULL if `json` is NULL or no object. */
const struct json *json_find(const struct json *json, struct str key);

/* What a string says; "" for anything else, NULL included. */
struct str json_text(const struct json *json);

/* One text, or a list of them: is `wanted` one? NULL says nothing. */
bool json_says(const struct json *json, struct str wanted);

#define JSON_FOREACH(var, parent) \
    for (const struct json *var = (parent)->first; var; var = var->next)

/* A list of strings, as capability lists are. */
struct str_list {
    const struct str *items;
    size_t count;
};

/* A copy in the arena; empty if that has no room for it. */
struct str_list str_list_copy(struct str_list list, struct arena *arena);
bool str_list_eq(struct str_list a, struct str_list b);

enum json_need { JSON_OPTIONAL, JSON_REQUIRED };
enum json_kind { JSON_AS_STR, JSON_AS_BOOL, JSON_AS_U64, JSON_AS_STR_LIST, JSON_AS_JSON };

struct json_field {
    struct str key;
    size_t offset;
    enum json_kind kind;
    enum json_need need;
};

#define JSON_FIELD(type, member, needed)                                                   \
    {                                                                                      \
        .key = { #member, sizeof(#member) - 1 }, .offset = offsetof(type, member),       \
        .kind = _Generic(((type *)0)->member, struct str: JSON_AS_STR,                   \
                         bool: JSON_AS_BOOL, uint64_t: JSON_AS_U64,                      \
                         struct str_list: JSON_AS_STR_LIST,                              \
                         const struct json *: JSON_AS_JSON),                             \
        .need = needed \
    }

/* Fills a struct from an object. Unknown names, wrong types and missing required members
 * are ERR_INVALID and named in `problem`. Members that are absent stay as they are; on
 * failure `ret` may be half filled. `problem` may be NULL. */
enum err json_read(const struct json *object, const struct json_field *fields,
                   size_t count, struct arena *arena, void *ret,
                   struct json_problem *problem);

/* Writing: the writer places commas, the caller names what comes. */
struct json_writer {
    struct buf *out;
    bool needs_comma;
};

void json_write_init(struct json_writer *w, struct buf *out);
void json_object_open(struct json_writer *w);
void json_object_close(struct json_writer *w);
void json_array_open(struct json_writer *w);
void json_array_close(struct json_writer *w);
void json_key(struct json_writer *w, struct str key);
void json_str(struct json_writer *w, struct str value); /* invalid UTF-8 becomes U+FFFD */
void json_uint(struct json_writer *w, uint64_t value);
void json_bool(struct json_writer *w, bool value);
void json_null(struct json_writer *w);
void json_raw(struct json_writer *w, struct str value); /* finished JSON */
void json_span(struct json_writer *w, struct json_span value);

/* The members of an object that was scanned, as they stand, but for those named. */
void json_put_members(struct json_writer *w, struct str object, struct str_list without);

/* key and value in one call, the common case */
void json_put_str(struct json_writer *w, struct str key, struct str value);
void json_put_uint(struct json_writer *w, struct str key, uint64_t value);
void json_put_bool(struct json_writer *w, struct str key, bool value);
void json_put_strs(struct json_writer *w, struct str key, struct str_list values);
void json_put_time(struct json_writer *w, struct str key,
                   uint64_t wall_ms); /* RFC 3339 */

/* The same where there is something to say: a text that is not empty, a time that is not
 * 0. */
void json_put_given(struct json_writer *w, struct str key, struct str value);
void json_put_given_time(struct json_writer *w, struct str key, uint64_t wall_ms);
