/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/ask.h"

#include "envelope/system.h"
#include "participant/calls_priv.h"
#include "participant/occupant_priv.h"
#include "participant/proposals.h"

static enum err invalid(const char **ret_why, const char *why)
{
    if (ret_why)
        *ret_why = why;
    return ERR_INVALID;
}

static enum err give_why(enum err err, const struct draft *draft, const char **ret_why)
{
    if (err == ERR_INVALID)
        return invalid(ret_why, draft->why);
    return err;
}

static void give_id(struct str id, struct str *ret_id)
{
    if (ret_id)
        *ret_id = id;
}

/* --- saying --- */

enum err occupant_say(struct occupant *o, const struct saying *saying, struct moment now,
                      struct str *ret_id, const char **ret_why)
{
    struct str payload = saying->payload.len ? saying->payload : S("{}");
    struct draft draft = {};
    struct say_head head = {
        .kind = saying->kind,
        .correlation_id = saying->correlation_id,
        .to = saying->to,
        .to_count = saying->to_count,
        .expires_ms = saying->expires_ms,
        .is_edited = saying->is_edited,
        .members = saying->members,
    };
    enum err err;

    o->now = now;
    if (!draft_is_object(o, payload))
        return invalid(ret_why, "the payload is not a JSON object");
    if (saying->members.len && !draft_is_object(o, saying->members))
        return invalid(ret_why, "the further members are not a JSON object");
    if (saying->ops.on_done && !calls_have_room(o->calls))
        return ERR_OVERLOAD;
    head.id = saying->id.len ? saying->id : draft_id(o);
    draft_begin(o, &draft, &head);
    json_raw(&draft.w, payload);
    err = draft_send(o, &draft);
    if (err)
        return give_why(err, &draft, ret_why);
    give_id(head.id, ret_id);
    if (saying->ops.on_done)
        calls_add(o, &(struct call_terms){ .stage = CALL_SENT,
                                           .id = head.id,
                                           .ops = saying->ops,
                                           .user = saying->user });
    return OK;
}

enum err occupant_notify(struct occupant *o, struct str to, struct str method,
                         struct str params, struct moment now, const char **ret_why)
{
    struct draft draft = {};
    struct say_head head = { .to = &to, .to_count = to.len ? 1 : 0 };

    o->now = now;
    if (!str_starts(method, S("notifications/")))
        return invalid(ret_why, "this method is not one of a notification");
    if (params.len && !draft_is_object(o, params))
        return invalid(ret_why, "params is not a JSON object");
    head.id = draft_id(o);
    head.kind = draft_kind(o, S("mcp/request:"), method, S(""));
    draft_begin(o, &draft, &head);
    say_call(&draft.w, &(struct say_call){ .method = method, .params = params });
    return give_why(draft_send(o, &draft), &draft, ret_why);
}

enum err occupant_answer(struct occupant *o, const struct answer *answer,
                         struct moment now)
{
    struct draft draft = {};
    struct say_head head = {
        .correlation_id = answer->request_id,
        .to = answer->to,
        .to_count = answer->to_count,
    };

    o->now = now;
    if (!draft_is_json(o, answer->json))
        return ERR_INVALID;
    head.id = draft_id(o);
    head.kind = draft_kind(o, S("mcp/response:"), answer->method, answer->context);
    draft_begin(o, &draft, &head);
    say_answer(&draft.w, answer->rpc_id, answer->member, answer->json);
    return draft_send(o, &draft);
}

/* --- asking --- */

static enum err read_params(struct occupant *o, const struct asking *asking,
                            struct str *ret, const char **ret_why)
{
    struct buf *params = &o->calls->pad.params;

    if (asking->params.len && !draft_is_object(o, asking->params))
        return invalid(ret_why, "params is not a JSON object");
    if (asking->arguments.len && !draft_is_object(o, asking->arguments))
        return invalid(ret_why, "arguments is not a JSON object");
    *ret = asking->params;
    if (asking->params.len)
        return OK;
    buf_clear(params);
    say_params(params, asking->method, asking->name, asking->arguments);
    *ret = buf_str(params);
    return params->is_full ? ERR_TOO_BIG : OK;
}

static enum err read_asking(struct occupant *o, const struct asking *asking,
                            struct call_terms *ret, const char **ret_why)
{
    *ret = (struct call_terms){
        .stage = CALL_ASKED,
        .method = asking->method,
        .name = asking->name,
        .to = &asking->to,
        .to_count = asking->to.len ? 1 : 0,
        .reason = asking->reason,
        .can_be_proposed =
            asking->how == ASK_CALL_OR_PROPOSE || asking->how == ASK_CALL_UNLESS_TOLD,
        .only_if_told = asking->how == ASK_CALL_UNLESS_TOLD,
        .is_quiet = asking->is_quiet,
        .timeout_ms = asking->timeout_ms,
        .proposal_ms = asking->proposal_ms,
        .ops = asking->ops,
        .user = asking->user,
    };
    if (!calls_have_room(o->calls))
        return ERR_OVERLOAD;
    if (!asking->to.len && asking->how != ASK_PROPOSE)
        return invalid(ret_why, "it is not said who is asked");
    if (str_starts(asking->method, S("notifications/")))
        return invalid(ret_why, "nobody answers a notification");
    return read_params(o, asking, &ret->params, ret_why);
}

enum err calls_send_request(struct occupant *o, const struct call_terms *terms,
                            const struct say_head *about, const char **ret_why)
{
    bool wants_progress = terms->ops.on_progress && !terms->is_quiet;
    /* What the gateway is asked needs no capability of the room. */
    bool is_question = terms->to_count == 1 && str_eq(terms->to[0], S(SYSTEM_SENDER));
    struct draft draft = { .is_told = about->rule.len > 0 || is_question };
    struct say_head head = *about;

    head.id = terms->id;
    head.kind = draft_kind(o, S("mcp/request:"), terms->method, terms->name);
    head.to = terms->to;
    head.to_count = terms->to_count;
    draft_begin(o, &draft, &head);
    say_call(&draft.w, &(struct say_call){
                           .id = terms->id,
                           .method = terms->method,
                           .params = terms->params,
                           .progress_token = wants_progress ? terms->id : S(""),
                       });
    return give_why(draft_send(o, &draft), &draft, ret_why);
}

enum err calls_send_proposal(struct occupant *o, const struct call_terms *terms,
                             const char **ret_why)
{
    struct draft draft = { .is_told = terms->is_told };
    struct say_head head = {
        .id = terms->id,
        .kind = draft_kind(o, S("mcp/proposal:"), terms->method, terms->name),
        .to = terms->to,
        .to_count = terms->to_count,
        .expires_ms = o->now.wall_ms + call_proposal_ms(terms),
    };

    draft_begin(o, &draft, &head);
    say_proposal(&draft.w, terms->method, terms->params, terms->reason);
    return give_why(draft_send(o, &draft), &draft, ret_why);
}

static enum err send_asking(struct occupant *o, const struct asking *asking,
                            struct call_terms *terms, const char **ret_why)
{
    const struct say_head about = { .correlation_id = asking->correlation_id };
    enum ask_how how = asking->how;
    enum err err = ERR_FORBIDDEN;

    if (how != ASK_PROPOSE)
        err = calls_send_request(o, terms, &about, ret_why);
    if (err != ERR_FORBIDDEN || how == ASK_CALL || how == ASK_CALL_UNLESS_TOLD)
        return err;
    terms->stage = CALL_PROPOSED;
    return calls_send_proposal(o, terms, ret_why);
}

enum err occupant_request(struct occupant *o, const struct asking *asking,
                          struct moment now, struct str *ret_id, const char **ret_why)
{
    struct call_terms terms;
    enum err err;

    o->now = now;
    err = read_asking(o, asking, &terms, ret_why);
    if (err)
        return err;
    terms.id = draft_id(o);
    err = send_asking(o, asking, &terms, ret_why);
    if (err)
        return err;
    give_id(calls_add(o, &terms)->terms.id, ret_id);
    return OK;
}

enum err occupant_await(struct occupant *o, struct str proposal,
                        const struct ask_ops *ops, void *user, struct moment now)
{
    const struct proposed *p = occupant_find_proposal(o, proposal);

    o->now = now;
    if (!p)
        return ERR_NOT_FOUND;
    if (!p->is_mine || p->owner.len || p->state != PROPOSED_OPEN ||
        map_find(&o->calls->by_id, p->id) || p->expires_ms <= now.wall_ms)
        return ERR_PROPOSAL_STATE;
    if (!calls_have_room(o->calls))
        return ERR_OVERLOAD;
    calls_add(o, &(struct call_terms){ .stage = CALL_PROPOSED,
                                       .id = p->id,
                                       .method = p->method,
                                       .name = p->name,
                                       .to = p->to,
                                       .to_count = p->to_count,
                                       .proposal_ms = p->expires_ms - now.wall_ms,
                                       .ops = *ops,
                                       .user = user });
    return OK;
}

/* --- taking back --- */

/* As far as we may; who may not ask to stop still stops waiting. */
void calls_send_cancelled(struct occupant *o, const struct call *call, struct str reason)
{
    struct draft draft = {};
    struct say_head head = {
        .id = draft_id(o),
        .kind = S("mcp/request:notifications/cancelled"),
        .correlation_id = call->terms.id,
        .to = call->terms.to,
        .to_count = call->terms.to_count,
    };

    draft_begin(o, &draft, &head);
    say_cancelled(&draft.w, call->terms.id, reason);
    (void)draft_send(o, &draft);
}

static enum err withdraw(struct occupant *o, struct str id, struct str reason)
{
    struct draft draft = {};
    struct say_head head = {
        .id = draft_id(o),
        .kind = S("mcp/withdraw"),
        .correlation_id = id,
    };

    draft_begin(o, &draft, &head);
    say_reason(&draft.w, reason);
    return draft_send(o, &draft);
}

enum err occupant_prolong(struct occupant *o, struct str id, uint64_t timeout_ms,
                          struct moment now)
{
    struct call *call = calls_find(o->calls, id);

    o->now = now;
    if (!call || (call->terms.stage != CALL_ASKED && call->terms.stage != CALL_TAKEN_UP))
        return ERR_NOT_FOUND;
    call_wait(o, call, timeout_ms ? timeout_ms : call_timeout(o, call));
    return OK;
}

enum err occupant_cancel(struct occupant *o, struct str id, struct str reason,
                         struct moment now)
{
    struct call *call = calls_find(o->calls, id);
    struct outcome end = {
        .type = ASK_CANCELLED,
        .error = S("cancelled"),
        .message = reason,
    };

    o->now = now;
    if (!call || call->terms.stage == CALL_SENT)
        return ERR_NOT_FOUND;
    if (call->terms.stage == CALL_PROPOSED) {
        enum err err = withdraw(o, call->terms.id, reason);

        if (err)
            return err;
        end.error = S("withdrawn");
    }
    if (call->terms.stage == CALL_ASKED)
        calls_send_cancelled(o, call, reason);
    call_end(o, call, &end);
    return OK;
}

void occupant_forget(struct occupant *o, struct str id)
{
    struct call *call = map_find(&o->calls->by_id, id);

    if (call)
        call->terms.ops = (struct ask_ops){};
}
