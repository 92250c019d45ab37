/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger from inside: proposals.c keeps it, decisions.c and authorizations.c bring
 * what is said together with it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "participant/ask.h"
#include "participant/occupant.h"
#include "participant/proposals.h"
#include "participant/proposals_priv.h"

enum {
    PROPOSALS_BYTES = 16 << 20, /* of all that is known */
    PROPOSALS_REASON = 4096,    /* of why something was decided, the rest is cut */
    PROPOSALS_SHARES = 4,       /* nobody takes more than one of them */
};

enum {
    PROPOSALS_EXPIRY_MS = 5 * 60 * 1000, /* where nothing is said */
    PROPOSALS_MAX_MS = 24 * 3600 * 1000,
};

struct entry {
    struct proposed proposed; /* texts stand behind the struct, or in `verdict` */
    struct str reason;        /* why it was asked for */
    struct str request_id;    /* an authorization: the call that it is about, or "" */
    bool is_partial;          /* its envelope is not known */
    bool is_listed;           /* in the welcome that is being read */
    char *verdict;            /* by, and the reason for it */
    struct str *approvers;    /* of `proposed`, with their texts */
    char decision[ASK_ID];    /* ours, which may still be refused */
    size_t decision_len;      /* 0: none */
    struct link group;        /* closed, or open authorizations */
    struct link news;
    size_t bytes;
};

struct proposals {
    size_t max;
    struct map by_id;
    struct link by_age;
    struct link closed; /* in the order in which that happened */
    struct link authorizations;
    struct link news;   /* on_proposal is still to come */
    struct entry *told; /* on_proposal is being called with it, so it stays */
    size_t bytes;
    uint64_t due_ms; /* monotonic; nothing expires before */
};

struct entry *proposals_find(const struct proposals *ps, struct str id);
bool proposals_is_open(const struct proposals *ps, struct str id);

/* Enters it, open, in place of what had its id; NULL: there is no room. */
struct entry *proposals_enter(struct occupant *o, const struct proposed *seen,
                              struct str request_id);

/* The gateway knows better. */
void proposals_date(struct occupant *o, struct entry *entry, uint64_t created_ms,
                    uint64_t expires_ms);

/* How it ended. Said by us it is not certain yet, and neither is local expiry: whatever
 * is heard later counts instead. */
struct ruling {
    enum proposed_state state;
    struct str by;
    struct str reason;
    struct str said_by_us; /* the id of our decision, or "" */
};
void proposals_close(struct occupant *o, struct entry *entry,
                     const struct ruling *ruling);
void proposals_reopen(struct occupant *o, struct entry *entry);

/* It was said by us, and the gateway says that it counts. */
void proposals_confirm(struct entry *entry);

/* How many have approved. True: that is new. */
bool proposals_count(struct entry *entry, uint32_t needed, uint32_t given);
void proposals_tell_later(struct occupant *o, struct entry *entry);

/* {"needed":…,"given":…,…}, as the gateway tells of them. False: it is none. */
bool approvals_read(struct json_span approvals, uint32_t *ret_needed,
                    uint32_t *ret_given);

/* {…,"by":["ann"]}: who has. */
void approvals_name(struct entry *entry, struct json_span approvals, struct arena *texts);

/* on_proposal for what has changed. */
void proposals_tell(struct occupant *o);

/* Milliseconds from now, at most PROPOSALS_MAX_MS, as a time of the wall clock. Where the
 * text is no time: after the default. */
uint64_t proposals_expiry(const struct occupant *o, struct str text, uint64_t created_ms);

/* What concerns authorizations is taken, else false. */
bool authorizations_note(struct occupant *o, const struct heard *heard,
                         struct arena *texts);
