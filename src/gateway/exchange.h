/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exchange is one HTTP request and its answer. The HTTP door (http_door.c) reads it,
 * finds its route, asks who it is, reads the body, and calls the route's handler, which
 * answers at once or later.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "gateway/worker.h"
#include "http/body.h"
#include "http/request.h"
#include "identity/identity.h"
#include "net/listen.h"

struct exchange;
struct http_client;

enum access {
    ACCESS_PUBLIC,
    ACCESS_LOOPBACK, /* without a credential from this machine, else an admin's */
    ACCESS_IDENTITY,
    ACCESS_ADMIN, /* asks for the role */
    ACCESS_MCP,   /* a credential, or whoever the configuration lets in without one */
};

/* Which worker answers: any, the one where the topic lives that the request names, or on
 * which the MCP server sits that it names, or the first, where administrative changes are
 * put in one order. */
enum place {
    ANYWHERE,
    AT_FIRST_WORKER,
    TOPIC_IN_PATH,
    TOPIC_IN_QUERY,
    TOPIC_OF_MCP, /* that of the configuration */
    SERVER_IN_PATH,
};

enum { ROUTE_PARAMS = 2 };

struct route {
    enum http_method method;
    struct str path; /* "{}" stands for one segment */
    enum access access;
    enum place place;
    struct str act;    /* what the record calls it; "": it is no administrative act */
    bool takes_ticket; /* ?ticket= instead of a bearer token (D2) */
    void (*handle)(struct exchange *x);
};

/* The first row for this method and path. If only the method is wrong, NULL with
 * *ret_allow telling the methods ("GET, POST") in `allow`. */
const struct route *route_find(enum http_method method, struct str path,
                               struct str params[static ROUTE_PARAMS], struct buf *allow);

/* Is the handler called before the body has come, to take it with exchange_upload()? */
bool route_streams_body(const struct route *route);

struct exchange {
    struct http_client *client;
    struct worker *worker;
    const struct route *route;
    struct http_request request;
    struct str params[ROUTE_PARAMS]; /* the segments behind "{}" */
    struct str topic;                /* where the route has one; checked */
    struct identity *identity;       /* NULL on public routes without a credential */
    struct str body;
    struct arena arena;
    struct buf body_buf;
    struct http_body body_reader;
    const struct upload_ops *upload; /* who takes the body piece by piece, or NULL */
    void *upload_user;
    struct str allowed_origin; /* to be told the browser; "" for none */
    int status;                /* of the answer; 0: none so far */
    enum err outcome;          /* what it says was wrong */
    bool was_handled;          /* by the route, for somebody who may */
    bool holds_envelope;       /* in the body, and nobody has judged it */
    void (*on_authenticated)(struct exchange *x, enum err err, const char *why);
};

/* The parameter of that name, or a str with ptr NULL. ERR_BAD_REQUEST: given twice, or
 * the query is broken. */
enum err exchange_param(struct exchange *x, struct str name, struct str *ret);

/* --- answering; exactly one of these, once --- */

void exchange_reply(struct exchange *x, int status, struct str type, struct str body);

/* The same with finished header lines of its own ("Allow: POST\r\n"). */
struct reply {
    int status;
    struct str type, body, headers;
};
void exchange_reply_with(struct exchange *x, const struct reply *reply);
void exchange_json(struct exchange *x, int status, const struct buf *body);
void exchange_fail(struct exchange *x, enum err err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with further members of the problem, as finished JSON (",\"a\":1"), and a
 * header line of its own ("Retry-After: 3\r\n"). */
struct failure {
    enum err err;
    struct str detail;
    struct str members;
    struct str headers;
};
void exchange_fail_with(struct exchange *x, const struct failure *failure);

/* --- answering later --- */

/* The exchange stays valid, even if the client goes, until as many resumes have come. */
void exchange_suspend(struct exchange *x);

/* False if the client is gone: the exchange no longer exists then, and on_gone has been
 * called or will not be. */
bool exchange_resume(struct exchange *x);

/* Called when the client goes while a handler waits; for handlers that can stop waiting.
 */
void exchange_on_gone(struct exchange *x, void (*on_gone)(void *user), void *user);

/* --- answering in pieces --- */

/* Begins an answer of unknown length, which ends with one of the last two. on_gone is
 * called when the client goes before. `on_sent` is called whenever all that was written
 * has left, so that nobody writes more than its client reads; a client that reads nothing
 * for the time of a body goes. To HEAD and HTTP/1.0 the answer is framed as they need.
 * `headers`: finished lines, or "". */
struct stream_ops {
    void (*on_sent)(void *user); /* may be NULL */
    void (*on_gone)(void *user);
};
void exchange_stream(struct exchange *x, struct str type, struct str headers,
                     const struct stream_ops *ops, void *user);
void exchange_stream_write(struct exchange *x, struct str bytes);
size_t exchange_stream_unsent(const struct exchange *x); /* bytes that wait */
void exchange_stream_end(struct exchange *x);

/* The connection closes without the end of the answer: the client sees that something is
 * missing. */
void exchange_stream_break(struct exchange *x);

/* The client has ended its side, as far as the kernel knows. For handlers that let
 * somebody work for long: whoever asked has probably gone. */
bool exchange_is_abandoned(const struct exchange *x);

/* From now on, for this request: a client that ends its side is gone (on_gone). For
 * handlers whose clients never do that before they have their answer. */
void exchange_watch_end(struct exchange *x);

/* --- a body that comes in pieces --- */

/* For routes whose bodies are too long to be kept. The handler is called when the head
 * has come, and takes the body with this, or answers without it. `on_end` comes when all
 * of it is there and the credential still counts; then the handler answers. `on_gone`
 * comes instead of it, and means that nobody wants an answer any more: the client went,
 * or was told what is wrong with its request. */
struct upload_ops {
    void (*on_piece)(void *user, struct str piece);
    void (*on_end)(void *user);
    void (*on_gone)(void *user);
};
void exchange_upload(struct exchange *x, const struct upload_ops *ops, void *user);

/* No pieces for a while: whoever takes them has enough to do. */
void exchange_upload_pause(struct exchange *x, bool is_paused);

/* --- upgrading --- */

/* Gives up the connection: what is left is the cargo, and the exchange until the caller
 * calls exchange_end(). */
void exchange_detach(struct exchange *x, struct conn_cargo *ret);
void exchange_end(struct exchange *x);

const struct net_peer *exchange_peer(const struct exchange *x);
