/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "envelope/envelope.h"
#include "harness.h"

enum { ROOM = 1 << 20 };

/* An envelope with everything that is required, without the closing brace. */
#define HEAD                                                                           \
    "{\"protocol\":\"mcpx/v0.1\",\"id\":\"e-1\",\"from\":\"alice\",\"kind\":\"chat\"," \
    "\"payload\":{\"text\":\"hi\"}"

static struct arena scratch;
static struct envelope env;
static struct envelope_problem problem;

static enum err scan_room(struct str text, size_t room)
{
    arena_done(&scratch);
    arena_init(&scratch, room);
    env = (struct envelope){ .id = S("stale") };
    problem = (struct envelope_problem){ .what = "" };
    return envelope_scan(text, ENVELOPE_DEFAULT_DEPTH, DIALECT_SLASH, &scratch, &env,
                         &problem);
}

static enum err scan(struct str text)
{
    return scan_room(text, ROOM);
}

TEST(d7_the_fields_of_an_envelope_are_found)
{
    struct str text = S(" { \"kind\" : \"mcp/request:tools/call:x\", \"x-other\":[1,{}],"
                        "\"protocol\":\"mcpx/v0.1\",\"id\":\"i\",\"from\":\"f\","
                        "\"to\":[\"a\",\"b\\u0063\"],\"ts\":\"2025-08-26T14:00:00Z\","
                        "\"correlation_id\":\"c\",\"payload\":{\"a\":[1]},"
                        "\"expires_at\":12,\"edited\":true,"
                        "\"rule\":\"r-\\u0031\"}\r\n");

    CHECK_INT(scan(text), OK);
    CHECK_STR(env.text, text);
    CHECK_STR(env.raw_protocol, S("mcpx/v0.1"));
    CHECK_STR(env.id, S("i"));
    CHECK_STR(env.from, S("f"));
    CHECK_STR(env.ts, S("2025-08-26T14:00:00Z"));
    CHECK_STR(env.correlation_id, S("c"));
    CHECK_STR(env.kind_text, S("mcp/request:tools/call:x"));
    CHECK_INT(env.payload.type, JSON_OBJECT);
    CHECK_STR(env.payload.text, S("{\"a\":[1]}"));
    CHECK_INT(env.expires_at.type, JSON_NUMBER);
    CHECK_STR(env.expires_at.text, S("12"));
    CHECK_INT(env.edited.type, JSON_TRUE);
    CHECK_STR(env.rule, S("r-1"));
    CHECK_INT(env.to_count, 2);
    CHECK_STR(env.to[0], S("a"));
    CHECK_STR(env.to[1], S("bc"));
    CHECK(env.id.ptr > text.ptr && env.id.ptr < text.ptr + text.len);
    CHECK(envelope_names(&env, S("a")));
    CHECK(envelope_names(&env, S("bc")));
    CHECK(!envelope_names(&env, S("b")));
    CHECK(!envelope_names(&env, S("")));
}

TEST(d7_what_is_optional_may_be_absent)
{
    CHECK_INT(scan(S(HEAD "}")), OK);
    CHECK(env.ts.ptr == NULL);
    CHECK(env.correlation_id.ptr == NULL);
    CHECK(env.expires_at.text.ptr == NULL);
    CHECK(env.edited.text.ptr == NULL);
    CHECK(env.rule.ptr == NULL);
    CHECK(env.to == NULL);
    CHECK_INT(env.to_count, 0);
    CHECK(!envelope_names(&env, S("alice")));
    CHECK_INT(scan(S(HEAD ",\"to\":[]}")), OK);
    CHECK_INT(env.to_count, 0);
    CHECK_INT(scan(S(HEAD ",\"to\":[ ]}")), OK);
    CHECK_INT(env.to_count, 0);
}

TEST(d7_every_required_field_is_missed)
{
    static const struct {
        struct str text, field;
    } cases[] = {
        { S("{}"), S("protocol") },
        { S("{\"id\":\"i\",\"from\":\"f\",\"kind\":\"k\",\"payload\":{}}"),
          S("protocol") },
        { S("{\"protocol\":\"mcpx/v0.1\",\"from\":\"f\",\"kind\":\"k\",\"payload\":{}}"),
          S("id") },
        { S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"i\",\"kind\":\"k\",\"payload\":{}}"),
          S("from") },
        { S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"i\",\"from\":\"f\",\"payload\":{}}"),
          S("kind") },
        { S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"i\",\"from\":\"f\",\"kind\":\"k\"}"),
          S("payload") },
    };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(scan(c->text), ERR_MALFORMED_ENVELOPE);
        CHECK_STR(problem.field, c->field);
        CHECK_STR(str_of(problem.what), S("is missing"));
        CHECK_INT(problem.at, c->text.len);
    }
}

static const struct {
    const char *field, *value;
    enum err err;
} field_cases[] = {
    { "protocol", "1", ERR_MALFORMED_ENVELOPE },
    { "protocol", "null", ERR_MALFORMED_ENVELOPE },
    { "protocol", "[\"mcpx/v0.1\"]", ERR_MALFORMED_ENVELOPE },
    { "protocol", "\"mcpx\\/v0.1\"", OK },
    { "protocol", "\"mcp\\u0078/v0.1\"", OK },
    { "protocol", "\"mcpx/v0.1\\u0000\"", ERR_UNSUPPORTED_PROTOCOL },
    { "id", "1", ERR_MALFORMED_ENVELOPE },
    { "id", "null", ERR_MALFORMED_ENVELOPE },
    { "id", "\"\"", ERR_MALFORMED_ENVELOPE },
    { "id", "{}", ERR_MALFORMED_ENVELOPE },
    { "id", "\" \"", OK },
    { "id", "\"\xc2\xa0\"", OK },
    { "id", "\"\\u0000\"", ERR_MALFORMED_ENVELOPE },
    { "id", "\"a\\u0000b\"", ERR_MALFORMED_ENVELOPE },
    { "id", "\"a\\nb\"", ERR_MALFORMED_ENVELOPE },
    { "id", "\"a\x7f\"", ERR_MALFORMED_ENVELOPE },
    { "id", "\"a\\u007f\"", ERR_MALFORMED_ENVELOPE },
    { "id", "\"a\xc2\x80\"", ERR_MALFORMED_ENVELOPE },
    { "id", "\"a\\u009f\"", ERR_MALFORMED_ENVELOPE },
    { "from", "1", ERR_MALFORMED_ENVELOPE },
    { "from", "true", ERR_MALFORMED_ENVELOPE },
    { "from", "\"\"", ERR_MALFORMED_ENVELOPE },
    { "from", "\"al\\u0069ce\"", OK },
    { "from", "\"alice\\u0000\"", ERR_MALFORMED_ENVELOPE },
    { "from", "\"alice\\r\"", ERR_MALFORMED_ENVELOPE },
    { "kind", "7", ERR_MALFORMED_ENVELOPE },
    { "kind", "[]", ERR_MALFORMED_ENVELOPE },
    { "kind", "\"\"", OK }, /* the grammar is judged by kind_parse */
    { "kind", "\"system/x\\u0000\"", OK },
    { "payload", "null", ERR_MALFORMED_ENVELOPE },
    { "payload", "[]", ERR_MALFORMED_ENVELOPE },
    { "payload", "\"{}\"", ERR_MALFORMED_ENVELOPE },
    { "payload", "false", ERR_MALFORMED_ENVELOPE },
    { "payload", "{}", OK },
    { "payload", "{\"a\":1,\"a\":2}", OK }, /* not the gateway's to judge */
    { "ts", "\"2025-08-26T14:00:00.5+02:00\"", OK },
    { "ts", "\"2025-08-26\"", ERR_MALFORMED_ENVELOPE },
    { "ts", "\"2025-02-30T14:00:00Z\"", ERR_MALFORMED_ENVELOPE },
    { "ts", "\"\"", ERR_MALFORMED_ENVELOPE },
    { "ts", "1756216800", ERR_MALFORMED_ENVELOPE },
    { "ts", "null", ERR_MALFORMED_ENVELOPE },
    { "to", "null", ERR_MALFORMED_ENVELOPE },
    { "to", "\"a\"", ERR_MALFORMED_ENVELOPE },
    { "to", "{}", ERR_MALFORMED_ENVELOPE },
    { "to", "{\"a\":1}", ERR_MALFORMED_ENVELOPE },
    { "to", "[\"\"]", ERR_MALFORMED_ENVELOPE },
    { "to", "[\"a\",\"\"]", ERR_MALFORMED_ENVELOPE },
    { "to", "[1]", ERR_MALFORMED_ENVELOPE },
    { "to", "[\"a\",null]", ERR_MALFORMED_ENVELOPE },
    { "to", "[[\"a\"]]", ERR_MALFORMED_ENVELOPE },
    { "to", "[\"a\",[[[]]]]", ERR_MALFORMED_ENVELOPE },
    { "to", "[\"a\"]", OK },
    { "to", "[ \"a\" , \"b\" ]", OK },
    { "to", "[\"a\",\"a\"]", OK },
    { "correlation_id", "\"\"", ERR_MALFORMED_ENVELOPE },
    { "correlation_id", "null", ERR_MALFORMED_ENVELOPE },
    { "correlation_id", "[\"a\"]", ERR_MALFORMED_ENVELOPE },
    { "correlation_id", "\"c\"", OK },
    { "expires_at", "null", OK },
    { "expires_at", "\"soon\"", OK },
    { "edited", "\"perhaps\"", OK },
    { "rule", "\"r-1\"", OK },
    { "rule", "\"\"", ERR_MALFORMED_ENVELOPE },
    { "rule", "null", ERR_MALFORMED_ENVELOPE },
    { "rule", "[\"r-1\"]", ERR_MALFORMED_ENVELOPE },
    { "rule", "\"r\\u0000\"", ERR_MALFORMED_ENVELOPE },
    { "rules", "\"r-1\"", OK },
    { "x", "null", OK },
    { "", "null", OK },
};

TEST(d7_fields_have_their_types_and_bounds)
{
    FOR_EACH_CASE(c, field_cases) {
        static const char *const required[][2] = {
            { "protocol", "\"mcpx/v0.1\"" }, { "id", "\"e-1\"" }, { "from", "\"alice\"" },
            { "kind", "\"chat\"" },          { "payload", "{}" },
        };
        struct buf text;

        buf_init(&text, 4096);
        buf_putf(&text, "{\"%s\":%s", c->field, c->value);
        for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++)
            if (strcmp(required[i][0], c->field) != 0)
                buf_putf(&text, ",\"%s\":%s", required[i][0], required[i][1]);
        buf_putc(&text, '}');
        CHECK_INT(scan(buf_str(&text)), c->err);
        if (c->err) {
            CHECK_STR(problem.field, str_of(c->field));
            CHECK(problem.at >= 4 && problem.at < text.len);
        }
        buf_done(&text);
    }
}

/* An id of `len` letters, with a character written as an escape at `at`. */
static enum err scan_id_with(unsigned cp, size_t len, size_t at)
{
    struct buf text;
    enum err err;

    buf_init(&text, 1024);
    buf_put(&text, S("{\"protocol\":\"mcpx/v0.1\",\"from\":\"alice\",\"kind\":\"chat\","
                     "\"payload\":{},\"id\":\""));
    for (size_t i = 0; i < len; i++)
        if (i == at)
            buf_putf(&text, "\\u%04x", cp);
        else
            buf_putc(&text, 'a');
    buf_put(&text, S("\"}"));
    err = scan(buf_str(&text));
    buf_done(&text);
    return err;
}

TEST(d7_an_id_holds_no_control_character_wherever_it_stands)
{
    static const size_t lengths[] = { 1, 2, 7, 8, 9, 16, 23 };

    for (unsigned cp = 0; cp <= 0x100; cp++) {
        bool is_control = cp < 0x20 || (cp >= 0x7f && cp < 0xa0);

        for (size_t i = 0; i < COUNT(lengths); i++)
            for (size_t at = 0; at < lengths[i]; at++)
                CHECK_INT(scan_id_with(cp, lengths[i], at),
                          is_control ? ERR_MALFORMED_ENVELOPE : OK);
    }
}

TEST(d7_lengths_are_counted_after_unescaping)
{
    static const struct {
        const char *field, *unit;
        size_t unit_bytes, count;
        enum err err;
    } cases[] = {
        { "id", "x", 1, 256, OK },
        { "id", "x", 1, 257, ERR_MALFORMED_ENVELOPE },
        { "id", "\\u0041", 1, 256, OK },
        { "id", "\\u0041", 1, 257, ERR_MALFORMED_ENVELOPE },
        { "id", "\\u20ac", 3, 85, OK },
        { "id", "\\u20ac", 3, 86, ERR_MALFORMED_ENVELOPE },
        { "id", "\\ud83d\\ude00", 4, 64, OK },
        { "id", "\\ud83d\\ude00", 4, 65, ERR_MALFORMED_ENVELOPE },
        { "from", "x", 1, 256, OK },
        { "from", "x", 1, 257, ERR_MALFORMED_ENVELOPE },
        { "correlation_id", "x", 1, 256, OK },
        { "correlation_id", "x", 1, 257, ERR_MALFORMED_ENVELOPE },
        { "kind", "x", 1, 2048, OK },
        { "kind", "x", 1, 2049, ERR_MALFORMED_ENVELOPE },
        { "kind", "\\/", 1, 2048, OK },
        { "kind", "\\/", 1, 2049, ERR_MALFORMED_ENVELOPE },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf text;

        buf_init(&text, 1 << 16);
        buf_put(&text, S("{\"protocol\":\"mcpx/v0.1\",\"payload\":{}"));
        for (size_t i = 0; i < 3; i++) {
            static const char *const names[] = { "id", "from", "kind" };

            if (strcmp(names[i], c->field) != 0)
                buf_putf(&text, ",\"%s\":\"x\"", names[i]);
        }
        buf_putf(&text, ",\"%s\":\"", c->field);
        for (size_t i = 0; i < c->count; i++)
            buf_put(&text, str_of(c->unit));
        buf_put(&text, S("\"}"));
        CHECK_INT(scan(buf_str(&text)), c->err);
        if (!c->err && strcmp(c->field, "id") == 0)
            CHECK_INT(env.id.len, c->count * c->unit_bytes);
        buf_done(&text);
    }
}

TEST(d7_at_most_1024_addressees)
{
    for (size_t count = 1023; count <= 1025; count++) {
        struct buf text;

        buf_init(&text, 1 << 16);
        buf_put(&text, S(HEAD ",\"to\":[\"first\""));
        for (size_t i = 1; i < count; i++)
            buf_put(&text, S(",\"a\""));
        buf_put(&text, S("]}"));
        CHECK_INT(scan(buf_str(&text)), count <= 1024 ? OK : ERR_MALFORMED_ENVELOPE);
        CHECK_INT(env.to_count, count <= 1024 ? count : 0);
        if (count <= 1024)
            CHECK_STR(env.to[count - 1], S("a"));
        buf_done(&text);
    }
}

TEST(d6_an_envelope_is_one_object_of_strict_json)
{
    static const struct str cases[] = {
        S(""),
        S("null"),
        S("[]"),
        S("\"{}\""),
        S("[" HEAD "}]"),
        S(HEAD),
        S(HEAD "} x"),
        S(HEAD "}{}"),
        S(HEAD "}\0"),
        S("\xef\xbb\xbf" HEAD "}"),
        S(HEAD ",}"),
        S(HEAD ",\"x\":01}"),
        S(HEAD ",\"x\":\"\\ud800\"}"),
        S(HEAD ",\"x\":\"\n\"}"),
        S(HEAD ",\"x\":NaN}"),
        S(HEAD ",\"x\":1 /* */}"),
        S(HEAD ",'x':1}"),
    };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(scan(*c), ERR_MALFORMED_ENVELOPE);
        CHECK_STR(problem.field, S(""));
    }
}

TEST(d6_text_that_is_not_utf_8_is_told_before_everything_else)
{
    static const struct {
        struct str text;
        size_t at;
    } cases[] = {
        { S(HEAD ",\"x\":\"\xff\"}"), sizeof(HEAD) - 1 + 6 },
        { S("\xff"), 0 },
        { S("{\"a\" 1} \xc3"), 8 },
        { S("[1,2,3] and then \xed\xa0\x80"), 17 },
        { S("{\"protocol\":\"mcp-x/v0\",\"x\":\"\xfe\"}"), 28 },
        { S("{\"id\":1,\"id\":2}\xe2\x82"), 15 },
        { S("{\"x\":\"\\ud800\",\"y\":\"\x80\"}"), 19 },
    };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(scan(c->text), ERR_UTF8);
        CHECK_INT(problem.at, c->at);
    }
}

TEST(d8_a_name_given_twice_is_refused_known_or_not)
{
    static const struct {
        struct str text, field;
    } cases[] = {
        { S(HEAD ",\"kind\":\"chat\"}"), S("kind") },
        { S(HEAD ",\"payload\":{}}"), S("payload") },
        { S(HEAD ",\"to\":[],\"to\":[]}"), S("to") },
        { S(HEAD ",\"rule\":\"a\",\"rule\":\"a\"}"), S("rule") },
        { S(HEAD ",\"protocol\":\"mcpx/v0.1\"}"), S("protocol") },
        { S(HEAD ",\"protocol\":\"other\"}"), S("protocol") },
        { S(HEAD ",\"x\":1,\"x\":1}"), S("x") },
        { S(HEAD ",\"x\":1,\"y\":2,\"x\":1}"), S("x") },
        { S(HEAD ",\"x\":1,\"\\u0078\":1}"), S("x") },
        { S(HEAD ",\"\\u0078\":1,\"\\u0078\":1}"), S("x") },
        { S(HEAD ",\"\\/\":1,\"/\":1}"), S("/") },
        { S(HEAD ",\"\":1,\"\":1}"), S("") },
        { S(HEAD ",\"a\\u0000b\":1,\"a\\u0000b\":1}"), S("a\0b") },
    };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(scan(c->text), ERR_MALFORMED_ENVELOPE);
        CHECK_STR(problem.field, c->field);
        CHECK_STR(str_of(problem.what), S("given twice"));
    }
    CHECK_INT(scan(S(HEAD ",\"x\":{\"x\":{\"x\":1}},\"X\":1,\"a\\u0000b\":1,\"a\":1}")),
              OK);
}

TEST(d8_a_name_that_only_folds_to_a_known_one_is_refused)
{
    static const struct str cases[] = {
        S("Kind"),
        S("KIND"),
        S("\xef\xbd\x8bind"),
        S("\xe2\x84\xaaind"),
        S("t\xc5\xbf"),
        S("ki\xe2\x80\x8bnd"),
        S("kind\\u0000x"),
        S("kind\\u0000"),
        S("k\\u0069nd"),
        S("\\u006bind"),
        S("t\\u006f"),
        S("\\u0049D"),
        S("PAYLOAD"),
        S("Expires_At"),
        S("Edited"),
        S("Rule"),
        S("r\\u0075le"),
        S("r\xef\xbd\x95le"), /* fullwidth u */
        S("\xe1\xb5\xa3ule"), /* subscript r */
        S("rul\xe2\x80\x8b"
          "e"),
        S("expires\xef\xbc\xbf"
          "at"),
        S("Correlation_ID"),
        S("FROM"),
        S("Protocol"),
        S("\\uff4bind"),
        S("\\ud835\\udc24ind"),
    };

    FOR_EACH_CASE(c, cases) {
        struct buf text;

        buf_init(&text, 4096);
        buf_putf(&text, HEAD ",\"" STR_FMT "\":1}", STR_ARG(*c));
        CHECK_INT(scan(buf_str(&text)), ERR_MALFORMED_ENVELOPE);
        CHECK_STR(str_of(problem.what),
                  S("a known name is written plainly, in lower case"));
        CHECK_INT(problem.at, sizeof(HEAD) - 1 + 2);
        CHECK_STR(env.id, S("e-1"));
        buf_done(&text);
    }
}

TEST(d8_a_known_name_inside_the_payload_is_nobodys_business)
{
    CHECK_INT(
        scan(S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"e\",\"from\":\"a\",\"kind\":\"k\","
               "\"payload\":{\"Kind\":1,\"kind\":2,\"kind\":3,\"k\\u0069nd\":4}}")),
        OK);
}

TEST(d8_at_most_64_names)
{
    for (size_t count = 63; count <= 66; count++) {
        struct buf text;

        buf_init(&text, 1 << 16);
        buf_put(&text, S(HEAD));
        for (size_t i = 5; i < count; i++)
            buf_putf(&text, ",\"x%zu\":0", i);
        buf_putc(&text, '}');
        CHECK_INT(scan(buf_str(&text)), count <= 64 ? OK : ERR_MALFORMED_ENVELOPE);
        CHECK_STR(env.id, S("e-1"));
        buf_done(&text);
    }
}

TEST(d20_a_foreign_protocol_is_told_before_other_fields_but_after_grammar)
{
    static const struct {
        struct str text;
        enum err err;
    } cases[] = {
        { S("{\"protocol\":\"mcp-x/v0\"}"), ERR_UNSUPPORTED_PROTOCOL },
        { S("{\"protocol\":\"\"}"), ERR_UNSUPPORTED_PROTOCOL },
        { S("{\"protocol\":\"mcpx/v0.10\",\"id\":\"i\",\"from\":\"f\",\"kind\":\"k\","
            "\"payload\":{}}"),
          ERR_UNSUPPORTED_PROTOCOL },
        { S("{\"protocol\":\"MCPX/v0.1\",\"Kind\":1}"), ERR_UNSUPPORTED_PROTOCOL },
        { S("{\"x\":1,\"x\":1,\"id\":7,\"protocol\":\"mcp-x/v0\"}"),
          ERR_UNSUPPORTED_PROTOCOL },
        { S("{\"protocol\":\"mcp-x/v0\",\"x\":}"), ERR_MALFORMED_ENVELOPE },
        { S("{\"protocol\":\"mcp-x/v0\"} x"), ERR_MALFORMED_ENVELOPE },
        { S("{\"protocol\":7}"), ERR_MALFORMED_ENVELOPE },
        { S("{\"protocol\":\"mcp-x/v0\",\"protocol\":\"mcp-x/v0\"}"),
          ERR_MALFORMED_ENVELOPE },
    };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(scan(c->text), c->err);
        if (c->err == ERR_UNSUPPORTED_PROTOCOL)
            CHECK_STR(problem.field, S("protocol"));
    }
}

TEST(d20_each_dialect_has_its_protocol_and_says_how_to_get_the_other)
{
    static const char old[] = "mcp-x/v0 was an early draft and is not spoken; use "
                              "mcpx/v0.1, or mcpx/draft with dialect=dotted";
    static const char slash[] =
        "mcpx/v0.1 is spoken here; mcpx/draft is with dialect=dotted";
    static const char dotted[] =
        "mcpx/draft is spoken here; mcpx/v0.1 is with dialect=slash";
    static const struct {
        const char *protocol;
        enum dialect dialect;
        const char *what; /* NULL: it is spoken */
    } cases[] = {
        { "mcpx/v0.1", DIALECT_SLASH, NULL },     { "mcpx/draft", DIALECT_DOTTED, NULL },
        { "mcpx\\/draft", DIALECT_DOTTED, NULL }, { "mcpx/draft", DIALECT_SLASH, slash },
        { "mcpx/v0.2", DIALECT_SLASH, slash },    { "mcpx/v0.1", DIALECT_DOTTED, dotted },
        { "", DIALECT_DOTTED, dotted },           { "mcp-x/v0", DIALECT_SLASH, old },
        { "mcp-x/v0", DIALECT_DOTTED, old },
    };
    char text[256];

    FOR_EACH_CASE(c, cases) {
        int len = snprintf(text, sizeof(text),
                           "{\"protocol\":\"%s\",\"id\":\"1\",\"from\":\"a\","
                           "\"kind\":\"x\\u002ey\",\"payload\":{}}",
                           c->protocol);
        struct str whole = { text, (size_t)len };

        arena_reset(&scratch);
        CHECK_INT(envelope_scan(whole, 128, c->dialect, &scratch, &env, &problem),
                  c->what ? ERR_UNSUPPORTED_PROTOCOL : OK);
        if (c->what) {
            CHECK_STR(str_of(problem.what), str_of(c->what));
            continue;
        }
        CHECK_STR(env.raw_protocol, str_of(c->protocol));
        CHECK_STR(env.raw_kind, S("x\\u002ey"));
        CHECK_STR(env.kind_text, S("x.y"));
    }
}

TEST(the_id_of_a_refused_envelope_is_kept_when_there_is_exactly_one)
{
    static const struct {
        struct str text, id;
    } cases[] = {
        { S("{\"id\":\"i\"}"), S("i") },
        { S("{\"id\":\"\\u0069\\/\"}"), S("i/") },
        { S("{\"id\":\"i\",\"x\":}"), S("i") },
        { S("{\"id\":\"i\",\"x\":\"\xff\"}"), S("i") },
        { S("{\"id\":\"i\",\"protocol\":\"mcp-x/v0\"}"), S("i") },
        { S("{\"id\":\"i\",\"Kind\":1}"), S("i") },
        { S("{\"Kind\":1,\"id\":\"i\"}"), S("i") },
        { S("{\"id\":\"i\""), S("i") },
        { S("{\"id\":\"i"), S("") },
        { S("{\"x\":},\"id\":\"i\"}"), S("") },
        { S("{\"id\":\"i\",\"id\":\"i\"}"), S("") },
        { S("{\"id\":\"i\",\"id\":\"j\"}"), S("") },
        { S("{\"id\":\"\"}"), S("") },
        { S("{\"id\":7}"), S("") },
        { S("{\"id\":\"a\\nb\"}"), S("") },
        { S("{\"\\u0069d\":\"i\"}"), S("") },
        { S("{\"ID\":\"i\"}"), S("") },
        { S("{\"payload\":{\"id\":\"i\"}}"), S("") },
        { S("[\"id\",\"i\"]"), S("") },
        { S(""), S("") },
    };

    FOR_EACH_CASE(c, cases) {
        CHECK(scan(c->text) != OK);
        CHECK_STR(env.id, c->id);
        CHECK(env.from.ptr == NULL && env.to == NULL && env.payload.text.ptr == NULL);
        CHECK(problem.what && *problem.what);
        CHECK(envelope_scan(c->text, 128, DIALECT_SLASH, &scratch, &env, NULL) != OK);
    }
}

TEST(d12_nesting_counts_from_the_envelope_itself)
{
    for (size_t depth = 127; depth <= 129; depth++) {
        struct buf text;

        buf_init(&text, 4096);
        buf_put(&text, S(HEAD ",\"x\":"));
        for (size_t i = 1; i < depth; i++)
            buf_putc(&text, '[');
        for (size_t i = 1; i < depth; i++)
            buf_putc(&text, ']');
        buf_putc(&text, '}');
        CHECK_INT(scan(buf_str(&text)), depth <= 128 ? OK : ERR_MALFORMED_ENVELOPE);
        if (depth > 128)
            CHECK_STR(str_of(problem.what), S("nested too deeply"));
        buf_done(&text);
    }
    CHECK_INT(envelope_scan(S(HEAD "}"), 2, DIALECT_SLASH, &scratch, &env, &problem), OK);
    CHECK_INT(envelope_scan(S(HEAD "}"), 1, DIALECT_SLASH, &scratch, &env, &problem),
              ERR_MALFORMED_ENVELOPE);
}

TEST(a_full_scratch_arena_is_too_large)
{
    static const struct str cases[] = {
        S(HEAD ",\"to\":[\"a\"]}"),
        S(HEAD ",\"to\":[\"\\u0061\"]}"),
        S(HEAD ",\"correlation_id\":\"\\u0061\"}"),
        S(HEAD ",\"\\u0061\":1}"),
    };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(scan_room(*c, 0), ERR_TOO_LARGE);
        CHECK_STR(env.id, S("e-1"));
        CHECK_INT(scan_room(*c, 64), OK);
    }
    CHECK_INT(scan_room(S(HEAD "}"), 0), OK);
}

static const struct str whole =
    S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"2f6b6e70-7b36-4b8b-9ad8-7c4f7d0e2d0b\","
      "\"ts\":\"2025-08-26T14:00:00Z\",\"from\":\"robot-\\u0061lpha\",\"to\":[\"co\","
      "\"\xe4\xbd\xa0\\n\"],\"kind\":\"mcp/request:tools\\/call\",\"correlation_id\":"
      "\"env-1\",\"x\\ty\":-1.5e+3,\"payload\":{\"a\":[true,false,null,{}],\"b\":"
      "\"\\ud83d\\ude00 \xf0\x9f\x98\x80\"},\"expires_at\":\"2025-08-26T14:00:00Z\"}");

/* The text stands alone on the heap, so that the sanitizer sees the first byte behind. */
static enum err scan_alone(struct str text)
{
    char *copy = xmalloc(text.len ? text.len : 1);
    enum err err;

    if (text.len)
        memcpy(copy, text.ptr, text.len);
    err = scan((struct str){ copy, text.len });
    free(copy);
    return err;
}

TEST(every_prefix_of_an_envelope_is_refused)
{
    for (size_t len = 0; len < whole.len; len++) {
        struct str text = str_slice(whole, 0, len);
        enum err err = scan_alone(text);

        if (err != ERR_MALFORMED_ENVELOPE && err != ERR_UTF8)
            CHECK_INT(len, -1);
        CHECK(problem.at <= len);
    }
    CHECK_INT(scan_alone(whole), OK);
}

TEST(every_changed_byte_of_an_envelope_is_survived)
{
    char *copy = xmalloc(whole.len);

    for (size_t at = 0; at < whole.len; at++) {
        memcpy(copy, whole.ptr, whole.len);
        for (unsigned byte = 0; byte < 256; byte++) {
            copy[at] = (char)byte;
            (void)!scan((struct str){ copy, whole.len });
        }
    }
    free(copy);
    arena_done(&scratch);
}
