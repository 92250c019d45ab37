/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Administration of topics and members: list, kick, pause, resume. Changes are
 * ordered by the first worker, applied by each worker to what lives on it, and answered
 * when all have done so.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/gateway.h"
#include "gateway/recording.h"
#include "gateway/room.h"
#include "gateway/state.h"
#include "gateway/topic_seat.h"
#include "policy/capability.h"

/* A call on its way through the workers; its texts live in its arena. */
struct call {
    struct gather gather;
    struct exchange *x;
    struct arena arena;
    struct str id;         /* the participant */
    struct str topic;      /* "": all */
    struct str list_name;  /* of what is listed */
    const struct act *act; /* kick, pause or resume */
};

static struct call *call_new(struct exchange *x,
                             void (*visit)(struct gather *, struct gather_part *),
                             void (*done)(struct gather *))
{
    struct call *call = xcalloc(1, sizeof(*call));

    call->x = x;
    call->gather.visit = visit;
    call->gather.done = done;
    arena_init(&call->arena, 4 << 20);
    return call;
}

static void call_start(struct call *call)
{
    exchange_suspend(call->x);
    gather_start(&call->gather, call->x->worker);
}

static void call_free(struct gather *gather)
{
    struct call *call = CONTAINER_OF(gather, struct call, gather);

    gather_done(gather);
    arena_done(&call->arena);
    free(call);
}

static struct call *call_of(struct gather *gather)
{
    return CONTAINER_OF(gather, struct call, gather);
}

/* Whom and where: {id} of the path and ?topic=. False if that already answered. */
static bool read_target(struct exchange *x, struct call *call)
{
    const char *why = NULL;
    struct str topic;

    if (exchange_param(x, S("topic"), &topic) ||
        (topic.ptr && !topic_name_is_valid(topic)))
        why = "`topic` is the name of a topic, once.";
    else if (x->params[0].len > ENVELOPE_MAX_ID)
        why = "A participant id has 1 to 256 bytes.";
    if (why) {
        arena_done(&call->arena);
        free(call);
        exchange_fail(x, ERR_BAD_REQUEST, "%s", why);
        return false;
    }
    call->id = arena_str(&call->arena, x->params[0]);
    call->topic = arena_str(&call->arena, topic);
    return true;
}

/* The rooms of a worker that a call concerns. */
static bool concerns(const struct call *call, const struct live_room *room)
{
    return call->topic.len == 0 || str_eq(call->topic, room->room.topic.name);
}

/* --- listing --- */

static void answer_list(struct gather *gather)
{
    struct call *call = call_of(gather);
    struct buf out;

    if (exchange_resume(call->x)) {
        buf_init(&out, SIZE_MAX / 2);
        buf_putf(&out, "{\"%.*s\":[", STR_ARG(call->list_name));
        gather_join(gather, &out);
        buf_put(&out, S("]}"));
        exchange_json(call->x, 200, &out);
        buf_done(&out);
    }
    call_free(gather);
}

static void write_loop_guard(const struct room *room, struct json_writer *w)
{
    json_key(w, S("loop_guard"));
    json_object_open(w);
    json_put_uint(w, S("count"), room->guard.count);
    json_key(w, S("limit"));
    if (room->rules->loop_guard)
        json_uint(w, room->rules->loop_guard);
    else
        json_null(w);
    json_object_close(w);
}

/* Where nobody is, and agents or rules are still held up. */
static void list_turned(const struct worker *worker, struct json_writer *w)
{
    const struct parked *parked;

    MAP_FOREACH(parked, &worker->parked) {
        if (!switches_are_turned(&parked->switches))
            continue;
        json_object_open(w);
        json_put_str(w, S("name"), parked->topic);
        json_put_uint(w, S("participants"), 0);
        json_put_uint(w, S("connections"), 0);
        json_put_uint(w, S("worker"), worker->index);
        switches_write_whole(&parked->switches, w);
        json_object_close(w);
    }
}

static void visit_topics(struct gather *gather [[maybe_unused]], struct gather_part *part)
{
    const struct live_room *room;
    struct json_writer w;

    json_write_init(&w, &part->out);
    MAP_FOREACH(room, &part->worker->rooms) {
        const struct topic *topic = &room->room.topic;

        json_object_open(&w);
        json_put_str(&w, S("name"), topic->name);
        json_put_uint(&w, S("participants"), topic->present_count);
        json_put_uint(&w, S("connections"), topic->member_count);
        json_put_uint(&w, S("envelopes"), topic->ring.next_seq - 1);
        json_put_uint(&w, S("held"), topic->ring.next_seq - topic->ring.first_seq);
        json_put_uint(&w, S("worker"), part->worker->index);
        write_loop_guard(&room->room, &w);
        switches_write_whole(&room->switches, &w);
        json_object_close(&w);
    }
    list_turned(part->worker, &w);
}

void admin_topics(struct exchange *x)
{
    struct call *call = call_new(x, visit_topics, answer_list);

    call->list_name = S("topics");
    call_start(call);
}

void admin_reset_loop_guard(struct exchange *x)
{
    struct live_room *room = room_find(x->worker, x->topic);
    struct json_writer w;
    struct buf out;

    if (!room) {
        exchange_fail(x, ERR_NOT_FOUND, "There is no such topic.");
        return;
    }
    log_info("loop_guard.reset", "topic=%s by=%s", LOG_TEXT(x->topic),
             LOG_TEXT(x->identity->id));
    buf_init(&out, 4096);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("topic"), x->topic);
    json_put_uint(&w, S("was"), room->room.guard.count);
    json_object_close(&w);
    room->room.guard = (struct loop_guard){};
    exchange_json(x, 200, &out);
    buf_done(&out);
}

/* Of a server's identity: "server:NAME". */
static void put_server_name(struct str token_name, struct json_writer *w)
{
    (void)str_cut(&token_name, ':');
    json_put_str(w, S("server"), token_name);
}

static void write_member(struct member *member, struct worker *worker,
                         struct json_writer *w)
{
    const struct participant *p = member->participant;
    enum connection_type type;
    const struct identity *seated = topic_seat_identity(member, &type);
    char id[CONNECTION_ID];

    json_object_open(w);
    json_put_str(w, S("connectionId"), connection_id(worker, type, member->number, id));
    if (type == CONNECTION_SERVER)
        put_server_name(seated->token_name, w);
    json_put_str(w, S("participantId"), p->id);
    json_key(w, S("capabilities"));
    json_raw(w, capset_json(member->capabilities, DIALECT_SLASH));
    capability_put_moot(w, capset_objects_json(member->capabilities, DIALECT_SLASH));
    json_put_time(w, S("connectedAt"), member->connected_ms);
    json_put_str(w, S("topic"), p->topic->name);
    json_put_str(w, S("type"), participant_type_name(p->type));
    json_put_str(w, S("routing"),
                 member->routing == ROUTE_ALL ? S("all") : S("directed"));
    json_put_str(w, S("dialect"), dialect_name(member->lane->dialect));
    json_put_bool(w, S("paused"), p->is_paused);
    json_put_uint(w, S("violations"), p->conduct ? p->conduct->violations : 0);
    json_put_uint(w, S("waiting_bytes"), member_backlog(member));
    json_object_close(w);
}

static void write_members(const struct live_room *room, struct json_writer *w)
{
    const struct participant *p;
    struct member *member;

    MAP_FOREACH(p, &room->room.topic.participants)
        LIST_FOREACH(member, &p->members, peer_link)
            write_member(member, room->worker, w);
}

static void visit_members(struct gather *gather, struct gather_part *part)
{
    const struct call *call = call_of(gather);
    const struct live_room *room;
    struct json_writer w;

    json_write_init(&w, &part->out);
    MAP_FOREACH(room, &part->worker->rooms)
        if (concerns(call, room))
            write_members(room, &w);
}

void admin_members(struct exchange *x)
{
    struct call *call = call_new(x, visit_members, answer_list);

    if (!read_target(x, call))
        return;
    call->list_name = S("members");
    call_start(call);
}

/* --- kick, pause, resume --- */

static uint64_t bar_until_ms(const struct worker *worker)
{
    return loop_now_ms(worker->loop) + worker->settings->config->limits.kick_bar_ms;
}

static void kick_everywhere(struct worker *worker, struct str id)
{
    standing_bar(&worker->standings, id, bar_until_ms(worker));
}

static void pause_participant(struct live_room *room, struct str id)
{
    room_pause(room, id, true);
}

static void pause_everywhere(struct worker *worker, struct str id)
{
    standing_pause(&worker->standings, id, true);
}

static void resume_everywhere(struct worker *worker, struct str id)
{
    struct parked *parked;

    standing_resume(&worker->standings, id);
    MAP_FOREACH(parked, &worker->parked)
        standing_resume(&parked->standings, id);
}

/* What is done to a participant in a topic; and, where no topic is named, to whoever of
 * that id comes to another one later. */
static const struct act {
    struct str verb;
    void (*in_topic)(struct live_room *room, struct str id);
    void (*everywhere)(struct worker *worker, struct str id);
} acts[] = {
    { S("kick"), room_kick, kick_everywhere },
    { S("pause"), pause_participant, pause_everywhere },
    { S("resume"), room_resume, resume_everywhere },
};

/* A topic in which somebody was paused or kept out may be parked since. */
static void open_parked(struct worker *worker, const struct call *call)
{
    const struct parked *parked = map_find(&worker->parked, call->topic);
    struct live_room *room;

    if (parked && standing_find(&parked->standings, call->id))
        (void)room_open(worker, call->topic, &room);
}

static bool is_known_in(const struct live_room *room, struct str id)
{
    return participant_find(&room->room.topic, id) || standing_find(&room->standings, id);
}

static void visit_act(struct gather *gather, struct gather_part *part)
{
    const struct call *call = call_of(gather);
    struct worker *worker = part->worker;
    struct live_room *room;

    if (call->topic.len == 0)
        call->act->everywhere(worker, call->id);
    else
        open_parked(worker, call);
    MAP_FOREACH(room, &worker->rooms) {
        if (!concerns(call, room) || !is_known_in(room, call->id))
            continue;
        part->count++;
        call->act->in_topic(room, call->id);
    }
}

/* Somebody who is in no topic now can still be dealt with everywhere. */
static bool is_known(const struct call *call)
{
    return call->topic.len == 0 &&
           token_table_find_id(&call->x->worker->tokens, call->id) != NULL;
}

static void answer_act(struct gather *gather)
{
    struct call *call = call_of(gather);
    struct exchange *x = call->x;
    size_t count = gather_total(gather);
    struct json_writer w;
    struct buf out;

    if (!exchange_resume(x)) {
        call_free(gather);
        return;
    }
    if (gather->err) {
        exchange_fail(x, gather->err, "%s", recorder_problem);
    } else if (count == 0 && !is_known(call)) {
        exchange_fail(x, ERR_NOT_FOUND, "Nobody of that name is known there.");
    } else {
        log_info("member.act", "act=%s id=%s topic=%s by=%s", LOG_TEXT(call->act->verb),
                 LOG_TEXT(call->id), LOG_TEXT(call->topic), LOG_TEXT(x->identity->id));
        buf_init(&out, 4096);
        json_write_init(&w, &out);
        json_object_open(&w);
        json_put_str(&w, S("participantId"), call->id);
        json_put_str(&w, S("done"), call->act->verb);
        json_put_uint(&w, S("topics"), count);
        json_object_close(&w);
        exchange_json(x, 200, &out);
        buf_done(&out);
    }
    call_free(gather);
}

static void start_act(struct exchange *x, const struct act *act)
{
    struct call *call;

    if (!recorder_is_able(x->worker)) {
        exchange_fail(x, ERR_UNAVAILABLE, "%s", recorder_problem);
        return;
    }
    call = call_new(x, visit_act, answer_act);
    if (!read_target(x, call))
        return;
    call->act = act;
    call->gather.is_lasting = true;
    call_start(call);
}

void admin_kick(struct exchange *x)
{
    start_act(x, &acts[0]);
}

void admin_pause(struct exchange *x)
{
    start_act(x, &acts[1]);
}

void admin_resume(struct exchange *x)
{
    start_act(x, &acts[2]);
}

/* --- reload --- */

static void on_reloaded(void *user, struct str problem)
{
    struct exchange *x = user;

    if (!exchange_resume(x))
        return;
    if (problem.len)
        exchange_fail(x, ERR_CONFLICT, STR_FMT, STR_ARG(problem));
    else
        exchange_reply(x, 200, S("application/json"), S("{\"reloaded\":true}"));
}

void admin_reload(struct exchange *x)
{
    exchange_suspend(x);
    gateway_reload(x->worker->gateway, x->worker, on_reloaded, x);
}
