/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi round-trip requests: a modern server that wants to ask something answers with
 * `input_required` instead. Its entries become questions like those of a legacy server;
 * when all are answered the call is sent again, with a new id (MCP.md LM-03).
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/session_parts.h"

enum { PAUSE_MS = 250, MAX_SEEN = 64 << 10, MAX_REFUSAL = 4096 };

void round_done(struct round *round)
{
    buf_done(&round->answers);
    buf_done(&round->seen);
    free(round->state);
}

/* --- questions --- */

/* Tasks show a question until it is answered, and longer. */
static bool was_seen(const struct round *round, struct str key)
{
    struct str rest = buf_str(&round->seen);

    while (rest.len)
        if (str_eq(str_cut(&rest, '\n'), key))
            return true;
    return false;
}

/* A task that is followed for its owner says which it is. */
static void put_related(struct json_writer *w, const struct call *call,
                        struct json_span meta)
{
    json_key(w, S("_meta"));
    json_object_open(w);
    if (mcp_message_is(meta, JSON_OBJECT))
        json_put_members(w, meta.text, (struct str_list){});
    json_key(w, RELATED_TASK);
    json_object_open(w);
    json_key(w, S("taskId"));
    json_raw(w, str_of(call->task_id));
    json_object_close(w);
    json_object_close(w);
}

/* Legacy callers expect an id with a URL (LM-04), and the task that asks (TASK-11). */
static struct str legacy_params(struct mcp_session *session, const struct call *call,
                                struct json_span params)
{
    static const struct str meta = S("_meta");
    struct json_span mode = mcp_message_member(params, S("mode"));
    bool lacks_id = mcp_message_is(mode, JSON_STRING) && json_string_is(mode, S("url")) &&
                    !mcp_message_member(params, S("elicitationId")).text.ptr;
    bool is_related = call->is_follower && call->task_id;
    struct json_writer w;

    if (!lacks_id && !is_related)
        return params.text;
    buf_clear(&session->params);
    json_write_init(&w, &session->params);
    json_object_open(&w);
    json_put_members(&w, params.text, (struct str_list){ &meta, is_related ? 1 : 0 });
    if (lacks_id) {
        json_key(&w, S("elicitationId"));
        buf_putf(&session->params, "\"%llu-%zu-%zu\"", (unsigned long long)call->id,
                 call->round.count, call->round.open);
        w.needs_comma = true;
    }
    if (is_related)
        put_related(&w, call, mcp_message_member(params, meta));
    json_object_close(&w);
    return buf_str(&session->params);
}

/* NULL, or why the entry cannot be asked. */
static const char *add_entry(struct mcp_session *session, struct call *call,
                             const struct json_member *entry)
{
    struct json_span method = mcp_message_member(entry->value, S("method"));
    struct json_span params = mcp_message_member(entry->value, S("params"));
    struct question *q;

    if (!mcp_message_is(method, JSON_STRING) ||
        (params.text.ptr && params.type != JSON_OBJECT))
        return "the server asked what is no question";
    if (question_fault(session, method.text, params).len)
        return "the server asked what this client cannot be asked";
    if (session->question_count >= session->settings.max_questions)
        return "the server asked too many questions";
    q = question_new(session, entry->key, method.text,
                     legacy_params(session, call, params));
    q->asked.call = call->id;
    q->call = call;
    q->is_entry = true;
    call->round.open++;
    return NULL;
}

static const char *add_entries(struct mcp_session *session, struct call *call,
                               struct json_span requests)
{
    const char *why = NULL;
    struct json_scan scan;
    struct json_member entry;
    enum err err;

    json_scan_init(&scan, requests.text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && !why && json_object_next(&scan, &entry, &err)) {
        if (was_seen(&call->round, entry.key.text))
            continue;
        why = add_entry(session, call, &entry);
        buf_put(&call->round.seen, entry.key.text);
        buf_putc(&call->round.seen, '\n');
    }
    if (call->round.seen.is_full)
        why = "the server asked too many questions";
    return why;
}

bool round_begin(struct mcp_session *session, struct call *call,
                 struct json_span requests)
{
    struct round *round = &call->round;
    const char *why = NULL;

    if (!round->answers.max) {
        buf_init(&round->answers, session->settings.max_message);
        buf_init(&round->seen, MAX_SEEN);
    }
    buf_clear(&round->answers);
    if (mcp_message_is(requests, JSON_OBJECT))
        why = add_entries(session, call, requests);
    if (why) {
        call_fail(session, call, "bad_question", why);
        return false;
    }
    questions_tell(session, call);
    return true;
}

static bool is_code(struct json_span error, struct str code)
{
    return str_eq(mcp_message_member(error, S("code")).text, code);
}

/* Who is asked and says nothing has dismissed it; what cannot be asked, or was answered
 * with what does not fit, ends the call. */
static bool is_dismissed(const struct question *q, struct json_span error)
{
    return str_eq(q->asked.method, S("elicitation/create")) &&
           !is_code(error, S("-32601")) && !is_code(error, S("-32602"));
}

static void refuse_call(struct mcp_session *session, struct call *call,
                        const struct question *q, struct json_span error)
{
    struct json_span message = mcp_message_member(error, S("message"));
    struct str told = S("");
    struct buf why;

    arena_reset(&session->scratch);
    if (is_code(error, S("-32602")) && mcp_message_is(message, JSON_STRING) &&
        json_unescape(message, &session->scratch, &told))
        told = S("");
    buf_init(&why, MAX_REFUSAL);
    buf_put(&why, S("the server asked for "));
    buf_put(&why, q->asked.method);
    buf_put(&why, S(", which was refused"));
    if (told.len)
        buf_put(&why, S(": "));
    buf_put(&why, told);
    task_cancel(session, call);
    call_refuse(session, call, buf_str(&why));
    buf_done(&why);
}

void round_answer(struct mcp_session *session, struct question *q, struct str member,
                  struct str json)
{
    struct call *call = q->call;
    struct buf *out = &call->round.answers;

    if (call->fate != FATE_OPEN)
        return;
    if (!str_eq(member, S("result"))) {
        struct json_span error = { .type = JSON_OBJECT, .text = json };

        if (!is_dismissed(q, error)) {
            refuse_call(session, call, q, error);
            return;
        }
        json = S("{\"action\":\"cancel\"}");
    }
    buf_put(out, out->len ? S(",\"") : S("\""));
    buf_put(out, q->id.text);
    buf_put(out, S("\":"));
    buf_put(out, json);
    call->round.open--;
    if (!call->round.open)
        call->round.on_answered(session, call);
}

/* --- asking again --- */

static void retry(struct mcp_session *session, struct call *call)
{
    struct round *round = &call->round;
    struct buf more;

    buf_init(&more, session->settings.max_message);
    if (round->answers.len) {
        buf_put(&more, S("\"inputResponses\":{"));
        buf_put(&more, buf_str(&round->answers));
        buf_putc(&more, '}');
    }
    if (round->state) {
        buf_put(&more, more.len ? S(",\"requestState\":") : S("\"requestState\":"));
        buf_put(&more, str_of(round->state));
    }
    if (more.is_full || round->answers.is_full)
        call_give_up(session, call, "the answers are too large");
    else
        call_resend(session, call, buf_str(&more));
    buf_done(&more);
}

static void keep_state(struct round *round, struct json_span state)
{
    free(round->state);
    round->state = NULL;
    if (mcp_message_is(state, JSON_STRING))
        round->state = str_dup((struct str){ state.text.ptr - 1, state.text.len + 2 });
}

static bool asks_for_roots(struct json_span requests)
{
    struct json_scan scan;
    struct json_member entry;
    enum err err;

    if (!mcp_message_is(requests, JSON_OBJECT))
        return false;
    json_scan_init(&scan, requests.text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &entry, &err)) {
        struct json_span method = mcp_message_member(entry.value, S("method"));

        if (mcp_message_is(method, JSON_STRING) &&
            json_string_is(method, S("roots/list")))
            return true;
    }
    return false;
}

/* A caller of this era answers for himself, where that is not ours to do: he sends his
 * call again, with what the server wants to see then. */
static bool is_callers(const struct call *call, struct json_span requests)
{
    return call->takes_unfinished && !(call->answers_roots && asks_for_roots(requests));
}

bool mrtr_hear(struct mcp_session *session, struct call *call, struct json_span result)
{
    struct json_span type = mcp_message_member(result, S("resultType"));
    struct json_span requests = mcp_message_member(result, S("inputRequests"));
    struct round *round = &call->round;

    if (!mcp_message_is(type, JSON_STRING) ||
        !json_string_is(type, S("input_required")) || is_callers(call, requests))
        return false;
    keep_state(round, mcp_message_member(result, S("requestState")));
    round->on_answered = retry;
    round->open = 0;
    buf_clear(&round->seen);
    if (++round->count > session->settings.max_rounds)
        call_fail(session, call, "too_many_rounds", "the server asked again and again");
    else if (!round->state && !mcp_message_is(requests, JSON_OBJECT))
        call_fail(session, call, "bad_result", "input is required, but none is named");
    else if (round_begin(session, call, requests) && !call->errand && !round->open &&
             !round->answers.len && call->fate == FATE_OPEN)
        call_wake(session, call, PAUSE_MS, retry);
    return true;
}
