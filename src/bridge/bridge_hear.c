/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server tells, and whom: progress and what belongs to a call go to its caller,
 * messages to those who want that level, updates to subscribers, changes of lists to the
 * room, once they were looked at (bridge_list.c). What is nobody's goes to the logbook.
 */
#include "base/cleanup.h"
#include "bridge/bridge_priv.h"
#include "envelope/kind.h"
#include "mcp/serve.h"
#include "participant/pick.h"

/* --- saying --- */

static void put_notification(struct buf *out, struct str method, struct str params)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("jsonrpc"), S("2.0"));
    json_put_str(&w, S("method"), method);
    if (params.len) {
        json_key(&w, S("params"));
        json_raw(&w, params);
    }
    json_object_close(&w);
}

/* Nobody waits for it: what cannot be said now is not said later. */
void bridge_tell(struct bridge *b, struct str to, struct str method, struct str params,
                 struct str about)
{
    CLEANUP(buf_done) struct buf kind;
    CLEANUP(buf_done) struct buf payload;

    buf_init(&kind, KIND_MAX_BYTES);
    buf_init(&payload, bridge_answer_bytes(b));
    buf_put(&kind, S("mcp/request:"));
    buf_put(&kind, method);
    put_notification(&payload, method, params);
    if (payload.is_full || kind.is_full ||
        occupant_say(b->occupant,
                     &(struct saying){ .kind = buf_str(&kind),
                                       .payload = buf_str(&payload),
                                       .correlation_id = about,
                                       .to = &to,
                                       .to_count = to.len ? 1 : 0 },
                     bridge_now(b), NULL, NULL))
        b->counts.dropped++;
}

/* --- progress --- */

void bridge_put_progress(struct buf *out, struct json_span params, struct str token)
{
    struct json_scan scan;
    struct json_member m;
    struct json_writer w;
    enum err err;

    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("progressToken"));
    json_raw(&w, token);
    json_scan_init(&scan, params.text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err)) {
        const char *begin = m.key.text.ptr - 1;
        const char *end = m.value.text.ptr + m.value.text.len;

        if (json_string_is(m.key, S("progressToken")))
            continue;
        if (m.value.type == JSON_STRING)
            end++;
        json_raw(&w, (struct str){ begin, (size_t)(end - begin) });
    }
    json_object_close(&w);
}

void bridge_progress(struct bridged *call, struct json_span params)
{
    struct bridge *b = call->bridge;
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, bridge_answer_bytes(b));
    if (call->is_unwanted)
        return;
    bridge_put_progress(&out, params, call->token);
    if (!out.is_full)
        bridge_tell(b, call->to[0], S("notifications/progress"), buf_str(&out),
                    call->request_id);
    bridge_settle(b);
}

/* --- messages --- */

static bool wants(const struct guest *guest, int level)
{
    return guest && guest->level >= 0 && level >= guest->level;
}

/* ML-09: a modern request says for itself what it wants. */
static bool call_wants(const struct bridged *call, int level)
{
    return call->is_modern ? call->level >= 0 && level >= call->level
                           : wants(guest_find(call->bridge, call->to[0]), level);
}

static int level_of(const struct mcp_message *message)
{
    struct json_span level = {};

    (void)PICK(message->params, { S("level"), &level });
    return level.type == JSON_STRING ? serve_level(level.text) : -1;
}

/* What is its call's is told to no other. */
static bool is_passed_over(const struct hearing *h, const struct guest *guest,
                           bool has_caller_heard)
{
    if (!h->call)
        return false;
    return !h->is_likely || (has_caller_heard && str_eq(h->call->to[0], guest->id));
}

static void hear_message(struct bridge *b, const struct hearing *h)
{
    const struct mcp_message *message = h->message;
    int level = level_of(message);
    bool has_caller_heard = h->call && call_wants(h->call, level);
    bool is_heard = has_caller_heard;
    struct guest *guest;

    if (has_caller_heard)
        bridge_tell(b, h->call->to[0], message->method, message->params.text,
                    h->call->request_id);
    LIST_FOREACH(guest, &b->guests, link) {
        if (!wants(guest, level) || is_passed_over(h, guest, has_caller_heard))
            continue;
        bridge_tell(b, guest->id, message->method, message->params.text, S(""));
        is_heard = true;
    }
    if (!is_heard)
        logbook_add(b->logbook, S("server"), message->params.text,
                    loop_wall_ms(b->means.loop));
}

/* --- what concerns some --- */

static struct str member_text(const struct mcp_message *message, struct str name,
                              struct arena *arena)
{
    struct json_span span = {};

    if (!PICK(message->params, { name, &span }))
        return S("");
    return pick_text(span, arena);
}

static void hear_updated(struct bridge *b, const struct hearing *h)
{
    const struct mcp_message *message = h->message;
    CLEANUP(arena_done) struct arena arena;
    struct guest *guest;
    struct str uri;

    arena_init(&arena, message->params.text.len + 4096);
    uri = member_text(message, S("uri"), &arena);
    LIST_FOREACH(guest, &b->guests, link)
        if (guest_watches(guest, uri))
            bridge_tell(b, guest->id, message->method, message->params.text, S(""));
}

/* TASK-12: nobody relies on it; who speaks of tasks in another way is not told. */
static void hear_task(struct bridge *b, const struct hearing *h)
{
    const struct mcp_message *message = h->message;
    CLEANUP(arena_done) struct arena arena;
    struct owned_task *task;

    arena_init(&arena, message->params.text.len + 4096);
    task = owned_task_find(b, member_text(message, S("taskId"), &arena));
    if (!task)
        return;
    owned_task_seen(task, message->params);
    if (task->is_modern == (b->facts.era == ERA_MODERN))
        bridge_tell(b, task->owner, message->method, message->params.text, S(""));
}

static void hear_elicited(struct bridge *b, const struct hearing *h)
{
    const struct mcp_message *message = h->message;
    struct json_span id = {};
    struct elicited *elicited;

    (void)PICK(message->params, { S("elicitationId"), &id });
    elicited = id.text.ptr ? bridge_elicited(b, id.text) : NULL;
    if (!elicited)
        return; /* ELIC-06: unknown, or over */
    bridge_tell(b, elicited->whom, message->method, message->params.text, S(""));
    bridge_elicited_end(b, elicited);
}

/* --- lists --- */

#define BIT(type) (1U << (type))

static void hear_tools(struct bridge *b, const struct hearing *)
{
    relist_begin(b, BIT(OFFER_TOOL));
}

static void hear_resources(struct bridge *b, const struct hearing *)
{
    relist_begin(b, BIT(OFFER_RESOURCE) | BIT(OFFER_TEMPLATE));
}

static void hear_prompts(struct bridge *b, const struct hearing *)
{
    relist_begin(b, BIT(OFFER_PROMPT));
}

/* --- which --- */

/* clang-format off */
static const struct {
    struct str method;
    void (*hear)(struct bridge *b, const struct hearing *hearing);
} notifications[] = {
    { S("notifications/message"),                hear_message },
    { S("notifications/resources/updated"),      hear_updated },
    { S("notifications/tasks/status"),           hear_task },
    { S("notifications/tasks"),                  hear_task },
    { S("notifications/elicitation/complete"),   hear_elicited },
    { S("notifications/tools/list_changed"),     hear_tools },
    { S("notifications/resources/list_changed"), hear_resources },
    { S("notifications/prompts/list_changed"),   hear_prompts },
};
/* clang-format on */

/* Others go to whoever made the call that they belong to. */
void bridge_hear(struct bridge *b, const struct hearing *hearing)
{
    const struct mcp_message *message = hearing->message;
    const struct bridged *call = hearing->call;

    for (size_t i = 0; i < COUNT(notifications); i++)
        if (str_eq(notifications[i].method, message->method)) {
            notifications[i].hear(b, hearing);
            return;
        }
    if (call && str_starts(message->method, S("notifications/")))
        bridge_tell(b, call->to[0], message->method, message->params.text,
                    call->request_id);
}
