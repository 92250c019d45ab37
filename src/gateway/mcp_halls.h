/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The halls of a worker (mcpdoor/hall.h): one for each of its topics that somebody uses
 * by MCP, made with the first request and freed when it has been idle. An attendee sits
 * on a topic_seat: a member like any other, within the limits of any other.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "gateway/exchange.h"
#include "gateway/worker.h"
#include "identity/identity.h"
#include "mcpdoor/hall.h"

struct mcp_halls;

/* In which one id is at the same time, with all its credentials: a hall is kept for
 * nothing but a request. */
enum { MCP_HALLS_EACH = 256 };

struct mcp_halls *mcp_halls_new(struct worker *worker);
/* Of all of these: NULL is harmless. */
void mcp_halls_free(struct mcp_halls *halls);

/* The hall of the topic and the attendee of the identity. ERR_OVERLOAD: it is in too
 * many, or too many are in it. Whether it may enter was asked before (entrance.h). */
enum err mcp_halls_enter(struct mcp_halls *halls, struct str topic,
                         struct identity *identity, struct hall **ret_hall,
                         struct attendee **ret_attendee);

/* A credential is void, or may be. */
void mcp_halls_recheck(struct mcp_halls *halls, const struct identity *identity);
/* Credentials that have expired, halls in which nobody is any more. */
void mcp_halls_sweep(struct mcp_halls *halls);
void mcp_halls_apply(struct mcp_halls *halls); /* other settings are in force */
void mcp_halls_drain(struct mcp_halls *halls);
void mcp_halls_count(const struct mcp_halls *halls, struct metrics *total);

/* The handlers of routes, mcp_door.c; and what they need. */
void mcp_post(struct exchange *x);
void mcp_get(struct exchange *x);
void mcp_delete(struct exchange *x);
struct moment mcp_halls_now(const struct mcp_halls *halls);
struct link *mcp_halls_outlets(struct mcp_halls *halls); /* all that are open */
void mcp_end_streams(struct mcp_halls *halls);           /* those that GET asked for */
