/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seat inside the gateway: a member of a topic that is no connection. It reads the
 * native lane as everybody does (frames, whose heads it skips), directed and without
 * echo, and what it sends goes through admit() like anybody's. Texts are heard from a
 * deferred task, never from inside what made them.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "gateway/worker.h"
#include "identity/identity.h"
#include "participant/seat.h"

struct topic_seat;

/* On the worker of the topic. The room is made where there is none, and stays as long as
 * somebody sits in it. Lost (kicked, replaced, topic closed), it takes its place again
 * after a pause, for as long as it is open: seat_ops.on_lost, then on_begin. */
struct topic_seat *topic_seat_open(struct worker *worker, struct str topic,
                                   struct identity *identity, const struct seat_ops *ops,
                                   void *user);
struct seat *topic_seat_of(struct topic_seat *seat);

/* Leaves the room; freed later in this turn, no callback any more. */
void topic_seat_close(struct topic_seat *seat);

/* Settings have changed: the topic's, or what the identity may do. */
void topic_seat_set_identity(struct topic_seat *seat, struct identity *identity);
