/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a session's owner: how they are sent, how they end. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/session_priv.h"

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
    free(call->texts);
    free(call);
}

/* --- the end of a call --- */

void call_end(struct mcp_session *session, struct call *call,
              const struct mcp_reply *reply)
{
    struct mcp_call_ops ops = call->ops;
    void *user = call->user;

    if (call->errand)
        errand_drop(session, TAKE(call->errand));
    questions_drop(session, call);
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
    call_end(session, call,
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

void calls_free(struct mcp_session *session)
{
    struct call *call;

    LIST_FOREACH(call, &session->calls, link)
        call_free(session, call);
}

/* --- sending --- */

static void on_call_mishap(struct mcp_session *session, struct call *call,
                           const struct mishap *mishap)
{
    static const char *const reasons[] = {
        [MISHAP_STATUS] = "http_status",  [MISHAP_FORGOTTEN] = "session_lost",
        [MISHAP_FORBIDDEN] = "forbidden", [MISHAP_BROKEN] = "broken",
        [MISHAP_TIMEOUT] = "timeout",     [MISHAP_TOO_BIG] = "too_big",
    };

    /* It did not run, so it may be sent once more. */
    if (mishap->type == MISHAP_FORGOTTEN && !session_is_modern(session)) {
        call->was_sent = false;
        if (!call->was_again) {
            call->was_again = true;
            if (session->stage == STAGE_READY)
                session_reopen(session);
            return;
        }
    }
    call_fail(session, call, reasons[mishap->type], mishap->why);
}

static void on_call_answer(struct mcp_session *session, struct call *call,
                           const struct answer *answer)
{
    if (answer->type == ANSWER_MISHAP)
        on_call_mishap(session, call, answer->mishap);
    else
        call_end(session, call,
                 &(struct mcp_reply){ .type = answer->type == ANSWER_ERROR ? REPLY_ERROR
                                                                           : REPLY_RESULT,
                                      .json = answer->json,
                                      .was_sent = true });
}

static enum err call_send(struct mcp_session *session, struct call *call)
{
    struct errand_order order = { .method = call->method,
                                  .call = call,
                                  .until_ms = UINT64_MAX,
                                  .on_answer = on_call_answer };
    enum err err;

    order.params = session_params(
        session,
        &(struct params_change){ .params = call->params,
                                 .token = call->ops.on_progress ? call->id : 0 });
    err = errand_send(session, &order, &call->errand);
    if (!err)
        call->was_sent = true;
    return err;
}

void calls_again(struct mcp_session *session)
{
    struct call *call;

    LIST_FOREACH(call, &session->calls, link) {
        if (call->errand || !call->was_again || call->was_sent)
            continue;
        if (call_send(session, call)) {
            call->fate = FATE_FAILED;
            call->why = "it could not be sent again";
            session_wake(session, session->now_ms);
        }
    }
}

static struct call *call_new(struct mcp_session *session, const struct mcp_call *call)
{
    struct call *new = xcalloc(1, sizeof(*new));
    uint64_t timeout = call->timeout_ms ? call->timeout_ms : session->settings.call_ms;

    new->texts = xmalloc(call->method.len + call->params.len + call->tool.len + 1);
    new->method = text_keep(new->texts, call->method);
    new->params = text_keep(new->texts + call->method.len, call->params);
    new->tool = text_keep(new->texts + call->method.len + call->params.len, call->tool);
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
    err = call_send(session, new);
    if (err) {
        call_free(session, new);
        return err;
    }
    *ret_call = new->id;
    session_wake(session, new->until_ms);
    return OK;
}

/* --- cancelling --- */

static void say_cancelled(struct mcp_session *session, uint64_t id, struct str reason)
{
    struct json_writer w;

    buf_clear(&session->params);
    json_write_init(&w, &session->params);
    json_object_open(&w);
    json_put_uint(&w, S("requestId"), id);
    if (reason.len)
        json_put_str(&w, S("reason"), reason);
    json_object_close(&w);
    (void)session_say(session, S("notifications/cancelled"), buf_str(&session->params));
}

/* The server is told that nobody waits. */
static void call_off(struct mcp_session *session, struct call *call, struct str reason)
{
    struct errand *errand = TAKE(call->errand);

    if (!errand)
        return;
    if (!session_is_modern(session) || !session->carrier->drop_cancels)
        say_cancelled(session, errand->id, reason);
    errand_drop(session, errand);
}

void mcp_session_cancel(struct mcp_session *session, uint64_t id, struct str reason,
                        uint64_t now_ms)
{
    struct call *call = call_find(session, id);

    session->now_ms = now_ms;
    if (!call || call->fate != FATE_OPEN)
        return;
    call->fate = FATE_CANCELLED;
    call->why = "it was cancelled";
    call_off(session, call, reason);
    session_wake(session, now_ms);
}

/* --- time --- */

static uint64_t call_due(const struct call *call)
{
    uint64_t at = call->until_ms < call->last_ms ? call->until_ms : call->last_ms;

    if (call->fate != FATE_OPEN)
        return 0;
    return call->wake_ms < at ? call->wake_ms : at;
}

static struct call *due_call(const struct mcp_session *session)
{
    struct call *call;

    LIST_FOREACH(call, &session->calls, link)
        if (call_due(call) <= session->now_ms)
            return call;
    return NULL;
}

static void call_tick(struct mcp_session *session, struct call *call)
{
    if (call->fate != FATE_OPEN) {
        call_fail(session, call, call->fate == FATE_CANCELLED ? "cancelled" : "overload",
                  call->why);
    } else if (call->wake_ms <= session->now_ms) {
        call->wake_ms = UINT64_MAX;
        call->on_wake(session, call);
    } else {
        call_off(session, call, S("timeout"));
        call_fail(session, call, "timeout", "the server did not answer in time");
    }
}

void calls_tick(struct mcp_session *session)
{
    struct call *call;

    while ((call = due_call(session)) != NULL)
        call_tick(session, call);
    LIST_FOREACH(call, &session->calls, link)
        session_wake(session, call_due(call));
}

/* --- what belongs to a call --- */

uint64_t call_behind(const struct mcp_session *session, const struct mcp_message *message,
                     uint64_t via)
{
    const struct errand *errand = via ? errand_find(session, via) : NULL;

    (void)message;
    return errand && errand->call ? errand->call->id : 0;
}

void call_hear_progress(struct mcp_session *session, const struct mcp_message *message)
{
    static const struct str token[] = { S("progressToken") };
    struct call *call;
    uint64_t id;

    if (!mcp_message_number(mcp_message_find(message->params, token, 1), &id))
        return;
    call = call_find(session, id);
    if (!call || call->fate != FATE_OPEN || !call->ops.on_progress)
        return;
    call->until_ms = session->now_ms + call->timeout_ms;
    call->ops.on_progress(call->user, message->params);
}
