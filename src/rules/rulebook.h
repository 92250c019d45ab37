/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of one topic: what became of each, who said so, how often it was used.
 *
 *     suggested ─► active | shadow ◄─► disabled        accept, enable, disable
 *         └─► declined        └─► suspended            decline; a person objects
 *
 * Whoever keeps a book first judges a change, then makes it durable, then applies it.
 * Pure: times and names are arguments; the book owns what it holds.
 */
#pragma once

#include "rules/rule.h"

enum {
    RULEBOOK_RULES = 256,        /* in a topic, whatever their state */
    RULEBOOK_SUGGESTED = 128,    /* of them: programs leave room for people */
    RULEBOOK_TEXT = 64 << 10,    /* bytes of a rule as it is kept */
    RULEBOOK_BYTES = 4 << 20,    /* of all of them, on disk and in memory */
    RULEBOOK_DECLINED_DAYS = 30, /* so long a declined rule is not suggested again */
    RULEBOOK_DAYS = 30,          /* a rule holds, where it does not say how long */
    RULEBOOK_MAX_DAYS = 366,     /* from when it is suggested, added or accepted */
    RULEBOOK_BUDGET = 20,        /* of a rule that has none */
    RULEBOOK_MINUTES = 61,       /* the hour, and the minute that it began in */
};

enum rule_verb {
    RULE_SUGGEST, /* somebody has found one */
    RULE_ADD,     /* a person has written one */
    RULE_ACCEPT,
    RULE_DECLINE,
    RULE_DISABLE,
    RULE_ENABLE, /* what was disabled, suspended or in shadow */
    RULE_REMOVE,
    RULE_SUSPEND, /* a person objects to what it has let through, or would */
};

struct rule_change {
    enum rule_verb verb;
    struct str id;           /* suggest and add: that of `rule` */
    const struct rule *rule; /* suggest, add; else NULL */
    bool is_shadow;          /* accept: it only says what it would do */
    const struct shape
        *narrow;         /* accept: less than what was suggested; NULL: all of it */
    uint64_t budget;     /* accept: per hour; 0: as it is */
    uint64_t expires_ms; /* accept: 0: as it is */
    struct str by;
    struct str reason;
    bool is_by_human;
    uint64_t at_ms; /* wall clock */
};

struct rule_use {
    struct str id; /* of the rule */
    const struct rule_proposal *proposal;
    struct str by;
    uint64_t at_ms;
};

/* When a rule was used, minute by minute. Each minute counts as a whole, so that there is
 * never more than the budget within any hour; a clock that is set back frees nothing. */
struct rule_hour {
    uint64_t minute;                 /* the newest, since 1970 */
    uint16_t uses[RULEBOOK_MINUTES]; /* of a minute: at its number modulo their count */
};

/* Why not. */
struct rulebook_problem {
    struct str field;       /* "payload.rule", …; static */
    const char *what;       /* static */
    const char *state;      /* of the rule, or "expired", "used up", "off"; NULL: none */
    struct shape_miss miss; /* not covered: where */
};

/* A rule in a book. `rule` is as its file would say it, state included. */
struct held_rule {
    struct rule rule;
    struct str changed_by; /* who gave it its state, when and why; "": by nobody, none */
    struct str reason;
    uint64_t changed_ms;
    uint64_t uses; /* ever */
    uint64_t last_use_ms;
    struct rule_hour hour;
};

struct rulebook;

struct rulebook *rulebook_new(struct str topic);
void rulebook_free(struct rulebook *book);

size_t rulebook_count(const struct rulebook *book);

/* What they take together, in memory or as text, whichever is more. */
size_t rulebook_bytes(const struct rulebook *book);

const struct held_rule *rulebook_find(const struct rulebook *book, struct str id);

/* All of them, the oldest first; NULL begins and ends. */
const struct held_rule *rulebook_next(const struct rulebook *book,
                                      const struct held_rule *after);

/* Of those, the active and current ones that cover it. */
const struct held_rule *rulebook_next_covering(const struct rulebook *book,
                                               const struct held_rule *after,
                                               const struct rule_proposal *proposal,
                                               uint64_t now_ms);

/* May it be done? ERR_NOT_FOUND, ERR_FORBIDDEN (not by him), ERR_RULE_STATE (not in this
 * state), ERR_MALFORMED_ENVELOPE (not such a rule), ERR_UNAVAILABLE (there is no room).
 * Changes nothing. What is suggested or added has the topic of the book or none, and its
 * state, who made it and who accepted it are not looked at. */
enum err rulebook_judge(const struct rulebook *book, const struct rule_change *change,
                        struct rulebook_problem *problem);

/* What was judged is done. Returns the rule; remove: NULL. What is narrowed becomes a
 * rule of its own, which is returned; what was suggested is declined and
 * names it as the reason (*ret_declined, else NULL).
 *
 * NULL as well, and nothing is done, where the book has changed since and it would not be
 * allowed any more. What was found in the book before lives until the change after it. */
const struct held_rule *rulebook_apply(struct rulebook *book,
                                       const struct rule_change *change,
                                       const struct held_rule **ret_declined);

/* Those that the last change has pushed out of a full book: what was declined, or was
 * suggested and has expired, the oldest of them. Whoever keeps the book forgets them as
 * well. NULL begins and ends. */
const struct held_rule *rulebook_next_dropped(const struct rulebook *book,
                                              const struct held_rule *after);

/* May it be used for this proposal now? ERR_NOT_FOUND, ERR_RULE_STATE: not active,
 * expired, used up for this hour, does not cover it; ERR_FORBIDDEN: of his own. */
enum err rulebook_may_use(const struct rulebook *book, const struct rule_use *use,
                          struct rulebook_problem *problem);
void rulebook_use(struct rulebook *book, const struct rule_use *use);

/* Uses within the hour before, and when the next would be possible (0: now). */
uint64_t held_rule_used(const struct held_rule *held, uint64_t now_ms);
uint64_t held_rule_free_ms(const struct held_rule *held, uint64_t now_ms);

/* As it is kept, and read back: an object of the members "rule", "uses", …. ERR_INVALID,
 * ERR_UTF8, ERR_TOO_DEEP: it is none, or none of this topic, or is there already;
 * ERR_TOO_BIG, ERR_OVERLOAD: it, or the book, is full. */
void held_rule_write(const struct held_rule *held, struct json_writer *w);
enum err rulebook_restore(struct rulebook *book, struct str text);
