/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress of calls: it only rises, and its owner is told ten times a second at most, but
 * for the first ten: short calls are told in full. What comes too early is held back; a
 * later one takes its place, and the last one is told before the answer (PROG-02,
 * PROG-05).
 */
#include "base/decimal.h"
#include "mcp/session_parts.h"

enum { TELL_MS = 100, AHEAD_MS = 9 * TELL_MS };

/* When the next may be told. */
static uint64_t next_ms(const struct advance *advance)
{
    return advance->paid_ms > AHEAD_MS ? advance->paid_ms - AHEAD_MS : 0;
}

uint64_t call_progress_due(const struct call *call)
{
    return call->advance.held.len ? next_ms(&call->advance) : UINT64_MAX;
}

static void tell(struct mcp_session *session, struct call *call, struct json_span params)
{
    struct advance *advance = &call->advance;

    if (advance->paid_ms < session->now_ms)
        advance->paid_ms = session->now_ms;
    advance->paid_ms += TELL_MS;
    call->ops.on_progress(call->user, params);
}

void call_tell_progress(struct mcp_session *session, struct call *call)
{
    struct buf held = call->advance.held;

    if (!held.len)
        return;
    call->advance.held = (struct buf){};
    tell(session, call,
         (struct json_span){ .type = JSON_OBJECT, .text = buf_str(&held) });
    buf_done(&held);
}

static void hold(struct mcp_session *session, struct call *call, struct str params)
{
    struct buf *held = &call->advance.held;

    buf_done(held);
    buf_init(held, session->settings.max_message);
    buf_put(held, params);
    mcp_session_wake(session, next_ms(&call->advance));
}

/* Where it does not rise, or is no number, it is none. */
static bool rises(struct advance *advance, struct json_span params)
{
    struct json_span span = mcp_message_member(params, S("progress"));
    double value;

    if (!span.text.ptr || span.type != JSON_NUMBER || decimal_parse(span.text, &value) ||
        (advance->is_begun && value <= advance->last))
        return false;
    advance->is_begun = true;
    advance->last = value;
    return true;
}

/* It does work where it began anew, and is not worth telling. */
static void pass_over(struct mcp_session *session, struct call *call)
{
    if (call->advance.is_anew) {
        call_prolong(session, call);
        return;
    }
    if (!call->advance.is_odd && session->ops.on_oddity)
        session->ops.on_oddity(session->user, "its progress does not rise: not told");
    call->advance.is_odd = true;
}

/* A task that was passed on outlives its call, and so does its token (PROG-04): its owner
 * knows the number. */
static void hear_of_task(struct mcp_session *session, const struct mcp_message *message,
                         uint64_t id)
{
    if (session->has_passed_on && id <= session->ids)
        session->ops.on_notification(session->user, message, id);
}

void call_hear_progress(struct mcp_session *session, const struct mcp_message *message)
{
    static const struct str token[] = { S("progressToken") };
    struct call *call;
    uint64_t id;

    if (!mcp_message_number(mcp_message_find(message->params, token, 1), &id))
        return;
    call = call_find(session, id);
    if (!call) {
        hear_of_task(session, message, id);
        return;
    }
    if (call->fate != FATE_OPEN || !call->ops.on_progress)
        return;
    if (!rises(&call->advance, message->params)) {
        pass_over(session, call);
        return;
    }
    call_prolong(session, call);
    if (call_progress_due(call) <= session->now_ms)
        call_tell_progress(session, call);
    if (session->now_ms < next_ms(&call->advance))
        hold(session, call, message->params.text);
    else
        tell(session, call, message->params);
}
