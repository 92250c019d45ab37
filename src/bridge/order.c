/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a server: it waits, is sent once, and ends once. */
#include <stdlib.h>

#include "base/xalloc.h"
#include "bridge/supervisor_priv.h"
#include "json/json.h"

static struct str keep_text(char **at, struct str text)
{
    struct str kept = { *at, text.len };

    if (text.len > 0)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return kept;
}

struct server_order *order_new(struct supervisor *owner, struct str caller,
                               const struct mcp_call *call)
{
    size_t bytes = caller.len + call->method.len + call->params.len + call->tool.len +
                   call->capable.len + call->log_level.len;
    struct server_order *order = xmalloc(sizeof(*order) + bytes);
    char *at = order->texts;

    *order = (struct server_order){ .owner = owner, .what = *call, .bytes = bytes };
    order->caller = keep_text(&at, caller);
    order->what.method = keep_text(&at, call->method);
    order->what.params = keep_text(&at, call->params);
    order->what.tool = keep_text(&at, call->tool);
    order->what.capable = keep_text(&at, call->capable);
    order->what.log_level = keep_text(&at, call->log_level);
    owner->order_count++;
    return order;
}

void *server_order_user(const struct server_order *order)
{
    return order->what.user;
}

struct server_origin server_order_origin(const struct server_order *order)
{
    return (struct server_origin){ order->run, order->call };
}

void order_wait(struct server_order *order)
{
    struct supervisor *s = order->owner;
    uint64_t now = loop_now_ms(s->means.loop);
    uint64_t wait_ms = order->what.timeout_ms ? order->what.timeout_ms : s->spec->call_ms;

    if (order->due_ms == 0)
        order->due_ms = now + wait_ms;
    list_append(&s->waiting, &order->link);
    s->waiting_count++;
    s->waiting_bytes += order->bytes;
    if (!loop_timer_is_set(&s->expiry) || s->expiry.due_ms > order->due_ms)
        loop_timer_set(s->means.loop, &s->expiry,
                       order->due_ms > now ? order->due_ms - now : 0);
}

/* Out of the queue, or off its instance. */
static void order_leave(struct server_order *order)
{
    struct instance *instance = order->instance;

    if (!link_is_set(&order->link))
        return;
    list_remove(&order->link);
    order->instance = NULL;
    if (!instance) {
        order->owner->waiting_count--;
        order->owner->waiting_bytes -= order->bytes;
        return;
    }
    instance->order_count--;
    instance_idle_from_now(instance);
}

void order_unwait(struct server_order *order)
{
    order_leave(order);
}

void order_free(struct server_order *order)
{
    order_leave(order);
    order->owner->order_count--;
    free(order);
}

void order_finish(struct server_order *order, const struct mcp_reply *reply)
{
    struct supervisor *s = order->owner;
    struct mcp_call_ops ops = order->what.ops;
    void *user = order->what.user;

    order_leave(order);
    /* Others may take its place. */
    if (s->waiting_count > 0)
        supervisor_pump_soon(s);
    ops.on_done(user, reply);
    order_free(order);
}

void order_fail(struct server_order *order, struct str message, struct str reason)
{
    CLEANUP(buf_done) struct buf json;
    struct json_writer w;
    struct mcp_reply reply = { .type = REPLY_FAILED, .was_sent = false };

    buf_init(&json, 64 << 10);
    json_write_init(&w, &json);
    json_object_open(&w);
    json_key(&w, S("code"));
    json_raw(&w, S("-32603"));
    json_put_str(&w, S("message"), message);
    json_key(&w, S("data"));
    json_object_open(&w);
    json_put_str(&w, S("reason"), reason);
    json_object_close(&w);
    json_object_close(&w);
    reply.json = (struct json_span){ .type = JSON_OBJECT, .text = buf_str(&json) };
    order_finish(order, &reply);
}

/* --- what the session says --- */

static void on_progress(void *user, struct json_span params)
{
    struct server_order *order = user;

    if (order->what.ops.on_progress)
        order->what.ops.on_progress(order->what.user, params);
}

/* It did not run: another instance may have it. */
static bool may_try_again(const struct server_order *order, const struct mcp_reply *reply)
{
    const struct supervisor *s = order->owner;

    return reply->type == REPLY_FAILED && !reply->was_sent && !order->is_cancelled &&
           !s->is_stopped && order->tries < ORDER_TRIES;
}

static void on_done(void *user, const struct mcp_reply *reply)
{
    struct server_order *order = user;

    if (!may_try_again(order, reply)) {
        order_finish(order, reply);
        return;
    }
    order_leave(order);
    order_wait(order);
    supervisor_pump_soon(order->owner);
}

const struct mcp_call_ops order_ops = { .on_progress = on_progress, .on_done = on_done };
