/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/room.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "gateway/gateway.h"
#include "gateway/grants.h"
#include "gateway/moderation.h"
#include "gateway/proposals.h"
#include "gateway/recording.h"
#include "gateway/state.h"
#include "gateway/teams.h"

enum {
    LINGER_MS = 10 * 60 * 1000, /* an empty room is kept this long */
    LINGER_BYTES = 64 << 20,    /* of envelopes in empty rooms, on one worker */
    ABSENT_MS = 60 * 1000,      /* and an absent participant at least this long */
    SWEEP_ROOMS = 512,          /* looked at in a sweep, or a part of all: */
    SWEEP_PART = 32,
    QUOTED_KIND = 256, /* bytes that all hear of what one may not say */
    UNREAD_MAX = 64,   /* slices that may wait where another welcome is due */
};

const struct str presence_names[] = {
    [PRESENCE_EACH] = S("each"),
    [PRESENCE_BATCH] = S("batch"),
    [PRESENCE_OFF] = S("off"),
};

static void on_dirty(struct topic *topic)
{
    struct live_room *room = live_room_of(topic);

    room->active_ms = loop_wall_ms(room->worker->loop);
    list_append(&room->worker->dirty, &room->dirty_link);
}

static void on_presence(struct topic *topic)
{
    struct live_room *room = live_room_of(topic);

    if (!loop_timer_is_set(&room->presence_timer))
        loop_timer_set(room->worker->loop, &room->presence_timer,
                       room->settings->presence_delay_ms);
}

static uint64_t wall_ms(const struct topic *topic)
{
    const struct live_room *room =
        CONTAINER_OF((uintptr_t)topic, struct live_room, room.topic); /* drops const */

    return loop_wall_ms(room->worker->loop);
}

static void on_held(struct topic *topic)
{
    struct live_room *room = live_room_of(topic);

    if (!link_is_set(&room->held_link))
        list_append(&room->worker->recorder.held_rooms, &room->held_link);
}

static void on_turn(struct topic *topic, struct str id);

static uint64_t on_announce(struct topic *topic, const struct presence_note *note)
{
    teams_hear_presence(live_room_of(topic)->worker, topic->name, note->participant->id,
                        note->capabilities != NULL);
    return recording_presence(topic, note);
}

static const struct topic_ops topic_ops = {
    .on_dirty = on_dirty,
    .on_presence = on_presence,
    .wall_ms = wall_ms,
    .on_announce = on_announce,
    .on_held = on_held,
    .on_turn = on_turn,
};

static void on_presence_due(struct loop_timer *timer)
{
    room_flush_presence(CONTAINER_OF(timer, struct live_room, presence_timer));
}

void room_flush_presence(struct live_room *room)
{
    struct topic *topic = &room->room.topic;

    if (!topic_has_pending_presence(topic))
        return;
    if (room->room.must_be_durable && !recorder_is_able(room->worker)) {
        on_presence(topic); /* whoever comes and goes meanwhile was not here */
        return;
    }
    room->worker->metrics.presence_changes += topic_flush_presence(topic);
    room->worker->metrics.presence_flushes++;
}

void room_release(struct live_room *room, uint64_t durable)
{
    if (topic_release(&room->room.topic, durable))
        list_remove(&room->held_link);
}

struct live_room *room_find(const struct worker *worker, struct str topic)
{
    return map_find(&worker->rooms, topic);
}

static struct str profile_of(const struct admission *a)
{
    return a->identity ? a->identity->profile : S("");
}

static const struct room_ops room_ops = {
    .judge_command = moderation_judge,
    .judge_record = recording_judge,
    .on_admitted = recording_admitted,
    .profile_of = profile_of,
};

static struct live_room *room_new(struct worker *worker, struct str topic,
                                  const struct room_settings *settings)
{
    struct live_room *room = xcalloc(1, sizeof(*room) + topic.len);

    memcpy(room->name, topic.ptr, topic.len);
    room->worker = worker;
    room->settings = settings;
    room->presence_timer.on_fire = on_presence_due;
    topic_init(&room->room.topic,
               &(struct topic_setup){ .name = { room->name, topic.len },
                                      .native = &worker->plain.encoding,
                                      .settings = &settings->topic,
                                      .ops = &topic_ops });
    room->room.rules = &settings->rules;
    room->was_told_strict = settings->rules.is_strict;
    ledger_init(&room->room.ledger, &settings->ledger);
    petitions_init(&room->petitions);
    room->room.petitions = &room->petitions;
    room->room.rights = worker->rights;
    room->room.ops = &room_ops;
    recording_set(room);
    proposals_init(room);
    state_enter(room);
    switches_apply(room);
    map_set(&worker->rooms, room->room.topic.name, room);
    room_left(room); /* nobody is here yet */
    return room;
}

void room_free(struct live_room *room)
{
    struct worker *worker = room->worker;

    gateway_room_ended(worker->gateway);
    (void)map_remove(&worker->rooms, room->room.topic.name);
    list_remove(&room->dirty_link);
    recorder_forget_room(room);
    room_stay(room);
    loop_timer_clear(worker->loop, &room->presence_timer);
    state_end(room);
    petitions_done(&room->petitions);
    topic_done(&room->room.topic);
    free(room);
}

void room_stay(struct live_room *room)
{
    list_remove(&room->linger_link);
    room->worker->lingering_bytes -= room->linger_bytes;
    room->linger_bytes = 0;
}

/* Nobody needs it any more; what is open in it outlasts it. */
static void room_forget(struct live_room *room)
{
    state_leave(room);
    teams_hear_end(room);
    room_free(room);
}

/* Last in the line of those that go. */
static void linger(struct live_room *room)
{
    struct worker *worker = room->worker;

    room_stay(room);
    room->empty_since_ms = loop_now_ms(worker->loop);
    room->linger_bytes =
        room->room.topic.ring.bytes + room->room.ledger.bytes + room->petitions.bytes;
    worker->lingering_bytes += room->linger_bytes;
    list_append(&worker->lingering, &room->linger_link);
}

/* Makes place for a new room by forgetting the one that has been empty longest. */
static bool make_place(struct worker *worker)
{
    struct live_room *room;

    room = LIST_FIRST(&worker->lingering, struct live_room, linger_link);
    if (!room)
        return false;
    room_forget(room);
    return true;
}

const struct room_settings *room_settings_of(const struct worker *worker,
                                             struct str topic)
{
    const struct live_room *room = room_find(worker, topic);
    enum team_room is = teams_room(worker, topic);
    const struct room_settings *settings;

    if (is == TEAM_ROOM_CLOSED)
        return NULL;
    if (room)
        return room->settings;
    settings = settings_room(worker->settings, topic);
    return settings || is == TEAM_ROOM_NONE ? settings : &worker->settings->rooms;
}

enum err room_admit(const struct worker *worker, struct str topic,
                    const struct identity *identity)
{
    /* The topics of a credential bind it; but who is in a team is named by its room. */
    if (teams_room(worker, topic) == TEAM_ROOM_OPEN &&
        identity_may_enter(identity, topic))
        return teams_admit(worker, topic, identity);
    return room_settings_admit(room_settings_of(worker, topic), topic, identity);
}

enum err room_open(struct worker *worker, struct str topic, struct live_room **ret)
{
    const struct room_settings *settings;
    struct live_room *room = room_find(worker, topic);

    settings = room_settings_of(worker, topic);
    if (!settings)
        return ERR_NOT_FOUND;
    if (room) {
        if (link_is_set(&room->linger_link))
            linger(room); /* someone was here just now */
        *ret = room;
        return OK;
    }
    if (!gateway_room_started(worker->gateway) &&
        !(make_place(worker) && gateway_room_started(worker->gateway)))
        return ERR_OVERLOAD;
    *ret = room_new(worker, topic, settings);
    return OK;
}

enum err room_may_pass(const struct worker *worker, struct str topic,
                       const struct standings *standings, const struct identity *identity)
{
    uint64_t now_ms = loop_now_ms(worker->loop);
    enum err err = room_admit(worker, topic, identity);

    if (err)
        return err;
    if (standing_is_barred(standings, identity->id, now_ms) ||
        standing_is_barred(&worker->standings, identity->id, now_ms))
        return ERR_FORBIDDEN;
    return OK;
}

enum err room_may_enter(const struct worker *worker, const struct live_room *room,
                        const struct identity *identity)
{
    return room_may_pass(worker, room->room.topic.name, &room->standings, identity);
}

struct str_list room_capabilities(const struct worker *worker, struct str topic,
                                  const struct identity *identity, struct arena *arena)
{
    return holdings_list(worker->rights, topic, identity, loop_wall_ms(worker->loop),
                         arena);
}

struct participant *room_participant(struct live_room *room, struct identity *identity)
{
    struct worker *worker = room->worker;
    struct topic *topic = &room->room.topic;
    struct capset *caps = holdings_find(&worker->holdings, topic->name, identity,
                                        loop_wall_ms(worker->loop));
    struct participant *participant = participant_enter(
        topic, identity->id, identity->type, caps, loop_now_ms(worker->loop));

    if (standing_is_paused(&worker->standings, identity->id))
        participant_pause(participant, true);
    else if (standing_is_paused(&room->standings, identity->id))
        participant_pause(participant,
                          standing_find(&room->standings, identity->id)->is_held);
    return participant;
}

void room_left(struct live_room *room)
{
    if (topic_is_deserted(&room->room.topic))
        linger(room);
}

static bool is_due(const struct live_room *room, uint64_t now_ms)
{
    return room->worker->lingering_bytes > LINGER_BYTES ||
           now_ms - room->empty_since_ms >= LINGER_MS;
}

/* What is kept for those who may come back is bounded in time and as a whole: the rooms
 * that have been empty longest go first. */
static void sweep_lingering(struct worker *worker, size_t max)
{
    uint64_t now_ms = loop_now_ms(worker->loop);
    struct live_room *room;

    LIST_FOREACH(room, &worker->lingering, linger_link) {
        if (max-- == 0 || !is_due(room, now_ms))
            return;
        room_forget(room);
    }
}

/* What the next rooms keep for those who left, and for those who may come. */
static void sweep_next(struct worker *worker, size_t max)
{
    uint64_t now_ms = loop_now_ms(worker->loop);

    while (max--) {
        struct live_room *room = map_next(&worker->rooms, &worker->sweep_at);

        if (!room) {
            worker->sweep_at = 0;
            return;
        }
        topic_sweep_roster(&room->room.topic);
        standings_sweep(&room->standings, now_ms);
        teams_hear_sweep(room);
        if (now_ms > ABSENT_MS)
            topic_forget_absent(&room->room.topic, now_ms - ABSENT_MS);
    }
}

void rooms_sweep(struct worker *worker)
{
    size_t max = SWEEP_ROOMS + worker->rooms.count / SWEEP_PART;

    sweep_lingering(worker, max);
    sweep_next(worker, max);
}

size_t rooms_wake_some(struct worker *worker, size_t max)
{
    struct live_room *room;
    size_t left = max;

    while (left && (room = LIST_FIRST(&worker->dirty, struct live_room, dirty_link))) {
        bool is_done = topic_wake(&room->room.topic, &left);

        list_remove(&room->dirty_link);
        if (!is_done)
            list_append(&worker->dirty, &room->dirty_link);
    }
    return max - left;
}

/* --- the welcome --- */

static const struct proposals_showing in_welcome = {
    .envelope_bytes = 64 << 10,
    .all_bytes = 256 << 10,
};

static struct str validation_name(const struct live_room *room)
{
    return room_is_strict(&room->room) ? S("strict") : S("lazy");
}

void room_welcome(struct live_room *room, struct member *member)
{
    struct topic *topic = &room->room.topic;
    const struct participant *me = member->participant;
    enum dialect dialect = member->lane->dialect;
    char id[SYSTEM_ID];
    struct json_writer w;
    size_t others_at;
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    system_begin(&w, &out,
                 &(struct system_head){ .dialect = dialect,
                                        .kind = S("system/welcome"),
                                        .id = topic_system_id(topic, id),
                                        .wall_ms = loop_wall_ms(room->worker->loop),
                                        .to = me->id });
    json_key(&w, S("you"));
    system_participant(&w, me->id, capset_shown(member->capabilities, dialect),
                       participant_type_name(me->type));
    json_key(&w, S("participants"));
    json_array_open(&w);
    others_at = out.len;
    json_array_close(&w);
    json_key(&w, S("moot"));
    json_object_open(&w);
    json_raw(&w, room->worker->settings->about);
    json_put_str(&w, S("topic"), topic->name);
    json_put_str(&w, S("routing"),
                 member->routing == ROUTE_ALL ? S("all") : S("directed"));
    json_put_str(&w, S("presence"), presence_names[member->lane->presence]);
    json_put_str(&w, S("dialect"), dialect_name(dialect));
    json_put_str(&w, S("validation"), validation_name(room));
    switches_write(&room->switches, &w);
    json_put_bool(&w, S("announced"), me->announced == ANNOUNCED_PRESENT);
    proposals_show(room, dialect, &in_welcome, &w);
    grants_show(room, me->id, dialect, &w);
    json_object_close(&w);
    system_end(&w);
    member_send_roster(member, buf_str(&out), others_at);
    buf_done(&out);
}

void room_pause(struct live_room *room, struct str id, bool is_by_admin)
{
    struct participant *participant = participant_find(&room->room.topic, id);

    standing_pause(&room->standings, id, is_by_admin);
    if (participant)
        participant_pause(participant, is_by_admin);
}

void room_resume(struct live_room *room, struct str id)
{
    struct participant *participant = participant_find(&room->room.topic, id);

    standing_resume(&room->standings, id);
    if (participant)
        participant_resume(participant);
}

/* Welcomes do not count towards the marks, so who does not read gets no end of them. */
static bool is_behind(const struct member *member)
{
    return member->is_blocked && member_waiting(member) > UNREAD_MAX;
}

static void welcome_again(struct live_room *room, const struct participant *participant)
{
    struct member *member;

    LIST_FOREACH(member, &participant->members, peer_link) {
        if (!is_behind(member)) {
            room_welcome(room, member);
        } else if (!member->is_ending) {
            member->is_ending = true;
            member->ops->on_end(member, END_SLOW);
        }
    }
}

/* What was decided is durable, and stands in the log: whoever was kicked has seen by whom
 * and goes; others hear what they may now. */
static void on_turn(struct topic *topic, struct str id)
{
    struct participant *participant = participant_find(topic, id);
    struct live_room *room = live_room_of(topic);

    if (participant->is_kicked)
        participant_end(participant, END_KICKED);
    else
        welcome_again(room, participant);
    participant->is_kicked = false;
}

/* Its turn comes when what has changed is durable. */
static void await_turn(struct live_room *room, const struct participant *participant)
{
    struct topic *topic = &room->room.topic;

    if (!topic_hold_turn(topic, participant->id, recorder_changes(room->worker)))
        on_turn(topic, participant->id);
}

void room_welcome_again(struct live_room *room, struct participant *participant)
{
    await_turn(room, participant);
}

void room_expel(struct live_room *room, struct str id)
{
    struct participant *participant = participant_find(&room->room.topic, id);

    if (!participant)
        return;
    participant->is_kicked = true;
    await_turn(room, participant);
}

void room_kick(struct live_room *room, struct str id)
{
    const struct worker *worker = room->worker;

    standing_bar(&room->standings, id,
                 loop_now_ms(worker->loop) +
                     worker->settings->config->limits.kick_bar_ms);
    room_expel(room, id);
}

/* --- what the gateway says to all --- */

void announcement_begin(struct announcement *say, struct live_room *room,
                        const struct system_head *head)
{
    struct system_head full = *head;

    say->room = room;
    say->kind = head->kind;
    say->correlation = utf8_cut(head->correlation_id, ENVELOPE_MAX_ID);
    if (say->correlation.len)
        memcpy(say->correlation_text, say->correlation.ptr, say->correlation.len);
    say->correlation.ptr = say->correlation_text;
    say->id = topic_system_id(&room->room.topic, say->id_text);
    full.id = say->id;
    full.wall_ms = loop_wall_ms(room->worker->loop);
    buf_init(&say->out, 1 << 20);
    system_begin(&say->w, &say->out, &full);
}

/* What it tells of is durable before it is heard. */
static uint64_t ticket_of(struct live_room *room, const struct gateway_words *words)
{
    uint64_t said = recording_said(room, words);
    uint64_t changed = recorder_changes(room->worker);

    return said > changed ? said : changed;
}

void announcement_end(struct announcement *say)
{
    struct topic *topic = &say->room->room.topic;
    struct gateway_words words = { .kind = say->kind,
                                   .id = say->id,
                                   .correlation = say->correlation };

    system_end(&say->w);
    words.text = buf_str(&say->out);
    topic_append(topic,
                 &(struct topic_entry){ .text = words.text,
                                        .id_hash = ring_hash(&topic->ring, say->id),
                                        .was_checked = true,
                                        .ticket = ticket_of(say->room, &words) });
    buf_done(&say->out);
}

void notice_begin(struct announcement *say, struct live_room *room, struct str name,
                  struct str message)
{
    announcement_begin(say, room, &(struct system_head){ .kind = S("system/notice") });
    json_put_str(&say->w, S("notice"), name);
    json_put_str(&say->w, S("message"), message);
}

void room_tell_validation(struct live_room *room)
{
    bool is_strict = room_is_strict(&room->room);
    struct announcement say;

    if (room->was_told_strict == is_strict)
        return;
    room->was_told_strict = is_strict;
    notice_begin(&say, room, S("validation"),
                 is_strict ? S("From now on payloads must say what their kinds say.")
                           : S("Payloads are no longer compared with their kinds."));
    json_put_str(&say.w, S("validation"), validation_name(room));
    announcement_end(&say);
}

static void announce_violation(struct live_room *room, const struct admission *a,
                               enum err err)
{
    struct announcement say;

    announcement_begin(&say, room,
                       &(struct system_head){ .kind = S("system/violation") });
    json_put_str(&say.w, S("participant"), a->sender->id);
    json_put_str(&say.w, S("error"), str_of(err_name(err)));
    json_put_str(&say.w, S("attempted_kind"),
                 str_slice(admission_kind(a), 0, QUOTED_KIND));
    announcement_end(&say);
}

static void announce_loop(struct live_room *room, const struct refusal *refusal)
{
    struct announcement say;

    notice_begin(&say, room, S("loop_guard"),
                 S("Agents have talked among themselves for too long. Their requests are "
                   "refused until a human speaks or an administrator resets the guard."));
    json_put_uint(&say.w, S("count"), refusal->count);
    json_put_uint(&say.w, S("limit"), refusal->limit);
    announcement_end(&say);
}

static void hear_violation(struct live_room *room, const struct admission *a,
                           enum err err)
{
    struct conduct *conduct = participant_conduct(a->sender);

    if (!link_is_set(&conduct->offender_link))
        list_append(&room->worker->offenders, &conduct->offender_link);
    if (room->settings->topic.announces_violations)
        announce_violation(room, a, err);
}

void room_hear_refusal(struct live_room *room, const struct admission *a,
                       const struct refusal *refusal)
{
    if (refusal_is_violation(refusal))
        hear_violation(room, a, refusal->err);
    if (refusal->is_trip) {
        room->worker->metrics.loop_guard_trips++;
        announce_loop(room, refusal);
    }
}
