/* SPDX-License-Identifier: Apache-2.0 */
/* Two trees side by side: see canonical.h. */
#include <string.h>

#include "json/canonical.h"
#include "json/number.h"

/* Two objects or arrays that are being compared. */
struct pair {
    const struct json **from, **to;         /* members of objects, in order */
    const struct json *from_item, *to_item; /* next items of arrays */
    size_t from_at, to_at, from_count, to_count;
    size_t path_len;
};

struct differing {
    struct arena *arena;
    struct json_differences *ret;
    struct buf path;
    struct pair pairs[JSON_TREE_DEPTH + 1];
    size_t depth;
};

/* A pair of values below one path; one of them may be missing. */
struct both {
    const struct json *from, *to;
};

static bool is_same_number(struct str a, struct str b)
{
    struct json_number left, right;

    if (json_number_parse(a, &left) || json_number_parse(b, &right))
        return false;
    return json_number_compare(&left, &right) == 0;
}

static bool is_same_leaf(const struct json *a, const struct json *b)
{
    if (a->type == JSON_NUMBER)
        return is_same_number(a->text, b->text);
    return a->type != JSON_STRING || str_eq(a->text, b->text);
}

static void put_step(struct buf *path, struct str key)
{
    buf_putc(path, '/');
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] == '~')
            buf_put(path, S("~0"));
        else if (key.ptr[i] == '/')
            buf_put(path, S("~1"));
        else
            buf_putc(path, key.ptr[i]);
    }
}

static enum err note(struct differing *d, struct both values)
{
    struct json_differences *ret = d->ret;
    struct str path;

    if (ret->count == ret->max) {
        ret->has_more = true;
        return OK;
    }
    path = arena_str(d->arena, buf_str(&d->path));
    if (!path.ptr)
        return ERR_TOO_BIG;
    ret->items[ret->count++] = (struct json_difference){ path, values.from, values.to };
    return OK;
}

static enum err open_pair(struct differing *d, struct both values)
{
    struct pair *pair = &d->pairs[d->depth];

    if (d->depth == JSON_TREE_DEPTH + 1)
        return ERR_TOO_BIG;
    *pair = (struct pair){ .from_item = values.from->first,
                           .to_item = values.to->first,
                           .from_count = values.from->count,
                           .to_count = values.to->count,
                           .path_len = d->path.len };
    if (values.from->type == JSON_OBJECT) {
        pair->from = json_members(values.from, d->arena);
        pair->to = json_members(values.to, d->arena);
        if (!pair->from || !pair->to)
            return ERR_TOO_BIG;
    }
    d->depth++;
    return OK;
}

static enum err compare(struct differing *d, struct both values)
{
    if (!values.from || !values.to || values.from->type != values.to->type)
        return note(d, values);
    if (values.from->type == JSON_OBJECT || values.from->type == JSON_ARRAY)
        return open_pair(d, values);
    return is_same_leaf(values.from, values.to) ? OK : note(d, values);
}

/* The next member that either of them has. */
static struct both next_member(struct pair *pair, struct buf *path)
{
    struct both next = {};
    const struct json *named;
    int order = 0;

    if (pair->from_at < pair->from_count)
        next.from = pair->from[pair->from_at];
    if (pair->to_at < pair->to_count)
        next.to = pair->to[pair->to_at];
    if (next.from && next.to)
        order = str_cmp(next.from->key, next.to->key);
    if (order > 0)
        next.from = NULL;
    if (order < 0)
        next.to = NULL;
    pair->from_at += next.from ? 1 : 0;
    pair->to_at += next.to ? 1 : 0;
    named = next.from ? next.from : next.to;
    put_step(path, named ? named->key : S(""));
    return next;
}

static struct both next_item(struct pair *pair, struct buf *path)
{
    struct both next = { pair->from_item, pair->to_item };

    buf_putf(path, "/%zu", next.from ? pair->from_at : pair->to_at);
    if (next.from) {
        pair->from_item = next.from->next;
        pair->from_at++;
    }
    if (next.to) {
        pair->to_item = next.to->next;
        pair->to_at++;
    }
    return next;
}

static enum err step(struct differing *d)
{
    struct pair *pair = &d->pairs[d->depth - 1];

    if (pair->from_at == pair->from_count && pair->to_at == pair->to_count) {
        d->depth--;
        return OK;
    }
    d->path.len = pair->path_len;
    return compare(d,
                   pair->from ? next_member(pair, &d->path) : next_item(pair, &d->path));
}

enum err json_differ(const struct json *from, const struct json *to, struct str path,
                     struct arena *arena, struct json_differences *ret)
{
    struct differing d = { .arena = arena, .ret = ret };
    enum err err;

    ret->count = 0;
    ret->has_more = false;
    buf_init(&d.path, SIZE_MAX / 2);
    buf_put(&d.path, path);
    err = compare(&d, (struct both){ from, to });
    while (!err && d.depth > 0 && !ret->has_more)
        err = step(&d);
    buf_done(&d.path);
    return err;
}
