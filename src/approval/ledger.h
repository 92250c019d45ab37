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

#include "approval/proposal.h"
#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "envelope/envelope.h"

enum proposal_mode {
    PROPOSALS_FREE,  /* anyone who may send the request fulfils, as often as he likes */
    PROPOSALS_ONCE,  /* one fulfilment, and never by the proposer */
    PROPOSALS_EXACT, /* likewise, and of nothing but what was proposed: binding.h */
};

struct ledger_settings {
    enum proposal_mode mode;
    struct approval_terms approvals;
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

/* Told of each proposal that opens, is approved, or closes in one way or another
 * (`changed`), and of each that was closed and is no longer known (`forgotten`). All of
 * them may be called while an envelope is judged: expiry is noticed then. */
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
        EFFECT_APPROVE,
        EFFECT_OBJECT, /* a person's no to what a rule has let through: it stays so */
    } type;
    struct proposal *proposal;      /* fulfilled, rejected, withdrawn or spoken of */
    struct request *request;        /* answered */
    struct ledger_verdict *verdict; /* of ledger_decide(), in its arena; or NULL */
    uint64_t expires_ms;            /* of a new proposal */
    struct str watcher; /* whose proposal it concerns: it reaches him, too; or "" */
};

struct ledger_problem {
    struct str field;
    const char *what;  /* static text */
    const char *state; /* of the proposal concerned, or NULL */
    struct str path;   /* where the arguments differ; "" or in ledger_decide()'s arena */
    size_t needed, given; /* approvals; needed 0: that is not the problem */
};

/* Judges an envelope whose kind is parsed. ERR_PROPOSAL_STATE, ERR_MALFORMED_ENVELOPE
 * (expires_at), ERR_UNAVAILABLE. If it concerns a proposal, or is one, ledger_decide()
 * must follow. */
enum err ledger_judge(struct ledger *ledger, const struct envelope *env, uint64_t wall_ms,
                      struct ledger_effect *ret, struct ledger_problem *problem);

static inline bool ledger_must_decide(const struct ledger_effect *effect)
{
    return effect->proposal || effect->type == EFFECT_PROPOSE;
}

/* Who speaks. */
struct decider {
    struct str profile; /* "": none */
    bool is_human;
    bool may_approve; /* holds mcp/approve */
};

/* Does what an envelope says of a proposal count, and may it be fulfilled so? What is
 * needed to enter it goes into the arena. Where it names a rule, all is judged but that:
 * is there one, and does it hold for this? ERR_PROPOSAL_STATE, ERR_ARGUMENT_MISMATCH,
 * ERR_MALFORMED_ENVELOPE (edited), ERR_KIND_PAYLOAD_MISMATCH, ERR_TOO_LARGE. */
enum err ledger_decide(struct ledger *ledger, const struct envelope *env,
                       const struct decider *who, struct arena *arena,
                       struct ledger_effect *effect, struct ledger_problem *problem);

/* Does the request ask for what the open proposal says, in the same kind, and for nothing
 * else? Compared by meaning (approval/binding.h). */
bool ledger_is_as_proposed(const struct proposal *proposal,
                           const struct envelope *request);

/* Why it is rejected, or withdrawn, as ledger_decide() has found it; "": in no words. */
struct str ledger_reason(const struct ledger_effect *effect);

/* Are payloads of proposals, and of what fulfils them, looked into here? Then they must
 * pass the strict check (D21) before. */
bool ledger_looks_inside(const struct ledger *ledger);

/* Enters what was judged; nothing may have happened in between. `text` is the envelope in
 * slash spelling, whatever the view was read from. */
void ledger_enter(struct ledger *ledger, const struct envelope *env, struct str text,
                  const struct ledger_effect *effect, uint64_t wall_ms);

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

/* Walks the open ones, or all, oldest first: NULL gives the first. */
const struct proposal *ledger_next_open(struct ledger *ledger,
                                        const struct proposal *after, uint64_t wall_ms);
const struct proposal *ledger_next(struct ledger *ledger, const struct proposal *after,
                                   uint64_t wall_ms);

/* Notices what has expired. Returns when the next will, UINT64_MAX: none is open. */
uint64_t ledger_expire(struct ledger *ledger, uint64_t wall_ms);
