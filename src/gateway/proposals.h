/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The proposals of a room, towards those in it. Whoever comes later is shown them, in the
 * welcome and by GET /topics/T/proposals: with each open one comes its envelope, as far
 * as there is room. Whoever is here is told what becomes of them: system/proposal.
 */
#pragma once

#include "gateway/room.h"

enum proposals_which { PROPOSALS_OPEN, PROPOSALS_CLOSED, PROPOSALS_ALL };

struct proposals_showing {
    size_t envelope_bytes; /* longer ones are listed without their envelope */
    size_t all_bytes;      /* of all envelopes; the rest likewise */
    struct str id;         /* this one alone; ptr NULL: all */
    enum proposals_which which;
};

/* "proposals": oldest first, in the reader's dialect. */
void proposals_show(struct live_room *room, enum dialect dialect,
                    const struct proposals_showing *showing, struct json_writer *w);

/* The members of one, where its topic has these terms; with its envelope if that is open
 * and has room. Returns how many bytes of that were taken. */
size_t proposal_put(const struct approval_terms *terms, enum dialect dialect,
                    const struct proposal *proposal, size_t room, struct json_writer *w);

/* Nobody has heard of this envelope yet: it comes as an entry. */
bool proposals_is_held(const struct live_room *room, struct str id);

/* --- telling --- */

void proposals_init(struct live_room *room);
void proposals_done(struct live_room *room);

/* One has opened, was approved or has ended. It may be noticed while an envelope is
 * judged, whose text lies where the log goes on: so the news waits for
 * proposals_announce(), or for the next turn. */
void proposals_changed(struct live_room *room, const struct proposal *proposal);
void proposals_announce(struct live_room *room);

/* Some came with the room: their expiry is noticed in time. */
void proposals_watch(struct live_room *room);
