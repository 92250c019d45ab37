/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds whatever was granted and struck: random changes against a model that keeps
 * everything ever said and works out each verdict anew from all of it.
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "envelope/kind.h"
#include "harness.h"
#include "policy/capset.h"
#include "policy/holding.h"

#define everywhere ((struct rights_key){ S(""), S("bot") })
#define here       ((struct rights_key){ S("t"), S("bot") })

static enum err grant(struct rights *rights, struct rights_key who, struct str id,
                      struct str capability)
{
    return rights_grant(
        rights, who,
        &(struct grant_terms){ .id = id, .capabilities = { &capability, 1 } });
}

static enum err strike(struct rights *rights, struct rights_key who,
                       enum strike_reach reach, struct str capability)
{
    return rights_strike(
        rights, who,
        &(struct strike_terms){ .capabilities = { &capability, 1 }, .reach = reach });
}

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
    S("m*"),
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
    S("mcp.*"),
    S("mcp.request.*"),
    S("mcp.request.tools/*"),
    S("mcp.request.tools/call"),
    S("mcp.request.tools/call:read_*"),
    S("mcp.re*.x"),
    S("mcpx.*"),
    S("chat.*"),
    S("capability.grant"),
    S("x.*"),
    S("{\"kind\":\"mcp/request:*\",\"payload\":{\"n\":1}}"),
    S("{\"kind\":\"mcp/request:tools/call\",\"payload\":{\"n\":1}}"),
    S("{\"kind\":\"mcp.request.tools/call\",\"payload\":{\"n\":[1,2]}}"),
    S("{\"kind\":\"x/*\",\"payload\":{\"n\":\"a*\"}}"),
    S("{\"kind\":\"x/y\",\"payload\":{\"n\":\"ab\",\"m\":\"!c\"}}"),
};

/* Each kind comes with each of these. */
static const struct str payloads[] = {
    S("{}"),
    S("{\"n\":1}"),
    S("{\"n\":\"ab\",\"m\":\"d\"}"),
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
    uint64_t lineage[PEOPLE][TOPICS]; /* kinds that some root on the way could send */
    uint64_t now_ms;
    uint64_t random;
};

static size_t draw(struct model *m, size_t below)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (size_t)(m->random >> 33) % below;
}

static size_t index_of(struct str text)
{
    size_t i = 0;

    while (i < COUNT(patterns) && !str_eq(patterns[i], text))
        i++;
    CHECK(i < COUNT(patterns));
    return i;
}

static bool work_out_cover(struct str held_text, struct str wanted_text)
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

/* Asked so often that it is remembered: 0 for not yet, else 1 or 2. */
static bool covers(struct str held_text, struct str wanted_text)
{
    static uint8_t known[COUNT(patterns)][COUNT(patterns)];
    uint8_t *one = &known[index_of(held_text)][index_of(wanted_text)];

    if (!*one)
        *one = work_out_cover(held_text, wanted_text) ? 2 : 1;
    return *one == 2;
}

static uint64_t work_out_mask(struct str text)
{
    struct capability *capability;
    struct arena arena;
    uint64_t mask = 0;

    CHECK_INT(capability_new(text, &capability, NULL), OK);
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (size_t k = 0; k < COUNT(payloads); k++)
            if (capability_allows(capability, kinds[i],
                                  (struct json_span){ JSON_OBJECT, false, payloads[k] },
                                  &arena))
                mask |= 1ull << (i * COUNT(payloads) + k);
    arena_done(&arena);
    capability_free(capability);
    return mask;
}

/* What a capability allows of the universe: kinds, each with each payload. */
static uint64_t mask_of(struct str text)
{
    static uint64_t known[COUNT(patterns)];
    static bool is_known[COUNT(patterns)];
    size_t i = index_of(text);

    if (!is_known[i])
        known[i] = work_out_mask(text);
    is_known[i] = true;
    return known[i];
}

_Static_assert(COUNT(kinds) * COUNT(payloads) <= 64);

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
static uint64_t model_allowed(const struct model *m, size_t topic, size_t person,
                              uint64_t now_ms)
{
    uint64_t mask = 0;

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

static uint64_t engine_allowed(const struct model *m, const struct rights *rights,
                               size_t topic, size_t person)
{
    struct str_list list;
    struct arena arena;
    uint64_t mask = 0;

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
    struct rights_bearer bearer = {
        { topics[e->topic], people[granter] }, own_of(m, granter), m->now_ms, 0
    };
    uint64_t end_ms = e->expires_ms ? e->expires_ms - 1 : UINT64_MAX - 1;

    if (rights_not_held(rights, &bearer, (struct str_list){ &e->text, 1 }, e->expires_ms)
            .len)
        return;
    CHECK((mask_of(e->text) & ~model_allowed(m, e->topic, granter, m->now_ms)) == 0);
    CHECK((mask_of(e->text) & ~model_allowed(m, e->topic, granter, end_ms)) == 0);
    m->lineage[e->person][e->topic] |= m->lineage[granter][e->topic];
    apply_grant(m, rights, e);
}

static void strikes_something(struct model *m, struct rights *rights, struct event *e)
{
    uint64_t gone;

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
            uint64_t allowed = engine_allowed(m, rights, t, p);

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

TEST(what_may_stand_for_another_covers_all_that_it_covers)
{
    size_t count = 0;

    for (size_t i = 0; i < COUNT(patterns); i++)
        for (size_t k = 0; k < COUNT(patterns); k++) {
            struct capability *a, *b;

            CHECK_INT(capability_new(patterns[i], &a, NULL), OK);
            CHECK_INT(capability_new(patterns[k], &b, NULL), OK);
            for (size_t m = 0; capability_covers_all_of(a, b) && m < COUNT(patterns);
                 m++) {
                CHECK(!covers(patterns[k], patterns[m]) ||
                      covers(patterns[i], patterns[m]));
                count += i != k && covers(patterns[k], patterns[m]);
            }
            capability_free(a);
            capability_free(b);
        }
    CHECK(count > 50);
}

TEST(what_is_proven_covered_is_covered_for_every_kind)
{
    for (size_t i = 0; i < COUNT(patterns); i++)
        for (size_t k = 0; k < COUNT(patterns); k++)
            if (covers(patterns[i], patterns[k]))
                CHECK((mask_of(patterns[k]) & ~mask_of(patterns[i])) == 0);
}

/* The set that a list makes, asked about the whole universe. */
static uint64_t capset_mask(struct capsets *capsets, struct str_list list)
{
    struct capset *set;
    struct arena arena;
    uint64_t mask = 0;

    CHECK_INT(capset_intern(capsets, list, &set, NULL), OK);
    arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (size_t k = 0; k < COUNT(payloads); k++) {
            struct json_span payload = { JSON_OBJECT, false, payloads[k] };
            enum verdict verdict = capset_may(set, kinds[i]);

            if (verdict == VERDICT_ALLOW ||
                (verdict == VERDICT_INSPECT &&
                 capset_inspect(set, kinds[i], payload, &arena)))
                mask |= 1ull << (i * COUNT(payloads) + k);
        }
    arena_done(&arena);
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
        uint64_t before = 0;

        for (size_t i = 0; i < count; i++) {
            uint64_t now;

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
        for (size_t i = 0; i < COUNT(kinds) * COUNT(payloads); i++) {
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
