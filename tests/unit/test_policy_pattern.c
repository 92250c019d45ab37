/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "pattern_model.h"
#include "policy/pattern.h"

static bool matches(struct str text, struct str kind)
{
    struct pattern *pattern = NULL;
    bool result;

    CHECK_INT(pattern_new(text, &pattern, NULL), OK);
    if (!pattern)
        return false;
    CHECK_STR(pattern_text(pattern), text);
    result = pattern_matches(pattern, kind);
    pattern_free(pattern);
    return result;
}

struct match_case {
    struct str pattern, kind;
    bool matches;
};

TEST(seed_4_2_the_examples_of_pattern_matching)
{
    /* clang-format off */
    static const struct match_case cases[] = {
        { S("mcp/*"),                  S("mcp/request:tools/call"),  true  },
        { S("mcp/request:*"),          S("mcp/request:tools/call"),  true  },
        { S("mcp/request:tools/*"),    S("mcp/request:tools/call"),  true  },
        { S("mcp/request:tools/call"), S("mcp/request:tools/call"),  true  },
        { S("mcp/*"),                  S("mcp/response:tools/call"), true  },
        { S("mcp/response:*"),         S("mcp/response:tools/call"), true  },
        { S("mcp/response:tools/*"),   S("mcp/response:tools/call"), true  },
        { S("chat"),                   S("chat"),                    true  },
        { S("mcp/*"),                  S("chat"),                    false },
        { S("mcp/request:*"),          S("chat"),                    false },
        { S("mcp/response:*"),         S("mcp/request:tools/call"),  false },
        { S("mcp/request:*"),          S("mcp/response:tools/call"), false },
        { S("mcp/proposal:*"),         S("mcp/request:tools/call"),  false },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(matches(c->pattern, c->kind), c->matches);
}

TEST(seed_4_1_the_wildcard_patterns_cover_what_they_are_said_to)
{
    /* clang-format off */
    static const struct match_case cases[] = {
        { S("mcp/*"),                   S("mcp/request:tools/list"),                  true  },
        { S("mcp/*"),                   S("mcp/response:tools/list"),                 true  },
        { S("mcp/*"),                   S("mcp/proposal:tools/call:write_file"),      true  },
        { S("mcp/*"),                   S("mcp/withdraw"),                            true  },
        { S("mcp/*"),                   S("mcp/"),                                    false },
        { S("mcp/*"),                   S("mcp"),                                     false },
        { S("mcp/*"),                   S("mcpx/y"),                                  false },
        { S("mcp/request:*"),           S("mcp/request:notifications/initialized"),   true  },
        { S("mcp/request:*"),           S("mcp/request:tools/call:x:y/z"),            true  },
        { S("mcp/request:tools/*"),     S("mcp/request:tools/list"),                  true  },
        { S("mcp/request:tools/*"),     S("mcp/request:tools/call:read_file"),        true  },
        { S("mcp/request:tools/*"),     S("mcp/request:resources/read"),              false },
        { S("mcp/request:resources/*"), S("mcp/request:resources/read"),              true  },
        { S("mcp/request:resources/*"), S("mcp/request:resources/list"),              true  },
        { S("mcp/request:resources/*"), S("mcp/request:resources/subscribe"),         true  },
        { S("mcp/request:resources/*"), S("mcp/request:resource"),                    false },
        { S("mcp/response:*"),          S("mcp/response:resources/read:file:///etc"), true  },
        { S("mcp/proposal:*"),          S("mcp/proposal:tools/call"),                 true  },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(matches(c->pattern, c->kind), c->matches);
}

TEST(d14_a_star_stops_at_a_colon_unless_it_ends_the_pattern)
{
    /* clang-format off */
    static const struct match_case cases[] = {
        { S("mcp/request:*/list"),            S("mcp/request:tools/list"),               true  },
        { S("mcp/request:*/list"),            S("mcp/request:resources/templates/list"), true  },
        { S("mcp/request:*/list"),            S("mcp/request:tools/call:x/list"),        false },
        { S("mcp/request:*/list"),            S("mcp/request:tools/call:x/list:y/list"), false },
        { S("mcp/request:*/list"),            S("mcp/request:/list"),                    false },
        { S("mcp/request:*/list"),            S("mcp/request:tools/list/x"),             false },
        { S("mcp/*:tools/call"),              S("mcp/request:tools/call"),               true  },
        { S("mcp/*:tools/call"),              S("mcp/proposal:tools/call"),              true  },
        { S("mcp/*:tools/call"),              S("mcp/request:x:tools/call"),             false },
        { S("mcp/request:tools/call:read_*"), S("mcp/request:tools/call:read_x"),        true  },
        { S("mcp/request:tools/call:read_*"), S("mcp/request:tools/call:read_"),         false },
        { S("mcp/request:tools/call:read_*"), S("mcp/request:tools/call:read_x:y"),      true  },
        { S("mcp/request:*:safe"),            S("mcp/request:tools/call:safe"),          true  },
        { S("mcp/request:*:safe"),            S("mcp/request:tools/call:x:safe"),        false },
        { S("*"),                             S("chat"),                                 true  },
        { S("*"),                             S("mcp/request:tools/call:x"),             true  },
        { S("*"),                             S(""),                                     false },
        { S("*/x"),                           S("a/x"),                                  true  },
        { S("*/x"),                           S("/x"),                                   false },
        { S("*/x"),                           S("a:b/x"),                                false },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(matches(c->pattern, c->kind), c->matches);
}

TEST(d14_a_method_covers_its_contexts_and_a_context_never_the_bare_method)
{
    /* clang-format off */
    static const struct match_case cases[] = {
        { S("mcp/request:tools/call"),   S("mcp/request:tools/call:read_file"), true  },
        { S("mcp/request:tools/call"),   S("mcp/request:tools/call:a:b"),       true  },
        { S("mcp/request:tools/call"),   S("mcp/request:tools/calls"),          false },
        { S("mcp/request:tools/call"),   S("mcp/request:tools/call/x"),         false },
        { S("mcp/request:*/list"),       S("mcp/request:tools/list:ctx"),       true  },
        { S("mcp/request:*/list"),       S("mcp/request:tools/list:ctx/list"),  true  },
        { S("mcp/*:tools/call"),         S("mcp/proposal:tools/call:x"),        true  },
        { S("mcp/request:tools/call:x"), S("mcp/request:tools/call"),           false },
        { S("mcp/request:tools/call:x"), S("mcp/request:tools/call:x"),         true  },
        { S("mcp/request:tools/call:x"), S("mcp/request:tools/call:y"),         false },
        { S("mcp/request:tools/call:x"), S("mcp/request:tools/call:x:y"),       false },
        { S("mcp/request:tools/call:*"), S("mcp/request:tools/call"),           false },
        { S("mcp/request:tools/call:*"), S("mcp/request:tools/call:x"),         true  },
        { S("mcp/request:tools/call:*"), S("mcp/request:tools/call:"),          false },
        { S("chat"),                     S("chat:x"),                           false },
        { S("chat"),                     S("chat:x:y"),                         false },
        { S("mcp/request"),              S("mcp/request:tools/call"),           false },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(matches(c->pattern, c->kind), c->matches);
}

TEST(d14_all_else_is_literal_and_case_counts)
{
    /* clang-format off */
    static const struct match_case cases[] = {
        { S("chat"),          S("Chat"),                   false },
        { S("Chat"),          S("chat"),                   false },
        { S("chat"),          S("chat/cancel"),            false },
        { S("chat"),          S("chat "),                  false },
        { S("chat"),          S("chat\0"),                 false },
        { S("chat"),          S("cha"),                    false },
        { S("chat"),          S(""),                       false },
        { S("a.c"),           S("abc"),                    false },
        { S("a?c"),           S("abc"),                    false },
        { S("a?c"),           S("a?c"),                    true  },
        { S("[ab]"),          S("a"),                      false },
        { S("a\\*"),          S("a*"),                     false },
        { S("a\\*"),          S("a\\x"),                   true  },
        { S("mcp/Request:*"), S("mcp/request:tools/call"), false },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(matches(c->pattern, c->kind), c->matches);
}

TEST(d14_each_of_several_stars_takes_at_least_one_character)
{
    /* clang-format off */
    static const struct match_case cases[] = {
        { S("**"),      S("a"),            false },
        { S("**"),      S("ab"),           true  },
        { S("**"),      S("a:"),           true  },
        { S("**"),      S(":a"),           false },
        { S("a**b"),    S("axb"),          false },
        { S("a**b"),    S("axyb"),         true  },
        { S("a**b"),    S("ax:b"),         false },
        { S("a*b*c"),   S("axbxc"),        true  },
        { S("a*b*c"),   S("abxc"),         false },
        { S("a*b*c"),   S("abbc"),         false },
        { S("a*b*c"),   S("abbxc"),        true  },
        { S("a*b*c"),   S("axb:c"),        false },
        { S("*a*a*"),   S("xaxax"),        true  },
        { S("*a*a*"),   S("aaaaa"),        true  },
        { S("*a*a*"),   S("aaaa"),         false },
        { S("**"),      S("\u00e9"),       false }, /* one character, though two bytes */
        { S("**"),      S("\u00e9\u00e9"), true  },
        { S("a**b"),    S("a\u00e9b"),     false },
        { S("a*b"),     S("a\u00e9b"),     true  },
        { S("*\u00e9"), S("\u00e9\u00e9"), true  },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(matches(c->pattern, c->kind), c->matches);
}

static char long_text[PATTERN_MAX_BYTES + 1];

TEST(a_pattern_that_cannot_be_meant_is_refused_with_a_reason)
{
    /* clang-format off */
    static const struct {
        struct str text;
        enum err err;
    } cases[] = {
        { S(""),                                ERR_INVALID },
        { S(" "),                               ERR_INVALID },
        { S("a b"),                             ERR_INVALID },
        { S("chat\n"),                          ERR_INVALID },
        { S("chat\0"),                          ERR_INVALID },
        { S("\x7f"),                            ERR_INVALID },
        { S("a\xc2\x85"),                       ERR_INVALID },
        { S("a\xff"),                           ERR_INVALID },
        { S("\xc3"),                            ERR_INVALID },
        { S("\xed\xa0\x80"),                    ERR_INVALID },
        { { long_text, PATTERN_MAX_BYTES + 1 }, ERR_INVALID },
        { { long_text, PATTERN_MAX_BYTES },     OK          },
        { S("a\xc2\xa1"),                       OK          },
        { S("\"\\"),                            OK          },
        { S("*"),                               OK          },
        { S("system/*"),                        OK          },
    };
    /* clang-format on */

    memset(long_text, 'a', sizeof(long_text));
    FOR_EACH_CASE(c, cases) {
        struct pattern *pattern = NULL;
        const char *why = NULL;

        CHECK_INT(pattern_new(c->text, &pattern, &why), c->err);
        CHECK_INT(why != NULL, c->err != OK);
        CHECK_INT(pattern == NULL, c->err != OK);
        pattern_free(pattern);
    }
}

enum {
    LONGEST = 6,
    PATTERNS_TO_5 = 5 + 25 + 125 + 625 + 3125,
    KINDS_TO_6 = 1 + 4 + 16 + 64 + 256 + 1024 + 4096,
};

/* All texts over the alphabet in order, shorter ones first; number 0 is the empty one. */
static struct str numbered_text(size_t number, struct str alphabet, char text[LONGEST])
{
    size_t len = 0;

    for (; number > 0; number = (number - 1) / alphabet.len)
        text[len++] = alphabet.ptr[(number - 1) % alphabet.len];
    return (struct str){ text, len };
}

/* Returns how many of the kinds are matched other than the model says. */
static size_t count_differences(const struct pattern *pattern, const struct str *kinds,
                                size_t count)
{
    struct str text = pattern_text(pattern);
    size_t wrong = 0;

    for (size_t i = 0; i < count; i++) {
        if (pattern_matches(pattern, kinds[i]) == model_matches(text, kinds[i]))
            continue;
        if (wrong++ == 0)
            printf("# differs: %.*s on %.*s\n", STR_ARG(text), STR_ARG(kinds[i]));
    }
    return wrong;
}

TEST(d14_every_short_pattern_on_every_short_kind_is_as_the_model_says)
{
    static char kind_bytes[KINDS_TO_6][LONGEST];
    static struct str kinds[KINDS_TO_6];
    size_t wrong = 0;

    for (size_t i = 0; i < KINDS_TO_6; i++)
        kinds[i] = numbered_text(i, S("ab/:"), kind_bytes[i]);
    CHECK_STR(kinds[KINDS_TO_6 - 1], S("::::::"));
    for (size_t i = 1; i <= PATTERNS_TO_5; i++) {
        char bytes[LONGEST];
        struct str text = numbered_text(i, S("ab/:*"), bytes);
        struct pattern *pattern = NULL;

        CHECK(text.len >= 1 && text.len <= 5);
        CHECK_INT(pattern_new(text, &pattern, NULL), OK);
        wrong += count_differences(pattern, kinds, KINDS_TO_6);
        pattern_free(pattern);
    }
    CHECK_INT(wrong, 0);
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static struct str random_text(uint64_t *state, char *text, size_t max, const char *from)
{
    size_t len = 1 + random_next(state) % max;
    size_t letters = strlen(from);

    for (size_t i = 0; i < len; i++)
        text[i] = from[(random_next(state) >> 20) % letters];
    return (struct str){ text, len };
}

/* A kind made from the pattern by filling its stars, so that many of them match. */
static struct str fill_stars(uint64_t *state, struct str pattern, char *text)
{
    size_t len = 0;

    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.ptr[i] == '*')
            len += random_text(state, text + len, 4, "aaabbc/:").len;
        else if (random_next(state) % 32)
            text[len++] = pattern.ptr[i];
    }
    return (struct str){ text, len };
}

TEST(d14_random_longer_patterns_are_as_the_model_says)
{
    enum { PATTERNS = 150'000, KINDS = 20 };
    uint64_t state = 0x9e3779b97f4a7c15;
    size_t wrong = 0, matched = 0;
    char pattern_bytes[24], kind_bytes[128];

    for (size_t i = 0; i < PATTERNS; i++) {
        struct str text = random_text(&state, pattern_bytes, 16, "aaabbc/:***");
        struct pattern *pattern = NULL;

        CHECK_INT(pattern_new(text, &pattern, NULL), OK);
        for (size_t k = 0; k < KINDS; k++) {
            struct str kind = k % 2 ? random_text(&state, kind_bytes, 24, "aaabbc/:")
                                    : fill_stars(&state, text, kind_bytes);
            bool expected = model_matches(text, kind);

            matched += expected;
            wrong += pattern_matches(pattern, kind) != expected;
        }
        pattern_free(pattern);
    }
    CHECK_INT(wrong, 0);
    CHECK(matched > PATTERNS); /* the comparison is not among refusals only */
}

/* Patterns that make backtracking matchers take exponential, and naive searches quadratic
 * time. The answer must be right; that it takes two steps per byte at most is a property
 * of the border search (pattern.c). */
TEST(d14_patterns_made_to_be_slow_are_matched_all_the_same)
{
    /* clang-format off */
    static const struct {
        struct str unit; /* repeated to fill the pattern */
        size_t times;
        struct str end;
    } cases[] = {
        { S("*a"),        8,    S("*b") },
        { S("*a"),        1000, S("*b") },
        { S("*a"),        1000, S("*")  },
        { S("*a"),        682,  S("*a") },
        { S("*"),         2047, S("a")  },
        { S("*"),         2048, S("")   },
        { S("a"),         1000, S("b*") },
        { S("*aaaaaaab"), 100,  S("")   },
        { S("*aaaab"),    2,    S("*")  },
        { S("*a*:"),      100,  S("*")  },
    };
    /* clang-format on */
    static char kind_bytes[2][PATTERN_MAX_BYTES];
    static char bytes[PATTERN_MAX_BYTES];

    memset(kind_bytes, 'a', sizeof(kind_bytes));
    for (size_t i = 0; i < sizeof(kind_bytes[1]); i++)
        if (i % 64 == 63)
            kind_bytes[1][i] = 'b';
    FOR_EACH_CASE(c, cases) {
        struct pattern *pattern = NULL;
        size_t len = 0;

        for (size_t i = 0; i < c->times; i++, len += c->unit.len)
            memcpy(bytes + len, c->unit.ptr, c->unit.len);
        memcpy(bytes + len, c->end.ptr, c->end.len);
        len += c->end.len;
        CHECK_INT(pattern_new((struct str){ bytes, len }, &pattern, NULL), OK);
        for (size_t i = 0; i < COUNT(kind_bytes); i++) {
            struct str kind = { kind_bytes[i], sizeof(kind_bytes[i]) };

            CHECK_INT(pattern_matches(pattern, kind),
                      model_matches((struct str){ bytes, len }, kind));
        }
        pattern_free(pattern);
    }
}
