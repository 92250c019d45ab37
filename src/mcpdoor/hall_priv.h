/* SPDX-License-Identifier: Apache-2.0 */
/* What a hall is made of; for this folder alone, and nobody else sets anything in it but
 * `counts`. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "mcpdoor/attendee.h"
#include "mcpdoor/task_owners.h"
#include "mcpdoor/wish.h"

enum {
    HALL_PATIENCE_MS = 5000,  /* for a welcome, and for what is offered */
    HALL_WALK_MS = 250,       /* between two looks at all strands */
    HALL_LATEST_MS = 5000,    /* … at most, where there are any */
    HALL_GAP_MS = 1000,       /* between two notifications that a list has changed */
    HALL_LISTS = 3,           /* that there are notifications for */
    HALL_LISTENS = 64,        /* of one attendee */
    HALL_WAITING = 64,        /* requests of one attendee, for a welcome */
    HALL_PARTICIPANTS = 4096, /* that the concierge knows */
    HALL_MORE = 4096,         /* bytes of a message around what it carries */
};

/* Visits of another life that have ended; the oldest are forgotten. */
struct ended_visits {
    struct map keys;
    char (*ring)[16];
    size_t next;
};

struct hall {
    struct hall_settings settings; /* its texts stand behind the struct */
    struct hall_ops ops;
    void *user;
    struct moment now; /* of the entry under way */

    struct showcase *showcase;
    struct concierge *concierge;
    struct room_desk *desk;    /* NULL: no tools of the room */
    struct seat *seat;         /* the concierge's own, or NULL */
    struct occupant *occupant; /* likewise */

    struct link house_calls; /* under way, for somebody who waits */
    size_t house_call_count;
    struct link attendees;
    struct map by_key;
    struct map by_id;  /* one of each */
    struct link gone;  /* attendees: freed with the next tick */
    struct map visits; /* by number and boot */
    struct map shown;  /* the same by their ids, which were opened before */
    struct ended_visits ended;
    struct task_owners task_owners;
    uint64_t next_visit, next_strand; /* begin at random */

    unsigned changed; /* lists, not yet told: bits of enum offer_type */
    uint64_t told_ms[HALL_LISTS];
    uint64_t due_ms;     /* what hall_due_ms() says: not later than anything is due */
    uint64_t strands_ms; /* likewise of strands alone */
    uint64_t walked_ms;  /* all of them were looked at */
    struct hall_counts counts;
    bool is_draining;
    bool is_ticking;
};

/* --- hall.c --- */

/* The due time is not later than this. */
void hall_due(struct hall *hall, uint64_t due_ms);
/* Likewise of a strand. */
void hall_strand_due(struct hall *hall, const struct strand *strand);
/* The same for all that this attendee waits for (NULL: nobody's). */
void hall_settle(struct hall *hall, struct attendee *a);

/* --- reception.c --- */

/* Requests that waited for a welcome go on, where they can now; those that have waited
 * long enough in any case. */
void hall_go_on(struct attendee *a);

/* --- errand.c --- */

/* A strand of the hall, and the request on it. It goes with the strand. */
struct errand {
    struct attendee *attendee;
    struct visit *visit; /* NULL: modern */
    struct strand *strand;
    struct json_span id;     /* behind the struct; text.ptr NULL: no request */
    struct link waiting;     /* for a welcome */
    uint64_t due_ms;         /* … so long */
    struct serve_post *post; /* … and then */
};

/* `id`: text.ptr NULL, it is a stream alone. */
struct errand *errand_new(struct attendee *a, struct visit *visit, struct json_span id,
                          struct strand_terms terms, struct outlet *outlet);
struct errand *errand_of(const struct strand *strand); /* NULL: a bundle's */
void errand_wait(struct errand *errand, const struct serve_post *post);
struct serve_post *errand_go_on(struct errand *errand); /* to be freed */
/* The first of these ends, in one or two steps: whoever feeds it stops, and who waits for
 * an answer is told why there is none. */
void errand_end_first(struct link *strands, struct str why);
/* notifications/cancelled, of one that waits for a welcome. */
bool errand_cancel(struct attendee *a, const struct visit *visit, struct json_span id);

/* --- attendee.c --- */

struct occupant *hall_occupant(const struct hall *hall, struct seat *seat,
                               size_t participants, const struct occupant_ops *ops,
                               void *user);
struct attendee *attendee_new(struct hall *hall, struct str key, struct str id);
void attendee_free(struct attendee *a);
/* Sits down where it does not. ERR_OVERLOAD: there is no seat. */
enum err attendee_enter(struct attendee *a);
/* Welcome, and what is offered is known. */
bool attendee_is_ready(const struct attendee *a);
bool attendee_is_idle(const struct attendee *a);
/* What owners are told: the level of its most verbose visit. */
void attendee_set_level(struct attendee *a);
/* An owner has come, or come back: it is told what this one wants to hear of. */
void attendee_greet(struct attendee *a, const struct owner_facts *owner);
/* All owners are told a notification of the client's. */
void attendee_notify(struct attendee *a, struct str method);

/* --- visit.c --- */

void visit_use(struct visit *visit);
void visits_expire(struct attendee *a);
bool visit_is_streaming(const struct visit *visit);
void ended_done(struct ended_visits *ended);

/* --- listen.c --- */

void listening_free(struct listening *listening);
void watches_renew(struct attendee *a, struct str owner);
void watches_end(struct attendee *a, struct link *watched);
void listen_end_all(struct attendee *a); /* gracefully */
/* From now on it hears of changes of what it sees now. */
void listen_look(struct attendee *a);
void listen_tick(struct hall *hall);
