/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A proposal, as the ledger knows it and as it is kept beyond this process.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "approval/approval.h"
#include "base/list.h"
#include "base/str.h"
#include "envelope/kind.h"

enum proposal_state {
    PROPOSAL_OPEN,
    PROPOSAL_FULFILLED,
    PROPOSAL_REJECTED,
    PROPOSAL_WITHDRAWN,
    PROPOSAL_EXPIRED,
};

struct proposal {
    struct str id; /* this and the next ones stand in `text` */
    struct str proposer;
    struct kind kind;
    struct str subject; /* METHOD[:NAME], see binding.h */
    char *envelope;     /* all of it, in slash spelling; NULL once it is closed */
    size_t envelope_bytes;
    uint64_t to_hash;    /* of the addressees in their order; 0: all */
    uint64_t order;      /* no other of this ledger has the same */
    uint64_t created_ms; /* wall clock */
    uint64_t expires_ms;
    struct approvals approvals; /* those that counted when they were given */
    char *verdict;              /* the next ones stand in it; NULL: nobody decided */
    struct str by;
    struct str reason;
    struct str rule;     /* that let it through; "": none, people did */
    struct str edited;   /* what a fulfilment changed, as JSON; while `changed` is told */
    uint64_t decided_ms; /* 0: it is open */
    uint8_t state;
    bool has_human_approval;
    struct link link; /* oldest first */
    char text[];
};

/* A proposal as it was kept. */
struct proposal_past {
    uint64_t order;
    uint64_t created_ms;
    uint64_t expires_ms;
    enum proposal_state state;
    struct str id; /* closed ones: all that is left; else that of the envelope */
    struct str proposer;
    struct str kind;
    struct str subject; /* "": what the kind says */
    struct str by;      /* closed ones */
    struct str reason;
    struct str rule;
    uint64_t decided_ms;
    const struct approver *approvals;
    size_t approval_count;
};

const char *proposal_state_name(enum proposal_state state);
