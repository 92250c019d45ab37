/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an owner asks while it works: sampling, elicitation, roots. A legacy client gets a
 * request on the strand of its call, and its answer goes back as it is; a modern one is
 * asked with the result (wish_park.c).
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/message.h"
#include "mcp/rpc.h"
#include "mcp/serve.h"
#include "mcpdoor/wish_priv.h"
#include "participant/keep.h"
#include "participant/pick.h"

enum { WORDS = 4096 };

void wish_question_free(struct wish_question *q)
{
    list_remove(&q->link);
    q->wish->question_count--;
    free(q);
}

/* `request_id` "": the question is ours (wish_approve.c). */
static struct wish_question *question_new(struct wish *wish, struct str request_id,
                                          struct json_span id, struct str method,
                                          struct str params)
{
    struct wish_question *q = xcalloc(1, sizeof(*q) + request_id.len + method.len +
                                             params.len + span_raw(id).len);
    char *at = (char *)(q + 1);

    q->wish = wish;
    wish->attendee->hall->counts.questions++;
    wish->questions_made++;
    q->number =
        wish->is_modern ? wish->questions_made : wish->attendee->hall->counts.questions;
    q->request_id = keep_str(&at, request_id);
    q->method = keep_str(&at, method);
    q->params = keep_str(&at, params);
    q->rpc_id = keep_span(&at, id);
    list_append(&wish->questions, &q->link);
    wish->question_count++;
    return q;
}

/* --- answering the owner --- */

void question_answer(struct wish_question *q, struct str member, struct str json)
{
    struct wish *wish = q->wish;

    if (!q->request_id.len) {
        wish_question_free(q);
        wish_decide(wish, member, json);
        return;
    }
    (void)occupant_answer(wish->attendee->occupant,
                          &(struct answer){ .request_id = q->request_id,
                                            .method = q->method,
                                            .rpc_id = q->rpc_id,
                                            .to = &wish->owner,
                                            .to_count = 1,
                                            .member = member,
                                            .json = json },
                          wish_now(wish));
    wish_question_free(q);
}

void question_refuse(struct wish_question *q, int64_t code, struct str message)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, message.len * 6 + WORDS);
    rpc_fail(&reply, code, message, S(""));
    question_answer(q, S("error"), buf_str(&reply.json));
}

/* --- asking a legacy client --- */

static void ask_client(struct wish_question *q)
{
    struct wish *wish = q->wish;
    struct wisher *wisher = wish_latest(wish);
    struct json_span params = { .type = JSON_OBJECT, .text = q->params };
    uint32_t must = client_must(q->method, params);
    CLEANUP(buf_done) struct buf message = {};

    if (!wisher || !must || (wisher->can & must) != must) {
        question_refuse(q, RPC_METHOD_NOT_FOUND, S("the client cannot be asked this"));
        return;
    }
    buf_init(&message, q->params.len + q->method.len + WORDS);
    mcp_message_put_request(&message, q->number, q->method, q->params);
    q->is_told = true;
    strand_send(wisher->strand, buf_str(&message), wish_now(wish).mono_ms);
}

/* The client may stop thinking about it. */
static void withdraw(const struct wish_question *q)
{
    const struct wisher *wisher = wish_latest(q->wish);
    CLEANUP(buf_done) struct buf params = {}, message = {};

    if (!wisher || q->wish->is_modern || !q->is_told)
        return;
    buf_init(&params, WORDS);
    buf_init(&message, WORDS);
    buf_putf(&params, "{\"requestId\":%llu,\"reason\":\"no longer wanted\"}",
             (unsigned long long)q->number);
    mcp_message_put_notification(&message, S("notifications/cancelled"),
                                 buf_str(&params));
    strand_send(wisher->strand, buf_str(&message), wish_now(q->wish).mono_ms);
}

void wish_questions_free(struct wish *wish)
{
    struct wish_question *q;

    LIST_FOREACH(q, &wish->questions, link) {
        withdraw(q);
        wish_question_free(q);
    }
}

/* --- being asked --- */

static void ask(struct wish_question *q)
{
    struct wish *wish = q->wish;

    if (wish->question_count > WISH_QUESTIONS)
        question_refuse(q, RPC_INTERNAL, S("too much is asked at once"));
    else if (!wish->is_modern)
        ask_client(q);
    else if (wish_latest(wish) && wish->due_ms == UINT64_MAX)
        wish_due(wish, WISH_COLLECT_MS);
}

void wish_ask_approval(struct wish *wish)
{
    CLEANUP(buf_done) struct buf params;

    buf_init(&params, wish_room(wish));
    wish_put_approval(&params, wish);
    if (!params.is_full)
        ask(question_new(wish, S(""), (struct json_span){}, S("elicitation/create"),
                         buf_str(&params)));
}

/* A task asks for what its first call began, which has been answered: who waits for its
 * result is asked. */
static struct wish *find_asked(const struct attendee *a, const struct envelope *env)
{
    struct wish *wish = wish_of_call(a, env->correlation_id);

    if (wish)
        return str_eq(wish->owner, env->from) ? wish : NULL;
    LIST_FOREACH(wish, &a->wishes, link)
        if (str_eq(wish->owner, env->from) && str_eq(wish->method, S("tasks/result")) &&
            wish_latest(wish))
            return wish;
    return NULL;
}

bool wish_asked(struct attendee *a, const struct heard *heard, struct str)
{
    const struct envelope *env = &heard->env;
    struct json_span params = {};
    struct json_span id = {};
    struct wish *wish;

    if (!env->correlation_id.ptr ||
        !PICK(env->payload, { S("params"), &params }, { S("id"), &id }) ||
        !client_must(env->kind.method, params))
        return false;
    wish = find_asked(a, env);
    if (!wish)
        return false;
    ask(question_new(wish, env->id, id, env->kind.method,
                     params.text.ptr ? params.text : S("")));
    return true;
}

static struct wish_question *find_question(const struct wish *wish, struct str request_id)
{
    struct wish_question *q;

    LIST_FOREACH(q, &wish->questions, link)
        if (str_eq(q->request_id, request_id))
            return q;
    return NULL;
}

void wish_unasked(struct attendee *a, struct str request_id, struct str from)
{
    struct wish_question *q;
    struct wish *wish;

    LIST_FOREACH(wish, &a->wishes, link) {
        q = str_eq(wish->owner, from) ? find_question(wish, request_id) : NULL;
        if (!q)
            continue;
        withdraw(q);
        wish_question_free(q);
        return;
    }
}

/* --- the client's answer --- */

static bool is_waited_for_by(const struct wish *wish, const struct visit *visit)
{
    const struct wisher *wisher;

    LIST_FOREACH(wisher, &wish->wishers, link)
        if (wisher->visit == visit)
            return true;
    return false;
}

static struct wish_question *find_told(const struct wish *wish, uint64_t number)
{
    struct wish_question *q;

    LIST_FOREACH(q, &wish->questions, link)
        if (q->is_told && q->number == number)
            return q;
    return NULL;
}

bool wish_reply(struct visit *visit, const struct mcp_message *message)
{
    struct wish_question *q;
    struct wish *wish;
    uint64_t number;

    if (!mcp_message_number(message->id, &number))
        return false;
    LIST_FOREACH(wish, &visit->attendee->wishes, link) {
        if (wish->is_modern || !is_waited_for_by(wish, visit))
            continue;
        q = find_told(wish, number);
        if (!q)
            continue;
        if (message->type == MESSAGE_RESULT)
            question_answer(q, S("result"), span_raw(message->result));
        else
            question_answer(q, S("error"), message->error.text);
        return true;
    }
    return false;
}
