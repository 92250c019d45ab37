/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The WebSocket decoder. The first byte chooses role, extension and limits, the next two
 * a position; the stream fed whole, cut there, and byte by byte must give the same
 * events.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "ws/deflate.h"
#include "ws/ws.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { SETUP_BYTES = 3, MAX_EVENTS = 1 << 20 };
enum { BIT_CLIENT = 1, BIT_DEFLATE = 2, BIT_TEXT_ONLY = 4, BIT_SMALL = 8 };

static void write_event(struct buf *log, const struct ws_event *ev)
{
    buf_putf(log, "%d %d %d %zu:", (int)ev->type, (int)ev->is_binary, (int)ev->code,
             ev->body.len);
    buf_put(log, ev->body);
}

/* Finishes a message as a caller does. False: it is not UTF-8. */
static bool write_message(struct buf *log, struct ws_event ev)
{
    char *body = malloc(ev.body.len + 1);
    bool is_good;

    if (ev.body.len)
        memcpy(body, ev.body.ptr, ev.body.len);
    if (ev.is_masked)
        ws_unmask(body, body, ev.body.len, ev.mask);
    ev.body.ptr = body;
    is_good = ev.is_binary || utf8_is_valid(ev.body);
    if (!is_good && ev.is_checked)
        abort();
    if (!is_good)
        ev = (struct ws_event){ .type = WS_VIOLATION, .code = WS_CODE_UTF8 };
    write_event(log, &ev);
    free(body);
    return is_good;
}

static bool feed(struct ws_decoder *d, struct str piece, struct buf *log)
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
        if (ev.type == WS_VIOLATION && !ev.why)
            abort();
        if (ev.type == WS_MESSAGE) {
            goes_on = write_message(log, ev);
            continue;
        }
        write_event(log, &ev);
        goes_on = ev.type == WS_PING || ev.type == WS_PONG;
    }
    if (goes_on && bytes.len)
        abort();
    free(copy);
    return goes_on;
}

static void run(const struct ws_decoder *made, struct str bytes, size_t first,
                struct buf *log)
{
    struct ws_decoder d = *made;
    bool goes_on = feed(&d, str_slice(bytes, 0, first), log);
    size_t step = first ? bytes.len : 1;

    for (size_t at = first; goes_on && at < bytes.len; at += step)
        goes_on = feed(&d, str_slice(bytes, at, at + step), log);
    ws_decoder_done(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct ws_inflater *inflater;
    struct ws_shared shared = { .message_bytes = 4096, .fragments = 20 };
    struct buf whole, other;
    struct ws_decoder d;
    struct str stream;
    size_t cut;

    if (size < SETUP_BYTES || size > 20000)
        return 0;
    if (!inflater)
        inflater = ws_inflater_new();
    if (bytes[0] & BIT_SMALL)
        shared = (struct ws_shared){ .message_bytes = 16, .fragments = 2 };
    shared.refuses_binary = bytes[0] & BIT_TEXT_ONLY;
    shared.inflater = inflater;
    ws_decoder_init(&d, bytes[0] & BIT_CLIENT ? WS_CLIENT : WS_SERVER, &shared,
                    bytes[0] & BIT_DEFLATE);
    stream = (struct str){ (const char *)bytes + SETUP_BYTES, size - SETUP_BYTES };
    cut = stream.len ? (size_t)(bytes[1] << 8 | bytes[2]) % stream.len : 0;
    buf_init(&whole, MAX_EVENTS);
    buf_init(&other, MAX_EVENTS);
    run(&d, stream, stream.len, &whole);
    run(&d, stream, cut, &other);
    if (!str_eq(buf_str(&whole), buf_str(&other)))
        abort();
    buf_clear(&other);
    run(&d, stream, 0, &other);
    if (!str_eq(buf_str(&whole), buf_str(&other)))
        abort();
    buf_done(&whole);
    buf_done(&other);
    return 0;
}
