/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a legacy server asks while a task of a modern owner runs (ML-11). He is not asked:
 * he finds the questions in tasks/get, each with a key, and answers with tasks/update.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/bridge_priv.h"
#include "mcp/question.h"

#define RELATED_TASK S("io.modelcontextprotocol/related-task")

struct input {
    struct link link;
    struct mcp_question *question;
    uint64_t key, until_ms;
};

static void input_free(struct input *input)
{
    list_remove(&input->link);
    free(input);
}

/* The oldest comes first. */
static struct input *input_first(const struct owned_task *task)
{
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
    return LIST_FIRST(&task->inputs, struct input, link);
}

void input_add(struct owned_task *task, struct mcp_question *question)
{
    struct input *input = xcalloc(1, sizeof(*input));

    input->question = question;
    input->key = ++task->keys;
    input->until_ms = loop_now_ms(task->bridge->means.loop) + BRIDGE_QUESTION_MS;
    list_append(&task->inputs, &input->link);
}

static struct input *input_find(const struct owned_task *task,
                                const struct mcp_question *question)
{
    struct input *input;

    LIST_FOREACH(input, &task->inputs, link)
        if (input->question == question)
            return input;
    return NULL;
}

bool input_gone(struct bridge *b, const struct mcp_question *question)
{
    struct owned_task *task;

    LIST_FOREACH(task, &b->tasks, link) {
        struct input *input = input_find(task, question);

        if (!input)
            continue;
        input_free(input);
        return true;
    }
    return false;
}

void inputs_free(struct owned_task *task)
{
    struct input *input;

    LIST_FOREACH(input, &task->inputs, link)
        input_free(input);
}

/* Out of the list before the server hears of it. */
static void refuse(struct owned_task *task, struct input *input)
{
    struct mcp_question *question = input->question;

    input_free(input);
    bridge_refuse(task->bridge, question, RPC_INTERNAL, S("nobody answered"));
}

void inputs_refuse(struct owned_task *task)
{
    struct input *input;

    while ((input = input_first(task)) != NULL)
        refuse(task, input);
}

/* --- what the owner sees --- */

/* ML-06: the modern era has no elicitationId, and no word of related tasks. */
static void put_params(struct json_writer *w, struct str params)
{
    static const struct str anew[] = { S("_meta"), S("elicitationId") };
    static const struct str related[] = { RELATED_TASK };
    struct json_span all = { .type = JSON_OBJECT, .text = params };
    struct json_span meta = mcp_message_find(all, anew, 1);
    CLEANUP(buf_done) struct buf rest;
    struct json_writer inner;

    buf_init(&rest, params.len);
    json_write_init(&inner, &rest);
    if (meta.text.ptr && meta.type == JSON_OBJECT)
        json_put_members(&inner, meta.text, (struct str_list){ related, 1 });
    json_key(w, S("params"));
    json_object_open(w);
    json_put_members(w, params, (struct str_list){ anew, COUNT(anew) });
    if (rest.len) {
        json_key(w, S("_meta"));
        json_object_open(w);
        json_raw(w, buf_str(&rest));
        json_object_close(w);
    }
    json_object_close(w);
}

static struct str key_of(const struct input *input, char text[static 24])
{
    int len = snprintf(text, 24, "q%llu", (unsigned long long)input->key);

    return (struct str){ text, (size_t)len };
}

void inputs_put(const struct owned_task *task, struct json_writer *w)
{
    const struct input *input;
    char text[24];

    json_key(w, S("inputRequests"));
    json_object_open(w);
    LIST_FOREACH(input, &task->inputs, link) {
        json_key(w, key_of(input, text));
        json_object_open(w);
        json_put_str(w, S("method"), input->question->method);
        if (input->question->params.len)
            put_params(w, input->question->params);
        json_object_close(w);
    }
    json_object_close(w);
}

/* --- what he answers --- */

/* False: it does not fit, and stays. */
static bool answer(struct owned_task *task, struct input *input, struct str result,
                   struct buf *why)
{
    struct mcp_question *question = input->question;
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, BRIDGE_ANSWERS);
    if (bridge_fit(question, result, &out, why))
        return false;
    input_free(input);
    supervisor_answer(task->bridge->supervisor, question, S("result"),
                      task->is_client ? result : buf_str(&out));
    return true;
}

bool inputs_answer(struct owned_task *task, const struct json *answers, struct buf *why)
{
    struct input *input;
    bool is_fit = true;
    char text[24];

    LIST_FOREACH(input, &task->inputs, link) {
        const struct json *result = json_find(answers, key_of(input, text));

        if (result && is_fit)
            is_fit = answer(task, input, result->raw, why);
    }
    return is_fit;
}

/* --- on which it asks --- */

static void on_waited(void *user, const struct mcp_reply *reply)
{
    struct owned_task *task = user;
    struct bridge *b = task->bridge;

    task->waiter = NULL;
    task->is_over |= reply->type == REPLY_RESULT;
    if (task->is_dropped)
        owned_task_drop(task);
    bridge_settle(b);
}

void input_wait(struct owned_task *task)
{
    struct bridge *b = task->bridge;
    CLEANUP(buf_done) struct buf params;
    struct json_writer w;

    buf_init(&params, task->id.len * 6 + 64);
    if (task->waiter || task->is_dropped)
        return;
    json_write_init(&w, &params);
    json_object_open(&w);
    json_put_str(&w, S("taskId"), task->id);
    json_object_close(&w);
    if (supervisor_order(b->supervisor, task->owner,
                         &(struct mcp_call){ .method = S("tasks/result"),
                                             .params = buf_str(&params),
                                             .ops.on_done = on_waited,
                                             .user = task },
                         &task->waiter))
        task->waiter = NULL;
}

static struct owned_task *task_of(const struct bridge *b,
                                  const struct server_order *order)
{
    struct owned_task *task;

    LIST_FOREACH(task, &b->tasks, link)
        if (order && task->waiter == order)
            return task;
    return NULL;
}

bool input_waits(const struct bridge *b, const struct server_order *order)
{
    return task_of(b, order);
}

struct owned_task *input_task(const struct bridge *b, const struct server_question *from)
{
    static const struct str path[] = { S("_meta"), RELATED_TASK, S("taskId") };
    struct json_span params = { .type = JSON_OBJECT, .text = from->question->params };
    struct json_span id = {};
    struct owned_task *task;

    if (b->facts.era == ERA_MODERN)
        return NULL; /* it asks in tasks/get, and the session does the rest */
    if (params.text.len)
        id = mcp_message_find(params, path, COUNT(path));
    task = id.text.ptr && id.type == JSON_STRING ? owned_task_find(b, id.text)
                                                 : task_of(b, from->order);
    return task && !task->is_dropped && !task->is_over ? task : NULL;
}

/* --- time --- */

void inputs_tick(struct bridge *b)
{
    uint64_t now = loop_now_ms(b->means.loop);
    struct owned_task *task;
    struct input *input;

    LIST_FOREACH(task, &b->tasks, link)
        while ((input = input_first(task)) != NULL && input->until_ms <= now)
            refuse(task, input);
}

uint64_t inputs_due_ms(const struct bridge *b)
{
    const struct owned_task *task;
    uint64_t due = UINT64_MAX;

    LIST_FOREACH(task, &b->tasks, link) {
        const struct input *input = input_first(task);

        if (input && input->until_ms < due)
            due = input->until_ms;
    }
    return due;
}
