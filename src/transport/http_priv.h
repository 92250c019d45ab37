/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the HTTP carrier share. A stream is one exchange with the server:
 *
 *     waiting ─► under way ─► over          a POST, or a GET of one of the three kinds
 *        ▲           │
 *        └───────────┘ a new credential, a redirection, the older transport, resumption
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "http/events.h"
#include "transport/http.h"

enum stream_type {
    STREAM_POST,
    STREAM_RESUMED,   /* a GET that goes on where the answer to a POST broke off */
    STREAM_LISTENING, /* a GET for what belongs to no request */
    STREAM_OLDER,     /* the GET of HTTP+SSE, which brings all answers */
    STREAM_LEAVING,   /* DELETE */
};

struct stream {
    struct http_carrier *http;
    struct link link;
    struct fetch_call *call; /* NULL: nothing is under way */
    enum stream_type type;
    uint64_t id; /* of the request; 0: a notification or an answer */
    bool is_modern, is_initialize, is_greeting;
    bool is_waiting; /* until the carrier lets it begin */
    bool is_refused; /* 401 or 403: a credential is fetched */
    bool is_answered;
    bool is_closed;      /* freed soon */
    struct buf fields;   /* of its own, each with a NUL behind it */
    struct buf text;     /* what is sent; until it has arrived */
    struct buf body;     /* of an answer that is no event stream */
    struct buf location; /* of a redirection; or the challenge of a refusal */
    struct buf used;     /* the credential that it was sent with */
    unsigned status;
    bool is_events, is_json;
    struct events events;
    struct buf last_id; /* of the events that came, whichever connection brought them */
    uint64_t retry_ms;
    unsigned attempts; /* to resume, without an event between them */
    unsigned renewals, redirections;
    struct loop_timer timer; /* what it means depends on what the stream waits for */
};

struct http_carrier {
    struct carrier carrier;
    struct fetch *fetch;
    struct loop *loop;
    struct http_carrier_ops ops;
    void *user;
    struct credential *credential;
    char *url;         /* where messages go */
    char *listen_url;  /* where events of HTTP+SSE come from */
    struct buf fields; /* of the configuration, as those of a stream */
    size_t max_message, max_streams;
    uint64_t connect_ms, silence_ms;
    enum fetch_reach reach;
    struct link streams, closed;
    size_t stream_count;
    struct buf session_id;
    bool is_session_used; /* something worked in it */
    struct buf version;
    struct stream *listening, *greeting, *older;
    struct stream *opening; /* `initialize`, while the older transport is looked for */
    bool is_older;          /* HTTP+SSE */
    bool is_renewing;       /* the credential */
    bool is_closing, is_ended;
    const char *why;
    struct loop_task reap, end;
};

/* --- http.c --- */

/* Nothing can go on: everything is closed; the session and the owner hear it soon. */
void http_end(struct http_carrier *http, const char *why);

/* Streams that wait begin, where nothing holds them up. */
void http_go_on(struct http_carrier *http);

/* Gives the message to the session. */
void http_hear(struct http_carrier *http, struct str text, uint64_t via);
void http_mishap(struct http_carrier *http, uint64_t call, const struct mishap *mishap);

/* A stream was refused (401, 403): the credential is renewed and all wait for it. False:
 * there is none that could be. */
bool http_renew_credential(struct http_carrier *http, struct stream *stream,
                           struct str challenge);

/* The server's word for our session, where it is one. */
void http_take_session(struct http_carrier *http, struct str id);

/* --- http_stream.c --- */

struct stream *stream_new(struct http_carrier *http, enum stream_type type);
void stream_put_field(struct stream *stream, struct str name, struct str value);
void stream_start(struct stream *stream);
void stream_close(struct stream *stream); /* closing twice is harmless */
void stream_free(struct stream *stream);

/* Tells what came instead of an answer, and closes it. */
void stream_fail(struct stream *stream, enum mishap_type type, const char *why);

/* Begins again after that time. */
void stream_start_later(struct stream *stream, uint64_t delay_ms);

/* How long to wait before attempt N: what the server said, or growing pauses. */
uint64_t stream_pause_ms(const struct stream *stream);

/* --- http_listen.c --- */

/* A stream that is not for one request has ended. */
void listening_ended(struct stream *stream, const struct fetch_answer *answer);
void older_ended(struct stream *stream);

/* `initialize` was refused with a status that an older server would give: true, when it
 * is tried as one; the answer is then told later. */
bool older_try(struct stream *opening);
void older_hear(struct stream *stream, const struct event *event);
