/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What participants ask of the gateway in the room (admit/command.h): who may, and doing
 * it. An envelope that passed stands in the log first; then it is carried out, those
 * whose rights changed get a fresh welcome, and the room hears an acknowledgement.
 */
#pragma once

#include "gateway/exchange.h"
#include "gateway/room.h"

/* May the command be carried out? See struct room_ops. */
enum err moderation_judge(struct admission *a, struct refusal *refusal);

/* What follows an envelope that was admitted and has a sequel. `x`: a post that is still
 * to be answered (topic/invite), or NULL. */
void moderation_carry_out(struct live_room *room, const struct admission *a,
                          struct exchange *x);

/* Does the room hear an acknowledgement of it? */
bool moderation_is_acknowledged(const struct admission *a);
