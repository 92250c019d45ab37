/* SPDX-License-Identifier: Apache-2.0 */
/* Is a value covered? Goes down along the shape, whose depth is bounded, and never along
 * the value alone. */
#include "rules/shape.h"

#include <stdio.h>
#include <string.h>

#include "rules/value.h"

static bool no(struct shape_miss *miss, const char *what)
{
    if (miss)
        miss->what = what;
    return false;
}

/* Appends a step; gives back what the path was long before. */
static size_t step_in(struct shape_miss *miss, struct str key)
{
    size_t len;

    if (!miss)
        return 0;
    len = strlen(miss->path);
    (void)snprintf(miss->path + len, sizeof(miss->path) - len, "." STR_FMT,
                   (int)(key.len < SHAPE_NAME ? key.len : SHAPE_NAME), key.ptr);
    return len;
}

static void step_out(struct shape_miss *miss, size_t len)
{
    if (miss)
        miss->path[len] = '\0';
}

static bool covers_value(const struct shape *shape, const struct json *value,
                         struct shape_miss *miss)
{
    bool is_listed = false;
    struct buf text;

    buf_init(&text, SHAPE_VALUE + 1);
    if (value_put(&text, value) == OK)
        for (size_t i = 0; i < shape->value_count && !is_listed; i++)
            is_listed = str_eq(shape->values[i], buf_str(&text));
    buf_done(&text);
    if (is_listed)
        return true;
    return no(miss, shape->kind == SHAPE_EXACTLY ? "is another value"
                                                 : "is none of the values listed");
}

static bool covers_number(const struct shape *shape, const struct json *value,
                          struct shape_miss *miss)
{
    struct json_number number, min, max;

    if (value->type != JSON_NUMBER)
        return no(miss, "is no number");
    if (value_number(value->text, &number) || value_number(shape->min, &min) ||
        value_number(shape->max, &max))
        return no(miss, "is a number beyond all bounds");
    if (json_number_compare(&number, &min) < 0)
        return no(miss, "is less than seen");
    if (json_number_compare(&number, &max) > 0)
        return no(miss, "is more than seen");
    if (shape->is_whole && !json_number_is_whole(&number))
        return no(miss, "has a fraction");
    return true;
}

static bool has_ending(const struct shape *shape, struct str path)
{
    struct str ending = shape_ending(path);

    for (size_t i = 0; i < shape->value_count; i++)
        if (str_eq(shape->values[i], ending))
            return true;
    return shape->value_count == 0;
}

static bool covers_tail(const struct shape *shape, struct str tail,
                        struct shape_miss *miss)
{
    size_t parts;

    if (!shape_parts_are_plain(tail, shape->characters, &parts))
        return no(miss, "goes on with characters or parts that are not allowed");
    if (parts > shape->depth)
        return no(miss, "goes deeper than allowed");
    return true;
}

static bool covers_path(const struct shape *shape, struct str path,
                        struct shape_miss *miss)
{
    struct str root = shape->text;

    if (path.len <= root.len + 1 || !str_starts(path, root) || path.ptr[root.len] != '/')
        return no(miss, "is not beneath the directory");
    if (!covers_tail(shape, str_slice(path, root.len + 1, path.len), miss))
        return false;
    if (!has_ending(shape, path))
        return no(miss, "has another ending");
    return true;
}

static bool covers_string(const struct shape *shape, const struct json *value,
                          struct shape_miss *miss)
{
    struct str text = value->text;

    if (value->type != JSON_STRING)
        return no(miss, "is no text");
    if (text.len > shape->max_bytes)
        return no(miss, "is longer than allowed");
    if (shape->kind == SHAPE_UNDER)
        return covers_path(shape, text, miss);
    if (shape->kind == SHAPE_PREFIXED) {
        if (!str_starts(text, shape->text))
            return no(miss, "begins otherwise");
        return covers_tail(shape, str_slice(text, shape->text.len, text.len), miss);
    }
    if (!shape_is_readable(text, shape->has_lines ? SHAPE_MANY_LINES : SHAPE_ONE_LINE))
        return no(miss, "has characters that cannot be seen");
    return true;
}

/* Every member of the value is of the shape, and all that it needs are there. */
static bool covers_object(const struct shape *shape, const struct json *value,
                          struct shape_miss *miss)
{
    size_t found = 0;

    if (value->type != JSON_OBJECT)
        return no(miss, "is no object");
    for (const struct shape *at = shape->first; at; at = at->next) {
        const struct json *member = json_find(value, at->key);
        size_t len = step_in(miss, at->key);

        if (!member && !at->is_optional)
            return no(miss, "is missing");
        if (member && !shape_covers(at, member, miss))
            return false;
        found += member != NULL;
        step_out(miss, len);
    }
    if (found != value->count) /* a name that stands twice is one too many as well */
        return no(miss, "has members that were never seen");
    return true;
}

static bool covers_array(const struct shape *shape, const struct json *value,
                         struct shape_miss *miss)
{
    if (value->type != JSON_ARRAY)
        return no(miss, "is no array");
    if (value->count < shape->min_items)
        return no(miss, "has fewer items than seen");
    if (value->count > shape->max_items)
        return no(miss, "has more items than seen");
    JSON_FOREACH(item, value)
        if (!shape_covers(shape->first, item, miss))
            return false;
    return true;
}

bool shape_covers(const struct shape *shape, const struct json *value,
                  struct shape_miss *miss)
{
    switch (shape->kind) {
    case SHAPE_EXACTLY:
    case SHAPE_ONE_OF: return covers_value(shape, value, miss);
    case SHAPE_BOOLEAN:
        if (value->type != JSON_TRUE && value->type != JSON_FALSE)
            return no(miss, "is neither true nor false");
        return true;
    case SHAPE_BETWEEN: return covers_number(shape, value, miss);
    case SHAPE_UNDER:
    case SHAPE_PREFIXED:
    case SHAPE_FREE_TEXT: return covers_string(shape, value, miss);
    case SHAPE_OBJECT: return covers_object(shape, value, miss);
    case SHAPE_ARRAY: return covers_array(shape, value, miss);
    }
    return false;
}
