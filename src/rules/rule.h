/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A rule: which proposals of one participant a person has agreed to in advance. It names
 * the topic, the proposer, the method, the tool and the shape of the arguments; whatever
 * it does not name exactly, it does not cover.
 *
 * Pure: `now` is an argument, and nothing here knows who keeps rules or acts on them.
 * A rule points into an arena that its maker owns.
 */
#pragma once

#include "rules/shape.h"

/* clang-format off */
#define RULE_STATES(X)                                                        \
    X(SUGGESTED, "suggested") /* found in what people decided */              \
    X(SHADOW,    "shadow")    /* only says what it would do */                \
    X(ACTIVE,    "active")    /* a person has accepted it */                  \
    X(SUSPENDED, "suspended") /* somebody rejected what it had let through */ \
    X(DISABLED,  "disabled")                                                  \
    X(DECLINED,  "declined")  /* a person does not want it */
/* clang-format on */

enum rule_state {
#define X(name, text) RULE_##name,
    RULE_STATES(X)
#undef X
        RULE_STATE_COUNT
};

enum {
    RULE_EXAMPLES = 5,
    RULE_PEOPLE = 16,
    RULE_ID = 64,
    RULE_NAME = 256, /* participants, tools, methods, topics */
    RULE_NOTE = 1024,
    RULE_BUDGET = 10'000,
    RULE_ARGUMENTS = 16 << 10, /* bytes in their canonical text; more: not covered */
    RULES_MAX = 1000,          /* in a file */
};

/* What a rule rests on. */
struct rule_evidence {
    uint64_t approved; /* decisions that the shape covers */
    uint64_t beside;   /* rejected ones that it does not, of the same kind */
    uint64_t days;     /* different ones, in UTC */
    uint64_t first_ms, last_ms;
    uint64_t bound; /* of the rate of approval, in millionths: rule_bound() */
    struct str people[RULE_PEOPLE];
    size_t people_count; /* those who decided; more are not named */
    struct str examples[RULE_EXAMPLES];
    size_t example_count; /* the last proposals; the newest first */
};

struct rule {
    struct str id;
    struct str topic;
    enum rule_state state;
    struct str proposer;
    struct str method;
    struct str tool; /* "": not a tool's; the arguments are then all of params */
    struct str to;   /* an owner; "*": anybody; "": the proposal names nobody */
    const struct shape *arguments;
    uint64_t budget;     /* per hour */
    uint64_t expires_ms; /* wall clock, as the next ones; 0: not given */
    uint64_t created_ms, accepted_ms;
    struct str created_by, accepted_by; /* "": not given */
    struct rule_evidence evidence;
    struct str note;
};

struct rule_list {
    struct rule *items;
    size_t count;
};

/* A proposal, as far as rules look at it. */
struct rule_proposal {
    struct str topic;
    struct str proposer;
    struct str method;
    struct str tool;              /* "": the method is not tools/call */
    struct str to;                /* "": nobody */
    const struct json *arguments; /* an object; NULL: none, which is {} */
};

/* Of an envelope in slash spelling: proposal or request. ERR_INVALID: no rule is for such
 * a thing; *ret_why says why (static text). The result lives in the text and the arena.
 * What it is strict about: a name that stands twice anywhere, a payload that contradicts
 * the kind, several addressees, params that are not known. */
enum err rule_proposal_read(struct str topic, struct str envelope, struct arena *arena,
                            struct rule_proposal *ret, const char **ret_why);

/* Whatever its state. `why_not` may be NULL. */
bool rule_covers(const struct rule *rule, const struct rule_proposal *proposal,
                 struct shape_miss *why_not);

/* Does it still hold at this time? */
bool rule_is_current(const struct rule *rule, uint64_t now_ms);

/* The lower bound of a rate (Wilson, z = 1.96), in millionths. */
uint64_t rule_bound(uint64_t approved, uint64_t rejected);

/* What came later is added. ERR_INVALID: the times overlap, so that something would count
 * twice. */
enum err rule_evidence_merge(struct rule_evidence *into, const struct rule_evidence *from,
                             struct arena *arena);

/* "r-" and hex digits: of all that decides what it covers, and of nothing else. */
enum err rule_make_id(const struct rule *rule, struct arena *arena, struct str *ret);

struct str rule_state_name(enum rule_state state);
enum err rule_state_parse(struct str name, enum rule_state *ret); /* ERR_INVALID */

/* --- as text --- */

/* One rule, as an object. Unknown names are refused. */
enum err rule_read(const struct json *object, struct str base, struct arena *arena,
                   struct rule *ret, struct rule_problem *problem);

/* The same where a topic is spoken of: the rule need not name it, and may name another,
 * which is for the caller to refuse. */
enum err rule_read_in(struct str topic, const struct json *object, struct str base,
                      struct arena *arena, struct rule *ret,
                      struct rule_problem *problem);

/* {"rules":[…]}: of a file, or of the wire. All is copied into the arena. ERR_INVALID,
 * ERR_TOO_BIG, ERR_UTF8, ERR_TOO_DEEP. */
enum err rules_read(struct str text, struct arena *arena, struct rule_list *ret,
                    struct rule_problem *problem);

void rule_write(struct json_writer *w, const struct rule *rule);

/* The same as YAML, with comments that say it in words; an entry of the list `rules:`. */
void rule_write_yaml(struct buf *out, const struct rule *rule);

/* In words, some lines. */
void rule_explain(struct buf *out, const struct rule *rule);
