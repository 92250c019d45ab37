/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/tell.h"

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/plain.h"
#include "base/utf8.h"
#include "envelope/kind.h"
#include "json/json.h"
#include "tui/pretty.h"
#include "tui/wrap.h"

enum {
    ARENA_BYTES = 64 << 20,
    TEXT_BYTES = 16 << 20,
    SHORT_BYTES = 1024, /* of arguments and answers */
    SHORT_LINES = 12,
    NAMES = 4,
};

/* An envelope while it is told. */
struct story {
    struct telling *t;
    const struct tell_envelope *env;
    struct kind kind;
    const struct json *payload; /* NULL: it cannot be read */
};

void tell_init(struct telling *t)
{
    *t = (struct telling){};
    buf_init(&t->title, TELL_TITLE_BYTES);
    buf_init(&t->body, TELL_BODY_BYTES);
    buf_init(&t->about, 512);
}

void tell_done(struct telling *t)
{
    buf_done(&t->title);
    buf_done(&t->body);
    buf_done(&t->about);
}

void tell_put_name(struct buf *out, struct str name)
{
    struct buf plain;

    buf_init(&plain, TEXT_BYTES);
    plain_put(&plain, str_slice(name, 0, 4096), PLAIN_LINE);
    wrap_put_cut(out, buf_str(&plain), TELL_NAME_COLUMNS);
    buf_done(&plain);
}

void tell_put_names(struct buf *out, const struct str *names, size_t count)
{
    for (size_t i = 0; i < count && i < NAMES; i++) {
        if (i > 0)
            buf_put(out, S(", "));
        tell_put_name(out, names[i]);
    }
    if (count > NAMES)
        buf_putf(out, " and %zu more", count - NAMES);
}

void tell_put_call(struct buf *out, struct str method, struct str name)
{
    bool is_tool = str_eq(method, S("tools/call")) && name.len > 0;

    if (!is_tool)
        tell_put_name(out, method);
    if (!is_tool && name.len > 0)
        buf_putc(out, ' ');
    if (name.len > 0)
        tell_put_name(out, name);
}

static void title(struct story *s, struct str words)
{
    buf_put(&s->t->title, words);
}

static void put_addressees(struct story *s)
{
    if (s->env->to_count == 0)
        return;
    title(s, wcwidth(L'→') == 1 ? S(" → ") : S(" > "));
    tell_put_names(&s->t->title, s->env->to, s->env->to_count);
}

static struct str text_of(const struct json *json)
{
    return json && json->type == JSON_STRING ? json->text : (struct str){};
}

static const struct json *member(const struct json *object, struct str name)
{
    return json_find(object, name);
}

/* --- bodies --- */

/* The beginning, in whole characters and lines. */
static struct str shorten(struct str text, size_t bytes, size_t lines)
{
    size_t end = text.len < bytes ? text.len : bytes;

    while (end > 0 && end < text.len && utf8_is_tail((unsigned char)text.ptr[end]))
        end--;
    for (size_t i = 0; i < end; i++)
        if (text.ptr[i] == '\n' && --lines == 0)
            return str_slice(text, 0, i);
    return str_slice(text, 0, end);
}

static struct str trim_end(struct str text)
{
    while (text.len && strchr("\n ", text.ptr[text.len - 1]))
        text.len--;
    return text;
}

/* Adds what is plain already; of more than fits the beginning. A tab is four spaces. */
static void put_body(struct story *s, struct str text, size_t bytes, size_t lines)
{
    struct buf *body = &s->t->body;
    struct str shown;

    text = trim_end(text);
    if (text.len == 0)
        return;
    if (body->len)
        buf_putc(body, '\n');
    if (bytes > body->max - body->len)
        bytes = body->max - body->len;
    shown = shorten(text, bytes, lines);
    s->t->is_cut = s->t->is_cut || shown.len < text.len;
    for (size_t i = 0; i < shown.len; i++)
        if (shown.ptr[i] == '\t')
            buf_put(body, S("    "));
        else
            buf_putc(body, shown.ptr[i]);
    s->t->is_cut = s->t->is_cut || body->is_full;
}

static void put_text(struct story *s, struct str text, size_t bytes, size_t lines)
{
    struct buf plain;

    buf_init(&plain, TEXT_BYTES);
    plain_put(&plain, text, PLAIN_TEXT);
    put_body(s, buf_str(&plain), bytes, lines);
    buf_done(&plain);
}

static void put_short(struct story *s, struct str text)
{
    put_text(s, text, SHORT_BYTES, SHORT_LINES);
}
