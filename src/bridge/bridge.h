/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MCP server as a participant: it sits on a seat (participant/seat.h) and knows
 * nothing of what is behind that, so it is the same inside the gateway and as a command.
 *
 *     room ── seat ── occupant ──► bridge ──► supervisor ──► sessions ──► server
 *      mcp/request:* that names it    │ one order per request
 *      mcp/request:elicitation/create,│ sampling/createMessage, roots/list:
 *      to whose call caused it ◄──────┘ correlation_id is that request
 *
 * Answered here: initialize, ping, server/discover, logging/setLevel, lists (pins.h),
 * resources/subscribe. Passed on: everything else. Progress, messages and updates go to
 * whom they concern, changes of lists to the room.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "bridge/logbook.h"
#include "bridge/pins.h"
#include "bridge/spec.h"
#include "bridge/supervisor.h"
#include "participant/seat.h"

struct bridge;

/* What outlives the bridge: one text each. */
enum bridge_kept { KEPT_SERVER, KEPT_CATALOGUE };
enum { BRIDGE_KEPT = KEPT_CATALOGUE + 1 };

struct bridge_setup {
    struct server_spec *spec; /* one reference is taken */
    struct supervisor_means means;
    struct str kept[BRIDGE_KEPT]; /* from the last time, or "" */
    void (*keep)(void *user, enum bridge_kept what, struct str json);
    /* For lists and metrics: its state, or what it offers, has changed. May be NULL. */
    void (*on_change)(void *user);
    void *user;
};

struct bridge *bridge_new(const struct bridge_setup *setup);

/* What the seat tells: give &bridge_seat_ops and the bridge to it when it is made. */
extern const struct seat_ops bridge_seat_ops;

/* Sits down, once, before the seat tells anything; the seat lives longer. A server of
 * which nothing is known is started, to learn what it offers. */
void bridge_sit(struct bridge *bridge, struct seat *seat);

/* Kills what runs. Not inside a callback. */
void bridge_free(struct bridge *bridge);

/* Ends gently: calls are answered with an error, the server is closed; `on_done` when
 * nothing runs any more. */
void bridge_leave(struct bridge *bridge, void (*on_done)(void *user), void *user);

struct supervisor *bridge_supervisor(struct bridge *bridge);
struct listing *bridge_listing(struct bridge *bridge);
struct logbook *bridge_logbook(struct bridge *bridge);

/* Nobody is signed in at the server, or somebody is again: `sign_in_needed` is its state
 * then, for all that look at it. */
void bridge_set_signed_out(struct bridge *bridge, bool is_signed_out);
bool bridge_lacks_sign_in(const struct bridge *bridge);

/* Somebody approved something: what is shown has changed. */
void bridge_listing_changed(struct bridge *bridge);

/* Name, topic, id, state, era, counts of calls and errors: for lists and metrics. */
struct bridge_counts {
    uint64_t calls, errors, restarts, questions, dropped;
};
struct bridge_counts bridge_counts(const struct bridge *bridge);
void bridge_put_json(const struct bridge *bridge, struct buf *out);
