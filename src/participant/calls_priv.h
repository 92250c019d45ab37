/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of calls from inside: calls.c keeps it, answers.c brings what is heard
 * together with it, ask.c puts things in.
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
#include "participant/ask.h"
#include "participant/calls.h"
#include "participant/draft.h"
#include "participant/occupant.h"

enum {
    CALLS_FINISHED = 256,        /* remembered, at most */
    CALLS_KEPT_BYTES = 16 << 20, /* of what may have to be proposed instead */
    CALLS_TAKERS = 64,           /* whom somebody else asks for us, at most */
};

enum {
    CALLS_MAX_MS = 24 * 3600 * 1000,   /* authorizations, proposals */
    CALLS_PROPOSAL_MS = 5 * 60 * 1000, /* they expire, where nothing is said */
};

enum call_stage {
    CALL_SENT, /* the gateway's word is all it waits for */
    CALL_ASKED,
    CALL_PROPOSED,
    CALL_TAKEN_UP, /* somebody else asks */
    CALL_ENDED,    /* on_done is still to come */
};

/* What a call is made of; texts are copied. */
struct call_terms {
    enum call_stage stage;
    struct str id;
    struct str method, name; /* name "": none */
    const struct str *to;    /* who may answer; none: anybody */
    size_t to_count;
    struct str params, reason; /* of what can be proposed */
    bool can_be_proposed;      /* instead, where the request is refused */
    bool only_if_told;         /* … with the words of the gateway: propose_instead */
    bool is_told;              /* it has said so */
    bool is_quiet;             /* no progress is asked for */
    uint64_t timeout_ms;       /* 0: the default */
    uint64_t proposal_ms;      /* 0: timeout_ms */
    struct ask_ops ops;
    void *user;
};

struct call {
    struct call_terms terms; /* texts stand behind the struct, or in `taken` */
    struct taken *taken;     /* by whose request; NULL: nobody's */
    bool is_provisional;     /* what the addressee says next is final */
    uint64_t due_ms;
    uint64_t fence;      /* CALL_SENT: this one and all later ones speak for it */
    uint64_t connection; /* on which it was sent */
    size_t kept_bytes;
    struct outcome end; /* CALL_ENDED */
    char *message;      /* of `end`, where it is not static */
    struct link link;   /* in one of the lists of calls */
};

/* Somebody's request that fulfils our proposal. */
struct taken {
    struct str id;
    const struct str *to;
    size_t to_count;
};

/* A call that is over: who may still say something about it is known for a while. */
struct finished {
    uint64_t id_hash; /* keyed; 0: free */
    uint64_t to_hash;
    bool is_answered;
};

struct calls {
    struct map by_id;
    struct map by_taken; /* CALL_TAKEN_UP, by taken->id */
    struct link waiting;
    struct link untold; /* like waiting, and ASK_PROPOSED is still to be told */
    struct link sent;
    struct link ended;
    size_t max;
    struct finished *finished; /* a ring, as large as there were calls */
    size_t finished_size, finished_at;
    struct hash_key key;
    uint64_t due_ms;     /* nothing that waits is due before */
    uint64_t fence;      /* the one under way; 0: none */
    uint64_t connection; /* how many have broken */
    size_t kept_bytes;
    struct pad pad;
};

/* Is there room for one more? */
bool calls_have_room(const struct calls *calls);

/* Enters what was sent just now. */
struct call *calls_add(struct occupant *o, const struct call_terms *terms);

/* By the id of what we sent; NULL where it is over. */
struct call *calls_find(const struct calls *calls, struct str id);

struct finished *calls_find_finished(struct occupant *o, struct str id);
bool finished_was_asked(const struct calls *calls, const struct finished *finished,
                        struct str id);

/* From now on it is due after so many milliseconds. */
void call_wait(struct occupant *o, struct call *call, uint64_t ms);

/* How long it was given for an answer. */
uint64_t call_timeout(const struct occupant *o, const struct call *call);

void call_take_up(struct occupant *o, struct call *call, const struct envelope *request);

/* It has become a proposal; who asked is told with calls_tell_proposed(). */
void call_propose(struct occupant *o, struct call *call);
void calls_tell_proposed(struct occupant *o);

/* Over: on_done comes with calls_tell(). Texts of `end` are static or the call's own, but
 * for the message, which is copied. */
void call_end(struct occupant *o, struct call *call, const struct outcome *end);
void calls_tell(struct occupant *o);

/* Over, and on_done comes now; the call is gone. */
void call_finish(struct occupant *o, struct call *call, struct outcome *end);

void call_progress(struct call *call, struct progress *progress);

/* How long a proposal of it stays open. */
uint64_t call_proposal_ms(const struct call_terms *terms);

/* Sends, with the id and the addressees of the terms. Errors of draft_send(). `about`
 * says what a request is about: correlation_id, is_edited. */
enum err calls_send_request(struct occupant *o, const struct call_terms *terms,
                            const struct say_head *about, const char **ret_why);
enum err calls_send_proposal(struct occupant *o, const struct call_terms *terms,
                             const char **ret_why);
void calls_send_cancelled(struct occupant *o, const struct call *call, struct str reason);
