/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hall: a topic as one MCP server, in both eras, for any number of clients. It knows
 * seats and outlets, so it is the same behind /mcp/TOPIC and in `moot mcp`.
 *
 *     client ─ outlet ─┐                    ┌─ attendee ─ seat ─┐
 *     client ─ outlet ─┼─ hall_post ─ hall ─┼─ attendee ─ seat ─┼─ topic
 *     client ─ outlet ─┘                    └─ concierge ─ seat ┘
 *
 * An *attendee* is a credential that is here by MCP: one member of the topic, whatever
 * the number of its sessions and requests. A legacy session is a *visit* of it. What is
 * offered is kept once per topic (showcase.h) and shown to each as its rights allow.
 *
 * Pure: time is an argument. One thread. Callbacks of seats may come inside none of
 * these.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "crypto/crypto.h"
#include "mcp/serve.h"
#include "mcpdoor/outlet.h"
#include "mcpdoor/sealed.h"
#include "participant/occupant.h"
#include "participant/seat.h"

struct hall;
struct attendee;

struct hall_settings {
    struct str topic;         /* copied, like the next two */
    struct str name, version; /* serverInfo, where it is our own */
    struct sealer sealer;     /* `topic` is the hall's */
    uint64_t boot;            /* in what is sealed */
    bool has_room_tools;
    bool names_are_prefixed; /* even of a single owner */
    bool may_self_approve;   /* the client itself is asked (elicitation) */
    bool is_stdio;           /* one client, one process: no visits, ids or resumption */
    uint64_t hold_ms;        /* modern: a call that waits for a decision, at a time */
    uint64_t poll_ms;        /* legacy: a stream before a polling close; 0: never */
    uint64_t idle_ms;        /* a visit without a request or stream; an attendee without
                              * anything goes after `linger_ms` */
    uint64_t linger_ms;
    uint64_t proposal_ms; /* a proposal stays open; 0: as the gateway has it */
    size_t max_visits;    /* of one attendee */
    size_t max_wishes;    /* likewise: calls under way, parked ones included */
    size_t max_message;   /* bytes */
    size_t max_depth;
};

struct house_call; /* somebody waits for what a tool of the house gives */

struct hall_ops {
    /* A seat for a newcomer, whose seat_ops are attendee_seat_ops with `attendee`; from
     * inside hall_post() and hall_listen() alone. NULL: there is none. */
    struct seat *(*open_seat)(void *user, struct attendee *attendee, void *credential);
    /* Those of attendees, and (credential NULL) that of hall_sit(). Also from inside the
     * seat's on_lost. */
    void (*close_seat)(void *user, struct seat *seat, void *credential);
    struct moment (*now)(void *user); /* when a seat tells something */
    void (*on_due)(void *user);       /* hall_due_ms() is earlier than it was */
    void (*on_note)(void *user, struct str text);
    /* The tools of the house (house_tools.h), for the attendee with this key; both NULL:
     * there are none. `use` leads to house_answer(), from inside it or later. */
    bool (*may_use)(void *user, struct str key, struct str tool);
    void (*use)(void *user, struct str key, struct str tool, struct json_span arguments,
                struct house_call *call);
};

/* The result of a tool, in the shape of the legacy line; frees the call. The hall may be
 * gone. */
void house_answer(struct house_call *call, struct str result);

struct hall *hall_new(const struct hall_settings *settings, const struct hall_ops *ops,
                      void *user);
void hall_free(struct hall *hall); /* strands end, seats are closed */

/* The concierge's own seat (NULL: it uses that of the first attendee, as on stdio). */
extern const struct seat_ops hall_seat_ops;
void hall_sit(struct hall *hall, struct seat *seat, struct moment now);
/* It gets up, and may sit down again, be it under another name: what is shown stays, and
 * who is here is asked again then. */
void hall_stand(struct hall *hall, struct moment now);

/* Sessions go on, calls that wait end with an error; no new ones. */
void hall_drain(struct hall *hall, struct moment now);
/* Another configuration; the sealer and the texts stay. */
void hall_apply(struct hall *hall, const struct hall_settings *settings);

/* --- attendees --- */

extern const struct seat_ops attendee_seat_ops;

/* Of this credential (bytes that are its own), who is made if need be. ERR_OVERLOAD. What
 * `credential` points to is handed to open_seat() and used for nothing else: it has to
 * live until hall_post() returns. The attendee lives until the next hall_tick() at least.
 */
enum err hall_attendee(struct hall *hall, struct str credential_key, struct str id,
                       void *credential, struct attendee **ret);
struct attendee *hall_find(struct hall *hall, struct str credential_key);

/* It may no longer be here: its strands end, its visits are over (404), its calls are
 * cancelled, what it proposed is withdrawn. */
void attendee_end(struct attendee *attendee, const char *why, struct moment now);

/* --- what clients send --- */

struct hall_post {
    struct attendee *attendee;
    struct str visit;              /* Mcp-Session-Id as it came; ptr NULL: none */
    const struct serve_post *http; /* `agreed` is filled in by the hall */
};

/* Answers through the outlet, now or later, once or as a stream. */
void hall_post(struct hall *hall, const struct hall_post *post, struct outlet *outlet,
               struct moment now);

/* GET: the stream of a visit, or (`after`, Last-Event-ID; ptr NULL: none) the rest of
 * one. 400, 404, 406, 409. On stdio: where goes what belongs to no request. */
void hall_listen(struct hall *hall, const struct hall_post *post, struct str after,
                 struct outlet *outlet, struct moment now);
/* DELETE: 204, 400, 404. */
void hall_leave(struct hall *hall, const struct hall_post *post, struct outlet *outlet,
                struct moment now);
/* The client went. */
void hall_lost(struct outlet *outlet, struct moment now);

void hall_tick(struct hall *hall, struct moment now);
uint64_t hall_due_ms(const struct hall *hall); /* UINT64_MAX: never */
/* Nobody is here, and nothing waits: it may be freed. */
bool hall_is_idle(const struct hall *hall);

struct hall_counts {
    uint64_t attendees, visits, strands, wishes; /* now */
    uint64_t requests, calls, proposals, joined, refused, questions, parked, resumed;
};
struct hall_counts hall_counts(const struct hall *hall);
