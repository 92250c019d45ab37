/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topic/invite: somebody new, bound to one topic. The inviter alone gets a ticket, which
 * becomes a session once (POST /session); the room hears that someone was invited.
 *
 *     topic's worker ──asks──► first worker: is the id new? ticket ──► all workers: the
 * id ▲                                                             is taken
 *           └──────────────── ticket to the inviter, notice to the room ──────┘
 *
 * Until it is used the invitation stands in the list of tokens, where it can be revoked;
 * then the session takes its place.
 */
#pragma once

#include "gateway/exchange.h"
#include "gateway/room.h"

/* May the sender invite as the command says? */
enum err invite_judge(struct admission *a, struct refusal *r);

/* Makes the invitation. `x`: the post to answer, or NULL. */
void invite_start(struct live_room *room, const struct admission *a, struct exchange *x);
