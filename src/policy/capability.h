/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A capability, compiled (D14, D15): a pattern for kinds, or an object that also says
 * what the payload must hold.
 *
 *     mcp/request:tools/call
 *     {"kind":"mcp/request:tools/call","payload":{"params":{"name":"read_*"}}}
 *
 * Every field that is named must be there once, with a value that its leaf (leaf.h)
 * accepts, and no other name beside it may be taken for its name (lookalike.h); else the
 * capability does not allow, whether the leaf is negated or not.
 *
 * Everywhere else a capability is a text: a pattern, or the *normal form* of an object:
 * compact JSON, names in the order of their bytes. An object without conditions has the
 * pattern as its normal form. So capabilities are compared, stored and listed as texts;
 * one that begins with `{` is an object.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "envelope/dialect.h"
#include "json/json.h"

struct capability;
struct outline;
struct outline_sighting;

enum {
    CAPABILITY_MAX_BYTES = 4096, /* of an object */
    CAPABILITY_MAX_DEPTH = 8,    /* brackets, those of the object included */
    CAPABILITY_MAX_LEAVES = 64,  /* values that conditions name */
    CAPABILITY_MAX_NAME = 64,    /* bytes, ASCII */
};

/* From a pattern or from any JSON that says an object. ERR_INVALID with a static text in
 * *ret_why, which may be NULL. */
enum err capability_new(struct str text, struct capability **ret, const char **ret_why);
void capability_free(struct capability *cap);

/* The normal form; borrowed. */
struct str capability_text(const struct capability *cap);

/* The pattern for kinds, and whether there are conditions besides. */
struct str capability_pattern(const struct capability *cap);
bool capability_is_object(const struct capability *cap);

/* As those who speak the dialect are shown it: one JSON value for each pattern that
 * together say the same (respell.h), strings or objects. */
void capability_write(const struct capability *cap, enum dialect dialect,
                      struct json_writer *w);

bool capability_matches_kind(const struct capability *cap, struct str kind);

/* The same, and for an object the payload as well, which was scanned. Where the scratch
 * arena is full, the answer is no. For one capability; a set asks in one walk for all. */
bool capability_allows(const struct capability *cap, struct str kind,
                       struct json_span payload, struct arena *scratch);

/* The places where the conditions look, added to an outline; `places` has room for
 * capability_count() of them. */
void capability_outline(const struct capability *cap, struct outline *outline,
                        size_t *places);

/* Are all conditions met by what a walk of that outline found? Escapes are resolved in
 * the scratch arena. */
bool capability_fits(const struct capability *cap,
                     const struct outline_sighting *sightings, const size_t *places,
                     struct arena *scratch);

/* The same, with what cannot be told said apart: a name that stands twice or beside one
 * that looks like it, a value of another type, a string that is too long, a number in
 * another spelling. Whoever refuses by a condition must not be got round by such. */
enum fit { FIT_NO, FIT_UNSURE, FIT_YES };
enum fit capability_weigh(const struct capability *cap,
                          const struct outline_sighting *sightings, const size_t *places,
                          struct arena *scratch);

/* For one capability, whatever the kind; a full arena is FIT_UNSURE. */
enum fit capability_weigh_alone(const struct capability *cap, struct json_span payload,
                                struct arena *scratch);

/* Attenuation: true only if it is shown that every envelope which `wanted` allows is
 * allowed by `held`. */
bool capability_covers(const struct capability *held, const struct capability *wanted);

/* Stronger: true only if capability_covers() shows for `held` all that it shows for
 * `wanted`, so that the one may stand for both. */
bool capability_covers_all_of(const struct capability *held,
                              const struct capability *wanted);

/* The normal form of a value in a tree, borrowed from it or in the arena. ERR_INVALID, or
 * ERR_TOO_BIG when the arena is full, with a static text in *ret_why (may be NULL). */
enum err capability_normal(const struct json *value, struct arena *arena, struct str *ret,
                           const char **ret_why);

/* The same for an array of strings and objects. */
enum err capability_list(const struct json *array, struct arena *arena,
                         struct str_list *ret, const char **ret_why);

/* The normal forms of capabilities given as texts, borrowed or in the arena; what is none
 * stays as it is. ERR_TOO_BIG: the arena is full. */
enum err capability_list_normal(struct str_list texts, struct arena *arena,
                                struct str_list *ret);

/* As they were written: a pattern as a string, an object as it is; and an array of all.
 */
void capability_text_write(struct str text, struct json_writer *w);
void capability_list_write(struct str_list texts, struct json_writer *w);

/* Both apart, as lists are shown (D15): an array of strings; an array of objects, which
 * capability_list_has_objects() says is worth writing. */
bool capability_list_has_objects(struct str_list texts);
void capability_list_put_patterns(struct json_writer *w, struct str key,
                                  struct str_list texts);
void capability_list_put_objects(struct json_writer *w, struct str key,
                                 struct str_list texts);

/* "moot":{"capabilities":[…]}, which stands beside a list of patterns where there are
 * objects besides: those among the texts, or the finished array ("": none). */
void capability_list_put_moot(struct json_writer *w, struct str_list texts);
void capability_put_moot(struct json_writer *w, struct str objects);

/* Whether the text is that of an object. */
static inline bool capability_text_is_object(struct str text)
{
    return text.len > 0 && text.ptr[0] == '{';
}

/* For explanations: what was found for a condition. They are numbered, and come before
 * those that stand below them; the first is the payload itself. A pattern has none. */
enum finding {
    FOUND_NOTHING,
    FOUND_FITTING, /* the leaf accepts it; an object where conditions stand below */
    FOUND_OTHER,   /* the right type, and not accepted */
    FOUND_OTHER_TYPE,
    FOUND_TWICE,
    FOUND_LOOKALIKE, /* beside it or in its place */
};

struct capability_finding {
    enum finding state;
    struct json_span value; /* what stood there first */
};

size_t capability_count(const struct capability *cap);

bool capability_is_leaf(const struct capability *cap, size_t i);
size_t capability_parent(const struct capability *cap, size_t i);

/* Where condition `i` looks (payload.params.name), and what it wants, as JSON. */
void capability_put_path(const struct capability *cap, size_t i, struct buf *out);
void capability_put_wanted(const struct capability *cap, size_t i, struct buf *out);

/* What was found for each condition, in the arena; NULL if that is full. The payload
 * fits if all of them do. */
const struct capability_finding *capability_examine(const struct capability *cap,
                                                    struct json_span payload,
                                                    struct arena *scratch);
