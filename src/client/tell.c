/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the occupant tells, handed to the handlers of the user. Each begins with an empty
 * arena: what the handler before was given is gone.
 */
#include "client/moot_priv.h"
#include "participant/pick.h"
#include "participant/proposals.h"
#include "participant/roster.h"

static struct arena *fresh(struct moot *m)
{
    arena_reset(&m->desk->given);
    return &m->desk->given;
}

static void on_welcome(void *user, bool is_resumed)
{
    struct moot *m = user;

    arena_reset(&m->desk->given);
    handle_joined(m);
    if (m->handlers.on_welcome)
        m->handlers.on_welcome(m, m->user, is_resumed);
}

static enum moot_presence public_change(enum presence_change change)
{
    switch (change) {
    case PRESENCE_HERE: return MOOT_IS_HERE;
    case PRESENCE_JOINS: return MOOT_JOINS;
    case PRESENCE_LEAVES: return MOOT_LEAVES;
    case PRESENCE_CHANGES: return MOOT_CHANGES;
    }
    return MOOT_CHANGES;
}

static void on_presence(void *user, enum presence_change change,
                        const struct roster_entry *who)
{
    struct moot_participant participant;
    struct moot *m = user;

    if (!m->handlers.on_presence)
        return;
    arena_reset(&m->desk->given);
    view_participant(who, &participant);
    m->handlers.on_presence(m, m->user, public_change(change), &participant);
}

static void on_gap(void *user, uint64_t missed)
{
    struct moot *m = user;

    arena_reset(&m->desk->given);
    if (m->handlers.on_gap)
        m->handlers.on_gap(m, m->user, missed);
}

static void tell_chat(struct moot *m, const struct heard *heard,
                      const struct moot_message *message)
{
    struct json_span span = {};
    struct str text;

    if (!PICK(heard->env.payload, { S("text"), &span }) || span.type != JSON_STRING ||
        json_unescape(span, &m->desk->given, &text))
        return;
    m->handlers.on_chat(m, m->user, message, view_text(&m->desk->given, text));
}

static void on_heard(void *user, const struct heard *heard)
{
    struct moot_message message;
    struct moot *m = user;
    bool is_chat = !heard->is_system && heard->env.kind.type == KIND_CHAT;

    if (!m->handlers.on_message && !(is_chat && m->handlers.on_chat))
        return;
    view_message(fresh(m), heard, &message);
    if (m->handlers.on_message)
        m->handlers.on_message(m, m->user, &message);
    if (is_chat && m->handlers.on_chat)
        tell_chat(m, heard, &message);
}

static void on_request(void *user, const struct heard *heard, const struct str *reply_to,
                       size_t reply_count)
{
    struct moot *m = user;

    arena_reset(&m->desk->given);
    serve_request(m, heard, reply_to, reply_count);
}

static void on_cancelled(void *user, struct str request_id, struct str from,
                         struct str reason)
{
    struct moot *m = user;

    (void)reason;
    arena_reset(&m->desk->given);
    serve_cancelled(m, request_id, from);
}

static void on_proposal(void *user, const struct proposed *proposed)
{
    struct moot_proposal proposal;
    struct moot *m = user;

    if (!m->handlers.on_proposal)
        return;
    view_proposal(fresh(m), proposed, &proposal);
    m->handlers.on_proposal(m, m->user, &proposal);
}

static void on_refusal(void *user, const struct refused *refused)
{
    struct moot *m = user;
    struct arena *arena = fresh(m);
    struct moot_refusal refusal = {
        .id = view_text(arena, refused->id),
        .error = view_text(arena, refused->error),
        .message = view_text(arena, refused->message),
        .details = view_str(refused->details.text),
    };

    if (m->handlers.on_refusal)
        m->handlers.on_refusal(m, m->user, &refusal);
}

static void on_offence(void *user, const struct offence *offence)
{
    struct moot *m = user;
    struct arena *arena = fresh(m);
    struct moot_offence told = {
        .from = view_text(arena, offence->from),
        .what = view_text(arena, offence->what),
        .field = view_text(arena, offence->field),
        .count = offence->count,
        .text = view_str(offence->text),
    };

    if (m->handlers.on_offence)
        m->handlers.on_offence(m, m->user, &told);
}

const struct occupant_ops tell_ops = {
    .on_welcome = on_welcome,
    .on_presence = on_presence,
    .on_gap = on_gap,
    .on_heard = on_heard,
    .on_request = on_request,
    .on_cancelled = on_cancelled,
    .on_proposal = on_proposal,
    .on_refusal = on_refusal,
    .on_offence = on_offence,
};
