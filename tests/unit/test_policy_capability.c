/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "capability_model.h"
#include "harness.h"
#include "policy/capability.h"
#include "policy/capset.h"

enum { SCRATCH_BYTES = 64 * 1024 };

CLEANUP_FOR(struct capability, capability_free)

static struct capability *compile(struct str text)
{
    struct capability *cap = NULL;
    const char *why = "";

    if (capability_new(text, &cap, &why))
        printf("# refused: %.*s: %s\n", STR_ARG(text), why);
    CHECK(cap != NULL);
    return cap;
}

static struct json_span span_of(struct str text)
{
    struct json_span span = {};
    struct json_scan scan;

    json_scan_init(&scan, text, JSON_MAX_DEPTH);
    CHECK_INT(json_value(&scan, &span), OK);
    CHECK_INT(json_scan_end(&scan), OK);
    return span;
}

static bool allows(struct str text, struct str kind, struct str payload)
{
    CLEANUP(capability_freep) struct capability *cap = compile(text);
    struct arena scratch;
    bool result;

    if (!cap)
        return false;
    arena_init(&scratch, SCRATCH_BYTES);
    result = capability_allows(cap, kind, span_of(payload), &scratch);
    arena_done(&scratch);
    return result;
}

TEST(d15_a_pattern_allows_whatever_the_payload_holds)
{
    CHECK(allows(S("chat"), S("chat"), S("{}")));
    CHECK(allows(S("mcp/*"), S("mcp/request:tools/call:x"), S("{\"a\":1}")));
    CHECK(!allows(S("chat"), S("chat/x"), S("{}")));
}

#define CALL       "\"kind\":\"mcp/request:tools/call\""
#define IF(what)   "{" CALL ",\"payload\":{\"x\":" what "}}"
#define HAS(value) "{\"x\":" value "}"

TEST(d15_a_leaf_says_what_one_field_must_be)
{
    /* clang-format off */
    static const struct { struct str cap, payload; bool allows; } cases[] = {
        { S(IF("\"read_*\"")),   S(HAS("\"read_file\"")),      true  },
        { S(IF("\"read_*\"")),   S(HAS("\"read_\"")),          false },
        { S(IF("\"read_*\"")),   S(HAS("\"write\"")),          false },
        { S(IF("\"read_*\"")),   S(HAS("\"re\\u0061d_x\"")),   true  },
        { S(IF("\"read_*\"")),   S("{\"\\u0078\":\"read_x\"}"), true },
        { S(IF("\"*:b\"")),      S(HAS("\"a:a:b\"")),          true  }, /* no colon rule */
        { S(IF("\"a*c\"")),      S(HAS("\"a b\\n:c\"")),       true  },
        { S(IF("\"a:b\"")),      S(HAS("\"a:b:c\"")),          false }, /* nor contexts */
        { S(IF("\"\"")),         S(HAS("\"\"")),               true  },
        { S(IF("\"\"")),         S(HAS("\"a\"")),              false },
        { S(IF("\"*\"")),        S(HAS("\"\"")),               false },
        { S(IF("\"two words\"")), S(HAS("\"two words\"")),     true  },
        { S(IF("\"!/etc/*\"")),  S(HAS("\"/data/x\"")),        true  },
        { S(IF("\"!/etc/*\"")),  S(HAS("\"/etc/x\"")),         false },
        { S(IF("\"!/etc/*\"")),  S(HAS("\"\\/etc/x\"")),       false },
        { S(IF("\"!/etc/*\"")),  S(HAS("1")),                  false },
        { S(IF("\"!/etc/*\"")),  S(HAS("null")),               false },
        { S(IF("\"!/etc/*\"")),  S(HAS("[\"/data\"]")),        false },
        { S(IF("\"!/etc/*\"")),  S("{}"),                      false },
        { S(IF("\"!/etc/*\"")),  S("{\"y\":\"/data\"}"),       false },
        { S(IF("\"!\"")),        S(HAS("\"\"")),               false },
        { S(IF("\"!\"")),        S(HAS("\"a\"")),              true  },
        { S(IF("true")),         S(HAS("true")),               true  },
        { S(IF("true")),         S(HAS("\"true\"")),           false },
        { S(IF("true")),         S(HAS("false")),              false },
        { S(IF("null")),         S(HAS("null")),               true  },
        { S(IF("null")),         S("{}"),                      false },
        { S(IF("5")),            S(HAS("5")),                  true  },
        { S(IF("5")),            S(HAS("5.0")),                false }, /* by their text */
        { S(IF("5")),            S(HAS("\"5\"")),              false },
        { S(IF("\"5\"")),        S(HAS("5")),                  false },
        { S(IF("[\"a\",\"b*\"]")),       S(HAS("\"a\"")),      true  },
        { S(IF("[\"a\",\"b*\"]")),       S(HAS("\"bc\"")),     true  },
        { S(IF("[\"a\",\"b*\"]")),       S(HAS("\"c\"")),      false },
        { S(IF("[1,null,\"a\"]")),       S(HAS("null")),       true  },
        { S(IF("[1,null,\"a\"]")),       S(HAS("2")),          false },
        { S(IF("[1,null,\"a\"]")),       S(HAS("[1]")),        false },
        { S(IF("[\"/a/*\",\"!*..*\"]")), S(HAS("\"/a/b\"")),   true  },
        { S(IF("[\"/a/*\",\"!*..*\"]")), S(HAS("\"/a/../b\"")), false },
        { S(IF("[\"/a/*\",\"!*..*\"]")), S(HAS("\"/b\"")),     false },
        { S(IF("[\"!a\",\"!b\"]")),      S(HAS("\"c\"")),      true  },
        { S(IF("[\"!a\",\"!b\"]")),      S(HAS("\"b\"")),      false },
        { S(IF("[\"!a\",5]")),           S(HAS("5")),          false }, /* a `!` asks for a string */
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(allows(c->cap, S("mcp/request:tools/call:t"), c->payload), c->allows);
}

TEST(d15_every_named_field_must_be_there_once_and_nothing_that_looks_like_it)
{
#define DEEP                                                                          \
    "{" CALL ",\"payload\":{\"method\":\"tools/call\",\"params\":{\"name\":\"read\"," \
    "\"arguments\":{\"filePath\":\"!/etc*\"}}}}"
#define ARGS(inner)                                            \
    "{\"method\":\"tools/call\",\"params\":{\"name\":\"read\"" \
    ",\"arguments\":{" inner "}}}"
    /* clang-format off */
    static const struct { struct str payload; bool allows; } cases[] = {
        { S(ARGS("\"filePath\":\"/a\"")), true },
        { S(ARGS("\"filePath\":\"/a\",\"other\":{\"filePath\":\"/etc\"}")), true },
        { S(ARGS("\"filePath\":\"/etc/x\"")), false },
        { S(ARGS("\"filePath\":\"/a\",\"filePath\":\"/a\"")), false },
        { S(ARGS("\"filePath\":\"/a\",\"file\\u0050ath\":\"/a\"")), false },
        { S(ARGS("\"filePath\":\"/a\",\"filepath\":\"/a\"")), false },
        { S(ARGS("\"FILEPATH\":\"/etc\",\"filePath\":\"/a\"")), false },
        { S(ARGS("\"filePath\":\"/a\",\"file\\u200bPath\":1")), false },
        { S(ARGS("\"filePath\":\"/a\",\"file\xef\xbc\xb0" "ath\":1")), false },
        { S(ARGS("\"filePath\":\"/a\",\"filePath\\u0000x\":1")), false },
        { S(ARGS("\"filePath\":\"/a\",\"filePaths\":1,\"filePat\":1")), true },
        { S(ARGS("\"filepath\":\"/a\"")), false },
        { S(ARGS("")), false },
        { S("{\"method\":\"tools/call\",\"params\":{\"name\":\"read\",\"arguments\":[]}}"), false },
        { S("{\"method\":\"tools/call\",\"params\":{\"name\":\"read\"}}"), false },
        { S("{\"method\":\"tools/call\",\"params\":{\"name\":\"read\",\"arguments\":{\"filePath\":\"/a\"}},"
            "\"params\":{}}"), false },
        { S("{\"method\":\"tools/call\",\"Params\":{},"
            "\"params\":{\"name\":\"read\",\"arguments\":{\"filePath\":\"/a\"}}}"), false },
        { S("{\"params\":{\"name\":\"read\",\"arguments\":{\"filePath\":\"/a\"}}}"), false },
        { S("[]"), false },
        { S("\"x\""), false },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(allows(S(DEEP), S("mcp/request:tools/call:read"), c->payload),
                  c->allows);
    CHECK(!allows(S(DEEP), S("mcp/proposal:tools/call"), cases[0].payload));
}

TEST(d15_a_payload_that_does_not_fit_the_scratch_arena_is_not_allowed)
{
    CLEANUP(capability_freep) struct capability *cap = compile(S(IF("\"!a\"")));
    struct arena scratch;

    arena_init(&scratch, 256);
    CHECK(capability_allows(cap, S("mcp/request:tools/call"),
                            span_of(S(HAS("\"\\u0062\""))), &scratch));
    arena_reset(&scratch);
    scratch.max = 160;
    CHECK(!capability_allows(
        cap, S("mcp/request:tools/call"),
        span_of(S(HAS("\"\\u0062aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""))),
        &scratch));
    arena_reset(&scratch);
    scratch.max = 16;
    CHECK(!capability_allows(cap, S("mcp/request:tools/call"), span_of(S(HAS("\"b\""))),
                             &scratch));
    arena_done(&scratch);
}

TEST(d15_a_text_that_is_too_long_fits_nothing)
{
    static const struct str caps[] = { S(IF("\"*\"")), S(IF("\"!b\"")) };
    struct buf text;

    buf_init(&text, SCRATCH_BYTES);
    FOR_EACH_CASE(cap, caps) {
        for (size_t len = 16 * 1024; len <= 16 * 1024 + 1; len++) {
            buf_clear(&text);
            buf_put(&text, S("{\"x\":\""));
            for (size_t i = 0; i < len; i++)
                buf_putc(&text, 'a');
            buf_put(&text, S("\"}"));
            CHECK_INT(allows(*cap, S("mcp/request:tools/call"), buf_str(&text)),
                      len == 16 * 1024);
        }
    }
    buf_done(&text);
}

TEST(d15_the_normal_form_is_compact_and_sorted)
{
    /* clang-format off */
    static const struct { struct str text, normal; } cases[] = {
        { S("chat"),                      S("chat") },
        { S("{\"kind\":\"chat\"}"),       S("chat") },
        { S("{ \"payload\" : {}, \"kind\" : \"ch\\u0061t\" }"), S("chat") },
        { S("{\"payload\":{\"b\":1,\"a\":[ true , null ],\"B\":\"\\/\"},\"kind\":\"x/y\"}"),
          S("{\"kind\":\"x/y\",\"payload\":{\"B\":\"/\",\"a\":[true,null],\"b\":1}}") },
        { S("{\"kind\":\"x\",\"payload\":{\"a\":{\"z\":1.50e1,\"c\":\"\\u00e4\\n\"}}}"),
          S("{\"kind\":\"x\",\"payload\":{\"a\":{\"c\":\"\xc3\xa4\\n\",\"z\":1.50e1}}}") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        CLEANUP(capability_freep) struct capability *cap = compile(c->text);

        CHECK_STR(capability_text(cap), c->normal);
        CHECK_INT(capability_is_object(cap), capability_text_is_object(c->normal));
    }
}

TEST(d15_what_cannot_be_a_capability_is_refused_with_a_reason)
{
    /* clang-format off */
    static const struct { struct str text; const char *why; } cases[] = {
        { S(""),                                  "a pattern cannot be empty" },
        { S("a b"),                               "a pattern cannot contain spaces or control characters" },
        { S("{x"),                                NULL },
        { S("{}"),                                "an object has `kind`, a pattern" },
        { S("{\"kind\":1}"),                      "an object has `kind`, a pattern" },
        { S("{\"kind\":\"\"}"),                   "a pattern cannot be empty" },
        { S("{\"kind\":\"{}\"}"),                 "a pattern cannot begin with '{'" },
        { S("{\"kind\":\"a\",\"kind\":\"b\"}"),   "a name is given twice" },
        { S("{\"kind\":\"a\",\"to\":\"b\"}"),     "an object has `kind` and `payload` and nothing else" },
        { S("{\"kind\":\"a\",\"payload\":[]}"),   "`payload` is an object" },
        { S("{\"kind\":\"a\",\"payload\":{\"x\":[]}}"), "an empty list allows nothing" },
        { S("{\"kind\":\"a\",\"payload\":{\"x\":{}}}"), "an empty object in `payload` says nothing" },
        { S("{\"kind\":\"a\",\"payload\":{\"x\":[[1]]}}"),
          "a condition is a string, a number, true, false, null, or a list of those" },
        { S("{\"kind\":\"a\",\"payload\":{\"\":1}}"), "a name in `payload` has 1 to 64 characters" },
        { S("{\"kind\":\"a\",\"payload\":{\"\xc3\xa4\":1}}"),
          "a name in `payload` is ASCII, so that look-alikes can be told" },
        { S("{\"kind\":\"a\",\"payload\":{\"1\":{\"2\":{\"3\":{\"4\":{\"5\":{\"6\":1}}}}}}}"), "" },
        { S("{\"kind\":\"a\",\"payload\":{\"1\":{\"2\":{\"3\":{\"4\":{\"5\":{\"6\":[1]}}}}}}}"), "" },
        { S("{\"kind\":\"a\",\"payload\":{\"1\":{\"2\":{\"3\":{\"4\":{\"5\":{\"6\":{\"7\":1}}}}}}}}"), "" },
        { S("{\"kind\":\"a\",\"payload\":{\"1\":{\"2\":{\"3\":{\"4\":{\"5\":{\"6\":{\"7\":[1]}}}}}}}}"),
          "an object is at most 8 levels deep" },
        { S("{\"kind\":\"a\"} x"),                NULL },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        CLEANUP(capability_freep) struct capability *cap = NULL;
        bool is_fine = c->why && c->why[0] == '\0';
        const char *why = "";

        CHECK_INT(capability_new(c->text, &cap, &why), is_fine ? OK : ERR_INVALID);
        if (c->why)
            CHECK_STR(str_of(why), str_of(c->why));
    }
}

/* An object that names `count` numbers and a string of `extra` bytes. */
static struct str long_object(struct buf *out, size_t count, size_t extra)
{
    buf_clear(out);
    buf_put(out, S("{\"kind\":\"a\",\"payload\":{\"a\":["));
    for (size_t i = 0; i < count; i++)
        buf_put(out, i ? S(",1") : S("1"));
    buf_put(out, S("],\"b\":\""));
    for (size_t i = 0; i < extra; i++)
        buf_putc(out, 'b');
    buf_put(out, S("\"}}"));
    return buf_str(out);
}

TEST(d15_objects_are_bounded)
{
    struct capability *cap = NULL;
    const char *why = "";
    struct buf text;

    buf_init(&text, SCRATCH_BYTES);
    CHECK_INT(capability_new(long_object(&text, 63, 0), &cap, &why), OK);
    capability_free(cap);
    CHECK_INT(capability_new(long_object(&text, 64, 0), &cap, &why), ERR_INVALID);
    CHECK_STR(str_of(why), S("an object names at most 64 values"));
    CHECK_INT(capability_new(long_object(&text, 1, 2048), &cap, &why), OK);
    capability_free(cap);
    CHECK_INT(capability_new(long_object(&text, 1, 2049), &cap, &why), ERR_INVALID);
    CHECK_STR(str_of(why), S("a pattern has at most 2048 bytes"));
    CHECK_INT(capability_new(long_object(&text, 1, 4200), &cap, &why), ERR_INVALID);
    CHECK_STR(str_of(why), S("an object has at most 4096 bytes"));
    buf_done(&text);
}

TEST(d15_a_list_of_strings_and_objects_is_read_as_normal_forms)
{
    struct arena arena;
    const struct json *tree = NULL;
    struct str_list list = {};
    const char *why = "";

    arena_init(&arena, SCRATCH_BYTES);
    CHECK_INT(json_parse(
                  S("[\"chat\",{\"payload\":{\"a\":1},\"kind\":\"x\"},{\"kind\":\"y\"}]"),
                  &arena, &tree, NULL),
              OK);
    CHECK_INT(capability_list(tree, &arena, &list, &why), OK);
    CHECK_INT(list.count, 3);
    CHECK_STR(list.items[0], S("chat"));
    CHECK_STR(list.items[1], S("{\"kind\":\"x\",\"payload\":{\"a\":1}}"));
    CHECK_STR(list.items[2], S("y"));
    CHECK_INT(json_parse(S("[\"chat\",5]"), &arena, &tree, NULL), OK);
    CHECK_INT(capability_list(tree, &arena, &list, &why), ERR_INVALID);
    CHECK_STR(str_of(why), S("a capability is a pattern or an object"));
    CHECK_INT(json_parse(S("[\"{\\\"kind\\\":\\\"x\\\"}\"]"), &arena, &tree, NULL), OK);
    CHECK_INT(capability_list(tree, &arena, &list, &why), ERR_INVALID);
    CHECK_STR(str_of(why), S("a pattern cannot begin with '{'"));
    CHECK_INT(json_parse(S("{}"), &arena, &tree, NULL), OK);
    CHECK_INT(capability_list(tree, &arena, &list, &why), ERR_INVALID);
    arena_done(&arena);
}

static bool covers(struct str held, struct str wanted)
{
    CLEANUP(capability_freep) struct capability *h = compile(held);
    CLEANUP(capability_freep) struct capability *w = compile(wanted);

    return h && w && capability_covers(h, w);
}

TEST(attenuation_a_pattern_covers_what_can_be_shown_to_be_less)
{
    /* clang-format off */
    static const struct { struct str held, wanted; bool covers; } cases[] = {
        { S("chat"),                     S("chat"),                             true  },
        { S("*"),                        S("chat"),                             true  },
        { S("*"),                        S("*"),                                true  },
        { S("chat"),                     S("*"),                                false },
        { S("mcp/*"),                    S("mcp/request:*"),                    true  },
        { S("mcp/*"),                    S("mcp/request:tools/call"),           true  },
        { S("mcp/request:*"),            S("mcp/*"),                            false },
        { S("mcp/*"),                    S("mcp*"),                             false },
        { S("mcp*"),                     S("mcp/*"),                            true  },
        { S("mcp/request:*/list"),       S("mcp/request:tools/list"),           true  },
        { S("mcp/request:*/list"),       S("mcp/request:*/list"),               true  },
        { S("mcp/request:*/list"),       S("mcp/request:tools/*"),              false },
        { S("mcp/request:*/list"),       S("mcp/request:*"),                    false },
        { S("mcp/request:*/list"),       S("mcp/request:*/list:x"),             true  },
        { S("mcp/request:*/list"),       S("mcp/request:a*b/list:*"),           true  },
        { S("mcp/request:tools/call"),   S("mcp/request:tools/call:read_*"),    true  },
        { S("mcp/request:tools/call"),   S("mcp/request:tools/call:*"),         true  },
        { S("mcp/request:tools/call:*"), S("mcp/request:tools/call"),           false },
        { S("mcp/request:tools/call*"),  S("mcp/request:tools/call"),           false },
        { S("mcp/request:tools/c*"),     S("mcp/request:tools/call"),           true  },
        { S("mcp/request:*call"),        S("mcp/request:tools/call"),           true  },
        { S("mcp/request:*:x"),          S("mcp/request:*:x"),                  true  },
        { S("mcp/request:*:x"),          S("mcp/request:tools/call:*"),         false },
        { S("mcp/*:tools/call"),         S("mcp/r*:tools/call"),                true  },
        { S("mcp/*:tools/call"),         S("mcp/*"),                            false },
        { S("a*b*c"),                    S("a*b*b*c"),                          true  },
        { S("a*b*c"),                    S("a*c"),                              false },
        { S("**"),                       S("*"),                                false },
        { S("*"),                        S("**"),                               true  },
        { S("a*"),                       S("a"),                                false },
        { S("*:*"),                      S("a:*"),                              true  },
        { S("*b"),                       S("a*b"),                              true  },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(covers(c->held, c->wanted), c->covers);
}

TEST(attenuation_an_object_covers_those_with_the_same_conditions_or_more)
{
    /* clang-format off */
    static const struct { struct str held, wanted; bool covers; } cases[] = {
        { S("mcp/request:tools/call"), S(IF("1")), true },
        { S("mcp/request:*"),          S(IF("1")), true },
        { S("mcp/request:tools/list"), S(IF("1")), false },
        { S(IF("1")), S("mcp/request:tools/call"), false },
        { S(IF("1")), S(IF("1")),                  true  },
        { S(IF("1")), S(IF("2")),                  false },
        { S(IF("1")), S(IF("\"1\"")),              false },
        { S(IF("\"a*\"")), S(IF("\"ab*\"")),       true  },
        { S(IF("\"a*\"")), S(IF("\"ab\"")),        true  },
        { S(IF("\"ab*\"")), S(IF("\"a*\"")),       false },
        { S(IF("\"a*\"")), S(IF("[\"ab\",\"ac*\"]")), true },
        { S(IF("\"a*\"")), S(IF("[\"ab\",\"b\"]")),  false },
        { S(IF("[\"a*\",\"b\"]")), S(IF("\"b\"")), true  },
        { S(IF("[\"a*\",5,null]")), S(IF("[null,5]")), true },
        { S(IF("\"*\"")), S(IF("\"!a\"")),         false },
        { S(IF("\"!a\"")), S(IF("\"!a\"")),        true  },
        { S(IF("\"!a\"")), S(IF("\"!a*\"")),       false }, /* `a*` is not `a` */
        { S(IF("\"!ab\"")), S(IF("\"!a*\"")),      true  },
        { S(IF("\"!a*\"")), S(IF("\"!ab\"")),      false },
        { S(IF("\"!a*\"")), S(IF("\"b*\"")),       true  },
        { S(IF("\"!a*\"")), S(IF("\"abc\"")),      false },
        { S(IF("\"!*z\"")), S(IF("\"*y\"")),       true  },
        { S(IF("\"!*z\"")), S(IF("\"y*\"")),       false },
        { S(IF("\"!a*\"")), S(IF("5")),            false },
        { S(IF("[\"/a/*\",\"!*..*\"]")), S(IF("[\"/a/b/*\",\"!*..*\"]")), true  },
        { S(IF("[\"/a/*\",\"!*..*\"]")), S(IF("\"/a/b/*\"")),             false },
        { S(IF("[\"/a/*\",\"!*..*\"]")), S(IF("\"/a/b\"")),               true  },
        { S("{" CALL ",\"payload\":{\"a\":1}}"), S("{" CALL ",\"payload\":{\"a\":1,\"b\":2}}"), true },
        { S("{" CALL ",\"payload\":{\"a\":1,\"b\":2}}"), S("{" CALL ",\"payload\":{\"a\":1}}"), false },
        { S("{" CALL ",\"payload\":{\"a\":{\"b\":2}}}"), S("{" CALL ",\"payload\":{\"a\":{\"b\":2,\"c\":1}}}"), true },
        { S("{" CALL ",\"payload\":{\"a\":{\"b\":2}}}"), S("{" CALL ",\"payload\":{\"b\":2,\"a\":1}}"), false },
        { S("{" CALL ",\"payload\":{\"a\":1}}"), S("{" CALL ",\"payload\":{\"a\":{\"b\":2}}}"), false },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(covers(c->held, c->wanted), c->covers);
}

TEST(attenuation_across_spellings_only_an_equal_respelling_counts)
{
    /* clang-format off */
    static const struct { struct str held, wanted; bool covers; } cases[] = {
        { S("mcp/request:*"),       S("mcp.request.tools/call"),   true  },
        { S("mcp.request.*"),       S("mcp/request:tools/call:x"), true  },
        { S("mcp/*"),               S("mcp.*"),                    true  },
        { S("mcp/*"),               S("mcpx.approve.*"),           true  },
        { S("mcp.*"),               S("mcp/*"),                    false }, /* no mcpx.… */
        { S("mcp.*"),               S("mcp/request:*"),            true  },
        { S("*"),                   S("team.task.*"),              true  },
        { S("chat"),                S("chat.message"),             true  },
        { S("chat.*"),              S("chat"),                     true  },
        { S("mcp.request.a/*"),     S("mcp.request.a/b:*"),        true  },
        { S("mcp.request.a/b"),     S("mcp.request.a/b:x"),        true  },
        { S("mcp.request.a/b:x"),   S("mcp.request.a/b"),          false },
        { S("mcp/request:a/b"),     S("mcp.request.a/b"),          true  },
        { S("mcp.request.a/b"),     S("mcp/request:a/b"),          true  },
        { S("mcp.request.a/b:*"),   S("mcp/request:a/b"),          false },
        { S("t*.x"),                S("team.x"),                   false }, /* a slash pattern */
        { S("mcp.request.*"),       S("{" CALL ",\"payload\":{\"a\":1}}"), true },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(covers(c->held, c->wanted), c->covers);
}

/* Random capabilities and envelopes from a small vocabulary, so that they meet. */

static uint64_t random_below(uint64_t *state, uint64_t count)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 20) % count;
}

static struct str pick(uint64_t *state, const struct str *from, size_t count)
{
    return from[random_below(state, count)];
}

#define PICK(state, ...)                               \
    pick((state), (const struct str[]){ __VA_ARGS__ }, \
         sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str))

static void put_pattern(uint64_t *state, struct buf *out)
{
    size_t parts = 1 + random_below(state, 3);

    buf_put(out, PICK(state, S(""), S("*"), S("mcp/"), S("mcp/request:"), S("x")));
    for (size_t i = 0; i < parts; i++)
        buf_put(out, PICK(state, S("a"), S("b"), S("*"), S(":"), S("a*"), S("a/b")));
}

static void put_leaf_item(uint64_t *state, struct buf *out)
{
    if (random_below(state, 4) == 0) {
        buf_put(out, PICK(state, S("1"), S("1.0"), S("true"), S("null")));
        return;
    }
    buf_put(out, PICK(state, S("\""), S("\""), S("\"!")));
    for (size_t i = random_below(state, 3); i < 3; i++)
        buf_put(out, PICK(state, S("a"), S("b"), S("*"), S(":")));
    buf_putc(out, '"');
}

static void put_leaf(uint64_t *state, struct buf *out)
{
    size_t count = random_below(state, 4);

    if (count == 0) {
        put_leaf_item(state, out);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        buf_putc(out, i ? ',' : '[');
        put_leaf_item(state, out);
    }
    buf_putc(out, ']');
}

/* An object with some of the names, each with what `put` writes or an object below. */
static void put_tree(uint64_t *state, size_t depth, void put(uint64_t *, struct buf *),
                     struct buf *out)
{
    static const struct str names[] = { S("\"a\""), S("\"bC\"") };
    size_t first = random_below(state, COUNT(names));
    size_t end = first + 1 + random_below(state, COUNT(names) - first);

    buf_putc(out, '{');
    for (size_t i = first; i < end; i++) {
        if (i > first)
            buf_putc(out, ',');
        buf_put(out, names[i]);
        buf_putc(out, ':');
        if (depth > 0 && random_below(state, 3) == 0)
            put_tree(state, depth - 1, put, out);
        else
            put(state, out);
    }
    buf_putc(out, '}');
}

static void put_capability(uint64_t *state, struct buf *out)
{
    bool is_object = random_below(state, 3) > 0;

    buf_clear(out);
    buf_put(out, is_object ? S("{\"kind\":\"") : S("\""));
    put_pattern(state, out);
    buf_putc(out, '"');
    if (!is_object)
        return;
    buf_put(out, S(",\"payload\":"));
    put_tree(state, 1, put_leaf, out);
    buf_putc(out, '}');
}

static void put_value(uint64_t *state, struct buf *out)
{
    if (random_below(state, 3) == 0) {
        buf_put(out, PICK(state, S("1"), S("1.0"), S("true"), S("null"), S("[1]")));
        return;
    }
    buf_putc(out, '"');
    for (size_t i = random_below(state, 4); i < 3; i++)
        buf_put(out, PICK(state, S("a"), S("b"), S(":"), S("\\u0061")));
    buf_putc(out, '"');
}

static void put_payload(uint64_t *state, struct buf *out)
{
    buf_clear(out);
    put_tree(state, 1, put_value, out);
    if (random_below(state, 16) == 0) {
        out->len--;
        buf_put(out, PICK(state, S(",\"A\":1}"), S(",\"bc\":1}"), S(",\"d\":1}")));
    }
}

/* A kind made from the pattern by filling its stars. */
static void put_kind(uint64_t *state, struct str pattern, struct buf *out)
{
    buf_clear(out);
    for (size_t i = 0; i < pattern.len; i++)
        if (pattern.ptr[i] == '*')
            buf_put(out, PICK(state, S("a"), S("b"), S("a/b"), S("ab"), S("c:d")));
        else
            buf_putc(out, pattern.ptr[i]);
    if (random_below(state, 4) == 0)
        buf_put(out, S(":a"));
}

struct drawn {
    struct buf text;
    struct arena arena;
    const struct json *tree;
    struct capability *cap;
};

static void draw(struct drawn *d, uint64_t *state)
{
    struct str normal;

    capability_free(d->cap);
    arena_reset(&d->arena);
    put_capability(state, &d->text);
    CHECK_INT(json_parse(buf_str(&d->text), &d->arena, &d->tree, NULL), OK);
    CHECK_INT(capability_normal(d->tree, &d->arena, &normal, NULL), OK);
    CHECK_INT(capability_new(normal, &d->cap, NULL), OK);
    CHECK_STR(capability_text(d->cap), normal);
}

struct tally {
    size_t covered, allowed, wrong_model, wrong_cover, wrong_set;
};

/* What the two allow as a set: in one walk, and whatever each allows alone. */
static bool set_allows(struct capset *set, struct str kind, struct json_span payload,
                       struct arena *scratch)
{
    switch (capset_may(set, kind)) {
    case VERDICT_DENY: return false;
    case VERDICT_ALLOW: return true;
    case VERDICT_INSPECT: return capset_inspect(set, kind, payload, scratch) != NULL;
    }
    return false;
}

static struct capset *set_of(struct capsets *capsets, const struct drawn *a,
                             const struct drawn *b)
{
    struct str texts[] = { capability_text(a->cap), capability_text(b->cap) };
    struct capset *set = NULL;

    CHECK_INT(capset_intern(capsets, (struct str_list){ texts, 2 }, &set, NULL), OK);
    return set;
}

static void try_envelope(const struct drawn *held, const struct drawn *wanted,
                         struct capset *both, uint64_t *state, struct buf texts[2],
                         struct tally *tally)
{
    struct str pattern = wanted->tree->type == JSON_STRING
                             ? wanted->tree->text
                             : json_find(wanted->tree, S("kind"))->text;
    const struct json *payload = NULL;
    bool by_held, by_wanted;
    struct arena arena;
    struct str kind;

    put_kind(state, pattern, &texts[0]);
    put_payload(state, &texts[1]);
    kind = buf_str(&texts[0]);
    arena_init(&arena, SCRATCH_BYTES);
    CHECK_INT(json_parse(buf_str(&texts[1]), &arena, &payload, NULL), OK);
    by_held = capability_allows(held->cap, kind, span_of(buf_str(&texts[1])), &arena);
    by_wanted = capability_allows(wanted->cap, kind, span_of(buf_str(&texts[1])), &arena);
    tally->allowed += by_wanted;
    tally->wrong_set += set_allows(both, kind, span_of(buf_str(&texts[1])), &arena) !=
                        (by_held || by_wanted);
    tally->wrong_model += by_held != model_allows(held->tree, kind, payload);
    tally->wrong_model += by_wanted != model_allows(wanted->tree, kind, payload);
    if (by_wanted && !by_held && capability_covers(held->cap, wanted->cap)) {
        if (tally->wrong_cover++ == 0)
            printf("# %.*s is said to cover %.*s: %.*s %.*s\n",
                   STR_ARG(capability_text(held->cap)),
                   STR_ARG(capability_text(wanted->cap)), STR_ARG(kind),
                   STR_ARG(buf_str(&texts[1])));
    }
    arena_done(&arena);
}

TEST(attenuation_never_widens_and_verdicts_are_as_the_model_says)
{
    enum { PAIRS = 40'000, ENVELOPES = 12 };
    uint64_t state = 0x9e3779b97f4a7c15;
    struct drawn held = {}, wanted = {};
    struct capsets *capsets = capsets_new();
    struct capset *both;
    struct tally tally = {};
    struct buf texts[2];

    for (size_t i = 0; i < 2; i++) {
        struct drawn *d = i ? &wanted : &held;

        buf_init(&texts[i], SCRATCH_BYTES);
        buf_init(&d->text, SCRATCH_BYTES);
        arena_init(&d->arena, SCRATCH_BYTES);
    }
    for (size_t i = 0; i < PAIRS; i++) {
        draw(&held, &state);
        draw(&wanted, &state);
        CHECK(capability_covers(held.cap, held.cap));
        tally.covered += capability_covers(held.cap, wanted.cap);
        both = set_of(capsets, &held, &wanted);
        for (size_t k = 0; k < ENVELOPES; k++)
            try_envelope(&held, &wanted, both, &state, texts, &tally);
        capset_unref(both);
    }
    capsets_free(capsets);
    CHECK_INT(tally.wrong_model, 0);
    CHECK_INT(tally.wrong_cover, 0);
    CHECK_INT(tally.wrong_set, 0);
    printf("# %zu covered, %zu allowed\n", tally.covered, tally.allowed);
    CHECK(tally.covered > PAIRS / 100); /* the comparison is not among refusals only */
    CHECK(tally.allowed > PAIRS);
    for (size_t i = 0; i < 2; i++) {
        struct drawn *d = i ? &wanted : &held;

        buf_done(&texts[i]);
        buf_done(&d->text);
        arena_done(&d->arena);
        capability_free(d->cap);
    }
}
