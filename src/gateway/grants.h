/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grants in rooms: how they are shown and acknowledged, and how they end. Who may grant
 * and revoke is decided in moderation.c and, for administrators, in grants_door.c.
 */
#pragma once

#include "gateway/room.h"

void grants_init(struct worker *worker);

/* What was granted to a participant, or struck, has changed in this room: its members get
 * their rights anew and a welcome. */
void grants_renew(struct live_room *room, struct str id);

/* Ends it and tells whom it concerns: the members first, then the room that heard of it.
 */
void grants_end(struct live_room *room, struct grant *grant, struct str status);

/* An administrator takes it back, wherever it holds: the same, and where all topics are
 * meant on every worker. */
void grants_take_back(struct worker *worker, struct grant *grant, struct str by);

/* Ends the grants that have expired; whoever judges an envelope after
 * worker->rights_due_ms calls this before. */
void grants_expire(struct worker *worker);

/* Grants were made or have gone: when is the next to expire? */
void grants_plan(struct worker *worker);

/* {"id":…,"granter":…,"capabilities":[…],…}, with capabilities as they were written. */
void grant_write(const struct grant *grant, struct json_writer *w);

/* "grants": those of a participant that hold in this room, as who speaks the dialect is
 * shown them; nothing if there are none. */
void grants_show(const struct live_room *room, struct str id, enum dialect dialect,
                 struct json_writer *w);

/* The acknowledgement, capability/grant-ack, is begun before something changes, and sent
 * when all is done. `put` tells of a grant, `still` of what the participant holds and
 * what allows a part of what was revoked. */
void grant_ack_begin(struct announcement *ack, struct live_room *room, struct str status,
                     struct str correlation_id);
void grant_ack_put(struct announcement *ack, const struct grant *grant);
void grant_ack_still(struct announcement *ack, struct live_room *room, struct str id,
                     struct str_list revoked);
void grant_ack_send(struct announcement *ack);
