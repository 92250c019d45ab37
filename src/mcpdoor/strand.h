/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strand: the messages that belong to one request of a client, or to none (GET,
 * listen), in their order, whether the client is there now or comes back. Legacy strands
 * that have become streams number their events and keep the last ones for who resumes;
 * modern ones keep nothing: a stream that breaks is over.
 *
 *     strand_send ──► outlet (late: JSON becomes a stream with the first event)
 *          └──────► kept, bounded ◄── strand_resume(after)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/str.h"
#include "mcpdoor/outlet.h"

enum {
    STRAND_EVENTS = 256,         /* kept of one strand */
    STRAND_BYTES = 256 << 10,    /* likewise; the last one is kept whatever its size */
    STRAND_ID = 48,              /* "NUMBER-SEQUENCE" */
    STRAND_STREAM_MS = 1000,     /* without an answer a legacy request becomes a stream */
    STRAND_MURMUR_MS = 15'000,   /* a comment after so much silence */
    STRAND_KEPT_MS = 5 * 60'000, /* a strand that is over, for who resumes */
    STRAND_RETRY_MS = 1000,      /* `retry` of a polling close */
};

struct strand_terms {
    uint64_t number;   /* in the ids of events: unique within the visit, and so that one
                        * of another life is not taken for it (begin at random) */
    bool is_resumable; /* legacy over HTTP */
    bool has_priming;  /* 2025-11-25 and later: an event with an id and without data */
    bool is_standing;  /* GET, listen: a stream at once, without an answer */
    struct str visit; /* Mcp-Session-Id to be told with the first answer, or ""; copied */
    uint64_t poll_ms; /* a stream of a request is closed after so long, to be resumed,
                       * each time twice as long; 0: never. With priming alone */
    /* The client went, and the strand cannot be resumed: whoever feeds it stops. It is
     * freed when this returns; answering or freeing it in here does nothing. Not for
     * resumable ones: who goes does not cancel (HTTP-15). May be NULL. */
    void (*on_lost)(void *user);
    /* It is freed, for whatever reason; may be NULL. */
    void (*on_freed)(void *user);
    void *user;
};

struct strand;

/* The outlet's `strand` is set. */
struct strand *strand_new(const struct strand_terms *terms, struct outlet *outlet,
                          uint64_t now_ms);
/* Ends what is attached; a request that has not been answered gets 202 without a body.
 * It takes itself out of its owner's list. */
void strand_free(struct strand *strand);

/* A message before the answer. A resumable strand that has begun to stream keeps it for
 * who comes back; else, where nobody is there, it is lost. */
void strand_send(struct strand *strand, struct str message, uint64_t now_ms);

/* The answer, and the end: as JSON with this status, or as the last event ("": none). A
 * strand that is kept lives on until it is due; else it is freed when this returns. */
void strand_answer(struct strand *strand, unsigned status, struct str message,
                   uint64_t now_ms);

/* From the transport: the client is gone. Harmless where the strand has let go of it. */
void strand_lost(struct outlet *outlet, uint64_t now_ms);

/* Where an event of this id stands: its strand's number, and its place. False: it is no
 * id of ours. */
bool strand_read_id(struct str id, uint64_t *ret_number, uint64_t *ret_sequence);

/* The rest goes to another outlet, in place of the one it has; what has rolled out is
 * left out. False: it has no events that could be resumed, and nothing was done. */
bool strand_resume(struct strand *strand, struct outlet *outlet, uint64_t after,
                   uint64_t now_ms);

/* Streams that begin late, murmurs, polling closes, the end of what is kept. True: it is
 * over, and to be freed. */
bool strand_tick(struct strand *strand, uint64_t now_ms);
uint64_t strand_due_ms(const struct strand *strand); /* UINT64_MAX: never */
uint64_t strand_number(const struct strand *strand);
bool strand_is_attached(const struct strand *strand); /* somebody is there */
bool strand_is_answered(const struct strand *strand); /* … and kept */
size_t strand_bytes(const struct strand *strand);     /* kept */
/* `user` of its terms, where they have this on_freed; else NULL. */
void *strand_user(const struct strand *strand, void (*on_freed)(void *user));
struct link *strand_link(struct strand *strand); /* its owner's list */
struct strand *strand_of(struct link *link);

/* Of all strands in a list the oldest events go, until no more than this is kept. Returns
 * how much is. */
size_t strands_trim(struct link *strands, size_t max_bytes);
