/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/topic_seat.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/inquiry.h"
#include "gateway/moderation.h"
#include "gateway/recording.h"
#include "gateway/room.h"
#include "gateway/speaking.h"
#include "ws/ws.h"

enum {
    TURN_BYTES = 64 * 1024, /* heard in a row: others want their turn */
    PAUSE_MIN_MS = 500,     /* before a place is looked for again; doubled up to: */
    PAUSE_MAX_MS = 30'000,
    SETTLED_MS = 60'000, /* who sat for so long begins with a short pause */
};

struct topic_seat {
    struct seat seat;
    struct member member; /* without a participant: nobody sits here */
    struct worker *worker;
    struct identity *identity;
    struct topic_seat_terms terms;
    const struct seat_ops *ops; /* NULL: closed */
    void *user;
    struct loop_task hearing; /* or whatever else is to be told */
    struct loop_timer timer;  /* away: of the pause; sitting: there is more to hear */
    struct admit_limits limits;
    uint64_t pause_ms;
    enum member_end why;
    uint64_t since_ms; /* the place was taken */
    bool is_busy;      /* with telling: it neither leaves nor goes inside */
    bool has_begun;    /* on_begin was called for this place */
    bool was_lost;     /* on_lost is to be called */
    bool is_over;      /* sits_once, and that was it */
    struct str topic;
    char text[];
};

static struct topic_seat *seat_of(struct seat *seat)
{
    return CONTAINER_OF(seat, struct topic_seat, seat);
}

static struct topic_seat *owner_of(struct member *member)
{
    return CONTAINER_OF(member, struct topic_seat, member);
}

bool topic_seat_is_taken(const struct topic_seat *seat)
{
    return seat->member.participant && !seat->member.is_ending;
}

/* --- a place --- */

static const struct {
    struct str word; /* in the record */
    const char *why;
} endings[] = {
    [END_LEFT] = { S("left"), "it has left" },
    [END_REPLACED] = { S("replaced"), "it was replaced by a newer connection" },
    [END_KICKED] = { S("kicked"), "it was removed from the topic" },
    [END_REVOKED] = { S("revoked"), "it may no longer be there" },
    [END_SLOW] = { S("slow_consumer"), "it reads too slowly" },
};

static void leave(struct topic_seat *seat, enum member_end why)
{
    struct topic *topic = member_topic(&seat->member);
    struct live_room *room;

    if (!topic)
        return;
    room = live_room_of(topic);
    recording_disconnected(room, &(struct connection_end){ .type = seat->terms.type,
                                                           .id = seat->identity->id,
                                                           .number = seat->member.number,
                                                           .why = endings[why].word });
    member_leave(&seat->member, loop_now_ms(seat->worker->loop));
    seat->worker->metrics.members--;
    room_tell_validation(room);
    room_left(room);
}

static void plan_return(struct topic_seat *seat)
{
    uint64_t now_ms = loop_now_ms(seat->worker->loop);

    if (seat->since_ms && now_ms - seat->since_ms >= SETTLED_MS)
        seat->pause_ms = PAUSE_MIN_MS;
    seat->since_ms = 0;
    loop_timer_set(seat->worker->loop, &seat->timer, seat->pause_ms);
    seat->pause_ms =
        seat->pause_ms < PAUSE_MAX_MS / 2 ? 2 * seat->pause_ms : PAUSE_MAX_MS;
}

/* What is being heard lies in blocks that the member holds: it leaves behind that. */
static void lose(struct topic_seat *seat, enum member_end why)
{
    seat->why = why;
    seat->was_lost = true;
    if (!seat->is_busy)
        leave(seat, why);
    loop_defer(seat->worker->loop, &seat->hearing);
}

static void on_member_ready(struct member *member)
{
    loop_defer(owner_of(member)->worker->loop, &owner_of(member)->hearing);
}

static void on_member_end(struct member *member, enum member_end why)
{
    lose(owner_of(member), why);
}

static void on_member_rights(struct member *member)
{
    speaking_renew_rights(member, owner_of(member)->identity);
}

static const struct member_ops member_ops = {
    .on_ready = on_member_ready,
    .on_end = on_member_end,
    .on_rights = on_member_rights,
};

const struct identity *topic_seat_identity(struct member *member,
                                           enum connection_type *ret_type)
{
    *ret_type = CONNECTION_WEBSOCKET;
    if (member->ops != &member_ops)
        return NULL;
    *ret_type = owner_of(member)->terms.type;
    return owner_of(member)->identity;
}

static enum err find_room(struct topic_seat *seat, struct live_room **ret)
{
    struct worker *worker = seat->worker;
    enum err err = worker->is_draining ? ERR_UNAVAILABLE : OK;

    if (!err)
        err = room_admit(worker, seat->topic, seat->identity);
    if (!err)
        err = room_open(worker, seat->topic, ret);
    if (!err)
        err = room_may_enter(worker, *ret, seat->identity);
    return err ? err : topic_may_join(&(*ret)->room.topic, seat->identity->id);
}

static void join(struct topic_seat *seat, struct live_room *room)
{
    struct worker *worker = seat->worker;

    recording_connected(room,
                        &(struct connection_start){ .type = seat->terms.type,
                                                    .identity = seat->identity,
                                                    .address = seat->terms.address,
                                                    .number = ++worker->connection_count,
                                                    .dialect = DIALECT_SLASH });
    topic_join(&room->room.topic, &seat->member,
               &(struct join){ .participant = room_participant(room, seat->identity),
                               .ops = &member_ops,
                               .routing = ROUTE_DIRECTED,
                               .presence = seat->terms.presence,
                               .dialect = DIALECT_SLASH,
                               .now_wall_ms = loop_wall_ms(worker->loop),
                               .number = worker->connection_count });
    room_stay(room);
    worker->metrics.members++;
    seat->since_ms = loop_now_ms(worker->loop);
}

/* The welcome, and what was missed since the last place. */
static void greet(struct topic_seat *seat, struct live_room *room)
{
    struct str after = seat->ops->on_after ? seat->ops->on_after(seat->user) : S("");

    seat->has_begun = true;
    seat->ops->on_begin(seat->user, after.len > 0);
    if (!topic_seat_is_taken(seat))
        return;
    room_welcome(room, &seat->member);
    room_tell_validation(room);
    if (after.len && !member_replay_after(&seat->member, after))
        seat->worker->metrics.gaps++;
}

static const char *refusal_of(enum err err)
{
    switch (err) {
    case ERR_CONFLICT: return "there is somebody of that id already";
    case ERR_UNAVAILABLE: return "the server is stopping";
    case ERR_OVERLOAD: return "there are too many topics or members";
    default: return "it may not be there";
    }
}

static void take_place(struct topic_seat *seat)
{
    struct live_room *room = NULL;
    enum err err = find_room(seat, &room);

    if (!err) {
        join(seat, room);
        greet(seat, room);
        return;
    }
    if (seat->terms.sits_once) {
        seat->is_over = true;
        seat->ops->on_lost(seat->user, true, refusal_of(err));
        return;
    }
    log_warn("seat.refused", "id=%s topic=%s err=%s", LOG_TEXT(seat->identity->id),
             LOG_TEXT(seat->topic), err_name(err));
    plan_return(seat);
}

/* --- hearing --- */

static void hear_frame(struct topic_seat *seat, struct str frame)
{
    struct str body = ws_frame_body(frame);
    uint64_t number;

    switch ((enum ws_opcode)(frame.ptr[0] & 0x0f)) {
    case WS_OP_TEXT: seat->ops->on_text(seat->user, body); break;
    case WS_OP_PONG: /* our own: a fence */
        memcpy(&number, body.ptr, sizeof(number));
        seat->ops->on_judged(seat->user, be64toh(number));
        break;
    case WS_OP_CONT:
    case WS_OP_BINARY:
    case WS_OP_CLOSE:
    case WS_OP_PING: break; /* nobody sends them to a member */
    }
}

/* A frame in several parts: the roster in the middle of a welcome is shared. */
static void hear_joined(struct topic_seat *seat, size_t size)
{
    struct iovec span;
    struct buf frame;

    buf_init(&frame, size);
    while (frame.len < size && member_pull(&seat->member, &span, 1)) {
        size_t left = size - frame.len;
        size_t part = left < span.iov_len ? left : span.iov_len;

        buf_put(&frame, (struct str){ span.iov_base, part });
        member_taken(&seat->member, part);
    }
    hear_frame(seat, buf_str(&frame));
    buf_done(&frame);
}

/* Returns its size; 0: there is nothing. */
static size_t hear_next(struct topic_seat *seat)
{
    struct iovec span;
    struct str bytes;
    size_t size;

    if (!seat->ops || !topic_seat_is_taken(seat) ||
        member_pull(&seat->member, &span, 1) == 0)
        return 0;
    bytes = (struct str){ span.iov_base, span.iov_len };
    size = ws_frame_size(bytes);
    if (size > bytes.len) {
        hear_joined(seat, size);
        return size;
    }
    hear_frame(seat, str_slice(bytes, 0, size));
    member_taken(&seat->member, size);
    return size;
}

static void seat_free(struct topic_seat *seat)
{
    leave(seat, END_LEFT);
    list_remove(&seat->hearing.link);
    loop_timer_clear(seat->worker->loop, &seat->timer);
    identity_unref(seat->identity);
    free(seat);
}

static void tell_loss(struct topic_seat *seat)
{
    bool had_begun = seat->has_begun;

    leave(seat, seat->why);
    seat->was_lost = false;
    seat->has_begun = false;
    seat->is_over = seat->terms.sits_once;
    if (!seat->is_over)
        plan_return(seat);
    if (had_begun || seat->is_over)
        seat->ops->on_lost(seat->user, seat->is_over, endings[seat->why].why);
}

/* All that is told comes from here. */
static void step(struct topic_seat *seat)
{
    size_t heard = 0;
    size_t size;

    seat->is_busy = true;
    if (!seat->member.participant && !seat->was_lost && !seat->is_over)
        take_place(seat);
    while (heard < TURN_BYTES && (size = hear_next(seat)))
        heard += size;
    if (seat->ops && seat->was_lost)
        tell_loss(seat);
    seat->is_busy = false;
    if (!seat->ops)
        seat_free(seat);
    else if (heard >= TURN_BYTES && seat->member.participant)
        loop_timer_set(seat->worker->loop, &seat->timer, 0);
}

static void on_task(struct loop_task *task)
{
    struct topic_seat *seat = CONTAINER_OF(task, struct topic_seat, hearing);

    if (seat->member.participant || seat->was_lost) /* else the pause goes on */
        step(seat);
}

static void on_timer(struct loop_timer *timer)
{
    step(CONTAINER_OF(timer, struct topic_seat, timer));
}

/* --- speaking --- */

/* `scanned`: of this text, or NULL. Else the text is scanned where it will stay. */
static void judge(struct topic_seat *seat, struct str text,
                  const struct envelope *scanned)
{
    struct worker *worker = seat->worker;
    struct live_room *room = live_room_of(member_topic(&seat->member));
    struct speaker speaker = { room, &seat->member, seat->identity, &seat->limits };
    struct topic *topic = &room->room.topic;
    struct admission a;
    struct refusal refusal;
    enum err err;

    if (!scanned)
        text.ptr = memcpy(topic_reserve(topic, text.len), text.ptr, text.len);
    a = speaking_admission(&speaker, text);
    a.scanned = scanned;
    err = admit(&a, &refusal);
    metrics_count_verdict(&worker->metrics, err);
    if (err)
        speaking_refuse(&speaker, &a, &refusal);
    else if (a.is_question)
        inquiry_answer(&speaker, &a);
    else if (a.has_sequel)
        moderation_carry_out(room, &a, NULL);
}

/* ERR_AGAIN, ERR_TOO_BIG; OK: it may be judged. */
static enum err prepare(struct topic_seat *seat, struct str text)
{
    if (!topic_seat_is_taken(seat))
        return ERR_AGAIN;
    if (text.len > seat->worker->settings->config->limits.envelope)
        return ERR_TOO_BIG;
    speaking_prepare(live_room_of(member_topic(&seat->member)), text.len);
    if (!topic_seat_is_taken(seat))
        return ERR_AGAIN;
    if (seat->terms.is_limited)
        seat->limits = seat->worker->settings->admit;
    else
        seat->limits.depth = seat->worker->settings->admit.depth;
    return OK;
}

static enum err send(struct seat *self, struct str text)
{
    enum err err = prepare(seat_of(self), text);

    if (!err)
        judge(seat_of(self), text, NULL);
    return err;
}

static enum err send_scanned(struct seat *self, const struct envelope *env, size_t depth)
{
    struct topic_seat *seat = seat_of(self);
    enum err err = prepare(seat, env->text);

    if (!err)
        judge(seat, env->text, depth <= seat->limits.depth ? env : NULL);
    return err;
}

static void fence(struct seat *self, uint64_t number)
{
    struct topic_seat *seat = seat_of(self);
    uint64_t bytes = htobe64(number);

    if (topic_seat_is_taken(seat))
        speaking_pong(seat->worker, &seat->member,
                      (struct str){ (const char *)&bytes, sizeof(bytes) });
}

/* --- its life --- */

struct topic_seat *topic_seat_open(struct worker *worker, struct str topic,
                                   struct identity *identity,
                                   const struct topic_seat_terms *terms,
                                   const struct seat_ops *ops, void *user)
{
    struct topic_seat *seat = xcalloc(1, sizeof(*seat) + topic.len);

    seat->seat =
        (struct seat){ .send = send, .send_scanned = send_scanned, .fence = fence };
    seat->worker = worker;
    seat->identity = identity_ref(identity);
    seat->terms = *terms;
    seat->hearing.run = on_task;
    seat->timer.on_fire = on_timer;
    seat->pause_ms = PAUSE_MIN_MS;
    memcpy(seat->text, topic.ptr, topic.len);
    seat->topic = (struct str){ seat->text, topic.len };
    seat->ops = ops;
    seat->user = user;
    loop_timer_set(worker->loop, &seat->timer, 0);
    return seat;
}

struct seat *topic_seat_of(struct topic_seat *seat)
{
    return &seat->seat;
}

void topic_seat_close(struct topic_seat *seat)
{
    if (!seat)
        return;
    seat->ops = NULL;
    if (!seat->is_busy)
        seat_free(seat);
}

struct str topic_seat_id(const struct topic_seat *seat)
{
    return seat->identity->id;
}

void topic_seat_set_identity(struct topic_seat *seat, struct identity *identity)
{
    struct identity *was = seat->identity;
    struct live_room *room;

    seat->identity = identity_ref(identity);
    if (topic_seat_is_taken(seat)) {
        room = live_room_of(member_topic(&seat->member));
        if (room_admit(room->worker, seat->topic, identity)) {
            seat->member.is_ending = true;
            lose(seat, END_REVOKED);
        } else if (!str_list_eq(was->capabilities, identity->capabilities)) {
            speaking_renew_rights(&seat->member, identity);
            room_welcome_again(room, seat->member.participant);
        }
    }
    identity_unref(was);
}
