/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/bridge_task.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/xalloc.h"
#include "bridge/bridge_priv.h"
#include "mcp/era.h"
#include "participant/keep.h"
#include "participant/pick.h"

/* --- life --- */

static void task_free(struct owned_task *task)
{
    list_remove(&task->link);
    task->bridge->task_count--;
    inputs_free(task);
    free(task->json);
    free(task);
}

void owned_task_drop(struct owned_task *task)
{
    inputs_refuse(task);
    if (task->waiter && !task->is_dropped)
        supervisor_cancel(task->bridge->supervisor, task->waiter, S("it is forgotten"));
    task->is_dropped = true;
    if (!task->waiter)
        task_free(task);
}

void owned_tasks_free(struct bridge *b)
{
    struct owned_task *task;

    LIST_FOREACH(task, &b->tasks, link)
        task_free(task);
}

static void drop_late_tasks(struct bridge *b)
{
    uint64_t now = loop_now_ms(b->means.loop);
    struct owned_task *task;

    LIST_FOREACH(task, &b->tasks, link)
        if (task->until_ms <= now)
            owned_task_drop(task);
}

static void make_room(struct bridge *b)
{
    struct owned_task *task;

    LIST_FOREACH(task, &b->tasks, link) {
        if (b->task_count < BRIDGE_TASKS)
            return;
        owned_task_drop(task);
    }
}

struct owned_task *owned_task_find(const struct bridge *b, struct str id)
{
    struct owned_task *task;

    LIST_FOREACH(task, &b->tasks, link)
        if (!task->is_dropped && id.len && str_eq(task->id, id))
            return task;
    return NULL;
}

bool owned_task_is_of(const struct bridge *b, struct str owner, struct str id)
{
    const struct owned_task *task = owned_task_find(b, id);

    return task && str_eq(task->owner, owner);
}

/* --- what is known of it --- */

static bool is_end(struct json_span status)
{
    static const struct str ends[] = { S("completed"), S("failed"), S("cancelled") };

    for (size_t i = 0; pick_is(status, JSON_STRING) && i < COUNT(ends); i++)
        if (json_string_is(status, ends[i]))
            return true;
    return false;
}

void owned_task_seen(struct owned_task *task, struct json_span state)
{
    struct json_span id = {}, status = {};
    struct json_writer w;
    struct buf json;

    if (!PICK(state, { S("taskId"), &id }, { S("status"), &status }) ||
        !pick_is(id, JSON_STRING) || !json_string_is(id, task->id))
        return;
    buf_init(&json, state.text.len * 2 + 64);
    json_write_init(&w, &json);
    json_object_open(&w);
    era_put_task(&w, state, false, task->is_cancelled ? S("cancelled") : S(""));
    json_object_close(&w);
    free(task->json);
    task->json = str_dup(buf_str(&json));
    buf_done(&json);
    task->is_over |= is_end(status);
}

/* Legacy: { task: { taskId, … } }; modern: { resultType: "task", taskId, … }. */
static struct json_span task_in(struct json_span result)
{
    struct json_span task = {}, type = {};

    if (!PICK(result, { S("task"), &task }, { S("resultType"), &type }))
        return (struct json_span){};
    if (pick_is(task, JSON_OBJECT))
        return task;
    return pick_is(type, JSON_STRING) && json_string_is(type, S("task"))
               ? result
               : (struct json_span){};
}

static uint64_t life_of(struct json_span ttl)
{
    uint64_t ms;

    if (!pick_is(ttl, JSON_NUMBER) || str_to_u64(ttl.text, 24ULL * BRIDGE_TASK_MS, &ms))
        return BRIDGE_TASK_MS;
    return ms;
}

static struct owned_task *task_new(const struct bridged *call, struct str id)
{
    struct str owner = call->to[0];
    struct bridge *b = call->bridge;
    struct owned_task *task = xcalloc(1, sizeof(*task) + id.len + owner.len +
                                             call->request_id.len + call->token.len);
    char *at = (char *)(task + 1);

    task->bridge = b;
    task->id = keep_str(&at, id);
    task->owner = keep_str(&at, owner);
    task->request_id = keep_str(&at, call->request_id);
    task->token = keep_str(&at, call->token);
    task->is_modern = call->is_modern;
    task->is_client = call->is_client;
    list_init(&task->inputs);
    list_append(&b->tasks, &task->link);
    b->task_count++;
    return task;
}

void owned_task_note(const struct bridged *call, struct server_origin origin,
                     struct json_span result)
{
    struct bridge *b = call->bridge;
    struct json_span span = task_in(result), id = {}, legacy = {}, modern = {};
    struct owned_task *task;

    if (!PICK(span, { S("taskId"), &id }, { S("ttl"), &legacy },
              { S("ttlMs"), &modern }) ||
        !pick_is(id, JSON_STRING) || id.has_escape || owned_task_find(b, id.text))
        return;
    drop_late_tasks(b);
    make_room(b);
    task = task_new(call, id.text);
    task->origin = origin;
    task->until_ms =
        loop_now_ms(b->means.loop) + life_of(pick_is_there(modern) ? modern : legacy);
    owned_task_seen(task, span);
}

void owned_task_put_list(struct bridge *b, struct str owner, struct buf *out)
{
    const struct owned_task *task;
    struct json_writer w;

    drop_late_tasks(b);
    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("tasks"));
    json_array_open(&w);
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
    LIST_FOREACH(task, &b->tasks, link)
        if (!task->is_dropped && task->json && str_eq(task->owner, owner))
            json_raw(&w, str_of(task->json));
    json_array_close(&w);
    json_object_close(&w);
}

/* --- progress --- */

static struct owned_task *task_from(const struct bridge *b, struct server_origin of)
{
    struct owned_task *task;

    LIST_FOREACH(task, &b->tasks, link)
        if (task->origin.run == of.run && task->origin.call == of.call)
            return task;
    return NULL;
}

/* PROG-02, PROG-05. What comes too early is not told: another one follows. */
static bool is_worth_telling(struct owned_task *task, struct json_span params)
{
    uint64_t now = loop_now_ms(task->bridge->means.loop);
    struct json_span span = {};
    double value;

    if (now < task->told_ms || !PICK(params, { S("progress"), &span }) ||
        !pick_is(span, JSON_NUMBER) || decimal_parse(span.text, &value) ||
        (task->has_progress && value <= task->progress))
        return false;
    task->has_progress = true;
    task->progress = value;
    task->told_ms = now + BRIDGE_PROGRESS_MS;
    return true;
}

/* The modern era has no progress of tasks: their calls have ended. */
void owned_task_progress(struct bridge *b, struct server_origin of,
                         struct json_span params)
{
    struct owned_task *task = task_from(b, of);
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, bridge_answer_bytes(b));
    if (!task || task->is_over || task->is_dropped || task->is_modern ||
        !task->token.len || task->until_ms <= loop_now_ms(b->means.loop) ||
        !is_worth_telling(task, params))
        return;
    bridge_put_progress(&out, params, task->token);
    if (!out.is_full)
        bridge_tell(b, task->owner, S("notifications/progress"), buf_str(&out),
                    task->request_id);
}
