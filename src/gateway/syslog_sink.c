/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records to a syslog daemon: datagrams over a local socket or UDP, or a TCP stream with
 * octet counting (RFC 6587 3.4.1).
 *
 *     CLOSED ──► RESOLVING ──► CONNECTING ──► OPEN ──► CLOSED …
 *
 * Nothing in syslog says that a message has been read. Over TCP, a page counts as taken
 * when the other side's kernel has it; if the connection then ends by a reset, somebody
 * has not read all of it, and the owner hears that what was taken lately may be lost.
 */
#include <errno.h>
#include <limits.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/xalloc.h"
#include "gateway/export_sink.h"
#include "net/resolve.h"

enum {
    PATIENCE_MS = 30'000, /* without progress */
    CONNECT_MS = 10'000,
    POLL_MS = 10, /* for what no event announces */
    SETTLES_MS = 5000,
    CHUNK_BYTES = 256 << 10, /* of a stream, until the other side has it */
    STREAM_MAX = 8192,       /* bytes of a message; what usual daemons take */
    LOCAL_MAX = 8192,
    UDP_MAX = EXPORT_SYSLOG_MIN,
    UDP_BURST = 32, /* datagrams, and then a pause: what a socket's buffer surely holds */
};

enum state { CLOSED, RESOLVING, CONNECTING, OPEN };

struct syslog_sink {
    struct export_sink sink;
    struct syslog_target target;
    enum state state;
    struct resolve *resolve;
    struct addresses *addresses;
    size_t address_at; /* the next to try */
    struct loop_fd io; /* the socket, or what tells that names are known */
    struct loop_timer timer;
    uint64_t deadline_ms;
    struct loop_task start;

    const struct audit_batch *page; /* NULL: nothing to send */
    struct export_result result;    /* of the page, so far */
    struct audit_head head;
    bool has_head; /* to be sent before anything else */

    struct buf out;    /* a datagram, or a piece of the stream */
    struct buf single; /* scratch: a message before its length is known */
    size_t sent;       /* of `out` */
    int unread;        /* bytes that the other side did not have yet */
    bool out_has_head;
    size_t out_at;  /* where in the page its last message comes from */
    size_t out_max; /* for the message at hand */
};

static void go_on(struct syslog_sink *self);
static void connect_next(struct syslog_sink *self);

/* --- ends --- */

static void close_all(struct syslog_sink *self)
{
    int fd = self->io.fd;

    loop_fd_remove(self->sink.loop, &self->io);
    if (fd >= 0 && self->state != RESOLVING) /* that one is the resolver's */
        (void)close(fd);
    resolve_free(self->resolve);
    self->resolve = NULL;
    free(self->addresses);
    self->addresses = NULL;
    loop_timer_clear(self->sink.loop, &self->timer);
    self->state = CLOSED;
    buf_clear(&self->out);
    self->out_has_head = false;
    self->sent = 0;
}

static void tell(struct syslog_sink *self, enum export_outcome outcome, const char *why)
{
    struct export_result result = self->result;

    result.outcome = outcome;
    result.why = why;
    self->page = NULL;
    self->sink.owner->on_result(self->sink.owner, &result);
}

static void fail(struct syslog_sink *self, enum export_outcome outcome, const char *why)
{
    close_all(self);
    tell(self, outcome, why);
}

/* When it has to be over, and when to look again at the latest. */
static void look_again(struct syslog_sink *self, uint64_t poll_ms)
{
    uint64_t now_ms = loop_now_ms(self->sink.loop);
    uint64_t left_ms = self->deadline_ms > now_ms ? self->deadline_ms - now_ms : 0;

    loop_timer_set(self->sink.loop, &self->timer, left_ms < poll_ms ? left_ms : poll_ms);
}

static void expect_progress(struct syslog_sink *self, uint64_t within_ms)
{
    self->deadline_ms = loop_now_ms(self->sink.loop) + within_ms;
}

/* --- messages --- */

static bool is_stream(const struct syslog_sink *self)
{
    return self->target.transport == SYSLOG_TCP;
}

static size_t longest(const struct syslog_sink *self)
{
    if (self->target.transport == SYSLOG_UDP)
        return UDP_MAX;
    return is_stream(self) ? STREAM_MAX : LOCAL_MAX;
}

static void add_single(struct syslog_sink *self)
{
    if (is_stream(self)) {
        buf_putu(&self->out, self->single.len);
        buf_putc(&self->out, ' ');
    }
    buf_put(&self->out, buf_str(&self->single));
}

/* The next message behind what is in `out`; false: there is none. */
static bool add_next(struct syslog_sink *self)
{
    struct audit_record record;

    buf_clear(&self->single);
    if (self->has_head && !self->out_has_head) {
        export_syslog_head(self->sink.origin, &self->head, loop_wall_ms(self->sink.loop),
                           &self->single);
        self->out_has_head = true;
        add_single(self);
        return true;
    }
    self->out_at = self->result.at;
    if (!self->page || !audit_batch_next(self->page, &self->result.at, &record))
        return false;
    export_syslog_record(self->sink.origin, &record, self->out_max, &self->single);
    self->result.seq = record.seq;
    self->result.records++;
    add_single(self);
    return true;
}

static void out_done(struct syslog_sink *self)
{
    self->has_head = self->has_head && !self->out_has_head;
    self->out_has_head = false;
    buf_clear(&self->out);
    self->sent = 0;
    self->out_max = longest(self);
}

static void all_sent(struct syslog_sink *self)
{
    if (self->has_head) /* came meanwhile */
        loop_defer(self->sink.loop, &self->start);
    loop_timer_clear(self->sink.loop, &self->timer);
    loop_fd_watch(self->sink.loop, &self->io, EPOLLIN | EPOLLRDHUP);
    if (self->page)
        tell(self, EXPORT_TAKEN, "");
}

static void wait_writable(struct syslog_sink *self)
{
    loop_fd_watch(self->sink.loop, &self->io, EPOLLIN | EPOLLRDHUP | EPOLLOUT);
    look_again(self, PATIENCE_MS);
}

/* --- datagrams --- */

/* Too long for this socket: first without its body, then not at all. */
static void shorten(struct syslog_sink *self)
{
    if (self->out_has_head || self->out_max == EXPORT_SYSLOG_MIN) {
        self->result.records -= !self->out_has_head;
        self->result.rejected += !self->out_has_head;
        out_done(self);
        return;
    }
    self->out_max = EXPORT_SYSLOG_MIN;
    self->result.at = self->out_at;
    self->result.records--;
    buf_clear(&self->out);
}

/* False: it was not sent, and is waited for or lost. */
static bool send_datagram(struct syslog_sink *self)
{
    if (send(self->io.fd, self->out.ptr, self->out.len, MSG_NOSIGNAL) >= 0) {
        out_done(self);
        expect_progress(self, PATIENCE_MS);
        return true;
    }
    switch (errno) {
    case EINTR: return true;
    case EMSGSIZE: shorten(self); return true;
    case EAGAIN: wait_writable(self); return false;
    case ENOBUFS: look_again(self, POLL_MS); return false;
    default: fail(self, EXPORT_LOST, strerrordesc_np(errno)); return false;
    }
}

static void send_datagrams(struct syslog_sink *self)
{
    int burst = self->target.transport == SYSLOG_UDP ? UDP_BURST : INT_MAX;

    for (; self->out.len || add_next(self); burst--) {
        if (!burst) {
            look_again(self, POLL_MS);
            return;
        }
        if (!send_datagram(self))
            return;
    }
    all_sent(self);
}

/* --- a stream --- */

/* How much of what was written the other side has not acknowledged. */
static int unread_bytes(const struct syslog_sink *self)
{
    int bytes = 0;

    return ioctl(self->io.fd, SIOCOUTQ, &bytes) ? 0 : bytes;
}

static bool write_out(struct syslog_sink *self)
{
    while (self->sent < self->out.len) {
        ssize_t sent = send(self->io.fd, self->out.ptr + self->sent,
                            self->out.len - self->sent, MSG_NOSIGNAL);

        if (sent >= 0) {
            self->sent += (size_t)sent;
            expect_progress(self, PATIENCE_MS);
        } else if (errno == EAGAIN) {
            wait_writable(self);
            return false;
        } else if (errno != EINTR) {
            fail(self, EXPORT_LOST, strerrordesc_np(errno));
            return false;
        }
    }
    return true;
}

static void send_stream(struct syslog_sink *self)
{
    int unread;

    if (self->out.len == 0)
        while (self->out.len < CHUNK_BYTES && add_next(self))
            ;
    if (!write_out(self))
        return;
    unread = unread_bytes(self);
    if (unread) {
        if (unread < self->unread)
            expect_progress(self, PATIENCE_MS);
        self->unread = unread;
        loop_fd_watch(self->sink.loop, &self->io, EPOLLIN | EPOLLRDHUP);
        look_again(self, POLL_MS);
        return;
    }
    out_done(self);
    all_sent(self);
}

/* --- the way to the other side --- */

/* Nobody has anything to say to us: what comes is thrown away, and an end is an end. */
static void listen_to(struct syslog_sink *self)
{
    char nothing[512];
    ssize_t got = recv(self->io.fd, nothing, sizeof(nothing), MSG_DONTWAIT);

    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    if (got < 0)
        fail(self, EXPORT_LOST, strerrordesc_np(errno));
    else if (!is_stream(self))
        return;
    else if (self->page)
        fail(self, EXPORT_FAILED, "the connection was closed");
    else
        close_all(self); /* in good order, as daemons do with idle ones */
}

static void opened(struct syslog_sink *self)
{
    self->state = OPEN;
    self->out_max = longest(self);
    loop_fd_watch(self->sink.loop, &self->io, EPOLLIN | EPOLLRDHUP);
    expect_progress(self, PATIENCE_MS);
    go_on(self);
}

static void on_connected(struct syslog_sink *self)
{
    int error = 0;
    socklen_t size = sizeof(error);

    (void)getsockopt(self->io.fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (!error) {
        opened(self);
        return;
    }
    errno = error;
    connect_next(self);
}

static void close_socket(struct syslog_sink *self)
{
    int fd = self->io.fd;

    loop_fd_remove(self->sink.loop, &self->io);
    if (fd >= 0)
        (void)close(fd);
}

/* A socket that is connected or about to be; -1 with errno. */
static int begin_connect(const struct syslog_sink *self, const struct address *address)
{
    int type =
        (is_stream(self) ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = socket(address->socket.ss_family, type, 0);
    int on = 1;

    if (fd < 0)
        return -1;
    if (is_stream(self)) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    }
    if (connect(fd, (const struct sockaddr *)&address->socket, address->size) &&
        errno != EINPROGRESS) {
        int error = errno;

        (void)close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

/* Goes through the addresses; errno says why the one before was none. */
static void connect_next(struct syslog_sink *self)
{
    const char *why = strerrordesc_np(errno);

    close_socket(self);
    while (self->address_at < self->addresses->count) {
        int fd = begin_connect(self, &self->addresses->list[self->address_at++]);

        if (fd < 0) {
            why = strerrordesc_np(errno);
            continue;
        }
        self->io.fd = fd;
        self->io.events = EPOLLOUT;
        if (loop_fd_add(self->sink.loop, &self->io))
            break;
        self->state = CONNECTING;
        expect_progress(self, CONNECT_MS);
        look_again(self, CONNECT_MS);
        return;
    }
    fail(self, EXPORT_FAILED, why);
}

static void on_resolved(struct syslog_sink *self)
{
    enum err err = resolve_take(self->resolve, &self->addresses);

    if (err == ERR_AGAIN)
        return;
    if (err) {
        loop_fd_remove(self->sink.loop, &self->io);
        fail(self, EXPORT_FAILED, resolve_why(self->resolve));
        return;
    }
    loop_fd_remove(self->sink.loop, &self->io);
    self->state = CONNECTING;
    self->address_at = 0;
    connect_next(self);
}

static void begin(struct syslog_sink *self)
{
    self->resolve =
        self->target.transport == SYSLOG_UNIX
            ? resolve_local(self->target.host)
            : resolve_new(self->target.host, self->target.port, RESOLVE_IN_THREAD);
    self->state = RESOLVING;
    self->io.fd = resolve_fd(self->resolve);
    self->io.events = EPOLLIN;
    expect_progress(self, PATIENCE_MS);
    if (self->io.fd < 0)
        on_resolved(self);
    else if (loop_fd_add(self->sink.loop, &self->io))
        fail(self, EXPORT_FAILED, "no more descriptors can be watched");
    else
        look_again(self, PATIENCE_MS);
}

static void go_on(struct syslog_sink *self)
{
    if (self->state == CLOSED)
        begin(self);
    else if (self->state == OPEN && is_stream(self))
        send_stream(self);
    else if (self->state == OPEN)
        send_datagrams(self);
}

static void on_ready(struct loop_fd *io, uint32_t events)
{
    struct syslog_sink *self = CONTAINER_OF(io, struct syslog_sink, io);

    if (self->state == RESOLVING) {
        on_resolved(self);
        return;
    }
    if (self->state == CONNECTING) {
        on_connected(self);
        return;
    }
    if (events & ~EPOLLOUT)
        listen_to(self);
    if (self->state == OPEN && (events & EPOLLOUT))
        go_on(self);
}

static void on_time(struct loop_timer *timer)
{
    struct syslog_sink *self = CONTAINER_OF(timer, struct syslog_sink, timer);

    if (loop_now_ms(self->sink.loop) < self->deadline_ms) {
        go_on(self);
        return;
    }
    errno = ETIMEDOUT;
    if (self->state == OPEN)
        fail(self, EXPORT_LOST, "nothing is taken any more");
    else if (self->state == CONNECTING)
        connect_next(self);
    else
        fail(self, EXPORT_FAILED, "it takes too long to reach");
}

static void on_start(struct loop_task *task)
{
    go_on(CONTAINER_OF(task, struct syslog_sink, start));
}

/* --- what the owner calls --- */

static void syslog_send(struct export_sink *sink, const struct audit_batch *page,
                        size_t at)
{
    struct syslog_sink *self = CONTAINER_OF(sink, struct syslog_sink, sink);

    self->page = page;
    self->result = (struct export_result){ .at = at };
    expect_progress(self, PATIENCE_MS);
    loop_defer(sink->loop, &self->start);
}

static void syslog_send_head(struct export_sink *sink, const struct audit_head *head)
{
    struct syslog_sink *self = CONTAINER_OF(sink, struct syslog_sink, sink);

    self->head = *head;
    self->has_head = true;
    expect_progress(self, PATIENCE_MS);
    loop_defer(sink->loop, &self->start);
}

static void syslog_free(struct export_sink *sink)
{
    struct syslog_sink *self = CONTAINER_OF(sink, struct syslog_sink, sink);

    close_all(self);
    list_remove(&self->start.link);
    buf_done(&self->out);
    buf_done(&self->single);
    free(self);
}

static const struct export_sink_ops syslog_ops = { .settles_ms = SETTLES_MS,
                                                   .send = syslog_send,
                                                   .send_head = syslog_send_head,
                                                   .free = syslog_free };

struct export_sink *syslog_sink_new(const struct export_sink *base,
                                    const struct syslog_target *target)
{
    struct syslog_sink *self = xcalloc(1, sizeof(*self));

    self->sink = *base;
    self->sink.ops = &syslog_ops;
    self->target = *target;
    self->io = (struct loop_fd){ .fd = -1, .on_ready = on_ready };
    self->timer.on_fire = on_time;
    self->start.run = on_start;
    buf_init(&self->out, CHUNK_BYTES + 2 * STREAM_MAX);
    buf_init(&self->single, STREAM_MAX);
    return &self->sink;
}
