/* SPDX-License-Identifier: Apache-2.0 */
#include "json/canonical.h"

#include <stdlib.h>

#include "json/number.h"

static int by_key(const void *a, const void *b)
{
    return str_cmp((*(const struct json *const *)a)->key,
                   (*(const struct json *const *)b)->key);
}

const struct json **json_members(const struct json *object, struct arena *arena)
{
    const struct json **members =
        arena_alloc(arena, (object->count + 1) * sizeof(*members));
    size_t count = 0;

    if (!members)
        return NULL;
    JSON_FOREACH(member, object)
        members[count++] = member;
    if (count > 1)
        qsort(members, count, sizeof(*members), by_key);
    return members;
}

/* An object or array that is being written. */
struct level {
    const struct json *value;
    const struct json **members; /* an object's */
    const struct json *item;     /* an array's next */
    size_t at;
};

struct canon {
    struct arena *arena;
    struct json_writer w;
    struct level levels[JSON_TREE_DEPTH + 1];
    size_t depth;
};

static enum err open_level(struct canon *c, const struct json *value)
{
    struct level *level = &c->levels[c->depth];

    if (c->depth == JSON_TREE_DEPTH + 1)
        return ERR_TOO_BIG;
    *level = (struct level){ .value = value, .item = value->first };
    if (value->type == JSON_OBJECT) {
        level->members = json_members(value, c->arena);
        if (!level->members)
            return ERR_TOO_BIG;
        json_object_open(&c->w);
    } else {
        json_array_open(&c->w);
    }
    c->depth++;
    return OK;
}

static enum err put_number(struct canon *c, struct str text)
{
    struct json_number number;
    enum err err = json_number_parse(text, &number);

    if (err)
        return err;
    json_raw(&c->w, S("")); /* what stands between values */
    json_number_put(c->w.out, &number);
    return OK;
}

static enum err put_value(struct canon *c, const struct json *value)
{
    switch (value->type) {
    case JSON_OBJECT:
    case JSON_ARRAY: return open_level(c, value);
    case JSON_STRING: json_str(&c->w, value->text); return OK;
    case JSON_NUMBER: return put_number(c, value->text);
    case JSON_NULL: json_null(&c->w); return OK;
    case JSON_FALSE:
    case JSON_TRUE: json_bool(&c->w, value->type == JSON_TRUE); return OK;
    }
    return OK;
}

static void close_level(struct canon *c)
{
    if (c->levels[--c->depth].value->type == JSON_OBJECT)
        json_object_close(&c->w);
    else
        json_array_close(&c->w);
}

/* The next of the innermost level; NULL: it has ended. */
static const struct json *next_of(struct canon *c)
{
    struct level *level = &c->levels[c->depth - 1];
    const struct json *next = level->item;

    if (level->at == level->value->count)
        return NULL;
    if (level->members) {
        next = level->members[level->at];
        json_key(&c->w, next->key);
    } else {
        level->item = next->next;
    }
    level->at++;
    return next;
}

enum err json_canonical_put(struct buf *out, const struct json *value,
                            struct arena *arena)
{
    struct canon c = { .arena = arena };
    enum err err;

    json_write_init(&c.w, out);
    err = put_value(&c, value);
    while (!err && c.depth > 0) {
        const struct json *next = next_of(&c);

        if (next)
            err = put_value(&c, next);
        else
            close_level(&c);
    }
    return !err && out->is_full ? ERR_TOO_BIG : err;
}
