/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tunnel has two ends, and the bytes that wait for each. While the outer end is looked
 * for the inner one is not read; afterwards a side is read as long as not too much waits
 * for the other.
 *
 *     head ─► resolving ─► connecting ─► open ─► closed, when both ends are
 *       └──────────┴────────────┴─► refused: an answer that says why, then closed
 */
#include "proxy/proxy.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/list.h"
#include "base/xalloc.h"
#include "fetch/fetch.h"
#include "net/listen.h"
#include "net/resolve.h"
#include "proxy/target.h"

enum {
    MAX_WAITING = 128 * 1024, /* for one end: the other is not read above half of it */
    SCRATCH = 256 * 1024,
};

struct proxy {
    struct loop *loop;
    struct conn_flusher *flusher;
    struct listener listener;
    struct proxy_settings settings; /* hosts are ours */
    struct arena arena;
    int listen_fd;
    struct link tunnels;
    size_t count;
    uint64_t received; /* bytes, from outside */
};

enum tunnel_state {
    TUNNEL_HEAD,
    TUNNEL_RESOLVING,
    TUNNEL_CONNECTING,
    TUNNEL_OPEN,
    TUNNEL_ENDING
};

struct end {
    struct conn conn;
    struct buf waiting; /* to be sent to it */
    bool is_there;      /* on_end has not come */
};

struct tunnel {
    struct proxy *proxy; /* NULL: it was freed */
    struct link link;
    enum tunnel_state state;
    struct end inner, outer;
    struct resolve *resolve;
    struct addresses *addresses;
    size_t address_at;
    struct loop_fd io; /* the answer of the resolver, or the socket that connects */
    struct loop_timer deadline;
    struct loop *loop;
    struct loop_task reap;
    enum fetch_reach reach;
    bool is_tunnel;
    char host[PROXY_MAX_HOST + 1];
    uint16_t port;
};

static void connect_next(struct tunnel *t);

/* --- its end --- */

static void stop_looking(struct tunnel *t)
{
    if (t->io.fd >= 0) {
        int fd = t->io.fd;

        loop_fd_remove(t->loop, &t->io);
        if (t->state == TUNNEL_CONNECTING)
            (void)close(fd);
    }
    t->io.fd = -1;
    resolve_free(t->resolve);
    t->resolve = NULL;
    free(t->addresses);
    t->addresses = NULL;
}

static void reap(struct loop_task *task)
{
    struct tunnel *t = CONTAINER_OF(task, struct tunnel, reap);

    buf_done(&t->inner.waiting);
    buf_done(&t->outer.waiting);
    free(t);
}

static void free_when_ended(struct tunnel *t)
{
    if (t->inner.is_there || t->outer.is_there)
        return;
    stop_looking(t);
    loop_timer_clear(t->loop, &t->deadline);
    if (t->proxy) {
        list_remove(&t->link);
        t->proxy->count--;
        t->proxy = NULL;
    }
    loop_defer(t->loop, &t->reap);
}

static void end_all(struct tunnel *t)
{
    stop_looking(t);
    t->state = TUNNEL_ENDING;
    if (t->outer.is_there)
        conn_close(&t->outer.conn, ERR_CLOSED);
    if (t->inner.is_there)
        conn_close(&t->inner.conn, ERR_CLOSED);
    free_when_ended(t);
}

/* Says why not, and ends. */
static void refuse(struct tunnel *t, const char *status, const char *why)
{
    struct proxy *proxy = t->proxy;

    stop_looking(t);
    t->state = TUNNEL_ENDING;
    if (proxy && proxy->settings.on_refused)
        proxy->settings.on_refused(proxy->settings.user, str_of(t->host), why);
    buf_putf(&t->inner.waiting,
             "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
             "Connection: close\r\n\r\n%s\n",
             status, strlen(why) + 1, why);
    loop_timer_clear(t->loop, &t->deadline);
    conn_wake(&t->inner.conn);
    conn_finish(&t->inner.conn);
}

static void on_deadline(struct loop_timer *timer)
{
    struct tunnel *t = CONTAINER_OF(timer, struct tunnel, deadline);

    if (t->state == TUNNEL_RESOLVING || t->state == TUNNEL_CONNECTING)
        refuse(t, "504 Gateway Timeout", "the host does not answer");
    else
        end_all(t);
}

/* --- both ends, once it is open --- */

static void expect(struct tunnel *t, uint64_t ms)
{
    loop_timer_set(t->loop, &t->deadline, ms);
}

static struct end *end_of(struct tunnel *t, const struct conn *conn)
{
    return conn == &t->inner.conn ? &t->inner : &t->outer;
}

static struct end *other_end(struct tunnel *t, const struct conn *conn)
{
    return conn == &t->inner.conn ? &t->outer : &t->inner;
}

static size_t pass_on(struct tunnel *t, struct conn *from, struct str bytes)
{
    struct end *to = other_end(t, from);

    if (!to->is_there)
        return bytes.len; /* nobody takes them any more */
    if (buf_append(&to->waiting, bytes)) {
        conn_pause_reads(from, true);
        return 0;
    }
    if (to->waiting.len >= MAX_WAITING / 2)
        conn_pause_reads(from, true);
    conn_wake(&to->conn);
    expect(t, t->proxy->settings.idle_ms);
    return bytes.len;
}

static size_t pull(struct tunnel *t, struct conn *conn, struct iovec *out)
{
    struct end *end = end_of(t, conn);

    if (!end->waiting.len)
        return 0;
    out[0] = (struct iovec){ end->waiting.ptr, end->waiting.len };
    return 1;
}

static void taken(struct tunnel *t, struct conn *conn, size_t bytes)
{
    struct end *end = end_of(t, conn), *other = other_end(t, conn);

    buf_drop(&end->waiting, bytes);
    if (t->state == TUNNEL_OPEN && other->is_there && end->waiting.len < MAX_WAITING / 2)
        conn_pause_reads(&other->conn, false);
}

/* What waits for the other end still goes out. */
static void ended(struct tunnel *t, struct conn *conn)
{
    struct end *other = other_end(t, conn);

    end_of(t, conn)->is_there = false;
    if (t->state != TUNNEL_OPEN)
        stop_looking(t);
    t->state = TUNNEL_ENDING;
    if (other->is_there)
        conn_finish(&other->conn);
    free_when_ended(t);
}

static size_t inner_on_bytes(struct conn *conn, struct str bytes);

static size_t inner_on_pull(struct conn *conn, struct iovec *out, size_t)
{
    return pull(CONTAINER_OF(conn, struct tunnel, inner.conn), conn, out);
}

static void inner_on_taken(struct conn *conn, size_t bytes, size_t)
{
    taken(CONTAINER_OF(conn, struct tunnel, inner.conn), conn, bytes);
}

static void inner_on_end(struct conn *conn, enum err)
{
    ended(CONTAINER_OF(conn, struct tunnel, inner.conn), conn);
}

static size_t outer_on_bytes(struct conn *conn, struct str bytes)
{
    struct tunnel *t = CONTAINER_OF(conn, struct tunnel, outer.conn);
    size_t taken_bytes = pass_on(t, conn, bytes);

    if (t->proxy)
        t->proxy->received += taken_bytes;
    return taken_bytes;
}

static size_t outer_on_pull(struct conn *conn, struct iovec *out, size_t)
{
    return pull(CONTAINER_OF(conn, struct tunnel, outer.conn), conn, out);
}

static void outer_on_taken(struct conn *conn, size_t bytes, size_t)
{
    taken(CONTAINER_OF(conn, struct tunnel, outer.conn), conn, bytes);
}

static void outer_on_end(struct conn *conn, enum err)
{
    ended(CONTAINER_OF(conn, struct tunnel, outer.conn), conn);
}

static const struct conn_ops inner_ops = { .on_bytes = inner_on_bytes,
                                           .on_pull = inner_on_pull,
                                           .on_taken = inner_on_taken,
                                           .on_end = inner_on_end };
static const struct conn_ops outer_ops = { .on_bytes = outer_on_bytes,
                                           .on_pull = outer_on_pull,
                                           .on_taken = outer_on_taken,
                                           .on_end = outer_on_end };

/* --- the way out --- */

static void open_tunnel(struct tunnel *t, int fd)
{
    t->state = TUNNEL_OPEN;
    stop_looking(t);
    if (conn_init(&t->outer.conn, t->proxy->flusher, fd, NULL, &outer_ops)) {
        refuse(t, "502 Bad Gateway", "the host cannot be reached");
        return;
    }
    t->outer.is_there = true;
    if (t->is_tunnel)
        buf_put(&t->inner.waiting, S("HTTP/1.1 200 Connection established\r\n\r\n"));
    conn_wake(&t->inner.conn);
    conn_wake(&t->outer.conn); /* a head may wait */
    conn_pause_reads(&t->inner.conn, false);
    expect(t, t->proxy->settings.idle_ms);
}

static void on_connected(struct loop_fd *io, uint32_t)
{
    struct tunnel *t = CONTAINER_OF(io, struct tunnel, io);
    int error = 0;
    socklen_t size = sizeof(error);
    int fd = io->fd;

    (void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    loop_fd_remove(t->loop, io);
    io->fd = -1;
    if (!error) {
        open_tunnel(t, fd);
        return;
    }
    (void)close(fd);
    connect_next(t);
}

static int begin_connect(const struct address *address)
{
    CLEANUP(fd_closep)
    int fd =
        socket(address->socket.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;

    if (fd < 0)
        return -1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(fd, (const struct sockaddr *)&address->socket, address->size) < 0 &&
        errno != EINPROGRESS)
        return -1;
    return fd_take(&fd);
}

/* To the next address that may be reached: that very address is connected to, so that the
 * name cannot mean something else by then. */
static void connect_next(struct tunnel *t)
{
    bool was_tried = t->state == TUNNEL_CONNECTING;

    t->state = TUNNEL_CONNECTING;
    while (t->address_at < t->addresses->count) {
        const struct address *address = &t->addresses->list[t->address_at++];
        int fd;

        if (!fetch_may_reach(t->reach, (const struct sockaddr *)&address->socket))
            continue;
        was_tried = true;
        fd = begin_connect(address);
        if (fd < 0)
            continue;
        t->io = (struct loop_fd){ fd, EPOLLOUT, on_connected };
        if (!loop_fd_add(t->loop, &t->io))
            return;
        t->io.fd = -1;
        (void)close(fd);
    }
    if (was_tried)
        refuse(t, "502 Bad Gateway", "the host cannot be reached");
    else
        refuse(t, "403 Forbidden", "the host has no public address");
}

static void on_resolved(struct tunnel *t)
{
    enum err err = resolve_take(t->resolve, &t->addresses);

    if (err == ERR_AGAIN)
        return;
    if (t->io.fd >= 0)
        loop_fd_remove(t->loop, &t->io);
    t->io.fd = -1;
    if (err) {
        refuse(t, "502 Bad Gateway", "the host is not known");
        return;
    }
    connect_next(t);
}

static void on_resolver(struct loop_fd *io, uint32_t)
{
    on_resolved(CONTAINER_OF(io, struct tunnel, io));
}

static void look_for(struct tunnel *t)
{
    int fd;

    t->state = TUNNEL_RESOLVING;
    expect(t, t->proxy->settings.connect_ms);
    t->resolve = resolve_new(t->host, t->port, RESOLVE_IN_THREAD);
    fd = resolve_fd(t->resolve);
    if (fd < 0) {
        on_resolved(t);
        return;
    }
    t->io = (struct loop_fd){ fd, EPOLLIN, on_resolver };
    if (loop_fd_add(t->loop, &t->io)) {
        t->io.fd = -1;
        refuse(t, "502 Bad Gateway", "names cannot be looked up");
    }
}

static enum fetch_reach reach_of(const struct proxy_settings *settings, struct str host)
{
    switch (settings->reaches_private) {
    case PROXY_PUBLIC: break;
    case PROXY_LITERALS:
        return proxy_host_is_literal(host) ? FETCH_ANYWHERE : FETCH_PUBLIC;
    case PROXY_NAMED: return str_starts(host, S("*")) ? FETCH_PUBLIC : FETCH_ANYWHERE;
    }
    return FETCH_PUBLIC;
}

static void go(struct tunnel *t, const struct proxy_target *target)
{
    const struct proxy_settings *settings = &t->proxy->settings;
    struct str permitted =
        proxy_target_permitted(target, settings->hosts, settings->host_count);

    (void)snprintf(t->host, sizeof(t->host), STR_FMT, STR_ARG(target->host));
    t->port = target->port;
    t->is_tunnel = target->is_tunnel;
    t->reach = reach_of(settings, permitted);
    if (!permitted.len) {
        refuse(t, "403 Forbidden", "this host and port are not permitted");
        return;
    }
    buf_put(&t->outer.waiting, target->head);
    look_for(t);
}

static size_t inner_on_bytes(struct conn *conn, struct str bytes)
{
    struct tunnel *t = CONTAINER_OF(conn, struct tunnel, inner.conn);
    struct proxy_target target;
    const char *why = "the request cannot be read";
    struct arena scratch;
    size_t used = 0;
    enum err err;

    if (t->state == TUNNEL_OPEN)
        return pass_on(t, conn, bytes);
    if (t->state != TUNNEL_HEAD)
        return 0;
    arena_init(&scratch, SCRATCH);
    err = proxy_target_parse(bytes, &scratch, &target, &used, &why);
    if (err == OK) {
        conn_pause_reads(conn, true);
        go(t, &target);
    } else if (err != ERR_AGAIN) {
        used = bytes.len;
        refuse(t, "400 Bad Request", why);
    }
    arena_done(&scratch);
    return used;
}

/* --- the proxy --- */

static void on_accept(void *user, int fd, const struct net_peer *)
{
    struct proxy *proxy = user;
    struct tunnel *t;

    if (proxy->count >= proxy->settings.max_connections) {
        (void)close(fd);
        return;
    }
    t = xcalloc(1, sizeof(*t));
    t->proxy = proxy;
    t->loop = proxy->loop;
    t->io.fd = -1;
    t->deadline.on_fire = on_deadline;
    t->reap.run = reap;
    buf_init(&t->inner.waiting, MAX_WAITING);
    buf_init(&t->outer.waiting, MAX_WAITING);
    if (conn_init(&t->inner.conn, proxy->flusher, fd, NULL, &inner_ops)) {
        free(t);
        return;
    }
    t->inner.is_there = true;
    list_append(&proxy->tunnels, &t->link);
    proxy->count++;
    expect(t, proxy->settings.connect_ms);
}

static void keep_hosts(struct proxy *proxy)
{
    size_t count = proxy->settings.host_count;
    struct str *hosts = arena_alloc(&proxy->arena, count * sizeof(*hosts));

    for (size_t i = 0; i < count; i++)
        hosts[i] = arena_str(&proxy->arena, proxy->settings.hosts[i]);
    proxy->settings.hosts = hosts;
}

struct proxy *proxy_new(struct loop *loop, struct conn_flusher *flusher, int listen_fd,
                        const struct proxy_settings *settings)
{
    struct proxy *proxy = xcalloc(1, sizeof(*proxy));

    proxy->loop = loop;
    proxy->flusher = flusher;
    proxy->listen_fd = listen_fd;
    proxy->settings = *settings;
    arena_init(&proxy->arena, SIZE_MAX);
    keep_hosts(proxy);
    list_init(&proxy->tunnels);
    if (listener_init(&proxy->listener, loop, listen_fd, on_accept, proxy)) {
        (void)close(listen_fd);
        proxy->listen_fd = -1;
    }
    return proxy;
}

void proxy_free(struct proxy *proxy)
{
    struct tunnel *t;

    if (!proxy)
        return;
    if (proxy->listen_fd >= 0) {
        listener_done(&proxy->listener);
        (void)close(proxy->listen_fd);
    }
    LIST_FOREACH(t, &proxy->tunnels, link) {
        list_remove(&t->link);
        t->proxy = NULL;
        end_all(t);
    }
    arena_done(&proxy->arena);
    free(proxy);
}

uint64_t proxy_received(const struct proxy *proxy)
{
    return proxy->received;
}
