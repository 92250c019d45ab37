/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of a topic (rules/rulebook.h), as envelopes meet them. A request that names
 * one in `rule` fulfils a proposal in the place of a person: the rule is what allows it,
 * and it is never more than that. A person's no to a proposal suspends the rules that
 * would have let it through, or the one that has.
 *
 *     capability   may its sender use rules at all?            use_check_sender()
 *     ledger       is the proposal open, and is it just this?  ledger_decide()
 *                  does the rule hold, and for this?           use_judge()
 *     last         it is counted                               use_enter()
 */
#pragma once

#include "admit/admit.h"
#include "rules/rulebook.h"

/* What an envelope does to rules once it is admitted; all of it is in the scratch. */
struct rule_effect {
    struct str used;      /* counted by use_enter(), and to be kept; "": none */
    struct str *suspends; /* to be carried out: use_suspension() */
    size_t suspend_count;
    struct str cause; /* the id of the envelope */
    struct str reason;
};

/* An envelope that names a rule. ERR_RULE_STATE: it is no request;
 * ERR_CAPABILITY_VIOLATION: its sender may not use rules. */
[[gnu::cold]] enum err use_check_sender(struct admission *admission,
                                        struct refusal *refusal);

/* It names a rule, and fulfils no proposal that is known. ERR_RULE_STATE. */
[[gnu::cold]] enum err use_refuse_loose(struct admission *admission,
                                        struct refusal *refusal);

/* The ledger has judged what is said of a proposal: does the rule that it names let it
 * through, or which does it suspend? Fills admission->rules. ERR_RULE_STATE,
 * ERR_ARGUMENT_MISMATCH, ERR_TOO_LARGE. */
enum err use_judge(struct admission *admission, struct refusal *refusal);

/* It has been admitted. */
[[gnu::cold]] void use_enter(struct admission *admission);

/* The change that suspends one of them; borrows from the admission. */
struct rule_change use_suspension(const struct admission *admission, size_t index);
