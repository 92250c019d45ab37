/* SPDX-License-Identifier: Apache-2.0 */
/* What a fulfilment may differ in from what was proposed: nothing that counts. */
#include "approval/binding.h"
#include "base/cleanup.h"
#include "harness.h"

static struct json_span span_of(struct str text)
{
    return (struct json_span){ .type = JSON_OBJECT, .text = text };
}

/* "same", the paths that differ, or the error. */
static void judge(struct str method, struct str proposed, struct str asked,
                  struct buf *out)
{
    struct json_difference items[BINDING_MAX];
    struct json_differences ds = { .items = items, .max = COUNT(items) };
    struct arena arena;
    enum err err;

    arena_init(&arena, 1 << 20);
    err = binding_compare(method, span_of(proposed), span_of(asked), &arena, &ds);
    if (err)
        buf_put(out, str_of(err_name(err)));
    else if (ds.count == 0)
        buf_put(out, S("same"));
    for (size_t i = 0; !err && i < ds.count; i++)
        buf_putf(out, i ? " " STR_FMT : STR_FMT, STR_ARG(ds.items[i].path));
    arena_done(&arena);
}

#define CALL(rest) S("{\"method\":\"tools/call\",\"params\":" rest "}")
#define ARGS(rest) CALL("{\"name\":\"t\",\"arguments\":" rest "}")

TEST(a_call_is_bound_to_its_name_and_its_arguments)
{
    /* clang-format off */
    static const struct { struct str proposed, asked, told; } cases[] = {
        { ARGS("{\"a\":1,\"b\":[true,null]}"), ARGS("{ \"b\" : [true, null], \"a\" : 1e0 }"), S("same") },
        { ARGS("{}"), CALL("{\"name\":\"t\"}"), S("same") },
        { CALL("{\"name\":\"t\"}"), ARGS("{}"), S("same") },
        { ARGS("{}"), ARGS("null"), S("/params/arguments") },
        { ARGS("{\"a\":1}"), CALL("{\"name\":\"t\"}"), S("/params/arguments/a") },
        { ARGS("{\"a\":1}"), ARGS("{\"a\":2}"), S("/params/arguments/a") },
        { ARGS("{\"a\":1}"), ARGS("{\"a\":1,\"b\":0}"), S("/params/arguments/b") },
        { ARGS("{\"a\":1}"), ARGS("{\"a\":\"1\"}"), S("/params/arguments/a") },
        { ARGS("{\"a\":0}"), ARGS("{\"a\":false}"), S("/params/arguments/a") },
        { ARGS("{\"a\":\"x\"}"), ARGS("{\"A\":\"x\"}"), S("/params/arguments/A /params/arguments/a") },
        { ARGS("{\"a\":\"x\"}"), ARGS("{\"a\":\"x \"}"), S("/params/arguments/a") },
        { ARGS("{\"a\":\"\\u0078\"}"), ARGS("{\"\\u0061\":\"x\"}"), S("same") },
        { ARGS("{\"a\":\"\xc3\xbc\"}"), ARGS("{\"a\":\"u\xcc\x88\"}"), S("/params/arguments/a") },
        { ARGS("{\"a\":\"\\u0000\"}"), ARGS("{\"a\":\"\"}"), S("/params/arguments/a") },
        { ARGS("{\"a\":1}"), ARGS("{\"a\":1.00000000000000000000000001}"), S("/params/arguments/a") },
        { ARGS("{\"a\":9007199254740992}"), ARGS("{\"a\":9007199254740993}"), S("/params/arguments/a") },
        { ARGS("{\"a\":1e400}"), ARGS("{\"a\":10e399}"), S("same") },
        { ARGS("{\"a\":1e400}"), ARGS("{\"a\":1e401}"), S("/params/arguments/a") },
        { ARGS("{\"a\":[1,2]}"), ARGS("{\"a\":[2,1]}"), S("/params/arguments/a/0 /params/arguments/a/1") },
        { ARGS("{\"a\":{\"b\":{\"c\":1}}}"), ARGS("{\"a\":{\"b\":{\"c\":2}}}"), S("/params/arguments/a/b/c") },
        { ARGS("{}"), CALL("{\"name\":\"u\",\"arguments\":{}}"), S("/params/name") },
        { CALL("{}"), ARGS("{}"), S("/params/name") },
        { S("{}"), ARGS("{}"), S("/params/name") },
        { CALL("[]"), ARGS("{}"), S("/params") },
        /* what is not compared */
        { ARGS("{}"), CALL("{\"name\":\"t\",\"_meta\":{\"progressToken\":1},\"task\":{}}"), S("same") },
        { ARGS("{}"), S("{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}"), S("same") },
        /* names that stand twice, anywhere, in either */
        { ARGS("{\"a\":1}"), ARGS("{\"a\":1,\"a\":1}"), S("invalid") },
        { ARGS("{\"a\":1}"), ARGS("{\"a\":1,\"\\u0061\":2}"), S("invalid") },
        { ARGS("{\"a\":[{\"b\":1,\"b\":1}]}"), ARGS("{\"a\":[{\"b\":1}]}"), S("invalid") },
        { ARGS("{}"), CALL("{\"name\":\"t\",\"name\":\"t\"}"), S("invalid") },
        { ARGS("{}"), CALL("{\"name\":\"t\",\"_meta\":{\"x\":1,\"x\":1}}"), S("invalid") },
        { ARGS("{}"), S("{\"params\":{\"name\":\"t\"},\"params\":{\"name\":\"t\"}}"), S("invalid") },
        /* names that some reader takes for those that count */
        { ARGS("{}"), CALL("{\"name\":\"t\",\"Arguments\":{\"a\":1}}"), S("invalid") },
        { ARGS("{}"), CALL("{\"name\":\"t\",\"arguments\":{},\"ARGUMENTS\":{\"a\":1}}"), S("invalid") },
        { CALL("{\"name\":\"t\",\"arguments\\u0000\":{}}"), ARGS("{}"), S("invalid") },
        { ARGS("{}"), CALL("{\"name\":\"t\",\"Name\":\"u\"}"), S("invalid") },
        { ARGS("{}"), S("{\"params\":{\"name\":\"t\"},\"Params\":{\"name\":\"u\"}}"), S("invalid") },
        { ARGS("{\"Name\":1,\"params\":2}"), ARGS("{\"Name\":1,\"params\":2}"), S("same") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        judge(S("tools/call"), c->proposed, c->asked, &out);
        CHECK_STR(buf_str(&out), c->told);
        buf_done(&out);
    }
}

TEST(other_methods_are_bound_to_all_params_but_meta)
{
    /* clang-format off */
    static const struct { struct str proposed, asked, told; } cases[] = {
        { S("{\"params\":{\"uri\":\"a\"}}"), S("{\"params\":{\"uri\":\"a\",\"_meta\":{}}}"), S("same") },
        { S("{\"params\":{\"uri\":\"a\"}}"), S("{\"params\":{\"uri\":\"b\"}}"), S("/params/uri") },
        { S("{\"params\":{\"uri\":\"a\"}}"), S("{\"params\":{\"uri\":\"a\",\"arguments\":{}}}"), S("/params/arguments") },
        { S("{}"), S("{\"params\":{}}"), S("same") },
        { S("{}"), S("{\"params\":{\"_meta\":1}}"), S("same") },
        { S("{}"), S("{\"params\":[]}"), S("/params") },
        { S("{\"params\":[1]}"), S("{\"params\":[1.0]}"), S("same") },
        { S("{\"params\":{}}"), S("{\"params\":{},\"PARAMS\":{\"uri\":\"b\"}}"), S("invalid") },
        { S("{\"params\":{}}"), S("{\"params\":{\"Name\":1}}"), S("/params/Name") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        judge(S("resources/read"), c->proposed, c->asked, &out);
        CHECK_STR(buf_str(&out), c->told);
        buf_done(&out);
    }
}

TEST(what_has_too_many_values_is_not_compared)
{
    struct buf text;

    buf_init(&text, 4 << 20);
    buf_put(&text, S("{\"params\":["));
    for (size_t i = 0; i < 1 << 18; i++)
        buf_put(&text, S("0,"));
    buf_put(&text, S("0]}"));
    CHECK_INT(binding_check(S("x/y"), span_of(buf_str(&text))), ERR_TOO_BIG);
    CHECK_INT(binding_check(S("x/y"), span_of(S("{\"a\":1,\"a\":1}"))), ERR_INVALID);
    CHECK_INT(binding_check(S("x/y"), span_of(S("{\"a\":1,\"b\":1}"))), OK);
    CHECK_INT(binding_check(S("x/y"), span_of(CALL("{\"Name\":1}"))), OK);
    CHECK_INT(binding_check(S("tools/call"), span_of(CALL("{\"Name\":1}"))), ERR_INVALID);
    buf_done(&text);
}

TEST(an_edit_is_told_with_its_values_or_their_sizes)
{
    static const struct str proposed =
        ARGS("{\"gone\":1,\"same\":2,\"text\":\"a\",\"long\":0}");
    struct json_difference items[BINDING_MAX];
    struct json_differences ds = { .items = items, .max = COUNT(items) };
    struct arena arena;
    struct buf asked, out;

    arena_init(&arena, 1 << 20);
    buf_init(&asked, 1 << 20);
    buf_init(&out, 1 << 20);
    buf_put(&asked, S("{\"params\":{\"name\":\"t\",\"arguments\":{\"same\":2,"
                      "\"text\":\"b\",\"new\":[1, 2],\"long\":\""));
    for (size_t i = 0; i < 2000; i++)
        buf_putc(&asked, 'x');
    buf_put(&asked, S("\"}}}"));
    CHECK_INT(binding_compare(S("tools/call"), span_of(proposed),
                              span_of(buf_str(&asked)), &arena, &ds),
              OK);
    binding_write(&ds, &out);
    CHECK_STR(buf_str(&out),
              S("[{\"path\":\"/params/arguments/gone\",\"from\":1},"
                "{\"path\":\"/params/arguments/long\",\"from\":0,\"to_bytes\":2002},"
                "{\"path\":\"/params/arguments/new\",\"to\":[1, 2]},"
                "{\"path\":\"/params/arguments/text\",\"from\":\"a\",\"to\":\"b\"}]"));
    buf_done(&out);
    buf_done(&asked);
    arena_done(&arena);
}

TEST(the_subject_is_what_the_kind_says_else_what_params_say)
{
    /* clang-format off */
    static const struct { struct str kind, payload, subject; } cases[] = {
        { S("mcp/proposal:tools/call:a"), CALL("{\"name\":\"b\"}"), S("tools/call:a") },
        { S("mcp/proposal:tools/call"), CALL("{\"name\":\"b\"}"), S("tools/call:b") },
        { S("mcp/request:tools/call"), CALL("{\"name\":\"\\u0062\"}"), S("tools/call:b") },
        { S("mcp/proposal:tools/call"), CALL("{\"name\":5}"), S("tools/call") },
        { S("mcp/proposal:tools/call"), S("{}"), S("tools/call") },
        { S("mcp/proposal:resources/read"), CALL("{\"uri\":\"file:///x\"}"), S("resources/read:file:///x") },
        { S("mcp/proposal:tools/list"), S("{\"params\":7}"), S("tools/list") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct arena arena;
        struct kind kind;

        arena_init(&arena, 1 << 16);
        CHECK_INT(kind_parse(c->kind, &kind), OK);
        CHECK_STR(binding_subject(&kind, span_of(c->payload), &arena), c->subject);
        arena_done(&arena);
    }
}
