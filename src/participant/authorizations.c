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
 * somebody else, takes the place of the former.
 */
#include "base/buf.h"
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

static void enter(struct occupant *o, const struct heard *heard, struct proposed *p,
                  struct str arguments)
{
    struct str request_id = heard->env.correlation_id;
    struct buf params;

    buf_init(&params, PROPOSALS_BYTES);
    say_params(&params, p->method, p->name, arguments);
    p->params = buf_str(&params);
    if (!proposals_enter(o, p, request_id.ptr ? request_id : S("")) && !heard->is_mine)
        occupant_offend(o, heard, S("flood"), S(""));
    buf_done(&params);
}

/* Its owner has asked for the same before. */
static void replace(struct occupant *o, const struct proposed *p)
{
    static const struct ruling asked_again = { .state = PROPOSED_WITHDRAWN };
    struct entry *entry;

    LIST_FOREACH(entry, &o->proposals->authorizations, group)
        if (str_eq(entry->proposed.owner, p->owner) &&
            str_eq(entry->proposed.authorization_id, p->authorization_id)) {
            struct ruling ruling = asked_again;

            ruling.by = p->owner;
            proposals_close(o, entry, &ruling);
        }
}

static void hear_request(struct occupant *o, const struct heard *heard,
                         struct arena *texts)
{
    struct json_span params = {};
    struct json_span id = {};
    struct json_span tool = {};
    struct json_span requester = {};
    struct json_span arguments = {};
    struct json_span reason = {};
    struct json_span expires = {};
    struct proposed p = {
        .id = heard->env.id,
        .owner = heard->env.from,
        .method = S("tools/call"),
        .created_ms = o->now.wall_ms,
    };

    if (!PICK(heard->env.payload, { S("params"), &params }) ||
        !PICK(params, { S("id"), &id }, { S("tool"), &tool },
              { S("requester"), &requester }, { S("arguments"), &arguments },
              { S("reason"), &reason }, { S("expiresAt"), &expires }) ||
        !read_name(id, texts, &p.authorization_id) || !read_name(tool, texts, &p.name) ||
        !read_name(requester, texts, &p.proposer) ||
        (pick_is_there(arguments) && arguments.type != JSON_OBJECT))
        return;
    p.to = &p.owner;
    p.to_count = 1;
    if (heard->env.to_count == 1)
        p.asked = heard->env.to[0];
    p.reason = pick_text(reason, texts);
    p.expires_ms = proposals_expiry(o, pick_text(expires, texts), p.created_ms);
    if (p.expires_ms <= o->now.wall_ms || proposals_is_open(o->proposals, p.id))
        return;
    replace(o, &p);
    enter(o, heard, &p, pick_is_there(arguments) ? arguments.text : S(""));
}

/* --- answering --- */

static bool may_answer(const struct entry *entry, const struct envelope *env)
{
    const struct proposed *p = &entry->proposed;

    return envelope_names(env, p->owner) && !str_eq(env->from, p->proposer) &&
           (!p->asked.len || str_eq(env->from, p->asked));
}

static void hear_respond(struct occupant *o, const struct heard *heard,
                         struct arena *texts)
{
    const struct envelope *env = &heard->env;
    struct entry *entry = proposals_find(o->proposals, env->correlation_id);
    struct json_span params = {};
    struct json_span id = {};
    struct json_span decision = {};
    struct json_span reason = {};
    struct ruling ruling = { .by = env->from };

    if (!entry || !may_answer(entry, env))
        return;
    if (!PICK(env->payload, { S("params"), &params }) ||
        !PICK(params, { S("authorizationId"), &id }, { S("decision"), &decision },
              { S("reason"), &reason }) ||
        !str_eq(pick_text(id, texts), entry->proposed.authorization_id))
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
