/* SPDX-License-Identifier: Apache-2.0 */
/* Into a room, whatever the door: the one place that says who may and why not. */
#pragma once

#include "gateway/exchange.h"
#include "gateway/room.h"

/* How somebody comes: to look and to post, or to stay as a member (D5). */
enum entrance { ENTER_TO_VISIT, ENTER_TO_STAY };

#define DIALECT_HELP "`dialect` is slash or dotted."

/* The option `dialect`; slash where it is not given. ERR_BAD_REQUEST: anything else. */
enum err entrance_dialect(struct exchange *x, enum dialect *ret);

/* The room of the exchange's topic, made if it may be, for someone who speaks the
 * dialect; NULL if that already answered: 403, 404, 409 or 503. */
struct live_room *entrance_room(struct exchange *x, enum entrance how,
                                enum dialect dialect);

/* Who looks and posts, in the dialect of the query, which is told; may also answer 400.
 */
struct live_room *entrance_visit(struct exchange *x, enum dialect *ret);

/* May he know what was decided before, where this is what he holds? Whoever may approve,
 * whatever it is, and administrators. */
bool entrance_shows_past(const struct identity *identity, struct capset *set);

/* The same of an exchange and its topic. False: that was answered. */
bool entrance_may_look_back(struct exchange *x);

/* The same for an answer that took a while, with all that was asked before it: does the
 * credential count, and may he enter? */
bool entrance_may_still_look_back(struct exchange *x);

/* Answers with why not: for those who ask room_may_enter() again, later. */
void entrance_refuse(struct exchange *x, enum err err);
