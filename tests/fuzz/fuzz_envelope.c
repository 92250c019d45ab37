/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The envelope scan against the tree: what the scan accepts the tree accepts as well, and
 * every field says the same in both. Names given twice inside the payload are the one
 * thing that only the tree minds.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "envelope/envelope.h"
#include "json/json.h"

enum { ROOM = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void expect_text(const struct json *root, struct str name, struct str got)
{
    const struct json *member = json_find(root, name);

    expect((member != NULL) == (got.ptr != NULL));
    if (member)
        expect(member->type == JSON_STRING && str_eq(member->text, got));
}

static void compare(const struct envelope *env, const struct json *root)
{
    const struct json *to = json_find(root, S("to"));
    size_t i = 0;

    expect(root->type == JSON_OBJECT);
    expect_text(root, S("protocol"), dialect_protocol(DIALECT_SLASH));
    expect_text(root, S("id"), env->id);
    expect_text(root, S("from"), env->from);
    expect_text(root, S("ts"), env->ts);
    expect_text(root, S("kind"), env->kind_text);
    expect_text(root, S("correlation_id"), env->correlation_id);
    expect(json_find(root, S("payload"))->type == JSON_OBJECT);
    expect(env->to_count == (to ? to->count : 0));
    if (to)
        JSON_FOREACH(item, to)
            expect(str_eq(item->text, env->to[i++]));
}

static bool is_repeated(const struct json_problem *problem)
{
    return str_eq(str_of(problem->what), S("a name is given twice"));
}

/* An id that goes back to the sender is always one that could have been accepted. */
static void check_refused(struct str text, enum err err, const struct envelope *env,
                          const struct envelope_problem *problem)
{
    expect(problem->at <= text.len && problem->what);
    expect((err == ERR_UTF8) == !utf8_is_valid(text));
    expect(env->id.len <= ENVELOPE_MAX_ID && utf8_is_valid(env->id));
    expect(env->to == NULL && env->from.ptr == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    struct envelope_problem problem = {};
    struct json_problem tree_problem = {};
    const struct json *root = NULL;
    struct envelope env;
    struct arena scratch, arena;
    enum err err, tree_err;
    struct kind kind;

    arena_init(&scratch, ROOM);
    arena_init(&arena, (size_t)128 * ROOM);
    err = envelope_scan(text, 128, DIALECT_SLASH, &scratch, &env, &problem);
    tree_err = json_parse(text, &arena, &root, &tree_problem);
    if (err)
        check_refused(text, err, &env, &problem);
    else if (tree_err)
        expect(is_repeated(&tree_problem));
    else
        compare(&env, root);
    if (!err && kind_parse(env.kind_text, &kind) == OK)
        expect(utf8_is_valid(kind.text) && !memchr(kind.text.ptr, 0, kind.text.len));
    arena_done(&arena);
    arena_done(&scratch);
    return 0;
}
