/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/arguments.h"

#include "base/arena.h"
#include "json/json.h"

enum { ARENA_BYTES = 256 << 20 };

static int parse_object(const char *option, struct str text, struct arena *arena,
                        const struct json **ret)
{
    struct json_problem problem = {};

    if (json_parse(text, arena, ret, &problem))
        return cli_fail("%s: this is no JSON: %s at byte %zu", option, problem.what,
                        problem.at + 1),
               CLI_USAGE;
    if ((*ret)->type != JSON_OBJECT)
        return cli_fail("%s takes a JSON object, {…}", option), CLI_USAGE;
    return CLI_OK;
}

int cli_check_object(const char *option, struct str text, struct str *ret)
{
    const struct json *root;
    struct arena arena;
    int code;

    arena_init(&arena, ARENA_BYTES);
    code = parse_object(option, text, &arena, &root);
    if (code == CLI_OK)
        *ret = root->raw;
    arena_done(&arena);
    return code;
}

/* JSON that is no string, and nothing around it. */
static bool is_json(struct str text)
{
    struct json_scan scan;
    struct json_span span;

    json_scan_init(&scan, text, JSON_MAX_DEPTH);
    return json_value(&scan, &span) == OK && json_scan_end(&scan) == OK &&
           span.type != JSON_STRING && span.text.len == text.len;
}

static struct str name_of(const char *pair)
{
    struct str s = str_of(pair);

    return str_slice(s, 0, str_find(s, '=', 0));
}

static bool is_given_before(const struct cli_list *pairs, size_t at,
                            const struct json *object)
{
    struct str name = name_of(pairs->items[at]);

    for (size_t i = 0; i < at; i++)
        if (str_eq(name_of(pairs->items[i]), name))
            return true;
    return json_find(object, name) != NULL;
}

static int put_pair(struct json_writer *w, const char *pair)
{
    struct str name = name_of(pair);
    struct str value = str_of(pair);

    if (name.len == 0 || name.len == value.len)
        return cli_fail("--arg takes NAME=VALUE, not \"%s\"", pair), CLI_USAGE;
    value = str_slice(value, name.len + 1, value.len);
    json_key(w, name);
    if (is_json(value))
        json_raw(w, value);
    else
        json_str(w, value);
    return CLI_OK;
}

static int put_all(const struct cli_list *pairs, const struct json *object,
                   struct buf *out)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    if (object)
        JSON_FOREACH(member, object) {
            json_key(&w, member->key);
            json_raw(&w, member->raw);
        }
    for (size_t i = 0; i < pairs->count; i++) {
        int code = put_pair(&w, pairs->items[i]);

        if (code)
            return code;
        if (is_given_before(pairs, i, object))
            return cli_fail("the argument \"" STR_FMT "\" is given twice",
                            STR_ARG(name_of(pairs->items[i]))),
                   CLI_USAGE;
    }
    json_object_close(&w);
    return out->is_full ? cli_fail("the arguments are too long") : CLI_OK;
}

int cli_arguments(const struct cli_list *pairs, struct str json, struct buf *out)
{
    const struct json *object = NULL;
    struct arena arena;
    int code = CLI_OK;

    arena_init(&arena, ARENA_BYTES);
    if (json.len)
        code = parse_object("--json-args", json, &arena, &object);
    if (code == CLI_OK)
        code = put_all(pairs, object, out);
    arena_done(&arena);
    return code;
}
