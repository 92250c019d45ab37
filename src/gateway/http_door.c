/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP connection walks through these states, one request after the other:
 *
 *     HEAD ──► AUTH ──► BODY ──► HANDLING ──► (STREAMING) ──► SENDING ──► HEAD …
 *      │         └─► UPLOAD ──┘  (bodies that are not kept)
 *      │ (names a topic of another worker: moves there, and starts again)
 *      └ refused: SENDING, then closed
 */
#include "gateway/http_door.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/auth.h"
#include "gateway/cors.h"
#include "gateway/exchange.h"
#include "gateway/gateway.h"
#include "gateway/http_priv.h"
#include "gateway/origin.h"
#include "gateway/recording.h"
#include "gateway/servers.h"
#include "http/response.h"
#include "net/tls.h"

enum {
    ARENA_BYTES = 4 << 20,
    STRANGER_BODY = 4096,   /* the most that is kept for someone without a credential */
    ANSWER_MAX = 256 << 20, /* lists are bounded by what they list */
};

static const struct conn_ops http_ops;

static struct http_client *client_of(struct conn *conn)
{
    return CONTAINER_OF(conn, struct http_client, conn);
}

static const struct config_limits *limits_of(const struct http_client *client)
{
    return &client->worker->settings->config->limits;
}

static void set_deadline(struct http_client *client, uint64_t delay_ms)
{
    loop_timer_set(client->worker->loop, &client->timer, delay_ms);
}

/* --- lifetime --- */

static void on_deadline(struct loop_timer *timer);

static void reap(struct loop_task *task)
{
    struct http_client *client = CONTAINER_OF(task, struct http_client, reap);

    if (client->suspended)
        return; /* the last resume comes back here */
    if (client->exchange)
        exchange_end(client->exchange);
    buf_done(&client->out);
    free(client);
}

static struct http_client *client_new(struct worker *worker, const struct net_peer *peer)
{
    struct http_client *client = xcalloc(1, sizeof(*client));

    client->worker = worker;
    client->peer = *peer;
    client->timer.on_fire = on_deadline;
    client->reap.run = reap;
    buf_init(&client->out, ANSWER_MAX);
    list_append(&worker->http_clients, &client->link);
    worker->metrics.http_connections++;
    return client;
}

/* Out of every list; freed after dispatch, or with the last resume. */
static void leave(struct http_client *client)
{
    if (client->is_gone)
        return;
    client->is_gone = true;
    list_remove(&client->link);
    client->worker->metrics.http_connections--;
    loop_timer_clear(client->worker->loop, &client->timer);
    if (client->on_gone)
        client->on_gone(client->gone_user);
    loop_defer(client->worker->loop, &client->reap);
}

static void on_end(struct conn *conn, enum err why [[maybe_unused]])
{
    struct http_client *client = client_of(conn);

    gateway_connection_ended(client->worker->gateway);
    leave(client);
}

void http_accept(struct worker *worker, int fd, const struct net_peer *peer)
{
    struct tls *tls = peer->is_local ? NULL : worker->settings->tls;
    struct http_client *client;

    worker->metrics.connections_accepted++;
    if (peer->is_trusted) {
        /* An administrator gets in, above all when it is full. */
        gateway_connection_forced(worker->gateway);
    } else if (!gateway_connection_started(worker->gateway)) {
        worker->metrics.connections_refused++;
        (void)close(fd);
        return;
    }
    client = client_new(worker, peer);
    if (conn_init(&client->conn, worker->flusher, fd, tls, &http_ops)) {
        gateway_connection_ended(worker->gateway);
        leave(client);
        return;
    }
    set_deadline(client, limits_of(client)->head_timeout_ms);
}

/* --- moving to the worker of a topic --- */

struct move {
    struct loop_mail mail;
    struct worker *target;
    struct conn_cargo cargo;
    struct net_peer peer;
};

static void on_arrival(struct loop_mail *mail)
{
    struct move *move = CONTAINER_OF(mail, struct move, mail);
    struct worker *worker = move->target;
    struct http_client *client = client_new(worker, &move->peer);

    set_deadline(client, limits_of(client)->head_timeout_ms);
    if (worker->is_draining ||
        conn_init_from(&client->conn, worker->flusher, &move->cargo, &http_ops)) {
        conn_cargo_done(&move->cargo);
        gateway_connection_ended(worker->gateway);
        leave(client);
    }
    free(move);
}

static void move_to(struct http_client *client, struct worker *target, struct str unread)
{
    struct move *move = xcalloc(1, sizeof(*move));

    move->mail.deliver = on_arrival;
    move->target = target;
    move->peer = client->peer;
    conn_detach(&client->conn, unread, &move->cargo);
    client->is_detached = true;
    leave(client);
    loop_post(target->loop, &move->mail);
}

/* --- exchanges --- */

static struct exchange *exchange_new(struct http_client *client)
{
    struct exchange *x = xcalloc(1, sizeof(*x));

    x->client = client;
    x->worker = client->worker;
    arena_init(&x->arena, ARENA_BYTES);
    buf_init(&x->body_buf, limits_of(client)->body);
    client->exchange = x;
    return x;
}

void exchange_end(struct exchange *x)
{
    recording_exchange(x);
    x->client->exchange = NULL;
    identity_unref(x->identity);
    buf_done(&x->body_buf);
    arena_done(&x->arena);
    free(x);
}

const struct net_peer *exchange_peer(const struct exchange *x)
{
    return &x->client->peer;
}

void exchange_suspend(struct exchange *x)
{
    x->client->suspended++;
}

bool exchange_resume(struct exchange *x)
{
    struct http_client *client = x->client;

    client->suspended--;
    if (!client->is_gone) { /* closed: it goes later in this turn */
        if (client->conn.state == CONN_CLOSED)
            client->on_gone = NULL;
        return client->conn.state != CONN_CLOSED;
    }
    if (client->suspended == 0)
        loop_defer(client->worker->loop, &client->reap);
    return false;
}

void exchange_on_gone(struct exchange *x, void (*on_gone)(void *user), void *user)
{
    x->client->on_gone = on_gone;
    x->client->gone_user = user;
}

void exchange_detach(struct exchange *x, struct conn_cargo *ret)
{
    struct http_client *client = x->client;

    conn_detach(&client->conn, client->unread, ret);
    client->is_detached = true;
    leave(client);
}

enum err exchange_param(struct exchange *x, struct str name, struct str *ret)
{
    struct str rest = x->request.query;
    struct http_param param;

    *ret = (struct str){};
    while (rest.ptr) {
        enum err err = http_query_next(&rest, &x->arena, &param);

        if (err)
            return err;
        if (!str_eq(param.name, name))
            continue;
        if (ret->ptr)
            return ERR_BAD_REQUEST;
        *ret = param.value;
    }
    return OK;
}

/* --- answering --- */

void http_wake(struct http_client *client)
{
    set_deadline(client, limits_of(client)->body_timeout_ms);
    conn_wake(&client->conn);
}

static void send_answer(struct http_client *client, struct http_response *res)
{
    struct worker *worker = client->worker;

    res->keeps_alive = !client->closes_after && !worker->is_draining;
    client->closes_after = !res->keeps_alive;
    http_write(&client->out, res);
    client->state = SENDING;
    client->on_gone = NULL;
    worker->metrics.requests++;
    worker->metrics.requests_refused += res->status >= 400;
    conn_pause_reads(&client->conn, true);
    http_wake(client);
}

void http_answer_head(struct exchange *x, struct http_response *res)
{
    struct http_client *client = x->client;
    struct buf headers;

    if (x->body_reader.state != HTTP_BODY_DONE)
        client->closes_after = true; /* its body was not read */
    if (!x->request.keeps_alive)
        client->closes_after = true;
    buf_init(&headers, 8192);
    cors_write(x, &headers);
    buf_put(&headers, res->extra);
    res->extra = buf_str(&headers);
    res->is_head = x->request.method == HTTP_HEAD;
    x->status = res->status;
    send_answer(client, res);
    buf_done(&headers);
}

static void answer(struct exchange *x, struct http_response *res)
{
    http_answer_head(x, res);
    exchange_end(x);
}

void exchange_reply(struct exchange *x, int status, struct str type, struct str body)
{
    answer(x, &(struct http_response){ .status = status, .type = type, .body = body });
}

void exchange_reply_with(struct exchange *x, const struct reply *reply)
{
    answer(x, &(struct http_response){ .status = reply->status,
                                       .type = reply->type,
                                       .body = reply->body,
                                       .extra = reply->headers });
}

void exchange_json(struct exchange *x, int status, const struct buf *body)
{
    exchange_reply(x, status, S("application/json"), buf_str(body));
}

void exchange_fail_with(struct exchange *x, const struct failure *failure)
{
    struct buf body;

    x->outcome = failure->err;
    buf_init(&body, 1 << 20);
    http_problem_body(&body, failure->err, failure->detail, failure->members);
    answer(x, &(struct http_response){ .status = err_status(failure->err),
                                       .type = S("application/problem+json"),
                                       .body = buf_str(&body),
                                       .extra = failure->headers });
    buf_done(&body);
}

void exchange_fail(struct exchange *x, enum err err, const char *format, ...)
{
    char detail[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(detail, sizeof(detail), format, args);
    va_end(args);
    exchange_fail_with(
        x, &(struct failure){
               .err = err,
               .detail = str_of(detail),
               .headers = err == ERR_UNAUTHORIZED
                              ? S("WWW-Authenticate: Bearer realm=\"moot\"\r\n")
                              : S(""),
           });
}

/* A head that could not even be read. */
static void fail_head(struct http_client *client, enum err err, const char *why)
{
    struct buf body;

    buf_init(&body, 8192);
    http_problem_body(&body, err, str_of(why), S(""));
    client->closes_after = true;
    send_answer(client, &(struct http_response){ .status = err_status(err),
                                                 .type = S("application/problem+json"),
                                                 .body = buf_str(&body) });
    buf_done(&body);
}

/* --- a request, step by step --- */

static void handle(struct exchange *x)
{
    struct http_client *client = x->client;
    const char *why;
    enum err err;

    client->state = HANDLING;
    loop_timer_clear(client->worker->loop, &client->timer);
    x->body = buf_str(&x->body_buf);
    conn_pause_reads(&client->conn, true);
    err = auth_again(x, &why);
    x->was_handled = !err;
    if (err)
        exchange_fail(x, err, "%s", why);
    else
        x->route->handle(x);
}

static void begin_body(struct exchange *x)
{
    struct http_client *client = x->client;

    if (route_streams_body(x->route)) {
        http_begin_upload(x);
        return;
    }
    if (x->body_reader.state == HTTP_BODY_DONE) {
        handle(x);
        return;
    }
    client->state = BODY;
    if (x->request.expects_continue) {
        http_write_continue(&client->out);
        conn_wake(&client->conn);
    }
    set_deadline(client, limits_of(client)->body_timeout_ms);
    conn_pause_reads(&client->conn, false);
}

static void on_authenticated(struct exchange *x, enum err err, const char *why)
{
    if (!err)
        begin_body(x);
    else if (err == ERR_THROTTLED)
        exchange_fail_with(x, &(struct failure){ .err = err,
                                                 .detail = str_of(why),
                                                 .headers = S("Retry-After: 60\r\n") });
    else
        exchange_fail(x, err, "%s", why);
}

static void fail_route(struct exchange *x, const struct buf *allow)
{
    struct buf headers;

    if (allow->len == 0) {
        exchange_fail(x, ERR_NOT_FOUND, "There is nothing at this path.");
        return;
    }
    buf_init(&headers, 1024);
    buf_putf(&headers, "Allow: %.*s\r\n", (int)allow->len, allow->ptr);
    exchange_fail_with(x,
                       &(struct failure){ .err = ERR_METHOD,
                                          .detail = S("This path answers other methods."),
                                          .headers = buf_str(&headers) });
    buf_done(&headers);
}

/* OPTIONS says what a path answers, and lets an allowed page of another origin in. */
static void answer_options(struct exchange *x, const struct buf *allow)
{
    struct buf headers;

    buf_init(&headers, 8192);
    buf_putf(&headers, "Allow: %.*s\r\n", (int)allow->len, allow->ptr);
    cors_write_options(x, buf_str(allow), &headers);
    answer(x, &(struct http_response){ .status = 204, .extra = buf_str(&headers) });
    buf_done(&headers);
}

/* Finds the route; false if that already answered. */
static bool find_route(struct exchange *x)
{
    const struct http_request *req = &x->request;
    enum http_method method = req->method == HTTP_HEAD ? HTTP_GET : req->method;
    const struct route *route;
    struct buf allow;

    buf_init(&allow, 256);
    route = route_find(method, req->path, x->params, &allow);
    if (str_starts(req->path, S("/mcp")) && !x->worker->settings->config->mcp.open) {
        buf_clear(&allow);
        route = NULL;
    }
    x->route = route;
    if (!route && method == HTTP_OPTIONS && allow.len)
        answer_options(x, &allow);
    else if (!route)
        fail_route(x, &allow);
    buf_done(&allow);
    return route != NULL;
}

/* What the request says of a topic; ptr NULL: its route has none. ERR_BAD_REQUEST. That
 * of the settings is copied: others may be in force before the body has come. */
static enum err read_topic(struct exchange *x, struct str *ret)
{
    *ret = (struct str){};
    switch (x->route->place) {
    case ANYWHERE:
    case AT_FIRST_WORKER:
    case SERVER_IN_PATH: return OK;
    case TOPIC_IN_PATH: *ret = x->params[0]; return OK;
    case TOPIC_OF_MCP:
        *ret = arena_str(&x->arena, x->worker->settings->config->mcp.topic);
        break;
    case TOPIC_IN_QUERY:
        if (exchange_param(x, S("topic"), ret))
            return ERR_BAD_REQUEST;
        break;
    }
    if (!ret->ptr)
        *ret = S("");
    return OK;
}

/* The topic that the route names; false if that already answered. */
static bool find_topic(struct exchange *x)
{
    struct str topic;

    if (read_topic(x, &topic)) {
        exchange_fail(x, ERR_BAD_REQUEST, "The query cannot be read.");
        return false;
    }
    x->topic = topic;
    if (!topic.ptr || topic_name_is_valid(topic))
        return true;
    if (x->route->place == TOPIC_OF_MCP)
        exchange_fail(x, ERR_NOT_FOUND, "Name a topic: /mcp/TOPIC.");
    else
        exchange_fail(
            x, ERR_BAD_REQUEST,
            "A topic is 1 to 128 characters of A-Z a-z 0-9 . _ ~ - and does not begin "
            "with a dot.");
    return false;
}

/* Where no credential is asked for, a body is short. */
static uint64_t body_limit(const struct exchange *x)
{
    if (route_streams_body(x->route))
        return UINT64_MAX;
    switch (x->route->access) {
    case ACCESS_PUBLIC:
    case ACCESS_LOOPBACK: return STRANGER_BODY;
    case ACCESS_IDENTITY:
    case ACCESS_ADMIN:
    case ACCESS_MCP: break;
    }
    return limits_of(x->client)->body;
}

/* False if that already answered. */
static bool limit_body(struct exchange *x)
{
    if (http_body_init(&x->body_reader, &x->request, body_limit(x)) == OK)
        return true;
    exchange_fail(x, ERR_TOO_LARGE, "The body is larger than this path takes.");
    return false;
}

/* A server that nobody knows is not known here either: the handler says so to those who
 * may ask. */
static struct worker *home_of_server(const struct exchange *x)
{
    struct worker *home = servers_find_worker(x->worker, x->params[0]);

    return home ? home : x->worker;
}

static struct worker *home_of(const struct exchange *x)
{
    struct gateway *gateway = x->worker->gateway;

    switch (x->route->place) {
    case ANYWHERE: break;
    case AT_FIRST_WORKER: return gateway_worker(gateway, 0);
    case TOPIC_IN_PATH:
    case TOPIC_IN_QUERY:
    case TOPIC_OF_MCP: return worker_of_topic(gateway, x->topic);
    case SERVER_IN_PATH: return home_of_server(x);
    }
    return x->worker;
}

/* Everything that the head alone decides. Returns false if the exchange is over or gone.
 */
static bool check_head(struct exchange *x, struct str bytes)
{
    struct http_client *client = x->client;
    const char *why = "";
    struct worker *home;
    enum err err;

    /* That there is a body is known from here on; how long it may be, the route says. */
    (void)http_body_init(&x->body_reader, &x->request, UINT64_MAX);
    err = origin_check(x, &why);
    if (err) {
        exchange_fail(x, err, "%s", why);
        return false;
    }
    if (!find_route(x) || !limit_body(x) || !find_topic(x))
        return false;
    home = home_of(x);
    if (home == x->worker)
        return true;
    move_to(client, home, bytes);
    return false;
}

/* The head is complete: it is kept in the exchange's own memory and read from there. */
static size_t begin_exchange(struct http_client *client, struct str bytes, size_t used)
{
    struct exchange *x = exchange_new(client);
    struct str head = arena_str(&x->arena, str_slice(bytes, 0, used));
    const char *why = "";
    enum err err = http_request_parse(head, &client->worker->settings->http, &x->arena,
                                      &x->request, &used, &why);

    if (err) {
        exchange_end(x);
        fail_head(client, err, why);
        return bytes.len;
    }
    if (!check_head(x, bytes))
        return client->is_detached ? bytes.len : used;
    client->state = AUTH;
    client->unread = str_slice(bytes, used, bytes.len);
    conn_pause_reads(&client->conn, true);
    auth_start(x, on_authenticated);
    client->unread = (struct str){};
    return client->is_detached ? bytes.len : used;
}

static size_t take_head(struct http_client *client, struct str bytes)
{
    const char *why = "";
    size_t used = 0;
    enum err err =
        http_request_measure(bytes, &client->worker->settings->http, &used, &why);

    if (err == ERR_AGAIN)
        return 0;
    if (!err)
        return begin_exchange(client, bytes, used);
    fail_head(client, err, why);
    return bytes.len;
}

static size_t take_body(struct http_client *client, struct str bytes)
{
    struct exchange *x = client->exchange;
    struct str rest = bytes;

    for (;;) {
        struct str piece;
        enum err err = http_body_next(&x->body_reader, &rest, &piece);

        if (!err)
            err = buf_append(&x->body_buf, piece);
        if (err) {
            // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it has not ended
            exchange_fail(x, err == ERR_TOO_BIG ? ERR_TOO_LARGE : err,
                          err == ERR_BAD_REQUEST
                              ? "The chunks of the body are malformed."
                              : "The body is larger than this server takes.");
            return bytes.len;
        }
        // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it has not ended
        if (x->body_reader.state == HTTP_BODY_DONE) {
            handle(x);
            break;
        }
        if (piece.len == 0)
            break;
    }
    return bytes.len - rest.len;
}

static size_t on_bytes(struct conn *conn, struct str bytes)
{
    struct http_client *client = client_of(conn);
    size_t used = 0;

    if (client->state == HEAD) {
        if (bytes.len == 0)
            return 0;
        used = take_head(client, bytes);
    }
    if (client->state == BODY && client->exchange && !client->is_gone)
        used += take_body(client, str_slice(bytes, used, bytes.len));
    else if (client->state == UPLOAD && client->exchange && !client->is_gone)
        used += http_take_upload(client, str_slice(bytes, used, bytes.len));
    return used;
}

/* --- output --- */

static size_t on_pull(struct conn *conn, struct iovec *out, size_t max [[maybe_unused]])
{
    struct http_client *client = client_of(conn);
    size_t left = client->out.len - client->sent;

    if (left == 0)
        return 0;
    out[0] = (struct iovec){ client->out.ptr + client->sent, left };
    return 1;
}

void http_answered(struct http_client *client)
{
    if (client->closes_after) {
        conn_finish(&client->conn);
        return;
    }
    client->state = HEAD;
    set_deadline(client, limits_of(client)->keepalive_timeout_ms);
    conn_pause_reads(&client->conn, false);
}

static void on_taken(struct conn *conn, size_t bytes, size_t offered [[maybe_unused]])
{
    struct http_client *client = client_of(conn);

    client->worker->metrics.bytes_sent += bytes;
    client->sent += bytes;
    if (client->sent < client->out.len) {
        if (client->state == STREAMING) /* slowly, but it reads */
            set_deadline(client, limits_of(client)->body_timeout_ms);
        return;
    }
    buf_done(&client->out);
    client->sent = 0;
    if (client->state == SENDING) {
        http_answered(client);
    } else if (client->state == STREAMING) {
        loop_timer_clear(client->worker->loop, &client->timer);
        if (client->on_sent)
            client->on_sent(client->sent_user);
    } /* else that was 100 Continue */
}

static const struct conn_ops http_ops = {
    .on_bytes = on_bytes,
    .on_pull = on_pull,
    .on_taken = on_taken,
    .on_end = on_end,
};

/* --- deadlines and draining --- */

static void on_deadline(struct loop_timer *timer)
{
    struct http_client *client = CONTAINER_OF(timer, struct http_client, timer);

    if (client->state == HEAD && client->conn.rest)
        fail_head(client, ERR_TIMEOUT, "The head of the request took too long.");
    else if (client->state == BODY)
        exchange_fail(client->exchange, ERR_TIMEOUT,
                      "The body of the request took too long.");
    else if (client->state == UPLOAD)
        http_fail_upload(client->exchange, ERR_TIMEOUT,
                         "The body of the request took too long.");
    else
        conn_close(&client->conn, ERR_TIMEOUT);
}

void http_drain(struct worker *worker)
{
    struct http_client *client;

    LIST_FOREACH(client, &worker->http_clients, link) {
        client->closes_after = true;
        if (client->state == HEAD)
            conn_finish(&client->conn);
    }
}

void http_close_all(struct worker *worker)
{
    struct http_client *client;

    LIST_FOREACH(client, &worker->http_clients, link)
        conn_close(&client->conn, ERR_CLOSED);
}
