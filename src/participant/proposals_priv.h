/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/scan.h"
#include "participant/occupant.h"
#include "participant/proposals.h"

struct proposals;

struct proposals *proposals_new(size_t max);
void proposals_free(struct proposals *proposals);

/* Any mcp kind (requests, notifications, responses, proposals, decisions), of others and
 * with hears_itself our own: after on_heard, before calls_… and on_request. */
void proposals_hear(struct occupant *o, const struct heard *heard);

/* The welcome's moot.proposals: an array that was scanned, or text.ptr NULL. Called when
 * a connection begins and with every fresh welcome. */
void proposals_welcome(struct occupant *o, struct json_span list);

void proposals_tick(struct occupant *o);
uint64_t proposals_due_ms(const struct occupant *o); /* monotonic; UINT64_MAX: never */

/* Who made it; "" where it is not known. Borrowed from the ledger. */
struct str proposals_proposer_of(const struct occupant *o, struct str id);
