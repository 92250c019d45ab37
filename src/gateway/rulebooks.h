/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of a topic (rules/rulebook.h), as the gateway keeps them: what is said about
 * them in the room, who may, what the store has of them, and what the room hears:
 * system/rule. A book stays with its topic, whether anybody is there or not.
 */
#pragma once

#include "gateway/room.h"
#include "rules/rulebook.h"

struct exchange;
struct kept_text;
struct parked;

/* Bytes of all rules on one worker, about; suggestions get half of it. */
enum { RULES_WEIGHT = 64 << 20 };

/* rule/…: may it be done? Then it is done, kept and told. See moderation.h. */
enum err rulebooks_judge(const struct admission *a, struct refusal *refusal);
void rulebooks_carry_out(struct live_room *room, const struct admission *a);

/* What an envelope that was admitted does to rules (admit/use.h) is kept, and told. */
void rulebooks_follow(struct live_room *room, const struct admission *a);

/* "rules": the oldest first; of one state alone, or (ptr NULL) of all. NULL: none. */
void rulebooks_show(const struct rulebook *book, uint64_t now_ms, struct str state,
                    struct json_writer *w);

/* What `state` of the query says, for that: static, or ptr NULL where nothing is. Else
 * the exchange is answered. */
enum err rules_read_state(struct exchange *x, struct str *ret);

/* How many a topic has, with a room or parked. */
size_t rulebooks_count(const struct worker *worker, struct str topic);

/* --- with the topic --- */

bool rulebooks_are_there(const struct rulebook *book);
void rulebooks_enter(struct live_room *room, struct parked *parked);
void rulebooks_leave(struct live_room *room, struct parked *parked);
void rulebooks_done(struct worker *worker, struct rulebook **book, size_t *weight);

/* At the start: an item of STORE_RULE. ERR_INVALID, ERR_TOO_BIG, ERR_OVERLOAD. */
enum err rulebooks_restore(struct worker *worker, const struct kept_text *text,
                           struct arena *arena);
