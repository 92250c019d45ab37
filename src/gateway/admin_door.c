/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Administration of topics and members: list, promote, kick, pause, resume. Changes are
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
#include "gateway/override.h"
#include "gateway/room.h"
#include "gateway/standing.h"
#include "policy/capability.h"

/* A call on its way through the workers; its texts live in its arena. */
struct call {
    struct gather gather;
    struct exchange *x;
    struct arena arena;
    struct str id;    /* the participant */
    struct str topic; /* "": all */
    struct str_list old_capabilities;
    struct str_list capabilities; /* the new ones */
    struct str list_name;         /* of what is listed */
    const struct act *act;        /* kick, pause or resume */
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
        json_object_close(&w);
    }
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

static void write_member(const struct member *member, struct worker *worker,
                         struct json_writer *w)
{
    const struct participant *p = member->participant;
    char number[32];

    (void)snprintf(number, sizeof(number), "ws-%zu-%llu", worker->index,
                   (unsigned long long)member->number);
    json_object_open(w);
    json_put_str(w, S("connectionId"), str_of(number));
    json_put_str(w, S("participantId"), p->id);
    json_key(w, S("capabilities"));
    json_raw(w, capset_json(member->capabilities, DIALECT_SLASH));
    if (capset_objects_json(member->capabilities, DIALECT_SLASH).len) {
        json_key(w, S("moot"));
        json_object_open(w);
        json_key(w, S("capabilities"));
        json_raw(w, capset_objects_json(member->capabilities, DIALECT_SLASH));
        json_object_close(w);
    }
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
    const struct member *member;

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

/* --- capabilities (MCPx v0.1, 11.3) --- */

struct promotion {
    const struct json *add;
    const struct json *remove;
};

#define F(member, need) JSON_FIELD(struct promotion, member, need)
static const struct json_field promotion_fields[] = {
    F(add, JSON_OPTIONAL),
    F(remove, JSON_OPTIONAL),
};
#undef F

struct change {
    struct str_list add;
    struct str_list remove;
};

static void apply_capabilities(struct live_room *room, const struct call *call)
{
    struct participant *p = participant_find(&room->room.topic, call->id);
    struct capset *caps;

    if (!p)
        return;
    if (capset_intern(room->worker->capsets, call->capabilities, &caps, NULL))
        abort(); /* the list was checked */
    participant_set_capabilities(p, caps);
    capset_unref(caps);
    room_welcome_again(room, p);
}

static void visit_capabilities(struct gather *gather, struct gather_part *part)
{
    const struct call *call = call_of(gather);
    struct worker *worker = part->worker;
    struct live_room *room;

    if (call->topic.len == 0)
        override_clear_topics(&worker->overrides, call->id);
    override_set(&worker->overrides, call->topic, call->id, call->capabilities);
    MAP_FOREACH(room, &worker->rooms)
        if (concerns(call, room))
            apply_capabilities(room, call);
}

/* What a v0.1 client would not understand stands apart. */
static void put_object_capabilities(struct json_writer *w, const struct call *call)
{
    if (!capability_list_has_objects(call->old_capabilities) &&
        !capability_list_has_objects(call->capabilities))
        return;
    json_key(w, S("moot"));
    json_object_open(w);
    capability_list_put_objects(w, S("oldCapabilities"), call->old_capabilities);
    capability_list_put_objects(w, S("newCapabilities"), call->capabilities);
    json_object_close(w);
}

static void answer_capabilities(struct gather *gather)
{
    struct call *call = call_of(gather);
    struct exchange *x = call->x;
    struct json_writer w;
    struct buf out;

    if (exchange_resume(x)) {
        log_info("capability.change", "id=%s topic=%s by=%s", LOG_TEXT(call->id),
                 LOG_TEXT(call->topic), LOG_TEXT(x->identity->id));
        buf_init(&out, 8 << 20);
        json_write_init(&w, &out);
        json_object_open(&w);
        json_put_str(&w, S("participantId"), call->id);
        capability_list_put_patterns(&w, S("oldCapabilities"), call->old_capabilities);
        capability_list_put_patterns(&w, S("newCapabilities"), call->capabilities);
        put_object_capabilities(&w, call);
        json_put_str(&w, S("modifiedBy"), x->identity->id);
        json_put_time(&w, S("modifiedAt"), loop_wall_ms(x->worker->loop));
        json_object_close(&w);
        exchange_json(x, 200, &out);
        buf_done(&out);
    }
    call_free(gather);
}

/* What the participant may do now; items NULL if nobody of that name is known. */
static struct str_list current_capabilities(struct worker *worker,
                                            const struct call *call)
{
    const struct str_list *changed =
        override_find(&worker->overrides, call->topic, call->id);
    const struct identity *identity;

    if (changed)
        return *changed;
    identity = token_table_find_id(&worker->tokens, call->id);
    return identity ? identity->capabilities : (struct str_list){};
}

static enum err keep_list(struct str_list list, struct arena *arena, struct str_list *ret)
{
    struct str *items = arena_alloc(arena, (list.count + 1) * sizeof(*items));

    if (!items)
        return ERR_TOO_BIG;
    for (size_t i = 0; i < list.count; i++) {
        items[i] = arena_str(arena, list.items[i]);
        if (!items[i].ptr)
            return ERR_TOO_BIG;
    }
    *ret = (struct str_list){ items, list.count };
    return OK;
}

static enum err edit(struct call *call, struct str_list old, const struct change *change)
{
    struct str_list edited;
    enum err err = keep_list(old, &call->arena, &call->old_capabilities);

    if (!err)
        err = capset_edit(old, change->add, change->remove, &call->arena, &edited);
    if (!err)
        err = capset_check(edited, NULL, NULL); /* together they may be too many */
    if (!err)
        err = keep_list(edited, &call->arena, &call->capabilities);
    return err;
}

static enum err read_change(struct exchange *x, struct change *ret, const char **ret_why)
{
    struct promotion body = {};
    const struct json *root;
    enum err err = OK;

    *ret_why = "The body must be {\"add\": […], \"remove\": […]}.";
    if (json_parse(x->body, &x->arena, &root, NULL) ||
        json_read(root, promotion_fields, COUNT(promotion_fields), &x->arena, &body,
                  NULL))
        return ERR_BAD_REQUEST;
    *ret_why = "The lists are too long.";
    if (body.add)
        err = capability_list(body.add, &x->arena, &ret->add, ret_why);
    if (!err && body.remove)
        err = capability_list(body.remove, &x->arena, &ret->remove, ret_why);
    if (!err)
        err = capset_check(ret->add, NULL, ret_why);
    return err ? ERR_BAD_REQUEST : OK;
}

void admin_capabilities(struct exchange *x)
{
    struct change change = {};
    const char *why = "";
    struct str_list old;
    struct call *call;

    if (read_change(x, &change, &why)) {
        exchange_fail(x, ERR_BAD_REQUEST, "%s", why);
        return;
    }
    call = call_new(x, visit_capabilities, answer_capabilities);
    if (!read_target(x, call))
        return;
    old = current_capabilities(x->worker, call);
    if (!old.items || edit(call, old, &change)) {
        exchange_fail(x, old.items ? ERR_TOO_LARGE : ERR_NOT_FOUND,
                      old.items ? "The lists are too long."
                                : "Nobody of that name has a token or a connection.");
        arena_done(&call->arena);
        free(call);
        return;
    }
    call_start(call);
}

/* --- kick, pause, resume --- */

static uint64_t bar_until_ms(const struct worker *worker)
{
    return loop_now_ms(worker->loop) + worker->settings->config->limits.kick_bar_ms;
}

static void kick(struct participant *p, const struct worker *worker)
{
    participant_conduct(p)->barred_until_ms = bar_until_ms(worker);
    participant_end(p, END_KICKED);
}

static void kick_everywhere(struct worker *worker, struct str id)
{
    standing_bar(&worker->standings, id, bar_until_ms(worker));
}

static void pause_participant(struct participant *p, const struct worker *)
{
    p->is_paused = true;
}

static void pause_everywhere(struct worker *worker, struct str id)
{
    standing_pause(&worker->standings, id, true);
}

static void resume_participant(struct participant *p, const struct worker *)
{
    p->is_paused = false;
}

static void resume_everywhere(struct worker *worker, struct str id)
{
    standing_pause(&worker->standings, id, false);
}

/* What is done to a participant in a topic; and, where no topic is named, to whoever of
 * that id comes to another one later. */
static const struct act {
    struct str verb;
    void (*in_topic)(struct participant *p, const struct worker *worker);
    void (*everywhere)(struct worker *worker, struct str id);
} acts[] = {
    { S("kick"), kick, kick_everywhere },
    { S("pause"), pause_participant, pause_everywhere },
    { S("resume"), resume_participant, resume_everywhere },
};

static void visit_act(struct gather *gather, struct gather_part *part)
{
    const struct call *call = call_of(gather);
    struct worker *worker = part->worker;
    struct live_room *room;

    if (call->topic.len == 0)
        call->act->everywhere(worker, call->id);
    MAP_FOREACH(room, &worker->rooms) {
        struct participant *p = participant_find(&room->room.topic, call->id);

        if (!p || !concerns(call, room))
            continue;
        part->count++;
        call->act->in_topic(p, worker);
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
    if (count == 0 && !is_known(call)) {
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
    struct call *call = call_new(x, visit_act, answer_act);

    if (!read_target(x, call))
        return;
    call->act = act;
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
