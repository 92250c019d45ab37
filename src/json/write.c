/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "json/json.h"
#include "json/json_priv.h"

void json_write_init(struct json_writer *w, struct buf *out)
{
    *w = (struct json_writer){ .out = out };
}

/* Every value, name and bracket that opens begins here. */
static void separate(struct json_writer *w)
{
    if (w->needs_comma)
        buf_putc(w->out, ',');
    w->needs_comma = true;
}

static void open_with(struct json_writer *w, char bracket)
{
    separate(w);
    buf_putc(w->out, bracket);
    w->needs_comma = false;
}

static void close_with(struct json_writer *w, char bracket)
{
    buf_putc(w->out, bracket);
    w->needs_comma = true;
}

void json_object_open(struct json_writer *w)
{
    open_with(w, '{');
}

void json_object_close(struct json_writer *w)
{
    close_with(w, '}');
}

void json_array_open(struct json_writer *w)
{
    open_with(w, '[');
}

void json_array_close(struct json_writer *w)
{
    close_with(w, ']');
}

static void put_escape(struct buf *out, char c)
{
    switch (c) {
    case '"': buf_put(out, S("\\\"")); break;
    case '\\': buf_put(out, S("\\\\")); break;
    case '\b': buf_put(out, S("\\b")); break;
    case '\f': buf_put(out, S("\\f")); break;
    case '\n': buf_put(out, S("\\n")); break;
    case '\r': buf_put(out, S("\\r")); break;
    case '\t': buf_put(out, S("\\t")); break;
    default: buf_putf(out, "\\u%04x", (unsigned)(unsigned char)c); break;
    }
}

/* Writes the character that is not plain at the beginning and returns its length. */
static size_t put_special(struct buf *out, struct str rest)
{
    uint32_t code_point;
    size_t len;

    if ((unsigned char)rest.ptr[0] < 0x80) {
        put_escape(out, rest.ptr[0]);
        return 1;
    }
    len = utf8_read(rest, &code_point);
    if (len == 0) {
        buf_put(out, S("\xef\xbf\xbd"));
        return 1;
    }
    buf_put(out, str_slice(rest, 0, len));
    return len;
}

/* As it is, which most are; false: something in it is escaped, or there is no room. */
static bool put_plain(struct buf *out, struct str value)
{
    char *at;

    if (!json_is_plain(value.ptr, value.len) || buf_reserve(out, value.len + 2))
        return false;
    at = out->ptr + out->len;
    *at = '"';
    memcpy(at + 1, value.ptr, value.len);
    at[value.len + 1] = '"';
    out->len += value.len + 2;
    return true;
}

static void put_string(struct buf *out, struct str value)
{
    if (value.len && put_plain(out, value))
        return;
    buf_putc(out, '"');
    while (value.len) {
        const char *end = value.ptr + value.len;
        size_t plain = (size_t)(json_skip(value.ptr, end, JSON_PLAIN) - value.ptr);

        if (plain)
            buf_put(out, str_slice(value, 0, plain));
        value = str_slice(value, plain, value.len);
        if (value.len)
            value = str_slice(value, put_special(out, value), value.len);
    }
    buf_putc(out, '"');
}

void json_key(struct json_writer *w, struct str key)
{
    separate(w);
    put_string(w->out, key);
    buf_putc(w->out, ':');
    w->needs_comma = false;
}

void json_str(struct json_writer *w, struct str value)
{
    separate(w);
    put_string(w->out, value);
}

void json_uint(struct json_writer *w, uint64_t value)
{
    separate(w);
    buf_putu(w->out, value);
}

void json_raw(struct json_writer *w, struct str value)
{
    separate(w);
    buf_put(w->out, value);
}

void json_span(struct json_writer *w, struct json_span value)
{
    struct str raw = value.text;

    if (value.type == JSON_STRING)
        raw = (struct str){ raw.ptr - 1, raw.len + 2 };
    json_raw(w, raw);
}

static bool is_among(struct json_span key, struct str_list names)
{
    for (size_t i = 0; i < names.count; i++)
        if (json_string_is(key, names.items[i]))
            return true;
    return false;
}

void json_put_members(struct json_writer *w, struct str object, struct str_list without)
{
    struct json_scan scan;
    struct json_member m;
    enum err err;

    json_scan_init(&scan, object, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err)) {
        if (is_among(m.key, without))
            continue;
        json_span(w, m.key);
        buf_putc(w->out, ':');
        w->needs_comma = false;
        json_span(w, m.value);
    }
}

void json_bool(struct json_writer *w, bool value)
{
    json_raw(w, value ? S("true") : S("false"));
}

void json_null(struct json_writer *w)
{
    json_raw(w, S("null"));
}

void json_put_str(struct json_writer *w, struct str key, struct str value)
{
    json_key(w, key);
    json_str(w, value);
}

void json_put_uint(struct json_writer *w, struct str key, uint64_t value)
{
    json_key(w, key);
    json_uint(w, value);
}

void json_put_bool(struct json_writer *w, struct str key, bool value)
{
    json_key(w, key);
    json_bool(w, value);
}

void json_put_strs(struct json_writer *w, struct str key, struct str_list values)
{
    json_key(w, key);
    json_array_open(w);
    for (size_t i = 0; i < values.count; i++)
        json_str(w, values.items[i]);
    json_array_close(w);
}

void json_put_time(struct json_writer *w, struct str key, uint64_t wall_ms)
{
    char text[CLOCK_TEXT];

    json_put_str(w, key, clock_write(wall_ms, text));
}

void json_put_given(struct json_writer *w, struct str key, struct str value)
{
    if (value.len)
        json_put_str(w, key, value);
}

void json_put_given_time(struct json_writer *w, struct str key, uint64_t wall_ms)
{
    if (wall_ms)
        json_put_time(w, key, wall_ms);
}
