/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proposals, and what is said about them, by others and by us.
 */
#include "base/clock.h"
#include "envelope/system.h"
#include "participant/check.h"
#include "participant/occupant_priv.h"
#include "participant/pick.h"
#include "participant/proposals_table.h"

/* --- proposing --- */

/* What was said before we listened has the time that its sender gave. */
static uint64_t created_ms(const struct occupant *o, const struct heard *heard)
{
    uint64_t wall_ms;

    if (heard->is_replay && heard->env.ts.ptr && !clock_parse(heard->env.ts, &wall_ms) &&
        wall_ms < o->now.wall_ms)
        return wall_ms;
    return o->now.wall_ms;
}

static struct entry *enter_proposal(struct occupant *o, const struct heard *heard,
                                    struct arena *texts)
{
    const struct envelope *env = &heard->env;
    struct json_span params = {};
    struct json_span reason = {};
    struct proposed p = {
        .id = env->id,
        .proposer = env->from,
        .method = env->kind.method,
        .name = env->kind.context,
        .to = env->to,
        .to_count = env->to_count,
        .created_ms = created_ms(o, heard),
    };

    (void)PICK(env->payload, { S("params"), &params }, { S("reason"), &reason });
    p.params = pick_is_there(params) ? params.text : S("{}");
    p.reason = pick_text(reason, texts);
    p.expires_ms = proposals_expiry(o, pick_text(env->expires_at, texts), p.created_ms);
    return proposals_enter(o, &p, S(""));
}

static void hear_proposal(struct occupant *o, const struct heard *heard,
                          struct arena *texts)
{
    if (proposals_is_open(o->proposals, heard->env.id))
        return; /* in the welcome, or our own */
    if (!enter_proposal(o, heard, texts) && !heard->is_mine)
        occupant_offend(o, heard, S("flood"), S(""));
}

/* --- deciding --- */

static bool is_same_list(const struct proposed *p, const struct envelope *env)
{
    if (p->to_count != env->to_count)
        return false;
    for (size_t i = 0; i < p->to_count; i++)
        if (!str_eq(p->to[i], env->to[i]))
            return false;
    return true;
}

/* As the gateway sees it: same METHOD and, where the proposal has them, same CONTEXT and
 * same addressees. */
static bool fulfils(const struct proposed *p, const struct envelope *env)
{
    if (p->owner.len || !str_eq(env->kind.method, p->method))
        return false;
    if (p->name.len && !str_eq(env->kind.context, p->name))
        return false;
    return p->to_count == 0 || is_same_list(p, env);
}

struct str proposals_served(const struct occupant *o, const struct envelope *request)
{
    const struct entry *entry = proposals_find(o->proposals, request->correlation_id);

    return entry && fulfils(&entry->proposed, request) ? entry->proposed.proposer : S("");
}

static bool judge(const struct proposed *p, const struct envelope *env,
                  enum proposed_state *ret)
{
    switch (env->kind.type) {
    case KIND_REQUEST: *ret = PROPOSED_FULFILLED; return fulfils(p, env);
    case KIND_REJECT: *ret = PROPOSED_REJECTED; return !p->owner.len;
    case KIND_WITHDRAW:
        *ret = PROPOSED_WITHDRAWN;
        return str_eq(env->from, p->proposer) && !p->owner.len;
    case KIND_RESPONSE:
    case KIND_PROPOSAL:
    case KIND_APPROVE:
    case KIND_CHAT:
    case KIND_OTHER:
    case KIND_ROUTING:
    case KIND_COMMAND: break;
    }
    return false;
}

static void hear_decision(struct occupant *o, const struct heard *heard,
                          struct arena *texts)
{
    const struct envelope *env = &heard->env;
    struct entry *entry = proposals_find(o->proposals, env->correlation_id);
    struct json_span reason = {};
    struct ruling ruling = { .by = env->from };

    if (!entry || !judge(&entry->proposed, env, &ruling.state))
        return;
    (void)PICK(env->payload, { S("reason"), &reason });
    ruling.reason = pick_text(reason, texts);
    if (heard->is_mine)
        ruling.said_by_us = env->id;
    proposals_close(o, entry, &ruling);
}

void proposals_note(struct occupant *o, const struct heard *said, struct arena *texts)
{
    if (authorizations_note(o, said, texts))
        return;
    if (said->env.kind.type == KIND_PROPOSAL)
        hear_proposal(o, said, texts);
    else if (said->env.correlation_id.ptr)
        hear_decision(o, said, texts);
}

void proposals_hear(struct occupant *o, const struct heard *heard)
{
    proposals_note(o, heard, &o->scratch);
    proposals_tell(o);
}

/* --- refusals --- */

/* A fulfilment that came too early: how many are missing. */
static void learn_count(struct entry *entry, struct json_span details)
{
    uint32_t needed, given;

    if (approvals_read(details, &needed, &given))
        (void)proposals_count(entry, needed, given);
}

void proposals_refused(struct occupant *o, const struct refused *refused)
{
    struct ruling ruling = {
        .state = PROPOSED_REJECTED,
        .by = S(SYSTEM_SENDER),
        .reason = refused->message,
    };
    struct entry *entry = proposals_find(o->proposals, refused->id);

    if (entry && entry->proposed.is_mine) {
        proposals_close(o, entry, &ruling);
        return;
    }
    LIST_FOREACH(entry, &o->proposals->closed, group) {
        struct str decision = { entry->decision, entry->decision_len };

        if (decision.len && str_eq(decision, refused->id)) {
            learn_count(entry, refused->details);
            proposals_reopen(o, entry);
            return;
        }
    }
}

/* --- the welcome --- */

struct listed {
    struct str id, proposer, created, expires;
    struct kind kind;
    struct json_span envelope, approvals;
    uint32_t needed, given;
};

static bool read_listed(struct occupant *o, struct json_span item, struct listed *ret)
{
    struct json_span id = {};
    struct json_span proposer = {};
    struct json_span kind = {};
    struct json_span created = {};
    struct json_span expires = {};

    *ret = (struct listed){};
    if (!PICK(item, { S("id"), &id }, { S("proposer"), &proposer }, { S("kind"), &kind },
              { S("created"), &created }, { S("expires"), &expires },
              { S("envelope"), &ret->envelope }, { S("approvals"), &ret->approvals }))
        return false;
    (void)approvals_read(ret->approvals, &ret->needed, &ret->given);
    ret->id = pick_text(id, &o->scratch);
    ret->proposer = pick_text(proposer, &o->scratch);
    ret->created = pick_text(created, &o->scratch);
    ret->expires = pick_text(expires, &o->scratch);
    return ret->id.len && ret->proposer.len && !envelope_has_control(ret->id) &&
           !envelope_has_control(ret->proposer) &&
           kind_parse(pick_text(kind, &o->scratch), &ret->kind) == OK &&
           ret->kind.type == KIND_PROPOSAL;
}

/* What stands in the envelope was said by the proposer, and is checked like all that. */
static struct entry *enter_envelope(struct occupant *o, const struct listed *listed)
{
    struct heard heard;
    struct str field;

    if (listed->envelope.type != JSON_OBJECT ||
        check_text(listed->envelope.text, o->settings.limits.depth, &o->scratch, &heard,
                   &field) ||
        heard.env.kind.type != KIND_PROPOSAL || !str_eq(heard.env.id, listed->id) ||
        !str_eq(heard.env.from, listed->proposer))
        return NULL;
    return enter_proposal(o, &heard, &o->scratch);
}

static struct entry *enter_listed(struct occupant *o, const struct listed *listed)
{
    struct entry *entry;

    if (listed->envelope.type == JSON_OBJECT)
        return enter_envelope(o, listed);
    entry = proposals_enter(o,
                            &(struct proposed){ .id = listed->id,
                                                .proposer = listed->proposer,
                                                .method = listed->kind.method,
                                                .name = listed->kind.context,
                                                .expires_ms = UINT64_MAX },
                            S(""));
    if (entry)
        entry->is_partial = true;
    return entry;
}

/* Its id is used again: what was decided is not open once more, but something else is.
 * What is open stays as somebody may have been shown it. */
static bool is_another(const struct proposed *p, const struct listed *listed)
{
    return p->state != PROPOSED_OPEN && !p->owner.len &&
           !str_eq(p->proposer, listed->proposer);
}

static void list_one(struct occupant *o, struct json_span item, enum welcome_type type)
{
    struct listed listed;
    struct entry *entry;
    uint64_t created_ms;

    if (!read_listed(o, item, &listed))
        return;
    if (clock_parse(listed.created, &created_ms))
        created_ms = o->now.wall_ms;
    entry = proposals_find(o->proposals, listed.id);
    if (!entry || is_another(&entry->proposed, &listed) ||
        (entry->is_partial && listed.envelope.type == JSON_OBJECT))
        entry = enter_listed(o, &listed);
    if (!entry || entry->proposed.owner.len)
        return;
    entry->is_listed = true;
    if (listed.needed)
        (void)proposals_count(entry, listed.needed, listed.given);
    approvals_name(entry, listed.approvals, &o->scratch);
    proposals_date(o, entry, created_ms, proposals_expiry(o, listed.expires, created_ms));
    if (entry->proposed.state != PROPOSED_OPEN && type == WELCOME_FIRST)
        proposals_reopen(o, entry);
}

/* How it ended may still come, in what is replayed. */
static void close_unlisted(struct occupant *o)
{
    static const struct ruling over = { .state = PROPOSED_EXPIRED };
    struct entry *entry;

    LIST_FOREACH(entry, &o->proposals->by_age, proposed.link) {
        if (entry->proposed.state == PROPOSED_OPEN && !entry->is_listed &&
            !entry->proposed.owner.len)
            proposals_close(o, entry, &over);
        entry->is_listed = false;
    }
}

void proposals_welcome(struct occupant *o, struct json_span list, enum welcome_type type)
{
    struct json_scan scan;
    struct json_span item;
    enum err err;

    if (!list.text.ptr || list.type != JSON_ARRAY)
        return;
    json_scan_init(&scan, list.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err))
        list_one(o, item, type);
    if (type == WELCOME_FIRST)
        close_unlisted(o);
    proposals_tell(o);
}
