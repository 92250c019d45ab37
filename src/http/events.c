/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WHATWG HTML 9.2.6, but for two points: an event that has an id and no data is told,
 * because MCP opens its streams with one; and an id counts only when its event is
 * complete, because a stream is resumed behind the last event that was heard.
 */
#include "http/events.h"

#include "base/cleanup.h"

enum { FIELD_NAME = 64, RESTING_BYTES = 16 * 1024 };

void events_init(struct events *events, size_t max)
{
    *events = (struct events){ .retry_ms = UINT64_MAX };
    buf_init(&events->line, max + FIELD_NAME);
    buf_init(&events->data, max);
    buf_init(&events->type, EVENTS_MAX_ID);
    buf_init(&events->next_id, EVENTS_MAX_ID);
    buf_init(&events->id, EVENTS_MAX_ID);
}

void events_done(struct events *events)
{
    buf_done(&events->line);
    buf_done(&events->data);
    buf_done(&events->type);
    buf_done(&events->next_id);
    buf_done(&events->id);
}

/* Streams are silent for hours: what a large event needed is given back. */
static void empty(struct buf *buf)
{
    buf_clear(buf);
    if (buf->size > RESTING_BYTES)
        buf_done(buf);
}

static void begin_event(struct events *events)
{
    empty(&events->data);
    buf_clear(&events->type);
    buf_clear(&events->next_id);
    events->has_data = false;
    events->has_id = false;
    events->is_told = false;
}

/* --- lines: they end with CR LF, LF or CR --- */

static size_t find_line_end(struct str bytes)
{
    size_t at = 0;

    while (at < bytes.len && bytes.ptr[at] != '\n' && bytes.ptr[at] != '\r')
        at++;
    return at;
}

static void skip_lf(struct events *events, struct str *bytes)
{
    if (!events->skips_lf || bytes->len == 0)
        return;
    events->skips_lf = false;
    if (bytes->ptr[0] == '\n')
        *bytes = str_slice(*bytes, 1, bytes->len);
}

/* The line lies in the bytes, or in events->line where it came in pieces. */
static bool take_line(struct events *events, struct str *bytes, struct str *ret)
{
    size_t end;

    skip_lf(events, bytes);
    end = find_line_end(*bytes);
    *ret = str_slice(*bytes, 0, end);
    if (events->line.len > 0 || end == bytes->len) {
        buf_put(&events->line, *ret);
        *ret = buf_str(&events->line);
    }
    events->has_failed = events->line.is_full || ret->len > events->line.max;
    if (end == bytes->len) {
        *bytes = str_slice(*bytes, end, end);
        return false;
    }
    events->skips_lf = bytes->ptr[end] == '\r';
    *bytes = str_slice(*bytes, end + 1, bytes->len);
    return !events->has_failed;
}

/* --- fields --- */

static void take_data(struct events *events, struct str value)
{
    if (events->has_data)
        buf_putc(&events->data, '\n');
    events->has_data = true;
    buf_put(&events->data, value);
}

static void take_type(struct events *events, struct str value)
{
    buf_clear(&events->type);
    buf_put(&events->type, value);
}

static void take_id(struct events *events, struct str value)
{
    if (str_find(value, '\0', 0) < value.len)
        return;
    buf_clear(&events->next_id);
    buf_put(&events->next_id, value);
    events->has_id = true;
}

static void take_retry(struct events *events, struct str value)
{
    uint64_t retry_ms;

    if (!str_to_u64(value, UINT64_MAX - 1, &retry_ms))
        events->retry_ms = retry_ms;
}

static const struct {
    struct str name;
    void (*take)(struct events *events, struct str value);
} fields[] = {
    { S("data"), take_data },
    { S("event"), take_type },
    { S("id"), take_id },
    { S("retry"), take_retry },
};

/* Comments are fields without a name, which nobody takes. */
static void take_field(struct events *events, struct str line)
{
    size_t colon = str_find(line, ':', 0);
    struct str name = str_slice(line, 0, colon);
    struct str value = str_slice(line, colon + 1, line.len);

    if (str_starts(value, S(" ")))
        value = str_slice(value, 1, value.len);
    for (size_t i = 0; i < COUNT(fields); i++)
        if (str_eq(name, fields[i].name))
            fields[i].take(events, value);
    events->has_failed =
        events->data.is_full || events->type.is_full || events->next_id.is_full;
}

/* --- events --- */

static bool end_event(struct events *events, struct event *ret)
{
    events->is_told = events->has_data || events->has_id;
    if (!events->is_told) {
        begin_event(events);
        return false;
    }
    if (events->has_id) {
        buf_clear(&events->id);
        buf_put(&events->id, buf_str(&events->next_id));
    }
    *ret = (struct event){ .type = buf_str(&events->type),
                           .data = buf_str(&events->data),
                           .id = buf_str(&events->id) };
    if (ret->type.len == 0)
        ret->type = S("message");
    return true;
}

static struct str without_mark(struct events *events, struct str line)
{
    bool is_first = !events->has_begun;

    events->has_begun = true;
    if (is_first && str_starts(line, S("\xEF\xBB\xBF")))
        return str_slice(line, 3, line.len);
    return line;
}

bool events_next(struct events *events, struct str *bytes, struct event *ret)
{
    struct str line;

    if (events->is_told)
        begin_event(events);
    while (!events->has_failed && take_line(events, bytes, &line)) {
        line = without_mark(events, line);
        if (line.len > 0)
            take_field(events, line);
        else if (end_event(events, ret))
            return true;
        empty(&events->line);
    }
    return false;
}
