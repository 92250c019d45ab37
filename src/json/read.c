/* SPDX-License-Identifier: Apache-2.0 */
/* Reading an object into a struct, by a table that says where each member goes. */
#include "json/json.h"

static enum err complain(struct json_problem *problem, struct str field, const char *what)
{
    if (problem)
        *problem = (struct json_problem){ .field = field, .what = what };
    return ERR_INVALID;
}

static enum err read_list(const struct json *value, struct arena *arena,
                          struct str_list *ret, const char **what)
{
    struct str *items;
    size_t count = 0;

    *what = "must be a list of strings";
    if (value->type != JSON_ARRAY)
        return ERR_INVALID;
    items = arena_alloc(arena, value->count * sizeof(*items));
    if (!items) {
        *what = "too large";
        return ERR_TOO_BIG;
    }
    JSON_FOREACH(item, value) {
        if (item->type != JSON_STRING)
            return ERR_INVALID;
        items[count++] = item->text;
    }
    *ret = (struct str_list){ items, count };
    return OK;
}

static enum err read_str(const struct json *value, struct str *ret, const char **what)
{
    *what = "must be a string";
    if (value->type != JSON_STRING)
        return ERR_INVALID;
    *ret = value->text;
    return OK;
}

static enum err read_bool(const struct json *value, bool *ret, const char **what)
{
    *what = "must be true or false";
    if (value->type != JSON_TRUE && value->type != JSON_FALSE)
        return ERR_INVALID;
    *ret = value->type == JSON_TRUE;
    return OK;
}

static enum err read_u64(const struct json *value, uint64_t *ret, const char **what)
{
    *what = "must be a whole number";
    if (value->type != JSON_NUMBER)
        return ERR_INVALID;
    return str_to_u64(value->text, UINT64_MAX, ret);
}

static enum err read_json(const struct json *value, const struct json **ret)
{
    *ret = value;
    return OK;
}

static enum err read_field(const struct json *value, enum json_kind kind,
                           struct arena *arena, void *to, const char **what)
{
    switch (kind) {
    case JSON_AS_STR: return read_str(value, to, what);
    case JSON_AS_BOOL: return read_bool(value, to, what);
    case JSON_AS_U64: return read_u64(value, to, what);
    case JSON_AS_STR_LIST: return read_list(value, arena, to, what);
    case JSON_AS_JSON: return read_json(value, to);
    }
    return ERR_INTERNAL;
}

static const struct json_field *find_field(const struct json_field *fields, size_t count,
                                           struct str key)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(fields[i].key, key))
            return &fields[i];
    return NULL;
}

enum err json_read(const struct json *object, const struct json_field *fields,
                   size_t count, struct arena *arena, void *ret,
                   struct json_problem *problem)
{
    const char *what = "";
    enum err err;

    if (!object || object->type != JSON_OBJECT)
        return complain(problem, S(""), "expected an object");
    for (size_t i = 0; i < count; i++)
        if (fields[i].need == JSON_REQUIRED && !json_find(object, fields[i].key))
            return complain(problem, fields[i].key, "is missing");
    JSON_FOREACH(member, object) {
        const struct json_field *field = find_field(fields, count, member->key);

        if (!field)
            return complain(problem, member->key, "is unknown");
        err = read_field(member, field->kind, arena, (char *)ret + field->offset, &what);
        if (err) {
            (void)complain(problem, field->key, what);
            return err;
        }
    }
    return OK;
}

struct str_list str_list_copy(struct str_list list, struct arena *arena)
{
    struct str *items =
        list.count ? arena_alloc(arena, list.count * sizeof(*items)) : NULL;

    if (!items)
        return (struct str_list){}; /* what is empty takes nothing */
    for (size_t i = 0; i < list.count; i++) {
        items[i] = arena_str(arena, list.items[i]);
        if (!items[i].ptr)
            return (struct str_list){};
    }
    return (struct str_list){ items, list.count };
}

bool str_list_eq(struct str_list a, struct str_list b)
{
    bool are_equal = a.count == b.count;

    for (size_t i = 0; i < a.count && are_equal; i++)
        are_equal = str_eq(a.items[i], b.items[i]);
    return are_equal;
}
