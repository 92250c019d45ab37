/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "harness.h"
#include "json/canonical.h"

static const struct json *parse(struct str text, struct arena *arena)
{
    static const struct json nothing = { .type = JSON_NULL };
    const struct json *tree = &nothing;

    CHECK_INT(json_parse(text, arena, &tree, NULL), OK);
    return tree;
}

TEST(values_that_mean_the_same_have_the_same_form)
{
    /* clang-format off */
    static const struct { struct str text, form; } cases[] = {
        { S(" [ ] "), S("[]") },
        { S("{ }"), S("{}") },
        { S("[null, true ,false]"), S("[null,true,false]") },
        { S("{\"b\": [1.50, \"\\u0041\"], \"a\": {}}"), S("{\"a\":{},\"b\":[1.5,\"A\"]}") },
        { S("{\"\\u0062\":1,\"a\":{\"z\":[],\"y\":[[2]]}}"), S("{\"a\":{\"y\":[[2]],\"z\":[]},\"b\":1}") },
        { S("\"\\u00fc\\/\\n\""), S("\"\xc3\xbc/\\n\"") },
        { S("\"u\xcc\x88\""), S("\"u\xcc\x88\"") }, /* is not the ü above */
        { S("{\"aa\":1,\"a\":2,\"B\":3,\"\":4}"), S("{\"\":4,\"B\":3,\"a\":2,\"aa\":1}") },
        { S("-0.0"), S("0") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct arena arena;
        struct buf out;

        arena_init(&arena, 1 << 20);
        buf_init(&out, 4096);
        CHECK_INT(json_canonical_put(&out, parse(c->text, &arena), &arena), OK);
        CHECK_STR(buf_str(&out), c->form);
        buf_done(&out);
        arena_done(&arena);
    }
}

TEST(a_form_that_does_not_fit_is_an_error)
{
    struct arena arena;
    struct buf out;

    arena_init(&arena, 1 << 20);
    buf_init(&out, 4);
    CHECK_INT(json_canonical_put(&out, parse(S("[1,2,3]"), &arena), &arena), ERR_TOO_BIG);
    buf_done(&out);
    arena_done(&arena);
}

/* The paths, each with "-" what was, "+" what is. */
static void put_differences(const struct json_differences *ds, struct buf *out)
{
    for (size_t i = 0; i < ds->count; i++) {
        const struct json_difference *d = &ds->items[i];

        buf_put(out, d->path);
        if (d->from)
            buf_putf(out, " -" STR_FMT, STR_ARG(d->from->raw));
        if (d->to)
            buf_putf(out, " +" STR_FMT, STR_ARG(d->to->raw));
        buf_putc(out, ';');
    }
    if (ds->has_more)
        buf_put(out, S("..."));
}

TEST(differences_are_told_by_their_paths)
{
    /* clang-format off */
    static const struct { struct str from, to, told; } cases[] = {
        { S("1"), S("1.0"), S("") },
        { S("1"), S("\"1\""), S("/p -1 +\"1\";") },
        { S("{\"a\":1,\"b\":2}"), S("{\"b\":2e0,\"a\":1}"), S("") },
        { S("{\"a\":1}"), S("{}"), S("/p/a -1;") },
        { S("{}"), S("{\"a\":null}"), S("/p/a +null;") },
        { S("{\"a\":1,\"c\":1}"), S("{\"b\":1,\"c\":1}"), S("/p/a -1;/p/b +1;") },
        { S("{\"a/b\":1,\"~\":{\"\":2}}"), S("{\"a/b\":2,\"~\":{\"\":3}}"), S("/p/a~1b -1 +2;/p/~0/ -2 +3;") },
        { S("[1,2,3]"), S("[1,3]"), S("/p/1 -2 +3;/p/2 -3;") },
        { S("[[],[{}]]"), S("[[],[{\"x\":[0]}],0]"), S("/p/1/0/x +[0];/p/2 +0;") },
        { S("[]"), S("{}"), S("/p -[] +{};") },
        { S("true"), S("false"), S("/p -true +false;") },
        { S("\"a\\u0062\""), S("\"\\u0061b\""), S("") },
        { S("[0.1]"), S("[0.10000000000000000001]"), S("/p/0 -0.1 +0.10000000000000000001;") },
        { S("[1,2,3,4,5]"), S("[0,0,0,0,0]"), S("/p/0 -1 +0;/p/1 -2 +0;/p/2 -3 +0;...") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct json_difference items[3];
        struct json_differences ds = { .items = items, .max = COUNT(items) };
        struct arena arena;
        struct buf out;

        arena_init(&arena, 1 << 20);
        buf_init(&out, 4096);
        CHECK_INT(json_differ(parse(c->from, &arena), parse(c->to, &arena), S("/p"),
                              &arena, &ds),
                  OK);
        put_differences(&ds, &out);
        CHECK_STR(buf_str(&out), c->told);
        buf_done(&out);
        arena_done(&arena);
    }
}

TEST(trees_of_the_greatest_depth_are_compared)
{
    struct json_difference items[1];
    struct json_differences ds = { .items = items, .max = 1 };
    struct arena arena;
    struct buf text, out;

    arena_init(&arena, 1 << 20);
    buf_init(&text, 4096);
    buf_init(&out, 4096);
    for (size_t i = 0; i < JSON_TREE_DEPTH; i++)
        buf_putc(&text, '[');
    for (size_t i = 0; i < JSON_TREE_DEPTH; i++)
        buf_putc(&text, ']');
    CHECK_INT(json_differ(parse(buf_str(&text), &arena), parse(buf_str(&text), &arena),
                          S(""), &arena, &ds),
              OK);
    CHECK_INT(ds.count, 0);
    CHECK_INT(json_canonical_put(&out, parse(buf_str(&text), &arena), &arena), OK);
    CHECK_STR(buf_str(&out), buf_str(&text));
    buf_done(&out);
    buf_done(&text);
    arena_done(&arena);
}
