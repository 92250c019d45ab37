/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way of a text that is heard:
 *
 *     check ─► repeat? ─► on_heard ─► the gateway's news, or
 *       │         │                     requests, answers, proposals, decisions
 *       ▼         ▼
 *     offence   nothing
 */
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "envelope/system.h"
#include "participant/calls.h"
#include "participant/check.h"
#include "participant/news.h"
#include "participant/occupant_priv.h"
#include "participant/pick.h"
#include "participant/proposals_priv.h"
#include "policy/capability.h"

/* --- the gateway's news --- */

/* Reads, tells everybody, and acts upon it: what cannot be read is not told. */
struct news {
    struct str kind;
    enum err (*hear)(struct occupant *o, const struct heard *heard,
                     struct str *ret_field);
};

static void tell_heard(struct occupant *o, const struct heard *heard)
{
    if (o->ops.on_heard)
        o->ops.on_heard(o->user, heard);
}

static void keep_text(struct str text, char *bytes, struct str *ret)
{
    memcpy(bytes, text.ptr, text.len);
    *ret = (struct str){ bytes, text.len };
}

static enum err take_capabilities(struct occupant *o, const struct welcome *welcome)
{
    struct str_list list = {};
    struct json_writer w;
    struct capset *set;
    enum err err = news_capabilities(welcome, &o->scratch, &list);

    if (!err)
        err = capset_intern(o->capsets, list, &set, NULL);
    if (err)
        return err;
    capset_unref(o->capset);
    o->capset = set;
    buf_clear(&o->capabilities);
    json_write_init(&w, &o->capabilities);
    capability_list_write(capset_patterns(set), &w);
    return OK;
}

/* Who does not fit is not known. */
static void note_flood(struct occupant *o, const struct heard *heard, uint64_t before)
{
    if (o->roster.left_out > before)
        occupant_offend(o, heard, S("flood"), S("payload.participants"));
}

static bool is_of_interest(const struct occupant *o, struct str id)
{
    return !str_eq(id, o->id) &&
           (o->settings.knows == KNOWS_ALL || roster_find(&o->roster, id) ||
            (o->ops.is_awaited && o->ops.is_awaited(o->user, id)));
}

static void take_roster(struct occupant *o, struct json_span participants)
{
    struct news_walk walk;
    struct roster_note note;

    news_walk_list(&walk, participants);
    roster_list_begin(&o->roster);
    while (news_next(&walk, &o->names, &note, NULL))
        if (is_of_interest(o, note.id))
            roster_list_add(&o->roster, &note);
    roster_list_end(&o->roster);
}

/* The connection's first one. */
static void enter_room(struct occupant *o, const struct heard *heard)
{
    bool misses = o->was_welcome && !o->resumes;

    o->past_ms = 0;
    if (o->resumes && heard->env.ts.ptr)
        (void)clock_parse(heard->env.ts, &o->past_ms);
    o->state = OCCUPANT_WELCOME;
    o->was_welcome = true;
    if (o->resumes)
        o->replay_fence = occupant_fence(o);
    else
        recent_end(&o->recent);
    if (o->ops.on_welcome)
        o->ops.on_welcome(o->user, o->resumes);
    if (!misses)
        return;
    if (o->ops.on_gap) /* there was nothing to resume behind: nobody counts what passed */
        o->ops.on_gap(o->user, 0);
    calls_gap(o);
}

static enum err hear_welcome(struct occupant *o, const struct heard *heard,
                             struct str *ret_field)
{
    enum welcome_type type = o->state == OCCUPANT_WAITING ? WELCOME_FIRST : WELCOME_AGAIN;
    uint64_t left_out = o->roster.left_out;
    struct welcome welcome;
    enum err err;

    err = news_welcome(heard->env.payload, &o->scratch, &welcome, ret_field);
    if (!err && type == WELCOME_AGAIN && !str_eq(welcome.you.id, o->id)) {
        *ret_field = S("payload.you.id");
        return ERR_MALFORMED_ENVELOPE;
    }
    if (!err)
        err = take_capabilities(o, &welcome);
    if (err)
        return err;
    keep_text(welcome.you.id, o->id_bytes, &o->id);
    o->envelope_bytes = welcome.envelope_bytes;
    take_roster(o, welcome.participants);
    tell_heard(o, heard);
    if (type == WELCOME_FIRST)
        enter_room(o, heard);
    else if (o->ops.on_welcome)
        o->ops.on_welcome(o->user, true);
    roster_tell(&o->roster, &o->ops, o->user);
    note_flood(o, heard, left_out);
    if (!heard->env.ts.ptr || clock_parse(heard->env.ts, &o->welcome_ms))
        o->welcome_ms = 0;
    proposals_welcome(o, welcome.proposals, type);
    return OK;
}

static void tell_presence(struct occupant *o, enum presence_change change,
                          const struct roster_entry *who)
{
    if (who && o->ops.on_presence)
        o->ops.on_presence(o->user, change, who);
}

/* A replay tells of what the welcome knew already, and knew better. Both times are the
 * gateway's; the first news that is not older ends it. */
static bool is_past(struct occupant *o, const struct heard *heard)
{
    uint64_t wall_ms;

    if (!o->past_ms)
        return false;
    if (heard->env.ts.ptr && clock_parse(heard->env.ts, &wall_ms) == OK &&
        wall_ms < o->past_ms)
        return true;
    o->past_ms = 0;
    return false;
}

static void hear_join(struct occupant *o, const struct roster_note *note)
{
    enum presence_change change = PRESENCE_JOINS;
    const struct roster_entry *who = roster_join(&o->roster, note, &change);

    tell_presence(o, change, who);
}

static void hear_leave(struct occupant *o, struct str id, enum left_when when)
{
    if (when == LEFT_NOW)
        tell_presence(o, PRESENCE_LEAVES, roster_leave(&o->roster, id));
    calls_left(o, id, when);
}

static enum err hear_presence(struct occupant *o, const struct heard *heard,
                              struct str *ret_field)
{
    uint64_t left_out = o->roster.left_out;
    struct roster_note note;
    struct news_walk walk;
    enum left_when when;
    bool joins;
    enum err err;

    err = news_walk_presence(&walk, heard->env.payload, ret_field);
    if (err)
        return err;
    tell_heard(o, heard);
    when = is_past(o, heard) ? LEFT_BEFORE : LEFT_NOW;
    while (news_next(&walk, &o->names, &note, &joins)) {
        if (str_eq(note.id, o->id))
            continue;
        if (!joins)
            hear_leave(o, note.id, when);
        else if (when == LEFT_NOW && is_of_interest(o, note.id))
            hear_join(o, &note);
    }
    note_flood(o, heard, left_out);
    return OK;
}

static enum err hear_error(struct occupant *o, const struct heard *heard,
                           struct str *ret_field)
{
    struct refused refused;
    enum err err;

    err = news_refused(heard->env.payload, &o->scratch, &refused, ret_field);
    if (err)
        return err;
    refused.id = heard->env.correlation_id.ptr ? heard->env.correlation_id : S("");
    tell_heard(o, heard);
    if (!calls_refused(o, &refused) && o->ops.on_refusal)
        o->ops.on_refusal(o->user, &refused);
    return OK;
}

static enum err hear_gap(struct occupant *o, const struct heard *heard,
                         struct str *ret_field)
{
    uint64_t missed;
    enum err err = news_gap(heard->env.payload, &missed, ret_field);

    if (err)
        return err;
    tell_heard(o, heard);
    if (o->ops.on_gap)
        o->ops.on_gap(o->user, missed);
    calls_gap(o);
    return OK;
}

/* What the gateway tells is heard when it is durable: the welcome may have counted more
 * approvals before. Both times are the gateway's. */
static bool is_counted(const struct occupant *o, const struct heard *heard,
                       const struct tidings *tidings)
{
    uint64_t wall_ms;

    return tidings->state == PROPOSED_OPEN && heard->env.ts.ptr &&
           clock_parse(heard->env.ts, &wall_ms) == OK && wall_ms < o->welcome_ms;
}

static enum err hear_tidings(struct occupant *o, const struct heard *heard,
                             struct str *ret_field)
{
    struct tidings tidings;
    enum err err = tidings_read(heard->env.payload, &o->scratch, &tidings, ret_field);

    if (err)
        return err;
    tell_heard(o, heard);
    if (!is_counted(o, heard, &tidings))
        proposals_take(o, &tidings);
    return OK;
}

/* clang-format off */
static const struct news news[] = {
    { S("system/welcome"),  hear_welcome },
    { S("system/presence"), hear_presence },
    { S("system/error"),    hear_error },
    { S("system/gap"),      hear_gap },
    { S("system/proposal"), hear_tidings },
};
/* clang-format on */

static void hear_gateway(struct occupant *o, const struct heard *heard)
{
    struct str field = S("");
    enum err err = OK;

    for (size_t i = 0; i < COUNT(news); i++)
        if (str_eq(heard->env.kind.text, news[i].kind)) {
            err = news[i].hear(o, heard, &field);
            if (err)
                occupant_offend(o, heard, str_of(err_name(err)), field);
            return;
        }
    tell_heard(o, heard);
}

/* --- what others say --- */

/* Who asks is here. */
static void note_caller(struct occupant *o, const struct heard *heard)
{
    uint64_t left_out = o->roster.left_out;
    enum presence_change change;

    if (o->settings.knows == KNOWS_ALL || roster_find(&o->roster, heard->env.from))
        return;
    (void)roster_join(&o->roster, &(struct roster_note){ .id = heard->env.from },
                      &change);
    if (o->roster.left_out > left_out)
        occupant_offend(o, heard, S("flood"), S("from"));
}

/* Whom the answer names: who asks, and whose proposal it fulfils. */
static void tell_request(struct occupant *o, const struct heard *heard)
{
    struct str proposer;
    struct str reply_to[2] = { heard->env.from };
    size_t count = 1;

    note_caller(o, heard);
    if (!o->ops.on_request)
        return;
    proposer = proposals_served(o, &heard->env);
    if (proposer.len && !str_eq(proposer, heard->env.from) && !str_eq(proposer, o->id))
        reply_to[count++] = proposer;
    o->ops.on_request(o->user, heard, reply_to, count);
}

/* Asked of everybody, whoever has something to say to it answers. */
static const struct str open_methods[] = {
    S("ping"),
    S("initialize"),
    S("server/discover"),
};

static bool is_open_method(struct str method)
{
    for (size_t i = 0; i < COUNT(open_methods); i++)
        if (str_eq(method, open_methods[i]))
            return true;
    return str_ends(method, S("/list"));
}

static bool is_for_us(const struct heard *heard)
{
    return heard->names_me ||
           (heard->env.to_count == 0 && is_open_method(heard->env.kind.method));
}

static void hear_cancelled(struct occupant *o, const struct heard *heard)
{
    struct json_span params = {};
    struct json_span request = {};
    struct json_span reason = {};
    struct str id = heard->env.correlation_id;

    if (!o->ops.on_cancelled || (heard->env.to_count && !heard->names_me))
        return;
    if (PICK(heard->env.payload, { S("params"), &params }) && pick_is_there(params))
        (void)PICK(params, { S("requestId"), &request }, { S("reason"), &reason });
    if (!id.ptr)
        id = pick_is(request, JSON_NUMBER) ? request.text
                                           : pick_text(request, &o->scratch);
    if (id.len)
        o->ops.on_cancelled(o->user, id, heard->env.from, pick_text(reason, &o->scratch));
}

static void hear_request(struct occupant *o, const struct heard *heard)
{
    const struct kind *kind = &heard->env.kind;

    if (str_eq(kind->method, S("notifications/progress")))
        calls_progress(o, heard);
    if (str_eq(kind->method, S("notifications/cancelled")))
        hear_cancelled(o, heard);
    if (kind_is_notification(kind))
        return;
    if (heard->env.correlation_id.ptr)
        calls_watch(o, heard);
    if (is_for_us(heard))
        tell_request(o, heard);
}

/* What it does, when everybody has heard of it. */
static void hear_kind(struct occupant *o, const struct heard *heard)
{
    switch (heard->env.kind.type) {
    case KIND_REQUEST:
        proposals_hear(o, heard);
        if (!heard->is_mine)
            hear_request(o, heard);
        return;
    case KIND_RESPONSE:
        proposals_hear(o, heard);
        if (!heard->is_mine)
            calls_answer(o, heard);
        return;
    case KIND_APPROVE:
    case KIND_WITHDRAW:
    case KIND_REJECT:
        proposals_hear(o, heard);
        if (!heard->is_mine)
            calls_watch(o, heard);
        return;
    case KIND_PROPOSAL: proposals_hear(o, heard); return;
    case KIND_CHAT:
    case KIND_OTHER:
    case KIND_ROUTING:
    case KIND_COMMAND: return;
    }
}

static void hear_other(struct occupant *o, const struct heard *heard)
{
    struct str field = S("");
    struct str fault = S("");

    if (heard->is_mine && !o->settings.hears_itself)
        return;
    if (heard->env.kind.type == KIND_RESPONSE && !heard->is_mine)
        fault = calls_fault(o, heard, &field);
    if (fault.len) {
        occupant_offend(o, heard, fault, field);
        return;
    }
    tell_heard(o, heard);
    hear_kind(o, heard);
}

/* --- the whole --- */

/* What the gateway says to us alone is no entry of the log. */
static bool is_entry(const struct heard *heard)
{
    return !str_eq(heard->env.from, S(SYSTEM_SENDER)) || heard->env.to_count == 0;
}

/* True: it was heard before. */
static bool note_entry(struct occupant *o, const struct heard *heard)
{
    if (!is_entry(heard))
        return false;
    keep_text(heard->env.id, o->last_bytes, &o->last);
    return recent_note(&o->recent, heard->env.from, heard->env.id);
}

/* A connection begins with the welcome. */
static bool is_expected(const struct occupant *o, const struct heard *heard)
{
    switch (o->state) {
    case OCCUPANT_AWAY: return false;
    case OCCUPANT_WAITING:
        return heard->is_system && str_eq(heard->env.kind.text, S("system/welcome"));
    case OCCUPANT_WELCOME: break;
    }
    return true;
}

/* What depends on who listens. */
static void see_ourselves(const struct occupant *o, struct heard *heard)
{
    heard->is_replay = o->replay_fence != 0 && is_entry(heard);
    heard->names_me =
        heard->is_system ? heard->env.to_count > 0 : envelope_names(&heard->env, o->id);
    heard->is_mine = !heard->is_system && str_eq(heard->env.from, o->id) &&
                     str_starts(heard->env.id, o->settings.id_prefix);
}

/* It counts as heard all the same, once: else it would be replayed for ever. */
static void drop(struct occupant *o, const struct heard *heard, enum err err,
                 struct str field)
{
    bool is_known = heard->env.from.ptr && !str_eq(heard->env.from, S(SYSTEM_SENDER));

    if (is_known && o->state == OCCUPANT_WELCOME && note_entry(o, heard))
        return;
    occupant_offend(o, heard, str_of(err_name(err)), field);
}

/* What the gateway itself says may be longer: a welcome names everybody. */
static bool is_too_large(const struct occupant *o, const struct heard *heard)
{
    size_t most = o->settings.limits.envelope_bytes;

    return most && !heard->is_system && heard->env.text.len > most &&
           heard->env.text.len > o->envelope_bytes;
}

void hear_text(struct occupant *o, struct str text)
{
    struct heard heard;
    struct str field = S("");
    enum err err =
        check_text(text, o->settings.limits.depth, &o->scratch, &heard, &field);

    if (!err && is_too_large(o, &heard))
        err = ERR_TOO_LARGE;
    if (err) {
        drop(o, &heard, err, field);
        return;
    }
    if (!is_expected(o, &heard)) {
        occupant_offend(o, &heard, S("unexpected"), S("kind"));
        return;
    }
    see_ourselves(o, &heard);
    if (note_entry(o, &heard))
        return;
    if (heard.is_system)
        hear_gateway(o, &heard);
    else
        hear_other(o, &heard);
}
