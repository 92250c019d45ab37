/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/proposals.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "gateway/worker.h"
#include "topic/reading.h"

enum {
    NEWS_BYTES = 1 << 20,
    WATCH_MS = 60 * 1000, /* at most: the wall clock may be set */
    LOOK_MS = 1000,       /* at least, between two looks at all of them */
};

/* --- showing --- */

/* Writes the envelope if there is room; returns how many bytes that took. */
static size_t put_envelope(const struct proposal *p, enum dialect dialect, size_t room,
                           struct json_writer *w)
{
    struct buf space;
    struct str text;
    size_t len = 0;

    if (p->envelope_bytes > room)
        return 0;
    buf_init(&space, SIZE_MAX / 2);
    text = topic_text_in((struct str){ p->envelope, p->envelope_bytes }, dialect, &space);
    if (text.len && text.len <= room) {
        json_key(w, S("envelope"));
        json_raw(w, text);
        len = text.len;
    }
    buf_done(&space);
    return len;
}

bool proposals_is_held(const struct live_room *room, struct str id)
{
    const struct topic *topic = &room->room.topic;
    uint64_t ticket;

    return topic_is_holding(topic) &&
           topic_find_held(topic, ring_hash(&topic->ring, id), &ticket).ptr;
}

/* How many it needs and has, and whose. */
static void put_approvals(const struct approval_terms *terms, const struct proposal *p,
                          struct json_writer *w)
{
    struct approval_needs needs = approval_needs_of(terms, p->subject);

    json_key(w, S("approvals"));
    json_object_open(w);
    json_put_uint(w, S("needed"), needs.quorum);
    json_put_uint(w, S("given"), approvals_given(&p->approvals, &needs));
    json_key(w, S("by"));
    json_array_open(w);
    for (size_t i = 0; i < p->approvals.count; i++)
        if (approval_meets(&needs, &p->approvals.items[i]))
            json_str(w, p->approvals.items[i].id);
    json_array_close(w);
    json_object_close(w);
}

static void put_ending(const struct proposal *p, struct json_writer *w)
{
    json_put_given(w, S("by"), p->by);
    json_put_given(w, S("reason"), p->reason);
    json_put_given(w, S("rule"), p->rule);
}

static struct str state_of(const struct proposal *p)
{
    return str_of(proposal_state_name((enum proposal_state)p->state));
}

static void put_state(const struct approval_terms *terms, enum dialect dialect,
                      const struct proposal *p, struct json_writer *w)
{
    char space[KIND_MAX_BYTES];

    json_put_str(w, S("id"), p->id);
    json_put_str(w, S("proposer"), p->proposer);
    json_put_str(w, S("kind"), kind_in(p->kind.text, dialect, space));
    json_put_str(w, S("state"), state_of(p));
    json_put_time(w, S("created"), p->created_ms);
    json_put_time(w, S("expires"), p->expires_ms);
    put_approvals(terms, p, w);
    if (p->state == PROPOSAL_OPEN)
        return;
    put_ending(p, w);
    json_put_given_time(w, S("decided"), p->decided_ms);
}

size_t proposal_put(const struct approval_terms *terms, enum dialect dialect,
                    const struct proposal *p, size_t room, struct json_writer *w)
{
    put_state(terms, dialect, p, w);
    return p->state == PROPOSAL_OPEN ? put_envelope(p, dialect, room, w) : 0;
}

static bool is_wanted(const struct live_room *room, const struct proposal *p,
                      const struct proposals_showing *showing)
{
    bool is_open = p->state == PROPOSAL_OPEN;

    if (showing->which != PROPOSALS_ALL && is_open != (showing->which == PROPOSALS_OPEN))
        return false;
    return (!showing->id.ptr || str_eq(showing->id, p->id)) &&
           !proposals_is_held(room, p->id);
}

void proposals_show(struct live_room *room, enum dialect dialect,
                    const struct proposals_showing *showing, struct json_writer *w)
{
    const struct approval_terms *terms = &room->room.ledger.settings->approvals;
    uint64_t now_ms = loop_wall_ms(room->worker->loop);
    size_t left = showing->all_bytes;
    const struct proposal *p = NULL;

    json_key(w, S("proposals"));
    json_array_open(w);
    while ((p = ledger_next(&room->room.ledger, p, now_ms))) {
        if (!is_wanted(room, p, showing))
            continue;
        json_object_open(w);
        left -= proposal_put(
            terms, dialect, p,
            left < showing->envelope_bytes ? left : showing->envelope_bytes, w);
        json_object_close(w);
    }
    json_array_close(w);
}

/* --- telling --- */

/* The payload's members, as they are when it happens. */
struct news {
    struct link link;
    struct str id; /* of the proposal; both in `text` */
    struct str members;
    char text[];
};

/* For news in the next turn, else for the next expiry; not at all where nothing is open.
 */
static void plan(struct live_room *room)
{
    struct loop *loop = room->worker->loop;
    uint64_t now_ms = loop_wall_ms(loop);
    uint64_t delay_ms = 0;

    if (list_is_empty(&room->proposal_news)) {
        if (room->room.ledger.open_count == 0) {
            loop_timer_clear(loop, &room->proposal_timer);
            return;
        }
        if (room->proposal_due_ms > now_ms)
            delay_ms = room->proposal_due_ms - now_ms;
    }
    loop_timer_set(loop, &room->proposal_timer,
                   delay_ms < WATCH_MS ? delay_ms : WATCH_MS);
}

/* There may be many, one shortly after the other: all are looked at once a second. */
static void expire(struct live_room *room)
{
    uint64_t now_ms = loop_wall_ms(room->worker->loop);
    uint64_t next_ms = ledger_expire(&room->room.ledger, now_ms);

    room->proposal_due_ms = next_ms > now_ms + LOOK_MS ? next_ms : now_ms + LOOK_MS;
}

static void on_due(struct loop_timer *timer)
{
    struct live_room *room = CONTAINER_OF(timer, struct live_room, proposal_timer);

    if (loop_wall_ms(room->worker->loop) >= room->proposal_due_ms)
        expire(room);
    proposals_announce(room);
    plan(room);
}

void proposals_init(struct live_room *room)
{
    list_init(&room->proposal_news);
    room->proposal_timer.on_fire = on_due;
    room->proposal_due_ms = UINT64_MAX;
}

void proposals_done(struct live_room *room)
{
    struct news *news;

    loop_timer_clear(room->worker->loop, &room->proposal_timer);
    LIST_FOREACH(news, &room->proposal_news, link) {
        list_remove(&news->link);
        free(news);
    }
}

static void write_members(const struct live_room *room, const struct proposal *p,
                          struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_put_str(&w, S("proposal"), p->id);
    json_put_str(&w, S("state"), state_of(p));
    json_put_str(&w, S("proposer"), p->proposer);
    json_put_str(&w, S("kind"), p->kind.text);
    put_ending(p, &w);
    if (p->state == PROPOSAL_OPEN || p->approvals.count)
        put_approvals(&room->room.ledger.settings->approvals, p, &w);
    if (p->edited.ptr) {
        json_key(&w, S("edited"));
        json_raw(&w, p->edited);
    }
}

static void note_news(struct live_room *room, const struct proposal *p)
{
    struct news *news;
    struct buf out;

    buf_init(&out, NEWS_BYTES);
    write_members(room, p, &out);
    news = xcalloc(1, sizeof(*news) + p->id.len + out.len);
    memcpy(news->text, p->id.ptr, p->id.len);
    memcpy(news->text + p->id.len, out.ptr, out.len);
    news->id = (struct str){ news->text, p->id.len };
    news->members = (struct str){ news->text + p->id.len, out.len };
    list_append(&room->proposal_news, &news->link);
    buf_done(&out);
}

/* That it was proposed is no news: the proposal itself has been heard. */
static bool is_news(const struct proposal *p)
{
    return p->state != PROPOSAL_OPEN || p->approvals.count > 0;
}

void proposals_changed(struct live_room *room, const struct proposal *p)
{
    if (is_news(p))
        note_news(room, p);
    if (p->state == PROPOSAL_OPEN && p->expires_ms < room->proposal_due_ms)
        room->proposal_due_ms = p->expires_ms;
    plan(room);
}

void proposals_announce(struct live_room *room)
{
    struct announcement say;
    struct news *news;

    LIST_FOREACH(news, &room->proposal_news, link) {
        announcement_begin(&say, room,
                           &(struct system_head){ .kind = S("system/proposal"),
                                                  .correlation_id = news->id });
        json_raw(&say.w, news->members);
        announcement_end(&say);
        list_remove(&news->link);
        free(news);
    }
}

void proposals_watch(struct live_room *room)
{
    room->proposal_due_ms = 0;
    plan(room);
}
