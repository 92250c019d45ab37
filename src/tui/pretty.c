/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/pretty.h"

#include <stdint.h>
#include <wchar.h>

#include "base/arena.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "json/json.h"

enum { DEPTH = 128, INDENT = 2, INDENT_MAX = 40, STRING_BYTES = 8 << 20 };

/* A walk over a text that was scanned: every token stands where it may. */
struct walk {
    struct buf *out;
    struct str rest;
    enum pretty how;
    size_t depth;
};

static void indent(struct walk *w, size_t more)
{
    size_t columns = INDENT * w->depth + more;

    if (w->how == PRETTY_LINE)
        return;
    buf_putc(w->out, '\n');
    for (size_t i = 0; i < columns && i < INDENT_MAX; i++)
        buf_putc(w->out, ' ');
}

/* The length of the string that the text begins with, quotes included. */
static size_t string_length(struct str text)
{
    size_t at = 1;

    while (text.ptr[at] != '"')
        at += text.ptr[at] == '\\' ? 2 : 1;
    return at + 1;
}

static void put_escaped(struct buf *out, uint32_t code_point)
{
    if (code_point < 0x10000)
        buf_putf(out, "\\u%04x", code_point);
    else
        buf_putf(out, "\\u%04x\\u%04x", 0xd800 + ((code_point - 0x10000) >> 10),
                 0xdc00 + ((code_point - 0x10000) & 0x3ff));
}

/* One character or escape of a string, which is valid; returns its length. What the
 * locale has no sign for is escaped, so that two texts never look the same. */
static size_t put_character(struct walk *w, struct str rest)
{
    uint32_t code_point = 0;
    size_t len = rest.ptr[0] == '\\' ? 2 : utf8_read(rest, &code_point);

    if (code_point >= 0x80 && w->how != PRETTY_LINES && wcwidth((wchar_t)code_point) < 0)
        put_escaped(w->out, code_point);
    else
        buf_put(w->out, str_slice(rest, 0, len));
    return len;
}

/* Behind each \n a new line begins, one column deeper than the quote would. */
static void put_text(struct walk *w, struct str string)
{
    while (string.len > 0) {
        bool is_break = str_starts(string, S("\\n")) && w->how == PRETTY_SHOWN;
        size_t len = put_character(w, string);

        string = str_slice(string, len, string.len);
        if (is_break && string.len > 1)
            indent(w, INDENT + 1);
    }
}

static void put_string(struct walk *w)
{
    size_t len = string_length(w->rest);
    struct json_span span = { JSON_STRING, true, str_slice(w->rest, 1, len - 1) };
    struct json_writer writer;
    struct buf escaped, shown;
    struct arena arena;
    struct str value;

    arena_init(&arena, STRING_BYTES);
    buf_init(&escaped, STRING_BYTES);
    buf_init(&shown, STRING_BYTES);
    if (json_unescape(span, &arena, &value) == OK) {
        json_write_init(&writer, &escaped);
        json_str(&writer, value);
        plain_put(&shown, buf_str(&escaped), PLAIN_JSON);
    }
    if (shown.len == 0 || escaped.is_full || shown.is_full)
        w->out->is_full = true;
    else
        put_text(w, buf_str(&shown));
    buf_done(&shown);
    buf_done(&escaped);
    arena_done(&arena);
    w->rest = str_slice(w->rest, len, w->rest.len);
}

static void skip_space(struct walk *w)
{
    while (w->rest.len && strchr(" \t\r\n", w->rest.ptr[0]))
        w->rest = str_slice(w->rest, 1, w->rest.len);
}

static char take(struct walk *w)
{
    char c = w->rest.ptr[0];

    w->rest = str_slice(w->rest, 1, w->rest.len);
    return c;
}

static void put_open(struct walk *w)
{
    buf_putc(w->out, take(w));
    skip_space(w);
    if (w->rest.ptr[0] == '}' || w->rest.ptr[0] == ']') {
        buf_putc(w->out, take(w));
        return;
    }
    w->depth++;
    indent(w, 0);
}

static void put_token(struct walk *w)
{
    switch (w->rest.ptr[0]) {
    case '"': put_string(w); return;
    case '{':
    case '[': put_open(w); return;
    case '}':
    case ']':
        w->depth--;
        indent(w, 0);
        buf_putc(w->out, take(w));
        return;
    case ',':
        buf_putc(w->out, take(w));
        indent(w, 0);
        if (w->how == PRETTY_LINE)
            buf_putc(w->out, ' ');
        return;
    case ':':
        buf_putc(w->out, take(w));
        buf_putc(w->out, ' ');
        return;
    default: buf_putc(w->out, take(w)); /* a number or a word */
    }
}

enum err pretty_put(struct buf *out, struct str json, enum pretty how)
{
    struct walk walk = { .out = out, .rest = json, .how = how };
    struct json_scan scan;
    struct json_span value;

    json_scan_init(&scan, json, DEPTH);
    if (json_value(&scan, &value) || json_scan_end(&scan))
        return ERR_INVALID;
    for (skip_space(&walk); walk.rest.len && !out->is_full; skip_space(&walk))
        put_token(&walk);
    return OK;
}

/* A name that reads well stands without quotes. */
static void put_name(struct buf *out, struct json_span key)
{
    for (size_t i = 0; i < key.text.len; i++) {
        char c = key.text.ptr[i];
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';

        if (!is_word) {
            struct str quoted = { key.text.ptr - 1, key.text.len + 2 };

            (void)pretty_put(out, quoted, PRETTY_LINE); /* it was scanned */
            return;
        }
    }
    buf_put(out, key.text.len ? key.text : S("\"\""));
}

enum err pretty_put_members(struct buf *out, struct str json)
{
    struct json_member member;
    struct json_scan scan;
    size_t begin = out->len;
    enum err err;

    json_scan_init(&scan, json, DEPTH);
    err = json_object_begin(&scan);
    while (!err && !out->is_full && json_object_next(&scan, &member, &err)) {
        struct str value = member.value.text;

        if (member.value.type == JSON_STRING)
            value = (struct str){ value.ptr - 1, value.len + 2 };
        if (out->len > begin)
            buf_put(out, S(", "));
        put_name(out, member.key);
        buf_put(out, S(": "));
        err = pretty_put(out, value, PRETTY_LINE);
    }
    if (err)
        out->len = begin;
    return err ? ERR_INVALID : OK;
}
