/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room's own tools, as far as they need no MCP: who asks is a guest with an occupant,
 * what is answered is the result of a tool, in the shape of the legacy line. room_tools.h
 * says what they are.
 *
 *     room_desk_call ──► on_answer at once, when it was sent, or when there are news
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/scan.h"
#include "mcpdoor/concierge.h"
#include "mcpdoor/room_news.h"
#include "mcpdoor/showcase.h"
#include "participant/occupant.h"

enum {
    ROOM_WAIT_MS = 25'000,     /* where nothing is said; at most: */
    ROOM_WAIT_MAX_MS = 50'000, /* clients give up after a minute */
    ROOM_NEWS = 256,           /* kept per topic, for room_wait */
    ROOM_NEWS_BYTES = 256 << 10,
    ROOM_OWN_NEWS = 32, /* kept per guest: what was said to it alone */
    ROOM_OWN_NEWS_BYTES = 16 << 10,
    ROOM_SEARCH = 10,        /* tools that are found, where it is not said how many */
    ROOM_SEARCH_MAX = 100,   /* at most */
    ROOM_ANSWER = 256 << 10, /* bytes of a result, about */
    ROOM_WHO = 1000,         /* participants that room_who names */
    ROOM_CALLS = 64,         /* of one guest that wait */
};

struct room_desk;

struct room_desk *room_desk_new(const struct showcase *showcase,
                                const struct concierge *concierge);
void room_desk_free(struct room_desk *desk); /* calls that wait are dropped */
/* Likewise, but whoever waits is told that there is no such desk any more. */
void room_desk_close(struct room_desk *desk);
/* The gateway goes: whoever waits for news has what there is. NULL is harmless. */
void room_desk_drain(struct room_desk *desk);

/* Who hears presence, and so knows who is here; NULL: nobody. */
void room_desk_use(struct room_desk *desk, const struct occupant *occupant);

/* Who asks; `news` is its own, of ROOM_OWN_NEWS, or NULL. */
struct room_guest {
    struct occupant *occupant;
    const struct room_news *news;
    const struct showcase_view *view;
};

/* Those of its tools that the guest may use, as they stand in tools/list, with commas
 * between. One that an owner has listed under the same name is not ours. */
void room_desk_put_tools(const struct room_desk *desk, const struct room_guest *guest,
                         struct buf *out);

/* One of the two comes, once, from inside this or any other function of the desk or of
 * the guest's occupant. */
struct room_call {
    struct str tool;
    struct json_span arguments; /* text.ptr NULL: none */
    void (*on_answer)(void *user, struct str result);
    void (*on_dropped)(void *user); /* it will not be answered; may be NULL */
    void *user;
    const void *name; /* for room_desk_cancel() */
};

/* False: it is none of ours, or none that the guest may use, which looks the same. */
bool room_desk_call(struct room_desk *desk, const struct room_guest *guest,
                    const struct room_call *call, struct moment now);

/* The one who asked has gone: it is not answered any more. Before its occupant is freed,
 * all of the guest's. */
void room_desk_cancel(struct room_desk *desk, const void *name);
void room_desk_leave(struct room_desk *desk, const struct occupant *occupant);

/* Something was heard: by everybody (own NULL), or by one alone. Whoever waits is told.
 */
void room_desk_hear(struct room_desk *desk, struct room_news *own,
                    const struct heard *heard);

void room_desk_tick(struct room_desk *desk, uint64_t now_ms);
uint64_t room_desk_due_ms(const struct room_desk *desk); /* UINT64_MAX: never */
