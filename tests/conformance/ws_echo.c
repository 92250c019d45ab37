/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A WebSocket echo server on the project's own layers, for conformance suites:
 *
 *     ws_echo [--port N] [--head-timeout MS]
 *
 * Prints "listening on ADDRESS:PORT"; SIGTERM and SIGINT end it. Every message comes back
 * as it was, compressed if that was agreed on.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "gateway/upgrade.h"
#include "http/response.h"
#include "loop/loop.h"
#include "net/conn.h"
#include "net/listen.h"
#include "ws/deflate.h"
#include "ws/ws.h"

enum {
    MIB = 1024 * 1024,
    MAX_MESSAGE = 16 * MIB,
    MAX_FRAGMENTS = 65536,
    MAX_OUTBOX = 64 * MIB, /* what one batch of messages may add to a full one */
    STOP_READING = 4 * MIB,
    READ_AGAIN = MIB,
    MAX_HEAD = 16 * 1024,
    MAX_TARGET = 8 * 1024,
    HEAD_TIMEOUT_MS = 10'000,
    SHUTDOWN_MS = 3000,
    WINDOWS = 16, /* window sizes of deflate, by their bits */
};

static const struct http_limits http_limits = { .head_bytes = MAX_HEAD,
                                                .target_bytes = MAX_TARGET };

struct echo {
    struct loop *loop;
    struct conn_flusher *flusher;
    struct listener listener;
    struct loop_fd signals;
    struct loop_timer shutdown;
    struct link clients;
    struct ws_shared shared;
    struct ws_deflater *deflaters[WINDOWS]; /* on demand */
    struct buf compressed;                  /* the message being sent */
    uint64_t head_timeout_ms;
    bool is_stopping;
};

struct client {
    struct conn conn;
    struct echo *echo;
    struct link link;
    struct loop_task reap;
    struct loop_timer head_timer;
    struct ws_decoder decoder;
    struct buf outbox;
    size_t sent;         /* of the outbox */
    uint8_t window_bits; /* 0: nothing is compressed */
    bool is_websocket;
    bool is_closing;
};

/* --- output --- */

static size_t client_unsent(const struct client *client)
{
    return client->outbox.len - client->sent + conn_unsent(&client->conn);
}

static void client_finish(struct client *client)
{
    client->is_closing = true;
    loop_timer_clear(client->echo->loop, &client->head_timer);
    conn_finish(&client->conn);
}

static void client_close(struct client *client, uint16_t code)
{
    ws_close_write(&client->outbox, code, S(""));
    client_finish(client);
}

static struct ws_deflater *deflater_of(struct echo *echo, uint8_t window_bits)
{
    struct ws_deflater **deflater = &echo->deflaters[window_bits];

    if (!*deflater)
        *deflater = ws_deflater_new(window_bits);
    return *deflater;
}

/* Appends a frame whose payload is still masked if `ev` says so. */
static void put_frame(struct client *client, const struct ws_event *ev, struct str body,
                      bool is_compressed)
{
    enum ws_opcode op = ev->is_binary ? WS_OP_BINARY : WS_OP_TEXT;
    uint8_t head[WS_MAX_HEAD];
    size_t head_len = ws_head_write(head, op, body.len, is_compressed);
    struct buf *out = &client->outbox;

    if (buf_reserve(out, head_len + body.len)) {
        client_close(client, WS_CODE_INTERNAL);
        return;
    }
    buf_put(out, (struct str){ (const char *)head, head_len });
    buf_put(out, body);
}

static void echo_message(struct client *client, const struct ws_event *ev)
{
    struct echo *echo = client->echo;
    char *text = (char *)(uintptr_t)ev->body.ptr; /* received bytes are writable */

    if (ev->is_masked)
        ws_unmask(text, text, ev->body.len, ev->mask);
    if (!ev->is_binary && !ev->is_checked && !utf8_is_valid(ev->body)) {
        client_close(client, WS_CODE_UTF8);
        return;
    }
    if (!client->window_bits) {
        put_frame(client, ev, ev->body, false);
        return;
    }
    buf_clear(&echo->compressed);
    if (ws_deflate(deflater_of(echo, client->window_bits), ev->body, &echo->compressed))
        client_close(client, WS_CODE_INTERNAL);
    else
        put_frame(client, ev, buf_str(&echo->compressed), true);
    if (echo->compressed.size > MIB)
        buf_done(&echo->compressed);
}

/* --- input --- */

static void handle(struct client *client, const struct ws_event *ev)
{
    switch (ev->type) {
    case WS_NEED_MORE:
    case WS_PONG: return;
    case WS_MESSAGE: echo_message(client, ev); return;
    case WS_PING: ws_frame_write(&client->outbox, WS_OP_PONG, ev->body); return;
    case WS_CLOSE:
    case WS_VIOLATION: client_close(client, ev->code); return;
    }
}

static size_t take_frames(struct client *client, struct str bytes)
{
    struct str rest = bytes;
    struct ws_event ev;

    do {
        ev = ws_decode(&client->decoder, &rest);
        handle(client, &ev);
        if (client_unsent(client) > STOP_READING && !client->is_closing) {
            conn_pause_reads(&client->conn, true);
            break;
        }
    } while (ev.type != WS_NEED_MORE && !client->is_closing);
    conn_wake(&client->conn);
    return bytes.len - rest.len;
}

static void refuse(struct client *client, enum http_method method, enum err err,
                   const char *why)
{
    struct buf body;

    buf_init(&body, MAX_HEAD);
    http_problem_body(&body, err, str_of(why), S(""));
    http_write(&client->outbox, &(struct http_response){
                                    .status = err_status(err),
                                    .type = S("application/problem+json"),
                                    .body = buf_str(&body),
                                    .is_head = method == HTTP_HEAD,
                                    .extra = upgrade_refusal_headers(err),
                                });
    buf_done(&body);
    client_finish(client);
}

static void accept_upgrade(struct client *client, const struct upgrade *upgrade)
{
    bool is_deflated = upgrade->extension.is_on;

    upgrade_write(&client->outbox, upgrade);
    loop_timer_clear(client->echo->loop, &client->head_timer);
    ws_decoder_init(&client->decoder, WS_SERVER, &client->echo->shared, is_deflated);
    client->window_bits = is_deflated ? (uint8_t)upgrade->extension.server_bits : 0;
    client->is_websocket = true;
    conn_wake(&client->conn);
}

/* Returns the length of the head, or 0 while it is not whole. */
static size_t take_head(struct client *client, struct str bytes)
{
    struct arena *scratch = loop_scratch(client->echo->loop);
    struct http_request req = { .method = HTTP_OTHER };
    struct upgrade upgrade;
    const char *why = "";
    size_t used = 0;
    enum err err;

    arena_reset(scratch);
    err = http_request_parse(bytes, &http_limits, scratch, &req, &used, &why);
    if (err == ERR_AGAIN)
        return 0;
    if (!err)
        err = upgrade_check(&req, 9, &upgrade, &why);
    if (err)
        refuse(client, req.method, err, why);
    else
        accept_upgrade(client, &upgrade);
    return used;
}

static size_t on_bytes(struct conn *conn, struct str bytes)
{
    struct client *client = CONTAINER_OF(conn, struct client, conn);
    size_t used = 0;

    if (!client->is_websocket)
        used = take_head(client, bytes);
    if (client->is_websocket && used < bytes.len)
        used += take_frames(client, str_slice(bytes, used, bytes.len));
    return used;
}

static size_t on_pull(struct conn *conn, struct iovec *out, size_t)
{
    const struct client *client = CONTAINER_OF(conn, struct client, conn);

    if (client->sent == client->outbox.len)
        return 0;
    *out = (struct iovec){ client->outbox.ptr + client->sent,
                           client->outbox.len - client->sent };
    return 1;
}

static void on_taken(struct conn *conn, size_t bytes, size_t)
{
    struct client *client = CONTAINER_OF(conn, struct client, conn);

    client->sent += bytes;
    if (client->sent == client->outbox.len) {
        buf_done(&client->outbox);
        client->sent = 0;
    } else if (client->sent > client->outbox.len / 2) {
        buf_drop(&client->outbox, client->sent);
        client->sent = 0;
    }
    if (client_unsent(client) < READ_AGAIN)
        conn_pause_reads(conn, false);
}

static void client_reap(struct loop_task *task)
{
    struct client *client = CONTAINER_OF(task, struct client, reap);
    struct echo *echo = client->echo;

    list_remove(&client->link);
    loop_timer_clear(echo->loop, &client->head_timer);
    if (client->is_websocket)
        ws_decoder_done(&client->decoder);
    buf_done(&client->outbox);
    free(client);
    if (echo->is_stopping && list_is_empty(&echo->clients))
        loop_stop(echo->loop);
}

static void on_end(struct conn *conn, enum err)
{
    struct client *client = CONTAINER_OF(conn, struct client, conn);

    loop_defer(client->echo->loop, &client->reap);
}

static const struct conn_ops ops = {
    .on_bytes = on_bytes,
    .on_pull = on_pull,
    .on_taken = on_taken,
    .on_end = on_end,
};

static void on_head_timeout(struct loop_timer *timer)
{
    struct client *client = CONTAINER_OF(timer, struct client, head_timer);

    refuse(client, HTTP_OTHER, ERR_TIMEOUT, "the request took too long");
}

static void on_accept(void *user, int fd, const struct net_peer *)
{
    struct echo *echo = user;
    struct client *client = xcalloc(1, sizeof(*client));

    if (conn_init(&client->conn, echo->flusher, fd, NULL, &ops)) {
        free(client);
        return;
    }
    client->echo = echo;
    client->reap.run = client_reap;
    client->head_timer.on_fire = on_head_timeout;
    buf_init(&client->outbox, MAX_OUTBOX);
    list_append(&echo->clients, &client->link);
    loop_timer_set(echo->loop, &client->head_timer, echo->head_timeout_ms);
}

/* --- start and stop --- */

static void on_shutdown(struct loop_timer *timer)
{
    struct echo *echo = CONTAINER_OF(timer, struct echo, shutdown);
    struct client *client;

    LIST_FOREACH(client, &echo->clients, link)
        conn_close(&client->conn, ERR_TIMEOUT);
}

static void on_signal(struct loop_fd *io, uint32_t)
{
    struct echo *echo = CONTAINER_OF(io, struct echo, signals);
    struct client *client;
    int fd = io->fd;

    echo->is_stopping = true;
    loop_fd_remove(echo->loop, io);
    (void)close(fd);
    listener_done(&echo->listener);
    LIST_FOREACH(client, &echo->clients, link) {
        if (client->is_websocket && !client->is_closing)
            client_close(client, WS_CODE_GOING_AWAY);
        else
            client_finish(client);
    }
    loop_timer_set(echo->loop, &echo->shutdown, SHUTDOWN_MS);
    if (list_is_empty(&echo->clients))
        loop_stop(echo->loop);
}

static enum err watch_signals(struct echo *echo)
{
    sigset_t set;

    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    echo->signals = (struct loop_fd){
        .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
        .events = EPOLLIN,
        .on_ready = on_signal,
    };
    return loop_fd_add(echo->loop, &echo->signals);
}

static int fail(const char *why)
{
    (void)fprintf(stderr, "ws_echo: %s\n", why);
    return EXIT_FAILURE;
}

static int serve(struct echo *echo, uint64_t port)
{
    CLEANUP(fd_closep) int fd = -1;
    char address[NET_ADDRESS];
    const char *why;

    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", (unsigned)port);
    if (net_listen(str_of(address), &fd, &why))
        return fail(why);
    if (watch_signals(echo) ||
        listener_init(&echo->listener, echo->loop, fd, on_accept, echo))
        return fail("cannot watch descriptors");
    net_bound_address(fd, address);
    (void)printf("listening on %s\n", address);
    (void)fflush(stdout);
    loop_run(echo->loop);
    return EXIT_SUCCESS;
}

static void echo_init(struct echo *echo)
{
    *echo = (struct echo){
        .loop = loop_new(),
        .shared = { MAX_MESSAGE, MAX_FRAGMENTS, false, ws_inflater_new() },
        .shutdown.on_fire = on_shutdown,
        .head_timeout_ms = HEAD_TIMEOUT_MS,
    };
    echo->flusher = conn_flusher_new(echo->loop, NULL);
    list_init(&echo->clients);
    buf_init(&echo->compressed, MAX_OUTBOX);
}

static void echo_done(struct echo *echo)
{
    for (size_t i = 0; i < WINDOWS; i++)
        ws_deflater_free(echo->deflaters[i]);
    ws_inflater_free(echo->shared.inflater);
    buf_done(&echo->compressed);
    conn_flusher_free(echo->flusher);
    loop_free(echo->loop);
}

static enum err read_options(int argc, char **argv, uint64_t *ret_port,
                             uint64_t *ret_timeout_ms)
{
    enum err err = argc % 2 ? OK : ERR_INVALID;

    for (int i = 1; !err && i < argc; i += 2) {
        if (strcmp(argv[i], "--port") == 0)
            err = str_to_u64(str_of(argv[i + 1]), UINT16_MAX, ret_port);
        else if (strcmp(argv[i], "--head-timeout") == 0)
            err = str_to_u64(str_of(argv[i + 1]), UINT32_MAX, ret_timeout_ms);
        else
            err = ERR_INVALID;
    }
    return err;
}

/* Ten thousand idle connections are one of the things to be measured. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit))
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
    struct echo echo;
    uint64_t port = 0;
    int status;

    echo_init(&echo);
    raise_descriptor_limit();
    if (read_options(argc, argv, &port, &echo.head_timeout_ms))
        status = fail("usage: ws_echo [--port N] [--head-timeout MS]");
    else
        status = serve(&echo, port);
    echo_done(&echo);
    return status;
}
