/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What arguments may be: a shape, as narrow as it can be said. A value is covered, or it
 * is not and the miss says where and why; there is nothing in between.
 *
 *     { exactly: "prod" }                        this value
 *     { one_of: ["a", "b"] }                     one of few values
 *     { boolean: true }                          true or false
 *     { between: [1, 40], whole: true }          a number, ends included
 *     { under: /srv/app, … }                     a path beneath a directory
 *     { prefix: build-, … }                      a text that begins so
 *     { text: true, max_bytes: 200 }             whatever it says
 *     { members: { … } }                         an object with exactly these
 *     { items: { … }, max_items: 4 }             an array
 *
 * What follows a prefix or a directory consists of named characters alone, is so long and
 * so deep at most, and no part of it begins with a dot or a hyphen: so there is no `..`,
 * no hidden file, no option of a program, no letter that only looks like another.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

enum {
    SHAPE_DEPTH = 3, /* objects inside each other, the arguments included */
    SHAPE_MEMBERS = 32,
    SHAPE_VALUES = 16,
    SHAPE_ENDINGS = 8,
    SHAPE_ITEMS = 256,
    SHAPE_TEXT = 16 << 10,
    SHAPE_PARTS = 32,  /* of a path */
    SHAPE_NAME = 128,  /* bytes of a member's name */
    SHAPE_PREFIX = 3,  /* the shortest, in bytes */
    SHAPE_VALUE = 512, /* bytes of a value that is listed */
};

enum shape_kind {
    SHAPE_EXACTLY,
    SHAPE_ONE_OF,
    SHAPE_BOOLEAN,
    SHAPE_BETWEEN,
    SHAPE_UNDER,
    SHAPE_PREFIXED,
    SHAPE_FREE_TEXT,
    SHAPE_OBJECT,
    SHAPE_ARRAY,
};

struct shape {
    enum shape_kind kind;
    struct str key;           /* as a member */
    bool is_optional;         /* likewise */
    const struct str *values; /* exactly, one_of: canonical texts; under: endings */
    size_t value_count;       /* under: 0, any ending */
    struct str text;          /* prefix, or directory */
    uint32_t characters;      /* of what follows it: see shape_characters_*() */
    size_t max_bytes;         /* of the whole string */
    size_t depth;             /* parts of what follows it */
    struct str min, max;      /* between: canonical numbers */
    bool is_whole;            /* between: no fraction */
    bool has_lines;           /* free text: line breaks and tabs may be in it */
    const struct shape *first, *next; /* members, by name; the items' one */
    size_t count;
    size_t min_items, max_items;
};

/* Why a value is not covered. */
struct shape_miss {
    char path[160];   /* "arguments.path"; "" for the whole */
    const char *what; /* static text */
};

/* `miss` holds the path to the value, and may be NULL. Wholly bounded. */
bool shape_covers(const struct shape *shape, const struct json *value,
                  struct shape_miss *miss);

/* Is everything that `narrow` covers covered by `wide`? False: it could not be shown. */
bool shape_is_within(const struct shape *narrow, const struct shape *wide);

/* Where it stands in a text that is read, and what is wrong with it. */
struct rule_problem {
    size_t at; /* byte offset */
    char what[160];
};

/* From {"path":{"under":…},…}, the members of the arguments. Unknown names, and shapes
 * that say too much, are ERR_INVALID. All of it is copied into the arena; offsets count
 * from `base`, the text that was parsed. */
enum err shape_read(const struct json *members, struct str base, struct arena *arena,
                    const struct shape **ret, struct rule_problem *problem);
void shape_write(struct json_writer *w, const struct shape *arguments);

/* "a text that begins with build-, then digits, 12 bytes at most" */
void shape_explain(struct buf *out, const struct shape *shape);

/* --- texts --- */

/* A set of characters: letters and digits by their kind, and some of "._-+,=:@". */
uint32_t shape_characters_of(struct str text, bool *ret_has_other);
enum err shape_characters_parse(struct str text, uint32_t *ret);
void shape_characters_put(struct buf *out, uint32_t set);

/* Parts between slashes, none of which is empty or begins with a dot or a hyphen, all of
 * whose characters are in the set, which is not asked where it is 0. */
bool shape_parts_are_plain(struct str text, uint32_t characters, size_t *ret_count);

/* ".c" of "a/b.c"; "" where there is none. */
struct str shape_ending(struct str path);

/* May this be the directory of a rule: neither / nor somebody's home, and written in the
 * one way? */
bool shape_is_root(struct str directory);

/* May this be the beginning of a rule: long enough, ends at a separator, and names the
 * host where it is a URL? */
bool shape_is_prefix(struct str prefix);

/* Can a person read it in one line, or in several? */
enum shape_lines { SHAPE_ONE_LINE, SHAPE_MANY_LINES };
bool shape_is_readable(struct str text, enum shape_lines lines);
