/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is one shape within another? Values that can be listed are asked one by one; of the
 * rest each kind is compared with its like, and texts that begin somewhere with texts
 * that begin further up:
 *
 *     wide     under /srv/app            /srv/app/ + tail, 3 parts at most
 *     narrow   under /srv/app/lib        /srv/app/ + "lib/" + tail
 *                                                    └ rest: counts as a part of the tail
 *
 * What could be shown by counting alone (all whole numbers between two) is not tried.
 */
#include "base/cleanup.h"
#include "rules/shape.h"
#include "rules/value.h"

enum { VALUE_ROOM = 256 << 10 };

static bool value_is_within(struct str text, const struct shape *wide)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *value;

    arena_init(&arena, VALUE_ROOM);
    return json_parse(text, &arena, &value, NULL) == OK &&
           shape_covers(wide, value, NULL);
}

static bool values_are_within(const struct shape *narrow, const struct shape *wide)
{
    for (size_t i = 0; i < narrow->value_count; i++)
        if (!value_is_within(narrow->values[i], wide))
            return false;
    return true;
}

static bool numbers_are_within(const struct shape *narrow, const struct shape *wide)
{
    struct json_number from, to, min, max;

    if (value_number(narrow->min, &from) || value_number(narrow->max, &to))
        return false;
    if (json_number_compare(&from, &to) == 0)
        return value_is_within(narrow->min, wide);
    if (wide->kind != SHAPE_BETWEEN || value_number(wide->min, &min) ||
        value_number(wide->max, &max))
        return false;
    return json_number_compare(&min, &from) <= 0 && json_number_compare(&to, &max) <= 0 &&
           (narrow->is_whole || !wide->is_whole);
}

/* --- texts that begin in a certain way --- */

/* What comes before the tail: a directory with its slash, or a prefix. */
static size_t begin_len(const struct shape *shape)
{
    return shape->text.len + (shape->kind == SHAPE_UNDER);
}

static char begin_at(const struct shape *shape, size_t i)
{
    if (i < shape->text.len)
        return shape->text.ptr[i];
    return '/';
}

static bool begins_with(const struct shape *narrow, const struct shape *wide)
{
    size_t len = begin_len(wide);

    if (begin_len(narrow) < len)
        return false;
    for (size_t i = 0; i < len; i++)
        if (begin_at(narrow, i) != begin_at(wide, i))
            return false;
    return true;
}

/* The parts that a tail of the narrow shape has at most: each but the first takes two
 * bytes. */
static size_t depth_of(const struct shape *shape)
{
    size_t begin = begin_len(shape);
    size_t most = shape->max_bytes > begin ? (shape->max_bytes - begin + 1) / 2 : 0;

    return most < shape->depth ? most : shape->depth;
}

/* What the narrow one begins with goes on behind the wide one's beginning: it is the
 * first part of the wide one's tail, and the parts of both are counted together. */
static bool rest_is_within(const struct shape *narrow, const struct shape *wide)
{
    struct str rest = str_slice(narrow->text, begin_len(wide), narrow->text.len);
    bool is_joined = narrow->kind == SHAPE_PREFIXED; /* its last part goes on */
    size_t depth = depth_of(narrow);
    size_t parts;

    if (begin_len(narrow) == begin_len(wide))
        return depth <= wide->depth;
    if (is_joined && rest.ptr[rest.len - 1] == '/') {
        rest = str_slice(rest, 0, rest.len - 1);
        is_joined = false;
    }
    if (!shape_parts_are_plain(rest, wide->characters, &parts))
        return false;
    return depth + parts - is_joined <= wide->depth;
}

static bool has_value(const struct shape *shape, struct str value)
{
    for (size_t i = 0; i < shape->value_count; i++)
        if (str_eq(shape->values[i], value))
            return true;
    return false;
}

/* An ending whose characters do not come after the directory is none that there is. */
static bool has_ending(const struct shape *shape, struct str ending)
{
    bool has_other = false;

    return !(shape_characters_of(ending, &has_other) & ~shape->characters) && !has_other;
}

static bool endings_are_within(const struct shape *narrow, const struct shape *wide)
{
    if (wide->kind != SHAPE_UNDER || wide->value_count == 0)
        return true;
    if (narrow->kind != SHAPE_UNDER)
        return false;
    if (narrow->value_count == 0)
        return !has_ending(narrow, S(".")) && has_value(wide, S(""));
    for (size_t i = 0; i < narrow->value_count; i++)
        if (has_ending(narrow, narrow->values[i]) && !has_value(wide, narrow->values[i]))
            return false;
    return true;
}

static bool texts_are_within(const struct shape *narrow, const struct shape *wide)
{
    if (narrow->max_bytes > wide->max_bytes)
        return false;
    if (wide->kind == SHAPE_FREE_TEXT)
        return shape_is_readable(narrow->text, SHAPE_ONE_LINE);
    if (wide->kind != SHAPE_UNDER && wide->kind != SHAPE_PREFIXED)
        return false;
    return !(narrow->characters & ~wide->characters) && begins_with(narrow, wide) &&
           rest_is_within(narrow, wide) && endings_are_within(narrow, wide);
}

/* --- objects and arrays --- */

static const struct shape *find_member(const struct shape *object, struct str key)
{
    const struct shape *at = object->first;

    while (at && !str_eq(at->key, key))
        at = at->next;
    return at;
}

static bool members_are_within(const struct shape *narrow, const struct shape *wide)
{
    if (!narrow->first)
        return value_is_within(S("{}"), wide);
    if (wide->kind != SHAPE_OBJECT)
        return false;
    for (const struct shape *at = narrow->first; at; at = at->next) {
        const struct shape *in = find_member(wide, at->key);

        if (!in || (at->is_optional && !in->is_optional) || !shape_is_within(at, in))
            return false;
    }
    for (const struct shape *at = wide->first; at; at = at->next)
        if (!at->is_optional && !find_member(narrow, at->key))
            return false;
    return true;
}

static bool items_are_within(const struct shape *narrow, const struct shape *wide)
{
    return wide->kind == SHAPE_ARRAY && narrow->min_items >= wide->min_items &&
           narrow->max_items <= wide->max_items &&
           shape_is_within(narrow->first, wide->first);
}

bool shape_is_within(const struct shape *narrow, const struct shape *wide)
{
    switch (narrow->kind) {
    case SHAPE_EXACTLY:
    case SHAPE_ONE_OF: return values_are_within(narrow, wide);
    case SHAPE_BOOLEAN:
        return value_is_within(S("true"), wide) && value_is_within(S("false"), wide);
    case SHAPE_BETWEEN: return numbers_are_within(narrow, wide);
    case SHAPE_UNDER:
    case SHAPE_PREFIXED: return texts_are_within(narrow, wide);
    case SHAPE_FREE_TEXT:
        return wide->kind == SHAPE_FREE_TEXT && narrow->max_bytes <= wide->max_bytes &&
               (!narrow->has_lines || wide->has_lines);
    case SHAPE_OBJECT: return members_are_within(narrow, wide);
    case SHAPE_ARRAY: return items_are_within(narrow, wide);
    }
    return false;
}
