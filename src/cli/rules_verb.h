/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can be done to the rules of a topic, how it is called on the wire, and why it was
 * refused, in words that say what to do instead. Pure but for rules_ask().
 */
#pragma once

#include <moot.h>

#include "base/buf.h"
#include "rules/rulebook.h"

/* "rule/accept" */
const char *rules_kind(enum rule_verb verb);

struct rules_refusal {
    enum rule_verb verb;
    struct str topic, id; /* the id as it is shown */
    struct str proposer;  /* of the rule */
    const char *me;       /* who was refused */
    const char *error;    /* "rule_state", "forbidden", … */
    const char *message;  /* of the gateway */
    struct str state;     /* that it names; "": none */
};

/* One sentence without its end: "r-18b26c is suspended; `moot rules enable …` lets …". */
void rules_put_refusal(struct buf *out, const struct rules_refusal *refusal);

/* The state that the details of an outcome name; "" if they do not. In the arena. */
struct str rules_refused_state(const struct moot_outcome *outcome, struct arena *arena);

/* Shows it on standard error and asks whoever sits at a terminal; true at once where
 * nobody does, or where `is_sure`. */
bool rules_ask(struct str shown, const char *question, bool is_sure);
