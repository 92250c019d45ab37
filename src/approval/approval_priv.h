/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the ledger share. */
#pragma once

#include "approval/ledger.h"

/* What ledger_decide() found out, for ledger_enter(). */
struct ledger_verdict {
    struct str reason;  /* why it was rejected or withdrawn */
    struct str rule;    /* that lets the fulfilment through; "": none */
    struct str edited;  /* what the fulfilment changed, as JSON; "": nothing */
    struct str profile; /* the sender's */
    bool is_human;
    bool counts; /* as an approval */
    bool relies; /* a fulfilment: on others, who approved what was proposed */
};

/* ERR_PROPOSAL_STATE. */
enum err state_problem(const struct proposal *proposal, const char *what,
                       struct ledger_problem *problem);

/* METHOD[:CONTEXT] */
static inline struct str kind_subject(const struct kind *kind)
{
    const char *end = kind->context.ptr ? kind->context.ptr + kind->context.len
                                        : kind->method.ptr + kind->method.len;

    return (struct str){ kind->method.ptr, (size_t)(end - kind->method.ptr) };
}
