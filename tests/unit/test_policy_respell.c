/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "policy/capset.h"
#include "policy/pattern.h"
#include "policy/respell.h"

static char space[KIND_MAX_BYTES];

TEST(d20_patterns_are_respelt_where_the_meaning_is_equal)
{
    /* clang-format off */
    static const struct {
        struct str pattern;
        enum dialect to;
        struct str equal[RESPELL_MAX];
    } cases[] = {
        { S("mcp/*"), DIALECT_DOTTED, { S("mcp.*"), S("mcpx.withdraw.*"), S("mcpx.reject.*"), S("mcpx.approve.*") } },
        { S("mcp.*"), DIALECT_SLASH,  { S("mcp/request:*"), S("mcp/response:*"), S("mcp/proposal:*") } },
        { S("chat"),                          DIALECT_DOTTED, { S("chat.message") } },
        { S("chat.message"),                  DIALECT_SLASH,  { S("chat") } },
        { S("chat.*"),                        DIALECT_SLASH,  { S("chat") } },
        { S("chat.m*"),                       DIALECT_SLASH,  { S("chat") } },
        { S("mcpx.*"),                        DIALECT_SLASH,  { S("mcp/withdraw"), S("mcp/reject"), S("mcp/approve") } },
        { S("mcpx.withdraw.*"),               DIALECT_SLASH,  { S("mcp/withdraw") } },
        { S("mcpx.*.proposal"),               DIALECT_SLASH,  { S("mcp/withdraw"), S("mcp/reject"), S("mcp/approve") } },
        { S("mcpx.approve.proposal"),         DIALECT_SLASH,  { S("mcp/approve") } },
        { S("mcp/approve"),                   DIALECT_DOTTED, { S("mcpx.approve.proposal") } },
        { S("mcp/request:tools/call"),        DIALECT_DOTTED, { S("mcp.request.tools/call") } },
        { S("mcp/request:*/list"),            DIALECT_DOTTED, { S("mcp.request.*/list") } },
        { S("mcp/request:tools/call:read_*"), DIALECT_DOTTED, { S("mcp.request.tools/call:read_*") } },
        { S("mcp.proposal.*"),                DIALECT_SLASH,  { S("mcp/proposal:*") } },
        { S("participant/*"),                 DIALECT_DOTTED, { S("participant.*") } },
        { S("a.b.*"),                         DIALECT_SLASH,  { S("a/b/*") } },
        { S("a/*/c-*"),                       DIALECT_DOTTED, { S("a.*.c-*") } },
        { S("system/*"),                      DIALECT_DOTTED, { S("system.*") } },
        { S("hello"),                         DIALECT_DOTTED, { S("hello") } },
        { S("*"),                             DIALECT_DOTTED, { S("*") } },
        { S("*/x"),                           DIALECT_DOTTED, { S("*/x") } },
        { S("a*/x"),                          DIALECT_DOTTED, { S("a*/x") } },
        { S("mcp*"),                          DIALECT_DOTTED, { S("mcp*") } },
        { S("chat*"),                         DIALECT_DOTTED, { S("chat*") } },
        { S("mcp/w*"),                        DIALECT_DOTTED, { S("mcp/w*") } },
        { S("mcp/*:tools/call"),              DIALECT_DOTTED, { S("mcp/*:tools/call") } },
        { S("mcp.req*"),                      DIALECT_SLASH,  { S("mcp.req*") } },
        { S("mcp.*.tools/call"),              DIALECT_SLASH,  { S("mcp.*.tools/call") } },
        { S("mcpx.nothing"),                  DIALECT_SLASH,  { S("mcpx.nothing") } },
        { S("a/b.c"),                         DIALECT_DOTTED, { S("a/b.c") } },
        { S("mcp/*"),                         DIALECT_SLASH,  { S("mcp/*") } },
        { S("mcp.*"),                         DIALECT_DOTTED, { S("mcp.*") } },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct str equal[RESPELL_MAX] = {};
        size_t count = respell_pattern(c->pattern, c->to, space, equal);

        for (size_t i = 0; i < RESPELL_MAX; i++)
            CHECK_STR(i < count ? equal[i] : S(""), c->equal[i]);
    }
}

static bool matches(struct str text, struct str kind)
{
    struct pattern *pattern = NULL;
    bool result;

    CHECK_INT(pattern_new(text, &pattern, NULL), OK);
    result = pattern && pattern_matches(pattern, kind);
    pattern_free(pattern);
    return result;
}

/* Texts made of the parts in `parts`, up to four of them, by number. */
static struct str nth_text(size_t n, const char *const *parts, size_t count, char *text)
{
    size_t len = 0;

    while (n) {
        const char *part = parts[--n % count];

        memcpy(text + len, part, strlen(part));
        len += strlen(part);
        n /= count;
    }
    return (struct str){ text, len };
}

/* clang-format off */
static const struct str kinds[] = {
    S("chat"), S("chats"), S("chat-x"), S("mcp/approve"), S("mcp/withdraw"), S("mcp/reject"),
    S("mcp/request:a"), S("mcp/request:a/b"), S("mcp/request:a.b"), S("mcp/request:a:b"),
    S("mcp/request:b:a/b"), S("mcp/request:a.b:a"), S("mcp/request:a::"), S("mcp/request:a:b:c"),
    S("mcp/response:a"), S("mcp/response:b/a"), S("mcp/response:request"), S("mcp/response:a:b"),
    S("mcp/proposal:a"), S("mcp/proposal:a/b:a"), S("mcp/proposal:request.a"), S("mcp/request:request.a"),
    S("a"), S("a/b"), S("a/b/a"), S("a/a"), S("b/a"), S("ab/a"), S("aa"), S("a/request"), S("a/mcp/a"),
    S("request"), S("request/a"), S("a/chat"), S("proposal/a"), S("a/proposal"),
};

static const char *const parts[] = {
    "mcp", "mcpx", "chat", "message", "request", "proposal", "withdraw",
    "a", "b", "/", ".", ":", "*", "mcp/request:", "mcp.request.",
};
/* clang-format on */

static bool any_matches(const struct str *patterns, size_t count, struct str kind)
{
    for (size_t i = 0; i < count; i++)
        if (matches(patterns[i], kind))
            return true;
    return false;
}

TEST(d20_a_respelt_pattern_means_the_same_for_every_kind)
{
    size_t respelt = 0;
    char text[64];

    for (size_t n = 1; n < COUNT(parts) * COUNT(parts) * COUNT(parts) * COUNT(parts);
         n++) {
        struct str pattern = nth_text(n, parts, COUNT(parts), text);
        struct str equal[RESPELL_MAX];
        size_t count = respell_pattern(pattern, dialect_other(pattern_dialect(pattern)),
                                       space, equal);

        if (count == 1 && str_eq(equal[0], pattern))
            continue;
        respelt++;
        for (size_t i = 0; i < COUNT(kinds); i++)
            if (matches(pattern, kinds[i]) != any_matches(equal, count, kinds[i])) {
                CHECK_STR(pattern, S("(means something else)"));
                CHECK_STR(equal[0], kinds[i]);
            }
    }
    CHECK(respelt > 1000);
}

TEST(d20_a_pattern_is_matched_in_its_own_spelling)
{
    /* clang-format off */
    static const struct {
        struct str pattern, kind;
        bool matches;
    } cases[] = {
        { S("mcp.*"),                  S("mcp/request:ping"),          true },
        { S("mcp.*"),                  S("mcp/approve"),               false },
        { S("mcp.*"),                  S("chat"),                      false },
        { S("mcpx.*"),                 S("mcp/approve"),               true },
        { S("mcpx.*"),                 S("mcp/request:ping"),          false },
        { S("mcp.request.*"),          S("mcp/request:tools/call:x"),  true },
        { S("mcp.request.tools/call"), S("mcp/request:tools/call:x"),  true },
        { S("mcp.request.tools/call"), S("mcp/request:tools/call:a:b"), true },
        { S("mcp.request.tools/call"), S("mcp/request:tools/calls"),   false },
        { S("mcp.request.tools/call:x"), S("mcp/request:tools/call"),  false },
        { S("mcp.request.tools/call:x"), S("mcp/request:tools/call:x"), true },
        { S("mcp.request.tools/call:x"), S("mcp/request:tools/call:x:y"), false },
        { S("mcp.request.*/list"),     S("mcp/request:tools/list"),    true },
        { S("mcp.request.*/list"),     S("mcp/request:tools/call:x/list"), false },
        { S("mcp.*.tools/call"),       S("mcp/proposal:tools/call:x"), true },
        { S("chat.*"),                 S("chat"),                      true },
        { S("chat.message"),           S("chat"),                      true },
        { S("a.*"),                    S("a/b/c"),                     true },
        { S("a.*"),                    S("a"),                         false },
        { S("a.b"),                    S("a.b"),                       false },
        { S("*.b"),                    S("a/b"),                       false },
        { S("mcp/*"),                  S("mcp/approve"),               true },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases)
        CHECK_INT(matches(c->pattern, c->kind), c->matches);
}

TEST(d20_a_set_is_shown_in_the_spelling_of_the_reader)
{
    /* clang-format off */
    static const struct {
        struct str list[4];
        struct str slash, dotted;
    } cases[] = {
        { { S("mcp/*"), S("chat") },
          S("[\"mcp/*\",\"chat\"]"),
          S("[\"mcp.*\",\"mcpx.withdraw.*\",\"mcpx.reject.*\",\"mcpx.approve.*\",\"chat.message\"]") },
        { { S("mcp.*"), S("chat") },
          S("[\"mcp/request:*\",\"mcp/response:*\",\"mcp/proposal:*\",\"chat\"]"),
          S("[\"mcp.*\",\"chat.message\"]") },
        { { S("chat"), S("chat.message"), S("*") },
          S("[\"chat\",\"*\"]"),
          S("[\"chat.message\",\"*\"]") },
        { {}, S("[]"), S("[]") },
    };
    /* clang-format on */
    struct capsets *capsets = capsets_new();

    FOR_EACH_CASE(c, cases) {
        struct str_list list = { c->list, 0 };
        struct capset *set = NULL;

        while (list.count < COUNT(c->list) && c->list[list.count].len)
            list.count++;
        CHECK_INT(capset_intern(capsets, list, &set, NULL), OK);
        CHECK_STR(capset_json(set, DIALECT_SLASH), c->slash);
        CHECK_STR(capset_json(set, DIALECT_DOTTED), c->dotted);
        CHECK_STR(capset_json(set, DIALECT_DOTTED), c->dotted);
        capset_unref(set);
    }
    capsets_free(capsets);
}

TEST(sets_that_are_written_differently_are_different_sets)
{
    struct capsets *capsets = capsets_new();
    struct capset *slash = NULL;
    struct capset *dotted = NULL;

    CHECK_INT(capset_intern(capsets, (struct str_list){ &S("chat"), 1 }, &slash, NULL),
              OK);
    CHECK_INT(capset_intern(capsets, (struct str_list){ &S("chat.*"), 1 }, &dotted, NULL),
              OK);
    CHECK(slash != dotted);
    CHECK_STR(capset_json(slash, DIALECT_SLASH), capset_json(dotted, DIALECT_SLASH));
    CHECK_INT(capset_may(dotted, S("chat")), VERDICT_ALLOW);
    CHECK_INT(capset_may(dotted, S("mcp/approve")), VERDICT_DENY);
    capset_unref(slash);
    capset_unref(dotted);
    capsets_free(capsets);
}
