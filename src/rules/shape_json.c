/* SPDX-License-Identifier: Apache-2.0 */
/* Shapes as JSON: read strictly, written in one way. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "rules/rules_priv.h"
#include "rules/shape.h"
#include "rules/value.h"

enum { SHOWN = 40 };

enum err rule_fail(const struct rule_reading *r, const struct json *where,
                   const char *format, ...)
{
    va_list args;

    if (!r->problem)
        return ERR_INVALID;
    r->problem->at = 0;
    if (where && where->raw.ptr && where->raw.ptr >= r->base.ptr &&
        where->raw.ptr <= r->base.ptr + r->base.len)
        r->problem->at = (size_t)(where->raw.ptr - r->base.ptr);
    va_start(args, format);
    (void)vsnprintf(r->problem->what, sizeof(r->problem->what), format, args);
    va_end(args);
    return ERR_INVALID;
}

static bool is_known(const struct json_field *fields, size_t count, struct str key)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(fields[i].key, key))
            return true;
    return false;
}

enum err rule_fields(const struct rule_reading *r, const struct json *object,
                     const struct json_field *fields, size_t count, void *ret)
{
    struct json_problem problem = {};
    const struct json *where;
    struct str field;
    enum err err;

    if (object->type != JSON_OBJECT)
        return rule_fail(r, object, "must be a mapping");
    err = json_read(object, fields, count, r->arena, ret, &problem);
    if (!err)
        return OK;
    where = json_find(object, problem.field);
    field = str_slice(problem.field, 0, SHOWN);
    if (!where)
        return rule_fail(r, object, "\"%.*s\" is missing", STR_ARG(field));
    if (is_known(fields, count, problem.field))
        return rule_fail(r, where, "\"%.*s\" %s", STR_ARG(field), problem.what);
    err = rule_fail(r, where, "unknown key \"%.*s\"", STR_ARG(field));
    if (r->problem && r->problem->at)
        r->problem->at--; /* not its value is wrong: it is before it */
    return err;
}

enum err rule_copy(const struct rule_reading *r, struct str text, struct str *ret)
{
    struct str copy = arena_str(r->arena, text);

    if (!copy.ptr)
        return ERR_TOO_BIG;
    *ret = copy;
    return OK;
}

/* --- reading --- */

struct said {
    const struct json *exactly, *one_of, *boolean, *between, *under, *prefix, *text,
        *members, *items;
    const struct json *endings;
    struct str characters;
    uint64_t max_bytes, depth, min_items, max_items;
    bool whole, lines, optional;
};

#define F(member) JSON_FIELD(struct said, member, JSON_OPTIONAL)
static const struct json_field said_fields[] = {
    F(exactly),   F(one_of),  F(boolean),   F(between), F(under),    F(prefix),
    F(text),      F(members), F(items),     F(endings), F(whole),    F(characters),
    F(max_bytes), F(depth),   F(min_items), F(lines),   F(optional), F(max_items),
};
#undef F

/* What each kind is called, and which others go with it. */
/* clang-format off */
static const struct {
    struct str name;
    struct str with[4];
} kinds[] = {
    [SHAPE_EXACTLY]   = { S("exactly"), {} },
    [SHAPE_ONE_OF]    = { S("one_of"),  {} },
    [SHAPE_BOOLEAN]   = { S("boolean"), {} },
    [SHAPE_BETWEEN]   = { S("between"), { S("whole") } },
    [SHAPE_UNDER]     = { S("under"),   { S("characters"), S("max_bytes"), S("depth"), S("endings") } },
    [SHAPE_PREFIXED]  = { S("prefix"),  { S("characters"), S("max_bytes"), S("depth") } },
    [SHAPE_FREE_TEXT] = { S("text"),    { S("max_bytes"), S("lines") } },
    [SHAPE_OBJECT]    = { S("members"), {} },
    [SHAPE_ARRAY]     = { S("items"),   { S("min_items"), S("max_items") } },
};
/* clang-format on */

static bool goes_with(size_t kind, struct str key)
{
    if (str_eq(key, kinds[kind].name) || str_eq(key, S("optional")))
        return true;
    for (size_t i = 0; i < COUNT(kinds[kind].with) && kinds[kind].with[i].len; i++)
        if (str_eq(key, kinds[kind].with[i]))
            return true;
    return false;
}

static enum err find_kind(const struct rule_reading *r, const struct json *object,
                          enum shape_kind *ret)
{
    size_t kind = 0;

    while (kind < COUNT(kinds) && !json_find(object, kinds[kind].name))
        kind++;
    if (kind == COUNT(kinds))
        return rule_fail(r, object,
                         "says nothing: exactly, one_of, boolean, between, under, "
                         "prefix, text, members or items");
    JSON_FOREACH(member, object)
        if (!goes_with(kind, member->key))
            return rule_fail(r, member, "\"%.*s\" does not go with \"%.*s\"",
                             STR_ARG(member->key), STR_ARG(kinds[kind].name));
    *ret = (enum shape_kind)kind;
    return OK;
}

static bool is_flat(const struct json *value)
{
    if (value->type == JSON_OBJECT)
        return value->count == 0;
    if (value->type != JSON_ARRAY)
        return true;
    JSON_FOREACH(item, value)
        if (item->first || item->type == JSON_OBJECT)
            return false;
    return true;
}

static bool is_readable(const struct json *value)
{
    JSON_FOREACH(item, value)
        if (item->type == JSON_STRING && !shape_is_readable(item->text, SHAPE_ONE_LINE))
            return false;
    return value->type != JSON_STRING || shape_is_readable(value->text, SHAPE_ONE_LINE);
}

/* A value that a person can read in the file: nothing deeper than a list. */
static enum err read_value(const struct rule_reading *r, const struct json *value,
                           struct str *ret)
{
    struct str text;

    if (!is_flat(value))
        return rule_fail(r, value, "must be a simple value or a list of them");
    if (value_text(value, r->arena, &text) || text.len > SHAPE_VALUE)
        return rule_fail(r, value, "is too large to be listed");
    if (!is_readable(value))
        return rule_fail(r, value, "has characters that cannot be seen");
    *ret = text;
    return OK;
}

static enum err read_values(const struct rule_reading *r, const struct json *list,
                            struct shape *s)
{
    struct str *values;
    enum err err = OK;

    if (list->type != JSON_ARRAY || list->count < 2 || list->count > SHAPE_VALUES)
        return rule_fail(r, list, "must be a list of 2 to %d values", SHAPE_VALUES);
    values = arena_alloc(r->arena, list->count * sizeof(*values));
    if (!values)
        return ERR_TOO_BIG;
    JSON_FOREACH(item, list) {
        err = read_value(r, item, &values[s->value_count]);
        if (err)
            return err;
        for (size_t i = 0; i < s->value_count; i++)
            if (str_eq(values[i], values[s->value_count]))
                return rule_fail(r, item, "stands in the list twice");
        s->value_count++;
    }
    s->values = values;
    return OK;
}

static enum err read_exactly(const struct rule_reading *r, const struct json *value,
                             struct shape *s)
{
    struct str *text = arena_alloc(r->arena, sizeof(*text));

    if (!text)
        return ERR_TOO_BIG;
    s->values = text;
    s->value_count = 1;
    return read_value(r, value, text);
}

static enum err read_end(const struct rule_reading *r, const struct json *value,
                         struct str *ret)
{
    if (value->type != JSON_NUMBER || value_text(value, r->arena, ret))
        return rule_fail(r, value, "must be a number");
    return OK;
}

static enum err read_between(const struct rule_reading *r, const struct json *ends,
                             struct shape *s)
{
    struct json_number min, max;
    enum err err;

    if (ends->type != JSON_ARRAY || ends->count != 2)
        return rule_fail(r, ends, "must be a list of two numbers");
    err = read_end(r, ends->first, &s->min);
    if (!err)
        err = read_end(r, ends->first->next, &s->max);
    if (err)
        return err;
    if (value_number(s->min, &min) || value_number(s->max, &max) ||
        json_number_compare(&min, &max) > 0)
        return rule_fail(r, ends, "ends before it begins");
    return OK;
}

static enum err read_endings(const struct rule_reading *r, const struct json *list,
                             struct shape *s)
{
    struct str *values;

    if (!list)
        return OK;
    if (list->type != JSON_ARRAY || list->count == 0 || list->count > SHAPE_ENDINGS)
        return rule_fail(r, list, "must be a list of 1 to %d endings", SHAPE_ENDINGS);
    values = arena_alloc(r->arena, list->count * sizeof(*values));
    if (!values)
        return ERR_TOO_BIG;
    JSON_FOREACH(item, list) {
        if (item->type != JSON_STRING ||
            (item->text.len && !str_eq(shape_ending(item->text), item->text)) ||
            !shape_is_readable(item->text, SHAPE_ONE_LINE))
            return rule_fail(r, item, "must be an ending such as \".txt\", or \"\"");
        if (rule_copy(r, item->text, &values[s->value_count++]))
            return ERR_TOO_BIG;
    }
    s->values = values;
    return OK;
}

static enum err read_bounds(const struct rule_reading *r, const struct json *object,
                            const struct said *said, struct shape *s)
{
    s->max_bytes = (size_t)said->max_bytes;
    s->depth = said->depth || json_find(object, S("depth")) ? (size_t)said->depth : 1;
    s->has_lines = said->lines;
    if (said->max_bytes == 0 || said->max_bytes > SHAPE_TEXT)
        return rule_fail(r, object, "\"max_bytes\" must be 1 to %d", SHAPE_TEXT);
    if (s->depth == 0 || said->depth > SHAPE_PARTS)
        return rule_fail(r, object, "\"depth\" must be 1 to %d", SHAPE_PARTS);
    return OK;
}

static enum err read_begin(const struct rule_reading *r, const struct json *object,
                           const struct json *begin, const struct said *said,
                           struct shape *s)
{
    enum err err = read_bounds(r, object, said, s);

    if (err)
        return err;
    if (begin->type != JSON_STRING || rule_copy(r, begin->text, &s->text))
        return rule_fail(r, begin, "must be a text");
    if (s->kind == SHAPE_UNDER && !shape_is_root(s->text))
        return rule_fail(
            r, begin, "must be a directory without . and .., and neither / nor a home");
    if (s->kind == SHAPE_PREFIXED && !shape_is_prefix(s->text))
        return rule_fail(r, begin,
                         "must be %d characters or more, end with one of ._-+,=:@ and, "
                         "where it is a URL, name the host and end with /",
                         SHAPE_PREFIX);
    if (shape_characters_parse(said->characters, &s->characters))
        return rule_fail(r, object,
                         "\"characters\" must be some of a-z A-Z 0-9 . _ - + , = : @, "
                         "with a space between each");
    return read_endings(r, said->endings, s);
}

static enum err read_true(const struct rule_reading *r, const struct json *value)
{
    return value->type == JSON_TRUE ? OK : rule_fail(r, value, "must be true");
}

static enum err read_members(const struct rule_reading *r, const struct json *object,
                             size_t depth, struct shape *s);
static enum err read_shape(const struct rule_reading *r, const struct json *object,
                           size_t depth, struct shape *s);

static enum err read_items(const struct rule_reading *r, const struct json *items,
                           const struct said *said, size_t depth, struct shape *s)
{
    struct shape *item = arena_alloc(r->arena, sizeof(*item));

    if (!item)
        return ERR_TOO_BIG;
    if (depth > SHAPE_DEPTH)
        return rule_fail(r, items, "is nested deeper than %d", SHAPE_DEPTH);
    s->first = item;
    s->count = 1;
    s->min_items = (size_t)said->min_items;
    s->max_items = (size_t)said->max_items;
    if (said->max_items == 0 || said->max_items > SHAPE_ITEMS ||
        said->min_items > said->max_items)
        return rule_fail(r, items,
                         "\"max_items\" must be 1 to %d, and not below "
                         "\"min_items\"",
                         SHAPE_ITEMS);
    return read_shape(r, items, depth + 1, item);
}

static enum err read_kind(const struct rule_reading *r, const struct json *object,
                          const struct said *said, size_t depth, struct shape *s)
{
    const struct json *value = json_find(object, kinds[s->kind].name);

    if (!value)
        return ERR_INVALID; /* by this name the kind was found */
    switch (s->kind) {
    case SHAPE_EXACTLY: return read_exactly(r, value, s);
    case SHAPE_ONE_OF: return read_values(r, value, s);
    case SHAPE_BOOLEAN: return read_true(r, value);
    case SHAPE_BETWEEN: s->is_whole = said->whole; return read_between(r, value, s);
    case SHAPE_UNDER:
    case SHAPE_PREFIXED: return read_begin(r, object, value, said, s);
    case SHAPE_FREE_TEXT:
        if (read_true(r, value))
            return ERR_INVALID;
        return read_bounds(r, object, said, s);
    case SHAPE_OBJECT: return read_members(r, value, depth + 1, s);
    case SHAPE_ARRAY: return read_items(r, value, said, depth, s);
    }
    return ERR_INVALID;
}

/* Goes no deeper than SHAPE_DEPTH. */
static enum err read_shape(const struct rule_reading *r, const struct json *object,
                           size_t depth, struct shape *s)
{
    struct said said = {};
    enum err err = rule_fields(r, object, said_fields, COUNT(said_fields), &said);

    if (!err)
        err = find_kind(r, object, &s->kind);
    s->is_optional = said.optional;
    return err ? err : read_kind(r, object, &said, depth, s);
}

static int compare_shapes(const void *a, const void *b)
{
    return str_cmp((*(struct shape *const *)a)->key, (*(struct shape *const *)b)->key);
}

/* By name, so that one rule has one spelling. */
static void link_members(struct shape **members, size_t count, struct shape *s)
{
    if (count)
        qsort(members, count, sizeof(*members), compare_shapes);
    for (size_t i = 0; i < count; i++)
        members[i]->next = i + 1 < count ? members[i + 1] : NULL;
    s->first = count ? members[0] : NULL;
    s->count = count;
}

static enum err read_members(const struct rule_reading *r, const struct json *object,
                             size_t depth, struct shape *s)
{
    struct shape *members[SHAPE_MEMBERS];
    size_t count = 0;

    if (object->type != JSON_OBJECT)
        return rule_fail(r, object, "must be a mapping of names to shapes");
    if (depth > SHAPE_DEPTH)
        return rule_fail(r, object, "is nested deeper than %d", SHAPE_DEPTH);
    if (object->count > SHAPE_MEMBERS)
        return rule_fail(r, object, "has more than %d members", SHAPE_MEMBERS);
    JSON_FOREACH(at, object) {
        struct shape *member = arena_alloc(r->arena, sizeof(*member));
        enum err err;

        if (!member || rule_copy(r, at->key, &member->key))
            return ERR_TOO_BIG;
        if (at->key.len == 0 || at->key.len > SHAPE_NAME || str_eq(at->key, S("<<")) ||
            !shape_is_readable(at->key, SHAPE_ONE_LINE))
            return rule_fail(r, at, "has a name that cannot be read");
        err = read_shape(r, at, depth, member);
        if (err)
            return err;
        members[count++] = member;
    }
    link_members(members, count, s);
    return OK;
}

enum err shape_read(const struct json *members, struct str base, struct arena *arena,
                    const struct shape **ret, struct rule_problem *problem)
{
    const struct rule_reading r = { base, arena, problem };
    struct shape *s = arena_alloc(arena, sizeof(*s));
    enum err err;

    if (!s)
        return ERR_TOO_BIG;
    s->kind = SHAPE_OBJECT;
    err = read_members(&r, members, 1, s);
    if (err)
        return err;
    *ret = s;
    return OK;
}

/* --- writing --- */

static void write_members(struct json_writer *w, const struct shape *s);
static void write_shape(struct json_writer *w, const struct shape *s);

static void write_values(struct json_writer *w, const struct shape *s)
{
    json_array_open(w);
    for (size_t i = 0; i < s->value_count; i++)
        json_raw(w, s->values[i]);
    json_array_close(w);
}

static void write_tail(struct json_writer *w, const struct shape *s)
{
    struct buf set;

    buf_init(&set, 256);
    shape_characters_put(&set, s->characters);
    json_put_str(w, S("characters"), buf_str(&set));
    buf_done(&set);
    json_put_uint(w, S("max_bytes"), s->max_bytes);
    json_put_uint(w, S("depth"), s->depth);
    if (s->value_count)
        json_put_strs(w, S("endings"), (struct str_list){ s->values, s->value_count });
}

static void write_between(struct json_writer *w, const struct shape *s)
{
    json_array_open(w);
    json_raw(w, s->min);
    json_raw(w, s->max);
    json_array_close(w);
    if (s->is_whole)
        json_put_bool(w, S("whole"), true);
}

static void write_items(struct json_writer *w, const struct shape *s)
{
    write_shape(w, s->first);
    if (s->min_items)
        json_put_uint(w, S("min_items"), s->min_items);
    json_put_uint(w, S("max_items"), s->max_items);
}

static void write_shape(struct json_writer *w, const struct shape *s)
{
    json_object_open(w);
    json_key(w, kinds[s->kind].name);
    switch (s->kind) {
    case SHAPE_EXACTLY: json_raw(w, s->values[0]); break;
    case SHAPE_ONE_OF: write_values(w, s); break;
    case SHAPE_BOOLEAN: json_bool(w, true); break;
    case SHAPE_BETWEEN: write_between(w, s); break;
    case SHAPE_UNDER:
    case SHAPE_PREFIXED:
        json_str(w, s->text);
        write_tail(w, s);
        break;
    case SHAPE_FREE_TEXT:
        json_bool(w, true);
        json_put_uint(w, S("max_bytes"), s->max_bytes);
        if (s->has_lines)
            json_put_bool(w, S("lines"), true);
        break;
    case SHAPE_OBJECT: write_members(w, s); break;
    case SHAPE_ARRAY: write_items(w, s); break;
    }
    if (s->is_optional)
        json_put_bool(w, S("optional"), true);
    json_object_close(w);
}

static void write_members(struct json_writer *w, const struct shape *s)
{
    json_object_open(w);
    for (const struct shape *at = s->first; at; at = at->next) {
        json_key(w, at->key);
        write_shape(w, at);
    }
    json_object_close(w);
}

void shape_write(struct json_writer *w, const struct shape *arguments)
{
    write_members(w, arguments);
}
