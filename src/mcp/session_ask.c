/* SPDX-License-Identifier: Apache-2.0 */
/* What a server asks its client, and what becomes of it. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/session_parts.h"

static void refuse(struct mcp_session *session, struct json_span id, struct str code,
                   struct str message)
{
    struct json_writer w;

    buf_clear(&session->params);
    json_write_init(&w, &session->params);
    json_object_open(&w);
    json_key(&w, S("code"));
    json_raw(&w, code);
    json_put_str(&w, S("message"), message);
    json_object_close(&w);
    (void)session_answer(session, id, S("error"), buf_str(&session->params));
}

/* ELIC-02: a mode that we did not declare. */
static bool is_undeclared_mode(const struct mcp_session *session, struct json_span params)
{
    struct json_span mode = mcp_message_member(params, S("mode"));

    if (!mode.text.ptr || json_string_is(mode, S("form")))
        return false;
    return !json_string_is(mode, S("url")) || !session->settings.has_url_elicitation;
}

struct str question_fault(const struct mcp_session *session, struct str method,
                          struct json_span params)
{
    const struct {
        struct str method;
        bool is_declared;
    } known[] = {
        { S("sampling/createMessage"), session->settings.has_sampling },
        { S("elicitation/create"), session->settings.has_elicitation },
        { S("roots/list"), session->settings.has_roots },
    };

    for (size_t i = 0; i < COUNT(known); i++)
        if (known[i].is_declared && str_eq(method, known[i].method))
            return i == 1 && is_undeclared_mode(session, params) ? S("-32602") : S("");
    return S("-32601");
}

struct question *question_new(struct mcp_session *session, struct json_span id,
                              struct str method, struct str params)
{
    struct question *q = xcalloc(1, sizeof(*q));

    q->texts = xmalloc(id.text.len + method.len + params.len + 1);
    q->id = id;
    q->id.text = text_keep(q->texts, id.text);
    q->asked.method = text_keep(q->texts + id.text.len, method);
    q->asked.params = text_keep(q->texts + id.text.len + method.len, params);
    session->question_count++;
    list_append(&session->questions, &q->link);
    return q;
}

static void question_free(struct mcp_session *session, struct question *q)
{
    session->question_count--;
    list_remove(&q->link);
    free(q->texts);
    free(q);
}

/* Each hop answers its own pings (PING-01). A modern server asks nothing this way, and is
 * told nothing. */
void question_hear(struct mcp_session *session, const struct mcp_message *message,
                   uint64_t via)
{
    struct str fault = question_fault(session, message->method, message->params);
    struct question *q;

    if (session_is_modern(session))
        return;
    if (str_eq(message->method, S("ping"))) {
        (void)session_answer(session, message->id, S("result"), S("{}"));
    } else if (session->stage != STAGE_READY) {
        refuse(session, message->id, S("-32600"), S("the session is not open"));
    } else if (fault.len) {
        refuse(session, message->id, fault, S("this client cannot be asked that"));
    } else if (session->question_count >= session->settings.max_questions) {
        refuse(session, message->id, S("-32603"), S("too many questions"));
    } else {
        q = question_new(session, message->id, message->method, message->params.text);
        q->asked.call = call_behind(session, message, via);
        q->call = call_find(session, q->asked.call);
        questions_tell(session, q->call);
    }
}

static struct question *untold_of(const struct mcp_session *session,
                                  const struct call *call)
{
    struct question *q;

    LIST_FOREACH(q, &session->questions, link)
        if (q->call == call && !q->is_told)
            return q;
    return NULL;
}

/* Each may be answered at once, which changes the list. */
void questions_tell(struct mcp_session *session, const struct call *call)
{
    struct question *q;

    while ((q = untold_of(session, call)) != NULL) {
        q->is_told = true;
        session->ops.on_question(session->user, &q->asked);
    }
}

bool questions_wait(const struct mcp_session *session, const struct call *call)
{
    struct question *q;

    LIST_FOREACH(q, &session->questions, link)
        if (!q->call || q->call == call)
            return true;
    return false;
}

/* Those that waited for a person begin anew. */
static void prolong_calls(struct mcp_session *session, const struct question *q)
{
    struct call *call;

    LIST_FOREACH(call, &session->calls, link)
        if (!q->call || q->call == call)
            call_prolong(session, call);
}

/* TASK-11: what is related to a task says so. */
static void answer_related(struct mcp_session *session, const struct question *q,
                           struct str result, struct json_span related)
{
    static const struct str meta_name[] = { S("_meta") };
    static const struct str related_name[] = { RELATED_TASK };
    struct json_span all = { .type = JSON_OBJECT, .text = result };
    struct json_span meta = mcp_message_find(all, meta_name, 1);
    struct json_writer w;

    buf_clear(&session->params);
    session->params.is_full = false;
    json_write_init(&w, &session->params);
    json_object_open(&w);
    json_put_members(&w, result, (struct str_list){ meta_name, 1 });
    json_key(&w, meta_name[0]);
    json_object_open(&w);
    if (meta.text.ptr && meta.type == JSON_OBJECT)
        json_put_members(&w, meta.text, (struct str_list){ related_name, 1 });
    json_key(&w, related_name[0]);
    json_span(&w, related);
    json_object_close(&w);
    json_object_close(&w);
    if (!session->params.is_full)
        (void)session_answer(session, q->id, S("result"), buf_str(&session->params));
}

static void answer_request(struct mcp_session *session, const struct question *q,
                           struct str member, struct str json)
{
    static const struct str path[] = { S("_meta"), RELATED_TASK };
    struct json_span params = { .type = JSON_OBJECT, .text = q->asked.params };
    struct json_span related = {};

    if (params.text.len)
        related = mcp_message_find(params, path, COUNT(path));
    if (related.text.ptr && str_eq(member, S("result")))
        answer_related(session, q, json, related);
    else
        (void)session_answer(session, q->id, member, json);
}

void mcp_question_answer(struct mcp_session *session, struct mcp_question *question,
                         struct str member, struct str json, uint64_t now_ms)
{
    struct question *q = CONTAINER_OF(question, struct question, asked);

    session->now_ms = now_ms;
    prolong_calls(session, q);
    list_remove(&q->link);
    if (q->is_entry)
        round_answer(session, q, member, json);
    else
        answer_request(session, q, member, json);
    question_free(session, q);
}

/* It leaves the list before somebody answers another one. */
static void question_drop(struct mcp_session *session, struct question *q)
{
    list_remove(&q->link);
    prolong_calls(session, q);
    if (q->is_told)
        session->ops.on_question_gone(session->user, &q->asked);
    question_free(session, q);
}

void question_hear_cancelled(struct mcp_session *session,
                             const struct mcp_message *message)
{
    static const struct str name[] = { S("requestId") };
    struct json_span id = mcp_message_find(message->params, name, 1);
    struct question *q;

    LIST_FOREACH(q, &session->questions, link)
        if (!q->is_entry && q->id.type == id.type && str_eq(q->id.text, id.text)) {
            question_drop(session, q);
            return;
        }
}

static struct question *question_of(const struct mcp_session *session,
                                    const struct call *call)
{
    struct question *q;

    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
    LIST_FOREACH(q, &session->questions, link)
        if (!call || q->call == call)
            return q;
    return NULL;
}

void questions_drop(struct mcp_session *session, const struct call *call)
{
    struct question *q;

    while ((q = question_of(session, call)) != NULL) {
        if (session->stage != STAGE_OVER && !q->is_entry)
            refuse(session, q->id, S("-32603"), S("nobody waits for it any more"));
        question_drop(session, q);
    }
}

void questions_free(struct mcp_session *session)
{
    struct question *q;

    LIST_FOREACH(q, &session->questions, link)
        question_free(session, q);
}
