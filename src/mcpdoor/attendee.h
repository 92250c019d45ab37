/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside a hall: who is here, in which sessions, and what each is told. Who does what:
 *
 *     hall.c         the life of a hall, and when it is to be looked after
 *     reception.c    what clients send: whose it is, of which era, who answers
 *     errand.c       a request and its strand, from the first byte to the last
 *     attendee.c     a seat and its occupant; what is heard, and whose it is
 *     visit.c        legacy sessions: made, recognised, found again, ended
 *     client_name.c  how a client calls itself
 *     method.c       initialize, discover, ping, lists, setLevel, subscribe, complete
 *     listen.c       subscriptions/listen, the GET stream: who is told what
 *     wish*.c        calls (wish_priv.h)
 *     room_tools.c   the room's own tools (room_desk.h does the work)
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "mcpdoor/concierge.h"
#include "mcpdoor/hall.h"
#include "mcpdoor/room_desk.h"
#include "mcpdoor/showcase.h"
#include "mcpdoor/strand.h"
#include "participant/occupant.h"

enum {
    ATTENDEE_CALLS = 256, /* of the occupant */
    ATTENDEE_RECENT = 16,
    ATTENDEE_PARTICIPANTS = 0, /* the concierge knows them */
    ATTENDEE_PROPOSALS = 64,
    ATTENDEE_WATCHED = 256,  /* resources of which changes are wanted */
    ATTENDEE_WATCHES = 8192, /* … by all its sessions and listens together */
    VISIT_STRANDS = 32,
    VISIT_KEPT = 1 << 20,     /* bytes of events of all its strands */
    ATTENDEE_KEPT = 16 << 20, /* … of all its visits; those longest unused give way */
    HALL_ENDED = 4096,        /* visits of another life that ended: not found again */
};

/* A visit or a listening, and what it wants to hear of. */
struct watcher {
    struct link watched; /* struct watch */
    bool is_listening;
};

/* A legacy session. */
struct visit {
    struct link link;
    struct attendee *attendee;
    uint64_t number; /* with `boot`: its name in hall->visits */
    uint64_t boot;
    uint64_t used_ms;
    uint32_t can; /* enum client_can */
    uint8_t version;
    int level; /* of messages; -1: none */
    struct link strands;
    struct strand *common; /* GET, or stdout; NULL: what is nobody's is dropped */
    struct watcher watcher;
    struct str id; /* sealed, behind the struct */
    char *client;  /* as client_put_name() has it; NULL: not known */
};

/* A modern subscriptions/listen. */
struct listening {
    struct link link;
    struct attendee *attendee;
    struct strand *strand;
    struct json_span id;    /* of the request; subscriptionId */
    struct json_span tasks; /* taskIds, or none */
    unsigned types;         /* bits of enum offer_type */
    struct watcher watcher;
};

/* A resource, and who wants to hear of its changes: counted over visits and listens. */
struct watching {
    struct link link; /* of the attendee: one per URI */
    struct str uri;   /* the owner's; behind the struct, as the next one */
    struct str owner;
    struct link watches;
    size_t count; /* of them, and while they are told */
};

/* One of them: of a visit or a listening. */
struct watch {
    struct link link;   /* of the watcher */
    struct link beside; /* of the resource */
    struct watcher *watcher;
    struct watching *of;
};

struct attendee {
    struct hall *hall;
    struct link link;
    struct link namesakes; /* a ring of those with this id, without a head */
    struct str id, key;    /* behind the struct */
    void *credential;
    struct seat *seat;
    struct occupant *occupant;
    struct link visits;  /* the longest unused first */
    struct link strands; /* of requests that belong to no visit: modern ones, batches */
    struct link listenings, watched, wishes, waiting; /* waiting: for a welcome */
    size_t visit_count, wish_count, listening_count, watched_count, watch_count;
    uint64_t idle_since_ms;
    struct room_news *news; /* what was said to it alone; NULL: nothing yet */
    unsigned seen;          /* bits of enum offer_type: lists of which it was told */
    int level;              /* told to owners: the most verbose of its visits; -1: none */
    bool is_ending;
};

/* --- attendee.c --- */

/* May it call or propose this? A call that depends on its arguments counts. */
enum right { RIGHT_NONE, RIGHT_PROPOSE, RIGHT_CALL };
enum right attendee_right(struct attendee *a, struct str method, struct str key);
struct showcase_view attendee_view(struct attendee *a); /* by the same rule */
struct moment hall_now(const struct hall *hall);        /* of the entry under way */
struct room_desk *hall_desk(const struct hall *hall);   /* NULL: no tools of the room */
void attendee_stay(struct attendee *a);                 /* it was used just now */

/* --- visit.c --- */

/* The one that the text names. NULL with the status in *ret_status: 400 (none given), 404
 * (ended, foreign, forged, expired). One of another life is taken up again. */
struct visit *visit_find(struct attendee *a, struct str id, unsigned *ret_status);
struct visit *visit_new(struct attendee *a, uint8_t version, uint32_t can);
void visit_end(struct visit *visit);

/* --- client_name.c --- */

/* "NAME VERSION" of clientInfo, fit for a line and cut; nothing where it has none. */
void client_put_name(struct buf *out, struct json_span client_info);

/* --- method.c --- */

/* A request; its strand answers it. The attendee is welcome, and what is offered is
 * known. */
struct asked_for {
    struct attendee *attendee;
    struct visit *visit; /* NULL: modern */
    const struct serve_incoming *in;
    const struct serve_post *http;
    struct strand *strand;
};
/* False: it is a wish (wish_begin()), which looks for what is meant, judges
 * Mcp-Param-* and rights: tools/call (the room's own tools are answered here),
 * resources/read, resources/subscribe and unsubscribe, prompts/get, completion/complete,
 * tasks/…. */
bool method_answer(const struct asked_for *ask);

/* Ends the strand with one of these: finished JSON, of the era of the client. */
void asked_answer(const struct asked_for *ask, struct str result);
void asked_refuse(const struct asked_for *ask, int64_t code, struct str error);
void asked_fail(const struct asked_for *ask, int64_t code, struct str message,
                struct str data);
/* serverInfo towards clients: the owner's where there is but one, and no tools of ours.
 */
void hall_put_server(const struct hall *hall, struct buf *out);

/* --- listen.c --- */

void listen_begin(const struct asked_for *ask); /* subscriptions/listen */
void listen_tell_lists(struct hall *hall, unsigned types);
/* What a participant told this attendee and is no wish's: updated, message, tasks. */
void listen_tell(struct attendee *a, const struct heard *heard);
/* Tells the owner with the first that wants it, and with the last that does not. */
enum err attendee_watch(struct attendee *a, struct watcher *watcher, struct str owner,
                        struct str uri);
void attendee_unwatch(struct attendee *a, struct watch *watch);
