/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/grants.h"

#include <string.h>

#include "admit/command.h"
#include "base/log.h"
#include "gateway/recording.h"
#include "policy/overlap.h"

enum {
    TIMER_MAX_MS = 3600 * 1000, /* the clock may be set meanwhile */
    STILL_MAX = 64,             /* capabilities named as still allowing something */
    STILL_STEPS = 4'000'000,    /* spent on finding them */
    ARENA_BYTES = 1 << 20,
};

/* --- telling --- */

void grants_renew(struct live_room *room, struct str id)
{
    struct participant *participant = participant_find(&room->room.topic, id);

    if (!participant)
        return;
    participant_renew_rights(participant);
    room_welcome_again(room, participant);
}

static void put_list(struct json_writer *w, struct str key, struct str_list list)
{
    json_key(w, key);
    capability_list_write(list, w);
}

static void write_terms(const struct grant *grant, struct json_writer *w)
{
    if (grant->expires_ms)
        json_put_time(w, S("expires_at"), grant->expires_ms);
    if (grant->max_uses)
        json_put_uint(w, S("max_uses"), grant->max_uses);
}

static void begin_grant(const struct grant *grant, struct json_writer *w)
{
    json_object_open(w);
    json_put_str(w, S("id"), grant->id);
    json_put_str(w, S("granter"), grant->granter);
}

static void end_grant_object(const struct grant *grant, struct json_writer *w)
{
    json_put_time(w, S("created"), grant->created_ms);
    write_terms(grant, w);
    if (grant->max_uses)
        json_put_uint(w, S("uses_left"), grant->max_uses - grant->uses);
    if (grant->reason.len)
        json_put_str(w, S("reason"), grant->reason);
    json_object_close(w);
}

void grant_write(const struct grant *grant, struct json_writer *w)
{
    begin_grant(grant, w);
    put_list(w, S("capabilities"), grant->capabilities);
    end_grant_object(grant, w);
}

/* The same as its holder is shown it. */
static void show_grant(const struct grant *grant, enum dialect dialect,
                       struct json_writer *w)
{
    begin_grant(grant, w);
    json_key(w, S("capabilities"));
    json_array_open(w);
    for (size_t i = 0; i < grant->capabilities.count; i++)
        capability_write(grant->compiled[i], dialect, w);
    json_array_close(w);
    end_grant_object(grant, w);
}

static void show_live(const struct live_room *room, struct rights_key key,
                      enum dialect dialect, struct json_writer *w)
{
    uint64_t now_ms = loop_wall_ms(room->worker->loop);
    const struct grant *grant = NULL;

    while ((grant = rights_next_grant(room->worker->rights, key, grant)))
        if (!grant_is_over(grant, now_ms))
            show_grant(grant, dialect, w);
}

void grants_show(const struct live_room *room, struct str id, enum dialect dialect,
                 struct json_writer *w)
{
    const struct rights *rights = room->worker->rights;
    const struct topic *topic = &room->room.topic;

    if (!rights_knows(rights, (struct rights_key){ topic->name, id }))
        return;
    if (!rights_next_grant(rights, (struct rights_key){ S(""), id }, NULL) &&
        !rights_next_grant(rights, (struct rights_key){ topic->name, id }, NULL))
        return;
    json_key(w, S("grants"));
    json_array_open(w);
    show_live(room, (struct rights_key){ S(""), id }, dialect, w);
    show_live(room, (struct rights_key){ topic->name, id }, dialect, w);
    json_array_close(w);
}

void grant_ack_begin(struct announcement *ack, struct live_room *room, struct str status,
                     struct str correlation_id)
{
    announcement_begin(ack, room,
                       &(struct system_head){ .kind = S("capability/grant-ack"),
                                              .correlation_id = correlation_id });
    json_put_str(&ack->w, S("status"), status);
}

void grant_ack_put(struct announcement *ack, const struct grant *grant)
{
    json_put_str(&ack->w, S("grant_id"), grant->id);
    json_put_str(&ack->w, S("granter"), grant->granter);
    json_put_str(&ack->w, S("recipient"), grant->holder.id);
    put_list(&ack->w, S("capabilities"), grant->capabilities);
    write_terms(grant, &ack->w);
}

void grant_ack_send(struct announcement *ack)
{
    room_flush_presence(ack->room); /* nobody is spoken of before he came */
    announcement_end(ack);
}

/* --- what is left after a revocation --- */

struct remains {
    struct capability **revoked;
    size_t revoked_count;
    size_t steps;
    struct str texts[STILL_MAX];
    size_t count;
};

static bool is_noted(const struct remains *remains, struct str text)
{
    for (size_t i = 0; i < remains->count; i++)
        if (str_eq(remains->texts[i], text))
            return true;
    return false;
}

static void note_if_left(struct remains *remains, struct str text, struct arena *arena)
{
    struct capability *held;

    if (remains->count == STILL_MAX || is_noted(remains, text) ||
        capability_new(text, &held, NULL))
        return;
    for (size_t i = 0; i < remains->revoked_count; i++)
        if (capability_overlaps(held, remains->revoked[i], &remains->steps)) {
            remains->texts[remains->count] = arena_str(arena, text);
            remains->count += remains->texts[remains->count].ptr != NULL;
            break;
        }
    capability_free(held);
}

/* Of every credential of the participant. */
static void look_through(struct live_room *room, struct str id, struct remains *remains,
                         struct arena *arena)
{
    struct worker *worker = room->worker;
    struct rights_key who = { room->room.topic.name, id };
    const struct identity *identity;
    struct str_list held;

    MAP_FOREACH(identity, &worker->tokens.by_hash) {
        if (!str_eq(identity->id, id) ||
            rights_in_force(worker->rights, who, identity->capabilities,
                            loop_wall_ms(worker->loop), arena, &held))
            continue;
        for (size_t i = 0; i < held.count; i++)
            note_if_left(remains, held.items[i], arena);
    }
}

void grant_ack_still(struct announcement *ack, struct live_room *room, struct str id,
                     struct str_list revoked)
{
    struct capability *compiled[COMMAND_MAX_CAPABILITIES];
    struct remains remains = { .revoked = compiled, .steps = STILL_STEPS };
    struct arena arena;

    arena_init(&arena, ARENA_BYTES);
    for (size_t i = 0; i < revoked.count && i < COUNT(compiled); i++)
        if (capability_new(revoked.items[i], &compiled[remains.revoked_count], NULL) ==
            OK)
            remains.revoked_count++;
    look_through(room, id, &remains, &arena);
    if (remains.count)
        put_list(&ack->w, S("still"), (struct str_list){ remains.texts, remains.count });
    for (size_t i = 0; i < remains.revoked_count; i++)
        capability_free(compiled[i]);
    arena_done(&arena);
}

/* --- the end of grants --- */

/* The members hear of it first, then the room if it heard of the grant. */
static void end_in_room(struct live_room *room, struct grant *grant, struct str status)
{
    bool is_told = grant->is_told;
    char text[ENVELOPE_MAX_ID];
    struct str id = grant->holder.id;
    struct announcement ack;

    id.ptr = memcpy(text, id.ptr, id.len);
    if (is_told) {
        grant_ack_begin(&ack, room, status, grant->id);
        grant_ack_put(&ack, grant);
    }
    rights_end(room->worker->rights, grant);
    grants_renew(room, id);
    if (is_told)
        grant_ack_send(&ack);
}

void grants_end(struct live_room *room, struct grant *grant, struct str status)
{
    recording_grant(room->worker, status, S(""), grant);
    end_in_room(room, grant, status);
}

/* One that held in all topics. */
static void end_everywhere(struct worker *worker, struct grant *grant)
{
    char text[ENVELOPE_MAX_ID];
    struct str id = grant->holder.id;
    struct live_room *room;

    id.ptr = memcpy(text, id.ptr, id.len);
    rights_end(worker->rights, grant);
    MAP_FOREACH(room, &worker->rooms)
        grants_renew(room, id);
}

/* Wherever it holds. */
static void end_grant(struct worker *worker, struct grant *grant, struct str status)
{
    struct live_room *room = room_find(worker, grant->holder.topic);

    if (room)
        end_in_room(room, grant, status);
    else if (grant->holder.topic.len)
        rights_end(worker->rights, grant);
    else
        end_everywhere(worker, grant);
}

/* What holds in all topics ends on every worker, and is recorded once. */
static bool is_recorded_here(const struct worker *worker, const struct grant *grant)
{
    return grant->holder.topic.len || worker->index == 0;
}

void grants_take_back(struct worker *worker, struct grant *grant, struct str by)
{
    if (is_recorded_here(worker, grant))
        recording_grant(worker, S("revoke"), by, grant);
    end_grant(worker, grant, S("revoked"));
    grants_plan(worker);
}

void grants_expire(struct worker *worker)
{
    struct grant *grant;

    while ((grant = rights_expired(worker->rights, loop_wall_ms(worker->loop)))) {
        log_info("grant.expire", "topic=%s id=%s", LOG_TEXT(grant->holder.topic),
                 LOG_TEXT(grant->holder.id));
        if (is_recorded_here(worker, grant))
            recording_grant(worker, S("expired"), S(""), grant);
        end_grant(worker, grant, S("expired"));
    }
    grants_plan(worker);
}

static void on_expiry(struct loop_timer *timer)
{
    grants_expire(CONTAINER_OF(timer, struct worker, rights_timer));
}

void grants_plan(struct worker *worker)
{
    uint64_t now_ms = loop_wall_ms(worker->loop);
    uint64_t due_ms = rights_next_expiry(worker->rights);
    uint64_t delay_ms = due_ms > now_ms ? due_ms - now_ms : 0;

    worker->rights_due_ms = due_ms;
    if (due_ms == UINT64_MAX)
        loop_timer_clear(worker->loop, &worker->rights_timer);
    else
        loop_timer_set(worker->loop, &worker->rights_timer,
                       delay_ms < TIMER_MAX_MS ? delay_ms : TIMER_MAX_MS);
}

void grants_init(struct worker *worker)
{
    worker->rights_timer.on_fire = on_expiry;
    worker->rights_due_ms = UINT64_MAX;
}
