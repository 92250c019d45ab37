/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/xalloc.h"
#include "harness.h"
#include "json/scan.h"

/* Scans a copy of exactly the size of the text, so that the sanitizer sees the first byte
 * behind it. */
static enum err scan_deep(struct str text, size_t max_depth, struct json_scan *ret)
{
    char *copy = xmalloc(text.len ? text.len : 1);
    struct json_span span;
    enum err err;

    if (text.len)
        memcpy(copy, text.ptr, text.len);
    json_scan_init(ret, (struct str){ copy, text.len }, max_depth);
    err = json_value(ret, &span);
    if (!err)
        err = json_scan_end(ret);
    free(copy);
    return err;
}

static enum err scan(struct str text)
{
    struct json_scan s;

    return scan_deep(text, 128, &s);
}

TEST(d6_every_form_of_rfc_8259_is_accepted)
{
    static const struct str cases[] = {
        S("null"),
        S("true"),
        S("false"),
        S("\"\""),
        S("\"a\""),
        S("0"),
        S("-0"),
        S("42"),
        S("-1"),
        S("123456789012345678901234567890"),
        S("0.5"),
        S("-0.000000000000000000000000000000000000000000000000000000000000001"),
        S("1e5"),
        S("1E5"),
        S("1e+5"),
        S("1E-5"),
        S("0e0"),
        S("0e+1"),
        S("1.5e999"),
        S("123.456e78"),
        S("[]"),
        S("{}"),
        S("[[]]"),
        S("[{}]"),
        S("{\"a\":[]}"),
        S("{\"\":0}"),
        S("[1,2,3]"),
        S("[1,null,true,false,\"x\",{},[]]"),
        S("{\"a\":1,\"b\":2}"),
        S("{\"a\":{\"b\":{\"c\":[{\"d\":null}]}}}"),
        S(" \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } , \"c\" : [ ] } \n"),
        S("[1\n,2\r\n]"),
        S("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
        S("\"\\u0000\""),
        S("\"\\u0041\\u00e9\\u20ac\\uFFFF\\uabCD\""),
        S("\"\\ud83d\\ude00\""),
        S("\"\\uD800\\uDC00\\uDBFF\\uDFFF\""),
        S("\"\\\\u0000\""),
        S("\"\x7f\""),
        S("\"\xc2\x80\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf\xef\xbf\xbf\""),
        S("\"\xe2\x80\xa8\xe2\x80\xa9\""),
        S("\"a string that is longer than sixteen bytes, then \\n, then more of it\""),
        S("{\"a\":1,\"a\":2}"), /* the scanner leaves names to those who read them */
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(scan(*c), OK);
}

static const struct str not_json[] = {
    /* nothing, and not enough */
    S(""),
    S(" "),
    S("["),
    S("{"),
    S("[1"),
    S("[1,"),
    S("[\""),
    S("{\"a\""),
    S("{\"a\":"),
    S("{\"a\":1"),
    S("{\"a\":1,"),
    S("\""),
    S("\"a"),
    S("\"\\"),
    S("\"\\u"),
    S("\"\\u00"),
    S("\"\\u000"),
    S("tru"),
    S("nul"),
    S("fals"),
    S("-"),
    /* too much */
    S("1 2"),
    S("[]x"),
    S("{}{}"),
    S("{},"),
    S("[1]]"),
    S("\"a\"\"b\""),
    S("nullx"),
    S("truefalse"),
    S("[1]\x0b"),
    S("{}//"),
    S("{}/**/"),
    S("{}#"),
    S("{}\0"),
    S("1\0"),
    S("[1\0]"),
    S("{\"a\":7\0,\"b\":1}"),
    S("\0"),
    /* commas and colons */
    S("[,]"),
    S("[1,]"),
    S("[,1]"),
    S("[1,,2]"),
    S("[1 2]"),
    S("[1:2]"),
    S("[\"a\" \"b\"]"),
    S("{,}"),
    S("{\"a\":1,}"),
    S("{\"a\":1,,\"b\":2}"),
    S("{\"a\" 1}"),
    S("{\"a\"}"),
    S("{\"a\",1}"),
    S("{\"a\"::1}"),
    S("{\"a\":}"),
    S("{\"a\":1 \"b\":2}"),
    S("{:1}"),
    S("{1:1}"),
    S("{a:1}"),
    S("{'a':1}"),
    S("{null:1}"),
    S("{[]:1}"),
    S("{\"a\":1;\"b\":2}"),
    /* brackets that do not match */
    S("[}"),
    S("{]"),
    S("[1}"),
    S("{\"a\":1]"),
    S("[{\"a\":1]}"),
    S("]"),
    S("}"),
    S("[[[[]]]"),
    /* numbers */
    S("01"),
    S("-01"),
    S("00"),
    S("-012.5"),
    S("+1"),
    S(".5"),
    S("-.5"),
    S("1."),
    S("1.e5"),
    S("1.5e"),
    S("1e"),
    S("1e+"),
    S("1eE2"),
    S("1e1.5"),
    S("0x10"),
    S("1_000"),
    S("--1"),
    S("+-1"),
    S("1-"),
    S("- 1"),
    S("1 e5"),
    S("1.2.3"),
    S("Infinity"),
    S("-Infinity"),
    S("NaN"),
    S("-NaN"),
    S("[-]"),
    S("[1+2]"),
    S("\xef\xbc\x91"),
    /* words */
    S("True"),
    S("TRUE"),
    S("nULL"),
    S("undefined"),
    S("abc"),
    S("[truth]"),
    /* strings */
    S("'a'"),
    S("`a`"),
    S("\"\t\""),
    S("\"\n\""),
    S("\"\r\""),
    S("\"\x1f\""),
    S("\"\0\""),
    S("\"0123456789abcdef\x01\""),
    S("\"\\a\""),
    S("\"\\v\""),
    S("\"\\0\""),
    S("\"\\'\""),
    S("\"\\x41\""),
    S("\"\\U0041\""),
    S("\"\\ \""),
    S("\"\\\n\""),
    S("\"\\\0\""),
    S("\"\\u004g\""),
    S("\"\\u 041\""),
    S("\"\\u+041\""),
    S("\"\\u-041\""),
    S("\"\\u{41}\""),
    S("\"\\\xf0\x9f\x98\x80\""),
    S("\"\\u\xef\xbc\x91\xef\xbc\x91\""),
    /* surrogates that are not a pair */
    S("\"\\ud800\""),
    S("\"\\udc00\""),
    S("\"\\udfff\""),
    S("\"\\ud800x\""),
    S("\"\\ud800\\n\""),
    S("\"\\ud800\\u0041\""),
    S("\"\\ud800\\ud800\""),
    S("\"\\ud83d\\\\ude00\""),
    S("\"\\ude00\\ud83d\""),
    S("\"\\ud800\\u\""),
    S("\"\\ud800\\udc0\""),
    /* white space and marks that JSON does not know */
    S("\xef\xbb\xbf{}"),
    S("\xef\xbb\xbf"),
    S("\x0c{}"),
    S("\x0b[]"),
    S("\xc2\xa0[]"),
    S("[\xe2\x80\xa8]"),
    S("[\xe2\x81\xa0]"),
    S("[\xe3\x80\x80]"),
    S("{\xc2\xa0}"),
    S("\xe2\x80\x9c"),
    S("//\n{}"),
    S("/**/{}"),
    S("*"),
    S("<a>"),
    S("[<null>]"),
    S("(1)"),
    S("["
      "\xf0\x9f\x98\x80]"),
};

TEST(d6_what_rfc_8259_does_not_know_is_refused)
{
    FOR_EACH_CASE(c, not_json)
        CHECK_INT(scan(*c), ERR_INVALID);
}

TEST(d6_bytes_that_are_not_utf_8_are_told_from_bad_grammar)
{
    static const struct str cases[] = {
        S("\"\x80\""),
        S("\"\xbf\""),
        S("\"\xc0\x80\""),
        S("\"\xc1\xbf\""),
        S("\"\xc3\""),
        S("\"\xc3x\""),
        S("\"\xe0\x80\x80\""),
        S("\"\xe0\x9f\xbf\""),
        S("\"\xe2\x82\""),
        S("\"\xe2\x28\xa1\""),
        S("\"\xed\xa0\x80\""),
        S("\"\xed\xb0\x80\""),
        S("\"\xed\xa0\xbd\xed\xb8\x80\""),
        S("\"\xf0\x80\x80\x80\""),
        S("\"\xf0\x8f\xbf\xbf\""),
        S("\"\xf0\x9f\x98\""),
        S("\"\xf4\x90\x80\x80\""),
        S("\"\xf5\x80\x80\x80\""),
        S("\"\xf8\x88\x80\x80\x80\""),
        S("\"\xfe\""),
        S("\"\xff\""),
        S("\"plain text that is longer than a vector \xff\""),
        S("\"\xe2\x82\xac\xe2\x82\xac\xff\""),
        S("{\"\xff\":1}"),
        S("[\xff]"),
        S("\xff"),
        S("\xff\xfe{\0}\0"),
        S("1\xe5"),
        S("\"\\\xe5\""),
        S("\"\\u\xe5\""),
        S("{}\x80"),
        S("\"\xe2"),
        S("\"\xf0\x9f\x98"),
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(scan(*c), ERR_UTF8);
}

TEST(every_byte_of_a_string_is_judged_wherever_it_stands)
{
    char text[72];

    for (size_t at = 1; at < sizeof(text) - 1; at++)
        for (unsigned byte = 0; byte < 256; byte++) {
            enum err want = OK;

            memset(text, 'x', sizeof(text));
            text[0] = '"';
            text[sizeof(text) - 1] = '"';
            text[at] = (char)byte;
            if (byte < 0x20 || byte == '"' || byte == '\\')
                want = ERR_INVALID;
            if (byte >= 0x80)
                want = ERR_UTF8;
            if (scan((struct str){ text, sizeof(text) }) != want) {
                CHECK_INT(byte, -1);
                CHECK_INT(at, -1);
            }
        }
}

/* What stands first is told, however the string is cut into vectors. */
TEST(the_first_mistake_in_a_long_string_is_found_to_the_byte)
{
    /* clang-format off */
    static const struct {
        struct str wrong;
        size_t at; /* of the mistake, from where it begins */
        enum err err;
    } cases[] = {
        { S("\xa9"),             0, ERR_UTF8 },
        { S("\xe5\xa4"),         0, ERR_UTF8 },
        { S("\xe5\xa4\xa9\x01"), 3, ERR_INVALID },
        { S("\x01\xe5"),         0, ERR_INVALID },
        { S("\\x\xe5"),          1, ERR_INVALID },
        { S("\\n\xff"),          2, ERR_UTF8 },
        { S("\xed\xa0\x80"),     0, ERR_UTF8 },
        { S("\xe5\""),           0, ERR_UTF8 },
    };
    /* clang-format on */
    char text[600];

    FOR_EACH_CASE(c, cases)
        for (size_t before = 0; before < 100; before++) {
            size_t at = 1;
            struct json_scan s;

            text[0] = '"';
            for (size_t i = 0; i < before; i++, at += 3)
                memcpy(text + at, i % 7 < 5 ? "\xe5\xa4\xa9" : "abc", 3);
            memcpy(text + at, c->wrong.ptr, c->wrong.len);
            memset(text + at + c->wrong.len, 'x', 250);
            text[at + c->wrong.len + 250] = '"';
            CHECK_INT(scan_deep((struct str){ text, at + c->wrong.len + 251 }, 9, &s),
                      c->err);
            CHECK_INT(s.at, at + c->at);
        }
}

TEST(a_string_that_ends_inside_a_character_is_not_utf_8)
{
    char text[400];

    text[0] = '"';
    for (size_t i = 0; i < 130; i++)
        memcpy(text + 1 + 3 * i, "\xe5\xa4\xa9", 3);
    for (size_t len = 1; len < 390; len++) {
        struct json_scan s;
        bool is_whole = (len - 1) % 3 == 0;

        CHECK_INT(scan_deep((struct str){ text, len }, 9, &s),
                  is_whole ? ERR_INVALID : ERR_UTF8);
        CHECK_INT(s.at, len - (len - 1) % 3);
    }
}

TEST(every_unit_may_be_escaped_but_a_lone_surrogate)
{
    for (unsigned unit = 0; unit <= 0xffff; unit++) {
        char text[9];
        bool is_surrogate = unit >= 0xd800 && unit <= 0xdfff;

        (void)snprintf(text, sizeof(text), "\"\\u%04x\"", unit);
        if (scan(str_of(text)) != (is_surrogate ? ERR_INVALID : OK))
            CHECK_INT(unit, -1);
    }
}

TEST(a_problem_is_named_and_its_place_is_given)
{
    static const struct {
        struct str text;
        size_t at;
        const char *what;
    } cases[] = {
        { S(""), 0, "the text ends too early" },
        { S("{\"a\":1"), 6, "the text ends too early" },
        { S("{\"a\":1 x"), 7, "expected ',' or '}' after a member" },
        { S("[1 x"), 3, "expected ',' or ']' after an item" },
        { S("{\"a\" 1}"), 5, "expected ':' after a name" },
        { S("{a:1}"), 1, "expected a name in quotes" },
        { S("[1,]"), 3, "expected a value" },
        { S("[trux]"), 4, "expected a value" },
        { S("[01]"), 2, "a number begins with 0" },
        { S("[1.]"), 3, "expected a digit in a number" },
        { S("\"ab\n\""), 3, "control character in a string" },
        { S("\"ab\\x\""), 4, "unknown escape in a string" },
        { S("\"\\u12g4\""), 5, "expected four hexadecimal digits after \\u" },
        { S("\"a\\ud800\""), 2, "lone surrogate in a string" },
        { S("\"ab\xff\""), 3, "not UTF-8" },
        { S("{} x"), 3, "something follows the value" },
    };

    FOR_EACH_CASE(c, cases) {
        struct json_scan s;

        CHECK(scan_deep(c->text, 128, &s) != OK);
        CHECK_INT(s.at, c->at);
        CHECK_STR(str_of(s.what), str_of(c->what));
    }
}

static void put_nested(struct buf *out, struct str open, struct str close, size_t depth)
{
    buf_clear(out);
    for (size_t i = 0; i < depth; i++)
        buf_put(out, open);
    buf_put(out, S("0"));
    for (size_t i = 0; i < depth; i++)
        buf_put(out, close);
}

TEST(d12_nesting_is_accepted_up_to_the_limit_and_not_beyond)
{
    static const struct {
        struct str open, close;
        size_t per_round;
    } cases[] = {
        { S("["), S("]"), 1 },
        { S("{\"a\":"), S("}"), 1 },
        { S("[{\"a\":"), S("}]"), 2 },
    };

    FOR_EACH_CASE(c, cases) {
        static const size_t limits[] = { 2, 64, 128, 130, JSON_MAX_DEPTH };
        struct json_scan s;
        struct buf text;

        buf_init(&text, 1 << 20);
        for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
            put_nested(&text, c->open, c->close, limits[i] / c->per_round);
            CHECK_INT(scan_deep(buf_str(&text), limits[i], &s), OK);
            CHECK_INT(scan_deep(buf_str(&text), limits[i] - 1, &s), ERR_TOO_DEEP);
            CHECK_STR(str_of(s.what), S("nested too deeply"));
            put_nested(&text, c->open, c->close, limits[i] / c->per_round + 1);
            CHECK_INT(scan_deep(buf_str(&text), limits[i], &s), ERR_TOO_DEEP);
        }
        buf_done(&text);
    }
}

TEST(d12_a_hundred_thousand_brackets_cost_nothing)
{
    struct json_scan s;
    struct buf text;

    buf_init(&text, 1 << 20);
    for (size_t i = 0; i < 100'000; i++)
        buf_putc(&text, '[');
    CHECK_INT(scan_deep(buf_str(&text), 128, &s), ERR_TOO_DEEP);
    CHECK_INT(s.at, 128);
    CHECK_INT(scan_deep(buf_str(&text), SIZE_MAX, &s), ERR_TOO_DEEP);
    CHECK_INT(s.at, JSON_MAX_DEPTH);
    buf_done(&text);
}

TEST(closing_brackets_remember_what_was_opened)
{
    /* objects and arrays mixed so that the bits of the stack change at the same depth */
    static const struct {
        struct str text;
        enum err err;
    } cases[] = {
        { S("[[{\"a\":[{}]}],{\"a\":{\"b\":[]}},[[1]]]"), OK },
        { S("[[{\"a\":[{}]}],{\"a\":{\"b\":[]}},[[1]}]"), ERR_INVALID },
        { S("[{\"a\":[1,2},3]]"), ERR_INVALID },
        { S("{\"a\":[{\"b\":1],\"c\":2}"), ERR_INVALID },
        { S("[{},[],\"a\":1]"), ERR_INVALID },
        { S("{\"a\":[],1}"), ERR_INVALID },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(scan(c->text), c->err);
}

TEST(the_members_of_an_object_are_handed_out_as_spans)
{
    struct str text = S(" { \"a\" : 1 , \"b\\n\":\"x\\ty\",\"c\":[1, 2],\"\":{\"d\":{}} ,"
                        "\"t\":true,\"f\":false,\"n\":null}\n");
    static const struct {
        struct str key, value;
        enum json_type type;
        bool key_has_escape, value_has_escape;
    } want[] = {
        { S("a"), S("1"), JSON_NUMBER, false, false },
        { S("b\\n"), S("x\\ty"), JSON_STRING, true, true },
        { S("c"), S("[1, 2]"), JSON_ARRAY, false, false },
        { S(""), S("{\"d\":{}}"), JSON_OBJECT, false, false },
        { S("t"), S("true"), JSON_TRUE, false, false },
        { S("f"), S("false"), JSON_FALSE, false, false },
        { S("n"), S("null"), JSON_NULL, false, false },
    };
    struct json_scan s;
    enum err err;

    json_scan_init(&s, text, 3);
    err = json_object_begin(&s);
    CHECK_INT(err, OK);
    FOR_EACH_CASE(c, want) {
        struct json_member m;

        CHECK(json_object_next(&s, &m, &err));
        CHECK_STR(m.key.text, c->key);
        CHECK_INT(m.key.type, JSON_STRING);
        CHECK_INT(m.key.has_escape, c->key_has_escape);
        CHECK_STR(m.value.text, c->value);
        CHECK_INT(m.value.type, c->type);
        CHECK_INT(m.value.has_escape, c->value_has_escape);
    }
    CHECK(!json_object_next(&s, &(struct json_member){}, &err));
    CHECK_INT(err, OK);
    CHECK_INT(json_scan_end(&s), OK);
}

/* Walks the members or items of the outermost value instead of passing over it whole. */
static enum err walk(struct str text)
{
    bool is_array = text.len && text.ptr[0] == '[';
    char *copy = xmalloc(text.len ? text.len : 1);
    struct json_member m;
    struct json_scan s;
    enum err err;

    memcpy(copy, text.ptr, text.len);
    json_scan_init(&s, (struct str){ copy, text.len }, 128);
    err = is_array ? json_array_begin(&s) : json_object_begin(&s);
    while (!err && (is_array ? json_array_next(&s, &m.value, &err)
                             : json_object_next(&s, &m, &err)))
        ;
    if (!err)
        err = json_scan_end(&s);
    free(copy);
    return err;
}

TEST(walking_and_passing_over_agree)
{
    static const struct str cases[] = {
        S("{}"),
        S("[]"),
        S("{ }"),
        S("[ ]"),
        S("[1]"),
        S("[1,2]"),
        S("[1,]"),
        S("[,1]"),
        S("[,]"),
        S("[1 2]"),
        S("[1}"),
        S("[}"),
        S("[1,[2,[3]]]"),
        S("{\"a\":1}"),
        S("{\"a\":1,}"),
        S("{,\"a\":1}"),
        S("{\"a\":1]"),
        S("{]"),
        S("{\"a\"}"),
        S("{\"a\":}"),
        S("{\"a\":1 \"b\":2}"),
        S("{\"a\":1}x"),
        S("{\"a\":1,\"b\":{\"c\":[]}}"),
        S("[\"\xff\"]"),
        S("[\xff]"),
        S("["),
        S("{"),
        S("[1"),
        S("[1,"),
    };

    FOR_EACH_CASE(c, cases)
        CHECK_INT(walk(*c), scan(*c));
}

TEST(depth_counts_the_object_that_was_begun)
{
    struct json_member m;
    struct json_scan s;
    enum err err;

    json_scan_init(&s, S("{\"a\":[[]]}"), 2);
    CHECK_INT(json_object_begin(&s), OK);
    CHECK(!json_object_next(&s, &m, &err));
    CHECK_INT(err, ERR_TOO_DEEP);
    CHECK_INT(s.at, 6);
    CHECK_INT(json_scan_end(&s), ERR_TOO_DEEP);
    CHECK(!json_object_next(&s, &m, &err));
    CHECK_INT(err, ERR_TOO_DEEP);

    json_scan_init(&s, S("{}"), 0);
    CHECK_INT(json_object_begin(&s), ERR_TOO_DEEP);
    json_scan_init(&s, S("7"), 0);
    CHECK_INT(json_value(&s, &(struct json_span){}), OK);
}

TEST(only_an_object_begins_as_an_object)
{
    static const struct str cases[] = { S("[]"), S("1"), S("\"{\""), S(""), S("null") };

    FOR_EACH_CASE(c, cases) {
        struct json_scan s;

        json_scan_init(&s, *c, 8);
        CHECK_INT(json_object_begin(&s), ERR_INVALID);
    }
}

TEST(a_text_without_memory_is_empty)
{
    struct json_scan s;

    json_scan_init(&s, (struct str){}, 8);
    CHECK_INT(json_value(&s, &(struct json_span){}), ERR_INVALID);
}

TEST(escapes_mean_what_rfc_8259_says)
{
    static const struct {
        struct str json, plain;
    } cases[] = {
        { S("\"\""), S("") },
        { S("\"plain\""), S("plain") },
        { S("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), S("\"\\/\b\f\n\r\t") },
        { S("\"\\u0000\""), S("\0") },
        { S("\"a\\u0000b\""), S("a\0b") },
        { S("\"\\u0041\\u007f\""), S("A\x7f") },
        { S("\"\\u0080\\u07ff\""), S("\xc2\x80\xdf\xbf") },
        { S("\"\\u0800\\uffff\""), S("\xe0\xa0\x80\xef\xbf\xbf") },
        { S("\"\\uD83D\\uDE00\""), S("\xf0\x9f\x98\x80") },
        { S("\"\\ud800\\udc00\\udbff\\udfff\""), S("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf") },
        { S("\"\\\\u0041\""), S("\\u0041") },
        { S("\"\xe2\x82\xac\\u20ac\""), S("\xe2\x82\xac\xe2\x82\xac") },
    };

    FOR_EACH_CASE(c, cases) {
        struct json_span span;
        struct json_scan s;
        struct arena arena;
        struct buf longer;
        struct str got;

        arena_init(&arena, 1000);
        json_scan_init(&s, c->json, 8);
        CHECK_INT(json_value(&s, &span), OK);
        CHECK_INT(json_unescape(span, &arena, &got), OK);
        CHECK_STR(got, c->plain);
        if (!span.has_escape)
            CHECK(got.ptr == span.text.ptr);
        CHECK(json_string_is(span, c->plain));
        buf_init(&longer, 1000);
        buf_put(&longer, c->plain);
        buf_putc(&longer, 'x');
        CHECK(!json_string_is(span, buf_str(&longer)));
        buf_done(&longer);
        CHECK(!json_string_is(span, S("something else altogether")));
        for (size_t len = 0; len < c->plain.len; len++)
            CHECK(!json_string_is(span, str_slice(c->plain, 0, len)));
        arena_done(&arena);
    }
}

TEST(unescaping_into_a_full_arena_fails)
{
    struct json_span span;
    struct json_scan s;
    struct arena arena;
    struct str got = S("untouched");

    arena_init(&arena, 0);
    json_scan_init(&s, S("\"a\\n\""), 8);
    CHECK_INT(json_value(&s, &span), OK);
    CHECK_INT(json_unescape(span, &arena, &got), ERR_TOO_BIG);
    CHECK_STR(got, S("untouched"));
    arena_done(&arena);
}

TEST(every_prefix_of_a_value_is_refused)
{
    struct str text =
        S("{\"a\":[1.5e-3,true,false,null,\"\\ud83d\\ude00 \xe2\x82\xac and a "
          "string that is long enough for vectors\"],\"b\":{\"c\":{}}}");

    for (size_t len = 0; len < text.len; len++)
        if (scan(str_slice(text, 0, len)) == OK)
            CHECK_INT(len, -1);
    CHECK_INT(scan(text), OK);
}
