/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the door of agents: connections (agents_door.c), subscriptions
 * (agents_subscribe.c) and requests (agents_request.c). */
#pragma once

#include "admit/admit.h"
#include "directory/recall.h"
#include "directory/ticker.h"
#include "gateway/agents_door.h"
#include "gateway/ws_peer.h"

struct agents {
    struct worker *worker;
    struct link clients;
    struct map parties; /* by id */
    struct ticker feed;
    struct recall recall;
    struct loop_timer news; /* somebody has not heard everything yet */
};

/* Who is here, with however many connections; for a while after the last has gone, so
 * that rates are not shaken off by coming again. */
struct agent_party {
    struct str id; /* in `text` */
    struct conduct conduct;
    size_t clients;
    size_t asking; /* requests under way, whatever connection they came by */
    uint64_t left_ms;
    char text[];
};

struct agent_client {
    struct ws_peer peer;
    struct link link;
    struct agents *agents;
    struct loop_timer deadline;      /* of the subscription */
    struct subscribing *subscribing; /* under way */
    struct identity *identity;       /* NULL: not subscribed */
    struct agent_party *party;       /* likewise */
    uint64_t number;                 /* in the record; 0: not subscribed */
    struct arena arena;              /* of the next: */
    struct agent_interest interest;
    uint64_t cursor;   /* the last event of the feed that it was offered */
    struct link waits; /* for answers */
    size_t wait_count;
    struct buf out;  /* begins with a whole frame, or with so many bytes of another */
    size_t unframed; /* protocol: the answer to the handshake */
    size_t sent;
    bool is_trusted;
    char address[NET_ADDRESS];
};

/* One text as a frame, behind all others. */
void agent_send(struct agent_client *client, struct str text);

/* Reads on, or not, as much as waits to be sent and to be answered. */
void agent_hold_reads(struct agent_client *client);

/* Offers what the feed has for it. */
void agent_catch_up(struct agent_client *client);

/* An event of this type begins and ends; its data is what is written between. */
struct agent_event {
    struct json_writer w;
    struct buf out;
};
void agent_event_open(struct agent_event *event, struct agents *agents,
                      struct str event_type);
void agent_event_close(struct agent_event *event); /* the text is in `out` until */
void agent_event_done(struct agent_event *event);

/* What is wrong with a message; `message_id` may be "". */
struct agent_fault {
    struct str code, field, what;
    uint64_t retry_after_ms; /* 0: none */
};
void agent_fault_write(struct json_writer *w, struct str message_id,
                       const struct agent_fault *fault);
void agent_tell_fault(struct agent_client *client, struct str message_id,
                      const struct agent_fault *fault);

/* The same, and the end: 1008. */
void agent_refuse(struct agent_client *client, struct str message_id,
                  const struct agent_fault *fault);

/* --- agents_subscribe.c --- */

/* A CONTEXT_SUBSCRIBE, the first or another one. */
void agent_subscribe(struct agent_client *client, struct str text);
void agent_subscribe_cancel(struct agent_client *client);
void agent_leave(struct agent_client *client); /* its party */
void agents_sweep_parties(struct agents *agents, uint64_t now_ms);
void agents_free_parties(struct agents *agents);

/* --- agents_request.c --- */

void agent_request(struct agent_client *client, const struct agent_message *message,
                   struct arena *arena);
void agent_forget_waits(struct agent_client *client);
