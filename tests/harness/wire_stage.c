/* SPDX-License-Identifier: Apache-2.0 */
#include "wire_stage.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"
#include "ws/handshake.h"

/* --- the wire's side --- */

static void on_open(void *user, bool resumes)
{
    buf_put(&((struct stage *)user)->told, resumes ? S("open again\n") : S("open\n"));
}

static void on_text(void *user, struct str text)
{
    struct stage *s = user;

    s->texts++;
    if (!s->is_quiet)
        buf_putf(&s->told, "text " STR_FMT "\n", STR_ARG(text));
    if (!s->is_unmoved)
        wire_welcome(s->wire, 0);
    if (s->answers)
        CHECK_INT(wire_send(s->wire, str_of(s->answers)), OK);
    if (s->leaves_on_text)
        wire_close(s->wire);
}

static void on_fence(void *user, uint64_t number)
{
    buf_putf(&((struct stage *)user)->told, "fence %u\n", (unsigned)number);
}

static void on_broken(void *user, struct str why, bool is_over)
{
    buf_putf(&((struct stage *)user)->told, "%s: " STR_FMT "\n",
             is_over ? "over" : "broken", STR_ARG(why));
}

static struct str on_after(void *user)
{
    return str_of(((struct stage *)user)->after);
}

const struct wire_ops stage_ops = { on_open, on_text, on_fence, on_broken, on_after };

struct wire_settings stage_settings(struct str url)
{
    return (struct wire_settings){ .url = url,
                                   .topic = S("lobby"),
                                   .token = S("t0k"),
                                   .connect_timeout_ms = 10'000,
                                   .retry_min_ms = 100,
                                   .retry_max_ms = 1000,
                                   .silence_ms = 60'000,
                                   .message_bytes = MIB,
                                   .outbox_bytes = 4 * MIB };
}

static void step_moot(struct stage *s)
{
    struct pollfd poller = { .fd = moot_fd(s->moot), .events = moot_events(s->moot) };
    int timeout = moot_timeout(s->moot);

    (void)poll(&poller, 1, timeout >= 0 && timeout < 20 ? timeout : 20);
    s->is_stepping = true;
    (void)moot_step(s->moot);
    s->is_stepping = false;
}

/* Waits for what the wire waits for, but at most a moment; then steps. */
void stage_step(struct stage *s)
{
    struct pollfd poller = { .fd = -1 };

    if (s->moot) {
        step_moot(s);
        return;
    }
    poller = (struct pollfd){ .fd = wire_fd(s->wire), .events = wire_events(s->wire) };
    if (poller.fd >= 0)
        (void)poll(&poller, 1, wire_due_ms(s->wire) <= s->now_ms ? 0 : 20);
    wire_step(s->wire, s->now_ms);
}

void stage_widen(struct stage *s)
{
    static const int much = MIB;

    CHECK_INT(setsockopt(s->far, SOL_SOCKET, SO_SNDBUF, &much, sizeof(much)), 0);
    CHECK_INT(setsockopt(wire_fd(s->wire), SOL_SOCKET, SO_RCVBUF, &much, sizeof(much)),
              0);
}

void stage_await(const struct stage *s, int bytes)
{
    int there = 0;

    for (int i = 0; i < STAGE_STEPS && there < bytes; i++) {
        (void)poll(NULL, 0, 1);
        CHECK_INT(ioctl(wire_fd(s->wire), FIONREAD, &there), 0);
    }
}

/* What was told since the last time. */
struct str stage_told(struct stage *s)
{
    static char text[8192];
    size_t len = s->told.len < sizeof(text) ? s->told.len : sizeof(text);

    if (len)
        memcpy(text, s->told.ptr, len);
    buf_clear(&s->told);
    return (struct str){ text, len };
}

/* Steps until something is told. */
struct str stage_hear_wire(struct stage *s)
{
    for (int i = 0; i < STAGE_STEPS && !s->told.len; i++)
        stage_step(s);
    return stage_told(s);
}

/* Steps until so many texts have come since the beginning. */
struct str stage_hear_texts(struct stage *s, size_t count)
{
    for (int i = 0; i < STAGE_STEPS && s->texts < count; i++)
        stage_step(s);
    return stage_told(s);
}

/* --- the server's side --- */

/* Of what is under way: what the server does not read shall wait at the wire. */
static const int little = 65536;

void stage_listen(struct stage *s)
{
    struct sockaddr_in any = { .sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(any);

    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    CHECK_INT(setsockopt(s->listener, SOL_SOCKET, SO_RCVBUF, &little, sizeof(little)), 0);
    CHECK_INT(bind(s->listener, (struct sockaddr *)&any, sizeof(any)), 0);
    CHECK_INT(listen(s->listener, 8), 0);
    CHECK_INT(getsockname(s->listener, (struct sockaddr *)&any, &size), 0);
    s->port = ntohs(any.sin_port);
}

static ssize_t plain_read(struct stage *s, char *out, size_t size)
{
    return recv(s->far, out, size, MSG_DONTWAIT);
}

static ssize_t plain_write(struct stage *s, const char *bytes, size_t len)
{
    return send(s->far, bytes, len, MSG_NOSIGNAL);
}

void stage_init(struct stage *s)
{
    *s = (struct stage){ .listener = -1,
                         .far = -1,
                         .now_ms = 1'000'000,
                         .read = plain_read,
                         .write = plain_write };
    s->shared = (struct ws_shared){ .message_bytes = 8 * MIB, .fragments = 100 };
    buf_init(&s->told, 4 * MIB);
    buf_init(&s->heard, 64 * MIB);
}

void stage_wire(struct stage *s, const struct wire_settings *settings)
{
    char *why = NULL;

    CHECK_INT(wire_new(settings, &stage_ops, s, &s->wire, &why), OK);
    CHECK(why == NULL);
}

struct str stage_url(const struct stage *s)
{
    static char text[64];

    (void)snprintf(text, sizeof(text), "ws://127.0.0.1:%d", s->port);
    return str_of(text);
}

void far_hang_up(struct stage *s)
{
    if (s->far >= 0)
        (void)close(s->far);
    s->far = -1;
    ws_decoder_done(&s->decoder);
    buf_clear(&s->heard);
}

void stage_done(struct stage *s)
{
    wire_free(s->wire);
    moot_free(s->moot);
    far_hang_up(s);
    if (s->listener >= 0)
        (void)close(s->listener);
    buf_done(&s->told);
    buf_done(&s->heard);
}

void far_say(struct stage *s, struct str bytes)
{
    while (bytes.len) {
        ssize_t sent = s->write(s, bytes.ptr, bytes.len);

        if (sent > 0)
            bytes = str_slice(bytes, (size_t)sent, bytes.len);
        else
            stage_step(s);
    }
}

void far_say_frame(struct stage *s, enum ws_opcode op, struct str payload)
{
    struct buf frame;

    buf_init(&frame, 8 * MIB);
    ws_frame_write(&frame, op, payload);
    far_say(s, buf_str(&frame));
    buf_done(&frame);
}

void far_say_close(struct stage *s, uint16_t code, struct str reason)
{
    struct buf frame;

    buf_init(&frame, 200);
    ws_close_write(&frame, code, reason);
    far_say(s, buf_str(&frame));
    buf_done(&frame);
}

/* Reads what is there. */
void far_listen(struct stage *s)
{
    for (;;) {
        ssize_t got;

        if (buf_reserve(&s->heard, 65536))
            return;
        got = s->read(s, s->heard.ptr + s->heard.len, 65536);
        if (got <= 0)
            return;
        s->heard.len += (size_t)got;
    }
}

/* Steps until the server has heard `count` bytes. */
void far_hear_bytes(struct stage *s, size_t count)
{
    for (int i = 0; i < STAGE_STEPS && s->heard.len < count; i++) {
        stage_step(s);
        far_listen(s);
    }
}

/* Steps until the server has heard the request. */
struct str far_hear_request(struct stage *s)
{
    for (int i = 0; i < STAGE_STEPS; i++) {
        stage_step(s);
        if (s->far < 0)
            s->far = accept4(s->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (s->far >= 0)
            far_listen(s);
        if (s->heard.len && memmem(s->heard.ptr, s->heard.len, "\r\n\r\n", 4))
            break;
    }
    return buf_str(&s->heard);
}

void far_accept(struct stage *s, struct str behind)
{
    struct str request = far_hear_request(s);
    const char *key = memmem(request.ptr, request.len, "Sec-WebSocket-Key: ", 19);
    struct buf out;

    CHECK(key != NULL);
    if (!key)
        return;
    buf_init(&out, 8192);
    buf_put(&out, S("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                    "Connection: Upgrade\r\nSec-WebSocket-Accept: "));
    ws_accept_write(&out, (struct str){ key + 19, 24 });
    buf_put(&out, S("\r\n\r\n"));
    buf_put(&out, behind);
    far_say(s, buf_str(&out));
    buf_done(&out);
    buf_clear(&s->heard);
    ws_decoder_init(&s->decoder, WS_SERVER, &s->shared, false);
}

/* The next frames that the server hears, as lines: "text hello", "ping 8". */
struct str far_hear_frames(struct stage *s)
{
    static char text[4096];
    struct str bytes;
    size_t at = 0;

    far_hear_bytes(s, 1);
    bytes = buf_str(&s->heard);
    for (;;) {
        static const char *const names[] = {
            "more", "text", "ping", "pong", "close", "?"
        };
        struct ws_event ev = ws_decode(&s->decoder, &bytes);

        if (ev.type == WS_NEED_MORE)
            break;
        if (ev.is_masked)
            ws_unmask((char *)(uintptr_t)ev.body.ptr, ev.body.ptr, ev.body.len, ev.mask);
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s ", names[ev.type]);
        if (ev.type == WS_CLOSE)
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%u ", ev.code);
        for (size_t i = 0; i < ev.body.len && at < sizeof(text) - 8; i++)
            at += (size_t)snprintf(text + at, sizeof(text) - at,
                                   ev.body.ptr[i] < ' ' ? "%02x" : "%c", ev.body.ptr[i]);
        text[at++] = '\n';
    }
    buf_clear(&s->heard);
    return (struct str){ text, at };
}

/* A wire that is open and has been welcomed. */
void stage_open(struct stage *s, const struct wire_settings *changes)
{
    struct wire_settings settings;

    stage_init(s);
    stage_listen(s);
    settings = changes ? *changes : stage_settings(S(""));
    settings.url = stage_url(s);
    stage_wire(s, &settings);
    far_accept(s, S("\x81\x02hi"));
    CHECK_STR(stage_hear_wire(s), S("open\ntext hi\n"));
    CHECK_INT(
        setsockopt(wire_fd(s->wire), SOL_SOCKET, SO_SNDBUF, &little, sizeof(little)), 0);
}
