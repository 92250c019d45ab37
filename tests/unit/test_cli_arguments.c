/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <unistd.h>

#include "cli/arguments.h"
#include "harness.h"

/* Complaints go nowhere. */
static int write_arguments(const char *const *pairs, struct str json, struct buf *out)
{
    int old = fcntl(2, F_DUPFD_CLOEXEC, 0);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const char *items[8];
    struct cli_list list = { .items = items };
    int code;

    for (; pairs[list.count]; list.count++)
        items[list.count] = pairs[list.count];
    CHECK(dup2(nowhere, 2) >= 0);
    code = cli_arguments(&list, json, out);
    CHECK(dup2(old, 2) >= 0);
    (void)close(old);
    (void)close(nowhere);
    return code;
}

TEST(arguments_are_json_where_they_look_like_it_and_text_otherwise)
{
    /* clang-format off */
    static const struct { const char *pairs[6]; struct str json, want; } cases[] = {
        { { NULL },                              S(""),            S("{}") },
        { { "a=1", "b=-2.5e3", "c=x" },          S(""),            S("{\"a\":1,\"b\":-2.5e3,\"c\":\"x\"}") },
        { { "a=true", "b=null", "c=falsehood" }, S(""),            S("{\"a\":true,\"b\":null,\"c\":\"falsehood\"}") },
        { { "a=[1,2]", "b={\"x\": 1}", "c={" },  S(""),            S("{\"a\":[1,2],\"b\":{\"x\": 1},\"c\":\"{\"}") },
        { { "a=", "b==", "c=d=e" },              S(""),            S("{\"a\":\"\",\"b\":\"=\",\"c\":\"d=e\"}") },
        { { "a=\"5\"", "b= 5", "c=01", "d=1 2" }, S(""),           S("{\"a\":\"\\\"5\\\"\",\"b\":\" 5\",\"c\":\"01\",\"d\":\"1 2\"}") },
        { { "a=\xff", "\"=\n" },                 S(""),            S("{\"a\":\"\xef\xbf\xbd\",\"\\\"\":\"\\n\"}") },
        { { NULL },                              S(" {\"z\" : \"5\"}\n"), S("{\"z\":\"5\"}") },
        { { "a=1" },                             S("{\"z\":{\"y\":[1]},\"\\u0078\":2}"), S("{\"z\":{\"y\":[1]},\"x\":2,\"a\":1}") },
        { { "a=1" },                             S("{}"),          S("{\"a\":1}") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        CHECK_INT(write_arguments(c->pairs, c->json, &out), CLI_OK);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
    }
}

TEST(arguments_without_a_name_or_given_twice_or_no_object_are_refused)
{
    /* clang-format off */
    static const struct { const char *pairs[3]; struct str json; } cases[] = {
        { { "a" },          S("") },
        { { "=a" },         S("") },
        { { "" },           S("") },
        { { "a=1", "a=2" }, S("") },
        { { "a=1" },        S("{\"a\":1}") },
        { { "x=1" },        S("{\"\\u0078\":1}") },
        { { NULL },         S("[1]") },
        { { NULL },         S("5") },
        { { NULL },         S("{\"a\":1,\"a\":2}") },
        { { NULL },         S("{\"a\":1") },
        { { NULL },         S("{} {}") },
        { { NULL },         S(" ") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        CHECK_INT(write_arguments(c->pairs, c->json, &out), CLI_USAGE);
        buf_done(&out);
    }
}

TEST(an_object_comes_back_without_the_space_around_it)
{
    struct str text = {};

    CHECK_INT(cli_check_object("--x", S(" \n{\"a\": 1}\n"), &text), CLI_OK);
    CHECK_STR(text, S("{\"a\": 1}"));
}
