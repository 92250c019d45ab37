/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of the room. What the bridge knows it answers; everything else is one order
 * for the server, and what comes back goes to whoever asked, in the shape of his era.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/bridge_priv.h"
#include "mcp/era.h"
#include "mcp/question.h"
#include "participant/keep.h"

/* --- a request that is kept --- */

/* All is copied. NULL: too many wait. */
static struct bridged *bridged_new(struct bridge *b, const struct heard *heard,
                                   const struct str *to, size_t to_count,
                                   const struct rpc_request *request)
{
    const struct envelope *env = &heard->env;
    struct str token = request->progress ? request->progress->raw : S("");
    struct str uri = str_eq(request->method, S("resources/read"))
                         ? json_text(json_find(request->params, S("uri")))
                         : S("");
    struct str task = str_starts(request->method, S("tasks/"))
                          ? json_text(json_find(request->params, S("taskId")))
                          : S("");
    struct bridged *call;
    char *at;

    if (b->call_count >= b->spec->max_waiting && !is_gate_method(request->method))
        return NULL;
    call = xcalloc(1, sizeof(*call) + keep_strs_size(to, to_count) + env->id.len +
                          env->kind.method.len + env->kind.context.len +
                          request->id.text.len + token.len + uri.len + task.len);
    at = (char *)(call + 1);
    call->bridge = b;
    claim_read(call, request);
    call->is_open = !heard->names_me;
    call->to = keep_strs(&at, to, to_count);
    call->to_count = to_count;
    call->request_id = keep_str(&at, env->id);
    call->method = keep_str(&at, env->kind.method);
    if (env->kind.context.ptr)
        call->context = keep_str(&at, env->kind.context);
    call->rpc_id = request->id;
    if (request->id.text.ptr)
        call->rpc_id.text = keep_str(&at, request->id.text);
    call->token = keep_str(&at, token);
    call->uri = keep_str(&at, uri);
    call->task = keep_str(&at, task);
    list_append(&b->calls, &call->link);
    b->call_count++;
    return call;
}

/* --- what the server answers --- */

static void on_progress(void *user, struct json_span params)
{
    bridge_progress(user, params);
}

struct era_change bridged_change(const struct bridged *call)
{
    const struct bridge *b = call->bridge;

    return (struct era_change){
        .method = call->method,
        .is_modern_from = b->facts.era == ERA_MODERN,
        .is_modern_to = call->is_modern,
        .server = str_of(b->facts.server),
        .uri = call->uri,
        .task = str_eq(call->method, S("tasks/result")) ? call->task : S(""),
    };
}

static void give_result(struct bridged *call, struct json_span result)
{
    struct bridge *b = call->bridge;
    struct era_change change = bridged_change(call);
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, bridge_answer_bytes(b));
    if (bridge_turn_result(call, result) || !bridged_input_fits(call, result))
        return;
    if (era_put_result(&out, &change, result))
        bridged_fail(call, RPC_INTERNAL, S("the server's result is no object"));
    else if (out.is_full)
        bridged_fail(call, RPC_INTERNAL, S("the result is too large"));
    else
        bridged_answer(call, S("result"), buf_str(&out));
}

static void give_error(struct bridged *call, struct json_span error)
{
    struct era_change change = bridged_change(call);
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, bridge_answer_bytes(call->bridge));
    if (bridge_turn_urls(call, error) || bridge_turn_error(call, error))
        return;
    if (era_put_error(&out, &change, error) || out.is_full)
        bridged_fail(call, RPC_INTERNAL, S("the server's error cannot be read"));
    else
        bridged_answer(call, S("error"), buf_str(&out));
}

static void on_done(void *user, const struct mcp_reply *reply)
{
    struct bridged *call = user;
    struct bridge *b = call->bridge;

    if (call->makes_task && reply->type == REPLY_RESULT)
        owned_task_note(call, server_order_origin(call->order), reply->json);
    call->order = NULL;
    if (reply->type != REPLY_RESULT && reply->type != REPLY_CANCELLED)
        b->counts.errors++;
    switch (reply->type) {
    case REPLY_RESULT: give_result(call, reply->json); break;
    case REPLY_ERROR: give_error(call, reply->json); break;
    case REPLY_FAILED: bridged_answer(call, S("error"), reply->json.text); break;
    case REPLY_CANCELLED:
        bridged_fail(call, RPC_INTERNAL, S("the call was cancelled"));
        break;
    }
    bridge_settle(b);
}

/* --- ordering --- */

static void give_order(struct bridged *call, const struct mcp_call *mcp)
{
    struct bridge *b = call->bridge;
    enum err err;

    call->state = BRIDGED_ORDERED;
    err = supervisor_order(b->supervisor, call->to[0], mcp, &call->order);
    if (!err)
        return;
    b->counts.errors++;
    bridged_fail(call, RPC_INTERNAL,
                 err == ERR_OVERLOAD ? S("too many calls wait for this server")
                                     : S("the server is stopped"));
}

void bridged_order(struct bridged *call, struct str method)
{
    CLEANUP(buf_done) struct buf params;
    struct json_writer w;

    buf_init(&params, call->task.len * 6 + 64);
    json_write_init(&w, &params);
    json_object_open(&w);
    json_put_str(&w, S("taskId"), call->task);
    json_object_close(&w);
    give_order(call, &(struct mcp_call){ .method = method,
                                         .params = buf_str(&params),
                                         .ops.on_done = on_done,
                                         .user = call });
}

static void order(struct bridged *call, const struct rpc_request *request,
                  const struct method_order *how)
{
    struct mcp_call mcp = {
        .method = request->method,
        .params = request->params ? request->params->raw : S(""),
        .tool = how->tool,
        .task = how->makes_task ? TASK_PASSED_ON : TASK_AS_NEEDED,
        .ops = { call->token.len ? on_progress : NULL, on_done },
        .user = call,
    };

    CLEANUP(buf_done) struct buf claim;

    buf_init(&claim, BRIDGE_ENVELOPE);
    call->makes_task = how->makes_task;
    call->bridge->counts.calls++;
    bridged_claim(call, request, &mcp, &claim);
    call->state = BRIDGED_ORDERED;
    if (call->level >= 0)
        supervisor_relevel(call->bridge->supervisor);
    give_order(call, &mcp);
}

static void park(struct bridged *call, struct str payload)
{
    call->state = BRIDGED_PARKED;
    call->payload = (struct str){ str_dup(payload), payload.len };
}

/* To everybody only what is worth telling is told: no errors, no empty lists. */
static bool is_worth_telling(const struct rpc_reply *reply)
{
    return !reply->is_error && !str_ends(buf_str(&reply->json), S("[]}"));
}

static void give_reply(struct bridged *call, const struct rpc_reply *reply)
{
    struct bridge *b = call->bridge;
    struct era_change change = bridged_change(call);
    struct json_span result = { .type = JSON_OBJECT, .text = buf_str(&reply->json) };
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, bridge_answer_bytes(b));
    if (call->is_open && !is_worth_telling(reply)) {
        bridged_free(call);
        return;
    }
    if (reply->is_error) {
        bridged_answer(call, S("error"), buf_str(&reply->json));
        return;
    }
    change.is_modern_from = false; /* we made it, as the legacy line has it */
    if (reply->json.is_full || era_put_result(&out, &change, result) || out.is_full)
        bridged_fail(call, RPC_INTERNAL, S("the result is too large"));
    else
        bridged_answer(call, S("result"), buf_str(&out));
}

static bool is_gated(const struct bridge *b, const struct listed *tool)
{
    return b->is_gated || tool->wants_authorization;
}

/* Answers it, orders it, or keeps it until that is possible. */
static void serve(struct bridged *call, const struct rpc_request *request,
                  struct str payload)
{
    struct bridge *b = call->bridge;
    CLEANUP(rpc_reply_done) struct rpc_reply reply;
    struct method_order how = {};

    rpc_reply_init(&reply, bridge_answer_bytes(b));
    switch (bridge_method(b, call->to[0], request, &reply, &how)) {
    case METHOD_ANSWERED: give_reply(call, &reply); return;
    case METHOD_PARKED: park(call, payload); return;
    case METHOD_ORDERED: break;
    }
    /* Nobody would hear of it: it is not done. */
    if (call->is_open || !call->rpc_id.text.ptr)
        bridged_free(call);
    else if (!how.listed || !is_gated(b, how.listed) ||
             !gate_holds(call, request, how.listed, payload))
        order(call, request, &how);
}

/* --- what comes in --- */

static size_t tree_bytes(struct str payload)
{
    return payload.len * BRIDGE_TREE + (1 << 16);
}

/* The one answer for which there is no call. */
static void refuse(struct bridge *b, const struct heard *heard, struct json_span id,
                   const struct str *to, size_t to_count)
{
    static const struct str busy =
        S("{\"code\":-32603,\"message\":\"too many calls wait for this server\"}");

    b->counts.errors++;
    if (!heard->names_me || !id.text.ptr)
        return;
    (void)occupant_answer(b->occupant,
                          &(struct answer){ .request_id = heard->env.id,
                                            .method = heard->env.kind.method,
                                            .context = heard->env.kind.context,
                                            .rpc_id = id,
                                            .to = to,
                                            .to_count = to_count,
                                            .member = S("error"),
                                            .json = busy },
                          bridge_now(b));
}

void bridge_serve(struct bridge *b, const struct heard *heard, const struct str *reply_to,
                  size_t reply_count)
{
    struct str payload = heard->env.payload.text;
    CLEANUP(arena_done) struct arena arena;
    const char *what = "the request is too large";
    struct rpc_request request;
    struct bridged *call;
    enum err err;

    arena_init(&arena, tree_bytes(payload));
    err = rpc_read(payload, &arena, &request, &what);
    call = bridged_new(b, heard, reply_to, reply_count, &request);
    b->about = heard->env.correlation_id;
    if (call)
        call->takes_up = b->takes_up && reply_count > 1;
    if (!call)
        refuse(b, heard, request.id, reply_to, reply_count);
    else if (err && call->is_open)
        bridged_free(call);
    else if (err)
        bridged_fail(call, RPC_INVALID_REQUEST, str_of(what));
    else if (b->is_leaving)
        bridged_fail(call, RPC_INTERNAL, S("the server is leaving"));
    else
        serve(call, &request, payload);
}

void bridged_serve_again(struct bridged *call)
{
    struct str payload = call->payload;
    CLEANUP(xfreep) char *text [[maybe_unused]] = (char *)(uintptr_t)payload.ptr;
    CLEANUP(arena_done) struct arena arena;
    struct rpc_request request;
    const char *what;

    call->payload = (struct str){};
    arena_init(&arena, tree_bytes(payload));
    if (rpc_read(payload, &arena, &request, &what))
        bridged_fail(call, RPC_INTERNAL, S("the request cannot be read again"));
    else
        serve(call, &request, payload);
}

void bridge_unpark(struct bridge *b)
{
    struct bridged *call;

    LIST_FOREACH(call, &b->calls, link)
        if (call->state == BRIDGED_PARKED)
            bridged_serve_again(call);
}

static void fail_parked(struct bridged *call, struct str message)
{
    if (call->is_open)
        bridged_free(call);
    else
        bridged_fail(call, RPC_INTERNAL, message);
}

void bridge_fail_parked(struct bridge *b)
{
    CLEANUP(buf_done) struct buf message;
    struct bridged *call;

    buf_init(&message, 4096);
    buf_put(&message, S("the server is not there"));
    if (b->why && *b->why)
        buf_putf(&message, ": %s", b->why);
    LIST_FOREACH(call, &b->calls, link)
        if (call->state == BRIDGED_PARKED)
            fail_parked(call, buf_str(&message));
}

/* --- what is no longer wanted --- */

static void unwant(struct bridged *call, struct str reason)
{
    call->is_unwanted = true;
    if (call->state == BRIDGED_PARKED || call->state == BRIDGED_GATED ||
        call->state == BRIDGED_UNSENT)
        bridged_free(call);
    else if (call->state == BRIDGED_ORDERED && call->order)
        supervisor_cancel(call->bridge->supervisor, call->order, reason);
}

static bool is_meant(const struct bridged *call, struct str request_id, struct str from)
{
    if (!str_eq(call->to[0], from))
        return false;
    if (str_eq(call->request_id, request_id))
        return true;
    return call->rpc_id.type == JSON_STRING ? json_string_is(call->rpc_id, request_id)
                                            : str_eq(call->rpc_id.text, request_id);
}

void bridge_cancel(struct bridge *b, struct str request_id, struct str from,
                   struct str reason)
{
    struct bridged *call;

    LIST_FOREACH(call, &b->calls, link) {
        if (call->is_unwanted || !is_meant(call, request_id, from))
            continue;
        unwant(call, reason);
        return;
    }
}

void bridge_caller_gone(struct bridge *b, struct str caller)
{
    struct bridged *call;

    LIST_FOREACH(call, &b->calls, link)
        if (str_eq(call->to[0], caller) && !call->is_unwanted)
            unwant(call, S("the caller has left"));
    guest_gone(b, caller);
    supervisor_forget(b->supervisor, caller);
}

void bridge_drop_calls(struct bridge *b)
{
    struct bridged *call;

    LIST_FOREACH(call, &b->calls, link)
        bridged_free(call);
}
