/* SPDX-License-Identifier: Apache-2.0 */ // lint: a table
/*
 * Vectors for the WebSocket decoder. A vector is a list of frames and the events they
 * must give, written as text:
 *
 *     text:Hello | ping:x | close:1000:bye
 *
 * Every vector is fed whole, byte by byte, and split at every position. Each piece stands
 * in memory of exactly its size, so that the sanitizers see a step too far.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "harness.h"
#include "ws/ws.h"

enum { VECTOR_FRAMES = 12, VECTOR_SHOWN = 64, VECTOR_SPLITS = 600 };

struct vector_frame {
    uint8_t first; /* FIN, RSV1 to 3 and the opcode; 0 with a raw frame */
    struct str payload;
    bool is_raw; /* the payload stands for itself, head and all */
};

#define FRAME(first, text)                            \
    {                                                 \
        (first), { "" text, sizeof(text) - 1 }, false \
    }
#define RAW(text)                              \
    {                                          \
        0, { "" text, sizeof(text) - 1 }, true \
    }

struct vector {
    const char *name;
    struct vector_frame frames[VECTOR_FRAMES];
    const char *events;
};

struct vector_setup {
    enum ws_role role;
    struct ws_shared shared;
};

static const struct vector_setup vector_server = {
    .role = WS_SERVER,
    .shared = { .message_bytes = 16 << 20, .fragments = 100000 },
};

static const uint32_t vector_mask = 0x3d21fa37;

[[maybe_unused]] static void vector_put(struct buf *out, uint8_t first,
                                        struct str payload)
{
    size_t at = out->len;

    ws_frame_write_masked(out, WS_OP_TEXT, payload, vector_mask);
    out->ptr[at] = (char)first;
}

[[maybe_unused]] static void vector_bytes(struct buf *out, const struct vector *v)
{
    for (size_t i = 0; i < VECTOR_FRAMES && v->frames[i].payload.ptr; i++) {
        if (v->frames[i].is_raw)
            buf_put(out, v->frames[i].payload);
        else
            vector_put(out, v->frames[i].first, v->frames[i].payload);
    }
}

static void vector_show(struct buf *out, struct str body)
{
    uint32_t hash = 2166136261;

    for (size_t i = 0; i < body.len; i++)
        hash = (hash ^ (uint8_t)body.ptr[i]) * 16777619;
    if (body.len > VECTOR_SHOWN) {
        buf_putf(out, "%zu#%08x", body.len, hash);
        return;
    }
    for (size_t i = 0; i < body.len; i++) {
        if (body.ptr[i] >= ' ' && body.ptr[i] < 0x7f)
            buf_putc(out, body.ptr[i]);
        else
            buf_putf(out, "\\x%02x", (uint8_t)body.ptr[i]);
    }
}

/* Does with a message what a caller does. False: the connection ends. */
static bool vector_message(struct buf *out, const struct ws_event *ev)
{
    char *body = malloc(ev->body.len + 1);
    struct str text = { body, ev->body.len };
    bool is_good;

    if (ev->body.len)
        memcpy(body, ev->body.ptr, ev->body.len);
    if (ev->is_masked)
        ws_unmask(body, body, ev->body.len, ev->mask);
    is_good = ev->is_binary || utf8_is_valid(text);
    CHECK(is_good || !ev->is_checked);
    if (is_good) {
        buf_put(out, str_of(ev->is_binary ? "binary:" : "text:"));
        vector_show(out, text);
    } else {
        buf_put(out, S("fail:1007"));
    }
    free(body);
    return is_good;
}

static bool vector_event(struct buf *out, const struct ws_event *ev)
{
    if (out->len)
        buf_put(out, S(" | "));
    switch (ev->type) {
    case WS_NEED_MORE: return true;
    case WS_MESSAGE: return vector_message(out, ev);
    case WS_PING:
    case WS_PONG:
        buf_put(out, str_of(ev->type == WS_PING ? "ping:" : "pong:"));
        vector_show(out, ev->body);
        return true;
    case WS_CLOSE:
        buf_putf(out, "close:%d:", ev->code);
        vector_show(out, ev->body);
        return false;
    case WS_VIOLATION:
        CHECK(ev->why != NULL && *ev->why);
        buf_putf(out, "fail:%d", ev->code);
        return false;
    }
    return false;
}

/* Feeds one piece. False: the connection has ended. */
[[maybe_unused]] static bool vector_feed(struct ws_decoder *d, struct str piece,
                                         struct buf *out)
{
    char *copy = malloc(piece.len ? piece.len : 1);
    struct str bytes = { copy, piece.len };
    bool goes_on = true;

    if (piece.len)
        memcpy(copy, piece.ptr, piece.len);
    while (goes_on) {
        struct ws_event ev = ws_decode(d, &bytes);

        if (ev.type == WS_NEED_MORE)
            break;
        goes_on = vector_event(out, &ev);
    }
    if (goes_on)
        CHECK_INT(bytes.len, 0);
    free(copy);
    return goes_on;
}

/* Feeds the bytes as `first` bytes, then in steps of `step`. */
[[maybe_unused]] static void vector_run(const struct vector_setup *setup,
                                        struct str bytes, size_t first, size_t step,
                                        struct buf *out)
{
    struct ws_decoder d;
    size_t at = first;
    bool goes_on;

    buf_clear(out);
    ws_decoder_init(&d, setup->role, &setup->shared, setup->shared.inflater);
    goes_on = vector_feed(&d, str_slice(bytes, 0, first), out);
    for (; goes_on && at < bytes.len; at += step)
        goes_on = vector_feed(&d, str_slice(bytes, at, at + step), out);
    ws_decoder_done(&d);
}

[[maybe_unused]] static void vector_check_bytes(const struct vector_setup *setup,
                                                struct str bytes, struct str events)
{
    size_t stride = bytes.len / VECTOR_SPLITS + 1;
    struct buf out;

    buf_init(&out, 1 << 20);
    vector_run(setup, bytes, bytes.len, 1, &out);
    CHECK_STR(buf_str(&out), events);
    vector_run(setup, bytes, 0, 1, &out);
    CHECK_STR(buf_str(&out), events);
    for (size_t at = 0; at < bytes.len; at += stride) {
        vector_run(setup, bytes, at, bytes.len, &out);
        CHECK_STR(buf_str(&out), events);
    }
    buf_done(&out);
}

[[maybe_unused]] static void vector_check(const struct vector_setup *setup,
                                          const struct vector *v)
{
    struct buf bytes;

    buf_init(&bytes, 1 << 26);
    vector_bytes(&bytes, v);
    vector_check_bytes(setup, buf_str(&bytes), str_of(v->events));
    buf_done(&bytes);
}
