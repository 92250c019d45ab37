/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger of one topic: which proposals are open, and which requests are still without
 * an answer. It decides what a fulfilment is, who may withdraw, and to whom the answer to
 * a fulfilment goes besides (D17). Open proposals keep their envelope, for those who come
 * later and have to decide. Pure: `now` is an argument, and judging an envelope
 * changes nothing until it is entered.
 *
 *     proposal ──► open ──► fulfilled | rejected | withdrawn | expired
 *
 * Those that are closed stay known for as long as there is room, without their envelope:
 * else one could be fulfilled again. Whoever keeps proposals beyond this process hears of
 * both (struct ledger_keeper).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "envelope/envelope.h"

enum proposal_mode {
    PROPOSALS_FREE, /* anyone who may send the request fulfils, as often as he likes */
    PROPOSALS_ONCE, /* one fulfilment, and never by the proposer */
};

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
    char *envelope; /* all of it, in slash spelling; NULL once it is closed */
    size_t envelope_bytes;
    uint64_t to_hash;    /* of the addressees in their order; 0: all */
    uint64_t order;      /* no other of this ledger has the same */
    uint64_t created_ms; /* wall clock */
    uint64_t expires_ms;
    uint8_t state;
    struct link link; /* oldest first */
    char text[];
};

struct ledger_settings {
    enum proposal_mode mode;
    uint64_t expiry_ms; /* where the proposer names none */
    uint64_t max_expiry_ms;
    size_t max_proposals; /* known at once; above, new ones are refused */
    size_t max_each;      /* of one proposer, so that nobody takes all; 0: any number */
    size_t max_bytes;     /* of the open ones' envelopes, likewise */
    size_t max_each_bytes;
    size_t
        max_requests; /* remembered without an answer; above, the oldest is forgotten */
};

struct ledger;

/* Told of each proposal that opens, or closes in one way or another (`changed`), and of
 * each that was closed and is no longer known (`forgotten`). */
struct ledger_keeper {
    /* For one more of this proposer? */
    bool (*has_room)(const struct ledger *ledger, struct str proposer, size_t bytes);
    void (*changed)(struct ledger *ledger, const struct proposal *proposal);
    void (*forgotten)(struct ledger *ledger, const struct proposal *proposal);
    /* An envelope of this proposer is held, or (is_held: false) no longer, also because
     * the ledger ends. May be NULL. */
    void (*weighed)(struct ledger *ledger, struct str proposer, size_t bytes,
                    bool is_held);
};

struct ledger {
    const struct ledger_settings *settings;
    const struct ledger_keeper *keeper; /* NULL: nobody keeps anything */
    struct hash_key key;                /* of to_hash */
    struct map proposals;
    struct link by_age;
    size_t open_count; /* those that have expired unnoticed included */
    uint64_t order;    /* of the last proposal */
    size_t bytes;      /* of envelopes held */
    struct map requests;
    struct link requests_by_age;
};

void ledger_init(struct ledger *ledger, const struct ledger_settings *settings);
void ledger_done(struct ledger *ledger); /* what is kept stays */

/* All that one knows goes to the other, which knows nothing yet and keeps its settings
 * and its keeper. */
void ledger_move(struct ledger *to, struct ledger *from);

/* Forgets all that is closed, or has expired. True: nothing is left. */
bool ledger_sweep(struct ledger *ledger, uint64_t wall_ms);

/* What an envelope will do to the ledger once it is admitted. */
struct ledger_effect {
    enum {
        EFFECT_NONE,
        EFFECT_PROPOSE,
        EFFECT_FULFIL,
        EFFECT_REQUEST,
        EFFECT_ANSWER,
        EFFECT_REJECT,
        EFFECT_WITHDRAW,
    } type;
    struct proposal *proposal; /* fulfilled, rejected or withdrawn */
    struct request *request;   /* answered */
    uint64_t expires_ms;       /* of a new proposal */
    struct str watcher; /* whose proposal it concerns: it reaches him, too; or "" */
};

struct ledger_problem {
    struct str field;
    const char *what;  /* static text */
    const char *state; /* of the proposal concerned, or NULL */
};

/* Judges an envelope whose kind is parsed. ERR_PROPOSAL_STATE, ERR_MALFORMED_ENVELOPE
 * (expires_at), ERR_UNAVAILABLE. */
enum err ledger_judge(struct ledger *ledger, const struct envelope *env, uint64_t wall_ms,
                      struct ledger_effect *ret, struct ledger_problem *problem);

/* Enters what was judged; nothing may have happened in between. `text` is the envelope in
 * slash spelling, whatever the view was read from. */
void ledger_enter(struct ledger *ledger, const struct envelope *env, struct str text,
                  const struct ledger_effect *effect, uint64_t wall_ms);

/* A proposal as it was kept. */
struct proposal_past {
    uint64_t order;
    uint64_t created_ms;
    uint64_t expires_ms;
    enum proposal_state state;
    struct str id; /* closed ones: all that is left; else that of the envelope */
    struct str proposer;
    struct str kind;
};

/* After a restart: puts it back behind the others, with its envelope if it is open.
 * `env` and its text are NULL and "" for a closed one. ERR_INVALID: not a proposal;
 * ERR_CONFLICT: its id is known, or its order is not behind the others'. */
enum err ledger_restore(struct ledger *ledger, const struct proposal_past *past,
                        const struct envelope *env);

/* D7a: an open proposal or an unanswered request has this id. */
bool ledger_knows(const struct ledger *ledger, struct str id, uint64_t wall_ms);

/* The proposal, its state brought up to date, or NULL. */
const struct proposal *ledger_find(struct ledger *ledger, struct str id,
                                   uint64_t wall_ms);

/* Walks the open ones, oldest first: NULL gives the first. */
const struct proposal *ledger_next_open(struct ledger *ledger,
                                        const struct proposal *after, uint64_t wall_ms);

const char *proposal_state_name(enum proposal_state state);
