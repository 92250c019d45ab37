/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is heard, brought together with what we wait for.
 */
#include "base/clock.h"
#include "base/decimal.h"
#include "envelope/system.h"
#include "participant/calls_priv.h"
#include "participant/occupant_priv.h"
#include "participant/pick.h"
#include "participant/proposals_priv.h"
#include "participant/rpc_error.h"

static bool is_among(struct str id, const struct str *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(ids[i], id))
            return true;
    return false;
}

/* --- is it the answer? --- */

/* The one that the response can be an answer to, and who was asked. */
struct matched {
    struct call *call;
    const struct str *to;
    size_t to_count;
};

static bool match(const struct calls *calls, struct str correlation_id,
                  struct matched *ret)
{
    struct call *call = calls_find(calls, correlation_id);

    if (call && call->terms.stage == CALL_SENT)
        return false; /* whatever it was, its sender does not wait for an answer */
    if (call) {
        *ret = (struct matched){ call, call->terms.to, call->terms.to_count };
        return true;
    }
    call = map_find(&calls->by_taken, correlation_id);
    if (!call)
        return false;
    *ret = (struct matched){ call, call->taken->to, call->taken->to_count };
    return true;
}

/* Proposals are not answered: the request that takes one up is. */
static bool was_asked(const struct matched *m, const struct envelope *env)
{
    const struct call *call = m->call;

    switch (call->terms.stage) {
    case CALL_ASKED: return is_among(env->from, m->to, m->to_count);
    case CALL_TAKEN_UP:
        return str_eq(call->taken->id, env->correlation_id) &&
               (m->to_count == 0 || is_among(env->from, m->to, m->to_count));
    case CALL_SENT:
    case CALL_PROPOSED:
    case CALL_ENDED: break;
    }
    return false;
}

static bool has_our_id(const struct call *call, const struct envelope *env)
{
    struct json_span id = {};

    if (call->taken)
        return true; /* it is for whoever asked in our place */
    return PICK(env->payload, { S("id"), &id }) && id.type == JSON_STRING &&
           json_string_is(id, call->terms.id);
}

static struct str mismatch(const struct call *call, const struct envelope *env,
                           struct str *ret_field)
{
    const struct kind *kind = &env->kind;
    const struct call_terms *terms = &call->terms;

    *ret_field = S("kind");
    if (!str_eq(kind->method, terms->method))
        return S("method_mismatch");
    if (kind->context.ptr && terms->name.len && !str_eq(kind->context, terms->name))
        return S("method_mismatch");
    *ret_field = S("payload.id");
    return has_our_id(call, env) ? S("") : S("method_mismatch");
}

struct str calls_fault(struct occupant *o, const struct heard *heard,
                       struct str *ret_field)
{
    const struct envelope *env = &heard->env;
    const struct finished *finished;
    struct matched m;

    *ret_field = S("from");
    if (match(o->calls, env->correlation_id, &m))
        return was_asked(&m, env) ? mismatch(m.call, env, ret_field)
                                  : S("foreign_response");
    finished = calls_find_finished(o, env->correlation_id);
    if (!finished)
        return S("");
    if (!finished_was_asked(o->calls, finished, env->from))
        return S("foreign_response");
    *ret_field = S("correlation_id");
    return finished->is_answered ? S("second_response") : S("");
}

/* --- what the answer says --- */

/* When the authorization expires, or a while after now. */
static uint64_t authorizing_ms(struct occupant *o, struct json_span expires)
{
    uint64_t wall_ms;

    if (clock_parse(pick_text(expires, &o->scratch), &wall_ms))
        return CALLS_PROPOSAL_MS;
    if (wall_ms <= o->now.wall_ms)
        return 0;
    wall_ms -= o->now.wall_ms;
    return wall_ms < CALLS_MAX_MS ? wall_ms : CALLS_MAX_MS;
}

/* It stays pending, and who was asked has one more word. */
static void authorize(struct occupant *o, struct call *call, const struct heard *heard,
                      const struct rpc_error *error)
{
    struct json_span reason = {};
    struct json_span expires = {};
    struct progress progress = { .type = ASK_AUTHORIZING, .by = heard->env.from };
    uint64_t ms;

    (void)PICK(error->authorization, { S("reason"), &reason },
               { S("expiresAt"), &expires });
    ms = authorizing_ms(o, expires);
    call->is_provisional = true;
    if (o->now.mono_ms + ms > call->due_ms)
        call_wait(o, call, ms);
    progress.message = pick_text(reason, &o->scratch);
    if (!progress.message.len)
        progress.message = error->message;
    call_progress(call, &progress);
}

/* A server of MCP has its own use for the code: a resource that is not there. */
static bool is_denial(const struct call *call, const struct rpc_error *error)
{
    return error->code == RPC_DENIED &&
           (call->is_provisional || error->names_authorization);
}

static struct str decider(const struct occupant *o, const struct heard *heard,
                          const struct rpc_error *error)
{
    struct str by = error->decided_by;

    if (!by.len || by.len > KIND_MAX_BYTES || envelope_has_control(by))
        by = authorizations_decider(o, heard->env.correlation_id, heard->env.from);
    return by.len ? by : heard->env.from;
}

static void finish_error(struct occupant *o, struct call *call, const struct heard *heard,
                         struct json_span json)
{
    struct rpc_error error;
    struct outcome end = { .type = ASK_ERROR, .by = heard->env.from, .json = json };

    error = rpc_error_read(json, &o->scratch);
    if (rpc_error_is_provisional(&error) && !call->is_provisional) {
        authorize(o, call, heard, &error);
        return;
    }
    end.code = error.code;
    end.message = error.message;
    if (is_denial(call, &error)) {
        end.type = ASK_DENIED;
        end.by = decider(o, heard, &error);
        end.error = S("denied");
        end.message = error.reason.len ? error.reason : error.message;
    }
    call_finish(o, call, &end);
}

static void finish_result(struct occupant *o, struct call *call,
                          const struct heard *heard, struct json_span json)
{
    struct outcome end = { .type = ASK_RESULT, .by = heard->env.from, .json = json };
    struct json_span is_error = {};

    if (str_eq(call->terms.method, S("tools/call")) &&
        PICK(json, { S("isError"), &is_error }) && is_error.type == JSON_TRUE)
        end.type = ASK_TOOL_ERROR;
    call_finish(o, call, &end);
}

void calls_answer(struct occupant *o, const struct heard *heard)
{
    struct json_span result = {};
    struct json_span error = {};
    struct finished *finished;
    struct matched m;

    if (!match(o->calls, heard->env.correlation_id, &m)) {
        finished = calls_find_finished(o, heard->env.correlation_id);
        if (finished)
            finished->is_answered = true; /* too late, but no offence */
        return;
    }
    (void)PICK(heard->env.payload, { S("result"), &result }, { S("error"), &error });
    if (pick_is_there(error))
        finish_error(o, m.call, heard, error);
    else
        finish_result(o, m.call, heard, result);
}

/* --- what others make of our proposals --- */

/* As the gateway sees it: same METHOD and, where the proposal has them, same CONTEXT and
 * same addressees. */
static bool takes_up(const struct calls *calls, const struct call *call,
                     const struct envelope *env)
{
    const struct call_terms *terms = &call->terms;

    if (env->kind.type != KIND_REQUEST || !str_eq(env->kind.method, terms->method))
        return false;
    if (terms->name.len && !str_eq(env->kind.context, terms->name))
        return false;
    if (terms->to_count && (env->to_count != 1 || !str_eq(env->to[0], terms->to[0])))
        return false;
    return env->to_count <= CALLS_TAKERS && !map_find(&calls->by_taken, env->id);
}

static void decline(struct occupant *o, struct call *call, const struct heard *heard,
                    struct str error)
{
    struct json_span reason = {};
    struct outcome end = { .type = ASK_DECLINED, .by = heard->env.from, .error = error };

    (void)PICK(heard->env.payload, { S("reason"), &reason });
    end.message = pick_text(reason, &o->scratch);
    call_finish(o, call, &end);
}

void calls_watch(struct occupant *o, const struct heard *heard)
{
    const struct envelope *env = &heard->env;
    struct call *call;

    calls_tell_proposed(o);
    call = calls_find(o->calls, env->correlation_id);
    if (!call || call->terms.stage != CALL_PROPOSED)
        return;
    if (env->kind.type == KIND_REJECT) {
        decline(o, call, heard, S("rejected"));
    } else if (env->kind.type == KIND_WITHDRAW && str_eq(env->from, o->id)) {
        decline(o, call, heard, S("withdrawn"));
    } else if (takes_up(o->calls, call, env)) {
        struct progress progress = { .type = ASK_TAKEN_UP, .by = env->from };

        call_take_up(o, call, env);
        call_progress(call, &progress);
    }
}

void calls_counted(struct occupant *o, struct str id)
{
    const struct proposed *p;
    struct call *call;

    calls_tell_proposed(o);
    call = calls_find(o->calls, id);
    p = occupant_find_proposal(o, id);
    if (!call || call->terms.stage != CALL_PROPOSED || !p)
        return;
    call_progress(
        call, &(struct progress){
                  .type = ASK_APPROVED,
                  .by = p->approver_count ? p->approvers[p->approver_count - 1] : S(""),
                  .done = p->given,
                  .total = p->needed,
              });
}

/* --- progress --- */

static double read_number(struct json_span number)
{
    double value = 0;

    if (number.type != JSON_NUMBER || decimal_parse(number.text, &value))
        return 0;
    return value;
}

void calls_progress(struct occupant *o, const struct heard *heard)
{
    struct json_span params = {};
    struct json_span token = {};
    struct json_span done = {};
    struct json_span total = {};
    struct json_span message = {};
    struct progress progress = { .type = ASK_UNDERWAY, .by = heard->env.from };
    struct call *call;

    if (!PICK(heard->env.payload, { S("params"), &params }) ||
        !PICK(params, { S("progressToken"), &token }, { S("progress"), &done },
              { S("total"), &total }, { S("message"), &message }))
        return;
    call = calls_find(o->calls, pick_text(token, &o->scratch));
    if (!call || call->terms.stage != CALL_ASKED ||
        !is_among(heard->env.from, call->terms.to, call->terms.to_count))
        return;
    progress.done = read_number(done);
    progress.total = read_number(total);
    progress.message = pick_text(message, &o->scratch);
    call_progress(call, &progress);
}

/* --- refusals --- */

/* The id was never used, as far as the room knows: the proposal has the same one. */
static bool propose_instead(struct occupant *o, struct call *call, bool is_told)
{
    struct call_terms *terms = &call->terms;

    if (!terms->can_be_proposed || (terms->only_if_told && !is_told))
        return false;
    terms->is_told = is_told;
    if (calls_send_proposal(o, terms, NULL))
        return false;
    call_propose(o, call);
    calls_tell_proposed(o);
    return true;
}

bool calls_refused(struct occupant *o, const struct refused *refused)
{
    struct outcome end = {
        .type = ASK_REFUSED,
        .by = S(SYSTEM_SENDER),
        .error = refused->error,
        .message = refused->message,
        .json = refused->details,
    };
    struct call *call;
    bool is_told;

    proposals_refused(o, refused);
    calls_tell_proposed(o);
    call = calls_find(o->calls, refused->id);
    if (!call || call->terms.stage == CALL_TAKEN_UP)
        return false;
    if (str_eq(refused->error, S("capability_violation")) &&
        propose_instead(o, call, refused->propose_instead.len > 0))
        return true;
    is_told = call->terms.ops.on_done;
    call_finish(o, call, &end);
    return is_told;
}
