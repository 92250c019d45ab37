/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks across the eras, where one answer is not the other in another shape (era.h):
 *
 *     modern caller, legacy server    tasks/get ─► tasks/get ─► tasks/result, inlined
 *                                     tasks/cancel ─► whatever is said: done
 *     legacy caller, modern server    tasks/cancel ─► tasks/cancel ─► tasks/get
 */
#include "base/cleanup.h"
#include "bridge/bridge_priv.h"
#include "mcp/era.h"

static bool says(struct json_span task, struct str status)
{
    struct json_span own = mcp_message_member(task, S("status"));

    return own.text.ptr && own.type == JSON_STRING && json_string_is(own, status);
}

static bool has_result(struct json_span task)
{
    return says(task, S("completed")) || says(task, S("failed"));
}

static void give(struct bridged *call, const struct buf *out)
{
    if (out->is_full)
        bridged_fail(call, RPC_INTERNAL, S("the result is too large"));
    else
        bridged_answer(call, S("result"), buf_str(out));
}

/* --- to modern callers --- */

void bridge_put_meta(const struct bridge *b, struct json_writer *w)
{
    if (!b->facts.server || !*b->facts.server)
        return;
    json_key(w, S("_meta"));
    json_object_open(w);
    json_key(w, S("io.modelcontextprotocol/serverInfo"));
    json_raw(w, str_of(b->facts.server));
    json_object_close(w);
}

static void begin(struct json_writer *w, struct buf *out, struct json_span task,
                  struct str status)
{
    json_write_init(w, out);
    json_object_open(w);
    json_put_str(w, S("resultType"), S("complete"));
    era_put_task(w, task, true, status);
}

/* What it asks is what counts: a task that waits without a question is at work. */
static void give_state(struct bridged *call, const struct owned_task *task,
                       struct json_span state)
{
    bool asks = !list_is_empty(&task->inputs);
    struct str status = asks                               ? S("input_required")
                        : says(state, S("input_required")) ? S("working")
                                                           : S("");
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, bridge_answer_bytes(call->bridge));
    begin(&w, &out, state, status);
    if (asks)
        inputs_put(task, &w);
    bridge_put_meta(call->bridge, &w);
    json_object_close(&w);
    give(call, &out);
}

/* A tool that failed has completed; only what JSON-RPC calls an error is a failure. */
static void give_end(struct bridged *call, struct str member, struct str json)
{
    struct json_span task = { .type = JSON_OBJECT, .text = str_of(call->looked) };
    bool is_error = str_eq(member, S("error"));
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, bridge_answer_bytes(call->bridge));
    begin(&w, &out, task, is_error ? S("failed") : S("completed"));
    json_key(&w, member);
    json_raw(&w, json);
    bridge_put_meta(call->bridge, &w);
    json_object_close(&w);
    give(call, &out);
}

static void give_result(struct bridged *call, struct json_span result)
{
    struct era_change change = { .method = S("tools/call"), .is_modern_to = true };
    CLEANUP(buf_done) struct buf inner;

    buf_init(&inner, bridge_answer_bytes(call->bridge));
    if (era_put_result(&inner, &change, result) || inner.is_full)
        bridged_fail(call, RPC_INTERNAL, S("the result is too large"));
    else
        give_end(call, S("result"), buf_str(&inner));
}

static void look(struct bridged *call, struct owned_task *task, struct json_span state)
{
    if (has_result(state)) {
        call->looked = str_dup(state.text);
        bridged_order(call, S("tasks/result"));
        return;
    }
    if (says(state, S("input_required")))
        input_wait(task);
    give_state(call, task, state);
}

static void acknowledge(struct bridged *call)
{
    struct era_change change = bridged_change(call);
    struct json_span nothing = { .type = JSON_OBJECT, .text = S("{}") };
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, bridge_answer_bytes(call->bridge));
    (void)era_put_result(&out, &change, nothing);
    give(call, &out);
}

/* --- to legacy callers --- */

static void give_cancelled(struct bridged *call, struct json_span state)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, bridge_answer_bytes(call->bridge));
    json_write_init(&w, &out);
    json_object_open(&w);
    era_put_task(&w, state, false, S("cancelled"));
    json_object_close(&w);
    give(call, &out);
}

/* TASK-13: it is cancelled when this is answered, and stays so; a modern server only
 * takes note. One that had ended cannot be. */
static void cancel(struct bridged *call, struct owned_task *task, struct json_span state)
{
    if (!call->is_second) {
        call->is_second = true;
        bridged_order(call, S("tasks/get"));
    } else if (has_result(state) && !task->is_cancelled) {
        owned_task_seen(task, state);
        bridged_fail(call, RPC_INVALID_PARAMS, S("the task has ended"));
    } else {
        task->is_cancelled = true;
        task->is_over = true;
        owned_task_seen(task, state);
        give_cancelled(call, state);
    }
}

/* --- both --- */

static bool is_from_modern(const struct bridged *call)
{
    return call->bridge->facts.era == ERA_MODERN;
}

static bool turn_get(struct bridged *call, struct owned_task *task,
                     struct json_span state)
{
    owned_task_seen(task, state);
    if (call->is_modern && !is_from_modern(call))
        look(call, task, state);
    else if (task->is_cancelled && !call->is_modern)
        give_cancelled(call, state);
    else
        return false;
    return true;
}

static bool turn_cancel(struct bridged *call, struct owned_task *task,
                        struct json_span state)
{
    if (!call->is_modern && is_from_modern(call)) {
        cancel(call, task, state);
        return true;
    }
    owned_task_seen(task, state);
    return false;
}

bool bridge_turn_result(struct bridged *call, struct json_span result)
{
    struct owned_task *task = owned_task_find(call->bridge, call->task);

    if (call->looked) {
        give_result(call, result);
        return true;
    }
    if (!task)
        return false;
    if (str_eq(call->method, S("tasks/get")))
        return turn_get(call, task, result);
    if (str_eq(call->method, S("tasks/cancel")))
        return turn_cancel(call, task, result);
    task->is_over |= str_eq(call->method, S("tasks/result"));
    return false;
}

bool bridge_turn_error(struct bridged *call, struct json_span error)
{
    struct era_change change = bridged_change(call);
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, bridge_answer_bytes(call->bridge));
    if (call->looked) {
        if (era_put_error(&out, &change, error) || out.is_full)
            return false;
        give_end(call, S("error"), buf_str(&out));
        return true;
    }
    if (!call->is_modern || is_from_modern(call) ||
        !str_eq(call->method, S("tasks/cancel")))
        return false;
    acknowledge(call);
    return true;
}
