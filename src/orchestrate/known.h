/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an orchestrator knows of the rules of its topic: the gateway's book as it was last
 * read, what has been heard of it since, and what people did not want. Pure.
 */
#pragma once

#include "rules/rulebook.h"

struct known_rule {
    struct rule rule;
    uint64_t uses, used_this_hour;
    uint64_t changed_ms;
    struct str reason; /* of its state; "": none */
    uint64_t rest_ms;  /* it is left alone until then: it was refused, or is used up */
};

enum { KNOWN_UNWANTED = 256, KNOWN_TEXT = 64 << 20 };

struct unwanted {
    struct rule rule;
    uint64_t at_ms;
    struct arena arena;
};

struct known_listener {
    void (*unwanted)(void *user, const struct rule *rule); /* it was taken away */
    void *user;
};

struct known {
    struct known_rule *items;
    size_t count;
    bool has_automation;
    bool is_read; /* at least once */
    struct arena arena;
    struct unwanted *unwanted; /* the oldest first */
    size_t unwanted_count;
    struct known_listener listener;
};

void known_init(struct known *known, const struct known_listener *listener);
void known_done(struct known *known);

/* The answer to GET /topics/T/rules, in place of what was known. ERR_INVALID,
 * ERR_TOO_BIG: nothing has changed. */
enum err known_read(struct known *known, struct str text, uint64_t now_ms);

struct known_rule *known_find(const struct known *known, struct str id);

/* As system/rule tells it. False: the book must be read again. */
struct known_news {
    struct str id, state, reason;
    uint64_t at_ms;
};
bool known_hear(struct known *known, const struct known_news *news);

/* What people did not want, as it was written down. */
void known_add_unwanted(struct known *known, const struct rule *rule, uint64_t at_ms);

/* Why this is not to be suggested, in static words; NULL: nothing is against it. What the
 * book has, or has wider, is not suggested; nor what is akin to something that waits for
 * people, or that they stopped. What they declined or took away comes back after
 * RULEBOOK_DECLINED_DAYS, but nothing wider than what they narrowed. */
const char *known_objection(const struct known *known, const struct rule *rule,
                            uint64_t now_ms);

/* A rule that acts, or is in shadow, and covers a part of what this one does; or NULL. */
const struct known_rule *known_narrower(const struct known *known,
                                        const struct rule *rule, uint64_t now_ms);

/* May a rule act, or say what it would do, at this time? */
bool known_is_awake(const struct known_rule *one, uint64_t now_ms);
