/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON as a user of the library reads it: a copy of the tree whose texts end with NUL.
 */
#include "json/json.h"

#include "base/cleanup.h"
#include "base/decimal.h"
#include "client/moot_priv.h"

struct moot_json {
    enum json_type type;
    const char *text; /* of strings; else NULL */
    const char *key;
    struct moot_str raw;
    const struct moot_json *first, *next;
};

/* NULL: the arena is full. */
static struct moot_json *view_of(const struct json *json, struct arena *arena)
{
    struct moot_json *view = arena_alloc(arena, sizeof(*view));

    if (!view)
        return NULL;
    *view = (struct moot_json){
        .type = json->type,
        .key = json->key.len ? view_copy(arena, json->key) : "",
        .raw = view_str(json->raw),
    };
    if (json->type == JSON_STRING)
        view->text = view_copy(arena, json->text);
    return view->key && (view->text || json->type != JSON_STRING) ? view : NULL;
}

/* A row of siblings that is still to be copied, and where the next of them hangs. */
struct row {
    const struct json *next;
    const struct moot_json **hook;
};

static const struct moot_json *json_view(const struct json *tree, struct arena *arena)
{
    const struct moot_json *root = NULL;
    struct row rows[JSON_TREE_DEPTH + 2] = { { tree, &root } };
    size_t depth = 1;

    while (depth) {
        struct row *row = &rows[depth - 1];
        const struct json *json = row->next;
        struct moot_json *view;

        if (!json) {
            depth--;
            continue;
        }
        view = view_of(json, arena);
        if (!view)
            return NULL;
        *row->hook = view;
        *row = (struct row){ json->next, &view->next };
        if (json->first)
            rows[depth++] = (struct row){ json->first, &view->first };
    }
    return root;
}

enum err json_view_text(struct str text, struct arena *scratch, struct arena *arena,
                        const struct moot_json **ret, const char **ret_what)
{
    struct str copy = arena_str(arena, text);
    struct json_problem problem = { .what = "too large" };
    const struct moot_json *view;
    const struct json *tree;
    enum err err = copy.ptr ? OK : ERR_TOO_BIG;

    if (!err)
        err = json_parse(copy, scratch, &tree, &problem);
    *ret_what = problem.what;
    if (err)
        return err == ERR_TOO_BIG ? ERR_TOO_BIG : ERR_INVALID;
    view = json_view(tree, arena);
    *ret_what = "too large";
    if (!view)
        return ERR_TOO_BIG;
    *ret = view;
    return OK;
}

const struct moot_json *moot_parse(struct moot *m, struct moot_str text)
{
    const struct moot_json *view = NULL;
    const char *what;
    enum err err;

    arena_reset(&m->desk->scratch);
    err = json_view_text((struct str){ text.ptr, text.len }, &m->desk->scratch,
                         &m->desk->given, &view, &what);
    if (err)
        (void)handle_fail(m, err, what);
    return view;
}

const struct moot_json *moot_payload(struct moot *m, const struct moot_message *message)
{
    return message ? moot_parse(m, message->payload) : NULL;
}

const struct moot_json *moot_get(const struct moot_json *json, const char *name)
{
    if (!json || json->type != JSON_OBJECT || !name)
        return NULL;
    for (const struct moot_json *at = json->first; at; at = at->next)
        if (strcmp(at->key, name) == 0)
            return at;
    return NULL;
}

const struct moot_json *moot_first(const struct moot_json *json)
{
    return json ? json->first : NULL;
}

const struct moot_json *moot_next(const struct moot_json *json)
{
    return json ? json->next : NULL;
}

const char *moot_key(const struct moot_json *json)
{
    return json ? json->key : "";
}

struct moot_str moot_raw(const struct moot_json *json)
{
    return json ? json->raw : (struct moot_str){ "", 0 };
}

const char *moot_text(const struct moot_json *json)
{
    return json ? json->text : NULL;
}

bool moot_number(const struct moot_json *json, double *ret)
{
    return json && json->type == JSON_NUMBER &&
           decimal_parse((struct str){ json->raw.ptr, json->raw.len }, ret) == OK;
}

bool moot_is_true(const struct moot_json *json)
{
    return json && json->type == JSON_TRUE;
}

size_t moot_quote(const char *text, char *out, size_t size)
{
    CLEANUP(buf_done) struct buf quoted;
    struct str s = str_of(text);
    struct json_writer w;
    size_t len;

    buf_init(&quoted, s.len * 6 + 3);
    json_write_init(&w, &quoted);
    json_str(&w, s);
    len = quoted.len;
    if (size) {
        size_t fits = len < size ? len : size - 1;

        memcpy(out, quoted.ptr, fits);
        out[fits] = '\0';
    }
    return len;
}
