/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A proposal that waits for a decision as a task (io.modelcontextprotocol/tasks): its
 * client polls, and need not hold a request open.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "mcp/rpc.h"
#include "mcp/serve.h"
#include "mcpdoor/wish_priv.h"
#include "participant/pick.h"

enum { WORDS = 4096 };

static struct str status_of(const struct wish *wish)
{
    if (wish->was_cancelled)
        return S("cancelled");
    if (wish->state != WISH_ANSWERED)
        return S("working");
    return wish->was_error ? S("failed") : S("completed");
}

static void put_task(struct json_writer *w, struct wish *wish)
{
    CLEANUP(buf_done) struct buf id;

    buf_init(&id, (size_t)4 * WORDS);
    wish_put_sealed(wish, SEALED_TASK, &id);
    json_put_str(w, S("taskId"), buf_str(&id));
    json_put_str(w, S("status"), status_of(wish));
    if (wish->state == WISH_PROPOSED) {
        buf_clear(&id);
        wish_put_waiting(&id, wish);
        json_put_str(w, S("statusMessage"), buf_str(&id));
    }
    json_put_time(w, S("createdAt"), wish->created_ms);
    json_put_time(w, S("lastUpdatedAt"), wish->changed_ms);
    json_put_uint(w, S("ttlMs"), WISH_TASK_MS);
    json_put_uint(w, S("pollIntervalMs"), WISH_TASK_POLL_MS);
}

void wisher_hand_out(struct wisher *wisher)
{
    struct wish *wish = wisher->wish;
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, (size_t)32 * WORDS);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("resultType"), S("task"));
    put_task(&w, wish);
    json_object_close(&w);
    wish->is_task = true;
    wisher_answer(wisher, false, buf_str(&out));
}

static void get(const struct asked_for *ask, struct wish *wish)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, wish->answer.len + (size_t)32 * WORDS);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("resultType"), S("complete"));
    put_task(&w, wish);
    if (wish->state == WISH_ANSWERED && !wish->was_cancelled) {
        json_key(&w, wish->was_error ? S("error") : S("result"));
        json_raw(&w, buf_str(&wish->answer));
    }
    json_object_close(&w);
    asked_answer(ask, buf_str(&out));
}

/* Of what has ended there is nothing to cancel, and the same word for it. Others who wait
 * for the same call are told with the next tick. */
static void cancel(const struct asked_for *ask, struct wish *wish)
{
    if (wish->state != WISH_ANSWERED) {
        wish_stop(wish, S("cancelled by the client"));
        buf_clear(&wish->answer);
        wish_put_failure(&wish->answer, wish->method, wish->is_modern,
                         S("it was cancelled"), &wish->was_error);
        wish->state = WISH_ANSWERED;
        wish->was_cancelled = true;
        wish->changed_ms = wish_now(wish).wall_ms;
        wish->tell_ms = UINT64_MAX;
        wish_due(wish, list_is_empty(&wish->wishers) ? WISH_KEPT_MS : 0);
    }
    asked_answer(ask, S("{\"resultType\":\"complete\"}"));
}

static void serve(const struct asked_for *ask, struct wish *wish)
{
    struct str method = ask->in->message.method;

    if (str_eq(method, S("tasks/get")))
        get(ask, wish);
    else if (str_eq(method, S("tasks/cancel")))
        cancel(ask, wish);
    else if (str_eq(method, S("tasks/update")))
        asked_answer(ask, S("{\"resultType\":\"complete\"}")); /* it asks nothing */
    else
        asked_fail(ask, RPC_METHOD_NOT_FOUND, S("Method not found"), S(""));
}

/* The extension is the client's to declare, with each request; the legacy line has tasks
 * without. */
static bool refuse_undeclared(const struct asked_for *ask)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply = {};

    if (ask->in->era != ERA_MODERN || client_can(ask->in->capable) & CAN_POLL_TASKS)
        return false;
    rpc_reply_init(&reply, WORDS);
    client_fail_missing(&reply, CAN_POLL_TASKS);
    asked_refuse(ask, SERVE_MISSING_CAPABILITY, buf_str(&reply.json));
    return true;
}

bool wish_task(const struct asked_for *ask)
{
    const struct mcp_message *message = &ask->in->message;
    struct json_span id = {};
    struct wish *wish = NULL;
    struct sealed sealed;
    enum err err;

    if (!str_starts(message->method, S("tasks/")))
        return false;
    if (refuse_undeclared(ask))
        return true;
    if (!message->params.text.ptr || !PICK(message->params, { S("taskId"), &id }) ||
        !pick_is(id, JSON_STRING) ||
        !wish_read_sealed(ask->attendee, SEALED_TASK, id.text, &sealed, &err))
        return false;
    if (!err && sealed.boot == ask->attendee->hall->settings.boot)
        wish = wish_of_number(ask->attendee, sealed.number);
    if (wish && wish->is_task)
        serve(ask, wish);
    else
        asked_fail(ask, RPC_INVALID_PARAMS, S("Unknown task"), S(""));
    return true;
}
