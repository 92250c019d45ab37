/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of event streams. However a stream is cut, its events are the same; and what
 * it says, written again as a stream, is read back.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "http/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

enum { MAX = 1000, TOLD_MAX = 1 << 20 };

struct outcome {
    bool has_failed;
    uint64_t retry_ms;
    struct buf told; /* the events, written again as a stream */
};

static void put_field(struct buf *out, struct str name, struct str value)
{
    buf_put(out, name);
    buf_put(out, S(": "));
    buf_put(out, value);
    buf_putc(out, '\n');
}

static void put_event(struct buf *out, const struct event *event)
{
    struct str rest = event->data;

    must(event->data.len <= MAX && event->id.len <= EVENTS_MAX_ID && event->type.len > 0);
    put_field(out, S("event"), event->type);
    put_field(out, S("id"), event->id);
    do
        put_field(out, S("data"), str_cut(&rest, '\n'));
    while (rest.ptr);
    buf_putc(out, '\n');
}

static void feed(struct events *events, struct str bytes, struct outcome *outcome)
{
    const char *end = bytes.ptr + bytes.len;
    struct event event;

    while (events_next(events, &bytes, &event)) {
        must(bytes.ptr + bytes.len == end);
        put_event(&outcome->told, &event);
    }
    must(events->has_failed || bytes.len == 0);
}

/* Feeds pieces of `step` bytes, each in memory of its own size. */
static struct outcome read_stream(struct str bytes, size_t step)
{
    struct outcome outcome = {};
    struct events events;

    buf_init(&outcome.told, TOLD_MAX);
    events_init(&events, MAX);
    for (size_t at = 0; at < bytes.len; at += step) {
        struct str piece = str_slice(bytes, at, at + step);
        char *copy = malloc(piece.len);

        must(copy);
        memcpy(copy, piece.ptr, piece.len);
        feed(&events, (struct str){ copy, piece.len }, &outcome);
        free(copy);
    }
    outcome.has_failed = events.has_failed;
    outcome.retry_ms = events.retry_ms;
    events_done(&events);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str stream = { (const char *)bytes, size };
    struct outcome whole, again;

    if (size == 0 || size > 4096)
        return 0;
    whole = read_stream(stream, size);
    for (size_t step = 1; step < size; step += 1 + size / 16) {
        struct outcome cut = read_stream(stream, step);

        must(cut.has_failed == whole.has_failed && cut.retry_ms == whole.retry_ms);
        must(str_eq(buf_str(&cut.told), buf_str(&whole.told)));
        buf_done(&cut.told);
    }
    if (whole.told.len > 0) {
        again = read_stream(buf_str(&whole.told), whole.told.len);
        must(!again.has_failed);
        must(str_eq(buf_str(&again.told), buf_str(&whole.told)));
        buf_done(&again.told);
    }
    buf_done(&whole.told);
    return 0;
}
