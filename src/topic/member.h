/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A member is one live presence in a topic: an identity with an outbox. Whatever brought
 * it there (a WebSocket, later an MCP client or a bridge) embeds a struct member, is told
 * when there is something to take, and pulls it.
 *
 * The outbox is no queue of copies. Before the cursor stand closed slices (private
 * frames, parts of the log with a gap after them), then everything in the lane from the
 * cursor on:
 *
 *     [welcome] [log 0..310) [error] [log 310..640) …cursor→ [640..visible)
 *
 * A member whose connection is blocked keeps no slices of the log's blocks: they are
 * copied, so that a slow reader of a few bytes cannot hold blocks of everybody's. Only
 * the roster in its welcome stays shared.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/list.h"
#include "base/str.h"
#include "topic/lane.h"

struct capset;
struct member;
struct participant;
struct topic;

enum routing { ROUTE_ALL, ROUTE_DIRECTED };

/* Why the topic ended a membership. */
enum member_end {
    END_LEFT,
    END_REPLACED, /* by a newer connection, D5 */
    END_KICKED,
    END_REVOKED, /* its token */
    END_SLOW,    /* over the hard mark, D18 */
};

struct member_ops {
    /* There is something to pull. */
    void (*on_ready)(struct member *member);
    /* The topic wants the connection gone; the owner calls member_leave() in the end. */
    void (*on_end)(struct member *member, enum member_end why);
    /* What its credential may do here has changed; the owner sets it anew. */
    void (*on_rights)(struct member *member);
};

struct slice {
    struct block *block; /* one reference */
    uint32_t from, to;
    bool counts; /* towards the hard mark: not the welcome, not a replay */
};

/* What stands before the cursor. */
struct outbox {
    uint32_t queued;             /* bytes in slices that count */
    uint32_t first, count, room; /* slices in use, and allocated */
    struct slice slices[];
};

struct member {
    const struct member_ops *ops;
    struct participant *participant; /* NULL after member_leave() */
    struct capset *capabilities;     /* what its credential may send; one reference */
    struct lane *lane;
    struct link lane_link; /* in the lane's readers, directed or ready; not while
                            * replaying */
    struct link peer_link; /* in participant->members */
    struct block *block;   /* the cursor: one reference; NULL while directed */
    struct outbox *outbox; /* NULL: nothing stands before the cursor */
    uint64_t replay_seq;   /* the next entry to replay; 0: live */
    uint64_t connected_ms; /* wall clock */
    uint64_t number;       /* names the connection in lists; not 0 */
    uint32_t at;           /* the cursor in `block` */
    uint8_t routing;
    /* Bits: as bytes they would put a client into the next size of memory. */
    bool wants_echo : 1;
    bool is_ready : 1; /* stands in lane->ready */
    bool is_blocked : 1;
    bool was_warned : 1; /* slow_consumer, since it was last empty */
    bool is_ending : 1;
};

/* Every idle connection has one: see docs/PERFORMANCE.md. */
_Static_assert(sizeof(struct member) <= 112, "an idle connection has grown");

/* How many slices wait. */
static inline size_t member_waiting(const struct member *member)
{
    return member->outbox ? member->outbox->count : 0;
}

/* Fills spans with what to send next. */
size_t member_pull(struct member *member, struct iovec *out, size_t max);

/* The first `bytes` of what was pulled have left. */
void member_taken(struct member *member, size_t bytes);

/* Its connection cannot take more for now, or can again. */
void member_set_blocked(struct member *member, bool is_blocked);

/* Bytes that wait and count: what the marks of D18 look at. */
size_t member_backlog(const struct member *member);

/* A frame for this member alone, behind everything visible now. */
enum frame_weight { FRAME_COUNTS, FRAME_EXEMPT };
void member_send(struct member *member, struct str text, enum frame_weight weight);

/* The same for bytes that are already a frame (pongs). */
void member_send_frame(struct member *member, struct str frame);
