/* SPDX-License-Identifier: Apache-2.0 */
/* Grants and strikes, case by case; test_policy_holding.c has what holds for all. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "policy/capset.h"
#include "policy/holding.h"

#define LIST(...)                                            \
    ((struct str_list){ (const struct str[]){ __VA_ARGS__ }, \
                        COUNT(((const struct str[]){ __VA_ARGS__ })) })

static const struct str own_items[] = { S("mcp/proposal:*"), S("chat") };
static const struct str_list own = { own_items, 2 };

static enum err grant(struct rights *rights, struct rights_key who, struct str id,
                      struct str capability)
{
    return rights_grant(rights, who,
                        &(struct grant_terms){ .id = id,
                                               .granter = S("boss"),
                                               .capabilities = { &capability, 1 } });
}

static enum err strike(struct rights *rights, struct rights_key who,
                       enum strike_reach reach, struct str capability)
{
    return rights_strike(rights, who,
                         &(struct strike_terms){ .by = S("boss"),
                                                 .capabilities = { &capability, 1 },
                                                 .reach = reach });
}

/* What is in force, joined by blanks. */
static struct str held_at(const struct rights *rights, struct rights_key who,
                          struct str_list of, uint64_t now_ms)
{
    static char text[4096];
    struct str_list list;
    struct arena arena;
    size_t len = 0;

    arena_init(&arena, 1 << 20);
    CHECK_INT(rights_in_force(rights, who, of, now_ms, &arena, &list), OK);
    for (size_t i = 0; i < list.count; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s" STR_FMT,
                                i ? " " : "", STR_ARG(list.items[i]));
    arena_done(&arena);
    return (struct str){ text, len };
}

static struct str held(const struct rights *rights, struct str topic, struct str id)
{
    return held_at(rights, (struct rights_key){ topic, id }, own, 0);
}

#define everywhere ((struct rights_key){ S(""), S("bot") })
#define here       ((struct rights_key){ S("t"), S("bot") })
#define there      ((struct rights_key){ S("u"), S("bot") })

TEST(a_credential_without_a_record_has_what_it_says)
{
    struct rights *rights = rights_new();

    CHECK_STR(held(rights, S("t"), S("bot")), S("mcp/proposal:* chat"));
    CHECK(!rights_knows(rights, here));
    CHECK(rights_next_expiry(rights) == UINT64_MAX);
    rights_free(rights);
    rights_free(NULL);
}

TEST(a_grant_in_a_topic_holds_there_and_one_for_all_topics_everywhere)
{
    struct rights *rights = rights_new();

    CHECK_INT(grant(rights, here, S("g1"), S("mcp/request:*")), OK);
    CHECK_INT(grant(rights, everywhere, S("g2"), S("x/y")), OK);
    CHECK_STR(held(rights, S("t"), S("bot")), S("mcp/proposal:* mcp/request:* chat x/y"));
    CHECK_STR(held(rights, S("u"), S("bot")), S("mcp/proposal:* chat x/y"));
    CHECK_STR(held(rights, S("t"), S("other")), S("mcp/proposal:* chat"));
    CHECK(rights_knows(rights, there));
    CHECK(!rights_knows(rights, (struct rights_key){ S("t"), S("other") }));
    rights_free(rights);
}

TEST(a_strike_takes_from_the_credential_and_from_earlier_grants_only)
{
    struct rights *rights = rights_new();

    CHECK_INT(grant(rights, here, S("g1"), S("mcp/request:a")), OK);
    CHECK_INT(grant(rights, everywhere, S("g2"), S("mcp/request:b")), OK);
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("mcp/*")), OK);
    CHECK_STR(held(rights, S("t"), S("bot")), S("chat"));
    CHECK_STR(held(rights, S("u"), S("bot")), S("mcp/proposal:* mcp/request:b chat"));
    CHECK(!rights_find(rights, here, S("g1"))); /* nothing is left of it */
    CHECK(rights_find(rights, everywhere, S("g2")) != NULL);
    CHECK_INT(grant(rights, everywhere, S("g3"), S("mcp/request:c")), OK);
    CHECK_STR(held(rights, S("t"), S("bot")), S("mcp/request:c chat"));
    rights_free(rights);
}

TEST(a_strike_everywhere_reaches_what_was_granted_in_single_topics)
{
    struct rights *rights = rights_new();

    CHECK_INT(grant(rights, here, S("g1"), S("x/y")), OK);
    CHECK_INT(grant(rights, there, S("g1"), S("x/y")), OK);
    CHECK_INT(strike(rights, everywhere, STRIKE_SAME, S("x/y")), OK);
    CHECK_STR(held(rights, S("t"), S("bot")), S("mcp/proposal:* chat"));
    CHECK_STR(held(rights, S("u"), S("bot")), S("mcp/proposal:* chat"));
    CHECK(!rights_find(rights, here, S("g1")) && !rights_find(rights, there, S("g1")));
    CHECK_INT(grant(rights, here, S("g2"), S("x/y")), OK);
    CHECK_STR(held(rights, S("t"), S("bot")), S("mcp/proposal:* chat x/y"));
    rights_free(rights);
}

TEST(a_strike_of_the_same_leaves_what_it_would_cover)
{
    struct rights *rights = rights_new();

    CHECK_INT(strike(rights, here, STRIKE_SAME, S("mcp/*")), OK);
    CHECK_STR(held(rights, S("t"), S("bot")), S("mcp/proposal:* chat"));
    CHECK_INT(strike(rights, here, STRIKE_SAME, S("chat")), OK);
    CHECK_STR(held(rights, S("t"), S("bot")), S("mcp/proposal:*"));
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("*")), OK);
    CHECK_STR(held(rights, S("t"), S("bot")), S(""));
    rights_free(rights);
}

TEST(two_credentials_of_one_id_keep_their_difference)
{
    struct rights *rights = rights_new();

    CHECK_INT(strike(rights, here, STRIKE_SAME, S("chat")), OK);
    CHECK_INT(grant(rights, here, S("g"), S("x/y")), OK);
    CHECK_STR(held_at(rights, here, LIST(S("chat"), S("a/b")), 0), S("a/b x/y"));
    CHECK_STR(held_at(rights, here, LIST(S("c/d")), 0), S("c/d x/y"));
    CHECK_STR(held_at(rights, here, (struct str_list){}, 0), S("x/y"));
    rights_free(rights);
}

TEST(a_grant_ends_by_its_id_and_when_it_expires)
{
    struct rights *rights = rights_new();
    struct grant_terms terms = { .id = S("late"),
                                 .granter = S("boss"),
                                 .capabilities = LIST(S("x/y")),
                                 .expires_ms = 300 };

    CHECK_INT(rights_grant(rights, here, &terms), OK);
    terms.id = S("soon");
    terms.expires_ms = 100;
    CHECK_INT(rights_grant(rights, there, &terms), OK);
    terms.id = S("middle");
    terms.expires_ms = 200;
    CHECK_INT(rights_grant(rights, everywhere, &terms), OK);
    CHECK_INT(rights_next_expiry(rights), 100);
    CHECK_STR(held_at(rights, there, LIST(S("chat")), 99), S("chat x/y"));
    CHECK(!rights_expired(rights, 99));
    CHECK_STR(rights_expired(rights, 100)->id, S("soon"));
    rights_end(rights, rights_expired(rights, 100));
    CHECK_STR(held_at(rights, there, LIST(S("chat")), 199), S("chat x/y"));
    CHECK_STR(held_at(rights, there, LIST(S("chat")), 200), S("chat"));
    CHECK_INT(rights_next_expiry(rights), 200);
    rights_end(rights, rights_find(rights, here, S("late")));
    CHECK_INT(rights_next_expiry(rights), 200);
    CHECK(!rights_knows(rights, (struct rights_key){ S("t"), S("nobody") }));
    rights_end(rights, rights_find(rights, everywhere, S("middle")));
    CHECK(!rights_knows(rights, here));
    rights_free(rights);
}

static struct grant *limited(const struct rights *rights, struct rights_key who,
                             struct str kind, uint64_t now_ms)
{
    static const struct json_span payload = { JSON_OBJECT,
                                              false,
                                              { "{\"params\":{\"n\":1}}", 18 } };
    struct grant *found;
    struct arena arena;

    arena_init(&arena, 1 << 16);
    found = rights_limited(rights, who,
                           &(struct rights_use){ kind, payload, &arena, NULL }, now_ms);
    arena_done(&arena);
    return found;
}

TEST(grants_that_may_be_used_so_often_are_asked_for_apart)
{
    struct rights *rights = rights_new();
    struct grant *found;

    CHECK_INT(rights_grant(rights, here,
                           &(struct grant_terms){ .id = S("g"),
                                                  .granter = S("boss"),
                                                  .capabilities = LIST(S("x/*")),
                                                  .expires_ms = 50,
                                                  .max_uses = 2 }),
              OK);
    CHECK_STR(held(rights, S("t"), S("bot")), S("mcp/proposal:* chat"));
    found = limited(rights, here, S("x/y"), 0);
    CHECK(found != NULL);
    CHECK(!limited(rights, there, S("x/y"), 0));
    CHECK(!limited(rights, here, S("y/x"), 0));
    CHECK(!limited(rights, here, S("x/y"), 50));
    found->uses = 1;
    CHECK(limited(rights, here, S("x/y"), 0) == found);
    found->uses = 2;
    CHECK(grant_is_used_up(found));
    CHECK(!limited(rights, here, S("x/y"), 0));
    CHECK_INT(
        rights_grant(rights, here,
                     &(struct grant_terms){
                         .id = S("h"),
                         .capabilities = LIST(
                             S("{\"kind\":\"o/*\",\"payload\":{\"params\":{\"n\":1}}}"),
                             S("{\"kind\":\"p/*\",\"payload\":{\"params\":{\"n\":2}}}")),
                         .max_uses = 1 }),
        OK);
    CHECK(limited(rights, here, S("o/y"), 0) != NULL);
    CHECK(!limited(rights, here, S("p/y"), 0));
    found->uses = 0;
    CHECK_INT(strike(rights, everywhere, STRIKE_COVERED, S("x/*")), OK);
    CHECK(!limited(rights, here, S("x/y"), 0));
    rights_free(rights);
}

static enum err grant_uses(struct rights *rights, struct rights_key who, struct str id,
                           struct str_list capabilities, uint64_t expires_ms)
{
    return rights_grant(rights, who,
                        &(struct grant_terms){ .id = id,
                                               .capabilities = capabilities,
                                               .expires_ms = expires_ms,
                                               .max_uses = 1 });
}

TEST(what_may_be_used_so_often_is_listed_without_what_is_over_or_struck)
{
    struct rights *rights = rights_new();
    struct str_list list;
    struct arena arena;

    arena_init(&arena, 1 << 16);
    CHECK_INT(rights_limited_in_force(rights, here, 0, &arena, &list), OK);
    CHECK_INT(list.count, 0);
    CHECK_INT(grant_uses(rights, here, S("g"), LIST(S("a/*"), S("b")), 0), OK);
    CHECK_INT(grant_uses(rights, here, S("h"), LIST(S("c")), 50), OK);
    CHECK_INT(grant_uses(rights, everywhere, S("i"), LIST(S("d")), 0), OK);
    CHECK_INT(grant(rights, here, S("j"), S("e")), OK);
    CHECK_INT(rights_limited_in_force(rights, here, 49, &arena, &list), OK);
    CHECK_INT(list.count, 4);
    CHECK_STR(list.items[0], S("d"));
    CHECK_STR(list.items[3], S("c"));
    CHECK_INT(rights_limited_in_force(rights, there, 49, &arena, &list), OK);
    CHECK_INT(list.count, 1);
    rights_find(rights, everywhere, S("i"))->uses = 1;
    CHECK_INT(strike(rights, everywhere, STRIKE_COVERED, S("a/*")), OK);
    CHECK_INT(rights_limited_in_force(rights, here, 50, &arena, &list), OK);
    CHECK_INT(list.count, 1);
    CHECK_STR(list.items[0], S("b"));
    arena_done(&arena);
    rights_free(rights);
}

TEST(a_grant_by_pattern_goes_before_those_that_look_whatever_came_first)
{
    static const struct str caps[] = {
        S("{\"kind\":\"x/*\",\"payload\":{\"params\":{\"n\":2}}}"),
        S("{\"kind\":\"x/*\",\"payload\":{\"params\":{\"n\":1}}}"),
        S("x/y"),
    };

    for (size_t first = 0; first < COUNT(caps); first++) {
        struct rights *rights = rights_new();
        struct grant_terms terms = { .max_uses = 1 };

        for (size_t i = 0; i < COUNT(caps); i++) {
            size_t which = (first + i) % COUNT(caps);

            terms.id = (struct str){ &"012"[which], 1 };
            terms.capabilities = (struct str_list){ &caps[which], 1 };
            CHECK_INT(rights_grant(rights, here, &terms), OK);
        }
        CHECK_STR(limited(rights, here, S("x/y"), 0)->id, S("2"));
        CHECK_STR(limited(rights, here, S("x/z"), 0)->id, S("1"));
        rights_free(rights);
    }
}

TEST(what_may_be_passed_on)
{
    /* clang-format off */
    static const struct { struct str capability; uint64_t until_ms; bool may; } cases[] = {
        { S("chat"),            0,   true  },
        { S("chat"),            500, true  },
        { S("mcp/proposal:x"),  0,   true  },
        { S("mcp/*"),           0,   false }, /* more than is held */
        { S("mcp/proposals"),   0,   false },
        { S("x/y"),             100, true  }, /* as long as one's own */
        { S("x/y"),             99,  true  },
        { S("x/y"),             101, false },
        { S("x/y"),             0,   false },
        { S("l/m"),             50,  false }, /* may be used only so often */
        { S("l/m"),             0,   false },
    };
    /* clang-format on */
    struct rights *rights = rights_new();
    struct grant_terms terms = { .id = S("g"),
                                 .granter = S("boss"),
                                 .capabilities = LIST(S("x/*")),
                                 .expires_ms = 100 };

    CHECK_INT(rights_grant(rights, here, &terms), OK);
    terms.id = S("h");
    terms.capabilities = LIST(S("l/m"));
    terms.max_uses = 3;
    CHECK_INT(rights_grant(rights, here, &terms), OK);
    FOR_EACH_CASE(c, cases)
        CHECK_STR(rights_not_held(rights, &(struct rights_bearer){ here, own, 10, 0 },
                                  (struct str_list){ &c->capability, 1 }, c->until_ms),
                  c->may ? S("") : c->capability);
    CHECK_STR(rights_not_held(rights, &(struct rights_bearer){ here, own, 10, 0 },
                              LIST(S("chat"), S("x/y"), S("l/m"), S("no/no")), 50),
              S("l/m"));
    CHECK_STR(rights_not_held(rights, &(struct rights_bearer){ here, own, 10, 0 },
                              (struct str_list){}, 0),
              S(""));
    rights_free(rights);
}

TEST(nothing_is_passed_on_for_longer_than_the_credential_lasts)
{
    static const struct {
        uint64_t lasts_ms, until_ms;
        bool may;
    } cases[] = {
        { 0, 0, true },          { 0, 500, true },   { 200, 0, false },
        { 200, 201, false },     { 200, 200, true }, { 200, RIGHTS_NOW, true },
        { 5, RIGHTS_NOW, true },
    };
    struct rights *rights = rights_new();

    CHECK_INT(rights_grant(
                  rights, here,
                  &(struct grant_terms){ .id = S("g"), .capabilities = LIST(S("x/*")) }),
              OK);
    FOR_EACH_CASE(c, cases) {
        struct rights_bearer bearer = { here, own, 10, c->lasts_ms };

        CHECK_INT(rights_not_held(rights, &bearer, LIST(S("chat")), c->until_ms).len == 0,
                  c->may);
        /* What was granted to it lasts longer, but it does not. */
        CHECK_INT(rights_not_held(rights, &bearer, LIST(S("x/y")), c->until_ms).len == 0,
                  c->may);
    }
    rights_free(rights);
}

TEST(what_expires_can_still_be_taken_from_others)
{
    struct rights *rights = rights_new();
    const struct {
        struct rights_key who;
        uint64_t now_ms;
        bool holds;
    } cases[] = {
        { here, 10, true },
        { here, 100, false },
        { there, 10, false },
    };

    CHECK_INT(rights_grant(rights, here,
                           &(struct grant_terms){ .id = S("g"),
                                                  .capabilities = LIST(S("x/*")),
                                                  .expires_ms = 100 }),
              OK);
    FOR_EACH_CASE(c, cases)
        CHECK_INT(rights_not_held(rights,
                                  &(struct rights_bearer){ c->who, own, c->now_ms, 0 },
                                  LIST(S("x/y")), RIGHTS_NOW)
                          .len == 0,
                  c->holds);
    rights_free(rights);
}

static size_t count_strikes(const struct rights *rights, struct rights_key who)
{
    const struct strike *at = NULL;
    size_t count = 0;

    while ((at = rights_next_strike(rights, who, at)))
        count++;
    return count;
}

TEST(there_are_bounds)
{
    static char big[2000];
    struct rights *rights = rights_new();
    struct str many[RIGHTS_MAX_CAPABILITIES + 1];
    char text[32];

    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = S("chat");
    CHECK_INT(rights_grant(rights, here,
                           &(struct grant_terms){
                               .id = S("g"), .capabilities = { many, COUNT(many) } }),
              ERR_OVERLOAD);
    for (size_t i = 0; i <= RIGHTS_MAX_OBJECTS; i++)
        many[i] = S("{\"kind\":\"x\",\"payload\":{\"a\":1}}");
    CHECK_INT(rights_grant(
                  rights, here,
                  &(struct grant_terms){
                      .id = S("g"), .capabilities = { many, RIGHTS_MAX_OBJECTS + 1 } }),
              ERR_OVERLOAD);
    CHECK(!rights_knows(rights, here)); /* what failed leaves nothing */
    CHECK_INT(grant(rights, here, S("g"), S("")), ERR_INVALID);
    CHECK(!rights_knows(rights, here));
    for (size_t i = 0; i < RIGHTS_MAX_GRANTS; i++) {
        (void)snprintf(text, sizeof(text), "g%zu", i);
        CHECK_INT(grant(rights, here, str_of(text), S("chat")), OK);
    }
    CHECK_INT(grant(rights, here, S("g0"), S("chat")), ERR_CONFLICT);
    CHECK_INT(grant(rights, here, S("more"), S("chat")), ERR_OVERLOAD);
    CHECK_INT(grant(rights, there, S("more"), S("chat")), OK);
    for (size_t i = 0; i < RIGHTS_MAX_STRIKES; i++) {
        (void)snprintf(text, sizeof(text), "k%zu", i);
        CHECK_INT(strike(rights, here, STRIKE_COVERED, str_of(text)), OK);
    }
    CHECK_INT(count_strikes(rights, here), RIGHTS_MAX_STRIKES);
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("k1")), OK); /* said before */
    CHECK_INT(strike(rights, here, STRIKE_SAME, S("k2")), OK);    /* likewise */
    CHECK_INT(count_strikes(rights, here), RIGHTS_MAX_STRIKES);
    rights_forget(rights, S("bot"));
    CHECK(!rights_knows(rights, here) && !rights_knows(rights, there));
    memset(big, 'a', sizeof(big));
    for (size_t i = 0; i < 2; i++) {
        struct str list[64];

        for (size_t k = 0; k < COUNT(list); k++)
            list[k] = (struct str){ big, sizeof(big) };
        (void)snprintf(text, sizeof(text), "g%zu", i);
        CHECK_INT(rights_grant(rights, here,
                               &(struct grant_terms){ .id = str_of(text),
                                                      .capabilities = { list, 64 } }),
                  OK);
    }
    for (size_t i = 0; i < 20; i++) { /* 256 KiB are nearly reached */
        (void)snprintf(text, sizeof(text), "h%zu", i);
        if (grant(rights, here, str_of(text), (struct str){ big, sizeof(big) }))
            break;
        CHECK(i < 20 - 1);
    }
    CHECK_INT(grant(rights, there, S("g"), S("chat")), OK);
    rights_free(rights);
}

static bool next_own(const struct rights_credentials *, struct str, size_t *at,
                     struct str_list *ret)
{
    *ret = own;
    return (*at)++ == 0;
}

static const struct rights_credentials credentials = { .next = next_own };

/* As many that take nothing as there is room for, and one more. */
static void strike_in_vain(struct rights *rights, struct rights_key who,
                           enum rights_origin origin)
{
    for (size_t i = 0; i < RIGHTS_MAX_STRIKES; i++) {
        char text[32];
        struct str capability = { text,
                                  (size_t)snprintf(text, sizeof(text), "vain/%zu", i) };

        CHECK_INT(
            rights_strike(rights, who,
                          &(struct strike_terms){ .by = S("bot"),
                                                  .capabilities = { &capability, 1 },
                                                  .reach = STRIKE_COVERED,
                                                  .origin = origin }),
            OK);
    }
}

TEST(a_full_record_never_stands_in_the_way_of_a_strike)
{
    struct rights *rights = rights_new();

    rights_set_credentials(rights, &credentials);
    CHECK_INT(grant(rights, everywhere, S("g"), S("x/y")), OK);
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("x/*")), OK);
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("chat")), OK);
    strike_in_vain(rights, here, RIGHTS_IN_ROOM);
    /* Those that took something are the ones that are left. */
    CHECK_STR(held(rights, S("t"), S("bot")), S("mcp/proposal:*"));
    CHECK(count_strikes(rights, here) < RIGHTS_MAX_STRIKES);
    strike_in_vain(rights, here, RIGHTS_IN_ROOM);
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("mcp/*")), OK);
    CHECK_STR(held(rights, S("t"), S("bot")), S(""));
    CHECK_STR(held(rights, S("u"), S("bot")), S("mcp/proposal:* chat x/y"));
    rights_free(rights);
}

TEST(strikes_that_all_take_the_same_do_not_fill_a_record)
{
    struct rights *rights = rights_new();
    char texts[RIGHTS_MAX_STRIKES + 8][32];

    rights_set_credentials(rights, &credentials);
    for (size_t i = 0; i < COUNT(texts); i++) {
        /* One star more or less for each bit, so that none covers another one. */
        size_t len = (size_t)snprintf(texts[i], sizeof(texts[i]), "mcp/proposal:*");

        for (size_t bit = 0; bit < 12; bit++)
            if (i >> bit & 1)
                texts[i][bit] = '*';
        CHECK_INT(strike(rights, here, STRIKE_COVERED, (struct str){ texts[i], len }),
                  OK);
    }
    CHECK(count_strikes(rights, here) <= RIGHTS_MAX_STRIKES);
    CHECK_STR(held(rights, S("t"), S("bot")), S("chat"));
    rights_free(rights);
}

TEST(a_strike_replaces_those_that_it_covers)
{
    struct rights *rights = rights_new();

    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("mcp/request:tools/call")), OK);
    CHECK_INT(strike(rights, here, STRIKE_SAME, S("mcp/request:ping")), OK);
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("chat")), OK);
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("mcp/request:*")), OK);
    CHECK_INT(count_strikes(rights, here), 2);
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("mcp/request:tools/list")), OK);
    CHECK_INT(count_strikes(rights, here), 2);
    /* What was granted for all topics meanwhile is struck all the same. */
    CHECK_INT(grant(rights, everywhere, S("g"), S("mcp/request:tools/list")), OK);
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("mcp/request:tools/list")), OK);
    CHECK_STR(held(rights, S("t"), S("bot")), S("mcp/proposal:*"));
    CHECK_STR(held(rights, S("u"), S("bot")),
              S("mcp/proposal:* mcp/request:tools/list chat"));
    rights_free(rights);
}

TEST(one_that_covers_the_words_but_shows_less_replaces_nothing)
{
    static const struct str dotted[] = { S("mcp.re*.x") };
    static const struct str_list mine = { dotted, 1 };
    struct rights *rights = rights_new();

    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("mcp/*")), OK);
    CHECK_STR(held_at(rights, here, mine, 0), S(""));
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("m*")), OK);
    CHECK_STR(held_at(rights, here, mine, 0), S(""));
    rights_free(rights);
}

TEST(an_administrator_has_room_of_his_own)
{
    struct rights *rights = rights_new();
    struct grant_terms terms = { .id = S("adm"),
                                 .capabilities = LIST(S("x/y")),
                                 .origin = RIGHTS_BY_ADMIN };
    char id[32];

    rights_set_credentials(rights, &credentials);
    for (size_t i = 0; i < RIGHTS_MAX_GRANTS; i++) {
        (void)snprintf(id, sizeof(id), "g%zu", i);
        CHECK_INT(grant(rights, here, str_of(id), S("a/b")), OK);
    }
    CHECK_INT(grant(rights, here, S("more"), S("a/b")), ERR_OVERLOAD);
    CHECK_INT(rights_grant(rights, here, &terms), OK);
    /* An administrator's strikes are not pruned for a participant's. */
    CHECK_INT(rights_strike(rights, here,
                            &(struct strike_terms){ .by = S("boss"),
                                                    .capabilities = LIST(S("later/*")),
                                                    .reach = STRIKE_COVERED,
                                                    .origin = RIGHTS_BY_ADMIN }),
              OK);
    strike_in_vain(rights, here, RIGHTS_IN_ROOM);
    strike_in_vain(rights, here, RIGHTS_IN_ROOM);
    CHECK_STR(rights_next_strike(rights, here, NULL)->text, S("later/*"));
    CHECK_STR(held(rights, S("t"), S("bot")), S("mcp/proposal:* chat x/y a/b"));
    rights_free(rights);
}

TEST(what_is_counted_comes_back_when_it_goes)
{
    static char reason[1024];
    struct rights *rights = rights_new();
    struct strike_terms terms = { .by = S("boss"),
                                  .capabilities = LIST(S("chat")),
                                  .reach = STRIKE_COVERED };
    size_t rounds = RIGHTS_TOPICS_BYTES / sizeof(reason);

    memset(reason, 'r', sizeof(reason));
    for (size_t i = 0; i < 3 * rounds; i++) { /* each replaces the one before */
        terms.reason = (struct str){ reason, i % 2 ? sizeof(reason) : 0 };
        CHECK_INT(rights_strike(rights, here, &terms), OK);
    }
    CHECK_INT(count_strikes(rights, here), 1);
    rights_free(rights);
}

TEST(more_than_a_set_may_hold_is_not_in_force)
{
    static struct str list[CAPSET_MAX_PATTERNS];
    static char texts[CAPSET_MAX_PATTERNS][16];
    struct rights *rights = rights_new();
    struct str_list in_force;
    struct arena arena;

    for (size_t i = 0; i < COUNT(list); i++)
        list[i] = (struct str){ texts[i], (size_t)snprintf(texts[i], 16, "own/k%zu", i) };
    CHECK_INT(grant(rights, here, S("g"), S("x/y")), OK);
    arena_init(&arena, 1 << 20);
    CHECK_INT(rights_in_force(rights, here, (struct str_list){ list, COUNT(list) }, 0,
                              &arena, &in_force),
              OK);
    CHECK_INT(in_force.count, CAPSET_MAX_PATTERNS);
    CHECK_INT(capset_check(in_force, NULL, NULL), OK);
    CHECK_INT(rights_in_force(rights, here, (struct str_list){ list, COUNT(list) - 1 }, 0,
                              &arena, &in_force),
              OK);
    CHECK_STR(in_force.items[in_force.count - 1], S("x/y"));
    arena_done(&arena);
    rights_free(rights);
}

TEST(more_objects_than_a_set_may_hold_are_not_in_force)
{
    static struct str list[CAPSET_MAX_OBJECTS];
    static char texts[CAPSET_MAX_OBJECTS][64];
    struct rights *rights = rights_new();
    struct str_list in_force;
    struct arena arena;

    for (size_t i = 0; i < COUNT(list); i++) {
        (void)snprintf(texts[i], 64, "{\"kind\":\"x\",\"payload\":{\"a\":%zu}}", i);
        list[i] = str_of(texts[i]);
    }
    CHECK_INT(grant(rights, here, S("g"), S("{\"kind\":\"y\",\"payload\":{\"a\":1}}")),
              OK);
    CHECK_INT(grant(rights, here, S("h"), S("x/y")), OK);
    arena_init(&arena, 1 << 20);
    CHECK_INT(rights_in_force(rights, here, (struct str_list){ list, COUNT(list) }, 0,
                              &arena, &in_force),
              OK);
    CHECK_INT(in_force.count, CAPSET_MAX_OBJECTS + 1);
    CHECK_INT(capset_check(in_force, NULL, NULL), OK);
    arena_done(&arena);
    rights_free(rights);
}

TEST(ids_with_slashes_are_not_confused_with_topics)
{
    struct rights *rights = rights_new();

    CHECK_INT(grant(rights, (struct rights_key){ S("t"), S("a/b") }, S("g"), S("x")), OK);
    CHECK_INT(grant(rights, (struct rights_key){ S(""), S("/a") }, S("g"), S("y")), OK);
    CHECK_STR(held(rights, S("t"), S("a/b")), S("mcp/proposal:* chat x"));
    CHECK_STR(held(rights, S(""), S("t/a/b")), S("mcp/proposal:* chat"));
    CHECK_STR(held(rights, S("t"), S("/a")), S("mcp/proposal:* chat y"));
    CHECK_STR(held(rights, S(""), S("a")), S("mcp/proposal:* chat"));
    rights_forget(rights, S("b"));
    CHECK_STR(held(rights, S("t"), S("a/b")), S("mcp/proposal:* chat x"));
    rights_free(rights);
}

TEST(forgetting_one_participant_leaves_the_others)
{
    struct rights *rights = rights_new();
    char topic[16];

    for (size_t i = 0; i < 100; i++) {
        (void)snprintf(topic, sizeof(topic), "topic-%zu", i);
        CHECK_INT(
            grant(rights, (struct rights_key){ str_of(topic), S("a") }, S("g"), S("x/y")),
            OK);
        CHECK_INT(strike(rights, (struct rights_key){ str_of(topic), S("b") },
                         STRIKE_SAME, S("chat")),
                  OK);
    }
    rights_forget(rights, S("a"));
    rights_forget(rights, S("nobody"));
    CHECK_STR(held(rights, S("topic-50"), S("a")), S("mcp/proposal:* chat"));
    CHECK_STR(held(rights, S("topic-50"), S("b")), S("mcp/proposal:*"));
    rights_free(rights);
}
