/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>

#include "harness.h"
#include "tui/pretty.h"

TEST(json_is_laid_out_and_says_the_same)
{
    /* clang-format off */
    static const struct { struct str json; enum pretty how; struct str want; } cases[] = {
        { S("{}"),                        PRETTY_LINES, S("{}") },
        { S(" { } "),                     PRETTY_LINES, S("{}") },
        { S("[ [ ] , [1] ]"),             PRETTY_LINES, S("[\n  [],\n  [\n    1\n  ]\n]") },
        { S("{\"a\":1,\"b\":[true,null]}"), PRETTY_LINES,
          S("{\n  \"a\": 1,\n  \"b\": [\n    true,\n    null\n  ]\n}") },
        { S("{\"a\":1,\"b\":[true,null]}"), PRETTY_LINE, S("{\"a\": 1, \"b\": [true, null]}") },
        { S("-1.5e+3"),                   PRETTY_LINE,  S("-1.5e+3") },
        { S("\"\\u0072\\u006d \\/\""),    PRETTY_LINE,  S("\"rm /\"") },
        { S("\"\\u001b[2J\\u202e\u202e\""), PRETTY_LINE, S("\"\\u001b[2J\\u202e\\u202e\"") },
        { S("\"{,:]\\\"\\\\\""),          PRETTY_LINES, S("\"{,:]\\\"\\\\\"") },
        { S("{\"t\":\"a\\nb\\n\"}"),      PRETTY_LINES, S("{\n  \"t\": \"a\\nb\\n\"\n}") },
        { S("{\"t\":\"a\\nb\\n\"}"),      PRETTY_SHOWN, S("{\n  \"t\": \"a\\n\n     b\\n\"\n}") },
        { S("\"a\\\\nb\""),               PRETTY_SHOWN, S("\"a\\\\nb\"") },
        { S("\"a\\nb\""),                 PRETTY_LINE,  S("\"a\\nb\"") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        CHECK_INT(pretty_put(&out, c->json, c->how), OK);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
    }
}

TEST(what_the_locale_cannot_show_is_escaped_but_for_editing)
{
    /* clang-format off */
    static const struct { const char *locale; enum pretty how; struct str want; } cases[] = {
        { "C.UTF-8", PRETTY_SHOWN, S("\"ä 日 👍 \\u0378\"") },
        { "C",       PRETTY_SHOWN, S("\"\\u00e4 \\u65e5 \\ud83d\\udc4d \\u0378\"") },
        { "C",       PRETTY_LINE,  S("\"\\u00e4 \\u65e5 \\ud83d\\udc4d \\u0378\"") },
        { "C",       PRETTY_LINES, S("\"ä 日 👍 \u0378\"") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        CHECK(setlocale(LC_CTYPE, c->locale) != NULL);
        buf_init(&out, 4096);
        CHECK_INT(pretty_put(&out, S("\"ä 日 👍 \u0378\""), c->how), OK);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
    }
}

TEST(what_is_no_json_is_refused)
{
    static const struct str cases[] = { S(""), S("{"), S("{} {}"), S("nul"), S("\"") };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        CHECK_INT(pretty_put(&out, *c, PRETTY_LINES), ERR_INVALID);
        CHECK_INT(out.len, 0);
        buf_done(&out);
    }
}

TEST(members_stand_on_one_line)
{
    /* clang-format off */
    static const struct { struct str json, want; } cases[] = {
        { S("{}"),                                 S("") },
        { S("{\"path\":\"/tmp\",\"lines\":3}"),    S("path: \"/tmp\", lines: 3") },
        { S("{\"a b\":{\"c\":[1,2]}, \"\":null}"), S("\"a b\": {\"c\": [1, 2]}, \"\": null") },
        { S("{\"\\u0061\":1,\"\\u001b\":2}"),      S("\"a\": 1, \"\\u001b\": 2") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        CHECK_INT(pretty_put_members(&out, c->json), OK);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
    }
}

TEST(members_of_what_is_no_object_are_refused)
{
    struct buf out;

    buf_init(&out, 4096);
    CHECK_INT(pretty_put_members(&out, S("[1]")), ERR_INVALID);
    CHECK_INT(pretty_put_members(&out, S("{\"a\":1,")), ERR_INVALID);
    CHECK_INT(out.len, 0);
    buf_done(&out);
}

TEST(a_long_text_stops_where_the_buffer_is_full)
{
    struct buf out;

    buf_init(&out, 16);
    CHECK_INT(pretty_put(&out, S("[1,2,3,4,5,6,7,8,9,10]"), PRETTY_LINE), OK);
    CHECK(out.is_full);
    CHECK(out.len <= 16);
    buf_done(&out);
}
