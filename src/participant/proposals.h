/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The participant's own ledger of proposals (MCPx v0.1, 10.2): what was proposed in the
 * room, or is to be authorized, and what became of it. Bounded: the oldest that were
 * decided are forgotten first, and above the limit open ones are not entered.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/str.h"

struct occupant;

enum proposed_state {
    PROPOSED_OPEN,
    PROPOSED_FULFILLED,
    PROPOSED_REJECTED,
    PROPOSED_WITHDRAWN,
    PROPOSED_EXPIRED,
};

struct proposed {
    struct str id;
    struct str proposer;
    struct str owner;            /* an authorization: who asks; else "" */
    struct str authorization_id; /* likewise */
    struct str asked;            /* likewise: whose answer counts; "": anybody's */
    bool is_announced;           /* likewise: `id` is that of the announcement */
    struct str method, name;
    const struct str *to;
    size_t to_count;
    struct str params; /* a JSON object, or "" where it is not known */
    struct str reason;
    struct str by;
    uint64_t created_ms, expires_ms;
    uint32_t needed, given; /* approvals; needed 0: the gateway has not said */
    const struct str *approvers;
    size_t approver_count;
    enum proposed_state state;
    bool is_mine;
    struct link link; /* oldest first */
};

/* Oldest first; NULL: the first, at the end NULL. */
const struct proposed *occupant_next_proposal(const struct occupant *o,
                                              const struct proposed *after);
const struct proposed *occupant_find_proposal(const struct occupant *o, struct str id);
