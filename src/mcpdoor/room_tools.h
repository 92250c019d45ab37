/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room's own tools, beside those of its participants; a tool of the same name of a
 * single owner hides ours. Each is listed only where its caller may do what it does.
 *
 *     room_chat     text, to?                         says it
 *     room_who                                        who is here, who does not answer
 *     room_wait     seconds?, after?                  chat and decisions since, or the
 * next room_propose  tool, to?, arguments?, reason?    a proposal, without waiting for it
 *     tool_search   query, limit?                     the tools that fit the words
 *
 * This is how MCP comes to the desk (room_desk.h), which does the work.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "mcpdoor/attendee.h"

/* Their definitions, as they stand in tools/list, for this attendee. */
void room_tools_put(struct attendee *a, struct buf *out);

/* False: it is none of them. */
bool room_tools_call(const struct asked_for *ask, struct str name,
                     struct json_span arguments);

/* What the hall's own seat hears (attendee NULL), and what each attendee's does. */
void room_tools_hear(struct hall *hall, struct attendee *a, const struct heard *heard);

/* A strand that is about to be freed without an answer: whatever waits for it is not
 * wanted any more. */
void room_tools_lost(struct hall *hall, const struct strand *strand);
/* The attendee goes, and its occupant is still there. */
void room_tools_leave(struct attendee *a);
