/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the ledger (proposals.h) learns: from what is heard, and from what we say.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "json/scan.h"
#include "participant/occupant.h"
#include "participant/proposals.h"

struct proposals;

struct proposals *proposals_new(size_t max);
void proposals_free(struct proposals *ps);

/* Any mcp kind (requests, notifications, responses, proposals, decisions), of others and
 * with hears_itself our own: after on_heard, before calls_… and on_request. */
void proposals_hear(struct occupant *o, const struct heard *heard);

/* The welcome's moot.proposals: an array that was scanned, or text.ptr NULL. What is not
 * in it when a connection begins is over; later ones come beside the order of the room,
 * and tell only what is open. */
enum welcome_type { WELCOME_FIRST, WELCOME_AGAIN };
void proposals_welcome(struct occupant *o, struct json_span list, enum welcome_type type);

/* system/proposal: what the gateway says became of one, and how many have approved.
 * ERR_MALFORMED_ENVELOPE with *ret_field, static. */
struct tidings {
    struct str id, by, reason;
    uint32_t needed, given; /* needed 0: it does not say */
    struct json_span approvals;
    enum proposed_state state;
};
enum err tidings_read(struct json_span payload, struct arena *arena, struct tidings *ret,
                      struct str *ret_field);
void proposals_take(struct occupant *o, const struct tidings *tidings);

void proposals_tick(struct occupant *o);
uint64_t proposals_due_ms(const struct occupant *o); /* monotonic; UINT64_MAX: never */

/* Whose proposal the request fulfils; "" where it is nobody's. Borrowed from the ledger.
 */
struct str proposals_served(const struct occupant *o, const struct envelope *request);

/* Who denied the call, as far as that was heard; "": nobody is known. */
struct str authorizations_decider(const struct occupant *o, struct str request_id,
                                  struct str owner);

/* --- for calls and ask.c: these call nobody back before the next tick --- */

/* What was said, by us as well. What had to be unescaped is in the arena. */
void proposals_note(struct occupant *o, const struct heard *said, struct arena *texts);

/* It was not taken: a proposal was none, a decision did not count. */
void proposals_refused(struct occupant *o, const struct refused *refused);
