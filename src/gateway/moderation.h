/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What participants ask of the gateway in the room (admit/command.h): who may, and doing
 * it. An envelope that passed stands in the log first; then it is carried out, those
 * whose rights changed get a fresh welcome, and the room hears an acknowledgement.
 */
#pragma once

#include "gateway/exchange.h"
#include "gateway/room.h"

extern const struct room_ops moderation_ops;

void moderation_init(struct worker *worker);

/* What follows an envelope that was admitted and has a sequel. `x`: a post that is still
 * to be answered (topic/invite), or NULL. */
void moderation_carry_out(struct live_room *room, const struct admission *a,
                          struct exchange *x);

/* Does the room hear an acknowledgement of it? */
bool moderation_is_acknowledged(const struct admission *a);

/* Ends the grants that have expired; whoever judges an envelope after
 * worker->rights_due_ms calls this before. */
void moderation_expire(struct worker *worker);

/* Grants were made or have gone: when is the next to expire? */
void moderation_plan(struct worker *worker);

/* What was granted to a participant, or struck, has changed in this room: its members get
 * their rights anew and a welcome. */
void moderation_renew(struct live_room *room, struct str id);

/* "grants": those of a participant that hold in this room, as who speaks the dialect is
 * shown them; nothing if there are none. */
void moderation_show_grants(const struct live_room *room, struct str id,
                            enum dialect dialect, struct json_writer *w);

/* {"id":…,"granter":…,"capabilities":[…],…}, with capabilities as they were written. */
void moderation_write_grant(const struct grant *grant, struct json_writer *w);
