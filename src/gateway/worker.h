/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker: one thread with one loop, and everything that lives on it: rooms,
 * connections, a table of live tokens. Nothing here is touched by another thread; workers
 * talk by mail.
 *
 * A topic lives on exactly one worker, chosen by the hash of its name; connections that
 * name a topic move there before the first byte of their answer.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "gateway/holdings.h"
#include "gateway/metrics.h"
#include "gateway/recorder.h"
#include "gateway/settings.h"
#include "gateway/standing.h"
#include "gateway/switches.h"
#include "gateway/team_census.h"
#include "identity/identity.h"
#include "identity/throttle.h"
#include "identity/ticket.h"
#include "loop/loop.h"
#include "net/conn.h"
#include "net/listen.h"
#include "policy/capset.h"
#include "policy/holding.h"
#include "policy/keeping.h"
#include "topic/lane.h"
#include "ws/deflate.h"

struct agents; /* agents_door.h */
struct gateway;
struct mcp_halls;    /* mcp_halls.h */
struct overview;     /* overview.h */
struct provider;     /* provider.h */
struct servers;      /* servers.h */
struct verification; /* verification.h */

/* How frames look on a WebSocket: plain, and compressed where it pays. */
struct ws_encoding {
    struct encoding encoding;
    struct ws_deflater *deflater;
    size_t min_bytes; /* smaller texts stay as they are */
};

/* So that the sweep looks only at connections that may have expired since the last. */
enum { EXPIRY_LISTS = 256, EXPIRY_MS = 1000 };

struct worker {
    struct gateway *gateway;
    size_t index;
    pthread_t thread;
    struct loop *loop;
    struct conn_flusher *flusher;
    struct settings *settings;
    struct ws_shared ws_shared; /* outlives a reload: decoders point here */
    struct capsets *capsets;
    struct token_table tokens;
    struct ticket_table tickets; /* for WebSockets; used on the first worker only */
    struct ticket_table links;   /* for sessions; likewise */
    struct throttle throttle;
    struct map rooms;      /* by topic name */
    struct rights *rights; /* capabilities changed at run time */
    struct holdings holdings;
    struct standings standings;        /* pauses and bars in all topics */
    struct map parked;                 /* topics without a room, see state.h */
    size_t turned_count[SWITCH_COUNT]; /* not as usual, with a room or parked */
    size_t rule_weight;                /* of all rules, likewise: rulebooks.h */
    struct link parked_by_age;
    struct map proposers;        /* by id: what they have open, see state.c */
    size_t inquiry_count;        /* under way, see inquiry.h */
    struct map teams;            /* by id, those of its topics; see teams.h */
    size_t teams_over;           /* of them: dissolved */
    struct team_census census;   /* of all teams; on the first worker */
    struct rights_keeper keeper; /* of `rights` */
    struct link dirty;           /* rooms with something new to send, in turns */
    struct link offenders;       /* the conducts of those with violations */
    struct link lingering;       /* rooms without members, the longest empty first */
    size_t lingering_bytes;
    size_t sweep_at; /* in `rooms`: how far the sweep has come */
    struct link http_clients;
    struct link ws_clients[EXPIRY_LISTS + 1]; /* by when the credential expires; last:
                                               * never. See ws_door.c */
    uint64_t expired_slot; /* what expired before this second is closed */
    struct listener *listeners;
    size_t listener_count;
    struct ws_inflater *inflater;
    struct ws_encoding plain;
    struct ws_encoding deflated;
    struct flush_source flush_source; /* the members of dirty rooms */
    struct loop_timer sweep_timer;
    struct rights_credentials credentials; /* its view of `tokens` */
    struct loop_timer rights_timer;        /* the next grant that expires */
    uint64_t rights_due_ms;                /* and when, wall clock; see moderation.h */
    struct recorder recorder;
    struct servers *servers;           /* MCP servers that sit in its topics */
    struct agents *agents;             /* at /agents; on the first worker, else NULL */
    struct provider *provider;         /* likewise, once it is needed */
    struct overview *overview;         /* on the first worker, else NULL */
    struct verification *verification; /* of the record; likewise */
    struct mcp_halls *halls;           /* its topics as MCP servers; NULL: at the end */
    struct metrics metrics;
    uint64_t connection_count; /* names connections */
    bool is_draining;
    bool has_thread; /* the first one runs on the main thread */
};

void worker_init(struct worker *worker, struct gateway *gateway, size_t index,
                 struct settings *settings);
void worker_done(struct worker *worker);

/* Before that, while the record can still be told: MCP clients leave. */
void worker_end_halls(struct worker *worker);

/* Before that: whatever of MCP servers is left ends, and their spawner can be closed. */
void worker_end_servers(struct worker *worker);

/* The worker on which a topic lives. */
struct worker *worker_of_topic(struct gateway *gateway, struct str topic);

/* Puts new settings into force on this worker. */
void worker_apply(struct worker *worker, struct settings *settings);

/* The token is void: closes what came in with it, with its tickets and with its sessions.
 * Returns how many connections that were. */
size_t worker_end_token(struct worker *worker, const struct identity *identity);

/* That credential alone: one that came in by mistake. */
void worker_drop_token(struct worker *worker, const struct identity *identity);

/* Guests give way to whoever has a token of their id (case folded): so one id is one
 * person, in whatever order workers hear of both. False: there is such a token. */
bool worker_add_guest(struct worker *worker, struct identity *guest);
void worker_add_token(struct worker *worker, struct identity *identity);

/* Whoever gets the first credential of an id begins with what that one says: forgets the
 * rights of all whose last credential has been revoked or has expired. Call before
 * credentials are added and after they were taken away. */
void worker_forget_strangers(struct worker *worker);

/* Stops accepting and says good-bye to everyone: 1001. */
void worker_drain(struct worker *worker);
bool worker_is_empty(const struct worker *worker);

/* A call on every worker, each on its own thread, and an answer when all have done it. */
struct gather;
struct gather_part {
    struct loop_mail mail;
    struct recorder_waiter waiter;
    struct gather *gather;
    struct worker *worker;
    struct buf out; /* what the worker has to say, JSON fragments mostly */
    size_t count;   /* and how many things it concerned */
    enum err err;   /* as below */
};
struct gather {
    struct worker *origin;
    void (*visit)(struct gather *self, struct gather_part *part); /* on part->worker */
    void (*done)(struct gather *self); /* on the origin; owns the gather */
    bool is_lasting; /* each part comes back when what it changed is durable */
    enum err err;    /* ERR_UNAVAILABLE: the gateway stops, and something is not */
    struct gather_part *parts;
    size_t part_count;
    size_t left;
};
void gather_start(struct gather *gather, struct worker *origin);

/* The parts' texts joined by commas, where they are not empty; and the sum of counts. */
void gather_join(const struct gather *gather, struct buf *out);
size_t gather_total(const struct gather *gather);

void gather_done(struct gather *gather); /* frees the parts */
