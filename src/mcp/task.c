/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that run as tasks. Their owner does not notice: the task is polled until it ends,
 * and what it asks becomes questions.
 *
 *     legacy: tools/call with `task` ─► { task } ─► tasks/get … ─► tasks/result
 *     modern: tools/call ─► resultType "task" ─► tasks/get …, its end in it
 *                                                  └ inputRequests ─► tasks/update
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "mcp/ability.h"
#include "mcp/session_parts.h"

enum { POLL_MS = 1000, POLL_MIN_MS = 50, POLL_MAX_MS = 60000 };

static void poll(struct mcp_session *session, struct call *call);
static void hear_task(struct mcp_session *session, struct call *call,
                      struct json_span task);

static bool says(struct json_span span, struct str text)
{
    return span.text.ptr && span.type == JSON_STRING && json_string_is(span, text);
}

bool task_is_needed(const struct mcp_session *session, const struct call *call)
{
    return call->task == TASK_AS_NEEDED && !session_is_modern(session) &&
           session->settings.has_tasks && call->tool.len &&
           ability_needs_task(call->tool) && ability_has_tasks(session->facts.capable);
}

/* --- requests of a task --- */

static struct str task_params(struct mcp_session *session, const struct call *call,
                              struct str more)
{
    struct buf members;
    struct str params;

    buf_init(&members, session->settings.max_message);
    buf_put(&members, S("\"taskId\":"));
    buf_put(&members, str_of(call->task_id));
    buf_put(&members, more);
    params =
        session_params(session, &(struct params_change){ .more = buf_str(&members) });
    session->params.is_full |= members.is_full;
    buf_done(&members);
    return params;
}

/* An errand of a call that has a task. Mcp-Name is the task's id. */
static enum err
ask(struct mcp_session *session, struct call *call, struct str method, struct str more,
    void (*on_answer)(struct mcp_session *, struct call *, const struct answer *))
{
    struct errand_order order = {
        .method = method, .call = call, .until_ms = UINT64_MAX, .on_answer = on_answer
    };

    order.params = task_params(session, call, more);
    return errand_send(session, &order, &call->errand);
}

static void
ask_on(struct mcp_session *session, struct call *call, struct str method, struct str more,
       void (*on_answer)(struct mcp_session *, struct call *, const struct answer *))
{
    if (ask(session, call, method, more, on_answer))
        call_give_up(session, call, "its task could not be followed");
}

/* --- to its end --- */

static void on_result(struct mcp_session *session, struct call *call,
                      const struct answer *answer)
{
    if (answer->type == ANSWER_MISHAP)
        call_hear_mishap(session, call, answer->mishap);
    else
        mcp_call_finish(session, call, answer);
}

static void on_state(struct mcp_session *session, struct call *call,
                     const struct answer *answer)
{
    if (answer->type == ANSWER_RESULT)
        hear_task(session, call, answer->json);
    else
        on_result(session, call, answer);
}

static void poll(struct mcp_session *session, struct call *call)
{
    ask_on(session, call, S("tasks/get"), S(""), on_state);
}

/* However long the server wants to be left alone, its answer has its time after that. */
static void poll_later(struct mcp_session *session, struct call *call)
{
    call_prolong(session, call);
    call->until_ms += call->poll_ms;
    call_wake(session, call, call->poll_ms, poll);
}

/* --- modern: what it asks, and its end --- */

static void on_updated(struct mcp_session *session, struct call *call,
                       const struct answer *answer)
{
    if (answer->type == ANSWER_RESULT)
        call_wake(session, call, POLL_MIN_MS, poll);
    else
        on_result(session, call, answer);
}

static void update(struct mcp_session *session, struct call *call)
{
    struct buf more;

    buf_init(&more, session->settings.max_message);
    buf_put(&more, S(",\"inputResponses\":{"));
    buf_put(&more, buf_str(&call->round.answers));
    buf_putc(&more, '}');
    if (more.is_full || call->round.answers.is_full)
        call_give_up(session, call, "the answers are too large");
    else
        ask_on(session, call, S("tasks/update"), buf_str(&more), on_updated);
    buf_done(&more);
}

static void hear_questions(struct mcp_session *session, struct call *call,
                           struct json_span task)
{
    call->round.on_answered = update;
    call->round.open = 0;
    if (round_begin(session, call, mcp_message_member(task, S("inputRequests"))) &&
        !call->errand && !call->round.open && call->fate == FATE_OPEN)
        poll_later(session, call);
}

static void hear_modern_end(struct mcp_session *session, struct call *call,
                            struct json_span task, struct json_span status)
{
    struct json_span result = mcp_message_member(task, S("result"));
    struct json_span error = mcp_message_member(task, S("error"));

    if (says(status, S("completed")) && result.text.ptr && result.type == JSON_OBJECT)
        mcp_call_finish(session, call,
                        &(struct answer){ .type = ANSWER_RESULT, .json = result });
    else if (says(status, S("failed")) && error.text.ptr && error.type == JSON_OBJECT)
        mcp_call_finish(session, call,
                        &(struct answer){ .type = ANSWER_ERROR, .json = error });
    else
        call_fail(session, call, "task_cancelled",
                  says(status, S("cancelled")) ? "the server cancelled its task"
                                               : "its task ended without a result");
}

/* --- both --- */

static void keep_poll(struct call *call, struct json_span task)
{
    struct json_span legacy = mcp_message_member(task, S("pollInterval"));
    struct json_span modern = mcp_message_member(task, S("pollIntervalMs"));
    uint64_t ms = POLL_MS;

    if (!mcp_message_number(modern, &ms))
        (void)mcp_message_number(legacy, &ms);
    if (ms < POLL_MIN_MS)
        ms = POLL_MIN_MS;
    call->poll_ms = ms < POLL_MAX_MS ? ms : POLL_MAX_MS;
}

/* A task that is at work is a sign of life. One that asks or has ended says so on
 * tasks/result (TASK-10), or right here in the modern era. */
static void hear_task(struct mcp_session *session, struct call *call,
                      struct json_span task)
{
    struct json_span status = mcp_message_member(task, S("status"));

    keep_poll(call, task);
    call_prolong(session, call);
    if (says(status, S("working")))
        poll_later(session, call);
    else if (!session_is_modern(session))
        ask_on(session, call, S("tasks/result"), S(""), on_result);
    else if (says(status, S("input_required")))
        hear_questions(session, call, task);
    else
        hear_modern_end(session, call, task, status);
}

/* The task that a result tells of; text.ptr NULL: none. */
static struct json_span created(const struct mcp_session *session,
                                const struct call *call, struct json_span result)
{
    struct json_span task = result;

    if (session_is_modern(session)) {
        if (!says(mcp_message_member(result, S("resultType")), S("task")))
            return (struct json_span){};
    } else {
        task = call->is_augmented ? mcp_message_member(result, S("task"))
                                  : (struct json_span){};
    }
    return mcp_message_member(task, S("taskId")).text.ptr ? task : (struct json_span){};
}

static void keep_id(struct call *call, struct json_span id)
{
    if (!id.text.ptr || id.type != JSON_STRING)
        return;
    free(call->task_id);
    call->task_id = str_dup((struct str){ id.text.ptr - 1, id.text.len + 2 });
}

bool task_hear(struct mcp_session *session, struct call *call, struct json_span result)
{
    struct json_span task = created(session, call, result);
    struct json_span status = mcp_message_member(task, S("status"));

    if (!task.text.ptr || call->task == TASK_PASSED_ON)
        return false;
    keep_id(call, mcp_message_member(task, S("taskId")));
    if (!call->task_id) {
        call_fail(session, call, "bad_result", "a task without an id");
    } else if (session_is_modern(session) && !says(status, S("working"))) {
        keep_poll(call, task);
        call_wake(session, call, 0, poll);
    } else {
        hear_task(session, call, task);
    }
    return true;
}

void task_name(struct call *call)
{
    struct json_span params = { .type = JSON_OBJECT, .text = call->params };

    if (call->params.len)
        keep_id(call, mcp_message_member(params, S("taskId")));
}

enum err task_follow(struct mcp_session *session, struct call *call)
{
    if (!call->task_id)
        return ERR_INVALID;
    call->poll_ms = POLL_MS;
    return ask(session, call, S("tasks/get"), S(""), on_state);
}

/* --- nobody waits --- */

static void on_cancelled(struct mcp_session *session, struct call *call,
                         const struct answer *answer)
{
    (void)session;
    (void)call;
    (void)answer;
}

static void say_cancel(struct mcp_session *session, struct str id)
{
    struct buf members;
    struct errand_order order = { .method = S("tasks/cancel"),
                                  .until_ms = session->now_ms + session->settings.open_ms,
                                  .on_answer = on_cancelled };
    static const struct str path[] = { S("tasks"), S("cancel") };
    struct errand *errand;

    if (!session_is_modern(session) &&
        !mcp_message_find(session->facts.capable, path, COUNT(path)).text.ptr)
        return;
    buf_init(&members, session->settings.max_message);
    buf_put(&members, S("\"taskId\":"));
    buf_put(&members, id);
    order.params =
        session_params(session, &(struct params_change){ .more = buf_str(&members) });
    (void)errand_send(session, &order, &errand);
    buf_done(&members);
}

/* The task of a call that was cancelled before its task had a name. */
static void on_late_task(struct mcp_session *session, struct call *call,
                         const struct answer *answer)
{
    static const struct str path[] = { S("task"), S("taskId") };
    struct json_span id = {};

    (void)call;
    if (answer->type == ANSWER_RESULT)
        id = mcp_message_find(answer->json, path, COUNT(path));
    if (id.text.ptr && id.type == JSON_STRING)
        say_cancel(session, (struct str){ id.text.ptr - 1, id.text.len + 2 });
}

void task_cancel(struct mcp_session *session, struct call *call)
{
    struct errand *errand = call->errand;

    if (call->task_id) {
        if (errand)
            errand_drop(session, TAKE(call->errand));
        say_cancel(session, str_of(call->task_id));
    } else if (call->is_augmented && errand) {
        call->errand = NULL;
        errand->call = NULL;
        errand->on_answer = on_late_task;
        errand->until_ms = session->now_ms + session->settings.open_ms;
        mcp_session_wake(session, errand->until_ms);
    }
}
