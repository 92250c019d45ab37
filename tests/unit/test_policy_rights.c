/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grants and strikes: single cases, then properties: random changes against a model that
 * keeps everything ever said and works out each verdict anew from all of it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "envelope/kind.h"
#include "harness.h"
#include "policy/capset.h"
#include "policy/rights.h"

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

static const struct rights_key everywhere = { S(""), S("bot") };
static const struct rights_key here = { S("t"), S("bot") };
static const struct rights_key there = { S("u"), S("bot") };

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
    found = rights_limited(rights, who, kind, payload, &arena, now_ms);
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
    FOR_EACH_CASE(c, cases) {
        struct capability *wanted;

        CHECK_INT(capability_new(c->capability, &wanted, NULL), OK);
        CHECK_INT(rights_may_give(rights, &(struct rights_bearer){ here, own, 10 },
                                  wanted, c->until_ms),
                  c->may);
        capability_free(wanted);
    }
    rights_free(rights);
}

TEST(what_expires_can_still_be_taken_from_others)
{
    struct rights *rights = rights_new();
    struct capability *wanted;

    CHECK_INT(capability_new(S("x/y"), &wanted, NULL), OK);
    CHECK_INT(rights_grant(rights, here,
                           &(struct grant_terms){ .id = S("g"),
                                                  .capabilities = LIST(S("x/*")),
                                                  .expires_ms = 100 }),
              OK);
    CHECK(rights_covers(rights, &(struct rights_bearer){ here, own, 10 }, wanted));
    CHECK(!rights_covers(rights, &(struct rights_bearer){ here, own, 100 }, wanted));
    CHECK(!rights_covers(rights, &(struct rights_bearer){ there, own, 10 }, wanted));
    capability_free(wanted);
    rights_free(rights);
}

TEST(there_are_bounds)
{
    static char big[2000];
    struct rights *rights = rights_new();
    struct str many[RIGHTS_MAX_CAPABILITIES + 1];
    char text[32];

    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = S("chat");
    CHECK_INT(
        rights_grant(rights, here,
                     &(struct grant_terms){ .id = S("g"), .capabilities = { many, 65 } }),
        ERR_TOO_BIG);
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
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("more")), ERR_OVERLOAD);
    CHECK_INT(strike(rights, here, STRIKE_SAME, S("k1")), ERR_OVERLOAD);
    CHECK_INT(strike(rights, here, STRIKE_COVERED, S("k1")), OK); /* said before */
    rights_forget(rights, S("bot"));
    CHECK(!rights_knows(rights, here) && !rights_knows(rights, there));
    memset(big, 'a', sizeof(big));
    for (size_t i = 0; i < 8; i++) {
        struct str list[RIGHTS_MAX_CAPABILITIES];

        for (size_t k = 0; k < COUNT(list); k++)
            list[k] = (struct str){ big, sizeof(big) };
        (void)snprintf(text, sizeof(text), "g%zu", i);
        CHECK_INT(rights_grant(rights, here,
                               &(struct grant_terms){ .id = str_of(text),
                                                      .capabilities = { list, 64 } }),
                  OK);
    }
    for (size_t i = 0; i < 20; i++) { /* 1 MiB is nearly reached */
        (void)snprintf(text, sizeof(text), "h%zu", i);
        if (grant(rights, here, str_of(text), (struct str){ big, sizeof(big) }))
            break;
        CHECK(i < 20 - 1);
    }
    CHECK_INT(grant(rights, there, S("g"), S("chat")), OK);
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

/* --- properties --- */

static const struct str kinds[] = {
    S("chat"),
    S("chats"),
    S("mcp/request:tools/call"),
    S("mcp/request:tools/call:read_file"),
    S("mcp/request:tools/call:write_file"),
    S("mcp/request:tools/list"),
    S("mcp/request:resources/read"),
    S("mcp/request:resources/read:file:///a"),
    S("mcp/response:tools/call"),
    S("mcp/response:tools/call:read_file"),
    S("mcp/proposal:tools/call"),
    S("mcp/approve"),
    S("capability/grant"),
    S("capability/revoke"),
    S("participant/kick"),
    S("x/y"),
    S("x/y/z"),
};

static const struct str patterns[] = {
    S("*"),
    S("mcp/*"),
    S("mcp/request:*"),
    S("mcp/request:tools/*"),
    S("mcp/request:tools/call"),
    S("mcp/request:tools/call:*"),
    S("mcp/request:tools/call:read_*"),
    S("mcp/request:tools/call:read_file"),
    S("mcp/request:*/call"),
    S("mcp/request:*/read"),
    S("mcp/r*:tools/call"),
    S("chat"),
    S("cha*"),
    S("capability/*"),
    S("capability/grant"),
    S("participant/*"),
    S("x/*"),
    S("x/y"),
    S("*/y"),
};

static const struct str people[] = { S("a"), S("b"), S("c"), S("d"), S("e") };
static const struct str topics[] = { S(""), S("t"), S("u") };

enum { PEOPLE = COUNT(people), TOPICS = COUNT(topics), MAX_EVENTS = 400 };

/* Everything that was ever said, never edited but for `is_over`. */
struct event {
    bool is_grant;
    bool is_over; /* revoked, by id */
    size_t topic, person;
    struct str text;
    enum strike_reach reach;
    uint64_t expires_ms;
    uint64_t max_uses;
    char id[16];
};

struct model {
    struct event events[MAX_EVENTS];
    size_t count;
    struct str own[PEOPLE][3];
    uint32_t lineage[PEOPLE][TOPICS]; /* kinds that some root on the way could send */
    uint64_t now_ms;
    uint64_t random;
};

static size_t draw(struct model *m, size_t below)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(m->random >> 33) % below;
}

static bool covers(struct str held_text, struct str wanted_text)
{
    struct capability *a, *b;
    bool is_covered;

    CHECK_INT(capability_new(held_text, &a, NULL), OK);
    CHECK_INT(capability_new(wanted_text, &b, NULL), OK);
    is_covered = capability_covers(a, b);
    capability_free(a);
    capability_free(b);
    return is_covered;
}

/* The kinds of the universe that a capability allows. */
static uint32_t mask_of(struct str text)
{
    struct capability *capability;
    uint32_t mask = 0;

    CHECK_INT(capability_new(text, &capability, NULL), OK);
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (capability_matches_kind(capability, kinds[i]))
            mask |= 1u << i;
    capability_free(capability);
    return mask;
}

/* Does an event of this scope hold in the topic? */
static bool is_here(const struct event *e, size_t topic, size_t person)
{
    return e->person == person && (e->topic == 0 || e->topic == topic);
}

static bool model_is_struck(const struct model *m, size_t topic, size_t person,
                            struct str text, size_t since)
{
    for (size_t i = since; i < m->count; i++) {
        const struct event *e = &m->events[i];

        if (e->is_grant || !is_here(e, topic, person))
            continue;
        if (e->reach == STRIKE_SAME ? str_eq(e->text, text) : covers(e->text, text))
            return true;
    }
    return false;
}

/* The kinds that somebody may send, from all that was ever said. */
static uint32_t model_allowed(const struct model *m, size_t topic, size_t person,
                              uint64_t now_ms)
{
    uint32_t mask = 0;

    for (size_t i = 0; i < COUNT(m->own[person]); i++)
        if (m->own[person][i].len &&
            !model_is_struck(m, topic, person, m->own[person][i], 0))
            mask |= mask_of(m->own[person][i]);
    for (size_t i = 0; i < m->count; i++) {
        const struct event *e = &m->events[i];

        if (e->is_grant && !e->is_over && is_here(e, topic, person) && !e->max_uses &&
            (!e->expires_ms || now_ms < e->expires_ms) &&
            !model_is_struck(m, topic, person, e->text, i))
            mask |= mask_of(e->text);
    }
    return mask;
}

static struct str_list own_of(const struct model *m, size_t person)
{
    size_t count = 0;

    while (count < COUNT(m->own[person]) && m->own[person][count].len)
        count++;
    return (struct str_list){ m->own[person], count };
}

static uint32_t engine_allowed(const struct model *m, const struct rights *rights,
                               size_t topic, size_t person)
{
    struct str_list list;
    struct arena arena;
    uint32_t mask = 0;

    arena_init(&arena, 1 << 20);
    CHECK_INT(rights_in_force(rights,
                              (struct rights_key){ topics[topic], people[person] },
                              own_of(m, person), m->now_ms, &arena, &list),
              OK);
    for (size_t i = 0; i < list.count; i++)
        mask |= mask_of(list.items[i]);
    arena_done(&arena);
    return mask;
}

static void note(struct model *m, const struct event *e)
{
    m->events[m->count++] = *e;
}

static void apply_grant(struct model *m, struct rights *rights, struct event *e)
{
    (void)snprintf(e->id, sizeof(e->id), "g%zu", m->count);
    CHECK_INT(rights_grant(rights,
                           (struct rights_key){ topics[e->topic], people[e->person] },
                           &(struct grant_terms){ .id = str_of(e->id),
                                                  .capabilities = { &e->text, 1 },
                                                  .expires_ms = e->expires_ms,
                                                  .max_uses = e->max_uses }),
              OK);
    note(m, e);
}

/* What an administrator gives is a root of its own. */
static void admin_grants(struct model *m, struct rights *rights, struct event *e)
{
    for (size_t t = 0; t < TOPICS; t++)
        if (e->topic == 0 || e->topic == t)
            m->lineage[e->person][t] |= mask_of(e->text);
    apply_grant(m, rights, e);
}

/* What a participant gives: if it is let, it was no more than it could do itself, now and
 * until the grant ends, all things staying as they are. */
static void member_grants(struct model *m, struct rights *rights, struct event *e)
{
    size_t granter = draw(m, PEOPLE);
    struct rights_bearer bearer = { { topics[e->topic], people[granter] },
                                    own_of(m, granter),
                                    m->now_ms };
    uint64_t end_ms = e->expires_ms ? e->expires_ms - 1 : UINT64_MAX - 1;
    struct capability *wanted;
    bool may;

    CHECK_INT(capability_new(e->text, &wanted, NULL), OK);
    may = rights_may_give(rights, &bearer, wanted, e->expires_ms);
    capability_free(wanted);
    if (!may)
        return;
    CHECK((mask_of(e->text) & ~model_allowed(m, e->topic, granter, m->now_ms)) == 0);
    CHECK((mask_of(e->text) & ~model_allowed(m, e->topic, granter, end_ms)) == 0);
    m->lineage[e->person][e->topic] |= m->lineage[granter][e->topic];
    apply_grant(m, rights, e);
}

static void strikes_something(struct model *m, struct rights *rights, struct event *e)
{
    uint32_t gone;

    e->reach = draw(m, 2) ? STRIKE_COVERED : STRIKE_SAME;
    CHECK_INT(strike(rights, (struct rights_key){ topics[e->topic], people[e->person] },
                     e->reach, e->text),
              OK);
    note(m, e);
    /* At once: nothing but another capability that overlaps allows any of it. */
    gone = mask_of(e->text) & engine_allowed(m, rights, e->topic, e->person);
    if (e->reach == STRIKE_COVERED && str_eq(e->text, S("*")))
        CHECK(gone == 0);
}

static void revokes_something(struct model *m, struct rights *rights)
{
    struct event *e;
    struct grant *found;

    if (m->count == 0)
        return;
    e = &m->events[draw(m, m->count)];
    if (!e->is_grant || e->is_over)
        return;
    e->is_over = true;
    found =
        rights_find(rights, (struct rights_key){ topics[e->topic], people[e->person] },
                    str_of(e->id));
    if (found) /* else all of it was struck, or it has expired */
        rights_end(rights, found);
}

static void time_passes(struct model *m, struct rights *rights)
{
    struct grant *expired;

    m->now_ms += draw(m, 50);
    if (draw(m, 2))
        return; /* the timer is late, which must not matter */
    while ((expired = rights_expired(rights, m->now_ms)))
        rights_end(rights, expired);
}

static void step(struct model *m, struct rights *rights)
{
    struct event e = { .topic = draw(m, TOPICS),
                       .person = draw(m, PEOPLE),
                       .text = patterns[draw(m, COUNT(patterns))],
                       .expires_ms = draw(m, 3) ? 0 : m->now_ms + 1 + draw(m, 200),
                       .max_uses = draw(m, 8) ? 0 : 1 + draw(m, 3) };

    switch (draw(m, 8)) {
    case 0:
        e.is_grant = true;
        admin_grants(m, rights, &e);
        break;
    case 1:
    case 2: strikes_something(m, rights, &e); break;
    case 3: revokes_something(m, rights); break;
    case 4: time_passes(m, rights); break;
    default:
        e.is_grant = true;
        e.topic = 1 + draw(m, TOPICS - 1); /* in a room */
        member_grants(m, rights, &e);
        break;
    }
}

static void check_all(const struct model *m, const struct rights *rights)
{
    for (size_t t = 1; t < TOPICS; t++)
        for (size_t p = 0; p < PEOPLE; p++) {
            uint32_t allowed = engine_allowed(m, rights, t, p);

            CHECK(allowed == model_allowed(m, t, p, m->now_ms));
            CHECK((allowed & ~m->lineage[p][t]) == 0);
        }
}

static void begin(struct model *m, uint64_t seed)
{
    *m = (struct model){ .random = seed * 2654435761u + 1, .now_ms = 1000 };
    for (size_t p = 0; p < PEOPLE; p++)
        for (size_t i = draw(m, COUNT(m->own[p]) + 1); i-- > 0;)
            m->own[p][i] = patterns[draw(m, COUNT(patterns))];
    for (size_t p = 0; p < PEOPLE; p++)
        for (size_t t = 0; t < TOPICS; t++)
            m->lineage[p][t] = model_allowed(m, t, p, m->now_ms);
}

TEST(random_grant_trees_agree_with_the_model_and_never_widen)
{
    static struct model m;

    for (uint64_t seed = 0; seed < 200; seed++) {
        struct rights *rights = rights_new();

        begin(&m, seed);
        for (size_t i = 0; i < 60; i++) {
            step(&m, rights);
            check_all(&m, rights);
        }
        rights_free(rights);
    }
}

TEST(what_is_proven_covered_is_covered_for_every_kind)
{
    for (size_t i = 0; i < COUNT(patterns); i++)
        for (size_t k = 0; k < COUNT(patterns); k++)
            if (covers(patterns[i], patterns[k]))
                CHECK((mask_of(patterns[k]) & ~mask_of(patterns[i])) == 0);
}

/* The set that a list makes, asked about the whole universe. */
static uint32_t capset_mask(struct capsets *capsets, struct str_list list)
{
    struct capset *set;
    uint32_t mask = 0;

    CHECK_INT(capset_intern(capsets, list, &set, NULL), OK);
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (capset_may(set, kinds[i]) == VERDICT_ALLOW)
            mask |= 1u << i;
    capset_unref(set);
    return mask;
}

TEST(nothing_is_allowed_by_default_and_adding_never_takes_away)
{
    struct capsets *capsets = capsets_new();
    struct model m = { .random = 7 };

    CHECK_INT(capset_mask(capsets, (struct str_list){}), 0);
    for (size_t round = 0; round < 2000; round++) {
        struct str list[6], shuffled[12];
        size_t count = 1 + draw(&m, COUNT(list));
        uint32_t before = 0;

        for (size_t i = 0; i < count; i++) {
            uint32_t now;

            list[i] = patterns[draw(&m, COUNT(patterns))];
            now = capset_mask(capsets, (struct str_list){ list, i + 1 });
            CHECK((before & ~now) == 0);
            CHECK(now == (before | mask_of(list[i])));
            before = now;
        }
        for (size_t i = 0; i < COUNT(shuffled); i++) /* any order, some twice, all once */
            shuffled[i] = list[i < count ? count - 1 - i : draw(&m, count)];
        CHECK(capset_mask(capsets, (struct str_list){ shuffled, COUNT(shuffled) }) ==
              before);
    }
    capsets_free(capsets);
}

TEST(the_order_of_grants_does_not_matter)
{
    struct model m = { .random = 11 };

    for (size_t round = 0; round < 500; round++) {
        struct rights *one = rights_new(), *other = rights_new();
        struct str given[5];
        char id[16];

        for (size_t i = 0; i < COUNT(given); i++)
            given[i] = patterns[draw(&m, COUNT(patterns))];
        for (size_t i = 0; i < COUNT(given); i++) {
            (void)snprintf(id, sizeof(id), "g%zu", i);
            CHECK_INT(grant(one, here, str_of(id), given[i]), OK);
            CHECK_INT(grant(other, i % 2 ? here : everywhere, str_of(id),
                            given[COUNT(given) - 1 - i]),
                      OK);
        }
        CHECK_INT(grant(other, here, S("again"), given[0]), OK);
        m.now_ms = 1;
        for (size_t i = 0; i < COUNT(kinds); i++) {
            struct str_list a, b;
            struct arena arena;
            bool in_a = false, in_b = false;

            arena_init(&arena, 1 << 20);
            CHECK_INT(rights_in_force(one, here, (struct str_list){}, 1, &arena, &a), OK);
            CHECK_INT(rights_in_force(other, here, (struct str_list){}, 1, &arena, &b),
                      OK);
            for (size_t k = 0; k < a.count; k++)
                in_a |= mask_of(a.items[k]) >> i & 1;
            for (size_t k = 0; k < b.count; k++)
                in_b |= mask_of(b.items[k]) >> i & 1;
            CHECK_INT(in_a, in_b);
            arena_done(&arena);
        }
        rights_free(one);
        rights_free(other);
    }
}

TEST(system_never_opens_whatever_is_granted)
{
    static const struct str reserved[] = { S("system"), S("system/error"),
                                           S("system/welcome"), S("presence") };

    FOR_EACH_CASE(c, reserved) {
        struct kind kind;

        CHECK_INT(kind_parse(*c, &kind), ERR_RESERVED_NAMESPACE);
    }
}
