/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policy beyond capabilities: a list of rows, of which the first that fits decides.
 *
 *     deny  mcp/request:tools/call:drop_*                   nobody
 *     allow mcp/request:tools/call:read_*  from ops-*       … before the next row
 *     ask   mcp/request:tools/call         types [agent]    only if a person agrees
 *
 * It narrows what capabilities allow and never widens it: no row fits, or one that
 * allows, and capabilities alone decide. `ask` is for requests: they need a proposal.
 *
 * A row that narrows cannot be got round by saying less. A request whose kind has no
 * CONTEXT is judged by what its payload names, and a payload of which it cannot be told
 * whether it fits (a name that stands twice) fits rows that deny or ask, and none that
 * allows.
 *
 * A list is immutable and may be used by several threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "envelope/kind.h"
#include "json/json.h"
#include "policy/profile.h"

enum ruling {
    RULING_NONE, /* nothing is said */
    RULING_ALLOW,
    RULING_DENY,
    RULING_ASK,
};

enum {
    RULINGS_MAX = 256,
    RULINGS_MAX_OBJECTS = 64, /* of these, with conditions on the payload */
    RULING_MAX_PATTERNS = 64, /* of topics, and of ids, in one row */
    RULING_MAX_MESSAGE = 1024,
};

/* Texts are borrowed from whoever makes the list; in the list they are its own. */
struct ruling_row {
    enum ruling ruling;
    struct str kind;        /* a pattern in slash spelling */
    struct str payload;     /* conditions as a JSON object (D15); "": none */
    struct str_list topics; /* patterns with `*`; none: all */
    struct str_list from;   /* the same for ids of senders */
    unsigned types;         /* of senders: bits by enum participant_type; 0: all */
    struct str message;     /* for who is refused; "": none */
};

struct ruling_problem {
    size_t row;
    const char *field; /* static, like the next */
    const char *why;
};

struct rulings;

/* ERR_INVALID with `problem` filled. An empty list gives NULL, which is none. */
enum err rulings_new(const struct ruling_row *rows, size_t count, struct rulings **ret,
                     struct ruling_problem *problem);
void rulings_free(struct rulings *rulings);

/* The rows as they are; `*ret_count` may be 0 for NULL. */
const struct ruling_row *rulings_rows(const struct rulings *rulings, size_t *ret_count);

/* Is there a row for this topic, or is this one; and does it concern this sender there?
 */
bool rulings_reach(const struct rulings *rulings, struct str topic);
bool ruling_reaches(const struct rulings *rulings, size_t row, struct str topic);
bool ruling_concerns(const struct rulings *rulings, size_t row, struct str topic,
                     struct str from, enum participant_type type);

/* An envelope on its way in. Its payload was scanned; a request has passed the strict
 * check (D21) or will. */
struct ruling_question {
    struct str topic;
    struct str from;
    enum participant_type type;
    const struct kind *kind;
    struct json_span payload; /* text.ptr NULL: not known, see below */
    struct arena *scratch;
};

/* The first row that fits; RULING_NONE: none does. Where the payload is not known, the
 * answer is that of a payload that fits nothing, and `may_differ` says that another may
 * be judged otherwise. */
struct ruling_answer {
    enum ruling ruling;
    size_t row;
    struct str message; /* borrowed from the list */
    bool may_differ;
};
struct ruling_answer rulings_judge(const struct rulings *rulings,
                                   const struct ruling_question *question);

/* What `ask` and the brake never hold up: lists, ping, the greeting, notifications, and
 * the decisions of tool authorization. */
bool ruling_spares(const struct kind *kind);

struct str ruling_name(enum ruling ruling);
bool ruling_parse(struct str name, enum ruling *ret);
