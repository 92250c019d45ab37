/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of the agents' protocol (GET /agents): an envelope of six fields around a
 * payload that depends on the performative. Pure: text in, meaning out, and back.
 *
 *     {"protocol_version":"1.0","message_id":"6b1f…","timestamp":"2026-11-15T05:06:07Z",
 *      "source_agent_id":"scout","performative":"TEAM_GET_STATUS",
 *      "payload":{"team_id":"t-1"}}
 *
 * All six are required and checked; other fields of the envelope pass. A payload is read
 * strictly: names that are not known are refused. What is read borrows from the text and
 * the arena.
 */
#pragma once

#include "json/json.h"

enum {
    AGENT_ID = 256, /* bytes of a source_agent_id */
    AGENT_UUID = 36,
    AGENT_PAYLOAD = 64 << 10, /* as JSON */
    AGENT_ARENA = 8 << 20,    /* enough to read any payload */
    AGENT_TOKEN = 8 << 10,
    AGENT_QUERY_TEXT = 4 << 10,
    AGENT_CURSOR = 1 << 10,
    AGENT_LIMIT = 100, /* hits at a time, */
    AGENT_LIMIT_DEFAULT = 20,
    AGENT_WORD = 256, /* any other text of a payload */
    AGENT_LIST = 256, /* entries of any other list */
};

/* What the gateway itself goes by. */
#define AGENT_SERVER S("moot")

enum agent_performative {
    AGENT_CONTEXT_SUBSCRIBE,
    AGENT_RESOURCE_QUERY,
    AGENT_TEAM_CREATE,
    AGENT_TEAM_GET_STATUS,
    AGENT_CONTEXT_EVENT, /* the gateway's alone */
};
struct str agent_performative_name(enum agent_performative performative);

struct agent_message {
    struct str message_id; /* a UUID as it was written */
    uint64_t sent_ms;      /* wall clock of the sender */
    struct str source_agent_id;
    enum agent_performative performative;
    struct str payload; /* the object, checked but not yet understood */
};

/* What is wrong. */
struct agent_problem {
    struct str code;  /* "MALFORMED_MESSAGE"; static */
    struct str field; /* "payload.filters.skills[2]"; "": the whole. Static, or arena */
    struct str what;  /* a sentence; static, or in the arena */
};

/* ERR_INVALID, ERR_TOO_DEEP; ERR_UTF8: it is no text at all. `ret->message_id` is set
 * also on failure, if it could be read: whoever sent it can be told which one. The arena
 * takes as much as the text has. */
enum err agent_message_read(struct str text, size_t max_depth, struct arena *arena,
                            struct agent_message *ret, struct agent_problem *problem);

/* --- payloads. ERR_INVALID, with the field named from "payload" on --- */

/* What of the events an agent wants to hear; empty lists do not narrow. */
struct agent_interest {
    struct str_list topics, teams;
    struct str_list event_types;
};

struct agent_subscription {
    struct str token;
    struct agent_interest interest;
    bool has_since;
    struct str since_epoch; /* where an earlier subscription got to */
    uint64_t since_sequence;
};
enum err agent_subscription_read(const struct agent_message *message, struct arena *arena,
                                 struct agent_subscription *ret,
                                 struct agent_problem *problem);

struct agent_query {
    struct str text;
    struct str_list skills; /* all of them */
    struct str availability, kind, location, team;
    struct str max_rate; /* a decimal number as it was written; "": any */
    struct str currency; /* of max_rate; "": any */
    size_t limit;
    struct str cursor;
};
enum err agent_query_read(const struct agent_message *message, struct arena *arena,
                          struct agent_query *ret, struct agent_problem *problem);

struct agent_team {
    struct str name;
    struct str_list resources; /* no two are the same */
    struct str contract_id;    /* "": none */
};
enum err agent_team_read(const struct agent_message *message, struct arena *arena,
                         struct agent_team *ret, struct agent_problem *problem);

enum err agent_team_id_read(const struct agent_message *message, struct arena *arena,
                            struct str *ret, struct agent_problem *problem);

/* --- events --- */

/* Those that nobody asked for, which a subscription may name. */
bool agent_event_is_known(struct str event_type);
struct str_list agent_event_types(void);

struct agent_event_head {
    const char *message_id; /* AGENT_UUID characters and a NUL */
    uint64_t wall_ms;
    struct str event_type;
};

/* Writes everything up to the members of `data`, which the caller writes; then the rest.
 *
 *     agent_event_begin(&w, &out, &head);
 *     json_put_str(&w, S("in_reply_to"), …);
 *     agent_event_end(&w);
 */
void agent_event_begin(struct json_writer *w, struct buf *out,
                       const struct agent_event_head *head);
void agent_event_end(struct json_writer *w);

/* A UUID of version 4 from 16 random bytes. */
void agent_uuid_write(const uint8_t random[static 16], char ret[static AGENT_UUID + 1]);
bool agent_uuid_is_valid(struct str text);
