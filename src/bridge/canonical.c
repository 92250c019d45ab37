/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/canonical.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/plain.h"
#include "base/xalloc.h"

enum { CANONICAL_BYTES = 1 << 20 };

/* clang-format off */
static const struct str said[OFFER_TYPES][8] = {
    [OFFER_TOOL]     = { S("name"), S("title"), S("description"), S("inputSchema"),
                         S("outputSchema"), S("annotations"), S("authorization") },
    [OFFER_RESOURCE] = { S("uri"), S("name"), S("title"), S("description"), S("mimeType") },
    [OFFER_TEMPLATE] = { S("uriTemplate"), S("name"), S("title"), S("description"), S("mimeType") },
    [OFFER_PROMPT]   = { S("name"), S("title"), S("description"), S("arguments") },
};
/* clang-format on */

/* --- from a tree to lines --- */

struct flattening {
    struct buf path, text;
    struct str *lines; /* until all is written: ptr is NULL, len where it ends */
    size_t count, size;
};

/* Where it stands inside an object or array. */
struct level {
    const struct json *parent, *at;
    size_t path_len, index;
};

static bool is_word(struct str key)
{
    for (size_t i = 0; i < key.len; i++) {
        char c = key.ptr[i];

        if (!(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
            c != '_' && c != '$' && c != '-')
            return false;
    }
    return key.len > 0;
}

static void put_quoted(struct buf *out, struct str text)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_str(&w, text);
}

static void put_step(struct flattening *f, const struct level *level)
{
    f->path.len = level->path_len;
    if (level->parent->type == JSON_ARRAY) {
        buf_putf(&f->path, "[%zu]", level->index);
        return;
    }
    if (f->path.len > 0)
        buf_putc(&f->path, '.');
    if (is_word(level->at->key))
        buf_put(&f->path, level->at->key);
    else
        put_quoted(&f->path, level->at->key);
}

static void put_line(struct flattening *f, const struct json *value)
{
    if (f->count == f->size) {
        f->size = f->size ? 2 * f->size : 32;
        f->lines = xrealloc(f->lines, f->size * sizeof(*f->lines));
    }
    buf_put(&f->text, buf_str(&f->path));
    buf_put(&f->text, S(": "));
    if (value->type == JSON_STRING)
        put_quoted(&f->text, value->text);
    else if (value->type == JSON_OBJECT)
        buf_put(&f->text, S("{}"));
    else if (value->type == JSON_ARRAY)
        buf_put(&f->text, S("[]"));
    else
        buf_put(&f->text, value->raw);
    f->lines[f->count++] = (struct str){ NULL, f->text.len };
}

/* The trees of json_parse() are JSON_TREE_DEPTH deep at most. */
static void flatten(struct flattening *f, const struct json *value)
{
    struct level levels[JSON_TREE_DEPTH + 1];
    size_t depth = 0;

    if (!value->first) {
        put_line(f, value);
        return;
    }
    levels[depth++] = (struct level){ value, value->first, f->path.len, 0 };
    while (depth > 0) {
        struct level *level = &levels[depth - 1];
        const struct json *at = level->at;

        if (!at) {
            depth--;
            continue;
        }
        put_step(f, level);
        level->at = at->next;
        level->index++;
        if (at->first && depth < COUNT(levels))
            levels[depth++] = (struct level){ at, at->first, f->path.len, 0 };
        else
            put_line(f, at);
    }
}

static int compare_lines(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static void put_sorted(struct flattening *f, struct buf *out)
{
    size_t from = 0;

    for (size_t i = 0; i < f->count; i++) {
        size_t to = f->lines[i].len;

        f->lines[i] = (struct str){ f->text.ptr + from, to - from };
        from = to;
    }
    if (f->count == 0)
        return;
    qsort(f->lines, f->count, sizeof(*f->lines), compare_lines);
    for (size_t i = 0; i < f->count; i++) {
        buf_put(out, f->lines[i]);
        buf_putc(out, '\n');
    }
}

enum err canonical_put(struct buf *out, enum offer_type type, const struct json *offer)
{
    struct flattening f = {};
    bool is_full;

    buf_init(&f.path, CANONICAL_BYTES);
    buf_init(&f.text, CANONICAL_BYTES);
    for (size_t i = 0; said[type][i].len > 0; i++) {
        const struct json *value = json_find(offer, said[type][i]);

        if (!value)
            continue;
        buf_clear(&f.path);
        buf_put(&f.path, said[type][i]);
        flatten(&f, value);
    }
    put_sorted(&f, out);
    is_full = f.path.is_full || f.text.is_full || out->is_full;
    buf_done(&f.path);
    buf_done(&f.text);
    free(f.lines);
    return is_full ? ERR_TOO_BIG : OK;
}

/* --- what differs --- */

static void put_side(struct buf *out, struct str sign, struct str line)
{
    buf_put(out, sign);
    plain_put(out, line, PLAIN_JSON);
    buf_putc(out, '\n');
}

/* The next line of a sorted text; ptr is NULL at the end. */
static struct str next_line(struct str *rest)
{
    if (rest->len == 0)
        return (struct str){};
    return str_cut(rest, '\n');
}

/* Of what each of them speaks: everything before its value. */
static bool is_same_path(struct str a, struct str b)
{
    size_t end = str_find(a, ':', 0);

    return end < a.len && str_starts(b, str_slice(a, 0, end + 1));
}

/* Below 0: the old line comes first; 0: both do. */
static int order_of(struct str old, struct str new)
{
    if (!old.ptr)
        return 1;
    if (!new.ptr)
        return -1;
    return is_same_path(old, new) ? 0 : str_cmp(old, new);
}

void canonical_put_difference(struct buf *out, struct str before, struct str after)
{
    struct str old = next_line(&before), new = next_line(&after);

    while (old.ptr || new.ptr) {
        int order = order_of(old, new);
        bool is_same = order == 0 && str_eq(old, new);

        if (order <= 0 && !is_same)
            put_side(out, S("- "), old);
        if (order >= 0 && !is_same)
            put_side(out, S("+ "), new);
        if (order <= 0)
            old = next_line(&before);
        if (order >= 0)
            new = next_line(&after);
    }
}
