/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What moot approve, reject and withdraw are about: a proposal, or a call that its owner
 * wants authorized, named by its whole id, so that none is decided that was not meant.
 * Proposals stand in the welcome; of authorizations that were announced before we came
 * only their owners know, and they are asked.
 */
#pragma once

#include <moot.h>

#include "base/buf.h"
#include "cli/docket.h"
#include "cli/session.h"

struct decide_options {
    struct session_options session;
    const char *edit_args, *to, *reason, *timeout, *valid, *delegate;
    bool vote, yes;
};

enum decision_way {
    WAY_RUN,       /* the call that is proposed is made */
    WAY_VOTE,      /* mcp/approve */
    WAY_AUTHORIZE, /* its owner is told */
};

typedef void (*decide_fn)(struct session *session, const struct moot_proposal *p);

struct decision {
    const struct decide_options *options;
    const char *id;
    decide_fn act;
    bool asks_owners;     /* where it is not known here */
    bool may_object;      /* where a rule has let it through */
    struct docket docket; /* who is asked */
    uint32_t timeout_ms;
    uint64_t valid_ms; /* --valid */
    struct buf reason;
    struct buf arguments; /* --edit-args, read */
    struct buf params;    /* with those */
    struct buf shown;     /* what somebody at a terminal was asked about */
    bool has_called;
    enum decision_way way;
    bool has_voted;
    uint32_t needed, given;      /* approvals, before ours */
    struct interview *interview; /* about the call, when it is made */
    struct buf asked, call_id;   /* of it */
};

/* Finds what is meant, and acts on it while it is open; else says why not and ends. */
void decision_begin(struct session *session);

/* The same once more, after a while: false, and it has ended. */
bool decision_find(struct session *session, struct moot_proposal *ret);

/* Sends "approve", "deny" or "delegate" to the owner of an authorization. */
enum moot_err decision_authorize(struct session *session, const char *word,
                                 moot_on_done *on_done);

/* So long a text is shown of what is asked, and a reason may be. */
enum { DECISION_TEXT = 64 << 20, DECISION_REASON = 65536 };
