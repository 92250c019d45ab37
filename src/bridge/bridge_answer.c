/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers. One that the room cannot take now, or refuses for a while, or that was lost
 * with the connection, is kept and said again, with the same id: where it was taken
 * before, the gateway refuses it, so nobody is answered twice. After a refusal they are
 * said one by one: who is too fast is not to be faster still.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "bridge/bridge_priv.h"
#include "envelope/kind.h"
#include "participant/pick.h"
#include "participant/say.h"

void bridged_free(struct bridged *call)
{
    struct bridge *b = call->bridge;

    list_remove(&call->link);
    b->call_count--;
    bridged_ungate(call);
    b->answer_bytes -= call->answer.len;
    free((char *)(uintptr_t)call->answer.ptr);
    free((char *)(uintptr_t)call->payload.ptr);
    free(call->looked);
    free(call);
}

/* How long the gateway wants us to wait. */
static uint64_t pause_ms(const struct outcome *outcome)
{
    struct json_span wait = {};
    uint64_t ms = BRIDGE_RETRY_MS;

    if (PICK(outcome->json, { S("retry_after_ms"), &wait }) &&
        pick_is(wait, JSON_NUMBER) && str_to_u64(wait.text, 60'000, &ms))
        return BRIDGE_RETRY_MS;
    return ms;
}

static bool is_for_now(struct str error)
{
    return str_eq(error, S("rate_limited")) || str_eq(error, S("unavailable"));
}

static size_t count_in(const struct bridge *b, enum bridged_state state)
{
    const struct bridged *call;
    size_t count = 0;

    LIST_FOREACH(call, &b->calls, link)
        count += call->state == state;
    return count;
}

/* True: it will be said again. */
static bool is_said_again(struct bridged *call, const struct outcome *outcome)
{
    struct bridge *b = call->bridge;
    bool is_refused = outcome->type == ASK_REFUSED && is_for_now(outcome->error);

    if ((!is_refused && outcome->type != ASK_LOST) || call->is_unwanted ||
        b->answer_bytes > BRIDGE_ANSWERS)
        return false;
    call->state = BRIDGED_UNSENT;
    call->retry_ms = 0;
    call->was_lost |= outcome->type == ASK_LOST;
    if (is_refused) {
        b->is_paced = true;
        b->answers_ms = loop_now_ms(b->means.loop) + pause_ms(outcome);
    }
    return true;
}

static bool is_taken(const struct bridged *call, const struct outcome *outcome)
{
    return outcome->type == ASK_SENT || (outcome->type == ASK_REFUSED && call->was_lost &&
                                         str_eq(outcome->error, S("duplicate_id")));
}

static void on_judged(void *user, const struct outcome *outcome)
{
    struct bridged *call = user;
    struct bridge *b = call->bridge;

    if (is_said_again(call, outcome))
        return;
    if (!is_taken(call, outcome)) {
        b->counts.dropped++;
        bridge_note(b, "an answer to " STR_FMT " was lost: " STR_FMT,
                    STR_ARG(call->to[0]), STR_ARG(outcome->message));
    }
    bridged_free(call);
    if (!count_in(b, BRIDGED_UNSENT))
        b->is_paced = false;
}

static void put_kind(struct buf *out, const struct bridged *call)
{
    buf_put(out, S("mcp/response:"));
    buf_put(out, call->method);
    if (call->context.ptr) {
        buf_putc(out, ':');
        buf_put(out, call->context);
    }
}

static enum err say(struct bridged *call)
{
    CLEANUP(buf_done) struct buf kind;
    struct str id;
    enum err err;

    buf_init(&kind, KIND_MAX_BYTES);
    put_kind(&kind, call);
    err = occupant_say(call->bridge->occupant,
                       &(struct saying){ .id = { call->id, call->id_len },
                                         .kind = buf_str(&kind),
                                         .payload = call->answer,
                                         .correlation_id = call->request_id,
                                         .to = call->to,
                                         .to_count = call->to_count,
                                         .ops.on_done = on_judged,
                                         .user = call },
                       bridge_now(call->bridge), &id, NULL);
    if (!err && !call->id_len) {
        call->id_len = id.len;
        memcpy(call->id, id.ptr, id.len);
    }
    return err;
}

/* False: it does not fit. */
static bool keep(struct bridged *call, struct str member, struct str json)
{
    struct bridge *b = call->bridge;
    struct json_writer w;
    struct buf out;

    b->answer_bytes -= call->answer.len;
    free((char *)(uintptr_t)call->answer.ptr);
    call->answer = S("");
    call->answer.ptr = NULL;
    buf_init(&out, bridge_answer_bytes(b));
    json_write_init(&w, &out);
    say_answer(&w, call->rpc_id, member, json);
    if (out.is_full) {
        buf_done(&out);
        return false;
    }
    call->answer = buf_str(&out);
    b->answer_bytes += out.len;
    return true;
}

static void keep_error(struct bridged *call, int64_t code, struct str message)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, message.len * 6 + 256);
    rpc_fail(&reply, code, message, S(""));
    (void)keep(call, S("error"), buf_str(&reply.json));
}

/* What cannot be told is an error instead, which is short and can. False: so is this. */
static bool replace(struct bridged *call, enum err err)
{
    struct str message = err == ERR_TOO_BIG
                             ? S("the result is too large")
                             : S("the result cannot be put into an envelope");

    if (call->answer.len <= message.len + call->rpc_id.text.len + 128)
        return false;
    keep_error(call, RPC_INTERNAL, message);
    return true;
}

/* ERR_AGAIN, ERR_OVERLOAD: later. */
static bool is_kept(struct bridged *call, enum err err)
{
    struct bridge *b = call->bridge;

    if ((err != ERR_AGAIN && err != ERR_OVERLOAD) || b->answer_bytes > BRIDGE_ANSWERS)
        return false;
    call->state = BRIDGED_UNSENT;
    call->retry_ms = err == ERR_AGAIN ? 0 : loop_now_ms(b->means.loop) + BRIDGE_PRESS_MS;
    return true;
}

/* Others come before it, or he for whom it is is not back yet. */
static bool must_wait(const struct bridged *call)
{
    const struct bridge *b = call->bridge;

    return b->is_returning || missing_is(b, call->to[0]) ||
           (b->is_paced &&
            (count_in(b, BRIDGED_SENT) || loop_now_ms(b->means.loop) < b->answers_ms));
}

static void give(struct bridged *call)
{
    struct bridge *b = call->bridge;
    enum err err;

    if (must_wait(call) && is_kept(call, ERR_AGAIN))
        return;
    err = say(call);

    if ((err == ERR_TOO_BIG || err == ERR_INVALID) && replace(call, err))
        err = say(call);
    call->state = BRIDGED_SENT;
    if (!err || is_kept(call, err))
        return;
    b->counts.dropped++;
    bridge_note(b, "an answer to " STR_FMT " cannot be given: %s", STR_ARG(call->to[0]),
                err_name(err));
    bridged_free(call);
}

/* JSON-RPC 2.0, 4.1: a request without an id is never answered. */
void bridged_answer(struct bridged *call, struct str member, struct str json)
{
    call->order = NULL;
    if (call->is_unwanted || !call->rpc_id.text.ptr) {
        bridged_free(call);
        return;
    }
    if (!keep(call, member, json))
        keep_error(call, RPC_INTERNAL, S("the result is too large"));
    give(call);
}

void bridged_fail(struct bridged *call, int64_t code, struct str message)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, message.len * 6 + 256);
    rpc_fail(&reply, code, message, S(""));
    bridged_answer(call, S("error"), buf_str(&reply.json));
}

void bridged_retry(struct bridge *b)
{
    uint64_t now = loop_now_ms(b->means.loop);
    struct bridged *call;

    if (!occupant_is_welcome(b->occupant))
        return;
    LIST_FOREACH(call, &b->calls, link)
        if (call->state == BRIDGED_UNSENT && call->retry_ms <= now)
            give(call);
}

/* While there is no connection nothing is due: the welcome brings it up. */
uint64_t bridged_due_ms(const struct bridge *b)
{
    uint64_t due = UINT64_MAX;
    const struct bridged *call;

    if (!occupant_is_welcome(b->occupant) || (b->is_paced && count_in(b, BRIDGED_SENT)))
        return due;
    LIST_FOREACH(call, &b->calls, link)
        if (call->state == BRIDGED_UNSENT && call->retry_ms < due &&
            !missing_is(b, call->to[0]))
            due = call->retry_ms;
    return due != UINT64_MAX && b->is_paced && due < b->answers_ms ? b->answers_ms : due;
}
