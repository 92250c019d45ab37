/* SPDX-License-Identifier: Apache-2.0 */
#include "transport/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/session.h"

enum {
    STREAMS = 3,
    LOG_LINE = 8 << 10,
    PIPE_READS = 32, /* more does not lie in a pipe */
};

/* The lines of one output. */
struct lines {
    struct loop_fd fd;
    struct buf part; /* of a line that has not ended */
    struct stdio *stdio;
    /* False: no more is wanted. */
    bool (*on_line)(struct stdio *stdio, struct str line);
    bool (*on_too_long)(struct stdio *stdio, struct str part);
};

enum stage { STAGE_RUNNING, STAGE_LEAVING, STAGE_TERMINATING };

struct stdio {
    struct carrier carrier;
    struct loop *loop;
    struct stdio_ops ops;
    void *user;
    struct child *child; /* NULL: it has ended */
    uint64_t leave_ms, term_ms;
    enum stage stage;
    const char *broken;   /* what it closed, though it has not ended; NULL: nothing */
    bool is_session_over; /* mcp_session_ended() was called */
    bool is_freed;        /* and will be, when nobody up the stack holds it */
    struct loop_fd in;    /* its standard input */
    size_t written;       /* bytes, into that */
    bool was_read;        /* some of them, when it was closed */
    struct buf waiting;
    struct lines out, err;
    struct loop_timer leave;
    struct loop_task flush, reap;
};

static void unwatch(struct stdio *stdio, struct loop_fd *watched)
{
    int fd = watched->fd;

    loop_fd_remove(stdio->loop, watched);
    fd_closep(&fd);
}

/* A pipe keeps what nobody read, also when there is no reader any more. */
static bool is_read(const struct stdio *stdio)
{
    int unread = 0;

    return stdio->in.fd >= 0 && !ioctl(stdio->in.fd, FIONREAD, &unread) &&
           (size_t)unread < stdio->written;
}

bool stdio_was_read(const struct stdio *stdio)
{
    return stdio->was_read || is_read(stdio);
}

static void close_input(struct stdio *stdio)
{
    stdio->was_read = stdio_was_read(stdio);
    unwatch(stdio, &stdio->in);
}

static void end_session(struct stdio *stdio, const char *why)
{
    if (stdio->is_session_over)
        return;
    stdio->is_session_over = true;
    if (stdio->carrier.session)
        mcp_session_ended(stdio->carrier.session, why, loop_now_ms(stdio->loop));
}

/* --- closing --- */

static void terminate(struct stdio *stdio)
{
    if (stdio->stage == STAGE_TERMINATING)
        return;
    stdio->stage = STAGE_TERMINATING;
    loop_timer_clear(stdio->loop, &stdio->leave);
    close_input(stdio);
    if (stdio->child)
        child_stop(stdio->child, stdio->term_ms);
}

static void on_leave(struct loop_timer *timer)
{
    struct stdio *stdio = CONTAINER_OF(timer, struct stdio, leave);

    if (stdio->broken)
        end_session(stdio, stdio->broken);
    terminate(stdio);
}

void stdio_close(struct stdio *stdio)
{
    if (stdio->stage != STAGE_RUNNING)
        return;
    stdio->stage = STAGE_LEAVING;
    if (stdio->waiting.len == 0)
        close_input(stdio);
    loop_timer_set(stdio->loop, &stdio->leave, stdio->leave_ms);
}

/* A server that closes a stream is about to end, and that says more: it is given the
 * time. */
static void on_broken(struct stdio *stdio, const char *what)
{
    if (stdio->stage == STAGE_RUNNING)
        stdio->broken = what;
    stdio_close(stdio);
}

/* --- to the server --- */

static void cannot_write(struct stdio *stdio)
{
    close_input(stdio);
    buf_clear(&stdio->waiting);
    on_broken(stdio, "it closed its input");
}

static void write_waiting(struct stdio *stdio)
{
    while (stdio->waiting.len && stdio->in.fd >= 0) {
        ssize_t written = write(stdio->in.fd, stdio->waiting.ptr, stdio->waiting.len);

        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EAGAIN)
            break;
        if (written < 0) {
            cannot_write(stdio);
            return;
        }
        stdio->written += (size_t)written;
        buf_drop(&stdio->waiting, (size_t)written);
    }
    loop_fd_watch(stdio->loop, &stdio->in, stdio->waiting.len ? EPOLLOUT : 0);
    if (stdio->stage == STAGE_LEAVING && stdio->waiting.len == 0)
        close_input(stdio);
}

static void on_flush(struct loop_task *task)
{
    write_waiting(CONTAINER_OF(task, struct stdio, flush));
}

/* EPOLLERR comes unasked when nobody reads any more. */
static void on_writable(struct loop_fd *self, uint32_t events)
{
    struct stdio *stdio = CONTAINER_OF(self, struct stdio, in);

    if (events & EPOLLERR)
        cannot_write(stdio);
    else
        write_waiting(stdio);
}

static enum err on_send(struct carrier *carrier, const struct parcel *parcel)
{
    struct stdio *stdio = CONTAINER_OF(carrier, struct stdio, carrier);

    if (stdio->stage != STAGE_RUNNING || stdio->in.fd < 0)
        return ERR_CLOSED;
    if (buf_reserve(&stdio->waiting, parcel->text.len + 1))
        return ERR_OVERLOAD;
    buf_put(&stdio->waiting, parcel->text);
    buf_putc(&stdio->waiting, '\n');
    loop_defer(stdio->loop, &stdio->flush);
    return OK;
}

static void on_drop(struct carrier *, uint64_t)
{
}

static void on_settled(struct carrier *, struct str, bool)
{
}

static void on_renew(struct carrier *)
{
}

static const struct carrier_ops carrier_ops = { on_send, on_drop, on_settled, on_renew };

struct carrier *stdio_carrier(struct stdio *stdio)
{
    return &stdio->carrier;
}

/* --- from the server --- */

/* A message is an object, or an array of them; the session judges the rest. */
static bool is_message(struct str line)
{
    struct str text = str_trim(line);

    return text.len && (text.ptr[0] == '{' || text.ptr[0] == '[');
}

static bool on_out_line(struct stdio *stdio, struct str line)
{
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    if (line.len == 0)
        return true;
    if (!is_message(line))
        stdio->ops.on_noise(stdio->user, line);
    else if (stdio->carrier.session && !stdio->is_session_over)
        mcp_session_hear(stdio->carrier.session, line, 0, loop_now_ms(stdio->loop));
    return !stdio->is_freed;
}

static bool on_out_too_long(struct stdio *stdio, struct str part)
{
    char why[80];

    (void)snprintf(why, sizeof(why), "its message is longer than %zu bytes", part.len);
    unwatch(stdio, &stdio->out.fd);
    end_session(stdio, why);
    terminate(stdio);
    return false;
}

static bool on_err_line(struct stdio *stdio, struct str line)
{
    if (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    stdio->ops.on_log(stdio->user, line);
    return !stdio->is_freed;
}

/* What does not fit any more: the line, as far as it came. */
static bool keep_part(struct lines *lines, struct str part)
{
    while (lines->part.len + part.len > lines->part.max) {
        size_t fits = lines->part.max - lines->part.len;

        buf_put(&lines->part, str_slice(part, 0, fits));
        part = str_slice(part, fits, part.len);
        if (!lines->on_too_long(lines->stdio, buf_str(&lines->part)))
            return false;
        buf_clear(&lines->part);
    }
    buf_put(&lines->part, part);
    return true;
}

static bool end_line(struct lines *lines, struct str last)
{
    bool goes_on;

    if (lines->part.len == 0 && last.len <= lines->part.max)
        return lines->on_line(lines->stdio, last);
    if (!keep_part(lines, last))
        return false;
    goes_on = lines->on_line(lines->stdio, buf_str(&lines->part));
    buf_done(&lines->part); /* long messages are rare, servers many */
    return goes_on;
}

static bool take_bytes(struct lines *lines, struct str bytes)
{
    while (bytes.len) {
        size_t end = str_find(bytes, '\n', 0);

        if (end == bytes.len)
            return keep_part(lines, bytes);
        if (!end_line(lines, str_slice(bytes, 0, end)))
            return false;
        bytes = str_slice(bytes, end + 1, bytes.len);
    }
    return true;
}

enum read_outcome { READ_SOME, READ_NOTHING, READ_END, READ_STOPPED };

static enum read_outcome read_once(struct lines *lines)
{
    struct stdio *stdio = lines->stdio;
    char *buffer = loop_buffer(stdio->loop);
    ssize_t got = read(lines->fd.fd, buffer, LOOP_BUFFER);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return READ_NOTHING;
    if (got > 0)
        return take_bytes(lines, (struct str){ buffer, (size_t)got }) ? READ_SOME
                                                                      : READ_STOPPED;
    unwatch(stdio, &lines->fd);
    if (lines->part.len && !end_line(lines, S("")))
        return READ_STOPPED;
    return READ_END;
}

static void on_out_ready(struct loop_fd *self, uint32_t)
{
    struct lines *lines = CONTAINER_OF(self, struct lines, fd);

    if (read_once(lines) == READ_END)
        on_broken(lines->stdio, "it closed its output");
}

static void on_err_ready(struct loop_fd *self, uint32_t)
{
    (void)read_once(CONTAINER_OF(self, struct lines, fd));
}

/* --- the child --- */

/* It is heard from now on: that it started is told first. */
static void on_started(void *user, pid_t pid, int proxy_fd)
{
    struct stdio *stdio = user;

    stdio->ops.on_started(stdio->user, pid, proxy_fd);
    if (stdio->is_freed)
        return;
    if (loop_fd_add(stdio->loop, &stdio->out.fd) ||
        loop_fd_add(stdio->loop, &stdio->err.fd))
        terminate(stdio);
}

/* Nobody writes any more: what it said last is in the pipes. */
static bool drain(struct lines *lines)
{
    enum read_outcome outcome = READ_SOME;

    for (int i = 0; i < PIPE_READS && lines->fd.fd >= 0 && outcome == READ_SOME; i++)
        outcome = read_once(lines);
    return !lines->stdio->is_freed;
}

static void on_ended(void *user, const struct child_end *end)
{
    struct stdio *stdio = user;

    stdio->child = NULL;
    if (!drain(&stdio->out) || !drain(&stdio->err))
        return;
    loop_timer_clear(stdio->loop, &stdio->leave);
    close_input(stdio);
    unwatch(stdio, &stdio->out.fd);
    unwatch(stdio, &stdio->err.fd);
    stdio->stage = STAGE_TERMINATING;
    end_session(stdio, end->why);
    if (!stdio->is_freed)
        stdio->ops.on_ended(stdio->user, end);
}

static const struct child_ops child_ops = { on_started, on_ended };

/* --- opening and freeing --- */

static void on_reap(struct loop_task *task)
{
    struct stdio *stdio = CONTAINER_OF(task, struct stdio, reap);

    list_remove(&stdio->flush.link);
    buf_done(&stdio->waiting);
    buf_done(&stdio->out.part);
    buf_done(&stdio->err.part);
    free(stdio);
}

void stdio_free(struct stdio *stdio)
{
    if (!stdio || stdio->is_freed)
        return;
    stdio->is_freed = true;
    stdio->stage = STAGE_TERMINATING;
    stdio->carrier.session = NULL;
    loop_timer_clear(stdio->loop, &stdio->leave);
    close_input(stdio);
    unwatch(stdio, &stdio->out.fd);
    unwatch(stdio, &stdio->err.fd);
    if (stdio->child)
        child_abandon(stdio->child);
    stdio->child = NULL;
    loop_defer(stdio->loop, &stdio->reap);
}

/* Pipes, and not sockets: /dev/stdin can be opened, as anywhere. Ours do not block, its
 * own do. */
static bool open_pipe(int *ret_ours, int *ret_its, bool is_input)
{
    int pair[2];

    if (pipe2(pair, O_CLOEXEC))
        return false;
    *ret_ours = pair[is_input ? 1 : 0];
    *ret_its = pair[is_input ? 0 : 1];
    return fcntl(*ret_ours, F_SETFL, O_NONBLOCK) == 0;
}

static bool open_pipes(struct stdio *stdio, int its[static STREAMS])
{
    return open_pipe(&stdio->in.fd, &its[0], true) &&
           open_pipe(&stdio->out.fd.fd, &its[1], false) &&
           open_pipe(&stdio->err.fd.fd, &its[2], false) &&
           loop_fd_add(stdio->loop, &stdio->in) == OK;
}

static void prepare(struct stdio *stdio, const struct stdio_settings *settings)
{
    stdio->carrier.ops = &carrier_ops;
    stdio->in = (struct loop_fd){ .fd = -1, .on_ready = on_writable };
    stdio->out = (struct lines){ .stdio = stdio,
                                 .on_line = on_out_line,
                                 .on_too_long = on_out_too_long };
    stdio->out.fd =
        (struct loop_fd){ .fd = -1, .events = EPOLLIN, .on_ready = on_out_ready };
    stdio->err = (struct lines){ .stdio = stdio,
                                 .on_line = on_err_line,
                                 .on_too_long = on_err_line };
    stdio->err.fd =
        (struct loop_fd){ .fd = -1, .events = EPOLLIN, .on_ready = on_err_ready };
    buf_init(&stdio->waiting, settings->max_waiting);
    buf_init(&stdio->out.part, settings->max_message);
    buf_init(&stdio->err.part, LOG_LINE);
    stdio->leave.on_fire = on_leave;
    stdio->flush.run = on_flush;
    stdio->reap.run = on_reap;
}

struct stdio *stdio_open(struct spawn *spawn, struct loop *loop,
                         const struct stdio_settings *settings,
                         const struct stdio_ops *ops, void *user)
{
    struct stdio *stdio = xcalloc(1, sizeof(*stdio));
    int its[STREAMS] = { -1, -1, -1 };

    *stdio = (struct stdio){ .loop = loop,
                             .ops = *ops,
                             .user = user,
                             .leave_ms = settings->leave_ms,
                             .term_ms = settings->term_ms };
    prepare(stdio, settings);
    if (!open_pipes(stdio, its)) {
        fd_closep(
            &its[0]); /* child_start() finds out that it cannot be sent, and tells */
        its[0] = -1;
    }
    stdio->child = child_start(spawn, settings->plan, its, &child_ops, stdio);
    return stdio;
}
