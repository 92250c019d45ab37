/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of a topic as its gateway lists them: the answer to GET /topics/T/rules,
 * for those who ask. Pure.
 */
#pragma once

#include "rules/rule.h"

struct listed_rule {
    struct rule rule;
    struct str raw;                   /* all that was said of it, as JSON */
    uint64_t uses, used_this_hour;    /* ever, and within the hour before */
    uint64_t last_use_ms, changed_ms; /* wall clock; 0: never, not told */
    struct str changed_by, reason;    /* who gave it its state, and why; "": not told */
};

struct listing {
    bool has_automation; /* rules may act at all */
    struct listed_rule *items;
    size_t count;
};

/* All is copied into the arena. ERR_INVALID, ERR_UTF8, ERR_TOO_DEEP, ERR_TOO_BIG; where
 * it is a rule that cannot be read, `problem` says what is wrong. What a gateway says of
 * a rule besides that is not known is passed over. */
enum err listing_read(struct str body, struct arena *arena, struct listing *ret,
                      struct rule_problem *problem);
