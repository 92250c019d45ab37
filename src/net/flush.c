/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output. Connections that were woken stand in line; the end of the turn pulls from their
 * owners and sends, one system call each. A short write takes the connection out until
 * the descriptor is writable again.
 *
 * A room does not put all its members in line: it is a source that is asked for a few at
 * a time, in turns with everybody else, so that whoever has little to send does not wait
 * for those that have much.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "net/net_priv.h"

enum {
    FLUSH_NS = 1'000'000,   /* per turn, */
    FLUSH_ROUNDS = 32,      /* in which everyone who has some */
    FLUSH_ROUND = 16,       /* may flush as many connections */
    TLS_BUDGET = 64 * 1024, /* plain text per connection and turn */
};

static size_t spans_size(const struct iovec *spans, size_t count)
{
    size_t size = 0;

    for (size_t i = 0; i < count; i++)
        size += spans[i].iov_len;
    return size;
}

/* Copies from the front of the spans; returns how much fitted. */
static size_t gather(char *out, size_t size, const struct iovec *spans, size_t count)
{
    size_t len = 0;

    for (size_t i = 0; i < count && len < size; i++) {
        size_t part = spans[i].iov_len;

        if (part > size - len)
            part = size - len;
        memcpy(out + len, spans[i].iov_base, part);
        len += part;
    }
    return len;
}

enum err conn_send(const struct conn *conn, struct str bytes, size_t *ret_sent)
{
    ssize_t sent;

    do
        sent = send(conn->io.fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno != EAGAIN)
        return ERR_IO;
    *ret_sent = sent < 0 ? 0 : (size_t)sent;
    return OK;
}

static enum err send_spans(const struct conn *conn, struct iovec *spans, size_t count,
                           size_t *ret_sent)
{
    struct msghdr message = { .msg_iov = spans, .msg_iovlen = count };
    ssize_t sent;

    /* The common case, one run of frames: send() has less to check than sendmsg(). */
    if (count == 1)
        return conn_send(conn, (struct str){ spans->iov_base, spans->iov_len }, ret_sent);
    do
        sent = sendmsg(conn->io.fd, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0 && errno != EAGAIN)
        return ERR_IO;
    *ret_sent = sent < 0 ? 0 : (size_t)sent;
    return OK;
}

void conn_block(struct conn *conn)
{
    if (conn->is_blocked || conn->state == CONN_CLOSED)
        return;
    conn->is_blocked = true;
    list_remove(&conn->flush_link);
    conn_watch(conn);
    if (conn->ops->on_blocked)
        conn->ops->on_blocked(conn, true);
}

/* Writable again: the flush at the end of the turn finds out how far. The descriptor
 * stays watched until all that is pulled leaves, so a slow peer costs no epoll_ctl per
 * write. */
void conn_unblock(struct conn *conn)
{
    if (conn->is_blocked && !link_is_set(&conn->flush_link))
        list_append(&conn->flusher->waking, &conn->flush_link);
}

static void flush(struct conn *conn);

static void move_again(struct conn *conn)
{
    if (!conn->is_blocked)
        return;
    conn->is_blocked = false;
    conn_watch(conn);
    if (conn->ops->on_blocked)
        conn->ops->on_blocked(conn, false);
}

void conn_wake(struct conn *conn)
{
    struct conn_flusher *flusher = conn->flusher;

    if (link_is_set(&conn->flush_link) || conn->is_blocked ||
        conn->state > CONN_FINISHING)
        return;
    if (flusher->is_asking) {
        flusher->is_asking = false; /* what it wakes meanwhile stands in line */
        flush(conn);
        flusher->is_asking = true;
        return;
    }
    list_append(&flusher->waking, &conn->flush_link);
    loop_defer(flusher->loop, &flusher->nudge);
}

void conn_resume_later(struct conn *conn)
{
    struct conn_flusher *flusher = conn->flusher;

    if (link_is_set(&conn->resume_link) || conn->state != CONN_OPEN)
        return;
    list_append(&flusher->resuming, &conn->resume_link);
    loop_defer(flusher->loop, &flusher->nudge);
}

/* `has_more`: the owner filled all spans, so it is asked again next turn. */
static void flushed(struct conn *conn, bool has_more)
{
    if (conn->state == CONN_OPEN && !conn->is_blocked && !has_more)
        return; /* as nearly always */
    move_again(conn);
    if (conn->state == CONN_CLOSED)
        return;
    if (has_more)
        conn_wake(conn);
    else if (!link_is_set(&conn->flush_link))
        conn_drained(conn);
}

static void flush_plain(struct conn *conn)
{
    struct iovec spans[CONN_SPANS];
    size_t count = conn->ops->on_pull(conn, spans, CONN_SPANS);
    size_t size, sent;

    if (conn->state == CONN_CLOSED)
        return;
    if (count == 0) {
        flushed(conn, false);
        return;
    }
    size = spans_size(spans, count);
    if (send_spans(conn, spans, count, &sent)) {
        conn_close(conn, ERR_IO);
        return;
    }
    if (sent) {
        conn_progress(conn);
        conn->ops->on_taken(conn, sent, size);
    }
    if (sent < size)
        conn_block(conn);
    else if (conn->state != CONN_CLOSED)
        flushed(conn, count == CONN_SPANS);
}

/* Pulls and writes one record. Returns true if the owner has more to give. */
static bool write_record(struct conn *conn, size_t *budget)
{
    struct iovec spans[CONN_SPANS];
    size_t count = conn->ops->on_pull(conn, spans, CONN_SPANS);
    char *record = conn->flusher->record;
    size_t size, len;

    if (conn->state == CONN_CLOSED || count == 0)
        return false;
    size = spans_size(spans, count);
    len = gather(record, TLS_RECORD, spans, count);
    if (conn_tls_write(conn, (struct str){ record, len })) {
        conn_close(conn, ERR_IO);
        return false;
    }
    *budget -= len < *budget ? len : *budget;
    conn_progress(conn);
    conn->ops->on_taken(conn, len, size);
    return len < size || count == CONN_SPANS;
}

static void flush_tls(struct conn *conn)
{
    size_t budget = TLS_BUDGET;
    bool has_more = true;

    if (conn->ciphertext && conn_tls_flush(conn)) {
        conn_close(conn, ERR_IO);
        return;
    }
    if (conn->state == CONN_HANDSHAKE && !conn->ciphertext) {
        move_again(conn);
        return;
    }
    while (has_more && budget && conn->state != CONN_CLOSED && !conn->ciphertext)
        has_more = write_record(conn, &budget);
    if (conn->ciphertext)
        conn_block(conn);
    else if (conn->state != CONN_CLOSED)
        flushed(conn, has_more);
}

static void flush(struct conn *conn)
{
    list_remove(&conn->flush_link);
    if (conn->ssl)
        flush_tls(conn);
    else
        flush_plain(conn);
}

/* A round of those in line before the mark; what comes up meanwhile stands behind it, for
 * the next turn. Returns how many there were. */
static size_t flush_line(struct conn_flusher *flusher, const struct link *mark)
{
    size_t count = 0;

    for (; flusher->waking.next != mark && count < FLUSH_ROUND; count++)
        flush(CONTAINER_OF(flusher->waking.next, struct conn, flush_link));
    return count;
}

/* A round of those that the source wakes. They pass the line by. */
static size_t flush_source(struct conn_flusher *flusher)
{
    size_t count;

    flusher->is_asking = true;
    count = flusher->source->wake_some(flusher->source, FLUSH_ROUND);
    flusher->is_asking = false;
    return count;
}

/* Returns whether the budget was too small. */
static bool flush_turn(struct conn_flusher *flusher)
{
    uint64_t end_ns = clock_mono_ns() + FLUSH_NS;
    struct link mark = {};
    size_t count = 1;

    list_append(&flusher->waking, &mark);
    for (size_t i = 0; count && i < FLUSH_ROUNDS; i++) {
        if (i && clock_mono_ns() > end_ns)
            break;
        count = flush_line(flusher, &mark);
        if (flusher->source)
            count += flush_source(flusher);
    }
    list_remove(&mark);
    return count > 0;
}

static void resume_waiting(struct conn_flusher *flusher)
{
    struct link mark = {};

    list_append(&flusher->resuming, &mark);
    while (flusher->resuming.next != &mark) {
        struct conn *conn =
            CONTAINER_OF(flusher->resuming.next, struct conn, resume_link);

        list_remove(&conn->resume_link);
        conn_resume(conn);
    }
    list_remove(&mark);
}

static bool on_turn_end(struct loop_hook *hook)
{
    struct conn_flusher *flusher = CONTAINER_OF(hook, struct conn_flusher, hook);
    bool has_more;

    if (!list_is_empty(&flusher->resuming))
        resume_waiting(flusher);
    has_more = flush_turn(flusher);
    return has_more || !list_is_empty(&flusher->resuming) ||
           !list_is_empty(&flusher->waking);
}

static void run_nudge(struct loop_task *)
{
}

struct conn_flusher *conn_flusher_new(struct loop *loop, struct flush_source *source)
{
    struct conn_flusher *flusher = xcalloc(1, sizeof(*flusher));

    flusher->loop = loop;
    flusher->source = source;
    flusher->hook.on_turn_end = on_turn_end;
    flusher->nudge.run = run_nudge;
    list_init(&flusher->waking);
    list_init(&flusher->resuming);
    loop_hook_add(loop, &flusher->hook);
    return flusher;
}

void conn_flusher_free(struct conn_flusher *flusher)
{
    if (!flusher)
        return;
    while (!list_is_empty(&flusher->waking))
        list_remove(flusher->waking.next);
    while (!list_is_empty(&flusher->resuming))
        list_remove(flusher->resuming.next);
    loop_hook_remove(&flusher->hook);
    list_remove(&flusher->nudge.link);
    free(flusher);
}
