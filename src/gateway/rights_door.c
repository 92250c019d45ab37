/* SPDX-License-Identifier: Apache-2.0 */
/* What a participant may do in a topic right now, for whoever wants to know why. */
#include "gateway/doors.h"
#include "gateway/room.h"
#include "gateway/state.h"
#include "policy/capability.h"
#include "policy/rulings.h"

/* By the public name of a credential, else by the id that it stands for. */
static const struct identity *find_identity(const struct worker *worker, struct str name)
{
    const struct identity *identity = token_table_find_named(&worker->tokens, name);

    return identity ? identity : token_table_find_id(&worker->tokens, name);
}

static bool is_paused(const struct worker *worker, struct str topic, struct str id)
{
    const struct live_room *room = room_find(worker, topic);
    const struct participant *p = room ? participant_find(&room->room.topic, id) : NULL;
    const struct standings *here = state_standings(worker, topic);

    return standing_is_paused(&worker->standings, id) || (p && p->is_paused) ||
           (here && standing_is_paused(here, id));
}

static bool is_strict(const struct worker *worker, const struct live_room *room,
                      struct str topic)
{
    const struct room_settings *settings = room_settings_of(worker, topic);

    return room ? room_is_strict(&room->room) : settings && settings->rules.is_strict;
}

/* What may be used only so often; too much to work out is nothing. */
static struct str_list limited_of(const struct worker *worker, struct str topic,
                                  struct str id, struct arena *arena)
{
    struct str_list limited = {};

    (void)rights_limited_in_force(worker->rights, (struct rights_key){ topic, id },
                                  loop_wall_ms(worker->loop), arena, &limited);
    return limited;
}

static void write_row(const struct ruling_row *row, size_t number, struct json_writer *w)
{
    json_object_open(w);
    json_put_uint(w, S("row"), number);
    json_put_str(w, S("outcome"), ruling_name(row->ruling));
    json_put_str(w, S("kind"), row->kind);
    if (row->payload.len) {
        json_key(w, S("payload"));
        json_raw(w, row->payload);
    }
    if (row->message.len)
        json_put_str(w, S("message"), row->message);
    json_object_close(w);
}

/* The rows of policy that concern him here, and the switches. */
static void write_regime(const struct worker *worker, struct str topic,
                         const struct identity *identity, struct json_writer *w)
{
    const struct rulings *rulings = worker->settings->rulings;
    size_t count;
    const struct ruling_row *rows = rulings_rows(rulings, &count);

    switches_write(switches_find(worker, topic), w);
    json_key(w, S("policy"));
    json_array_open(w);
    for (size_t i = 0; i < count; i++)
        if (ruling_concerns(rulings, i, topic, identity->id, identity->type))
            write_row(&rows[i], i + 1, w);
    json_array_close(w);
}

static void write_rights(struct exchange *x, const struct identity *identity,
                         struct json_writer *w)
{
    const struct worker *worker = x->worker;
    const struct live_room *room = room_find(worker, x->topic);
    struct str_list capabilities =
        room_capabilities(worker, x->topic, identity, &x->arena);

    json_object_open(w);
    json_put_str(w, S("participantId"), identity->id);
    json_put_str(w, S("token"), identity->token_name);
    json_put_str(w, S("topic"), x->topic);
    json_put_str(w, S("type"), participant_type_name(identity->type));
    capability_list_put_patterns(w, S("capabilities"), capabilities);
    capability_list_put_moot(w, capabilities);
    json_key(w, S("limited"));
    capability_list_write(limited_of(worker, x->topic, identity->id, &x->arena), w);
    json_put_bool(w, S("paused"), is_paused(worker, x->topic, identity->id));
    json_put_bool(w, S("may_enter"), !room_admit(worker, x->topic, identity));
    write_regime(worker, x->topic, identity, w);
    json_put_str(w, S("validation"),
                 is_strict(worker, room, x->topic) ? S("strict") : S("lazy"));
    json_object_close(w);
}

void admin_rights(struct exchange *x)
{
    const struct identity *identity = find_identity(x->worker, x->params[0]);
    struct json_writer w;
    struct buf out;

    if (!identity) {
        exchange_fail(x, ERR_NOT_FOUND, "No token has that name or stands for that id.");
        return;
    }
    buf_init(&out, SIZE_MAX / 2);
    json_write_init(&w, &out);
    write_rights(x, identity, &w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}
