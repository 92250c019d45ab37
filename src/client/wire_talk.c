/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames. A step reads what is there, hands it out, and writes what has collected with
 * one call. Nothing is held while nothing happens: what is read into is allocated for the
 * step, and only a frame that was cut is kept, by the decoder.
 */
#include <endian.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "client/foreign.h"
#include "client/wire_priv.h"
#include "crypto/crypto.h"

enum {
    READ_BYTES = 64 * 1024,
    READS = 4,               /* of a step: others want their turn */
    FLUSH_BYTES = 64 * 1024, /* so much is not kept for the next step */
    KEEP_BYTES = 4096,       /* of an outbox that is empty */
    CONTROL_BYTES = 2048,    /* how far control frames may exceed the outbox */
    CLOSE_MS = 2000,         /* in which nothing moves */
    CLOSE_ALL_MS = 30'000,
};

static const struct ending lost = { .type = ENDING_LOST };

/* --- writing --- */

static size_t waiting(const struct wire *w)
{
    return w->out.len - w->sent;
}

bool wire_has_output(const struct wire *w)
{
    return waiting(w) > 0 || (w->state == WIRE_OPEN && w->fence_wanted > w->fence_sent);
}

void wire_drop_output(struct wire *w)
{
    if (w->out.ptr)
        crypto_wipe(w->out.ptr, w->out.len); /* a request holds the token */
    buf_done(&w->out);
    w->sent = 0;
}

static void put_frame(struct wire *w, enum ws_opcode op, struct str payload)
{
    if (w->sent && w->out.len + payload.len + WS_MAX_HEAD > w->out.size) {
        buf_drop(&w->out, w->sent);
        w->sent = 0;
    }
    ws_frame_write_masked(&w->out, op, payload, (uint32_t)wire_random(w));
}

/* Nothing follows our close frame. A peer that floods us with pings and does not read
 * gets no answer to some of them. */
static bool put_control(struct wire *w, enum ws_opcode op, struct str payload)
{
    if (w->state != WIRE_OPEN || waiting(w) > w->outbox_bytes + CONTROL_BYTES)
        return false;
    put_frame(w, op, payload);
    return true;
}

static void put_close(struct wire *w, uint16_t code, struct str reason)
{
    struct buf frame;

    buf_init(&frame, WS_MAX_HEAD + WS_MAX_CONTROL);
    ws_close_write(&frame, code, reason);
    put_frame(w, WS_OP_CLOSE, str_slice(buf_str(&frame), 2, frame.len));
    buf_done(&frame);
}

/* Fences that follow each other closely are one: the last one speaks for all. */
static void put_fence(struct wire *w)
{
    uint64_t number = htobe64(w->fence_wanted);

    if (w->fence_wanted > w->fence_sent &&
        put_control(w, WS_OP_PING, (struct str){ (const char *)&number, sizeof(number) }))
        w->fence_sent = w->fence_wanted;
}

void wire_close_begin(struct wire *w)
{
    put_fence(w);
    put_close(w, WS_CODE_NORMAL, S(""));
    w->state = WIRE_CLOSING;
    w->end_ms = 0; /* the next step knows the time */
}

enum err wire_flush(struct wire *w)
{
    while (waiting(w)) {
        size_t len;
        enum err err = channel_write(
            &w->channel, str_slice(buf_str(&w->out), w->sent, w->out.len), &len);

        if (err)
            return err;
        w->sent += len;
    }
    if (w->state == WIRE_UPGRADING || w->out.size > KEEP_BYTES)
        wire_drop_output(w);
    buf_clear(&w->out);
    w->sent = 0;
    return OK;
}

enum err wire_send(struct wire *wire, struct str text)
{
    if (wire->state != WIRE_OPEN)
        return ERR_AGAIN;
    if (text.len > wire->outbox_bytes || waiting(wire) > wire->outbox_bytes - text.len)
        return ERR_TOO_BIG;
    put_frame(wire, WS_OP_TEXT, text);
    if (waiting(wire) >= FLUSH_BYTES)
        (void)wire_flush(wire); /* a failure is met again by the next step */
    return OK;
}

void wire_fence(struct wire *wire, uint64_t number)
{
    if (wire->state == WIRE_OPEN)
        wire->fence_wanted = number;
}

/* --- hearing --- */

void wire_lose(struct wire *w, enum err err)
{
    char text[256];

    buf_clear(&w->why);
    wire_say(w, "the connection was lost");
    if (err == ERR_IO)
        wire_say(w, ": %s", channel_why(&w->channel, text, sizeof(text)));
    wire_break(w, lost);
}

/* Our last word, as far as the socket takes it at once. */
static void say_goodbye(struct wire *w, uint16_t code, struct str reason)
{
    if (w->state == WIRE_OPEN) /* else it was said */
        put_close(w, code, reason);
    (void)wire_flush(w);
}

static void on_violation(struct wire *w, uint16_t code, const char *what)
{
    say_goodbye(w, code, str_of(what));
    buf_clear(&w->why);
    wire_say(w, "the server broke the protocol: %s", what);
    wire_break(w, lost);
}

static void on_peer_close(struct wire *w, const struct ws_event *ev)
{
    say_goodbye(w, ev->code, S(""));
    buf_clear(&w->why);
    if (w->state == WIRE_CLOSING)
        wire_say(w, "left");
    else
        wire_say(w, "the server closed the connection with %u", ev->code);
    if (w->state != WIRE_CLOSING && ev->body.len) {
        wire_say(w, ": ");
        foreign_put(&w->why, ev->body);
    }
    wire_break(w, (struct ending){ .type = ENDING_CLOSED, .number = ev->code });
}

static bool on_message(struct wire *w, const struct ws_event *ev)
{
    if (!ev->is_checked && !utf8_is_valid(ev->body)) {
        on_violation(w, WS_CODE_UTF8, "text is not UTF-8");
        return false;
    }
    w->ops.on_text(w->user, ev->body);
    return true;
}

/* Only numbers that were sent, each once. */
static void on_pong(struct wire *w, struct str body)
{
    uint64_t number;

    if (body.len != sizeof(number))
        return;
    memcpy(&number, body.ptr, sizeof(number));
    number = be64toh(number);
    if (number <= w->fence_heard || number > w->fence_sent)
        return;
    w->fence_heard = number;
    w->ops.on_fence(w->user, number);
}

/* False: it has ended. */
static bool on_event(struct wire *w, const struct ws_event *ev)
{
    switch (ev->type) {
    case WS_NEED_MORE: return true;
    case WS_MESSAGE: return on_message(w, ev);
    case WS_PING: (void)put_control(w, WS_OP_PONG, ev->body); return true;
    case WS_PONG: on_pong(w, ev->body); return true;
    case WS_CLOSE: on_peer_close(w, ev); return false;
    case WS_VIOLATION: on_violation(w, ev->code, ev->why); return false;
    }
    return false;
}

bool wire_hear(struct wire *w, struct str bytes)
{
    struct ws_event ev;

    if (bytes.len == 0)
        return true;
    w->heard_ms = w->now_ms;
    w->has_asked = false;
    do {
        ev = ws_decode(&w->decoder, &bytes);
        if (!on_event(w, &ev))
            return false;
    } while (ev.type != WS_NEED_MORE);
    return true;
}

/* False: it has ended. */
static bool receive(struct wire *w)
{
    CLEANUP(xfreep) char *bytes = xmalloc(READ_BYTES);

    for (int i = 0; i < READS; i++) {
        size_t len;
        enum err err = channel_read(&w->channel, bytes, READ_BYTES, &len);

        if (err == ERR_AGAIN)
            return true;
        if (err) {
            wire_lose(w, err);
            return false;
        }
        if (!wire_hear(w, (struct str){ bytes, len }))
            return false;
        if (len < READ_BYTES)
            return true;
    }
    w->is_pressed = true;
    return true;
}

/* --- time --- */

static uint64_t patience_ms(const struct wire *w)
{
    return w->silence_ms / 2;
}

/* What is heard counts before the clock does: this may come late. */
static bool listen_to_silence(struct wire *w)
{
    if (!w->silence_ms || w->state != WIRE_OPEN)
        return true;
    if (w->has_asked && w->now_ms - w->asked_ms >= patience_ms(w)) {
        buf_clear(&w->why);
        wire_say(w, "nothing was heard for %u ms", w->silence_ms);
        wire_break(w, lost);
        return false;
    }
    if (!w->has_asked && w->now_ms - w->heard_ms >= patience_ms(w)) {
        /* Where there is no room for it, what waits asks as well. */
        (void)put_control(w, WS_OP_PING, S(""));
        w->has_asked = true;
        w->asked_ms = w->now_ms;
    }
    return true;
}

/* False: it has ended. */
static bool watch_clock(struct wire *w)
{
    bool is_late = w->state == WIRE_CLOSING || !w->is_welcome;

    if (w->state == WIRE_CLOSING && !w->end_ms) {
        w->end_ms = w->now_ms + CLOSE_ALL_MS;
        w->due_ms = w->now_ms + CLOSE_MS;
    }
    if (!is_late || w->now_ms < w->due_ms)
        return listen_to_silence(w);
    buf_clear(&w->why);
    wire_say(w, w->state == WIRE_CLOSING ? "left without an answer"
                                         : "no welcome came in time");
    wire_break(w, lost);
    return false;
}

uint64_t wire_talk_due_ms(const struct wire *w)
{
    uint64_t due = w->is_welcome ? UINT64_MAX : w->due_ms;
    uint64_t silence = (w->has_asked ? w->asked_ms : w->heard_ms) + patience_ms(w);

    if (w->state == WIRE_CLOSING)
        return w->end_ms ? w->due_ms : 0;
    return w->silence_ms && silence < due ? silence : due;
}

void wire_talk_begin(struct wire *w, bool resumes)
{
    ws_decoder_init(&w->decoder, WS_CLIENT, &w->shared, false);
    w->state = WIRE_OPEN;
    w->is_welcome = false;
    w->has_asked = false;
    w->heard_ms = w->now_ms;
    w->fence_wanted = w->fence_sent = w->fence_heard = 0;
    w->ops.on_open(w->user, resumes);
}

void wire_talk_step(struct wire *w)
{
    size_t before;
    enum err err;

    if (!receive(w) || !watch_clock(w))
        return;
    put_fence(w);
    before = waiting(w);
    err = wire_flush(w);
    if (err && err != ERR_AGAIN)
        wire_lose(w, err);
    else if (w->state == WIRE_CLOSING && waiting(w) < before)
        w->due_ms = w->now_ms + CLOSE_MS < w->end_ms ? w->now_ms + CLOSE_MS : w->end_ms;
}
