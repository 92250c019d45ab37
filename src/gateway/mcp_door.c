/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POST, GET and DELETE /mcp/TOPIC: Streamable HTTP on one side, a hall on the other. An
 * exchange becomes an outlet, and that is all that happens here.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "gateway/entrance.h"
#include "gateway/mcp_halls.h"

enum { EVENT_MORE = 256, HEADERS_BYTES = 1024, ERROR_BYTES = 4096 };

/* --- an exchange as an outlet --- */

struct door_outlet {
    struct outlet outlet;
    struct link link; /* among those of its worker */
    struct exchange *x;
};

static struct door_outlet *door_of(struct outlet *outlet)
{
    return CONTAINER_OF(outlet, struct door_outlet, outlet);
}

static struct moment now_of(const struct exchange *x)
{
    return mcp_halls_now(x->worker->halls);
}

/* What is left is the exchange. */
static struct exchange *let_go(struct door_outlet *door)
{
    struct exchange *x = door->x;

    list_remove(&door->link);
    free(door);
    return x;
}

static void on_gone(void *user)
{
    struct door_outlet *door = user;

    hall_lost(&door->outlet, now_of(door->x));
    (void)let_go(door);
}

static void put_header(struct buf *out, struct str name, struct str value)
{
    if (value.len == 0)
        return;
    buf_put(out, name);
    buf_put(out, S(": "));
    buf_put(out, value);
    buf_put(out, S("\r\n"));
}

static void reply(struct outlet *outlet, const struct outlet_reply *said)
{
    struct exchange *x = let_go(door_of(outlet));
    CLEANUP(buf_done) struct buf headers;

    buf_init(&headers, HEADERS_BYTES);
    put_header(&headers, S("Mcp-Session-Id"), said->visit);
    put_header(&headers, S("Allow"), said->allow);
    exchange_reply_with(
        x, &(struct reply){ .status = (int)said->status,
                            .type = said->message.len ? S("application/json") : S(""),
                            .body = said->message,
                            .headers = buf_str(&headers) });
}

static void begin_stream(struct door_outlet *door, struct str visit)
{
    CLEANUP(buf_done) struct buf headers;

    buf_init(&headers, HEADERS_BYTES);
    buf_put(&headers, S("Cache-Control: no-store, no-transform\r\n"
                        "X-Accel-Buffering: no\r\n"));
    put_header(&headers, S("Mcp-Session-Id"), visit);
    exchange_stream(door->x, S("text/event-stream"), buf_str(&headers),
                    &(struct stream_ops){ .on_gone = on_gone }, door);
}

static void put_event(struct buf *out, const struct outlet_event *event)
{
    if (event->id.len) {
        buf_put(out, S("id: "));
        buf_put(out, event->id);
        buf_putc(out, '\n');
    }
    if (event->retry_ms) {
        buf_put(out, S("retry: "));
        buf_putu(out, event->retry_ms);
        buf_putc(out, '\n');
    }
    if (event->message.len || event->id.len) {
        buf_put(out, S("data: "));
        buf_put(out, event->message);
        buf_putc(out, '\n');
    }
    if (out->len)
        buf_putc(out, '\n');
}

/* The client is told nothing more; that it has gone comes later, as from any other. */
static bool close_slow(struct door_outlet *door)
{
    exchange_stream_break(door->x);
    exchange_on_gone(door->x, on_gone, door);
    return false;
}

static bool event(struct outlet *outlet, const struct outlet_event *said)
{
    struct door_outlet *door = door_of(outlet);
    CLEANUP(buf_done) struct buf text;

    if (!outlet->is_stream)
        begin_stream(door, said->visit);
    buf_init(&text, said->message.len + EVENT_MORE);
    put_event(&text, said);
    exchange_stream_write(door->x, buf_str(&text));
    if (exchange_stream_unsent(door->x) >
        door->x->worker->settings->config->limits.outbox)
        return close_slow(door);
    return true;
}

static void murmur(struct outlet *outlet)
{
    exchange_stream_write(door_of(outlet)->x, S(":\n\n"));
}

static void end(struct outlet *outlet)
{
    exchange_stream_end(let_go(door_of(outlet)));
}

static const struct outlet_ops door_ops = {
    .reply = reply,
    .event = event,
    .murmur = murmur,
    .end = end,
};

static struct outlet *outlet_of(struct exchange *x)
{
    struct door_outlet *door = xcalloc(1, sizeof(*door));

    door->outlet.ops = &door_ops;
    door->x = x;
    list_append(mcp_halls_outlets(x->worker->halls), &door->link);
    exchange_on_gone(x, on_gone, door);
    exchange_watch_end(x);
    return &door->outlet;
}

void mcp_end_streams(struct mcp_halls *halls)
{
    struct door_outlet *door;

    LIST_FOREACH(door, mcp_halls_outlets(halls), link) {
        if (door->x->request.method != HTTP_GET || !door->outlet.is_stream)
            continue;
        hall_lost(&door->outlet, now_of(door->x));
        exchange_stream_end(let_go(door));
    }
}

/* --- what a request says --- */

struct mcp_head {
    struct serve_post http;
    struct str visit, after;
    struct serve_param params[HTTP_MAX_HEADERS];
};

/* clang-format off */
static const struct {
    struct str name;
    size_t offset;
} fields[] = {
    { S("Content-Type"),         offsetof(struct mcp_head, http.content_type) },
    { S("MCP-Protocol-Version"), offsetof(struct mcp_head, http.version) },
    { S("Mcp-Method"),           offsetof(struct mcp_head, http.method) },
    { S("Mcp-Name"),             offsetof(struct mcp_head, http.name) },
    { S("Mcp-Session-Id"),       offsetof(struct mcp_head, visit) },
    { S("Last-Event-ID"),        offsetof(struct mcp_head, after) },
};
/* clang-format on */

/* Whoever sends one twice and whoever reads one may mean different ones. */
static bool refuse_twice(struct exchange *x, struct str name)
{
    CLEANUP(buf_done) struct buf out;
    CLEANUP(buf_done) struct buf why;

    buf_init(&out, ERROR_BYTES);
    buf_init(&why, ERROR_BYTES);
    buf_put(&why, S("Bad Request: the header "));
    buf_put(&why, name);
    buf_put(&why, S(" was sent twice"));
    serve_put_error(&out, (struct json_span){}, SERVE_REFUSED, buf_str(&why), S(""));
    exchange_json(x, 400, &out);
    return false;
}

/* As a list, however many lines it has (RFC 9110 5.3). */
static struct str join_accept(struct exchange *x)
{
    const struct http_request *req = &x->request;
    CLEANUP(buf_done) struct buf list = {};
    size_t count;
    struct str first = http_header_find(req, S("Accept"), &count);

    if (count < 2)
        return first;
    buf_init(&list, x->worker->settings->config->limits.head);
    for (size_t i = 0; i < req->header_count; i++) {
        if (!str_ieq(req->headers[i].name, S("Accept")))
            continue;
        if (list.len)
            buf_put(&list, S(", "));
        buf_put(&list, req->headers[i].value);
    }
    return arena_str(&x->arena, buf_str(&list));
}

/* Mcp-Param-NAME: VALUE. */
static bool read_param(struct exchange *x, const struct http_header *header,
                       struct mcp_head *ret)
{
    static const struct str prefix = { "Mcp-Param-", 10 };
    struct str name = str_slice(header->name, prefix.len, header->name.len);

    if (header->name.len <= prefix.len ||
        !str_ieq(str_slice(header->name, 0, prefix.len), prefix))
        return true;
    for (size_t i = 0; i < ret->http.param_count; i++)
        if (str_ieq(ret->params[i].name, name))
            return refuse_twice(x, header->name);
    ret->params[ret->http.param_count++] = (struct serve_param){ name, header->value };
    return true;
}

/* False if that already answered. */
static bool read_head(struct exchange *x, struct mcp_head *ret)
{
    const struct http_request *req = &x->request;

    ret->http = (struct serve_post){ .is_http = true,
                                     .accept = join_accept(x),
                                     .params = ret->params,
                                     .max_depth = x->worker->settings->admit.depth };
    for (size_t i = 0; i < COUNT(fields); i++) {
        size_t count = 0;
        struct str value = http_header_find(req, fields[i].name, &count);

        if (count > 1)
            return refuse_twice(x, fields[i].name);
        *(struct str *)(void *)((char *)ret + fields[i].offset) = value;
    }
    for (size_t i = 0; i < req->header_count; i++)
        if (!read_param(x, &req->headers[i], ret))
            return false;
    return true;
}

/* --- handlers --- */

#define TOO_MANY_HALLS                                                                   \
    "You use MCP in too many topics at a time, or too many clients use it in this one. " \
    "End sessions that you no longer need, or try again later."

/* Into the hall; false if that already answered. The door may have been closed since the
 * route was found. */
static bool enter(struct exchange *x, struct hall **ret_hall, struct attendee **ret)
{
    struct live_room *room;
    enum err err;

    if (x->worker->is_draining || !x->worker->halls) {
        entrance_refuse(x, ERR_UNAVAILABLE);
        return false;
    }
    if (!x->worker->settings->config->mcp.open) {
        exchange_fail(x, ERR_NOT_FOUND, "There is nothing at this path.");
        return false;
    }
    room = entrance_room(x, ENTER_TO_VISIT, DIALECT_SLASH);
    if (!room)
        return false;
    room_left(room); /* who needs it sits down there */
    err = mcp_halls_enter(x->worker->halls, x->topic, x->identity, ret_hall, ret);
    if (err)
        exchange_fail(x, err, TOO_MANY_HALLS);
    return !err;
}

void mcp_post(struct exchange *x)
{
    struct mcp_head head;
    struct hall_post post = { .http = &head.http };
    CLEANUP(buf_done) struct buf body;
    struct hall *hall;

    buf_init(&body, 0);
    if (!read_head(x, &head) || !enter(x, &hall, &post.attendee))
        return;
    body = x->body_buf; /* nobody keeps it for as long as the answer takes */
    buf_init(&x->body_buf, 0);
    x->body = (struct str){};
    head.http.body = buf_str(&body);
    post.visit = head.visit;
    hall_post(hall, &post, outlet_of(x), now_of(x));
}

void mcp_get(struct exchange *x)
{
    struct mcp_head head;
    struct hall_post post = { .http = &head.http };
    struct hall *hall;

    if (x->request.method == HTTP_HEAD) {
        exchange_fail_with(
            x,
            &(struct failure){ .err = ERR_METHOD,
                               .detail = S("This path answers other methods."),
                               .headers = S("Allow: GET, POST, DELETE, OPTIONS\r\n") });
        return;
    }
    if (!read_head(x, &head) || !enter(x, &hall, &post.attendee))
        return;
    post.visit = head.visit;
    hall_listen(hall, &post, head.after, outlet_of(x), now_of(x));
}

void mcp_delete(struct exchange *x)
{
    struct mcp_head head;
    struct hall_post post = { .http = &head.http };
    struct hall *hall;

    if (!read_head(x, &head) || !enter(x, &hall, &post.attendee))
        return;
    post.visit = head.visit;
    hall_leave(hall, &post, outlet_of(x), now_of(x));
}
