/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the record says: of a room, which envelopes were admitted and by which capability,
 * which were refused and why, who came, went and was granted what; of the gateway, what
 * administrators did to it. The recorder (recorder.h) brings it to the store.
 *
 * Nothing of a room whose audit is off is recorded, and nothing at all where that is so
 * of every room. Only what somebody hears of (envelopes and presence) ever waits; all
 * else is noted in passing.
 */
#pragma once

#include "gateway/exchange.h"
#include "gateway/room.h"

/* --- rooms --- */

/* The settings of a room are new: what of it is recorded. */
void recording_set(struct live_room *room);

/* See struct room_ops. */
enum err recording_judge(struct admission *a, struct refusal *refusal);
uint64_t recording_admitted(struct admission *a, struct str text);

/* An envelope that was not admitted, as far as it could be read. */
void recording_refused(struct live_room *room, const struct admission *a,
                       const struct refusal *refusal);

/* What the gateway itself is about to say; returns the ticket to wait for. */
struct gateway_words {
    struct str kind;
    struct str id;
    struct str correlation;
    struct str text;
};
uint64_t recording_said(struct live_room *room, const struct gateway_words *words);

/* Presence that is about to be announced: see struct topic_ops. */
uint64_t recording_presence(struct topic *topic, const struct presence_note *note);

/* A connection, or the seat of a server or of an MCP client: `number` is the member's.
 * The id is what administrators see of it in GET /admin/members. */
enum connection_type {
    CONNECTION_WEBSOCKET,
    CONNECTION_SERVER,
    CONNECTION_MCP,
    CONNECTION_AGENT, /* at /agents, in no room */
};
enum { CONNECTION_ID = 48 };
struct str connection_id(const struct worker *worker, enum connection_type type,
                         uint64_t number, char out[static CONNECTION_ID]);

/* It begins, and how it ended. */
struct connection_start {
    enum connection_type type;
    const struct identity *identity;
    const char *address;
    uint64_t number;
    enum dialect dialect;
};
void recording_connected(struct live_room *room, const struct connection_start *start);

struct connection_end {
    enum connection_type type;
    struct str id; /* of the participant */
    uint64_t number;
    struct str why; /* a word */
    uint16_t code;  /* 0: there was no close frame */
    struct str reason;
};
void recording_disconnected(struct live_room *room, const struct connection_end *end);

/* The same at /agents; and a request of such an agent that it had no right to. */
void recording_agent_connected(struct worker *worker,
                               const struct connection_start *start);
void recording_agent_disconnected(struct worker *worker,
                                  const struct connection_end *end);
struct agent_refusal {
    struct str participant;
    struct str performative, message_id;
    enum err err;
};
void recording_agent_refused(struct worker *worker, const struct agent_refusal *refusal);

/* A team has changed ("created"), by whatever door. */
struct team_change {
    struct str topic;
    struct str by;
    struct str change;
    struct str status; /* as JSON */
};
void recording_team(struct worker *worker, const struct team_change *change);

/* A grant was made, used up, has expired or was revoked; `by` is who did it, "": the
 * gateway. */
void recording_grant(struct worker *worker, struct str kind, struct str by,
                     const struct grant *grant);

/* Capabilities that were revoked without naming a grant. */
void recording_strike(struct live_room *room, const struct admission *a);

/* --- the gateway --- */

/* A request has ended: if it was an administrative act, or brought an envelope that was
 * never judged, that is noted. */
void recording_exchange(const struct exchange *x);

/* The configuration was loaded, or a reload has ended: with what was wrong, or "". */
void recording_config(struct worker *worker, struct str kind, struct str problem);

/* start, stop */
void recording_server(struct worker *worker, struct str kind);
