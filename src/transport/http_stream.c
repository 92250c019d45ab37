/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One exchange: the request is written, the answer is read as JSON or as events, and its
 * end is made something that the session understands. An answer that breaks off is
 * resumed where the server gave its events ids (legacy alone).
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/message.h"
#include "transport/http_priv.h"

enum {
    MAX_FIELDS = 32 * 1024,
    MAX_FIELD_COUNT = 160,
    MAX_ERROR = 64 * 1024, /* bytes of what comes with an error */
    MAX_LOCATION = 8192,
    MAX_DEPTH = 128,
    MAX_ATTEMPTS = 5,
    MAX_REDIRECTIONS = 3,
    DELIVER_MS = 30'000, /* for what has no answer */
    LEAVE_MS = 2000,
    GRACE_MS = 1000, /* between an answer and the end of its stream */
    PAUSE_MS = 1000,
    MAX_PAUSE_MS = 60'000,
    MAX_RETRY_MS = 600'000, /* more than a server can ask for */
};

/* --- life --- */

static void on_timer(struct loop_timer *timer)
{
    struct stream *stream = CONTAINER_OF(timer, struct stream, timer);

    if (stream->is_answered)
        stream_close(stream);
    else if (stream->type == STREAM_OLDER)
        older_ended(stream); /* it did not begin in time */
    else
        stream_start(stream);
}

struct stream *stream_new(struct http_carrier *http, enum stream_type type)
{
    struct stream *stream = xcalloc(1, sizeof(*stream));

    stream->http = http;
    stream->type = type;
    stream->retry_ms = UINT64_MAX;
    stream->timer.on_fire = on_timer;
    buf_init(&stream->fields, MAX_FIELDS);
    buf_init(&stream->text, http->max_message);
    buf_init(&stream->body, http->max_message);
    buf_init(&stream->location, MAX_LOCATION);
    buf_init(&stream->used, MAX_FIELDS);
    buf_init(&stream->last_id, EVENTS_MAX_ID);
    list_append(&http->streams, &stream->link);
    http->stream_count++;
    return stream;
}

static void hang_up(struct stream *stream)
{
    if (stream->call)
        fetch_cancel(TAKE(stream->call));
    loop_timer_clear(stream->http->loop, &stream->timer);
}

/* Nobody waits for it any more. */
static void release(struct http_carrier *http, const struct stream *stream)
{
    if (http->listening == stream)
        http->listening = NULL;
    if (http->older == stream)
        http->older = NULL;
    if (http->opening == stream)
        http->opening = NULL;
    if (http->greeting != stream)
        return;
    http->greeting = NULL;
    http_go_on(http);
}

void stream_close(struct stream *stream)
{
    struct http_carrier *http = stream->http;

    if (stream->is_closed)
        return;
    stream->is_closed = true;
    hang_up(stream);
    list_remove(&stream->link);
    list_append(&http->closed, &stream->link);
    http->stream_count--;
    loop_defer(http->loop, &http->reap);
    release(http, stream);
}

void stream_free(struct stream *stream)
{
    list_remove(&stream->link);
    if (stream->is_events)
        events_done(&stream->events);
    buf_done(&stream->fields);
    buf_done(&stream->text);
    buf_done(&stream->body);
    buf_done(&stream->location);
    buf_done(&stream->used);
    buf_done(&stream->last_id);
    free(stream);
}

void stream_fail(struct stream *stream, enum mishap_type type, const char *why)
{
    const struct mishap mishap = {
        .type = type, .status = stream->status, .body = buf_str(&stream->body), .why = why
    };

    if (stream->is_closed)
        return;
    stream_close(stream);
    if (stream->id)
        http_mishap(stream->http, stream->id, &mishap);
}

void stream_start_later(struct stream *stream, uint64_t delay_ms)
{
    loop_timer_set(stream->http->loop, &stream->timer, delay_ms);
}

uint64_t stream_pause_ms(const struct stream *stream)
{
    uint64_t pause_ms = (uint64_t)PAUSE_MS << stream->attempts;

    if (pause_ms > MAX_PAUSE_MS)
        pause_ms = MAX_PAUSE_MS;
    if (stream->retry_ms == UINT64_MAX)
        return pause_ms;
    if (stream->attempts > 0 && pause_ms > stream->retry_ms)
        return pause_ms;
    return stream->retry_ms < MAX_RETRY_MS ? stream->retry_ms : MAX_RETRY_MS;
}

/* --- the request --- */

static void put_field(struct buf *out, struct str name, struct str value)
{
    if (value.len == 0)
        return;
    buf_put(out, name);
    buf_put(out, S(": "));
    buf_put(out, value);
    buf_putc(out, '\0');
}

void stream_put_field(struct stream *stream, struct str name, struct str value)
{
    put_field(&stream->fields, name, value);
}

static bool is_get(const struct stream *stream)
{
    return stream->type == STREAM_RESUMED || stream->type == STREAM_LISTENING ||
           stream->type == STREAM_OLDER;
}

/* Everything that is said for the moment, besides what the stream always says. */
static void put_fields(struct stream *stream, struct buf *out)
{
    struct http_carrier *http = stream->http;

    put_field(out, S("User-Agent"), S("moot/" MOOT_VERSION));
    buf_put(out, buf_str(&http->fields));
    buf_put(out, buf_str(&stream->fields));
    buf_clear(&stream->used);
    if (http->credential)
        buf_put(&stream->used, http->credential->ops->current(http->credential));
    put_field(out, S("Authorization"), buf_str(&stream->used));
    if (!stream->is_modern && !stream->is_initialize)
        put_field(out, S("Mcp-Session-Id"), buf_str(&http->session_id));
    if (stream->type == STREAM_POST) {
        put_field(out, S("Content-Type"), S("application/json"));
        put_field(out, S("Accept"), S("application/json, text/event-stream"));
        return;
    }
    if (stream->type != STREAM_RESUMED)
        put_field(out, S("MCP-Protocol-Version"), buf_str(&http->version));
    if (is_get(stream)) {
        put_field(out, S("Accept"), S("text/event-stream"));
        put_field(out, S("Last-Event-ID"), buf_str(&stream->last_id));
    }
}

static size_t list_fields(struct buf *all, const char **ret)
{
    struct str rest = buf_str(all);
    size_t count = 0;

    while (rest.len > 0 && count < MAX_FIELD_COUNT)
        ret[count++] = str_cut(&rest, '\0').ptr;
    return count;
}

static void forget_answer(struct stream *stream)
{
    if (stream->is_events)
        events_done(&stream->events);
    stream->is_events = false;
    stream->is_json = false;
    stream->status = 0;
    buf_clear(&stream->body);
    buf_clear(&stream->location);
}

static void on_head(void *user, struct fetch_call *call, const struct fetch_head *head);
static void on_bytes(void *user, struct str bytes);
static void on_done(void *user, const struct fetch_answer *answer);

static const struct fetch_ops stream_ops = { on_head, on_bytes, on_done };

void stream_start(struct stream *stream)
{
    struct http_carrier *http = stream->http;
    const char *fields[MAX_FIELD_COUNT];
    struct fetch_order order = { .method = "POST",
                                 .url = http->url,
                                 .fields = fields,
                                 .reach = http->reach,
                                 .uses_proxies = true,
                                 .connect_ms = http->connect_ms };
    CLEANUP(buf_done) struct buf all;

    buf_init(&all, 3L * MAX_FIELDS);
    put_fields(stream, &all);
    order.field_count = list_fields(&all, fields);
    order.body = buf_str(&stream->text);
    if (is_get(stream))
        order.method = "GET";
    if (stream->type == STREAM_OLDER)
        order.url = http->listen_url;
    if (stream->type == STREAM_LEAVING)
        order.method = "DELETE";
    if (!is_get(stream) && stream->id == 0)
        order.timeout_ms = http->silence_ms ? http->silence_ms : DELIVER_MS;
    if (stream->type == STREAM_LEAVING)
        order.timeout_ms = LEAVE_MS;
    stream->is_waiting = false;
    forget_answer(stream);
    stream->call = fetch_start(http->fetch, &order, &stream_ops, stream);
}

/* --- the answer as it comes --- */

static bool is_good(const struct stream *stream)
{
    return stream->status >= 200 && stream->status < 300;
}

static void on_head(void *user, struct fetch_call *call, const struct fetch_head *head)
{
    struct stream *stream = user;

    stream->status = head->status;
    stream->is_events = is_good(stream) && str_eq(head->type, S("text/event-stream"));
    stream->is_json = is_good(stream) && str_eq(head->type, S("application/json"));
    if (stream->is_events)
        events_init(&stream->events, stream->http->max_message);
    if (is_good(stream) && stream->is_initialize)
        http_take_session(stream->http, fetch_field(call, S("Mcp-Session-Id")));
    if (is_good(stream))
        buf_done(&stream->text);
    if (stream->status == 307 || stream->status == 308)
        buf_put(&stream->location, fetch_field(call, S("Location")));
    if (stream->status == 401 || stream->status == 403)
        buf_put(&stream->location, fetch_field(call, S("WWW-Authenticate")));
}

/* Does it answer the request of this stream? An error without an id can mean nothing
 * else. */
static bool is_answer(struct str text, uint64_t id)
{
    struct mcp_message_walk walk;
    struct mcp_message message;
    struct str one;
    const char *what;
    uint64_t of;
    enum err err;

    if (id == 0 || mcp_message_walk_begin(&walk, text, MAX_DEPTH))
        return false;
    while (mcp_message_walk_next(&walk, &one, &err)) {
        if (mcp_message_read(one, MAX_DEPTH, &message, &what))
            continue;
        if (message.type != MESSAGE_RESULT && message.type != MESSAGE_ERROR)
            continue;
        if (!message.id.text.ptr || (mcp_message_number(message.id, &of) && of == id))
            return true;
    }
    return false;
}

static void hear(struct stream *stream, struct str text)
{
    struct http_carrier *http = stream->http;
    bool is_last = is_answer(text, stream->id);

    if (!stream->is_initialize)
        http->is_session_used = true;
    stream->is_answered = stream->is_answered || is_last;
    if (is_last)
        stream_start_later(stream, GRACE_MS);
    http_hear(http, text, stream->id);
}

static void hear_event(struct stream *stream, const struct event *event)
{
    stream->attempts = 0;
    buf_clear(&stream->last_id);
    buf_put(&stream->last_id, event->id);
    if (stream->type == STREAM_OLDER)
        older_hear(stream, event);
    else if (event->data.len > 0 && str_eq(event->type, S("message")))
        hear(stream, event->data);
}

static void hear_events(struct stream *stream, struct str bytes)
{
    struct event event;

    while (!stream->is_closed && events_next(&stream->events, &bytes, &event))
        hear_event(stream, &event);
    if (stream->is_closed)
        return;
    if (stream->events.retry_ms != UINT64_MAX)
        stream->retry_ms = stream->events.retry_ms;
    if (stream->events.has_failed)
        stream_fail(stream, MISHAP_TOO_BIG, "an event is too long");
}

static void on_bytes(void *user, struct str bytes)
{
    struct stream *stream = user;

    if (stream->is_events) {
        hear_events(stream, bytes);
        return;
    }
    if (!is_good(stream) && stream->body.len + bytes.len > MAX_ERROR)
        return; /* the rest of a page that explains an error */
    buf_put(&stream->body, bytes);
    if (stream->body.is_full)
        stream_fail(stream, MISHAP_TOO_BIG, "the answer is too long");
}

/* --- the answer when it is over --- */

static enum mishap_type mishap_of(enum err err)
{
    if (err == ERR_TIMEOUT)
        return MISHAP_TIMEOUT;
    return err == ERR_TOO_BIG ? MISHAP_TOO_BIG : MISHAP_BROKEN;
}

/* Legacy: what broke off goes on behind the last event that came (HTTP-23). */
static void resume(struct stream *stream)
{
    if (stream->is_modern || stream->id == 0 || stream->last_id.len == 0 ||
        stream->attempts == MAX_ATTEMPTS) {
        stream_fail(stream, MISHAP_BROKEN, "the stream ended without an answer");
        return;
    }
    stream->type = STREAM_RESUMED;
    stream_start_later(stream, stream_pause_ms(stream));
    stream->attempts++;
}

/* Only to where it was, under another path. */
static bool follow(struct stream *stream)
{
    struct http_carrier *http = stream->http;
    struct buf url;
    bool is_fine;

    if (stream->location.len == 0 || stream->redirections++ == MAX_REDIRECTIONS)
        return false;
    buf_init(&url, 2L * MAX_LOCATION);
    is_fine = !fetch_join(http->fetch, http->url, buf_cstr(&stream->location), &url) &&
              fetch_is_same_origin(http->fetch, http->url, buf_cstr(&url));
    if (is_fine) {
        free(http->url);
        http->url = str_dup(buf_str(&url));
        stream_start(stream);
    }
    buf_done(&url);
    return is_fine;
}

/* server-everything answers 400 where the specification wants 404 (HTTP-30); an error
 * that says what is wrong with the request itself is not about the session. */
static bool is_forgotten(const struct stream *stream)
{
    static const struct str code[] = { S("code") };
    struct mcp_message message;
    const char *what;
    struct str number;

    if (stream->is_modern || stream->is_initialize || stream->http->is_older ||
        stream->http->session_id.len == 0)
        return false;
    if (stream->status == 404)
        return true;
    if (stream->status != 400 || !stream->http->is_session_used)
        return false;
    if (mcp_message_read(buf_str(&stream->body), MAX_DEPTH, &message, &what) ||
        message.type != MESSAGE_ERROR)
        return true;
    number = mcp_message_find(message.error, code, 1).text;
    return str_eq(number, S("-32000")) || str_eq(number, S("-32001"));
}

static void end_refused(struct stream *stream)
{
    CLEANUP(buf_done) struct buf challenge = stream->location;

    buf_init(&stream->location, MAX_LOCATION);
    if (!http_renew_credential(stream->http, stream, buf_str(&challenge)))
        stream_fail(stream, MISHAP_FORBIDDEN, "the server wants another credential");
}

static void end_badly(struct stream *stream)
{
    unsigned status = stream->status;

    if (status == 401 || status == 403)
        end_refused(stream);
    else if ((status == 307 || status == 308) && follow(stream))
        return;
    else if (is_forgotten(stream))
        stream_fail(stream, MISHAP_FORGOTTEN, "the server does not know the session");
    else if (!(stream->is_initialize && older_try(stream)))
        stream_fail(stream, MISHAP_STATUS, "the server answered with an error of HTTP");
}

static void end_well(struct stream *stream)
{
    if (stream->is_json && stream->body.len > 0)
        hear(stream, buf_str(&stream->body));
    if (stream->is_answered || stream->id == 0 || stream->http->is_older)
        stream_close(stream);
    else if (stream->is_json)
        stream_fail(stream, MISHAP_BROKEN, "there is no answer in what came");
    else
        stream_fail(stream, MISHAP_STATUS,
                    "what came is neither JSON nor an event stream");
}

static void end_post(struct stream *stream, const struct fetch_answer *answer)
{
    if (stream->is_answered)
        stream_close(stream);
    else if (stream->is_events || (answer->err && stream->type == STREAM_RESUMED))
        resume(stream);
    else if (answer->err)
        stream_fail(stream, mishap_of(answer->err), answer->why);
    else if (stream->type == STREAM_RESUMED && stream->status != 401)
        stream_fail(stream, MISHAP_BROKEN, "the stream cannot be resumed");
    else if (is_good(stream))
        end_well(stream);
    else
        end_badly(stream);
}

static void on_done(void *user, const struct fetch_answer *answer)
{
    struct stream *stream = user;

    stream->call = NULL;
    loop_timer_clear(stream->http->loop, &stream->timer);
    switch (stream->type) {
    case STREAM_POST:
    case STREAM_RESUMED: end_post(stream, answer); break;
    case STREAM_LISTENING: listening_ended(stream, answer); break;
    case STREAM_OLDER: older_ended(stream); break;
    case STREAM_LEAVING: http_end(stream->http, "it was closed"); break;
    }
}
