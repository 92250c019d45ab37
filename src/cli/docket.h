/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that their owners want authorized, and what has been decided about such calls for
 * a while: authorization/list, asked of one participant, or of all services that may
 * announce such a thing. What comes is foreign and bounded. What is pending also stands
 * in the ledger (moot_next_proposal()) when it has come.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/session.h"

enum docket_state { DOCKET_PENDING, DOCKET_APPROVED, DOCKET_DENIED };

struct docket_item {
    enum docket_state state;
    char *owner, *id, *tool, *requester; /* none is empty */
    char *params;              /* JSON: name and arguments of the tool; "": not known */
    char *reason, *by, *asked; /* or "" */
    uint64_t until_ms;         /* expires, or is valid; 0: not known */
    uint64_t uses;
    char *raw; /* JSON, as it came */
};

struct docket_owner {
    struct docket *docket;
    char *id;
    size_t pages;
    char *why; /* NULL: it has answered; else what came instead */
};

struct docket {
    struct session *session;
    struct docket_owner *owners;
    size_t owner_count, answered;
    struct docket_item *items; /* owner by owner, as they answered */
    size_t count;
    uint32_t timeout_ms;
    void (*on_done)(struct docket *docket); /* everybody has answered, or has not; never
                                             * once the session is ending */
};

/* Asks one participant, or with NULL all services. `docket` has its session, timeout and
 * on_done set; the latter may be called at once. CLI_OK, or what is wrong has been
 * reported, and on_done is not called. */
int docket_ask(struct docket *docket, const char *participant);
void docket_done(struct docket *docket);

/* May we ask for it? */
bool docket_may(struct session *session);

/* For showing; `to` is filled in, and both live as long as the item. */
void docket_view(const struct docket_item *item, const char **to,
                 struct moot_proposal *ret);
