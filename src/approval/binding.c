/* SPDX-License-Identifier: Apache-2.0 */
#include "approval/binding.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "envelope/lookalike.h"

/* --- what counts of a payload --- */

static bool is_call(struct str method)
{
    return str_eq(method, S("tools/call"));
}

/* Has it names that are none of these, and that some reader takes for one? */
static bool has_lookalike(const struct json *object, const struct str *names,
                          size_t count)
{
    if (!object || object->type != JSON_OBJECT)
        return false;
    JSON_FOREACH(m, object) {
        bool is_known = false;

        for (size_t i = 0; i < count; i++)
            is_known |= str_eq(m->key, names[i]);
        if (!is_known && lookalike_is_any(m->key, names, count))
            return true;
    }
    return false;
}

static bool is_doubtful(struct str method, const struct json *payload)
{
    static const struct str of_call[] = { S("name"), S("arguments") };

    return has_lookalike(payload, &S("params"), 1) ||
           (is_call(method) &&
            has_lookalike(json_find(payload, S("params")), of_call, COUNT(of_call)));
}

static enum err parse(struct str method, struct json_span payload, struct arena *arena,
                      const struct json **ret)
{
    enum err err = json_parse(payload.text, arena, ret, NULL);

    if (err)
        return err == ERR_TOO_BIG ? err : ERR_INVALID;
    return is_doubtful(method, *ret) ? ERR_INVALID : OK;
}

enum err binding_check(struct str method, struct json_span payload)
{
    const struct json *tree;
    struct arena arena;
    enum err err;

    arena_init(&arena, BINDING_BYTES);
    err = parse(method, payload, &arena, &tree);
    arena_done(&arena);
    return err;
}

static bool counts(struct str method, struct str name)
{
    if (!is_call(method))
        return !str_eq(name, S("_meta"));
    return str_eq(name, S("name")) || str_eq(name, S("arguments"));
}

static enum err add_member(struct json *object, struct json **last,
                           const struct json *member, struct arena *arena)
{
    struct json *copy = arena_alloc(arena, sizeof(*copy));

    if (!copy)
        return ERR_TOO_BIG;
    *copy = *member;
    copy->next = NULL;
    if (*last)
        (*last)->next = copy;
    else
        object->first = copy;
    *last = copy;
    object->count++;
    return OK;
}

/* The params of a payload as far as they count. Those that are no object are what they
 * are. */
static enum err bound_part(struct str method, const struct json *payload,
                           struct arena *arena, const struct json **ret)
{
    static const struct json none = { .type = JSON_OBJECT, .raw = S("{}") };
    static const struct json no_arguments = { .type = JSON_OBJECT,
                                              .raw = S("{}"),
                                              .key = S("arguments") };
    const struct json *params = json_find(payload, S("params"));
    struct json *object = arena_alloc(arena, sizeof(*object));
    struct json *last = NULL;
    enum err err = object ? OK : ERR_TOO_BIG;

    if (!params)
        params = &none;
    *ret = params;
    if (err || params->type != JSON_OBJECT)
        return err;
    *object = (struct json){ .type = JSON_OBJECT, .raw = params->raw };
    for (const struct json *m = params->first; m && !err; m = m->next)
        if (counts(method, m->key))
            err = add_member(object, &last, m, arena);
    if (!err && is_call(method) && !json_find(object, S("arguments")))
        err = add_member(object, &last, &no_arguments, arena);
    *ret = object;
    return err;
}

static enum err read_part(struct str method, struct json_span payload,
                          struct arena *arena, const struct json **ret)
{
    const struct json *tree;
    enum err err = parse(method, payload, arena, &tree);

    return err ? err : bound_part(method, tree, arena, ret);
}

enum err binding_compare(struct str method, struct json_span proposed,
                         struct json_span asked, struct arena *arena,
                         struct json_differences *ret)
{
    const struct json *from, *to;
    enum err err = read_part(method, proposed, arena, &from);

    if (!err)
        err = read_part(method, asked, arena, &to);
    if (err)
        return err;
    return json_differ(from, to, S("/params"), arena, ret);
}

/* --- telling --- */

static void put_side(struct json_writer *w, struct str name, struct str name_bytes,
                     const struct json *value)
{
    if (!value)
        return;
    if (value->raw.len > BINDING_VALUE) {
        json_put_uint(w, name_bytes, value->raw.len);
        return;
    }
    json_key(w, name);
    json_raw(w, value->raw);
}

void binding_write(const struct json_differences *differences, struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_array_open(&w);
    for (size_t i = 0; i < differences->count; i++) {
        const struct json_difference *d = &differences->items[i];

        json_object_open(&w);
        json_put_str(&w, S("path"), utf8_cut(d->path, BINDING_PATH));
        put_side(&w, S("from"), S("from_bytes"), d->from);
        put_side(&w, S("to"), S("to_bytes"), d->to);
        json_object_close(&w);
    }
    json_array_close(&w);
}

/* --- what it is about --- */

/* The last of that name: where it counts, there is one. */
static struct json_span member_of(struct json_span object, struct str name)
{
    struct json_span found = {};
    struct json_scan scan;
    struct json_member m;
    enum err err;

    if (!object.text.ptr || object.type != JSON_OBJECT)
        return found;
    json_scan_init(&scan, object.text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err))
        if (json_string_is(m.key, name))
            found = m.value;
    return found;
}

static struct str join(struct str method, struct str name, struct arena *arena)
{
    char *text = arena_alloc(arena, method.len + 1 + name.len);

    if (!text)
        return (struct str){};
    memcpy(text, method.ptr, method.len);
    text[method.len] = ':';
    if (name.len)
        memcpy(text + method.len + 1, name.ptr, name.len);
    return (struct str){ text, method.len + 1 + name.len };
}

struct str binding_subject(const struct kind *kind, struct json_span payload,
                           struct arena *arena)
{
    struct json_span params, found;
    struct str name;

    if (kind->context.ptr)
        return join(kind->method, kind->context, arena);
    params = member_of(payload, S("params"));
    found = member_of(params,
                      str_starts(kind->method, S("resources/")) ? S("uri") : S("name"));
    if (!found.text.ptr || found.type != JSON_STRING)
        return kind->method;
    if (json_unescape(found, arena, &name))
        return (struct str){};
    return join(kind->method, name, arena);
}
