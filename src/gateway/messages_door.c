/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Topics over plain HTTP, for curl, scripts and webhooks. Posting goes through exactly
 * the checks of the WebSocket door; posters are no members. Reading takes from the replay
 * ring and may wait for the next envelope.
 */
#include <stdlib.h>
#include <string.h>

#include "admit/admit.h"
#include "base/xalloc.h"
#include "envelope/system.h"
#include "gateway/auth.h"
#include "gateway/doors.h"
#include "gateway/entrance.h"
#include "gateway/moderation.h"
#include "gateway/proposals.h"
#include "gateway/recording.h"
#include "gateway/speaking.h"
#include "topic/reading.h"

enum {
    PAGE_MESSAGES = 1000,
    PAGE_BYTES = 4 << 20,
    DAY_MS = 24 * 3600 * 1000,
};

/* --- posting --- */

static bool is_json(const struct exchange *x)
{
    struct str type = http_header_find(&x->request, S("Content-Type"), NULL);
    struct str media = str_trim(str_cut(&type, ';'));

    return str_ieq(media, S("application/json"));
}

static void reply_id(struct exchange *x, struct str id)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, 4096);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("id"), id);
    json_object_close(&w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

/* The answer to a post that waits until what was posted is durable. */
struct late_answer {
    struct recorder_waiter waiter;
    struct exchange *x;
    struct str id; /* in the next */
    char text[ENVELOPE_MAX_ID];
};

static void on_durable(struct recorder_waiter *waiter, enum err err)
{
    struct late_answer *late = CONTAINER_OF(waiter, struct late_answer, waiter);

    if (err)
        exchange_fail(late->x, err, "%s", recorder_problem);
    else
        reply_id(late->x, late->id);
    free(late);
}

static void on_poster_gone(void *user)
{
    struct late_answer *late = user;

    recorder_cancel(&late->waiter);
    free(late);
}

/* ticket 0: at once. */
static void reply_when_durable(struct exchange *x, struct str id, uint64_t ticket)
{
    struct late_answer *late;

    if (!ticket) {
        reply_id(x, id);
        return;
    }
    late = xmalloc(sizeof(*late));
    *late = (struct late_answer){ .waiter = { .ticket = ticket, .on_end = on_durable },
                                  .x = x };
    late->id = (struct str){ memcpy(late->text, id.ptr, id.len), id.len };
    exchange_on_gone(x, on_poster_gone, late);
    recorder_wait(x->worker, &late->waiter);
}

/* What stands in the log under this id, or will; ptr NULL: nothing. */
static struct str find_said(const struct topic *topic, uint64_t id_hash,
                            uint64_t *ret_ticket)
{
    const struct entry *entry = ring_at(&topic->ring, ring_find(&topic->ring, id_hash));

    if (!entry)
        return topic_find_held(topic, id_hash, ret_ticket);
    return entry->is_presence ? (struct str){} : entry_text(entry);
}

/* D7a: the same bytes again are not an error; they are not delivered again either. */
static bool is_repeat(const struct topic *topic, const struct admission *a,
                      uint64_t *ret_ticket)
{
    struct str said = find_said(topic, a->id_hash, ret_ticket);
    struct buf space;
    bool is_same;

    if (!said.ptr)
        return false;
    buf_init(&space, SIZE_MAX / 2);
    is_same = str_eq(said, admission_text(a, &space));
    buf_done(&space);
    return is_same;
}

static void refuse(struct exchange *x, const struct admission *a,
                   const struct refusal *refusal)
{
    struct json_writer w;
    struct buf members, message, headers;

    buf_init(&members, 1 << 20);
    buf_init(&message, 8192);
    buf_init(&headers, 256);
    refusal_message(refusal, a, &message);
    json_write_init(&w, &members);
    w.needs_comma = true;
    refusal_write_details(refusal, a, &w);
    if (a->env.id.len)
        json_put_str(&w, S("correlation_id"), a->env.id);
    if (refusal->retry_after_ms)
        buf_putf(&headers, "Retry-After: %llu\r\n",
                 (unsigned long long)(refusal->retry_after_ms + 999) / 1000);
    exchange_fail_with(x, &(struct failure){ .err = refusal->err,
                                             .detail = buf_str(&message),
                                             .members = buf_str(&members),
                                             .headers = buf_str(&headers) });
    buf_done(&members);
    buf_done(&message);
    buf_done(&headers);
}

/* Where an envelope of this dialect is judged: slashes in the log, where they will stay.
 */
static struct str place_body(const struct exchange *x, struct topic *topic,
                             enum dialect dialect)
{
    if (dialect != DIALECT_SLASH)
        return x->body;
    return (struct str){
        memcpy(topic_reserve(topic, x->body.len), x->body.ptr, x->body.len), x->body.len
    };
}

static void post(struct exchange *x, struct live_room *room, enum dialect dialect)
{
    struct worker *worker = x->worker;
    struct topic *topic = &room->room.topic;
    struct refusal refusal;
    struct admission a;
    uint64_t ticket = 0;
    enum err err;

    x->holds_envelope = false;
    speaking_prepare(room, x->body.len);
    a = (struct admission){ .room = &room->room,
                            .sender = room_participant(room, x->identity),
                            .dialect = dialect,
                            .text = place_body(x, topic, dialect),
                            .limits = &worker->settings->admit,
                            .identity = x->identity,
                            .scratch = loop_scratch(worker->loop),
                            .now_ms = loop_now_ms(worker->loop),
                            .wall_ms = loop_wall_ms(worker->loop) };
    err = admit(&a, &refusal);
    if (err == ERR_DUPLICATE_ID && is_repeat(topic, &a, &ticket)) {
        reply_when_durable(x, a.env.id, ticket);
        return;
    }
    metrics_count_verdict(&worker->metrics, err);
    if (err) {
        recording_refused(room, &a, &refusal);
        refuse(x, &a, &refusal);
        room_hear_refusal(room, &a, &refusal);
        return;
    }
    /* The answer leaves after this turn, so what follows has happened by then. */
    if (!a.is_executed)
        reply_when_durable(x, a.env.id, a.ticket);
    if (a.has_sequel)
        moderation_carry_out(room, &a, a.is_executed ? x : NULL);
}

void messages_post(struct exchange *x)
{
    struct live_room *room;
    enum dialect dialect;

    x->holds_envelope = true;
    if (!is_json(x)) {
        exchange_fail(x, ERR_MEDIA_TYPE, "Post one envelope as application/json.");
        return;
    }
    if (x->body.len == 0) {
        exchange_fail(x, ERR_MALFORMED_ENVELOPE, "The body is empty.");
        return;
    }
    if (x->body.len > x->worker->settings->config->limits.envelope) {
        exchange_fail(x, ERR_TOO_LARGE,
                      "The envelope is larger than the limit of %zu bytes.",
                      x->worker->settings->config->limits.envelope);
        return;
    }
    room = entrance_visit(x, &dialect);
    if (!room)
        return;
    post(x, room, dialect);
    room_left(room); /* with what was said in it */
}

/* --- reading, perhaps later --- */

struct poll {
    struct waiter waiter;
    struct loop_timer timer;
    struct exchange *x;
    struct live_room *room;
    uint64_t from_seq;
    struct entry_reader reader;
    bool has_gap;
};

/* The envelopes from `from_seq` on that concern the reader; returns the text of the last
 * one, which may stand in `text`. */
static struct str write_page(struct poll *poll, struct json_writer *w, struct buf *text)
{
    const struct topic *topic = &poll->room->room.topic;
    const struct entry *entry;
    size_t start = w->out->len;
    struct str last = {};
    size_t count = 0;

    json_key(w, S("messages"));
    json_array_open(w);
    while (count < PAGE_MESSAGES && w->out->len - start < PAGE_BYTES &&
           (entry = ring_at(&topic->ring, poll->from_seq))) {
        poll->from_seq++;
        if (!topic_entry_concerns(topic, entry, &poll->reader))
            continue;
        last = topic_entry_text(topic, entry, poll->reader.dialect, text);
        json_raw(w, last);
        count++;
    }
    json_array_close(w);
    return last;
}

/* The id of an envelope in the ring. */
static struct str id_of(struct poll *poll, struct str text)
{
    struct envelope env = {};
    struct envelope_problem problem;

    if (text.len == 0 || envelope_scan(text, JSON_MAX_DEPTH, poll->reader.dialect,
                                       &poll->x->arena, &env, &problem))
        return S("");
    return env.id;
}

static void answer_page(struct poll *poll)
{
    struct exchange *x = poll->x;
    struct json_writer w;
    struct buf out, text;
    struct str last;

    buf_init(&out, SIZE_MAX / 2);
    buf_init(&text, SIZE_MAX / 2);
    json_write_init(&w, &out);
    json_object_open(&w);
    last = write_page(poll, &w, &text);
    json_put_bool(&w, S("gap"), poll->has_gap);
    json_put_bool(&w, S("more"), ring_at(&poll->room->room.topic.ring, poll->from_seq));
    last = id_of(poll, last);
    if (last.len)
        json_put_str(&w, S("last"), last);
    json_object_close(&w);
    buf_done(&text);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

/* Passes over what does not concern the reader; true if something is left to tell. */
static bool has_news(struct poll *poll)
{
    const struct topic *topic = &poll->room->room.topic;
    const struct entry *entry;

    if (poll->from_seq < topic->ring.first_seq) {
        poll->from_seq = topic->ring.first_seq; /* the ring was faster */
        poll->has_gap = true;
    }
    while ((entry = ring_at(&topic->ring, poll->from_seq))) {
        if (topic_entry_concerns(topic, entry, &poll->reader))
            return true;
        poll->from_seq++;
    }
    return poll->has_gap;
}

/* The answer after a wait, in which the reader may have lost the right to it. */
static void answer_late(struct poll *poll)
{
    struct exchange *x = poll->x;
    enum err err = room_may_enter(x->worker, poll->room, x->identity);

    if (!auth_is_in_force(x->worker, x->identity))
        exchange_fail(x, ERR_UNAUTHORIZED, "The token was revoked or has expired.");
    else if (err)
        entrance_refuse(x, err);
    else
        answer_page(poll);
}

static void stop_waiting(struct poll *poll)
{
    waiter_cancel(&poll->waiter);
    loop_timer_clear(poll->room->worker->loop, &poll->timer);
    room_left(poll->room);
    free(poll);
}

static void on_gone(void *user)
{
    stop_waiting(user);
}

static void on_entry(struct waiter *waiter)
{
    struct poll *poll = CONTAINER_OF(waiter, struct poll, waiter);

    if (!has_news(poll)) {
        topic_wait(&poll->room->room.topic, &poll->waiter);
        return;
    }
    answer_late(poll);
    stop_waiting(poll);
}

static void on_wait_over(struct loop_timer *timer)
{
    struct poll *poll = CONTAINER_OF(timer, struct poll, timer);

    (void)has_news(poll);
    answer_late(poll);
    stop_waiting(poll);
}

/* Where to start: behind `after`, never before the reader was first admitted (D16). */
static void find_start(struct poll *poll, struct str after)
{
    struct topic *topic = &poll->room->room.topic;
    const struct participant *reader = room_participant(poll->room, poll->x->identity);
    uint64_t seq = topic->ring.first_seq;

    if (after.len) {
        uint64_t found = ring_find(&topic->ring, ring_hash(&topic->ring, after));

        poll->has_gap = found == 0;
        if (found)
            seq = found + 1;
    }
    poll->from_seq = seq > reader->first_seq ? seq : reader->first_seq;
}

/* "20", "20s" or "500ms"; empty or absent is no waiting, and there is a most. */
static enum err read_wait(struct exchange *x, uint64_t *ret_ms)
{
    uint64_t max_ms = x->worker->settings->config->limits.wait_max_ms;
    uint64_t unit_ms = 1000;
    uint64_t value = 0;
    struct str wait;
    enum err err = exchange_param(x, S("wait"), &wait);

    if (err || wait.len == 0) {
        *ret_ms = 0;
        return err;
    }
    if (str_ends(wait, S("ms")))
        unit_ms = 1;
    if (str_ends(wait, S("s")))
        wait.len -= unit_ms == 1 ? 2 : 1;
    if (str_to_u64(wait, DAY_MS / unit_ms, &value))
        return ERR_BAD_REQUEST;
    *ret_ms = value * unit_ms < max_ms ? value * unit_ms : max_ms;
    return OK;
}

static enum err read_routing(struct exchange *x, enum routing *ret)
{
    struct str routing;
    enum err err = exchange_param(x, S("routing"), &routing);

    if (err)
        return err;
    if (routing.ptr && !str_eq(routing, S("all")) && !str_eq(routing, S("directed")))
        return ERR_BAD_REQUEST;
    *ret = routing.ptr && str_eq(routing, S("directed")) ? ROUTE_DIRECTED : ROUTE_ALL;
    return OK;
}

void messages_get(struct exchange *x)
{
    struct poll poll = { .waiter = { .on_entry = on_entry },
                         .timer = { .on_fire = on_wait_over },
                         .x = x };
    struct poll *waiting;
    uint64_t wait_ms;
    struct str after;

    if (exchange_param(x, S("after"), &after) || read_wait(x, &wait_ms) ||
        read_routing(x, &poll.reader.routing)) {
        exchange_fail(
            x, ERR_BAD_REQUEST,
            "`after` is an envelope id, `wait` a number of seconds, `routing` all or "
            "directed; each at most once.");
        return;
    }
    poll.reader.id = x->identity->id;
    poll.room = entrance_visit(x, &poll.reader.dialect);
    if (!poll.room)
        return;
    find_start(&poll, after);
    if (has_news(&poll) || wait_ms == 0) {
        answer_page(&poll);
        return;
    }
    waiting = xmalloc(sizeof(*waiting));
    *waiting = poll;
    topic_wait(&poll.room->room.topic, &waiting->waiter);
    room_stay(poll.room);
    loop_timer_set(x->worker->loop, &waiting->timer, wait_ms);
    exchange_on_gone(x, on_gone, waiting);
}

/* --- what there is --- */

struct listing {
    struct gather gather;
    struct exchange *x;
    struct identity *identity;
};

static void visit_topics(struct gather *gather, struct gather_part *part)
{
    const struct listing *listing = CONTAINER_OF(gather, struct listing, gather);
    const struct live_room *room;
    struct json_writer w;

    json_write_init(&w, &part->out);
    MAP_FOREACH(room, &part->worker->rooms) {
        const struct topic *topic = &room->room.topic;

        if (room_admit(room->worker, topic->name, listing->identity))
            continue;
        json_object_open(&w);
        json_put_str(&w, S("name"), topic->name);
        json_put_uint(&w, S("participants"), topic->present_count);
        json_object_close(&w);
    }
}

static void answer_topics(struct gather *gather)
{
    struct listing *listing = CONTAINER_OF(gather, struct listing, gather);
    struct buf out;

    if (exchange_resume(listing->x)) {
        buf_init(&out, SIZE_MAX / 2);
        buf_put(&out, S("{\"topics\":["));
        gather_join(gather, &out);
        buf_put(&out, S("]}"));
        exchange_json(listing->x, 200, &out);
        buf_done(&out);
    }
    gather_done(gather);
    identity_unref(listing->identity);
    free(listing);
}

void topics_list(struct exchange *x)
{
    struct listing *listing = xcalloc(1, sizeof(*listing));

    listing->x = x;
    listing->identity = identity_ref(x->identity);
    listing->gather.visit = visit_topics;
    listing->gather.done = answer_topics;
    exchange_suspend(x);
    gather_start(&listing->gather, x->worker);
}

void participants_list(struct exchange *x)
{
    enum dialect dialect;
    struct live_room *room = entrance_visit(x, &dialect);
    const struct participant *p;
    struct json_writer w;
    struct buf out;

    if (!room)
        return;
    room_flush_presence(room);
    buf_init(&out, SIZE_MAX / 2);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_key(&w, S("participants"));
    json_array_open(&w);
    MAP_FOREACH(p, &room->room.topic.participants)
        if (p->announced == ANNOUNCED_PRESENT)
            system_participant(&w, p->id, capset_shown(p->capabilities, dialect),
                               participant_type_name(p->type));
    json_array_close(&w);
    json_object_close(&w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

static enum err read_which(struct exchange *x, enum proposals_which *ret)
{
    static const struct str names[] = { [PROPOSALS_OPEN] = S("open"),
                                        [PROPOSALS_CLOSED] = S("closed"),
                                        [PROPOSALS_ALL] = S("all") };
    struct str state;
    enum err err = exchange_param(x, S("state"), &state);

    if (err || !state.ptr)
        return err;
    for (size_t i = 0; i < COUNT(names); i++)
        if (str_eq(state, names[i])) {
            *ret = (enum proposals_which)i;
            return OK;
        }
    return ERR_BAD_REQUEST;
}

void proposals_list(struct exchange *x)
{
    struct proposals_showing showing = { .envelope_bytes = PAGE_BYTES,
                                         .all_bytes = PAGE_BYTES };
    enum dialect dialect;
    struct live_room *room = entrance_visit(x, &dialect);
    struct json_writer w;
    struct buf out;

    if (!room)
        return;
    if (exchange_param(x, S("id"), &showing.id) || showing.id.len > ENVELOPE_MAX_ID ||
        read_which(x, &showing.which)) {
        exchange_fail(x, ERR_BAD_REQUEST,
                      "`id` is the id of a proposal, `state` open, closed or all; each "
                      "at most once.");
        return;
    }
    if (showing.id.ptr)
        showing.envelope_bytes = showing.all_bytes = SIZE_MAX; /* it is only one */
    buf_init(&out, SIZE_MAX / 2);
    json_write_init(&w, &out);
    json_object_open(&w);
    proposals_show(room, dialect, &showing, &w);
    json_object_close(&w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}
