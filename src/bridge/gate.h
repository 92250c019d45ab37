/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait for somebody's word, and the words that go on counting (ADR-001). Pure:
 * time and texts are arguments; who is told what is the bridge's business.
 *
 *     gate_find ─► a decision that was to last: approved, denied
 *     gate_add ──► pending ─► gate_respond ─► approved, denied, handed on
 *                         └─► gate_expired, gate_revoke, gate_take
 *
 * Nobody decides on his own call: neither who makes it nor whose proposal it fulfils.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "participant/occupant.h"

enum {
    GATE_PENDING = 128,     /* in all, */
    GATE_PENDING_EACH = 16, /* … and of one caller */
    GATE_BYTES = 8 << 20,   /* of arguments that are pending, */
    GATE_BYTES_EACH = 2 << 20,
    GATE_KEPT = 1000,             /* decisions that go on counting, */
    GATE_KEPT_BYTES = 16 << 10,   /* … each of arguments so long at most, */
    GATE_KEPT_MS = 24 * 3600'000, /* … and for so long */
    GATE_HOPS = 3,                /* so often is one handed on */
    GATE_REASON = 1000,           /* bytes of a reason, the rest is cut */
    GATE_ID_MAX = 256,
};

struct gate;

/* What is to be decided on. */
struct gate_call {
    struct str caller;
    struct str proposer; /* whose proposal it fulfils, or "" */
    struct str tool;
    struct str arguments; /* a JSON object */
    struct str print; /* the same for the same arguments of the same tool; "": unknown */
};

/* A decision. Kept or not, its texts are valid until the gate changes. */
struct gate_decision {
    struct str id;
    struct str caller, tool, arguments;
    struct str by, reason;
    bool is_approval;
    uint64_t valid_ms; /* wall clock; 0: for this one call */
    uint64_t uses;
};

struct gate_pending {
    struct str id;
    struct str caller, proposer, tool, arguments, print;
    uint64_t due_ms;     /* monotonic */
    uint64_t expires_ms; /* wall clock */
    char *reason;        /* owned, like the next two */
    char *delegate;      /* who alone decides; NULL: whoever may */
    char *announcement;  /* the id of the last envelope that told of it, or NULL */
    char *deciders[2 * GATE_HOPS + 1]; /* who was asked, or handed it on */
    size_t decider_count, hops;
    void *user;
    struct link link; /* oldest first */
};

struct gate *gate_new(void);
void gate_free(struct gate *gate);

/* The decision that counts for this call, or NULL. One use is counted. */
const struct gate_decision *gate_find(struct gate *gate, const struct gate_call *call,
                                      struct moment now);

/* It waits from now on. ERR_OVERLOAD with *ret_why, static. */
struct gate_wait {
    struct str id; /* nobody can guess it */
    struct str reason;
    struct str delegate; /* "": whoever may */
    uint64_t timeout_ms;
    void *user;
};
enum err gate_add(struct gate *gate, const struct gate_call *call,
                  const struct gate_wait *wait, struct moment now,
                  struct gate_pending **ret, const char **ret_why);

/* Everybody who may decides from now on; `why` stands before the reason. */
void gate_open_up(struct gate_pending *pending, struct str why);
void gate_announced(struct gate_pending *pending, struct str envelope_id);

/* authorization/respond, as it was heard. */
struct gate_word {
    struct str from;
    struct str about; /* correlation_id, or "" */
    struct str id;
    struct str decision, reason, delegate;
    struct str valid_until; /* ptr NULL: not said */
};

enum gate_effect {
    GATE_IGNORED, /* *ret_why, static: it changes nothing */
    GATE_APPROVED,
    GATE_DENIED,
    GATE_HANDED_ON,
};

/* Approved or denied, *ret_pending is no longer in the gate: gate_pending_free() follows.
 * *ret_decision is valid until the gate changes. */
enum gate_effect gate_respond(struct gate *gate, const struct gate_word *word,
                              struct moment now, struct gate_pending **ret_pending,
                              struct gate_decision *ret_decision, const char **ret_why);

/* authorization/revoke. ERR_NOT_FOUND; ERR_FORBIDDEN: a denial of his own call. What was
 * pending is in *ret_pending, else NULL; it is no longer in the gate. */
enum err gate_revoke(struct gate *gate, struct str id, struct str from, struct moment now,
                     struct gate_pending **ret_pending);

/* The next one whose time is over, no longer in the gate, or NULL. */
struct gate_pending *gate_expired(struct gate *gate, struct moment now);
uint64_t gate_due_ms(const struct gate *gate); /* UINT64_MAX: nothing waits */

/* Oldest first: NULL is the first, at the end NULL. */
struct gate_pending *gate_next(const struct gate *gate, const struct gate_pending *after);
/* Takes it out, whatever becomes of it, or frees it. */
void gate_take(struct gate *gate, struct gate_pending *pending);
void gate_pending_free(struct gate_pending *pending);

/* authorization/list: {"pending":[…],"authorizations":[…]}, in pages. ERR_INVALID: the
 * cursor is none of ours. */
enum err gate_put_list(struct gate *gate, struct str cursor, size_t page_bytes,
                       struct moment now, struct buf *out);
