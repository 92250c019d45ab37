/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a connection: receiving, pausing, finishing, closing, moving. */
#include "net/conn.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "net/net_priv.h"

static struct loop *loop_of(const struct conn *conn)
{
    return conn->flusher->loop;
}

void conn_buf_free(struct buf **buf)
{
    if (*buf)
        buf_done(*buf);
    free(*buf);
    *buf = NULL;
}

static struct buf *rest_new(struct str bytes)
{
    struct buf *rest = xmalloc(sizeof(*rest));

    buf_init(rest, CONN_MAX_REST);
    if (buf_append(rest, bytes))
        conn_buf_free(&rest);
    return rest;
}

static bool is_held(const struct conn *conn)
{
    return conn->is_read_paused && conn->state == CONN_OPEN;
}

static void watch(struct conn *conn, bool reads)
{
    uint32_t events = conn->is_blocked ? EPOLLOUT : 0;

    if (reads && !conn->has_ended)
        events |= EPOLLIN;
    else if (is_held(conn) && conn->is_end_watched)
        events |= EPOLLRDHUP;
    loop_fd_watch(loop_of(conn), &conn->io, events);
}

/* Most peers say nothing while they are made to wait, so a pause changes nothing in the
 * kernel: only what comes all the same ends the watch (on_ready), which costs two system
 * calls. */
void conn_watch(struct conn *conn)
{
    watch(conn, !is_held(conn) || conn->io.events & EPOLLIN);
}

/* Ends the wait of the state that is left, and thereby frees its place for the next. */
static void enter(struct conn *conn, enum conn_state state)
{
    if (conn->state == CONN_OPEN)
        list_remove(&conn->resume_link);
    else
        loop_timer_clear(loop_of(conn), &conn->deadline);
    conn->deadline = (struct loop_timer){};
    conn->state = (uint8_t)state;
}

/* Ends all I/O; returns the descriptor. */
static int stop(struct conn *conn)
{
    int fd = conn->io.fd;

    loop_fd_remove(loop_of(conn), &conn->io);
    list_remove(&conn->flush_link);
    enter(conn, CONN_CLOSED);
    return fd;
}

static void run_end(struct loop_task *task)
{
    struct conn *conn = CONTAINER_OF(task, struct conn, end_task);

    conn_tls_free(TAKE(conn->ssl));
    conn_buf_free(&conn->rest);
    conn_buf_free(&conn->ciphertext);
    conn->ops->on_end(conn, (enum err)conn->end_why);
}

void conn_close(struct conn *conn, enum err why)
{
    if (conn->state == CONN_CLOSED)
        return;
    (void)close(stop(conn));
    conn->end_why = (uint8_t)why;
    conn->end_task.run = run_end;
    loop_defer(loop_of(conn), &conn->end_task);
}

static void on_deadline(struct loop_timer *timer)
{
    struct conn *conn = CONTAINER_OF(timer, struct conn, deadline);

    conn_close(conn, conn->state == CONN_LINGERING ? ERR_CLOSED : ERR_TIMEOUT);
}

static void set_deadline(struct conn *conn, uint64_t delay_ms)
{
    conn->deadline.on_fire = on_deadline;
    loop_timer_set(loop_of(conn), &conn->deadline, delay_ms);
}

void conn_finish(struct conn *conn)
{
    if (conn->state == CONN_HANDSHAKE)
        conn_close(conn, ERR_CLOSED);
    if (conn->state != CONN_OPEN)
        return;
    enter(conn, CONN_FINISHING);
    if (!conn->is_reading)
        conn_buf_free(&conn->rest);
    set_deadline(conn, CONN_DRAIN_MS);
    conn_watch(conn);
    conn_wake(conn);
}

void conn_progress(struct conn *conn)
{
    if (conn->state == CONN_FINISHING)
        set_deadline(conn, CONN_DRAIN_MS);
}

void conn_drained(struct conn *conn)
{
    if (conn->state != CONN_FINISHING)
        return;
    if (conn->ssl)
        conn_tls_shut(conn);
    if (conn->ciphertext) {
        conn_block(conn);
        return;
    }
    (void)shutdown(conn->io.fd, SHUT_WR);
    if (conn->has_ended) {
        conn_close(conn, ERR_CLOSED);
        return;
    }
    enter(conn, CONN_LINGERING);
    set_deadline(conn, CONN_LINGER_MS);
}

/* The peer has ended its side. What waits for it is still sent; only the owner knows. */
static void peer_ended(struct conn *conn)
{
    conn->has_ended = true;
    conn_watch(conn);
    if (conn->state == CONN_FINISHING ||
        (conn->state == CONN_OPEN && conn->is_read_paused))
        return; /* drained() or resume() comes back to it */
    if (conn->state == CONN_OPEN)
        conn_finish(conn);
    else
        conn_close(conn, ERR_CLOSED);
}

/* Keeps what was not consumed of `bytes`, which stand in `rest` or in the loop's buffer.
 */
static void keep(struct conn *conn, struct str bytes, size_t used)
{
    if (used == bytes.len) {
        if (conn->rest)
            conn_buf_free(&conn->rest);
        return;
    }
    if (conn->rest)
        buf_drop(conn->rest, used);
    else
        conn->rest = rest_new(str_slice(bytes, used, bytes.len));
}

static void offer(struct conn *conn, struct str bytes)
{
    size_t used;

    if (conn->rest) {
        if (buf_append(conn->rest, bytes)) {
            conn_close(conn, ERR_TOO_BIG);
            return;
        }
        bytes = buf_str(conn->rest);
    }
    conn->is_reading = true;
    used = conn->ops->on_bytes(conn, bytes);
    conn->is_reading = false;
    assert(used <= bytes.len);
    keep(conn, bytes, conn->state == CONN_OPEN ? used : bytes.len);
}

static void receive_tls(struct conn *conn)
{
    char *buffer = loop_buffer(loop_of(conn));
    size_t len;
    enum err err = conn_tls_read(conn, buffer, LOOP_BUFFER, &len);

    if (conn->ciphertext)
        conn_block(conn);
    if (len && conn->state == CONN_OPEN)
        offer(conn, (struct str){ buffer, len });
    if (conn->state == CONN_CLOSED)
        return;
    if (err == ERR_CLOSED)
        peer_ended(conn);
    else if (err == ERR_IO)
        conn_close(conn, ERR_IO);
    else if (err == OK && conn_tls_has_pending(conn))
        conn_resume_later(conn); /* epoll does not know of bytes inside the session */
}

/* Bytes that nobody wants any more are read all the same: unread ones would turn our
 * close into a reset, and the peer would lose what was sent to it. */
static void receive_plain(struct conn *conn)
{
    char *buffer = loop_buffer(loop_of(conn));
    ssize_t len;

    if (conn->ops->on_expect)
        conn->ops->on_expect(conn);
    len = recv(conn->io.fd, buffer, LOOP_BUFFER, 0);

    if (len == 0)
        peer_ended(conn);
    else if (len > 0 && conn->state == CONN_OPEN)
        offer(conn, (struct str){ buffer, (size_t)len });
    else if (len < 0 && errno != EAGAIN && errno != EINTR)
        conn_close(conn, ERR_IO);
}

static void shake_hands(struct conn *conn)
{
    enum err err = conn_tls_handshake(conn);

    if (conn->ciphertext)
        conn_block(conn);
    if (err == ERR_AGAIN || conn->state == CONN_CLOSED)
        return;
    if (err) {
        conn_close(conn, err);
        return;
    }
    enter(conn, CONN_OPEN);
    conn_watch(conn);
    conn_wake(conn);
    if (!conn->is_read_paused)
        receive_tls(conn); /* the first request may have come along */
}

static void receive(struct conn *conn)
{
    if (conn->state == CONN_HANDSHAKE)
        shake_hands(conn);
    else if (conn->ssl && conn->state == CONN_OPEN)
        receive_tls(conn);
    else
        receive_plain(conn);
}

static void on_ready(struct loop_fd *io, uint32_t events)
{
    struct conn *conn = CONTAINER_OF(io, struct conn, io);
    bool is_gone = events & (EPOLLHUP | EPOLLERR | EPOLLRDHUP);

    /* Nobody reads, and the peer reads no more, or its end is all that is waited for. */
    if (is_gone && (is_held(conn) || !(io->events & EPOLLIN))) {
        conn_close(conn, events & EPOLLERR ? ERR_IO : ERR_CLOSED);
        return;
    }
    if (events & EPOLLOUT)
        conn_unblock(conn);
    if (!is_gone && !(events & EPOLLIN))
        return;
    if (is_held(conn))
        watch(conn, false); /* what has come waits in the kernel */
    else
        receive(conn);
}

void conn_resume(struct conn *conn)
{
    if (conn->state != CONN_OPEN || conn->is_read_paused)
        return;
    if (conn->rest)
        offer(conn, S(""));
    if (conn->state != CONN_OPEN || conn->is_read_paused)
        return;
    if (conn->has_ended)
        peer_ended(conn);
    else if (conn->ssl && conn_tls_has_pending(conn))
        receive_tls(conn);
}

bool conn_peer_has_ended(const struct conn *conn)
{
    struct pollfd ask = { .fd = conn->io.fd, .events = POLLRDHUP };

    return conn->state == CONN_CLOSED || (poll(&ask, 1, 0) > 0 && ask.revents);
}

void conn_pause_reads(struct conn *conn, bool is_paused)
{
    if (conn->is_read_paused == is_paused || conn->state == CONN_CLOSED)
        return;
    conn->is_read_paused = is_paused;
    conn->is_end_watched = false;
    conn_watch(conn);
    if (!is_paused && (conn->rest || conn->ssl || conn->is_reading))
        conn_resume_later(conn);
}

void conn_watch_end(struct conn *conn)
{
    if (conn->is_end_watched || !conn->is_read_paused || conn->state == CONN_CLOSED)
        return;
    conn->is_end_watched = true;
    conn_watch(conn);
}

size_t conn_unsent(const struct conn *conn)
{
    return conn->ciphertext ? conn->ciphertext->len : 0;
}

/* The part that plain, TLS and adopted connections share. */
static enum err start(struct conn *conn, struct conn_flusher *flusher, int fd,
                      const struct conn_ops *ops)
{
    const int one = 1;
    const int unsent = CONN_UNSENT;
    enum err err;

    *conn = (struct conn){
        .io = { .fd = fd, .events = EPOLLIN, .on_ready = on_ready },
        .flusher = flusher,
        .ops = ops,
        .state = CONN_OPEN,
    };
    /* Both fail on Unix sockets, which do not delay anyway. What the peer is not ready
     * for waits with the owner, who counts it, not in megabytes of the kernel's. */
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof(unsent));
    err = loop_fd_add(flusher->loop, &conn->io);
    if (err)
        (void)stop(conn);
    return err;
}

enum err conn_init(struct conn *conn, struct conn_flusher *flusher, int fd,
                   struct tls *tls, const struct conn_ops *ops)
{
    enum err err = start(conn, flusher, fd, ops);

    if (!err && tls)
        err = conn_tls_start(conn, tls);
    if (err) {
        (void)stop(conn);
        (void)close(fd);
        return err;
    }
    if (tls) {
        enter(conn, CONN_HANDSHAKE);
        set_deadline(conn, CONN_HANDSHAKE_MS);
    }
    return OK;
}

void conn_detach(struct conn *conn, struct str unread, struct conn_cargo *ret)
{
    struct buf *rest = NULL;

    assert(conn->state == CONN_OPEN && (conn->is_reading || unread.len == 0));
    if (!conn->is_reading)
        rest = TAKE(conn->rest);
    else if (unread.len)
        rest = rest_new(unread);
    *ret = (struct conn_cargo){
        .fd = stop(conn),
        .ssl = TAKE(conn->ssl),
        .rest = rest,
        .ciphertext = TAKE(conn->ciphertext),
    };
}

enum err conn_init_from(struct conn *conn, struct conn_flusher *flusher,
                        struct conn_cargo *cargo, const struct conn_ops *ops)
{
    enum err err = start(conn, flusher, cargo->fd, ops);

    if (err)
        return err;
    conn->ssl = TAKE(cargo->ssl);
    conn->rest = TAKE(cargo->rest);
    conn->ciphertext = TAKE(cargo->ciphertext);
    cargo->fd = -1;
    if (conn->ssl)
        conn_tls_bind(conn);
    if (conn->ciphertext)
        conn_block(conn);
    conn_resume_later(conn);
    return OK;
}

void conn_cargo_done(struct conn_cargo *cargo)
{
    conn_tls_free(cargo->ssl);
    conn_buf_free(&cargo->rest);
    conn_buf_free(&cargo->ciphertext);
    if (cargo->fd >= 0)
        (void)close(cargo->fd);
    *cargo = (struct conn_cargo){ .fd = -1 };
}
