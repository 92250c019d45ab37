/* SPDX-License-Identifier: Apache-2.0 */
/* Teams where they live: what is kept of them, what their members are granted, and who
 * comes into their rooms. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/grants.h"
#include "gateway/kept.h"
#include "gateway/recording.h"
#include "gateway/teams_priv.h"
#include "policy/holding.h"

enum { NEWS_BYTES = 8192, CLOSING_BYTES = 4 << 20 };

/* How long a team can be asked for after its end. */
#define OVER_MS (30ULL * 24 * 3600 * 1000)

void teams_init(struct worker *worker)
{
    map_init(&worker->teams);
    team_census_init(&worker->census);
}

static void team_free(struct team *team)
{
    arena_done(&team->arena);
    free(team);
}

void teams_done(struct worker *worker)
{
    struct team *team;

    MAP_FOREACH(team, &worker->teams)
        team_free(team);
    map_done(&worker->teams);
    team_census_done(&worker->census);
}

struct team *team_of(const struct worker *worker, struct str id)
{
    return map_find(&worker->teams, id);
}

/* --- keeping --- */

static struct store_item item_of(const struct team_record *team,
                                 char topic[static TEAM_TOPIC + 1])
{
    return (struct store_item){ .section = STORE_TEAM,
                                .topic = team_topic(team->id, topic),
                                .key = team->id };
}

static void keep(struct worker *worker, const struct team_record *team)
{
    char topic[TEAM_TOPIC + 1];
    struct store_item item = item_of(team, topic);
    struct buf value;

    buf_init(&value, TEAM_TEXT);
    team_write(team, &value);
    item.value = buf_str(&value);
    (void)recorder_put(worker, &item);
    buf_done(&value);
}

/* In place of the one that has the same id. False: it is too large. */
static bool put_in_place(struct worker *worker, const struct team_record *record)
{
    struct team *team = xcalloc(1, sizeof(*team));
    struct team *old;

    arena_init(&team->arena, TEAM_ARENA);
    if (team_copy(record, TEAM_AS_IT_IS, &team->arena, &team->record)) {
        team_free(team);
        return false;
    }
    old = map_remove(&worker->teams, record->id);
    map_set(&worker->teams, team->record.id, team);
    worker->teams_over += record->dissolved_ms ? 1 : 0;
    if (old) {
        worker->teams_over -= old->record.dissolved_ms ? 1 : 0;
        team_free(old);
    }
    return true;
}

void team_set(struct worker *worker, const struct team_record *record)
{
    if (put_in_place(worker, record))
        keep(worker, record);
}

void team_forget(struct worker *worker, struct team *team)
{
    char topic[TEAM_TOPIC + 1];
    struct store_item item = item_of(&team->record, topic);

    (void)recorder_remove(worker, &item);
    worker->teams_over -= team->record.dissolved_ms ? 1 : 0;
    (void)map_remove(&worker->teams, team->record.id);
    team_free(team);
}

enum err teams_restore(struct worker *worker, const struct kept_text *text)
{
    struct team_record record;
    struct arena arena;
    enum err err;

    arena_init(&arena, TEAM_ARENA);
    err = team_read(text->key, text->value, &arena, &record);
    if (!err && record.dissolved_ms && record.dissolved_ms + OVER_MS < clock_wall_ms())
        err = ERR_NOT_FOUND;
    if (!err && !put_in_place(worker, &record))
        err = ERR_INVALID;
    if (!err && !record.dissolved_ms) /* nobody else runs yet */
        team_census_add(&gateway_worker(worker->gateway, 0)->census, record.creator);
    arena_done(&arena);
    return err;
}

/* --- grants --- */

/* Of a list, what the bearer covers; and what of his own the list covers. */
static size_t keep_covered(const struct rights *rights,
                           const struct rights_bearer *bearer, struct str_list wanted,
                           struct str *ret, size_t count)
{
    for (size_t i = 0; i < wanted.count && count < TEAM_CAPABILITIES; i++) {
        bool is_there = false;

        for (size_t k = 0; k < count; k++)
            is_there |= str_eq(ret[k], wanted.items[i]);
        if (!is_there &&
            !rights_not_held(rights, bearer, (struct str_list){ &wanted.items[i], 1 },
                             bearer->lasts_ms)
                 .len)
            ret[count++] = wanted.items[i];
    }
    return count;
}

static size_t put_new(struct str *items, size_t count, struct str_list more)
{
    for (size_t i = 0; i < more.count && count < TEAM_CAPABILITIES; i++) {
        bool is_there = false;

        for (size_t k = 0; k < count; k++)
            is_there |= str_eq(items[k], more.items[i]);
        if (!is_there)
            items[count++] = more.items[i];
    }
    return count;
}

struct str_list team_handed_on(const struct worker *worker, struct str topic,
                               const struct identity *identity, struct str_list wanted,
                               struct arena *arena)
{
    struct str *items = arena_alloc(arena, TEAM_CAPABILITIES * sizeof(*items));
    uint64_t now_ms = loop_wall_ms(worker->loop);
    struct rights_bearer bearer = { .who = { topic, identity->id },
                                    .own = identity->capabilities,
                                    .now_ms = now_ms,
                                    .lasts_ms = identity_lasts_ms(identity) };
    struct rights_bearer list = { .own = wanted, .now_ms = now_ms };
    struct str_list held = room_capabilities(worker, topic, identity, arena);
    struct str_list covered;
    size_t count;

    if (!items)
        return (struct str_list){};
    count = keep_covered(worker->rights, &bearer, wanted, items, 0);
    covered.items = items;
    covered.count = count;
    /* What is held in part: as narrow as he holds it. */
    for (size_t i = 0; i < held.count && count < TEAM_CAPABILITIES; i++) {
        struct str_list one = { &held.items[i], 1 };
        struct rights_bearer given = { .own = covered, .now_ms = now_ms };

        if (!rights_not_held(worker->rights, &list, one, 0).len &&
            !rights_not_held(worker->rights, &bearer, one, bearer.lasts_ms).len &&
            rights_not_held(worker->rights, &given, one, 0).len)
            items[count++] = arena_str(arena, held.items[i]);
    }
    return (struct str_list){ items, count };
}

struct str_list team_creator_holds(const struct worker *worker,
                                   const struct team_record *team, struct str_list wanted,
                                   struct arena *arena)
{
    const struct identity *local = gateway_local_identity(worker->gateway);
    struct str *items = arena_alloc(arena, TEAM_CAPABILITIES * sizeof(*items));
    char name[TEAM_TOPIC + 1];
    struct str topic = team_topic(team->id, name);
    uint64_t now_ms = loop_wall_ms(worker->loop);
    const struct identity *identity;
    size_t count = 0;

    if (!items)
        return (struct str_list){};
    if (str_eq(local->id, team->creator))
        count =
            put_new(items, count, team_handed_on(worker, topic, local, wanted, arena));
    MAP_FOREACH(identity, &worker->tokens.by_hash)
        if (str_eq(identity->id, team->creator) &&
            (!identity->expires_ms || now_ms < identity->expires_ms))
            count = put_new(items, count,
                            team_handed_on(worker, topic, identity, wanted, arena));
    return (struct str_list){ items, count };
}

static struct grant_terms terms_of(const struct worker *worker,
                                   const struct team_record *team,
                                   const struct team_member *member)
{
    return (struct grant_terms){ .id = team->id,
                                 .granter = team->creator,
                                 .reason = S("a member of the team"),
                                 .capabilities = member->capabilities,
                                 .created_ms = loop_wall_ms(worker->loop),
                                 .expires_ms = member->until_ms,
                                 .origin = RIGHTS_IN_ROOM };
}

/* Nobody grants anything to himself. */
static bool is_granted(const struct team_record *team, const struct team_member *member)
{
    return member->participant.len && member->capabilities.count &&
           !str_eq(member->participant, team->creator);
}

bool team_may_give(const struct worker *worker, const struct team_record *team,
                   const struct team_member *member)
{
    struct grant_terms terms = terms_of(worker, team, member);
    char topic[TEAM_TOPIC + 1];
    struct rights_key key = { team_topic(team->id, topic), member->participant };
    enum err err =
        is_granted(team, member) ? rights_may_grant(worker->rights, key, &terms) : OK;

    return !err || err == ERR_CONFLICT; /* he has it, by another resource */
}

void team_give(struct worker *worker, const struct team_record *team,
               const struct team_member *member)
{
    struct grant_terms terms = terms_of(worker, team, member);
    char topic[TEAM_TOPIC + 1];
    struct rights_key key = { team_topic(team->id, topic), member->participant };
    struct live_room *room = room_find(worker, key.topic);

    if (!is_granted(team, member) || rights_grant(worker->rights, key, &terms))
        return;
    recording_grant(worker, S("grant"), team->creator,
                    rights_find(worker->rights, key, terms.id));
    grants_plan(worker);
    if (room)
        grants_renew(room, key.id);
}

void team_take(struct worker *worker, const struct team_record *team, struct str by,
               const struct team_member *member)
{
    char topic[TEAM_TOPIC + 1];
    struct rights_key key = { team_topic(team->id, topic), member->participant };
    struct live_room *room = room_find(worker, key.topic);
    struct grant *grant;

    while (key.id.len && (grant = rights_next_grant(worker->rights, key, NULL))) {
        recording_grant(worker, S("revoke"), by, grant);
        rights_end(worker->rights, grant);
    }
    grants_plan(worker);
    if (room && key.id.len)
        grants_renew(room, key.id);
}

void teams_note_grants(struct worker *worker)
{
    char topic[TEAM_TOPIC + 1];
    struct team *team;

    MAP_FOREACH(team, &worker->teams)
        for (size_t i = 0; i < team->record.member_count; i++) {
            struct team_member *member = &team->record.members[i];
            struct rights_key key = { team_topic(team->record.id, topic),
                                      member->participant };

            member->was_granted =
                rights_find(worker->rights, key, team->record.id) != NULL;
        }
}

void teams_renew_grants(struct worker *worker)
{
    struct team *team;

    MAP_FOREACH(team, &worker->teams)
        for (size_t i = 0; i < team->record.member_count; i++)
            if (team->record.members[i].was_granted)
                team_give(worker, &team->record, &team->record.members[i]);
}

/* --- the room --- */

enum team_room teams_room(const struct worker *worker, struct str topic)
{
    struct str id = team_of_topic(topic);
    const struct team *team = id.len ? team_of(worker, id) : NULL;

    if (!id.len)
        return TEAM_ROOM_NONE;
    return team && !team->record.dissolved_ms ? TEAM_ROOM_OPEN : TEAM_ROOM_CLOSED;
}

enum err teams_admit(const struct worker *worker, struct str topic,
                     const struct identity *identity)
{
    enum team_room is = teams_room(worker, topic);
    const struct team_member *member;
    const struct team *team;

    if (is == TEAM_ROOM_NONE)
        return OK;
    if (is == TEAM_ROOM_CLOSED)
        return ERR_NOT_FOUND;
    team = team_of(worker, team_of_topic(topic));
    member = team_find_participant(&team->record, identity->id);
    if (identity->is_admin || identity->source == FROM_SERVER ||
        str_eq(team->record.creator, identity->id) ||
        (member && member->state == TEAM_MEMBER) || identity_names_topic(identity, topic))
        return OK;
    return ERR_NOT_FOUND;
}

void team_expel(struct worker *worker, const struct team_record *team,
                struct str participant)
{
    char topic[TEAM_TOPIC + 1];
    struct live_room *room = room_find(worker, team_topic(team->id, topic));

    /* He is not barred: he may be taken in again. */
    if (room)
        room_expel(room, participant);
}

static void tell_end(struct live_room *room, const struct team_record *team,
                     struct str by)
{
    struct announcement say;

    notice_begin(&say, room, S("team_dissolved"),
                 S("The team has been dissolved: its room closes."));
    json_put_str(&say.w, S("team_id"), team->id);
    json_put_str(&say.w, S("by"), by);
    announcement_end(&say);
}

void team_close_room(struct worker *worker, const struct team_record *team, struct str by)
{
    char topic[TEAM_TOPIC + 1];
    struct live_room *room = room_find(worker, team_topic(team->id, topic));
    struct team_member *all;
    struct participant *participant;
    struct arena arena;
    size_t count = 0;

    if (room)
        tell_end(room, team, by); /* before the turn of anybody who goes */
    for (size_t i = 0; i < team->member_count; i++)
        team_take(worker, team, by, &team->members[i]);
    if (!room)
        return;
    arena_init(&arena, SIZE_MAX / 2);
    all = arena_alloc(&arena, (room->room.topic.participants.count + 1) * sizeof(*all));
    MAP_FOREACH(participant, &room->room.topic.participants)
        all[count++].participant = arena_str(&arena, participant->id);
    for (size_t i = 0; i < count; i++) {
        team_take(worker, team, by, &all[i]);
        room_expel(room, all[i].participant);
    }
    arena_done(&arena);
}

/* --- presence --- */

static void write_presence(const struct team_record *team, struct str id,
                           enum team_view view, bool is_present, struct buf *out)
{
    const struct team_member *member = team_find_participant(team, id);
    bool is_creator = str_eq(team->creator, id);
    struct json_writer w;

    buf_init(out, NEWS_BYTES);
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("team_id"), team->id);
    if (member) {
        json_put_str(&w, S("resource_id"), member->resource);
        json_put_str(&w, S("name"), member->name);
    }
    if (is_creator || view == TEAM_DETAILS)
        json_put_str(&w, S("participant"), id);
    if (is_creator)
        json_put_bool(&w, S("is_creator"), true);
    json_put_str(&w, S("status"), is_present ? S("joined") : S("left"));
    json_put_bool(&w, S("present"), is_present);
    json_object_close(&w);
}

static void tell_presence(struct worker *worker, const struct team_record *team,
                          struct str id, bool is_present)
{
    char topic[TEAM_TOPIC + 1];
    struct buf data, details;
    struct arena arena;

    arena_init(&arena, CLOSING_BYTES);
    write_presence(team, id, TEAM_PUBLIC, is_present, &data);
    write_presence(team, id, TEAM_DETAILS, is_present, &details);
    directory_tell(
        worker, &(struct directory_news){
                    .event_type = S("MEMBER_STATUS_CHANGED"),
                    .data = buf_str(&data),
                    .details = buf_str(&details),
                    .team = team->id,
                    .topic = team_topic(team->id, topic),
                    .audience = team_audience(team, (struct str_list){ &id, 1 }, &arena),
                });
    buf_done(&data);
    buf_done(&details);
    arena_done(&arena);
}

void teams_hear_presence(struct worker *worker, struct str topic, struct str id,
                         bool is_present)
{
    struct str team_id = team_of_topic(topic);
    const struct team *team = team_id.len ? team_of(worker, team_id) : NULL;

    if (team && team_concerns(&team->record, id))
        tell_presence(worker, &team->record, id, is_present);
}

static void keep_activity(const struct live_room *room, uint64_t since_ms)
{
    struct str id = team_of_topic(room->room.topic.name);
    struct team *team = id.len ? team_of(room->worker, id) : NULL;

    if (!team || team->record.active_ms + since_ms > room->active_ms)
        return;
    team->record.active_ms = room->active_ms;
    keep(room->worker, &team->record);
}

void teams_hear_sweep(const struct live_room *room)
{
    keep_activity(room, TEAM_ACTIVITY_MS);
}

void teams_hear_end(const struct live_room *room)
{
    keep_activity(room, 1);
}

void teams_hear_stop(struct worker *worker)
{
    const struct live_room *room;

    MAP_FOREACH(room, &worker->rooms)
        teams_hear_end(room);
}
