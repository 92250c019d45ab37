/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams that belong to no request: the GET of Streamable HTTP (legacy), which may
 * be refused and comes back when it breaks; and HTTP+SSE of 2024-11-05, where all answers
 * come on one GET and messages go to where its first event says.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "transport/http_priv.h"

enum { MAX_ENDPOINT = 4096, OLDER_MS = 5000 };

/* --- Streamable HTTP --- */

/* 405: there is none. 404 and 400: our session is gone, which the next request finds out
 * and mends. */
static bool is_final(const struct stream *stream)
{
    return stream->status >= 300 && stream->status < 500 && stream->status != 408 &&
           stream->status != 409 && stream->status != 429;
}

void listening_ended(struct stream *stream, const struct fetch_answer *answer)
{
    CLEANUP(buf_done) struct buf challenge = stream->location;

    buf_init(&stream->location, challenge.max);
    if ((stream->status == 401 || stream->status == 403) &&
        http_renew_credential(stream->http, stream, buf_str(&challenge)))
        return;
    if ((!answer->err && is_final(stream)) ||
        (stream->status == 200 && !stream->is_events)) {
        stream_close(stream);
        return;
    }
    stream_start_later(stream, stream_pause_ms(stream));
    if (stream->attempts < 16)
        stream->attempts++;
}

/* --- HTTP+SSE --- */

/* HTTP-35 names these three. */
bool older_try(struct stream *opening)
{
    struct http_carrier *http = opening->http;

    if (opening->status != 400 && opening->status != 404 && opening->status != 405)
        return false;
    if (http->older || http->is_older)
        return false;
    http->opening = opening;
    http->listen_url = str_dup(str_of(http->url));
    http->older = stream_new(http, STREAM_OLDER);
    stream_start(http->older);
    stream_start_later(http->older, OLDER_MS);
    return true;
}

/* What was said to `initialize` when it was no older server after all. */
static void give_up(struct http_carrier *http)
{
    struct stream *opening = TAKE(http->opening);

    free(TAKE(http->listen_url));
    if (opening)
        stream_fail(opening, MISHAP_STATUS, "the server answered with an error of HTTP");
}

void older_ended(struct stream *stream)
{
    struct http_carrier *http = stream->http;

    stream_close(stream);
    if (http->is_older)
        http_end(http, "the server ended the stream of its answers");
    else
        give_up(http);
}

/* Messages, and what opens the door, go to nobody but the server that was named. */
static void take_endpoint(struct stream *stream, struct str where)
{
    struct http_carrier *http = stream->http;
    struct stream *opening = TAKE(http->opening);
    char *reference = str_dup(where);
    struct buf url;

    buf_init(&url, MAX_ENDPOINT);
    if (fetch_join(http->fetch, http->listen_url, reference, &url) || url.is_full ||
        !fetch_is_same_origin(http->fetch, http->listen_url, buf_cstr(&url))) {
        http_end(http, "the server wants its messages to be sent elsewhere");
    } else {
        loop_timer_clear(http->loop, &stream->timer);
        http->is_older = true;
        free(http->url);
        http->url = str_dup(buf_str(&url));
        if (opening)
            stream_start(opening);
    }
    free(reference);
    buf_done(&url);
}

void older_hear(struct stream *stream, const struct event *event)
{
    struct http_carrier *http = stream->http;

    if (str_eq(event->type, S("endpoint")) && !http->is_older)
        take_endpoint(stream, event->data);
    else if (str_eq(event->type, S("message")) && http->is_older && event->data.len > 0)
        http_hear(http, event->data, 0);
}
