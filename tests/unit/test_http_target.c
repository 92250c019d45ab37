/* SPDX-License-Identifier: Apache-2.0 */
/* Queries and escapes; targets are tested where they arrive, in test_http_request.c. */
#include "harness.h"
#include "http/request.h"

TEST(a_query_is_walked_parameter_by_parameter)
{
    static const struct {
        struct str query;
        size_t count;
        struct http_param params[3];
    } cases[] = {
        { {}, 0, {} },
        { S(""), 1, { { S(""), S("") } } },
        { S("a"), 1, { { S("a"), S("") } } },
        { S("a="), 1, { { S("a"), S("") } } },
        { S("a=b=c"), 1, { { S("a"), S("b=c") } } },
        { S("=b"), 1, { { S(""), S("b") } } },
        { S("a=1&b=2&a=3"),
          3,
          { { S("a"), S("1") }, { S("b"), S("2") }, { S("a"), S("3") } } },
        { S("a&&"), 3, { { S("a"), S("") }, { S(""), S("") }, { S(""), S("") } } },
        { S("a+b=%2B+%26%3d"), 1, { { S("a b"), S("+ &=") } } },
        { S("%e2%82%ac=%2f/?"), 1, { { S("\xe2\x82\xac"), S("//?") } } },
    };

    FOR_EACH_CASE(c, cases) {
        struct str rest = c->query;
        struct arena arena;
        size_t count = 0;

        arena_init(&arena, 1000);
        for (; rest.ptr; count++) {
            struct http_param param = {};

            CHECK_INT(http_query_next(&rest, &arena, &param), OK);
            CHECK_STR(param.name, c->params[count].name);
            CHECK_STR(param.value, c->params[count].value);
        }
        CHECK_INT(count, c->count);
        arena_done(&arena);
    }
}

TEST(broken_escapes_are_refused_and_stay_where_they_are)
{
    static const struct str cases[] = {
        S("%"),   S("%4"),       S("%g0"),    S("%0g"),     S("a=%"),
        S("%00"), S("a=%00"),    S("a=%ff"),  S("%c3=%a9"), S("a=\xff"),
        S("a\0"), S("a=%c0%80"), S("a=%%41"),
    };

    FOR_EACH_CASE(c, cases) {
        struct http_param param = { S("kept"), S("kept") };
        struct str rest = *c;
        struct str out = S("kept");
        struct arena arena;

        arena_init(&arena, 1000);
        CHECK_INT(http_query_next(&rest, &arena, &param), ERR_BAD_REQUEST);
        CHECK(rest.ptr == c->ptr && rest.len == c->len);
        CHECK_STR(param.name, S("kept"));
        CHECK_INT(http_percent_decode(*c, &arena, &out), ERR_BAD_REQUEST);
        CHECK_STR(out, S("kept"));
        arena_done(&arena);
    }
}

TEST(an_escape_does_not_reach_beyond_its_text)
{
    struct str out = S("kept");
    struct arena arena;

    arena_init(&arena, 1000);
    CHECK_INT(http_percent_decode(str_slice(S("%41"), 0, 2), &arena, &out),
              ERR_BAD_REQUEST);
    CHECK_INT(http_percent_decode(str_slice(S("%41"), 0, 1), &arena, &out),
              ERR_BAD_REQUEST);
    CHECK_STR(out, S("kept"));
    arena_done(&arena);
}

TEST(percent_decoding_leaves_plus_and_slash_to_the_caller)
{
    static const char long_text[64] = { [0 ... 63] = 'a' };
    struct str out = {};
    struct arena arena;

    arena_init(&arena, 64);
    CHECK_INT(http_percent_decode(S("a+b%2Fc%2f%7E"), &arena, &out), OK);
    CHECK_STR(out, S("a+b/c/~"));
    CHECK(out.ptr[out.len] == '\0');
    CHECK_INT(http_percent_decode(S(""), &arena, &out), OK);
    CHECK_STR(out, S(""));
    arena_reset(&arena);
    CHECK_INT(http_percent_decode((struct str){ long_text, 64 }, &arena, &out),
              ERR_TOO_BIG);
    arena_done(&arena);
}
