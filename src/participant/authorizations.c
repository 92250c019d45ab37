/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that their addressee wants authorized first: it announces them to the room, and
 * somebody answers.
 *
 *     owner ── notifications/authorization/request (id n) ──► open
 *     somebody ── authorization/respond, correlation_id n ──► approved, denied
 *     owner ── the final response to the call ──────────────► likewise
 *
 * An announcement to one participant is for him to answer. One that is made again, to
 * somebody else, takes the place of the former. Who came later hears of what is pending
 * from its owner: the result of authorization/list.
 */
#include "base/buf.h"
#include "participant/calls_priv.h"
#include "participant/occupant_priv.h"
#include "participant/pick.h"
#include "participant/proposals_table.h"
#include "participant/rpc_error.h"
#include "participant/say.h"

/* --- announcing --- */

/* A text that stands for something: a name, an id. */
static bool read_name(struct json_span span, struct arena *texts, struct str *ret)
{
    *ret = pick_text(span, texts);
    return ret->len && ret->len <= KIND_MAX_BYTES && !envelope_has_control(*ret);
}

static bool enter(struct occupant *o, struct proposed *p, struct str request_id,
                  struct str arguments)
{
    struct buf params;
    bool is_entered;

    buf_init(&params, PROPOSALS_BYTES);
    if (arguments.ptr)
        say_params(&params, p->method, p->name, arguments);
    p->params = buf_str(&params);
    is_entered = proposals_enter(o, p, request_id.ptr ? request_id : S(""));
    buf_done(&params);
    return is_entered;
}

/* An open one, by what its owner calls it. */
static struct entry *find_open(const struct occupant *o, struct str owner, struct str id)
{
    struct entry *entry;

    LIST_FOREACH(entry, &o->proposals->authorizations, group)
        if (str_eq(entry->proposed.owner, owner) &&
            str_eq(entry->proposed.authorization_id, id))
            return entry;
    return NULL;
}

/* Its owner has asked for the same before. */
static void replace(struct occupant *o, const struct proposed *p)
{
    struct ruling ruling = { .state = PROPOSED_WITHDRAWN, .by = p->owner };
    struct entry *entry = find_open(o, p->owner, p->authorization_id);

    if (entry)
        proposals_close(o, entry, &ruling);
}

/* What an announcement and a list say alike. False: it is broken. */
struct spans {
    struct json_span id, tool, requester, arguments, reason, expires;
};

static bool read_asked(struct occupant *o, const struct spans *spans, struct arena *texts,
                       struct proposed *p)
{
    if (!read_name(spans->id, texts, &p->authorization_id) ||
        !read_name(spans->tool, texts, &p->name) ||
        !read_name(spans->requester, texts, &p->proposer) ||
        (pick_is_there(spans->arguments) && spans->arguments.type != JSON_OBJECT))
        return false;
    p->to = &p->owner;
    p->to_count = 1;
    p->reason = pick_text(spans->reason, texts);
    p->expires_ms = proposals_expiry(o, pick_text(spans->expires, texts), p->created_ms);
    return p->expires_ms > o->now.wall_ms;
}

static void hear_request(struct occupant *o, const struct heard *heard,
                         struct arena *texts)
{
    struct json_span params = {};
    struct spans spans = {};
    struct proposed p = {
        .id = heard->env.id,
        .owner = heard->env.from,
        .method = S("tools/call"),
        .created_ms = o->now.wall_ms,
        .is_announced = true,
    };

    if (!PICK(heard->env.payload, { S("params"), &params }) ||
        !PICK(params, { S("id"), &spans.id }, { S("tool"), &spans.tool },
              { S("requester"), &spans.requester }, { S("arguments"), &spans.arguments },
              { S("reason"), &spans.reason }, { S("expiresAt"), &spans.expires }) ||
        !read_asked(o, &spans, texts, &p) || proposals_is_open(o->proposals, p.id))
        return;
    if (heard->env.to_count == 1)
        p.asked = heard->env.to[0];
    replace(o, &p);
    if (!enter(o, &p, heard->env.correlation_id,
               pick_is_there(spans.arguments) ? spans.arguments.text : S("")) &&
        !heard->is_mine)
        occupant_offend(o, heard, S("flood"), S(""));
}

/* --- listing --- */

/* "srv/a1": others may call theirs the same. */
static struct str make_id(const struct proposed *p, struct arena *texts)
{
    struct str id;
    struct buf text;

    buf_init(&text, p->owner.len + p->authorization_id.len + 1);
    buf_put(&text, p->owner);
    buf_putc(&text, '/');
    buf_put(&text, p->authorization_id);
    id = arena_str(texts, buf_str(&text));
    buf_done(&text);
    return id;
}

/* False: there is no room for more. */
static bool list_one(struct occupant *o, struct str owner, struct json_span item,
                     struct arena *texts)
{
    struct json_span announcement = {};
    struct json_span delegate = {};
    struct spans spans = {};
    struct proposed p = {
        .owner = owner,
        .method = S("tools/call"),
        .created_ms = o->now.wall_ms,
    };

    if (!PICK(item, { S("authorizationId"), &spans.id }, { S("tool"), &spans.tool },
              { S("requester"), &spans.requester }, { S("arguments"), &spans.arguments },
              { S("reason"), &spans.reason }, { S("expiresAt"), &spans.expires },
              { S("delegate"), &delegate }, { S("announcement"), &announcement }) ||
        !read_asked(o, &spans, texts, &p) || find_open(o, owner, p.authorization_id))
        return true;
    if (pick_is_there(delegate) && !read_name(delegate, texts, &p.asked))
        return true;
    p.is_announced = read_name(announcement, texts, &p.id);
    if (!p.is_announced)
        p.id = make_id(&p, texts);
    if (!p.id.len || proposals_is_open(o->proposals, p.id))
        return true;
    return enter(o, &p, S(""),
                 pick_is_there(spans.arguments) ? spans.arguments.text : (struct str){});
}

/* Nobody tells us of what we did not ask for: that is announced. */
static bool was_asked(const struct occupant *o, const struct envelope *env)
{
    const struct call *call = calls_find(o->calls, env->correlation_id);

    return call && call->terms.stage == CALL_ASKED &&
           str_eq(call->terms.method, env->kind.method);
}

static void hear_list(struct occupant *o, const struct heard *heard, struct arena *texts)
{
    struct json_span result = {};
    struct json_span pending = {};
    struct json_scan scan;
    struct json_span item;
    enum err err;

    if (!was_asked(o, &heard->env) ||
        !PICK(heard->env.payload, { S("result"), &result }) ||
        !pick_is(result, JSON_OBJECT) || !PICK(result, { S("pending"), &pending }) ||
        !pick_is(pending, JSON_ARRAY))
        return;
    json_scan_init(&scan, pending.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err))
        if (!list_one(o, heard->env.from, item, texts))
            return;
}

/* --- answering --- */

/* Which of the addressee's authorizations it is about. */
static struct entry *find_answered(const struct occupant *o, const struct envelope *env,
                                   struct str id)
{
    struct entry *entry = NULL;

    for (size_t i = 0; i < env->to_count && !entry; i++)
        entry = find_open(o, env->to[i], id);
    if (!entry) /* ours may be taken back, and another's count after all */
        entry = proposals_find(o->proposals, env->correlation_id);
    return entry;
}

static bool may_answer(const struct entry *entry, const struct envelope *env,
                       struct str id)
{
    const struct proposed *p = &entry->proposed;

    return envelope_names(env, p->owner) && str_eq(p->authorization_id, id) &&
           !str_eq(env->from, p->proposer) &&
           (!p->asked.len || str_eq(env->from, p->asked)) &&
           (!p->is_announced || !env->correlation_id.ptr ||
            str_eq(env->correlation_id, p->id));
}

static void hear_respond(struct occupant *o, const struct heard *heard,
                         struct arena *texts)
{
    const struct envelope *env = &heard->env;
    struct json_span params = {};
    struct json_span id = {};
    struct json_span decision = {};
    struct json_span reason = {};
    struct ruling ruling = { .by = env->from };
    struct entry *entry;

    if (!PICK(env->payload, { S("params"), &params }) ||
        !PICK(params, { S("authorizationId"), &id }, { S("decision"), &decision },
              { S("reason"), &reason }))
        return;
    entry = find_answered(o, env, pick_text(id, texts));
    if (!entry || !may_answer(entry, env, pick_text(id, texts)))
        return;
    if (str_eq(pick_text(decision, texts), S("approve")))
        ruling.state = PROPOSED_FULFILLED;
    else if (str_eq(pick_text(decision, texts), S("deny")))
        ruling.state = PROPOSED_REJECTED;
    else
        return;
    ruling.reason = pick_text(reason, texts);
    if (heard->is_mine)
        ruling.said_by_us = env->id;
    proposals_close(o, entry, &ruling);
}

/* --- the end of the call --- */

static bool ends(const struct entry *entry, const struct envelope *env)
{
    return str_eq(entry->request_id, env->correlation_id) &&
           str_eq(entry->proposed.owner, env->from);
}

static void hear_response(struct occupant *o, const struct heard *heard,
                          struct arena *texts)
{
    struct ruling ruling = { .state = PROPOSED_FULFILLED, .by = heard->env.from };
    struct json_span json = {};
    struct rpc_error error;
    struct entry *entry;

    if (list_is_empty(&o->proposals->authorizations))
        return;
    (void)PICK(heard->env.payload, { S("error"), &json });
    error = rpc_error_read(json, texts);
    if (rpc_error_is_provisional(&error))
        return;
    if (error.code == RPC_DENIED) {
        ruling.state = PROPOSED_REJECTED;
        ruling.reason = error.reason.len ? error.reason : error.message;
    }
    LIST_FOREACH(entry, &o->proposals->authorizations, group)
        if (ends(entry, &heard->env))
            proposals_close(o, entry, &ruling);
}

/* Who said so is known where that was heard: a denial itself comes from the owner. */
struct str authorizations_decider(const struct occupant *o, struct str request_id,
                                  struct str owner)
{
    const struct entry *entry;

    LIST_FOREACH(entry, &o->proposals->closed, group)
        if (entry->proposed.state == PROPOSED_REJECTED &&
            str_eq(entry->request_id, request_id) && str_eq(entry->proposed.owner, owner))
            return entry->proposed.by;
    return S("");
}

bool authorizations_note(struct occupant *o, const struct heard *heard,
                         struct arena *texts)
{
    const struct kind *kind = &heard->env.kind;

    if (kind->type == KIND_RESPONSE) {
        hear_response(o, heard, texts);
        if (str_eq(kind->method, S("authorization/list")))
            hear_list(o, heard, texts);
        return true;
    }
    if (kind->type != KIND_REQUEST)
        return false;
    if (str_eq(kind->method, S("notifications/authorization/request"))) {
        hear_request(o, heard, texts);
        return true;
    }
    if (str_eq(kind->method, S("authorization/respond"))) {
        hear_respond(o, heard, texts);
        return true;
    }
    return false;
}
