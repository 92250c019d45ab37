/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request per connection, read whole, answered at once, closed. Only the address that
 * was given out is heard: another Host is a page that got a name to mean this machine.
 */
#include "oauth/landing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "base/xalloc.h"
#include "http/request.h"
#include "net/listen.h"

enum {
    MAX_VISITORS = 8,
    HEAD_BYTES = 16 << 10,
    SCRATCH_BYTES = 64 << 10,
    VISIT_MS = 10'000,
    PORT_TEXT = 16
};

struct landing {
    struct loop *loop;
    struct listener listener;
    int fd;
    char host[NET_ADDRESS];
    char uri[NET_ADDRESS + PORT_TEXT];
    void (*on_query)(void *user, struct str query);
    void *user;
    struct link visitors;
    size_t count;
};

struct visitor {
    struct landing *landing;
    struct link link;
    struct loop_fd io;
    struct loop_timer patience;
    struct loop_task reap;
    struct buf head;
};

static void reap(struct loop_task *task)
{
    free(CONTAINER_OF(task, struct visitor, reap));
}

static void visitor_end(struct visitor *visitor)
{
    struct landing *landing = visitor->landing;

    loop_fd_remove(landing->loop, &visitor->io);
    loop_timer_clear(landing->loop, &visitor->patience);
    (void)close(visitor->io.fd);
    buf_done(&visitor->head);
    list_remove(&visitor->link);
    landing->count--;
    loop_defer(landing->loop, &visitor->reap);
}

static void answer(const struct visitor *visitor, const char *status, const char *text)
{
    char page[512];
    int len =
        snprintf(page, sizeof(page),
                 "HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
                 "Content-Length: %zu\r\nCache-Control: no-store\r\n"
                 "Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\n"
                 "Connection: close\r\n\r\n%s",
                 status, strlen(text), text);

    /* A fresh connection takes this much at once. */
    (void)send(visitor->io.fd, page, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The query, or "" where this is something else; answered in any case. */
static struct str query_of(const struct visitor *visitor,
                           const struct http_request *request)
{
    if (!str_eq(request->host, str_of(visitor->landing->host))) {
        answer(visitor, "421 Misdirected Request", "This is another place.\n");
        return (struct str){};
    }
    if (request->method != HTTP_GET || !str_eq(request->path, S("/callback")) ||
        request->query.len == 0) {
        answer(visitor, "404 Not Found", "There is nothing here.\n");
        return (struct str){};
    }
    answer(visitor, "200 OK", "Done. You may close this window.\n");
    return request->query;
}

/* ERR_AGAIN: more is to come. */
static enum err read_head(struct visitor *visitor, struct buf *ret_query)
{
    struct http_limits limits = { .head_bytes = HEAD_BYTES, .target_bytes = HEAD_BYTES };
    struct arena scratch;
    struct http_request request;
    const char *why;
    size_t used;
    enum err err;

    arena_init(&scratch, SCRATCH_BYTES);
    err = http_request_parse(buf_str(&visitor->head), &limits, &scratch, &request, &used,
                             &why);
    if (!err)
        buf_put(ret_query, query_of(visitor, &request));
    else if (err != ERR_AGAIN)
        answer(visitor, "400 Bad Request", "That was no request.\n");
    arena_done(&scratch);
    return err;
}

/* Whoever hears of the query may close the landing, so that comes last. */
static void on_ready(struct loop_fd *io, uint32_t events [[maybe_unused]])
{
    struct visitor *visitor = CONTAINER_OF(io, struct visitor, io);
    struct landing *landing = visitor->landing;
    CLEANUP(buf_done) struct buf query;
    char bytes[4096];
    ssize_t got = recv(io->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    buf_init(&query, HEAD_BYTES);
    if (got > 0)
        buf_put(&visitor->head, (struct str){ bytes, (size_t)got });
    if (got > 0 && !visitor->head.is_full && read_head(visitor, &query) == ERR_AGAIN)
        return;
    visitor_end(visitor);
    if (query.len)
        landing->on_query(landing->user, buf_str(&query));
}

static void on_patience(struct loop_timer *timer)
{
    visitor_end(CONTAINER_OF(timer, struct visitor, patience));
}

static void on_accept(void *user, int fd, const struct net_peer *peer [[maybe_unused]])
{
    struct landing *landing = user;
    struct visitor *visitor = xcalloc(1, sizeof(*visitor));

    *visitor = (struct visitor){
        .landing = landing,
        .io = { .fd = fd, .events = EPOLLIN, .on_ready = on_ready },
        .patience.on_fire = on_patience,
        .reap.run = reap,
    };
    if (landing->count == MAX_VISITORS || loop_fd_add(landing->loop, &visitor->io)) {
        (void)close(fd);
        free(visitor);
        return;
    }
    buf_init(&visitor->head, HEAD_BYTES);
    loop_timer_set(landing->loop, &visitor->patience, VISIT_MS);
    list_append(&landing->visitors, &visitor->link);
    landing->count++;
}

enum err landing_open(struct loop *loop, unsigned port,
                      void (*on_query)(void *user, struct str query), void *user,
                      struct landing **ret)
{
    struct landing *landing = xcalloc(1, sizeof(*landing));
    char address[32];
    const char *why;
    enum err err;

    *landing = (struct landing){ .loop = loop, .on_query = on_query, .user = user };
    list_init(&landing->visitors);
    (void)snprintf(address, sizeof(address), "127.0.0.1:%u", port);
    err = net_listen(str_of(address), &landing->fd, &why);
    if (!err) {
        err = listener_init(&landing->listener, loop, landing->fd, on_accept, landing);
        if (err)
            (void)close(landing->fd);
    }
    if (err) {
        free(landing);
        return ERR_IO;
    }
    net_bound_address(landing->fd, landing->host);
    (void)snprintf(landing->uri, sizeof(landing->uri), "http://%s/callback",
                   landing->host);
    *ret = landing;
    return OK;
}

void landing_close(struct landing *landing)
{
    if (!landing)
        return;
    while (!list_is_empty(&landing->visitors))
        visitor_end(CONTAINER_OF(landing->visitors.next, struct visitor, link));
    listener_done(&landing->listener);
    (void)close(landing->fd);
    free(landing);
}

struct str landing_uri(const struct landing *landing)
{
    return str_of(landing->uri);
}
