/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dry run of one rule: what became of the proposals that it covers (rules/history.h).
 * What it covers and a person rejected, or made with other arguments, is a false
 * approval. State, budget and expiry of the rule are not looked at. Pure.
 */
#pragma once

#include "rules/learner.h"

enum { RULE_TALLY_SHOWN = 20 };

/* A proposal that the rule would have approved, and a person did not. */
struct rule_wrong {
    char *id, *by;
    uint64_t at_ms;
    bool is_corrected;
};

struct rule_tally {
    uint64_t approved, rejected, corrected; /* by people */
    uint64_t others, undecided;
    struct rule_wrong wrongs[RULE_TALLY_SHOWN]; /* the first ones */
    size_t wrong_count;
};

/* False: the rule does not cover it. */
bool rule_tally_note(struct rule_tally *tally, const struct rule *rule,
                     const struct decision *decision);
void rule_tally_done(struct rule_tally *tally);

/* Did a person say no to what was proposed? */
bool decision_is_against(const struct decision *decision);

/* The members "approved", "rejected", "corrected", "by_others", "undecided". */
void rule_tally_put(const struct rule_tally *tally, struct json_writer *w);
