/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a session's owner: how they are sent, how they end. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/result.h"
#include "mcp/session_parts.h"

struct call *call_find(const struct mcp_session *session, uint64_t id)
{
    struct call *call;

    LIST_FOREACH(call, &session->calls, link)
        if (call->id == id)
            return call;
    return NULL;
}

static void call_free(struct mcp_session *session, struct call *call)
{
    session->call_count--;
    list_remove(&call->link);
    round_done(&call->round);
    buf_done(&call->refusal);
    buf_done(&call->advance.held);
    free(call->task_id);
    free(call->relisted);
    free(call->texts);
    free(call);
}

/* --- the end of a call --- */

static void end_call(struct mcp_session *session, struct call *call,
                     const struct mcp_reply *reply)
{
    struct mcp_call_ops ops = call->ops;
    void *user = call->user;

    if (call->errand)
        errand_drop(session, TAKE(call->errand));
    questions_drop(session, call);
    if (reply->type != REPLY_CANCELLED)
        call_tell_progress(session, call);
    call_free(session, call);
    ops.on_done(user, reply);
}

static void put_failure(struct buf *out, const char *reason, const char *why)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("code"));
    json_raw(&w, S("-32603"));
    json_put_str(&w, S("message"), str_of(why));
    json_key(&w, S("data"));
    json_object_open(&w);
    json_put_str(&w, S("reason"), str_of(reason));
    json_object_close(&w);
    json_object_close(&w);
}

void call_fail(struct mcp_session *session, struct call *call, const char *reason,
               const char *why)
{
    struct buf error;

    buf_init(&error, 4096);
    put_failure(&error, reason, why);
    end_call(session, call,
             &(struct mcp_reply){
                 .type = call->fate == FATE_CANCELLED ? REPLY_CANCELLED : REPLY_FAILED,
                 .json = { .type = JSON_OBJECT, .text = buf_str(&error) },
                 .was_sent = call->was_sent });
    buf_done(&error);
}

/* Those that begin meanwhile, where that is possible, are not among them. */
void calls_end(struct mcp_session *session, const char *reason, const char *why)
{
    struct call *call;

    while ((call = LIST_FIRST(&session->calls, struct call, link)) != NULL)
        call_fail(session, call, reason, why);
}

void mcp_calls_free(struct mcp_session *session)
{
    struct call *call;

    LIST_FOREACH(call, &session->calls, link)
        call_free(session, call);
}

void call_give_up(struct mcp_session *session, struct call *call, const char *why)
{
    if (call->fate != FATE_OPEN)
        return;
    call->fate = FATE_FAILED;
    call->why = why;
    mcp_session_wake(session, session->now_ms);
}

void call_refuse(struct mcp_session *session, struct call *call, struct str why)
{
    struct result_of of = { .method = call->method,
                            .is_modern = session_is_modern(session) };
    struct rpc_reply reply;

    rpc_reply_init(&reply, session->settings.max_message);
    result_write_failure(&reply, &of, why);
    call->fate = FATE_REFUSED;
    call->refusal = reply.json;
    call->is_refusal_error = reply.is_error;
    mcp_session_wake(session, session->now_ms);
}

static void end_refused(struct mcp_session *session, struct call *call)
{
    struct buf refusal = call->refusal;

    call->refusal = (struct buf){};
    end_call(
        session, call,
        &(struct mcp_reply){ .type = call->is_refusal_error ? REPLY_ERROR : REPLY_RESULT,
                             .json = { .type = JSON_OBJECT, .text = buf_str(&refusal) },
                             .was_sent = true });
    buf_done(&refusal);
}

/* --- answers --- */

void call_hear_mishap(struct mcp_session *session, struct call *call,
                      const struct mishap *mishap)
{
    static const char *const reasons[] = {
        [MISHAP_STATUS] = "http_status",  [MISHAP_FORGOTTEN] = "session_lost",
        [MISHAP_FORBIDDEN] = "forbidden", [MISHAP_BROKEN] = "broken",
        [MISHAP_TIMEOUT] = "timeout",     [MISHAP_TOO_BIG] = "too_big",
    };

    call_fail(session, call, reasons[mishap->type], mishap->why);
}

/* A legacy server that forgot the session did not run it: it may be sent once more. */
static bool is_sent_again(struct mcp_session *session, struct call *call,
                          const struct mishap *mishap)
{
    if (mishap->type != MISHAP_FORGOTTEN || session_is_modern(session))
        return false;
    call->was_sent = false;
    if (call->was_again)
        return false;
    call->was_again = true;
    if (session->stage == STAGE_READY)
        session_reopen(session);
    return true;
}

void mcp_call_finish(struct mcp_session *session, struct call *call,
                     const struct answer *answer)
{
    struct mcp_reply reply = { .type = answer->type == ANSWER_ERROR ? REPLY_ERROR
                                                                    : REPLY_RESULT,
                               .json = answer->json,
                               .was_sent = true };

    if (answer->json.type != JSON_OBJECT)
        call_fail(session, call, "bad_result", "the result is no object");
    else
        end_call(session, call, &reply);
}

/* What it is not said to be, it is not: a legacy server says nothing. */
static bool is_known_type(struct json_span result)
{
    static const struct str known[] = { S("complete"), S("input_required"), S("task") };
    struct json_span type = mcp_message_member(result, S("resultType"));

    for (size_t i = 0; i < COUNT(known); i++)
        if (type.text.ptr && type.type == JSON_STRING && json_string_is(type, known[i]))
            return true;
    return !type.text.ptr;
}

static void on_result(struct mcp_session *session, struct call *call,
                      const struct answer *answer)
{
    bool is_modern = session_is_modern(session);

    if (is_modern && !is_known_type(answer->json))
        call_fail(session, call, "bad_result", "the result is of an unknown type");
    else if (!(is_modern && mrtr_hear(session, call, answer->json)) &&
             !task_hear(session, call, answer->json))
        mcp_call_finish(session, call, answer);
}

static void on_call_answer(struct mcp_session *session, struct call *call,
                           const struct answer *answer)
{
    switch (answer->type) {
    case ANSWER_RESULT: on_result(session, call, answer); break;
    case ANSWER_ERROR:
        if (!again_hear(session, call, answer->json))
            mcp_call_finish(session, call, answer);
        break;
    case ANSWER_MISHAP:
        if (!is_sent_again(session, call, answer->mishap))
            call_hear_mishap(session, call, answer->mishap);
        break;
    }
}

/* --- sending --- */

/* A modern server decides for itself what runs as a task. */
static bool passes_task(const struct mcp_session *session, const struct call *call)
{
    return call->task == TASK_PASSED_ON && !session_is_modern(session);
}

static bool names_task(const struct mcp_session *session, const struct call *call)
{
    struct json_span params = { .type = JSON_OBJECT, .text = call->params };

    return passes_task(session, call) && call->params.len &&
           mcp_message_member(params, S("task")).text.ptr;
}

/* Whose the state and the answers in params are: the caller's, until we asked for him. */
static bool has_own_round(const struct mcp_session *session, const struct call *call)
{
    return call->takes_unfinished && session_is_modern(session) && !call->round.count;
}

/* `task` is the caller's own business, or the session's; a state and answers are those of
 * the last round. */
static enum err call_send(struct mcp_session *session, struct call *call, struct str more)
{
    static const struct str ours[] = { S("task"), S("requestState"),
                                       S("inputResponses") };
    size_t first = names_task(session, call) ? 1 : 0;
    size_t end = has_own_round(session, call) ? 1 : COUNT(ours);
    struct params_change change = { .params = call->params,
                                    .without = { ours + first, end - first },
                                    .more = more,
                                    .token = call->ops.on_progress ? call->id : 0,
                                    .capable = call->capable,
                                    .log_level = call->log_level };
    struct errand_order order = { .method = call->method,
                                  .call = call,
                                  .until_ms = UINT64_MAX,
                                  .on_answer = on_call_answer,
                                  .tool = call->tool };
    enum err err;

    call->is_augmented = task_is_needed(session, call);
    if (!first && (call->is_augmented || passes_task(session, call)))
        change.more = S("\"task\":{}");
    order.params = session_params(session, &change);
    err = errand_send(session, &order, &call->errand);
    if (!err)
        call->was_sent = true;
    return err;
}

static enum err call_begin(struct mcp_session *session, struct call *call)
{
    call->is_follower = str_eq(call->method, S("tasks/result"));
    if (call->is_follower)
        task_name(call);
    return call->is_follower && session_is_modern(session)
               ? task_follow(session, call)
               : call_send(session, call, S(""));
}

void call_resend(struct mcp_session *session, struct call *call, struct str more)
{
    call_prolong(session, call);
    call->advance.is_anew = true;
    if (call_send(session, call, more))
        call_give_up(session, call, "it could not be sent again");
}

void calls_again(struct mcp_session *session)
{
    struct call *call;

    LIST_FOREACH(call, &session->calls, link)
        if (!call->errand && call->was_again && !call->was_sent)
            call_resend(session, call, S(""));
}

static void keep_texts(struct call *new, const struct mcp_call *call)
{
    const struct {
        struct str from, *to;
    } texts[] = {
        { call->method, &new->method },       { call->params, &new->params },
        { call->tool, &new->tool },           { call->capable, &new->capable },
        { call->log_level, &new->log_level },
    };
    size_t len = 0;

    for (size_t i = 0; i < COUNT(texts); i++)
        len += texts[i].from.len;
    new->texts = xmalloc(len + 1);
    len = 0;
    for (size_t i = 0; i < COUNT(texts); i++) {
        *texts[i].to = text_keep(new->texts + len, texts[i].from);
        len += texts[i].from.len;
    }
}

static struct call *call_new(struct mcp_session *session, const struct mcp_call *call)
{
    struct call *new = xcalloc(1, sizeof(*new));
    uint64_t timeout = call->timeout_ms ? call->timeout_ms : session->settings.call_ms;

    keep_texts(new, call);
    new->takes_unfinished = call->takes_unfinished;
    new->answers_roots = call->answers_roots;
    new->ops = call->ops;
    new->user = call->user;
    new->task = call->task;
    new->timeout_ms = timeout;
    new->until_ms = session->now_ms + timeout;
    new->last_ms = session->now_ms + (session->settings.call_max_ms > timeout
                                          ? session->settings.call_max_ms
                                          : timeout);
    new->wake_ms = UINT64_MAX;
    new->id = session->ids + 1;
    session->call_count++;
    list_append(&session->calls, &new->link);
    return new;
}

enum err mcp_session_call(struct mcp_session *session, const struct mcp_call *call,
                          uint64_t now_ms, uint64_t *ret_call)
{
    struct call *new;
    enum err err;

    if (session->stage != STAGE_READY || session->why)
        return session->stage == STAGE_OVER || session->why ? ERR_CLOSED : ERR_AGAIN;
    if (session->call_count >= session->settings.max_calls)
        return ERR_OVERLOAD;
    session->now_ms = now_ms;
    new = call_new(session, call);
    err = call_begin(session, new);
    if (err) {
        call_free(session, new);
        return err;
    }
    session->has_passed_on |= new->task == TASK_PASSED_ON;
    *ret_call = new->id;
    mcp_session_wake(session, new->until_ms);
    return OK;
}

/* --- cancelling --- */

/* The server is told that nobody waits. A task is cancelled as one (CANC-03), but not by
 * who only waits for its result: it is its owner's, who may ask again. */
static void call_off(struct mcp_session *session, struct call *call, struct str reason)
{
    if (!call->is_follower && (call->task_id || call->is_augmented))
        task_cancel(session, call);
    else if (call->errand)
        session_call_off(session, TAKE(call->errand), reason);
}

void mcp_session_cancel(struct mcp_session *session, uint64_t call, struct str reason,
                        uint64_t now_ms)
{
    struct call *found = call_find(session, call);

    session->now_ms = now_ms;
    if (!found || found->fate != FATE_OPEN)
        return;
    found->fate = FATE_CANCELLED;
    found->why = "it was cancelled";
    call_off(session, found, reason);
    mcp_session_wake(session, now_ms);
}

/* --- time --- */

void call_prolong(struct mcp_session *session, struct call *call)
{
    call->until_ms = session->now_ms + call->timeout_ms;
}

void call_wake(struct mcp_session *session, struct call *call, uint64_t after_ms,
               void (*on_wake)(struct mcp_session *session, struct call *call))
{
    call->wake_ms = session->now_ms + after_ms;
    call->on_wake = on_wake;
    mcp_session_wake(session, call->wake_ms);
}

/* While somebody is asked, only the time for everything counts. */
static uint64_t call_due(const struct mcp_session *session, const struct call *call)
{
    uint64_t at = call->last_ms;

    if (call->fate != FATE_OPEN)
        return 0;
    if (call->until_ms < at && !questions_wait(session, call))
        at = call->until_ms;
    if (call_progress_due(call) < at)
        at = call_progress_due(call);
    return call->wake_ms < at ? call->wake_ms : at;
}

static struct call *due_call(const struct mcp_session *session)
{
    struct call *call;

    LIST_FOREACH(call, &session->calls, link)
        if (call_due(session, call) <= session->now_ms)
            return call;
    return NULL;
}

static void call_tick(struct mcp_session *session, struct call *call)
{
    switch (call->fate) {
    case FATE_REFUSED: end_refused(session, call); return;
    case FATE_CANCELLED: call_fail(session, call, "cancelled", call->why); return;
    case FATE_FAILED: call_fail(session, call, "overload", call->why); return;
    case FATE_OPEN: break;
    }
    if (call_progress_due(call) <= session->now_ms) {
        call_tell_progress(session, call);
        return;
    }
    if (call->wake_ms <= session->now_ms) {
        call->wake_ms = UINT64_MAX;
        call->on_wake(session, call);
        return;
    }
    call_off(session, call, S("timeout"));
    call_fail(session, call, "timeout", "the server did not answer in time");
}

void mcp_calls_tick(struct mcp_session *session)
{
    struct call *call;

    while ((call = due_call(session)) != NULL)
        call_tick(session, call);
    LIST_FOREACH(call, &session->calls, link)
        mcp_session_wake(session, call_due(session, call));
}

/* --- what belongs to a call --- */

static const struct call *call_of_task(const struct mcp_session *session,
                                       struct json_span id)
{
    struct call *call;

    LIST_FOREACH(call, &session->calls, link) {
        struct str own = str_of(call->task_id);

        if (own.len && str_eq(str_slice(own, 1, own.len - 1), id.text))
            return call;
    }
    return NULL;
}

uint64_t call_behind(const struct mcp_session *session, const struct mcp_message *message,
                     uint64_t via)
{
    static const struct str path[] = { S("_meta"), RELATED_TASK, S("taskId") };
    const struct errand *errand = via ? errand_find(session, via) : NULL;
    struct json_span task = mcp_message_find(message->params, path, COUNT(path));
    const struct call *call = errand ? errand->call : NULL;

    if (!call && task.text.ptr && task.type == JSON_STRING)
        call = call_of_task(session, task);
    return call ? call->id : 0;
}
