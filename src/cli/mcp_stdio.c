/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     stdin ─ lines ─► hall_post ─ attendee ─ wire_seat ─► the topic
 *     stdout ◄─ lines ─ outlets, one for each request, and the common one
 */
#include "cli/mcp_stdio.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/plain.h"
#include "base/xalloc.h"
#include "cli/wire_seat.h"
#include "crypto/crypto.h"
#include "envelope/system.h"
#include "loop/loop.h"
#include "mcp/rpc.h"
#include "mcpdoor/attendee.h"
#include "mcpdoor/house_tools.h"
#include "participant/ask.h"
#include "participant/occupant.h"

enum {
    OUTPUT_BYTES = 64 << 20, /* that the client does not read */
    PIECE_BYTES = 4096,      /* that a pipe takes which can be written (pipe(7)) */
    DEPTH = 128,
    HOLD_MS = 25'000,
    CALLS = 256,
    LAST_MS = 1000,    /* for the client to read on, at the end */
    HOUSE_MS = 60'000, /* for the gateway to answer */
    GRACE_MS = 10'000, /* for calls under way when standard input ends */
};

struct server {
    const struct mcp_stdio *order;
    struct loop *loop;
    struct hall *hall;
    struct attendee *attendee; /* on the seat; NULL: nobody any more */
    struct wire_seat *seat;    /* NULL: nobody asked for the room yet */
    struct loop_fd input, output, signals;
    struct loop_timer timer, grace;
    struct loop_task done;  /* leaves: standard input has ended, and all is answered */
    struct loop_task again; /* reads on from what is no pipe, and always ready */
    struct buf line, written;
    size_t written_at;    /* up to there it is gone */
    struct link outlets;  /* struct spout */
    size_t request_count; /* of outlets: those of requests */
    bool has_common;
    bool is_line_too_long;
    bool was_welcome, was_told;
    bool is_at_end; /* of standard input */
    bool is_over;   /* nothing is waited for any more */
    int code;
};

/* Where the messages of one request go, or those of none. */
struct spout {
    struct outlet outlet;
    struct link link;
    struct server *server;
    bool is_common;
};

static void leave(struct server *s);

static struct moment now_of(const struct server *s)
{
    return (struct moment){ loop_now_ms(s->loop), loop_wall_ms(s->loop) };
}

/* --- standard output --- */

static bool is_writable(void)
{
    struct pollfd fd = { .fd = STDOUT_FILENO, .events = POLLOUT };

    return poll(&fd, 1, 0) == 1;
}

static void end_badly(struct server *s, const char *why)
{
    if (!s->is_over)
        s->code = cli_fail("%s", why);
    s->is_over = true;
    loop_stop(s->loop);
}

/* The descriptor may be shared with others, so it stays as it is: never more is written
 * than fits. */
static void flush(struct server *s)
{
    while (s->written_at < s->written.len && is_writable()) {
        size_t left = s->written.len - s->written_at;
        ssize_t wrote = write(STDOUT_FILENO, s->written.ptr + s->written_at,
                              left < PIECE_BYTES ? left : PIECE_BYTES);

        if (wrote < 0 && errno != EINTR && errno != EAGAIN) {
            end_badly(s, "standard output: nobody reads it any more");
            return;
        }
        s->written_at += wrote > 0 ? (size_t)wrote : 0;
    }
    if (s->written_at >= s->written.len / 2) { /* each byte is moved once at most */
        buf_drop(&s->written, s->written_at);
        s->written_at = 0;
    }
    loop_fd_watch(s->loop, &s->output, s->written.len ? EPOLLOUT : 0);
}

/* What nobody reads is not asked for either. */
static void on_writable(struct loop_fd *fd, uint32_t events)
{
    struct server *s = CONTAINER_OF(fd, struct server, output);

    if (events & (EPOLLERR | EPOLLHUP)) {
        loop_fd_remove(s->loop, &s->output);
        leave(s);
        return;
    }
    flush(s);
}

/* The last words, as long as somebody takes them. */
static void flush_all(struct server *s)
{
    struct pollfd fd = { .fd = STDOUT_FILENO, .events = POLLOUT };

    while (s->written.len && poll(&fd, 1, LAST_MS) == 1 && fd.revents == POLLOUT)
        flush(s);
}

/* Breaks stand between the words of JSON alone, never in them. */
static bool put_message(struct server *s, struct str message)
{
    size_t at = s->written.len;

    if (!message.len)
        return true;
    if (s->written.len - s->written_at + message.len > OUTPUT_BYTES) {
        end_badly(s, "the client does not read what it is told");
        return false;
    }
    buf_put(&s->written, message);
    for (; at < s->written.len; at++)
        if (s->written.ptr[at] == '\n' || s->written.ptr[at] == '\r')
            s->written.ptr[at] = ' ';
    buf_putc(&s->written, '\n');
    flush(s);
    return true;
}

/* --- outlets --- */

static void spout_free(struct spout *spout)
{
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what was freed has left the list
    if (spout->is_common)
        spout->server->has_common = false;
    else
        spout->server->request_count--;
    list_remove(&spout->link);
    free(spout);
}

static void on_reply(struct outlet *outlet, const struct outlet_reply *reply)
{
    struct spout *spout = CONTAINER_OF(outlet, struct spout, outlet);

    if (!spout->is_common)
        (void)put_message(spout->server, reply->message);
    spout_free(spout);
}

static bool on_event(struct outlet *outlet, const struct outlet_event *event)
{
    struct spout *spout = CONTAINER_OF(outlet, struct spout, outlet);

    return put_message(spout->server, event->message);
}

static void on_murmur(struct outlet *outlet)
{
    (void)outlet;
}

static void on_end(struct outlet *outlet)
{
    spout_free(CONTAINER_OF(outlet, struct spout, outlet));
}

static const struct outlet_ops outlet_ops = {
    .reply = on_reply,
    .event = on_event,
    .murmur = on_murmur,
    .end = on_end,
};

static struct outlet *outlet_new(struct server *s, bool is_common)
{
    struct spout *spout = xcalloc(1, sizeof(*spout));

    spout->outlet.ops = &outlet_ops;
    spout->server = s;
    spout->is_common = is_common;
    s->request_count += is_common ? 0 : 1;
    list_append(&s->outlets, &spout->link);
    return &spout->outlet;
}

/* --- time --- */

/* A listening is never answered. */
static bool is_awaited(const struct server *s)
{
    return s->request_count > (s->attendee ? s->attendee->listening_count : 0);
}

static void arm(struct server *s)
{
    uint64_t now = loop_now_ms(s->loop);
    uint64_t due = hall_due_ms(s->hall);

    if (s->is_at_end && !s->is_over && !is_awaited(s))
        loop_defer(s->loop, &s->done);
    if (due == UINT64_MAX)
        loop_timer_clear(s->loop, &s->timer);
    else
        loop_timer_set(s->loop, &s->timer, due > now ? due - now : 0);
}

static void on_fire(struct loop_timer *timer)
{
    struct server *s = CONTAINER_OF(timer, struct server, timer);

    hall_tick(s->hall, now_of(s));
    arm(s);
}

/* --- standard input --- */

/* As long as we are here we are the same one. */
static struct attendee *self(struct server *s)
{
    struct attendee *a = NULL;

    if (hall_attendee(s->hall, S("standard input"), S(""), s, &a))
        return NULL;
    return a;
}

/* What belongs to no request goes to standard output, too, once there is a session. */
static void open_common(struct server *s, struct attendee *a)
{
    struct serve_post http = { .max_depth = DEPTH };
    struct hall_post post = { .attendee = a, .http = &http };

    if (s->has_common || !hall_counts(s->hall).visits)
        return;
    s->has_common = true;
    hall_listen(s->hall, &post, (struct str){}, outlet_new(s, true), now_of(s));
}

static void take_line(struct server *s, struct str line)
{
    struct serve_post http = { .body = line, .max_depth = DEPTH };
    struct hall_post post = { .attendee = self(s), .http = &http };

    if (!post.attendee) {
        end_badly(s, "the room has no place for another one");
        return;
    }
    hall_post(s->hall, &post, outlet_new(s, false), now_of(s));
    open_common(s, post.attendee);
}

static void refuse_line(struct server *s)
{
    CLEANUP(buf_done) struct buf out;

    buf_init(&out, 256);
    serve_put_error(&out, (struct json_span){}, RPC_INVALID_REQUEST,
                    S("the message is too large"), S(""));
    (void)put_message(s, buf_str(&out));
}

static bool is_blank(struct str line)
{
    for (size_t i = 0; i < line.len; i++)
        if (line.ptr[i] != ' ' && line.ptr[i] != '\t' && line.ptr[i] != '\r')
            return false;
    return true;
}

static void end_line(struct server *s)
{
    if (s->is_line_too_long)
        refuse_line(s);
    else if (!is_blank(buf_str(&s->line)))
        take_line(s, buf_str(&s->line));
    s->is_line_too_long = false;
    buf_clear(&s->line);
    s->line.is_full = false;
}

static void take_bytes(struct server *s, struct str bytes)
{
    while (bytes.len && !s->is_over) {
        size_t end = str_find(bytes, '\n', 0);

        if (!s->is_line_too_long)
            buf_put(&s->line, str_slice(bytes, 0, end));
        s->is_line_too_long |= s->line.is_full;
        if (end == bytes.len)
            return;
        end_line(s);
        bytes = str_slice(bytes, end + 1, bytes.len);
    }
}

/* --- the end --- */

/* Modern requests are cancelled with it; what a legacy client has proposed stays. */
static void let_go(struct server *s)
{
    struct spout *spout;

    while (!hall_counts(s->hall).visits &&
           (spout = LIST_FIRST(&s->outlets, struct spout, link)) != NULL) {
        hall_lost(&spout->outlet, now_of(s));
        spout_free(spout);
    }
    hall_drain(s->hall, now_of(s));
}

static void stop_reading(struct server *s)
{
    loop_fd_remove(s->loop, &s->input);
    list_remove(&s->again.link);
}

static void leave(struct server *s)
{
    if (s->is_over) {
        loop_stop(s->loop); /* asked twice: at once */
        return;
    }
    s->is_over = true;
    stop_reading(s);
    loop_timer_clear(s->loop, &s->grace);
    let_go(s);
    if (s->seat)
        wire_seat_leave(s->seat);
    else
        loop_stop(s->loop);
}

static void on_done(struct loop_task *task)
{
    struct server *s = CONTAINER_OF(task, struct server, done);

    if (!s->is_over)
        leave(s);
}

static void on_grace(struct loop_timer *timer)
{
    leave(CONTAINER_OF(timer, struct server, grace));
}

/* Whoever writes into a pipe and goes wants to know what became of it. */
static void end_input(struct server *s)
{
    s->is_at_end = true;
    stop_reading(s);
    loop_timer_set(s->loop, &s->grace, GRACE_MS);
}

static void on_signal(struct loop_fd *fd, uint32_t events [[maybe_unused]])
{
    struct server *s = CONTAINER_OF(fd, struct server, signals);
    struct signalfd_siginfo got;

    if (read(fd->fd, &got, sizeof(got)) == (ssize_t)sizeof(got))
        leave(s);
}

static void read_input(struct server *s)
{
    char *bytes = loop_buffer(s->loop);
    ssize_t got = read(STDIN_FILENO, bytes, LOOP_BUFFER);

    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (got <= 0) {
        if (s->line.len)
            end_line(s);
        end_input(s);
    } else {
        take_bytes(s, (struct str){ bytes, (size_t)got });
    }
    arm(s);
}

static void on_readable(struct loop_fd *fd, uint32_t events [[maybe_unused]])
{
    read_input(CONTAINER_OF(fd, struct server, input));
}

static void on_again(struct loop_task *task)
{
    struct server *s = CONTAINER_OF(task, struct server, again);

    read_input(s);
    if (!s->is_over && !s->is_at_end)
        loop_defer(s->loop, &s->again);
}

/* --- the seat, whose end is ours --- */

static void on_begin(void *user, bool resumes)
{
    struct server *s = user;

    if (s->attendee)
        attendee_seat_ops.on_begin(s->attendee, resumes);
}

/* Whoever may not ask what there is finds nothing: that is said once. */
static void tell_rights(struct server *s)
{
    const struct occupant *o = s->attendee ? s->attendee->occupant : NULL;

    if (s->was_told || !o || !occupant_is_welcome(o))
        return;
    s->was_told = true;
    s->was_welcome = true;
    if (occupant_verdict(o, S("mcp/request:tools/list")) == VERDICT_DENY ||
        occupant_verdict(o, S("mcp/request:initialize")) == VERDICT_DENY)
        fprintf(stderr,
                "moot: this token may not ask what the room offers: its tools are not "
                "seen; grant it mcp/request:initialize and mcp/request:*/list\n");
}

static void on_text(void *user, struct str text)
{
    struct server *s = user;

    if (s->attendee)
        attendee_seat_ops.on_text(s->attendee, text);
    tell_rights(s);
    arm(s);
}

static void on_judged(void *user, uint64_t number)
{
    struct server *s = user;

    if (s->attendee)
        attendee_seat_ops.on_judged(s->attendee, number);
    arm(s);
}

/* The first attempt must succeed; later ones are made as long as it takes. */
static void on_lost(void *user, bool is_final, const char *why)
{
    struct server *s = user;

    is_final |= !s->was_welcome;
    if (s->attendee)
        attendee_seat_ops.on_lost(s->attendee, is_final, why);
    if (is_final)
        end_badly(s, why);
    else if (!s->is_over)
        arm(s);
}

static struct str on_after(void *user)
{
    struct server *s = user;

    return s->attendee ? attendee_seat_ops.on_after(s->attendee) : S("");
}

static const struct seat_ops seat_ops = {
    .on_begin = on_begin,
    .on_text = on_text,
    .on_judged = on_judged,
    .on_lost = on_lost,
    .on_after = on_after,
};

static struct seat *open_seat(void *user, struct attendee *attendee, void *credential)
{
    struct server *s = user;
    struct wire_settings settings =
        wire_seat_settings(s->order->session, s->order->target);
    CLEANUP(xfreep) char *why = NULL;

    (void)credential;
    if (s->seat || s->is_over)
        return NULL; /* it goes for good once */
    s->attendee = attendee;
    if (wire_seat_open(s->loop, &settings, &seat_ops, s, &s->seat, &why)) {
        end_badly(s, why ? why : "the options are wrong");
        return NULL;
    }
    return wire_seat_of(s->seat);
}

/* --- the hall --- */

/* It is freed at the very end; who sat on it may be gone before. */
static void close_seat(void *user, struct seat *, void *)
{
    struct server *s = user;

    s->attendee = NULL;
    if (s->seat)
        wire_seat_leave(s->seat);
}

static struct moment hall_time(void *user)
{
    return now_of(user);
}

static void on_due(void *user)
{
    struct server *s = user;

    if (s->hall)
        arm(s);
}

static void on_note(void *user, struct str text)
{
    CLEANUP(buf_done) struct buf line;

    (void)user;
    buf_init(&line, text.len * 6 + 64);
    plain_put(&line, text, PLAIN_LINE);
    fprintf(stderr, "moot: " STR_FMT "\n", STR_ARG(buf_str(&line)));
}

/* --- the tools of the house, which the gateway has in every room --- */

static bool may_use(void *user, struct str, struct str tool)
{
    const struct server *s = user;
    const struct occupant *o = s->attendee ? s->attendee->occupant : NULL;
    struct house_rights rights;

    return o && occupant_is_welcome(o) && house_tool_rights(tool, &rights) &&
           (occupant_verdict(o, rights.first) == VERDICT_ALLOW ||
            occupant_verdict(o, rights.second) == VERDICT_ALLOW);
}

static void house_fail(struct house_call *call, struct str why)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, 8 * why.len + 256);
    json_write_init(&w, &out);
    json_raw(&w, S("{\"content\":[{\"type\":\"text\",\"text\":"));
    w.needs_comma = false;
    json_str(&w, why);
    buf_put(&out, S("}],\"isError\":true}"));
    house_answer(call, buf_str(&out));
}

static void on_house_done(void *user, const struct outcome *outcome)
{
    if (outcome->type == ASK_RESULT || outcome->type == ASK_TOOL_ERROR)
        house_answer(user, outcome->json.text);
    else
        house_fail(user, outcome->message.len ? outcome->message
                                              : S("The gateway did not answer."));
}

/* Who may use it was asked, so somebody is here. */
static void use(void *user, struct str, struct str tool, struct json_span arguments,
                struct house_call *call)
{
    struct server *s = user;

    if (occupant_request(s->attendee->occupant,
                         &(struct asking){ .to = S(SYSTEM_SENDER),
                                           .method = S("tools/call"),
                                           .name = tool,
                                           .arguments = arguments.text,
                                           .how = ASK_CALL,
                                           .timeout_ms = HOUSE_MS,
                                           .ops = { .on_done = on_house_done },
                                           .user = call },
                         now_of(s), NULL, NULL))
        house_fail(call, S("The gateway cannot be asked now."));
}

static const struct hall_ops hall_ops = {
    .open_seat = open_seat,
    .close_seat = close_seat,
    .now = hall_time,
    .on_due = on_due,
    .on_note = on_note,
    .may_use = may_use,
    .use = use,
};

static void open_hall(struct server *s)
{
    struct hall_settings settings = {
        .topic = str_of(s->order->session->topic),
        .name = S("moot"),
        .version = S(MOOT_VERSION),
        .has_room_tools = s->order->has_room_tools,
        .is_stdio = true,
        .hold_ms = HOLD_MS,
        .idle_ms = UINT32_MAX,
        .linger_ms = UINT32_MAX,
        .max_visits = 1,
        .max_wishes = CALLS,
        .max_message = WIRE_SEAT_MESSAGE,
        .max_depth = DEPTH,
    };

    crypto_random(settings.sealer.key, sizeof(settings.sealer.key));
    crypto_random(&settings.boot, sizeof(settings.boot));
    s->hall = hall_new(&settings, &hall_ops, s);
}

/* --- beginning and ending --- */

static void watch_signals(struct server *s)
{
    s->signals = (struct loop_fd){ .fd = session_catch_signals(NULL),
                                   .events = EPOLLIN,
                                   .on_ready = on_signal };
    (void)loop_fd_add(s->loop, &s->signals);
}

/* A file cannot be waited for: it is always there. */
static void open_streams(struct server *s)
{
    s->input = (struct loop_fd){ .fd = STDIN_FILENO,
                                 .events = EPOLLIN,
                                 .on_ready = on_readable };
    s->output = (struct loop_fd){ .fd = STDOUT_FILENO, .on_ready = on_writable };
    s->again.run = on_again;
    if (loop_fd_add(s->loop, &s->input)) {
        s->input.fd = -1;
        loop_defer(s->loop, &s->again);
    }
    if (loop_fd_add(s->loop, &s->output))
        s->output.fd = -1;
}

static void server_done(struct server *s)
{
    int fd = s->signals.fd;

    hall_free(s->hall);
    flush_all(s);
    wire_seat_free(s->seat);
    loop_timer_clear(s->loop, &s->timer);
    loop_timer_clear(s->loop, &s->grace);
    list_remove(&s->done.link);
    stop_reading(s);
    loop_fd_remove(s->loop, &s->output);
    loop_fd_remove(s->loop, &s->signals);
    fd_closep(&fd);
    loop_free(s->loop);
    buf_done(&s->line);
    buf_done(&s->written);
}

int mcp_stdio_run(const struct mcp_stdio *order)
{
    struct server s = { .order = order, .loop = loop_new() };

    buf_init(&s.line, WIRE_SEAT_MESSAGE);
    buf_init(&s.written, (size_t)2 * OUTPUT_BYTES + WIRE_SEAT_MESSAGE);
    list_init(&s.outlets);
    s.timer.on_fire = on_fire;
    s.grace.on_fire = on_grace;
    s.done.run = on_done;
    watch_signals(&s);
    open_hall(&s);
    open_streams(&s);
    loop_run(s.loop);
    server_done(&s);
    return s.code;
}
