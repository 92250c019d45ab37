/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/tally.h"

#include <stdlib.h>

#include "base/xalloc.h"

bool decision_is_against(const struct decision *d)
{
    return d->origin == DECIDED_BY_PERSON &&
           (d->verdict == DECISION_REJECTED || d->verdict == DECISION_CORRECTED);
}

static void keep_wrong(struct rule_tally *t, const struct decision *d)
{
    if (t->wrong_count < RULE_TALLY_SHOWN)
        t->wrongs[t->wrong_count++] =
            (struct rule_wrong){ .id = str_dup(d->id),
                                 .by = str_dup(d->by),
                                 .at_ms = d->at_ms,
                                 .is_corrected = d->verdict == DECISION_CORRECTED };
}

bool rule_tally_note(struct rule_tally *t, const struct rule *rule,
                     const struct decision *d)
{
    if (!rule_covers(rule, &d->proposal, NULL))
        return false;
    if (d->verdict == DECISION_NOTHING) {
        t->undecided++;
    } else if (d->origin != DECIDED_BY_PERSON) {
        t->others++;
    } else if (d->verdict == DECISION_APPROVED) {
        t->approved++;
    } else {
        *(d->verdict == DECISION_REJECTED ? &t->rejected : &t->corrected) += 1;
        keep_wrong(t, d);
    }
    return true;
}

void rule_tally_done(struct rule_tally *t)
{
    for (size_t i = 0; i < t->wrong_count; i++) {
        free(t->wrongs[i].id);
        free(t->wrongs[i].by);
    }
    *t = (struct rule_tally){};
}

void rule_tally_put(const struct rule_tally *t, struct json_writer *w)
{
    json_put_uint(w, S("approved"), t->approved);
    json_put_uint(w, S("rejected"), t->rejected);
    json_put_uint(w, S("corrected"), t->corrected);
    json_put_uint(w, S("by_others"), t->others);
    json_put_uint(w, S("undecided"), t->undecided);
}
