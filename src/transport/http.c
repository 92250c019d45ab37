/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The carrier as a whole: what is sent when, who we are to the server, how it ends. The
 * exchanges themselves are in http_stream.c, those that wait for nothing particular in
 * http_listen.c.
 */
#include "transport/http.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/headers.h"
#include "mcp/session.h"
#include "transport/http_priv.h"

enum {
    MAX_SESSION_ID = 1024,
    MAX_VERSION = 32,
    MAX_FIELDS = 32 * 1024,
    MAX_RENEWALS = 4,
    SPARE_STREAMS = 16, /* for answers and notifications when all others are in use */
};

/* --- towards the session --- */

void http_hear(struct http_carrier *http, struct str text, uint64_t via)
{
    if (http->carrier.session)
        (void)mcp_session_hear(http->carrier.session, text, via, loop_now_ms(http->loop));
}

void http_mishap(struct http_carrier *http, uint64_t call, const struct mishap *mishap)
{
    if (http->carrier.session)
        mcp_session_mishap(http->carrier.session, call, mishap, loop_now_ms(http->loop));
}

/* --- the end --- */

static void close_streams(struct http_carrier *http)
{
    struct stream *stream;

    while ((stream = LIST_FIRST(&http->streams, struct stream, link)))
        stream_close(stream);
}

void http_end(struct http_carrier *http, const char *why)
{
    if (http->is_ended)
        return;
    http->is_ended = true;
    http->why = why;
    close_streams(http);
    loop_defer(http->loop, &http->end);
}

static void tell_end(struct loop_task *task)
{
    struct http_carrier *http = CONTAINER_OF(task, struct http_carrier, end);

    if (http->carrier.session)
        mcp_session_ended(http->carrier.session, http->why, loop_now_ms(http->loop));
    http->ops.on_ended(http->user, http->why);
}

static void reap(struct loop_task *task)
{
    struct http_carrier *http = CONTAINER_OF(task, struct http_carrier, reap);

    while (!list_is_empty(&http->closed))
        stream_free(CONTAINER_OF(http->closed.next, struct stream, link));
}

/* --- who may begin --- */

/* `notifications/initialized` comes first, whatever connection is the fastest. */
static bool is_held(const struct http_carrier *http, const struct stream *stream)
{
    return http->is_renewing || (http->greeting && http->greeting != stream);
}

static void begin(struct stream *stream)
{
    stream->is_waiting = is_held(stream->http, stream);
    if (!stream->is_waiting)
        stream_start(stream);
}

void http_go_on(struct http_carrier *http)
{
    struct stream *stream;

    if (http->is_ended || http->is_closing)
        return;
    LIST_FOREACH(stream, &http->streams, link)
        if (stream->is_waiting)
            begin(stream);
}

/* --- the credential --- */

static struct stream *find_refused(struct http_carrier *http)
{
    struct stream *stream;

    LIST_FOREACH(stream, &http->streams, link)
        if (stream->is_refused)
            return stream;
    return NULL;
}

static void on_renewed(void *user, enum err err, const char *why)
{
    struct http_carrier *http = user;
    struct stream *stream;

    http->is_renewing = false;
    while ((stream = find_refused(http))) {
        stream->is_refused = false;
        if (err)
            stream_fail(stream, MISHAP_FORBIDDEN, why);
    }
    http_go_on(http);
}

bool http_renew_credential(struct http_carrier *http, struct stream *stream,
                           struct str challenge)
{
    struct challenge what = { .status = stream->status,
                              .www_authenticate = challenge,
                              .used = buf_str(&stream->used) };

    if (!http->credential || stream->renewals++ == MAX_RENEWALS)
        return false;
    if (stream->status == 403 && challenge.len == 0)
        return false;
    stream->is_refused = true;
    stream->is_waiting = true;
    if (http->is_renewing)
        return true;
    http->is_renewing = true;
    http->credential->ops->renew(http->credential, &what, on_renewed, http);
    return true;
}

/* --- who we are to the server --- */

/* HTTP-26: visible ASCII. Anything else is not repeated to anybody. */
void http_take_session(struct http_carrier *http, struct str id)
{
    for (size_t i = 0; i < id.len; i++)
        if (id.ptr[i] < '!' || id.ptr[i] > '~')
            return;
    buf_clear(&http->session_id);
    buf_put(&http->session_id, id);
    if (http->session_id.is_full)
        buf_clear(&http->session_id);
    http->is_session_used = false;
}

static void on_forgotten(struct carrier *carrier)
{
    struct http_carrier *http = CONTAINER_OF(carrier, struct http_carrier, carrier);

    http_take_session(http, S(""));
    buf_clear(&http->version);
    if (http->listening)
        stream_close(http->listening);
}

static void on_settled(struct carrier *carrier, struct str version, bool is_modern)
{
    struct http_carrier *http = CONTAINER_OF(carrier, struct http_carrier, carrier);

    buf_clear(&http->version);
    buf_put(&http->version, version);
    if (is_modern || http->is_older || http->listening || http->is_closing)
        return;
    http->listening = stream_new(http, STREAM_LISTENING);
    begin(http->listening);
}

/* --- sending --- */

static void put_parcel(struct stream *stream, const struct parcel *parcel)
{
    struct buf name;

    buf_put(&stream->text, parcel->text);
    if (parcel->version.len > 0)
        stream_put_field(stream, S("MCP-Protocol-Version"), parcel->version);
    if (!parcel->is_modern)
        return;
    buf_init(&name, MAX_FIELDS);
    if (parcel->method.len > 0)
        stream_put_field(stream, S("Mcp-Method"), parcel->method);
    if (parcel->name.len > 0)
        header_put_value(&name, parcel->name);
    if (name.len > 0)
        stream_put_field(stream, S("Mcp-Name"), buf_str(&name));
    buf_done(&name);
    for (size_t i = 0; i < parcel->field_count; i++) {
        buf_put(&stream->fields, parcel->fields[i]);
        buf_putc(&stream->fields, '\0');
    }
}

static enum err on_send(struct carrier *carrier, const struct parcel *parcel)
{
    struct http_carrier *http = CONTAINER_OF(carrier, struct http_carrier, carrier);
    size_t max = http->max_streams + (parcel->call ? 0 : SPARE_STREAMS);
    struct stream *stream;

    if (http->is_ended || http->is_closing)
        return ERR_CLOSED;
    if (http->stream_count >= max)
        return ERR_OVERLOAD;
    if (parcel->text.len > http->max_message)
        return ERR_TOO_BIG;
    stream = stream_new(http, STREAM_POST);
    stream->id = parcel->call;
    stream->is_modern = parcel->is_modern;
    stream->is_initialize = str_eq(parcel->method, S("initialize"));
    stream->is_greeting = str_eq(parcel->method, S("notifications/initialized"));
    put_parcel(stream, parcel);
    if (stream->fields.is_full) {
        stream_close(stream);
        return ERR_TOO_BIG;
    }
    if (stream->is_greeting)
        http->greeting = stream;
    begin(stream);
    return OK;
}

static void on_drop(struct carrier *carrier, uint64_t call)
{
    struct http_carrier *http = CONTAINER_OF(carrier, struct http_carrier, carrier);
    struct stream *stream;

    LIST_FOREACH(stream, &http->streams, link)
        if (call && stream->id == call) {
            stream_close(stream);
            return;
        }
}

/* --- life --- */

static const struct carrier_ops carrier_ops = {
    .send = on_send,
    .drop = on_drop,
    .settled = on_settled,
    .renew = on_forgotten,
};

struct http_carrier *http_carrier_open(struct fetch *fetch, struct loop *loop,
                                       const struct http_carrier_settings *settings,
                                       const struct http_carrier_ops *ops, void *user)
{
    struct http_carrier *http = xcalloc(1, sizeof(*http));

    *http = (struct http_carrier){
        .carrier = { .ops = &carrier_ops, .drop_cancels = true },
        .fetch = fetch,
        .loop = loop,
        .ops = *ops,
        .user = user,
        .credential = settings->credential,
        .url = str_dup(str_of(settings->url)),
        .max_message = settings->max_message,
        .max_streams = settings->max_streams,
        .connect_ms = settings->connect_ms,
        .silence_ms = settings->silence_ms,
        .reach = settings->reach,
        .reap.run = reap,
        .end.run = tell_end,
    };
    list_init(&http->streams);
    list_init(&http->closed);
    buf_init(&http->fields, MAX_FIELDS);
    buf_init(&http->session_id, MAX_SESSION_ID);
    buf_init(&http->version, MAX_VERSION);
    for (size_t i = 0; i < settings->field_count; i++) {
        buf_put(&http->fields, settings->fields[i]);
        buf_putc(&http->fields, '\0');
    }
    if (http->fields.is_full)
        http_end(http, "its headers are too long");
    return http;
}

struct carrier *http_carrier_of(struct http_carrier *http)
{
    return &http->carrier;
}

void http_carrier_close(struct http_carrier *http)
{
    if (http->is_closing || http->is_ended)
        return;
    http->is_closing = true;
    close_streams(http);
    if (http->session_id.len == 0) {
        http_end(http, "it was closed");
        return;
    }
    stream_start(stream_new(http, STREAM_LEAVING));
}

void http_carrier_free(struct http_carrier *http)
{
    if (!http)
        return;
    if (http->is_renewing)
        http->credential->ops->forget(http->credential, http);
    http->is_ended = true;
    close_streams(http);
    reap(&http->reap);
    list_remove(&http->reap.link);
    list_remove(&http->end.link);
    if (http->fields.ptr)
        explicit_bzero(http->fields.ptr, http->fields.size); /* it may hold secrets */
    buf_done(&http->fields);
    buf_done(&http->session_id);
    buf_done(&http->version);
    free(http->url);
    free(http->listen_url);
    free(http);
}
