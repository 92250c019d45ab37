/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "policy/capability.h"
#include "policy/capset.h"
#include "policy/pattern.h"

#define LIST(...)                                                     \
    ((struct str_list){ (const struct str[]){ __VA_ARGS__ },          \
                        sizeof((const struct str[]){ __VA_ARGS__ }) / \
                            sizeof(struct str) })

static const struct str_list none;

static struct capset *intern(struct capsets *capsets, struct str_list list)
{
    struct capset *set = NULL;

    CHECK_INT(capset_intern(capsets, list, &set, NULL), OK);
    return set;
}

TEST(nothing_is_allowed_unless_a_capability_says_so)
{
    static const struct str kinds[] = {
        S("chat"), S(""),  S("mcp/request:tools/call"), S("system/welcome"), S("*"),
        S("mcp"),  S("a"),
    };
    struct capsets *capsets = capsets_new();
    struct capset *set = intern(capsets, none);

    FOR_EACH_CASE(kind, kinds)
        CHECK_INT(capset_may(set, *kind), VERDICT_DENY);
    CHECK_STR(capset_json(set, DIALECT_SLASH), S("[]"));
    CHECK_INT(capset_patterns(set).count, 0);
    capset_unref(set);
    capsets_free(capsets);
}

TEST(seed_4_1_a_proposer_may_propose_and_answer_but_not_ask)
{
    /* clang-format off */
    static const struct { struct str kind; enum verdict verdict; } cases[] = {
        { S("mcp/proposal:tools/call"),         VERDICT_ALLOW },
        { S("mcp/proposal:tools/call:x"),       VERDICT_ALLOW },
        { S("mcp/response:tools/call"),         VERDICT_ALLOW },
        { S("chat"),                            VERDICT_ALLOW },
        { S("mcp/request:tools/call"),          VERDICT_DENY },
        { S("mcp/request:mcp/proposal:x"),      VERDICT_DENY },
        { S("mcp/withdraw"),                    VERDICT_DENY },
        { S("chat/x"),                          VERDICT_DENY },
    };
    /* clang-format on */
    struct capsets *capsets = capsets_new();
    struct capset *set =
        intern(capsets, LIST(S("mcp/proposal:*"), S("mcp/response:*"), S("chat")));

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(capset_may(set, c->kind), c->verdict);
        CHECK_INT(capset_may(set, c->kind), c->verdict); /* from the memo */
    }
    capset_unref(set);
    capsets_free(capsets);
}

TEST(members_with_equal_rights_share_one_set_until_the_last_lets_go)
{
    struct capsets *capsets = capsets_new();
    struct capset *a = intern(capsets, LIST(S("mcp/*"), S("chat")));
    struct capset *b =
        intern(capsets, LIST(S("mcp/*"), S("mcp/*"), S("chat"), S("mcp/*")));
    struct capset *other = intern(capsets, LIST(S("chat"), S("mcp/*")));

    CHECK(a == b);
    CHECK(a != other);
    capset_unref(a);
    CHECK_STR(capset_json(b, DIALECT_SLASH), S("[\"mcp/*\",\"chat\"]"));
    CHECK_INT(capset_may(b, S("mcp/withdraw")), VERDICT_ALLOW);
    capset_unref(b);
    a = intern(capsets, LIST(S("mcp/*"), S("chat")));
    CHECK_INT(capset_patterns(a).count, 2);
    CHECK_STR(capset_patterns(a).items[1], S("chat"));
    capset_unref(a);
    capset_unref(other);
    capset_unref(NULL);
    capsets_free(capsets);
    capsets_free(NULL);
}

TEST(a_set_outlives_its_table)
{
    struct capsets *capsets = capsets_new();
    struct capset *set = capset_ref(intern(capsets, LIST(S("chat"))));

    capsets_free(capsets);
    CHECK_INT(capset_may(set, S("chat")), VERDICT_ALLOW);
    capset_unref(set);
    CHECK_INT(capset_may(set, S("mcp/x")), VERDICT_DENY);
    capset_unref(set);
}

TEST(the_json_of_a_set_is_escaped)
{
    struct capsets *capsets = capsets_new();
    struct capset *set = intern(capsets, LIST(S("a\"b\\c"), S("\u00e9\U0001f600")));

    CHECK_STR(capset_json(set, DIALECT_SLASH),
              S("[\"a\\\"b\\\\c\",\"\u00e9\U0001f600\"]"));
    capset_unref(set);
    capsets_free(capsets);
}

TEST(a_bad_pattern_is_named_and_no_set_is_made)
{
    static const struct str many[CAPSET_MAX_PATTERNS + 1];
    struct capsets *capsets = capsets_new();
    struct capset *good = intern(capsets, LIST(S("\ufffd")));
    struct capset *set = NULL;
    struct str bad = {};
    const char *why = NULL;

    CHECK_INT(capset_intern(capsets, LIST(S("chat"), S("a b"), S("")), &set, &bad),
              ERR_INVALID);
    CHECK_STR(bad, S("a b"));
    CHECK_INT(capset_intern(capsets, LIST(S("\xff")), &set, NULL), ERR_INVALID);
    CHECK(set == NULL);
    CHECK_INT(capset_check(LIST(S("chat"), S("a b")), &bad, &why), ERR_INVALID);
    CHECK_STR(bad, S("a b"));
    CHECK(why && strstr(why, "spaces"));
    CHECK_INT(capset_check(LIST(S("")), NULL, NULL), ERR_INVALID);
    CHECK_INT(capset_check(LIST(S("chat"), S("*")), NULL, NULL), OK);
    CHECK_INT(capset_check(none, NULL, NULL), OK);
    CHECK_INT(capset_check((struct str_list){ many, COUNT(many) }, NULL, NULL),
              ERR_INVALID);
    capset_unref(good);
    capsets_free(capsets);
}

TEST(a_set_has_a_largest_size)
{
    static char texts[CAPSET_MAX_PATTERNS + 1][8];
    static struct str items[CAPSET_MAX_PATTERNS + 1];
    struct capsets *capsets = capsets_new();
    struct capset *set = NULL;
    struct str bad = {};
    const char *why = NULL;

    for (size_t i = 0; i < COUNT(items); i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "k%zu", i);
        items[i] = str_of(texts[i]);
    }
    CHECK_INT(
        capset_intern(capsets, (struct str_list){ items, COUNT(items) }, &set, &bad),
        ERR_INVALID);
    CHECK_STR(bad, S("k1024"));
    CHECK_INT(capset_check((struct str_list){ items, COUNT(items) }, &bad, &why),
              ERR_INVALID);
    CHECK(why && strstr(why, "many"));
    set = intern(capsets, (struct str_list){ items, COUNT(items) - 1 });
    CHECK_INT(capset_may(set, S("k1023")), VERDICT_ALLOW);
    capset_unref(set);
    capsets_free(capsets);
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 20;
}

/* clang-format off */
static const struct str some_patterns[] = {
    S("mcp/*"),                S("mcp/request:*"),          S("mcp/request:tools/*"),
    S("mcp/response:*"),       S("mcp/proposal:*"),         S("mcp/request:*/list"),
    S("mcp/request:resources/read"), S("mcp/request:tools/call:read_*"), S("chat"),
    S("participant/*"),        S("*"),                      S("mcp/*:tools/call"),
    S("capability/grant"),     S("mcp/request:tools/call"), S("*/status"),
};
static const struct str some_kinds[] = {
    S("chat"),                            S("mcp/approve"),
    S("mcp/request:tools/call"),          S("mcp/request:tools/call:read_file"),
    S("mcp/request:tools/list"),          S("mcp/request:resources/templates/list"),
    S("mcp/request:tools/call:x/list"),   S("mcp/response:tools/call"),
    S("mcp/proposal:tools/call:rm"),      S("participant/status"),
    S("participant/kick"),                S("capability/grant"),
    S("capability/revoke"),               S("Chat"),
    S("mcp/request:resources/read"),      S("agent/status"),
};
/* clang-format on */

enum { MAX_PICKED = 8 };

static struct str_list pick(uint64_t *state, struct str items[MAX_PICKED])
{
    size_t count = random_next(state) % MAX_PICKED;

    for (size_t i = 0; i < count; i++)
        items[i] = some_patterns[random_next(state) % COUNT(some_patterns)];
    return (struct str_list){ items, count };
}

TEST(adding_a_capability_never_takes_one_away)
{
    struct capsets *capsets = capsets_new();
    uint64_t state = 88'172'645'463'325'252;
    size_t lost = 0;

    for (int round = 0; round < 3000; round++) {
        struct str items[MAX_PICKED];
        struct str_list list = pick(&state, items);
        struct capset *before = intern(capsets, list);
        struct capset *after;

        items[list.count++] = some_patterns[random_next(&state) % COUNT(some_patterns)];
        after = intern(capsets, list);
        for (size_t i = 0; i < COUNT(some_kinds); i++)
            lost += capset_may(before, some_kinds[i]) == VERDICT_ALLOW &&
                    capset_may(after, some_kinds[i]) != VERDICT_ALLOW;
        capset_unref(before);
        capset_unref(after);
    }
    CHECK_INT(lost, 0);
    capsets_free(capsets);
}

TEST(order_and_repetition_change_no_verdict)
{
    struct capsets *capsets = capsets_new();
    uint64_t state = 2'463'534'242;
    size_t differing = 0;

    for (int round = 0; round < 3000; round++) {
        struct str items[MAX_PICKED], turned[2 * MAX_PICKED];
        struct str_list list = pick(&state, items);
        struct capset *a = intern(capsets, list);
        struct capset *b;

        for (size_t i = 0; i < list.count; i++)
            turned[i] = turned[list.count + i] = items[list.count - 1 - i];
        b = intern(capsets, (struct str_list){ turned, 2 * list.count });
        for (size_t i = 0; i < COUNT(some_kinds); i++)
            differing += capset_may(a, some_kinds[i]) != capset_may(b, some_kinds[i]);
        capset_unref(a);
        capset_unref(b);
    }
    CHECK_INT(differing, 0);
    capsets_free(capsets);
}

static bool is_matched(struct str_list patterns, struct str kind)
{
    bool found = false;

    for (size_t i = 0; i < patterns.count; i++) {
        struct pattern *pattern;

        if (pattern_new(patterns.items[i], &pattern, NULL))
            continue;
        found = found || pattern_matches(pattern, kind);
        pattern_free(pattern);
    }
    return found;
}

/* More kinds than the memo has room for, short and too long for it, all again and again:
 * every verdict must be the one of the patterns themselves. */
TEST(the_memo_never_changes_a_verdict)
{
    enum { KINDS = 400 };
    static char texts[KINDS][400];
    struct str_list patterns =
        LIST(S("mcp/request:tools/call:1*"), S("mcp/request:*3:x"), S("a"));
    struct capsets *capsets = capsets_new();
    struct capset *set = intern(capsets, patterns);
    uint64_t state = 362'436'069;
    size_t wrong = 0;

    for (int i = 0; i < KINDS; i++)
        (void)snprintf(texts[i], sizeof(texts[i]), "mcp/request:tools/call%s%d%0*d",
                       i % 3 ? ":" : "", i, i % 2 ? 1 : i / 3 + 1, 3);
    for (int round = 0; round < 50'000; round++) {
        struct str kind = str_of(texts[random_next(&state) % KINDS]);

        wrong += (capset_may(set, kind) == VERDICT_ALLOW) != is_matched(patterns, kind);
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(capset_may(set, S("")), VERDICT_DENY);
    capset_unref(set);
    capsets_free(capsets);
}

/* Some of a thousand pairs share a slot of the memo. */
TEST(a_kind_is_not_taken_for_a_longer_one_that_begins_with_it)
{
    struct capsets *capsets = capsets_new();
    struct capset *set = intern(capsets, LIST(S("k*x")));
    size_t wrong = 0;
    char text[32];

    for (int i = 0; i < 1000; i++) {
        struct str longer, shorter;

        (void)snprintf(text, sizeof(text), "k%dy%dx", i, i * i);
        longer = str_of(text);
        shorter = str_slice(longer, 0, str_find(longer, 'y', 0));
        wrong += capset_may(set, longer) != VERDICT_ALLOW;
        wrong += capset_may(set, shorter) != VERDICT_DENY;
        wrong += capset_may(set, longer) != VERDICT_ALLOW;
    }
    CHECK_INT(wrong, 0);
    capset_unref(set);
    capsets_free(capsets);
}

TEST(the_pattern_that_allows_a_kind_is_told_the_first_of_several)
{
    static const struct str object =
        S("{\"kind\":\"mcp/request:*\",\"payload\":{\"a\":\"b\"}}");
    struct capsets *capsets = capsets_new();
    struct capset *set = intern(
        capsets, LIST(object, S("chat"), S("mcp/proposal:*"), S("mcp/*"), S("*x")));
    struct buf longer;

    for (int round = 0; round < 2; round++) { /* judged, then from the memo */
        CHECK_STR(capset_by(set, S("chat")), S("chat"));
        CHECK_STR(capset_by(set, S("mcp/proposal:a")), S("mcp/proposal:*"));
        CHECK_STR(capset_by(set, S("mcp/withdraw")), S("mcp/*"));
        CHECK_STR(capset_by(set, S("topic/invite")), S(""));
        CHECK_STR(capset_by(set, S("")), S(""));
    }
    buf_init(&longer, 512);
    buf_putf(&longer, "%200dx", 0); /* too long to be remembered */
    CHECK_STR(capset_by(set, buf_str(&longer)), S("*x"));
    buf_done(&longer);
    capset_unref(set);
    capsets_free(capsets);
}

static void check_list(struct str_list got, struct str_list want)
{
    CHECK_INT(got.count, want.count);
    for (size_t i = 0; i < got.count && i < want.count; i++)
        CHECK_STR(got.items[i], want.items[i]);
}

TEST(seed_11_3_a_change_removes_then_adds_what_is_not_there)
{
    struct arena arena;
    struct str_list list = {};

    arena_init(&arena, 4096);
    CHECK_INT(capset_edit(LIST(S("mcp/proposal:*"), S("chat")),
                          LIST(S("mcp/request:tools/*")), none, &arena, &list),
              OK);
    check_list(list, LIST(S("mcp/proposal:*"), S("mcp/request:tools/*"), S("chat")));
    CHECK_INT(capset_edit(LIST(S("a"), S("b"), S("a")),
                          LIST(S("c"), S("b"), S("mcp/*"), S("c")), LIST(S("x"), S("a")),
                          &arena, &list),
              OK);
    check_list(list, LIST(S("mcp/*"), S("b"), S("c")));
    CHECK_INT(capset_edit(LIST(S("mcp/*"), S("chat")), LIST(S("mcp/request:*")),
                          LIST(S("mcp/request:*"), S("mcp/*")), &arena, &list),
              OK);
    check_list(list, LIST(S("mcp/request:*"), S("chat")));
    CHECK_INT(capset_edit(LIST(S("chat")), none, LIST(S("Chat"), S("*")), &arena, &list),
              OK);
    check_list(list, LIST(S("chat")));
    CHECK_INT(capset_edit(none, none, none, &arena, &list), OK);
    CHECK_INT(list.count, 0);
    arena_done(&arena);
    arena_init(&arena, 8);
    CHECK_INT(capset_edit(LIST(S("chat")), none, none, &arena, &list), ERR_TOO_BIG);
    arena_done(&arena);
}

#define OBJECT(kind, inner) "{\"kind\":\"" kind "\",\"payload\":{" inner "}}"

TEST(d15_the_kind_alone_allows_denies_or_asks_for_the_payload)
{
    /* clang-format off */
    static const struct { struct str kind; enum verdict verdict; struct str payload, deciding; } cases[] = {
        { S("chat"),    VERDICT_ALLOW,   S("{}"),        S("") },
        { S("notes/x"), VERDICT_INSPECT, S("{\"a\":1}"), S(OBJECT("notes/*", "\"a\":1")) },
        { S("notes/x"), VERDICT_INSPECT, S("{\"a\":2}"), S("") },
        { S("notes/y"), VERDICT_INSPECT, S("{\"a\":2}"), S(OBJECT("notes/y", "\"a\":2")) },
        { S("notes/z"), VERDICT_ALLOW,   S("{}"),        S("") },
        { S("other"),   VERDICT_DENY,    S("{\"a\":1}"), S("") },
    };
    /* clang-format on */
    struct capsets *capsets = capsets_new();
    struct capset *set =
        intern(capsets, LIST(S(OBJECT("notes/*", "\"a\":1")), S("chat"),
                             S(OBJECT("notes/y", "\"a\":2")), S("notes/z"),
                             S(OBJECT("chat", "\"a\":1"))));

    for (size_t round = 0; round < 2; round++) { /* the second from the memo */
        FOR_EACH_CASE(c, cases) {
            struct json_span payload = { .type = JSON_OBJECT, .text = c->payload };
            const struct capability *found;
            struct arena scratch;

            arena_init(&scratch, 4096);
            CHECK_INT(capset_may(set, c->kind), c->verdict);
            found = capset_inspect(set, c->kind, payload, &scratch);
            CHECK_STR(found ? capability_text(found) : S(""), c->deciding);
            arena_done(&scratch);
        }
    }
    capset_unref(set);
    capsets_free(capsets);
}

TEST(d15_lists_show_patterns_and_objects_apart_and_respelt)
{
    struct capsets *capsets = capsets_new();
    struct capset *set = intern(
        capsets, LIST(S("chat"), S(OBJECT("mcp/*", "\"a\":1")), S("mcp/request:x")));
    struct capset *same = intern(
        capsets, LIST(S("chat"), S("{ \"payload\" : {\"a\":1}, \"kind\": \"mcp/*\" }"),
                      S("{\"kind\":\"mcp/request:x\"}"), S("chat")));
    struct capset *plain = intern(capsets, LIST(S("chat")));

    CHECK(same == set);
    CHECK_INT(capset_patterns(set).count, 3);
    CHECK_STR(capset_json(set, DIALECT_SLASH), S("[\"chat\",\"mcp/request:x\"]"));
    CHECK_STR(capset_json(set, DIALECT_DOTTED),
              S("[\"chat.message\",\"mcp.request.x\"]"));
    CHECK_STR(capset_objects_json(set, DIALECT_SLASH),
              S("[" OBJECT("mcp/*", "\"a\":1") "]"));
    CHECK_STR(
        capset_objects_json(set, DIALECT_DOTTED),
        S("[" OBJECT("mcp.*", "\"a\":1") "," OBJECT(
            "mcpx.withdraw.*",
            "\"a\":1") "," OBJECT("mcpx.reject.*", "\"a\":1") "," OBJECT("mcpx.approve.*",
                                                                         "\"a\":1") "]"));
    CHECK_STR(capset_objects_json(plain, DIALECT_SLASH), S(""));
    CHECK_STR(capset_objects_json(plain, DIALECT_DOTTED), S(""));
    capset_unref(set);
    capset_unref(same);
    capset_unref(plain);
    capsets_free(capsets);
}

TEST(d15_a_set_holds_so_many_objects_and_no_more)
{
    static char texts[CAPSET_MAX_OBJECTS + 1][64];
    struct str items[CAPSET_MAX_OBJECTS + 1];
    struct str bad = {};
    const char *why = "";

    for (size_t i = 0; i <= CAPSET_MAX_OBJECTS; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), OBJECT("x", "\"a\":%zu"), i);
        items[i] = str_of(texts[i]);
    }
    CHECK_INT(capset_check((struct str_list){ items, CAPSET_MAX_OBJECTS }, &bad, &why),
              OK);
    CHECK_INT(
        capset_check((struct str_list){ items, CAPSET_MAX_OBJECTS + 1 }, &bad, &why),
        ERR_INVALID);
    CHECK_STR(bad, items[CAPSET_MAX_OBJECTS]);
    CHECK_STR(str_of(why), S("too many capabilities with `payload`"));
}
