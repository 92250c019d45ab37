/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a restart must not lose: grants and strikes, pauses and bars, proposals,
 * rules, brakes.
 * Each change is put into the recorder's batch where it is made, by the one worker that
 * decides it: the first for what holds in all topics. At the start everything comes back,
 * to the worker where its topic lives now.
 *
 * Of a topic that nobody uses a worker keeps this alone, parked: the room around it is
 * made when someone comes. So open proposals outlast their room at the price of their
 * envelopes, and all of those together are bounded.
 */
#pragma once

#include "gateway/room.h"

struct parked {
    struct worker *worker;
    struct str topic; /* in `name` */
    struct ledger ledger;
    struct standings standings;
    struct switches switches;
    struct rulebook *rulebook; /* NULL: there are none */
    size_t rule_weight;        /* as in struct live_room */
    size_t pledged;            /* as in struct live_room */
    uint64_t since_ms;         /* on the loop's clock */
    struct link link;          /* the longest parked first */
    char name[];
};

void state_init(struct worker *worker);
void state_done(struct worker *worker); /* what is kept stays */

/* Before the loops run, when all credentials are known. What cannot be read is logged and
 * left where it is; what is over, and what belongs to nobody, is kept no more. ERR_IO:
 * the store could not be read. */
enum err state_restore(struct gateway *gateway);

/* A room begins with what is known of its topic. */
void state_enter(struct live_room *room);

/* A room is given up: what is open is parked, all else is kept no more. */
void state_leave(struct live_room *room);

/* A room ends with its process. */
void state_end(struct live_room *room);

/* Pauses and bars in a topic, with a room or parked; NULL: there are none. */
struct standings *state_standings(const struct worker *worker, struct str topic);

/* Forgets what has been parked long enough, and is over. */
void state_sweep(struct worker *worker);
