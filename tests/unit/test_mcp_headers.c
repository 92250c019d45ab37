/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of the modern era, with the vectors of the conformance suite and more. */
#include "base/arena.h"
#include "base/buf.h"
#include "harness.h"
#include "mcp/headers.h"

enum { ROOM = 1 << 20 };

TEST(values_go_plainly_where_http_can_carry_them)
{
    static const struct {
        struct str value, encoded;
    } cases[] = {
        { S("us-west1"), S("us-west1") },
        { S("us west 1"), S("us west 1") },
        { S("~!{}\""), S("~!{}\"") },
        { S(""), S("=?base64?\?=") },
        { S(" us-west1"), S("=?base64?IHVzLXdlc3Qx?=") },
        { S("us-west1 "), S("=?base64?dXMtd2VzdDEg?=") },
        { S("a\tb"), S("=?base64?YQli?=") },
        { S("line1\r\nline2"), S("=?base64?bGluZTENCmxpbmUy?=") },
        { S("Hello, \xE4\xB8\x96\xE7\x95\x8C"), S("=?base64?SGVsbG8sIOS4lueVjA==?=") },
        { S("a\0b"), S("=?base64?YQBi?=") },
        { S("\x7f"), S("=?base64?fw==?=") },
        /* what looks encoded and is not */
        { S("=?base64?SGVsbG8=?="), S("=?base64?PT9iYXNlNjQ/U0dWc2JHOD0/PQ==?=") },
        { S("=?base64?x"), S("=?base64?x") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 1000);
        header_put_value(&out, c->value);
        CHECK_STR(buf_str(&out), c->encoded);
        buf_done(&out);
    }
}

static const struct json *tree(struct arena *arena, const char *before, const char *text,
                               const char *after)
{
    struct buf buf;
    const struct json *ret = NULL;
    struct str kept;

    buf_init(&buf, ROOM);
    buf_putf(&buf, "%s%s%s", before, text, after);
    kept = arena_str(arena, buf_str(&buf));
    CHECK_INT(json_parse(kept, arena, &ret, NULL), OK);
    buf_done(&buf);
    return ret;
}

static const struct json *tool_of(struct arena *arena, const char *schema)
{
    return tree(arena, "{\"name\":\"t\",\"inputSchema\":", schema, "}");
}

#define OBJECT(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"
#define STRING(header)     "{\"type\":\"string\",\"x-mcp-header\":\"" header "\"}"

TEST(a_tool_is_used_only_with_annotations_that_can_be_meant)
{
    static const struct {
        const char *schema;
        bool is_fine;
    } cases[] = {
        { "{\"type\":\"object\"}", true },
        { OBJECT("\"a\":" STRING("Region")), true },
        { OBJECT("\"a\":{\"type\":\"integer\",\"x-mcp-header\":\"A\"},"
                 "\"b\":{\"type\":\"boolean\",\"x-mcp-header\":\"B\"}"),
          true },
        { OBJECT("\"o\":" OBJECT("\"a\":" STRING("Deep"))), true },
        /* not an annotation: the name of a property, a value */
        { OBJECT("\"x-mcp-header\":{\"type\":\"object\"}"), true },
        { OBJECT("\"a\":{\"type\":\"object\",\"default\":{\"x-mcp-header\":\"\"}}"),
          true },
        { OBJECT("\"a\":{\"enum\":[{\"x-mcp-header\":\"\"}]}"), true },
        { OBJECT("\"properties\":" STRING("P")), true },
        /* names */
        { OBJECT("\"a\":" STRING("")), false },
        { OBJECT("\"a\":" STRING("My Region")), false },
        { OBJECT("\"a\":" STRING("Region:Primary")), false },
        { OBJECT("\"a\":" STRING("R\xC3\xA9gion")), false },
        { OBJECT("\"a\":" STRING("Region\\t1")), false },
        { OBJECT("\"a\":" STRING("Region\\r\\nX: y")), false },
        { OBJECT("\"a\":" STRING("a\\u0000b")), false },
        { OBJECT("\"a\":{\"type\":\"string\",\"x-mcp-header\":7}"), false },
        { OBJECT("\"a\":{\"type\":\"string\",\"x-mcp-header\":null}"), false },
        /* types */
        { OBJECT("\"a\":{\"type\":\"object\",\"x-mcp-header\":\"A\"}"), false },
        { OBJECT("\"a\":{\"type\":\"array\",\"x-mcp-header\":\"A\"}"), false },
        { OBJECT("\"a\":{\"type\":\"null\",\"x-mcp-header\":\"A\"}"), false },
        { OBJECT("\"a\":{\"type\":\"number\",\"x-mcp-header\":\"A\"}"), false },
        { OBJECT("\"a\":{\"type\":[\"string\"],\"x-mcp-header\":\"A\"}"), false },
        { OBJECT("\"a\":{\"x-mcp-header\":\"A\"}"), false },
        /* twice, in any case, at any depth */
        { OBJECT("\"a\":" STRING("R") ",\"b\":" STRING("R")), false },
        { OBJECT("\"a\":" STRING("My-F") ",\"b\":" STRING("mY-f")), false },
        { OBJECT("\"a\":" STRING("R") ",\"o\":" OBJECT("\"b\":" STRING("r"))), false },
        /* places */
        { "{\"type\":\"string\",\"x-mcp-header\":\"Root\"}", false },
        { OBJECT("\"a\":{\"type\":\"array\",\"items\":" STRING("I") "}"), false },
        { OBJECT("\"a\":{\"items\":" OBJECT("\"b\":" STRING("I")) "}"), false },
        { OBJECT("\"a\":{\"oneOf\":[" STRING("I") "]}"), false },
        { "{\"allOf\":[" OBJECT("\"b\":" STRING("I")) "]}", false },
        { "{\"$defs\":{\"d\":" STRING("I") "}}", false },
        { "{\"if\":" OBJECT("\"b\":" STRING("I")) "}", false },
        { "{\"additionalProperties\":" STRING("I") "}", false },
        { "{\"patternProperties\":{\"^x\":" STRING("I") "}}", false },
    };
    struct arena arena;

    arena_init(&arena, ROOM);
    FOR_EACH_CASE(c, cases) {
        arena_reset(&arena);
        CHECK_INT(header_tool_fault(tool_of(&arena, c->schema)) == NULL, c->is_fine);
    }
    arena_done(&arena);
}

TEST(a_tool_without_a_schema_has_no_annotations)
{
    struct arena arena;

    arena_init(&arena, ROOM);
    CHECK(!header_tool_fault(tree(&arena, "", "{\"name\":\"t\"}", "")));
    CHECK(!header_tool_fault(NULL));
    arena_done(&arena);
}

TEST(endless_annotations_are_refused)
{
    struct arena arena;
    struct buf schema;

    arena_init(&arena, ROOM);
    buf_init(&schema, ROOM);
    buf_put(&schema, S("{\"properties\":{"));
    for (int i = 0; i < 100; i++)
        buf_putf(&schema, "%s\"p%d\":{\"type\":\"string\",\"x-mcp-header\":\"H%d\"}",
                 i ? "," : "", i, i);
    buf_put(&schema, S("}}"));
    CHECK(header_tool_fault(tool_of(&arena, buf_cstr(&schema))));
    buf_done(&schema);
    arena_done(&arena);
}

TEST(arguments_are_mirrored_into_fields)
{
    static const struct {
        const char *schema, *arguments;
        struct str fields; /* one per line */
    } cases[] = {
        { OBJECT("\"a\":" STRING("Region") ",\"b\":{\"type\":\"integer\","
                                           "\"x-mcp-header\":\"Priority\"},\"c\":{"
                                           "\"type\":\"boolean\",\"x-mcp-header\":"
                                           "\"Verbose\"},\"q\":{\"type\":\"string\"}"),
          "{\"a\":\"us\",\"b\":42,\"c\":false,\"q\":\"no\"}",
          S("Mcp-Param-Region: us\nMcp-Param-Priority: 42\nMcp-Param-Verbose: false\n") },
        { OBJECT("\"a\":" STRING("Method")), "{\"a\":\"x\\u00e9\"}",
          S("Mcp-Param-Method: =?base64?eMOp?=\n") },
        { OBJECT("\"a\":" STRING("A")), "{\"a\":\"x\\r\\nEvil: 1\"}",
          S("Mcp-Param-A: =?base64?eA0KRXZpbDogMQ==?=\n") },
        { OBJECT("\"a\":" STRING("A")), "{\"a\":\"\"}",
          S("Mcp-Param-A: =?base64?\?=\n") },
        /* null, absent, or of a kind that no header has */
        { OBJECT("\"a\":" STRING("A")), "{\"a\":null}", S("") },
        { OBJECT("\"a\":" STRING("A")), "{}", S("") },
        { OBJECT("\"a\":" STRING("A")), "{\"a\":{\"b\":1}}", S("") },
        /* nested */
        { OBJECT("\"o\":" OBJECT("\"a\":" STRING("Deep"))), "{\"o\":{\"a\":\"v\"}}",
          S("Mcp-Param-Deep: v\n") },
        { OBJECT("\"o\":" OBJECT("\"a\":" STRING("Deep"))), "{\"a\":\"v\",\"o\":1}",
          S("") },
        /* what is wrongly annotated is not sent */
        { OBJECT("\"a\":" STRING("A\\r\\nX: y")), "{\"a\":\"v\"}", S("") },
    };
    struct arena arena;

    arena_init(&arena, ROOM);
    FOR_EACH_CASE(c, cases) {
        struct str_list fields = {};
        struct buf all;

        arena_reset(&arena);
        buf_init(&all, ROOM);
        CHECK_INT(header_params(tool_of(&arena, c->schema),
                                tree(&arena, "", c->arguments, ""), &arena, &fields),
                  OK);
        for (size_t i = 0; i < fields.count; i++)
            buf_putf(&all, STR_FMT "\n", STR_ARG(fields.items[i]));
        CHECK_STR(buf_str(&all), c->fields);
        buf_done(&all);
    }
    arena_done(&arena);
}

TEST(a_value_too_long_for_a_header_is_an_error)
{
    struct arena arena;
    struct str_list fields;
    struct buf arguments;

    arena_init(&arena, ROOM);
    buf_init(&arguments, ROOM);
    buf_put(&arguments, S("{\"a\":\""));
    for (int i = 0; i < 10'000; i++)
        buf_putc(&arguments, 'x');
    buf_put(&arguments, S("\"}"));
    CHECK_INT(header_params(tool_of(&arena, OBJECT("\"a\":" STRING("A"))),
                            tree(&arena, "", buf_cstr(&arguments), ""), &arena, &fields),
              ERR_TOO_BIG);
    buf_done(&arguments);
    arena_done(&arena);
}

TEST(what_a_request_is_about_stands_in_its_name)
{
    static const struct {
        struct str method;
        const char *params;
        struct str name;
    } cases[] = {
        { S("tools/call"), "{\"name\":\"a\\u0062\"}", S("ab") },
        { S("prompts/get"), "{\"name\":\"p\"}", S("p") },
        { S("resources/read"), "{\"uri\":\"file:///x\",\"name\":\"n\"}", S("file:///x") },
        { S("tasks/get"), "{\"taskId\":\"t\"}", S("t") },
        { S("tasks/update"), "{\"taskId\":\"t\"}", S("t") },
        { S("tasks/cancel"), "{\"taskId\":\"t\"}", S("t") },
        { S("tools/list"), "{\"name\":\"n\"}", S("") },
        { S("tools/call"), "{\"name\":7}", S("") },
        { S("tools/call"), "{}", S("") },
    };
    struct arena arena;

    arena_init(&arena, ROOM);
    FOR_EACH_CASE(c, cases) {
        arena_reset(&arena);
        CHECK_STR(header_name(c->method, tree(&arena, "", c->params, "")), c->name);
    }
    CHECK_STR(header_name(S("tools/call"), NULL), S(""));
    arena_done(&arena);
}
