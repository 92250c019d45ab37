/* SPDX-License-Identifier: Apache-2.0 */
/* Into a room, whatever the door: the one place that says who may and why not. */
#pragma once

#include "gateway/exchange.h"
#include "gateway/room.h"

/* How somebody comes: to look and to post, or to stay as a member (D5). */
enum entrance { ENTER_TO_VISIT, ENTER_TO_STAY };

/* The room of the exchange's topic, made if it may be; NULL if that already answered:
 * 403, 404, 409 or 503. */
struct live_room *entrance_room(struct exchange *x, enum entrance how);

/* Answers with why not: for those who ask room_may_enter() again, later. */
void entrance_refuse(struct exchange *x, enum err err);
