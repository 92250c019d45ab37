/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "json/json.h"

TEST(commas_are_placed_where_they_belong)
{
    struct str tags[] = { S("a"), S("b") };
    struct json_writer w;
    struct buf out;

    buf_init(&out, 4096);
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("s"), S("x"));
    json_put_uint(&w, S("u"), UINT64_MAX);
    json_put_bool(&w, S("t"), true);
    json_put_bool(&w, S("f"), false);
    json_key(&w, S("n"));
    json_null(&w);
    json_key(&w, S("list"));
    json_array_open(&w);
    json_array_open(&w);
    json_array_close(&w);
    json_object_open(&w);
    json_object_close(&w);
    json_uint(&w, 0);
    json_str(&w, S(""));
    json_bool(&w, true);
    json_raw(&w, S("{\"raw\":1}"));
    json_array_close(&w);
    json_put_strs(&w, S("tags"), (struct str_list){ tags, 2 });
    json_put_strs(&w, S("none"), (struct str_list){});
    json_put_time(&w, S("at"), 1756216800125);
    json_object_close(&w);
    CHECK(!out.is_full);
    CHECK_STR(
        buf_str(&out),
        S("{\"s\":\"x\",\"u\":18446744073709551615,\"t\":true,\"f\":false,\"n\":null,"
          "\"list\":[[],{},0,\"\",true,{\"raw\":1}],\"tags\":[\"a\",\"b\"],"
          "\"none\":[],\"at\":\"2025-08-26T14:00:00.125Z\"}"));
    buf_done(&out);
}

TEST(strings_are_escaped_and_made_utf_8)
{
    static const struct {
        struct str value, json;
    } cases[] = {
        { S(""), S("\"\"") },
        { S("plain, and long enough for more than one vector"),
          S("\"plain, and long enough for more than one vector\"") },
        { S("\"\\/"), S("\"\\\"\\\\/\"") },
        { S("\b\f\n\r\t"), S("\"\\b\\f\\n\\r\\t\"") },
        { S("\0\x01\x1f\x7f"), S("\"\\u0000\\u0001\\u001f\x7f\"") },
        { S("\xe2\x82\xac\xf0\x9f\x98\x80"), S("\"\xe2\x82\xac\xf0\x9f\x98\x80\"") },
        { S("a\xff"
            "b"),
          S("\"a\xef\xbf\xbd"
            "b\"") },
        { S("\xc3"), S("\"\xef\xbf\xbd\"") },
        { S("\xed\xa0\x80"), S("\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"") },
        { S("\xe2\x82"), S("\"\xef\xbf\xbd\xef\xbf\xbd\"") },
    };

    FOR_EACH_CASE(c, cases) {
        struct json_writer w;
        struct buf out;

        buf_init(&out, 4096);
        json_write_init(&w, &out);
        json_str(&w, c->value);
        CHECK_STR(buf_str(&out), c->json);
        buf_done(&out);
    }
}

TEST(every_ascii_character_written_is_read_back)
{
    for (unsigned byte = 0; byte < 0x80; byte++) {
        char text[3] = { 'a', (char)byte, 'b' };
        struct json_writer w;
        struct arena arena;
        const struct json *root;
        struct buf out;

        arena_init(&arena, 4096);
        buf_init(&out, 4096);
        json_write_init(&w, &out);
        json_object_open(&w);
        json_put_str(&w, (struct str){ text, 3 }, (struct str){ text, 3 });
        json_object_close(&w);
        CHECK_INT(json_parse(buf_str(&out), &arena, &root, NULL), OK);
        CHECK_STR(root->first->text, ((struct str){ text, 3 }));
        CHECK_STR(root->first->key, ((struct str){ text, 3 }));
        buf_done(&out);
        arena_done(&arena);
    }
}

TEST(a_text_that_does_not_fit_is_known_by_its_buffer)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, 8);
    json_write_init(&w, &out);
    json_str(&w, S("longer than eight"));
    CHECK(out.is_full);
    buf_done(&out);
}

TEST(members_are_copied_as_they_stand_but_for_those_named)
{
    static const struct {
        struct str object, want;
    } cases[] = {
        { S("{}"), S("{\"new\":1}") },
        { S(" { \"a\" : 1.50 ,\n\"b\\u0062\":[ 1 ], \"c\":\"\\\"\" } "),
          S("{\"a\":1.50,\"c\":\"\\\"\",\"new\":1}") },
        { S("{\"drop\":{},\"x\":null,\"\\u0064rop\":2}"), S("{\"x\":null,\"new\":1}") },
    };
    static const struct str dropped[] = { S("drop"), S("bb") };

    FOR_EACH_CASE(c, cases) {
        struct json_writer w;
        struct buf out;

        buf_init(&out, 1000);
        json_write_init(&w, &out);
        json_object_open(&w);
        json_put_members(&w, c->object, (struct str_list){ dropped, 2 });
        json_put_uint(&w, S("new"), 1);
        json_object_close(&w);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
    }
}

/* Texts of every length, with every kind of byte that is written otherwise at every
 * place.
 */
TEST(what_must_be_escaped_is_found_wherever_it_stands)
{
    static const struct {
        char byte;
        struct str written;
    } cases[] = {
        { '"', S("\\\"") },       { '\\', S("\\\\") },           { '\n', S("\\n") },
        { '\x1f', S("\\u001f") }, { '\xff', S("\xef\xbf\xbd") }, { 'x', S("x") },
    };

    FOR_EACH_CASE(c, cases)
        for (size_t len = 1; len < 70; len++)
            for (size_t at = 0; at < len; at++) {
                struct buf text, out, expected;
                struct json_writer w;

                buf_init(&text, len); /* of exactly that size */
                buf_init(&out, 1000);
                buf_init(&expected, 1000);
                buf_putc(&expected, '"');
                for (size_t i = 0; i < len; i++) {
                    buf_putc(&text, i == at ? c->byte : ' ');
                    buf_put(&expected, i == at ? c->written : S(" "));
                }
                buf_putc(&expected, '"');
                json_write_init(&w, &out);
                json_str(&w, buf_str(&text));
                CHECK_STR(buf_str(&out), buf_str(&expected));
                buf_done(&text);
                buf_done(&out);
                buf_done(&expected);
            }
}
