/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/wire_seat.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/xalloc.h"

enum {
    CONNECT_MS = 10'000,
    RETRY_MIN_MS = 250,
    RETRY_MAX_MS = 30'000,
    SILENCE_MS = 60'000,
    OUTBOX_BYTES = 8 << 20,
    ROSTER_BYTES = 1 << 20,   /* of a welcome, besides the largest envelope */
    GATEWAY_BYTES = 64 << 20, /* a gateway that takes larger ones is not believed */
    GOODBYE_MS = 5000,        /* for what was sent last to be judged */
};

/* The last fence of all: what was sent before it has been judged. */
#define GOODBYE UINT64_MAX

enum leaving { LEAVING_NOT, LEAVING_FENCED, LEAVING_CLOSING };

struct wire_seat {
    struct seat seat;
    struct loop *loop;
    struct wire *wire;
    const struct seat_ops *ops;
    void *user;
    struct loop_fd fd;
    struct loop_timer timer;
    struct loop_task step; /* something was sent: it leaves with this turn */
    size_t envelope_bytes; /* 0: not known */
    size_t outbox_bytes;
    uint64_t goodbye_ms; /* when it closes, whatever was judged */
    enum leaving leaving;
    bool is_over;
};

struct wire_settings wire_seat_settings(const struct session_options *options,
                                        const struct session_target *target)
{
    return (struct wire_settings){
        .url = buf_str(&target->url),
        .topic = str_of(options->topic),
        .token = buf_str(&target->token),
        .ca_file = str_of(options->ca),
        .resolves_in_thread = true,
        .connect_timeout_ms = CONNECT_MS,
        .retry_min_ms = RETRY_MIN_MS,
        .retry_max_ms = RETRY_MAX_MS,
        .silence_ms = SILENCE_MS,
        .message_bytes = WIRE_SEAT_MESSAGE,
        .outbox_bytes = OUTBOX_BYTES,
    };
}

/* --- driving the wire --- */

static uint32_t epoll_events(short events)
{
    return (events & POLLIN ? EPOLLIN : 0U) | (events & POLLOUT ? EPOLLOUT : 0U);
}

static void watch(struct wire_seat *s)
{
    int fd = wire_fd(s->wire);
    uint32_t events = epoll_events(wire_events(s->wire));

    if (s->fd.fd == fd) {
        loop_fd_watch(s->loop, &s->fd, events);
        return;
    }
    loop_fd_remove(s->loop, &s->fd);
    s->fd.fd = fd;
    s->fd.events = events;
    if (fd >= 0 && loop_fd_add(s->loop, &s->fd))
        s->fd.fd = -1;
}

static void arm(struct wire_seat *s)
{
    uint64_t now = loop_now_ms(s->loop);
    uint64_t due = wire_due_ms(s->wire);

    if (s->leaving == LEAVING_FENCED && s->goodbye_ms < due)
        due = s->goodbye_ms;
    if (s->is_over || due == UINT64_MAX)
        loop_timer_clear(s->loop, &s->timer);
    else
        loop_timer_set(s->loop, &s->timer, due > now ? due - now : 0);
}

static void hang_up(struct wire_seat *s)
{
    s->leaving = LEAVING_CLOSING;
    wire_close(s->wire);
}

/* A descriptor that is closed and made anew inside a step may have the same number: only
 * what is open keeps its place in the loop. */
static void take_step(struct wire_seat *s)
{
    if (s->is_over)
        return;
    if (!wire_is_open(s->wire))
        loop_fd_remove(s->loop, &s->fd);
    if (s->leaving == LEAVING_FENCED && loop_now_ms(s->loop) >= s->goodbye_ms)
        hang_up(s);
    wire_step(s->wire, loop_now_ms(s->loop));
    watch(s);
    arm(s);
}

static void on_ready(struct loop_fd *fd, uint32_t events [[maybe_unused]])
{
    take_step(CONTAINER_OF(fd, struct wire_seat, fd));
}

static void on_fire(struct loop_timer *timer)
{
    take_step(CONTAINER_OF(timer, struct wire_seat, timer));
}

static void on_task(struct loop_task *task)
{
    take_step(CONTAINER_OF(task, struct wire_seat, step));
}

/* --- what the wire tells --- */

static void on_open(void *user, bool resumes)
{
    struct wire_seat *s = user;

    s->ops->on_begin(s->user, resumes);
}

static void on_text(void *user, struct str text)
{
    struct wire_seat *s = user;

    s->ops->on_text(s->user, text);
}

static void on_fence(void *user, uint64_t number)
{
    struct wire_seat *s = user;

    if (number == GOODBYE)
        hang_up(s);
    else
        s->ops->on_judged(s->user, number);
}

static void on_broken(void *user, struct str why, bool is_over)
{
    struct wire_seat *s = user;
    CLEANUP(xfreep) char *text = str_dup(why);

    s->is_over = is_over;
    s->ops->on_lost(s->user, is_over, text);
}

static struct str on_after(void *user)
{
    struct wire_seat *s = user;

    return s->ops->on_after(s->user);
}

static const struct wire_ops wire_ops = {
    .on_open = on_open,
    .on_text = on_text,
    .on_fence = on_fence,
    .on_broken = on_broken,
    .on_after = on_after,
};

/* --- the seat --- */

static enum err seat_send(struct seat *seat, struct str text)
{
    struct wire_seat *s = CONTAINER_OF(seat, struct wire_seat, seat);
    enum err err;

    if (s->leaving || s->is_over)
        return ERR_AGAIN;
    if ((s->envelope_bytes && text.len > s->envelope_bytes) || text.len > s->outbox_bytes)
        return ERR_TOO_BIG;
    err = wire_send(s->wire, text);
    loop_defer(s->loop, &s->step);
    return err == ERR_TOO_BIG ? ERR_OVERLOAD : err;
}

static void seat_fence(struct seat *seat, uint64_t number)
{
    struct wire_seat *s = CONTAINER_OF(seat, struct wire_seat, seat);

    if (s->leaving || s->is_over)
        return;
    wire_fence(s->wire, number);
    loop_defer(s->loop, &s->step);
}

static void seat_welcome(struct seat *seat, size_t envelope_bytes)
{
    struct wire_seat *s = CONTAINER_OF(seat, struct wire_seat, seat);

    s->envelope_bytes = envelope_bytes;
    if (envelope_bytes > GATEWAY_BYTES)
        envelope_bytes = GATEWAY_BYTES;
    wire_welcome(s->wire, envelope_bytes ? envelope_bytes + ROSTER_BYTES : 0);
}

enum err wire_seat_open(struct loop *loop, const struct wire_settings *settings,
                        const struct seat_ops *ops, void *user, struct wire_seat **ret,
                        char **ret_why)
{
    struct wire_seat *s = xcalloc(1, sizeof(*s));
    enum err err;

    s->seat =
        (struct seat){ .send = seat_send, .fence = seat_fence, .welcome = seat_welcome };
    s->loop = loop;
    s->ops = ops;
    s->user = user;
    s->fd = (struct loop_fd){ .fd = -1, .on_ready = on_ready };
    s->timer.on_fire = on_fire;
    s->step.run = on_task;
    s->outbox_bytes = settings->outbox_bytes;
    err = wire_new(settings, &wire_ops, s, &s->wire, ret_why);
    if (err) {
        free(s);
        return err;
    }
    loop_defer(loop, &s->step);
    *ret = s;
    return OK;
}

struct seat *wire_seat_of(struct wire_seat *seat)
{
    return &seat->seat;
}

void wire_seat_leave(struct wire_seat *seat)
{
    if (seat->leaving || seat->is_over)
        return;
    seat->leaving = LEAVING_FENCED;
    seat->goodbye_ms = loop_now_ms(seat->loop) + GOODBYE_MS;
    if (wire_is_open(seat->wire))
        wire_fence(seat->wire, GOODBYE);
    else
        hang_up(seat);
    loop_defer(seat->loop, &seat->step);
}

void wire_seat_free(struct wire_seat *seat)
{
    if (!seat)
        return;
    loop_fd_remove(seat->loop, &seat->fd);
    loop_timer_clear(seat->loop, &seat->timer);
    list_remove(&seat->step.link);
    wire_free(seat->wire);
    free(seat);
}
