/* SPDX-License-Identifier: Apache-2.0 */
/* What is recorded of rooms. */
#include "gateway/recording.h"

#include <stdio.h>

#include "admit/command.h"
#include "base/utf8.h"
#include "gateway/grants.h"
#include "json/json.h"

enum {
    HELD_BYTES = 16 << 20,    /* that may wait for the disk in one room */
    REFUSED_BYTES = 16 << 10, /* of what was refused, */
    REFUSED_FIELD = 256,      /* and of its fields */
    BODY_BYTES = 1 << 20,
    KIND_BYTES = 64,
};

static struct live_room *room_of(const struct admission *a)
{
    return CONTAINER_OF(a->room, struct live_room, room);
}

/* What nobody waits for. */
static void note(struct live_room *room, struct audit_record *record)
{
    if (room->settings->audit == AUDIT_OFF)
        return;
    record->topic = room->room.topic.name;
    (void)recorder_note(room->worker, AUDIT_ASYNC, record);
}

void recording_set(struct live_room *room)
{
    room->room.is_recorded = room->settings->audit != AUDIT_OFF;
    room->room.must_be_durable = room->settings->audit == AUDIT_REQUIRED;
}

/* --- envelopes --- */

static bool must_be_durable(const struct admission *a)
{
    return a->room->must_be_durable || a->changes_state;
}

enum err recording_judge(struct admission *a, struct refusal *r)
{
    if (topic_held_bytes(&a->room->topic) < HELD_BYTES &&
        (!must_be_durable(a) || recorder_is_able(room_of(a)->worker)))
        return OK;
    return refusal_set(r, ERR_UNAVAILABLE, S(""), "the record cannot be written");
}

static uint64_t note_admitted(struct live_room *room, struct admission *a,
                              struct str text)
{
    /* Before the record is made up: where the disk is far behind, most are dropped. */
    if (!recorder_takes(room))
        return 0;
    return recorder_keep(room->worker, room->settings->audit,
                         &(struct audit_record){ .event = AUDIT_ENVELOPE,
                                                 .topic = a->room->topic.name,
                                                 .participant = a->sender->id,
                                                 .kind = a->env.kind.text,
                                                 .id = a->env.id,
                                                 .correlation = a->env.correlation_id,
                                                 .verdict = S("allowed"),
                                                 .by = admission_by(a),
                                                 .body = text });
}

uint64_t recording_admitted(struct admission *a, struct str text)
{
    struct live_room *room = room_of(a);
    uint64_t ticket = note_admitted(room, a, text);

    /* What it changes is put into the same batch, at the latest when it is carried out,
     * before the loop goes on. */
    return a->changes_state ? recorder_ticket(room->worker) : ticket;
}

/* What was refused may be anything: bytes that are not even UTF-8 are nothing to be kept
 * as a text. */
static struct str refused_part(struct str text, size_t max)
{
    struct str part = utf8_cut(text, max);

    return utf8_is_valid(part) ? part : (struct str){};
}

/* Whoever may send no more fills no disk with it. */
static struct str refused_text(const struct admission *a, const struct refusal *refusal)
{
    if (refusal->err == ERR_RATE_LIMITED)
        return (struct str){};
    return refused_part(a->text, REFUSED_BYTES);
}

void recording_refused(struct live_room *room, const struct admission *a,
                       const struct refusal *refusal)
{
    struct audit_record record = { .event = AUDIT_REFUSAL,
                                   .participant = a->sender->id,
                                   .kind = refused_part(admission_kind(a), REFUSED_FIELD),
                                   .id = refused_part(a->env.id, REFUSED_FIELD),
                                   .correlation =
                                       refused_part(a->env.correlation_id, REFUSED_FIELD),
                                   .verdict = str_of(err_name(refusal->err)),
                                   .body = refused_text(a, refusal) };

    if (refusal->err != ERR_RATE_LIMITED) {
        note(room, &record);
        return;
    }
    if (room->settings->audit == AUDIT_OFF)
        return;
    record.topic = room->room.topic.name;
    recorder_note_stray(room->worker, &record);
}

uint64_t recording_said(struct live_room *room, const struct gateway_words *words)
{
    return recorder_note(room->worker, room->settings->audit,
                         &(struct audit_record){ .event = AUDIT_ENVELOPE,
                                                 .topic = room->room.topic.name,
                                                 .kind = words->kind,
                                                 .id = words->id,
                                                 .correlation = words->correlation,
                                                 .verdict = S("allowed"),
                                                 .body = words->text });
}

/* --- who is here --- */

uint64_t recording_presence(struct topic *topic, const struct presence_note *note)
{
    struct live_room *room = live_room_of(topic);
    char id[SYSTEM_ID];

    if (room->settings->audit == AUDIT_OFF)
        return 0;
    return recorder_note(
        room->worker, room->settings->audit,
        &(struct audit_record){ .event = AUDIT_PRESENCE,
                                .topic = topic->name,
                                .participant = note->participant->id,
                                .kind = note->capabilities ? S("join") : S("leave"),
                                .id = topic_presence_id(topic, note, id) });
}

static const struct {
    const char *prefix; /* of ids */
    struct str kind;
} connection_types[] = {
    [CONNECTION_WEBSOCKET] = { "ws", S("websocket") },
    [CONNECTION_SERVER] = { "server", S("server") },
    [CONNECTION_MCP] = { "mcp", S("mcp") },
    [CONNECTION_AGENT] = { "agent", S("agent") },
};

struct str connection_id(const struct worker *worker, enum connection_type type,
                         uint64_t number, char out[static CONNECTION_ID])
{
    int len = snprintf(out, CONNECTION_ID, "%s-%zu-%llu", connection_types[type].prefix,
                       worker->index, (unsigned long long)number);

    return (struct str){ out, (size_t)len };
}

/* Of a room, or of none. */
static void note_at(struct worker *worker, struct live_room *room,
                    struct audit_record *record)
{
    if (room)
        note(room, record);
    else
        (void)recorder_note(worker, AUDIT_ASYNC, record);
}

static void note_start(struct worker *worker, struct live_room *room,
                       const struct connection_start *start)
{
    char id[CONNECTION_ID];
    struct json_writer w;
    struct buf body;

    buf_init(&body, BODY_BYTES);
    json_write_init(&w, &body);
    json_object_open(&w);
    json_put_str(&w, S("address"), str_of(start->address));
    json_put_str(&w, S("token"), start->identity->token_name);
    if (room)
        json_put_str(&w, S("dialect"), dialect_name(start->dialect));
    json_put_str(&w, S("type"), participant_type_name(start->identity->type));
    json_object_close(&w);
    note_at(worker, room,
            &(struct audit_record){
                .event = AUDIT_CONNECT,
                .participant = start->identity->id,
                .kind = connection_types[start->type].kind,
                .id = connection_id(worker, start->type, start->number, id),
                .verdict = S("allowed"),
                .body = buf_str(&body) });
    buf_done(&body);
}

static void note_end(struct worker *worker, struct live_room *room,
                     const struct connection_end *end)
{
    char id[CONNECTION_ID];
    struct json_writer w;
    struct buf body;

    buf_init(&body, BODY_BYTES);
    json_write_init(&w, &body);
    json_object_open(&w);
    if (end->code)
        json_put_uint(&w, S("code"), end->code);
    json_put_str(&w, S("reason"), end->reason);
    json_object_close(&w);
    note_at(
        worker, room,
        &(struct audit_record){ .event = AUDIT_DISCONNECT,
                                .participant = end->id,
                                .kind = end->why,
                                .id = connection_id(worker, end->type, end->number, id),
                                .body = buf_str(&body) });
    buf_done(&body);
}

void recording_connected(struct live_room *room, const struct connection_start *start)
{
    if (room->settings->audit != AUDIT_OFF)
        note_start(room->worker, room, start);
}

void recording_disconnected(struct live_room *room, const struct connection_end *end)
{
    if (room->settings->audit != AUDIT_OFF)
        note_end(room->worker, room, end);
}

/* --- agents, and their teams --- */

void recording_agent_connected(struct worker *worker,
                               const struct connection_start *start)
{
    if (worker->recorder.is_wanted)
        note_start(worker, NULL, start);
}

void recording_agent_disconnected(struct worker *worker, const struct connection_end *end)
{
    if (worker->recorder.is_wanted)
        note_end(worker, NULL, end);
}

void recording_agent_refused(struct worker *worker, const struct agent_refusal *refusal)
{
    if (worker->recorder.is_wanted)
        recorder_note_stray(
            worker, &(struct audit_record){ .event = AUDIT_REFUSAL,
                                            .participant = refusal->participant,
                                            .kind = refusal->performative,
                                            .id = refusal->message_id,
                                            .verdict = str_of(err_name(refusal->err)) });
}

/* --- rights --- */

/* Grants for all topics belong to none, and are recorded. */
static enum audit_mode mode_for(const struct worker *worker, struct str topic)
{
    const struct room_settings *settings =
        topic.len ? room_settings_of(worker, topic) : NULL;

    return settings && settings->audit == AUDIT_OFF ? AUDIT_OFF : AUDIT_ASYNC;
}

void recording_team(struct worker *worker, const struct team_change *change)
{
    enum audit_mode mode = mode_for(worker, change->topic);
    struct buf kind;

    if (mode == AUDIT_OFF)
        return;
    buf_init(&kind, KIND_BYTES);
    buf_put(&kind, S("team."));
    buf_put(&kind, change->change);
    (void)recorder_note(worker, mode,
                        &(struct audit_record){ .event = AUDIT_ADMIN,
                                                .topic = change->topic,
                                                .participant = change->by,
                                                .kind = buf_str(&kind),
                                                .verdict = S("allowed"),
                                                .body = change->status });
    buf_done(&kind);
}

void recording_grant(struct worker *worker, struct str kind, struct str by,
                     const struct grant *grant)
{
    enum audit_mode mode = mode_for(worker, grant->holder.topic);
    struct json_writer w;
    struct buf body;

    if (mode == AUDIT_OFF)
        return;
    buf_init(&body, BODY_BYTES);
    json_write_init(&w, &body);
    json_object_open(&w);
    json_put_str(&w, S("recipient"), grant->holder.id);
    json_key(&w, S("grant"));
    grant_write(grant, &w);
    json_object_close(&w);
    (void)recorder_note(worker, mode,
                        &(struct audit_record){ .event = AUDIT_GRANT,
                                                .topic = grant->holder.topic,
                                                .participant = by,
                                                .kind = kind,
                                                .id = grant->id,
                                                .body = buf_str(&body) });
    buf_done(&body);
}

void recording_strike(struct live_room *room, const struct admission *a)
{
    struct json_writer w;
    struct buf body;

    if (room->settings->audit == AUDIT_OFF)
        return;
    buf_init(&body, BODY_BYTES);
    json_write_init(&w, &body);
    json_object_open(&w);
    json_put_str(&w, S("recipient"), a->command->target);
    json_key(&w, S("capabilities"));
    capability_list_write(a->command->capabilities, &w);
    json_object_close(&w);
    note(room, &(struct audit_record){ .event = AUDIT_GRANT,
                                       .participant = a->sender->id,
                                       .kind = S("revoke"),
                                       .id = a->command->id,
                                       .body = buf_str(&body) });
    buf_done(&body);
}
