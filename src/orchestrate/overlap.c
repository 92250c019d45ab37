/* SPDX-License-Identifier: Apache-2.0 */
#include "orchestrate/overlap.h"

#include "base/cleanup.h"
#include "rules/value.h"

enum { VALUE_ROOM = 1 << 20 };

static bool is_listed(const struct shape *shape)
{
    return shape->kind == SHAPE_EXACTLY || shape->kind == SHAPE_ONE_OF;
}

static bool covers_text(const struct shape *shape, struct str text)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *value;

    arena_init(&arena, VALUE_ROOM);
    return json_parse(text, &arena, &value, NULL) || shape_covers(shape, value, NULL);
}

/* One of the values is covered by the other as well. */
static bool values_overlap(const struct shape *listed, const struct shape *other)
{
    for (size_t i = 0; i < listed->value_count; i++)
        if (covers_text(other, listed->values[i]))
            return true;
    return false;
}

static bool ranges_overlap(const struct shape *a, const struct shape *b)
{
    struct json_number a_min, a_max, b_min, b_max;

    if (value_number(a->min, &a_min) || value_number(a->max, &a_max) ||
        value_number(b->min, &b_min) || value_number(b->max, &b_max))
        return true;
    return json_number_compare(&a_min, &b_max) <= 0 &&
           json_number_compare(&b_min, &a_max) <= 0;
}

static bool is_string(enum shape_kind kind)
{
    return kind == SHAPE_UNDER || kind == SHAPE_PREFIXED || kind == SHAPE_FREE_TEXT;
}

static char begin_at(const struct shape *shape, size_t i)
{
    if (i == shape->text.len)
        return '/';
    return shape->text.ptr[i];
}

/* One goes on where the other begins. */
static bool strings_overlap(const struct shape *a, const struct shape *b)
{
    size_t a_len = a->text.len + (a->kind == SHAPE_UNDER);
    size_t b_len = b->text.len + (b->kind == SHAPE_UNDER);

    if (a->kind == SHAPE_FREE_TEXT || b->kind == SHAPE_FREE_TEXT)
        return true;
    for (size_t i = 0; i < a_len && i < b_len; i++)
        if (begin_at(a, i) != begin_at(b, i))
            return false;
    return true;
}

static const struct shape *find_member(const struct shape *object, struct str key)
{
    for (const struct shape *at = object->first; at; at = at->next)
        if (str_eq(at->key, key))
            return at;
    return NULL;
}

/* Where a member must be there in one, it may be in the other, and alike. */
// NOLINTNEXTLINE(misc-no-recursion): SHAPE_DEPTH
static bool members_fit(const struct shape *a, const struct shape *b)
{
    for (const struct shape *at = a->first; at; at = at->next) {
        const struct shape *other = find_member(b, at->key);

        if (at->is_optional && (!other || other->is_optional))
            continue;
        if (!other || !shapes_may_overlap(at, other))
            return false;
    }
    return true;
}

// NOLINTNEXTLINE(misc-no-recursion): SHAPE_DEPTH
bool shapes_may_overlap(const struct shape *a, const struct shape *b)
{
    if (is_listed(a))
        return values_overlap(a, b);
    if (is_listed(b))
        return values_overlap(b, a);
    if (is_string(a->kind) && is_string(b->kind))
        return strings_overlap(a, b);
    if (a->kind != b->kind)
        return false;
    if (a->kind == SHAPE_BETWEEN)
        return ranges_overlap(a, b);
    if (a->kind == SHAPE_OBJECT)
        return members_fit(a, b) && members_fit(b, a);
    return true;
}
