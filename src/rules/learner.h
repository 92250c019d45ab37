/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people decide, and the rules that can be seen in it. The learner remembers
 * decisions, in groups of the same topic, proposer, method, tool, owner and names of
 * arguments; asked for candidates, it finds the narrowest rules that enough of them bear
 * out (generalise.h). It decides nothing and changes no rule.
 *
 * What teaches: a person's decision about somebody else's proposal. What was withdrawn,
 * has expired, was decided by a program, by the proposer himself or by a rule does not.
 * A call that was made with other arguments than proposed counts against the proposed
 * ones.
 *
 * Memory is bounded. Approvals make room for newer ones; rejections never make room for
 * approvals, so nobody flushes them out: a group with too many of them teaches nothing.
 */
#pragma once

#include "rules/rule.h"

enum decision_verdict {
    DECISION_APPROVED,
    DECISION_REJECTED,
    DECISION_CORRECTED, /* carried out, but with other arguments */
    DECISION_NOTHING,   /* withdrawn, expired, still open */
};

enum decision_origin {
    DECIDED_BY_PERSON,
    DECIDED_BY_OTHER, /* an agent, a service, or nobody knows */
    DECIDED_BY_SELF,  /* the proposer, or his own client's user */
    DECIDED_BY_RULE,
};

struct decision {
    struct str id; /* of the proposal */
    struct rule_proposal proposal;
    enum decision_verdict verdict;
    enum decision_origin origin;
    struct str by;
    uint64_t at_ms; /* wall clock */
};

struct learner_options {
    uint64_t min_approvals;
    uint64_t min_bound; /* rule_bound(), in millionths */
    uint64_t min_days;
    uint64_t window_ms;     /* approvals older than that are forgotten */
    uint64_t rejections_ms; /* rejections older than that are */
    uint64_t lifetime_ms;   /* of rules that are found */
    size_t max_groups;
    size_t max_examples; /* of a group */
    size_t max_bytes;    /* of all */
};

/* 15 approvals, 0.80, two days, 90 days, a year, 30 days; 1,000 groups of 400 examples,
 * 64 MiB. */
struct learner_options learner_options_default(void);

struct learner;

struct learner *learner_new(const struct learner_options *options);
void learner_free(struct learner *learner);

/* Copies what it keeps. The same proposal again changes nothing, unless it is now
 * rejected. ERR_INVALID: it does not teach; ERR_OVERLOAD: there is no room. */
enum err learner_note(struct learner *learner, const struct decision *decision);

/* Forgets what is older than the windows. */
void learner_forget(struct learner *learner, uint64_t now_ms);

struct learner_counts {
    size_t groups, approved, rejected, bytes;
    bool is_blind; /* a rejection found no room: nothing is suggested any more */
};
struct learner_counts learner_count(const struct learner *learner);

/* How many approvals are known that `wide` covers, and `narrow` does not. */
size_t learner_beyond(const struct learner *learner, const struct rule *wide,
                      const struct rule *narrow);

/* All rules that can be seen, as suggestions made now; in the order of their ids. They
 * live in the arena. ERR_TOO_BIG: it is full. */
enum err learner_candidates(const struct learner *learner, uint64_t now_ms,
                            struct arena *arena, struct rule_list *ret);
