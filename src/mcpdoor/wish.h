/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wish: something that a client wants somebody in the room to do (tools/call,
 * resources/read, prompts/get, completion/complete, tasks/…).
 *
 *     may call ─────────────► called ───────────────────────────► answered
 *     may propose ──► proposed ──► somebody decides, asks for it ────▲
 *     neither ──► as if there were no such thing     rejected, expired: a tool error
 *
 *     asked by the owner while it is called:
 *       legacy client   a request on its strand; the answer is POSTed        (wish_ask.c)
 *       modern client   parked: input_required with a sealed requestState; the retry
 *                       answers the owner, and waits on (wish_park.c)
 *
 * Several requests may wait for one wish: an identical call of the same attendee joins
 * the one that is proposed. A wish outlives a client that went only where that does not
 * cancel it: legacy over HTTP, parked, or handed out as a task.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/str.h"
#include "json/scan.h"
#include "mcpdoor/attendee.h"
#include "participant/ask.h"

enum {
    WISH_COLLECT_MS = 10,        /* modern: further questions that come with the first */
    WISH_PROGRESS_MS = 5000,     /* with a token: "waiting for a decision" */
    WISH_PARKED_MS = 5 * 60'000, /* nobody came back: cancelled (ML-05) */
    WISH_KEPT_MS = 5 * 60'000,   /* an answer that nobody waited for */
    WISH_PROPOSAL_MS = 5 * 60'000,   /* a proposal stays open, where nothing is set */
    WISH_CALL_MS = 24 * 3600 * 1000, /* whoever is asked has limits of his own */
    WISH_TASK_MS = 3600'000,         /* ttl of a proposal that was handed out as a task */
    WISH_TASK_POLL_MS = 2000,
    WISH_QUESTIONS = 16,
    WISH_DIGEST = 16,
};

enum wish_state {
    WISH_CALLED,
    WISH_PROPOSED, /* or being authorized */
    WISH_PARKED,   /* its questions are with a modern client */
    WISH_ANSWERED, /* kept for who comes back */
};

/* A request that waits. */
struct wisher {
    struct link link;
    struct wish *wish;
    struct visit *visit; /* NULL: modern */
    struct strand *strand;
    struct json_span id;       /* as it stood; behind the struct, as the next one */
    struct json_span progress; /* the client's token; text.ptr NULL: none */
    uint32_t can;
    int level;              /* modern: of this request's messages; -1: none */
    uint64_t hold_until_ms; /* modern, proposed: input_required then */
};

/* What the owner asked. */
struct wish_question {
    struct link link;
    struct wish *wish;
    uint64_t number; /* legacy: the id of our request; modern: its key is "qNUMBER" */
    struct str request_id, method, params; /* of the envelope; behind the struct */
    struct json_span rpc_id;
    bool is_told; /* the client has it */
};

struct wish {
    struct link link;
    struct attendee *attendee;
    uint64_t number; /* in what is sealed, random; 0: nothing is */
    enum wish_state state;
    struct str owner, method, key; /* to whom; behind the struct */
    uint8_t digest[WISH_DIGEST];   /* of owner, method and canonical params */
    bool has_digest;               /* it may have to be joined */
    bool is_proposed;              /* … and can be: others decide, or have decided */
    bool is_taken_up;              /* … and ask for it */
    bool is_authorizing;           /* its owner asks somebody first */
    bool is_modern;
    bool is_task;         /* handed out as one */
    bool was_error;       /* WISH_ANSWERED: */
    bool was_cancelled;   /* … a task, by its owner */
    char call_id[ASK_ID]; /* of the envelope that waits; "": none does */
    struct link wishers, questions;
    size_t question_count;
    uint64_t questions_made;
    uint64_t due_ms;  /* collected, parked, kept: until then; UINT64_MAX: for ever */
    uint64_t tell_ms; /* WISH_PROPOSED: who waits hears of it then */
    uint64_t told;    /* … so many times */
    uint32_t needed, given; /* approvals of the proposal; needed 0: not known */
    char *why;              /* is_authorizing: what the owner says; or NULL */
    uint64_t created_ms;    /* wall clock */
    uint64_t changed_ms;
    struct buf answer; /* WISH_ANSWERED: result or error */
};

/* Answers, now or later, through the strand of `ask`. */
void wish_begin(const struct asked_for *ask);

/* What the occupant of the attendee hears that belongs to a wish (by correlation_id):
 * progress, messages, questions. False: to none. */
bool wish_hear(struct attendee *a, const struct heard *heard);
bool wish_asked(struct attendee *a, const struct heard *heard, struct str reply_to);
/* … and of a question that is not to be answered any more (on_cancelled). */
void wish_unasked(struct attendee *a, struct str request_id, struct str from);
/* The answer of a legacy client to one of our requests. False: none of ours (202 all the
 * same). */
bool wish_reply(struct visit *visit, const struct mcp_message *message);
/* notifications/cancelled, with its requestId. The last one takes the wish with it. */
void wish_cancel(struct attendee *a, struct visit *visit, struct json_span id);
/* The strand goes without having been answered: likewise. */
void wish_lost(struct wisher *wisher);
struct wisher *wish_wisher(const struct attendee *a, const struct strand *strand);
/* Its owner has left. */
void wish_owner_left(struct attendee *a, struct str owner);

/* tasks/get, tasks/update, tasks/cancel, tasks/result of a proposal that was handed out
 * as a task. False: the task is an owner's. */
bool wish_task(const struct asked_for *ask);

/* How an outcome looks to a client: never with the room's own codes. */
void wish_put_outcome(struct buf *out, const struct wish *wish,
                      const struct outcome *outcome, bool *ret_is_error);

/* The gateway goes: what waits for a decision is answered so, and stays open. */
void wish_drain(struct attendee *a);

void wish_tick(struct attendee *a, uint64_t now_ms);
uint64_t wish_due_ms(const struct attendee *a);

/* What it waits for is cancelled, or withdrawn; nobody is told. While the occupant lives.
 */
void wish_free(struct wish *wish);
