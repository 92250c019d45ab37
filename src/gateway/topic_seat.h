/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seat inside the gateway: a member of a topic that is no connection. It reads the
 * native lane as everybody does (frames, whose heads it skips), directed and without
 * echo, and what it sends goes through admit() like anybody's, but at any rate. Texts are
 * heard from a deferred task, never from inside what made them, 64 KiB in a turn.
 *
 *     away ──room, place──► sitting ──kicked, replaced──► away, with a growing pause
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "gateway/recording.h"
#include "gateway/worker.h"
#include "identity/identity.h"
#include "participant/seat.h"

struct topic_seat;

struct topic_seat_terms {
    enum connection_type type; /* as the record and administrators see it */
    const char *address;       /* likewise; static */
    enum presence_mode presence;
    bool is_limited; /* to the rates of a connection */
    bool sits_once;  /* who loses the place, or gets none, has lost it for good: on_lost
                      * says so, even where on_begin never came */
};

/* On the worker of the topic. One reference on the identity is taken. A place is taken as
 * soon as there is one: the room is made where there is none, and stays as long as
 * somebody sits in it. Lost (kicked, replaced), it is taken again after a pause, for as
 * long as the seat is open: seat_ops.on_lost, then on_begin. No callback comes inside. */
struct topic_seat *topic_seat_open(struct worker *worker, struct str topic,
                                   struct identity *identity,
                                   const struct topic_seat_terms *terms,
                                   const struct seat_ops *ops, void *user);
struct seat *topic_seat_of(struct topic_seat *seat);

/* Leaves the room and frees it, a little later where it is being heard; no callback comes
 * any more. NULL is harmless. */
void topic_seat_close(struct topic_seat *seat);

struct str topic_seat_id(const struct topic_seat *seat); /* of the participant */
/* What the identity may do, or where it may be, is another thing from now on. */
void topic_seat_set_identity(struct topic_seat *seat, struct identity *identity);

/* Whose seat a member is, and what kind of one; NULL: it is a WebSocket. */
const struct identity *topic_seat_identity(struct member *member,
                                           enum connection_type *ret_type);

/* Does it sit? */
bool topic_seat_is_taken(const struct topic_seat *seat);
