/* SPDX-License-Identifier: Apache-2.0 */
/* State as it is kept: what is written is read again, and what was not written here is
 * refused. */
#include <string.h>

#include "base/cleanup.h"
#include "gateway/kept.h"
#include "harness.h"
#include "policy/keeping.h"

static const struct str capabilities[] = {
    S("chat"), S("{\"kind\":\"x/y\",\"payload\":{\"a\":\"b\"}}")
};

struct desk {
    struct arena arena;
    struct buf value;
    char key[KEPT_KEY];
};

static void desk_init(struct desk *desk)
{
    arena_init(&desk->arena, 1 << 20);
    buf_init(&desk->value, 1 << 20);
}

static void desk_done(struct desk *desk)
{
    arena_done(&desk->arena);
    buf_done(&desk->value);
}

static struct kept_text text_of(struct desk *desk, struct str topic, uint64_t order)
{
    return (struct kept_text){ topic, kept_key(order, desk->key), buf_str(&desk->value) };
}

TEST(keys_have_the_order_of_their_numbers)
{
    char key[KEPT_KEY];

    CHECK_STR(kept_key(1, key), S("0000000000000001"));
    CHECK_STR(kept_key(UINT64_MAX / 2, key), S("7fffffffffffffff"));
}

TEST(a_grant_is_read_as_it_was_written)
{
    static const struct grant_terms terms[] = {
        { .id = S("g"),
          .granter = S("ann"),
          .reason = S("\"why\" \xc3\xbc\n"),
          .capabilities = { capabilities, 2 },
          .order = 77,
          .created_ms = 1,
          .expires_ms = 5000,
          .max_uses = 3,
          .is_told = true },
        { .id = S("h"),
          .granter = S("ann"),
          .capabilities = { capabilities, 1 },
          .order = 78,
          .created_ms = 2,
          .origin = RIGHTS_BY_ADMIN },
    };

    FOR_EACH_CASE(c, terms) {
        struct rights_key who = { S("room"), S("bot \"1\"") };
        struct rights *rights = rights_new();
        struct grant *grant;
        struct kept_grant kept;
        struct kept_text text;
        struct desk desk;

        desk_init(&desk);
        CHECK_INT(rights_grant(rights, who, c), OK);
        grant = rights_next_grant(rights, who, NULL);
        if (c->max_uses)
            rights_use(rights, grant);
        kept_write_grant(grant, &desk.value);
        text = text_of(&desk, who.topic, grant->order);
        CHECK_INT(kept_read_grant(&text, &desk.arena, &kept), OK);
        CHECK_STR(kept.holder.topic, who.topic);
        CHECK_STR(kept.holder.id, who.id);
        CHECK_STR(kept.terms.id, c->id);
        CHECK_STR(kept.terms.granter, c->granter);
        CHECK_STR(kept.terms.reason, c->reason);
        CHECK_INT(kept.terms.capabilities.count, c->capabilities.count);
        for (size_t i = 0; i < c->capabilities.count; i++)
            CHECK_STR(kept.terms.capabilities.items[i], c->capabilities.items[i]);
        CHECK_INT(kept.terms.order, c->order);
        CHECK_INT(kept.terms.created_ms, c->created_ms);
        CHECK_INT(kept.terms.expires_ms, c->expires_ms);
        CHECK_INT(kept.terms.max_uses, c->max_uses);
        CHECK_INT(kept.terms.is_told, c->is_told);
        CHECK_INT(kept.terms.origin, c->origin);
        CHECK_INT(kept.uses, c->max_uses ? 1 : 0);
        desk_done(&desk);
        rights_free(rights);
    }
}

TEST(a_strike_is_read_as_it_was_written)
{
    for (int i = 0; i < 4; i++) {
        struct rights_key who = { i % 2 ? S("room") : S(""), S("bot") };
        struct strike_terms terms = { .by = S("ann"),
                                      .reason = i % 2 ? S("so") : S(""),
                                      .capabilities = { &capabilities[i % 2], 1 },
                                      .reach = i / 2 ? STRIKE_SAME : STRIKE_COVERED,
                                      .order = 5,
                                      .created_ms = 9,
                                      .origin =
                                          i % 2 ? RIGHTS_BY_ADMIN : RIGHTS_IN_ROOM };
        struct rights *rights = rights_new();
        struct kept_strike kept;
        struct kept_text text;
        struct desk desk;

        desk_init(&desk);
        CHECK_INT(rights_strike(rights, who, &terms), OK);
        kept_write_strike(who, rights_next_strike(rights, who, NULL), &desk.value);
        text = text_of(&desk, who.topic, 5);
        CHECK_INT(kept_read_strike(&text, &desk.arena, &kept), OK);
        CHECK_STR(kept.holder.topic, who.topic);
        CHECK_STR(kept.holder.id, who.id);
        CHECK_STR(kept.terms.by, terms.by);
        CHECK_STR(kept.terms.reason, terms.reason);
        CHECK_INT(kept.terms.capabilities.count, 1);
        CHECK_STR(kept.terms.capabilities.items[0], capabilities[i % 2]);
        CHECK_INT(kept.terms.reach, terms.reach);
        CHECK_INT(kept.terms.order, 5);
        CHECK_INT(kept.terms.created_ms, 9);
        CHECK_INT(kept.terms.origin, terms.origin);
        desk_done(&desk);
        rights_free(rights);
    }
}

TEST(proposals_are_read_as_they_were_written)
{
    static const char envelope[] =
        "{\"protocol\":\"mcpx/v0.1\",\"id\":\"p\\u0041\",\"from\":\"bot\", "
        "\"to\":[\"x\"],\"kind\":\"mcp/proposal:tools/call\",\"payload\":{\"a\":\"\\\"\"}}";
    struct proposal open = { .envelope = (char *)(uintptr_t)envelope,
                             .envelope_bytes = sizeof(envelope) - 1,
                             .created_ms = 3,
                             .expires_ms = 4 };
    struct proposal closed = { .id = S("q"),
                               .proposer = S("bot"),
                               .kind = { .text = S("mcp/proposal:x") },
                               .created_ms = 5,
                               .expires_ms = 6,
                               .subject = S("x:y"),
                               .by = S("ann"),
                               .reason = S("\"no\" \xc3\xbc"),
                               .decided_ms = 7,
                               .state = PROPOSAL_REJECTED };
    struct proposal by_rule = { .id = S("q"),
                                .proposer = S("bot"),
                                .kind = { .text = S("mcp/proposal:x") },
                                .by = S("orchestrator"),
                                .rule = S("r-1"),
                                .decided_ms = 7,
                                .state = PROPOSAL_FULFILLED };
    struct approver approvers[] = {
        { .id = S("ann"), .profile = S("lead"), .at_ms = 8, .is_human = true },
        { .id = S("bot"), .at_ms = 9 },
    };
    struct kept_proposal kept;
    struct kept_text text;
    struct desk desk;

    desk_init(&desk);
    open.approvals = (struct approvals){ approvers, 2 };
    kept_write_proposal(&open, &desk.value);
    text = text_of(&desk, S("room"), 1);
    CHECK_INT(kept_read_proposal(&text, &desk.arena, &kept), OK);
    CHECK_INT(kept.past.approval_count, 2);
    CHECK_STR(kept.past.approvals[0].id, S("ann"));
    CHECK_STR(kept.past.approvals[0].profile, S("lead"));
    CHECK_INT(kept.past.approvals[0].at_ms, 8);
    CHECK(kept.past.approvals[0].is_human && !kept.past.approvals[1].is_human);
    CHECK_STR(kept.past.approvals[1].profile, S(""));
    CHECK_STR(kept.env.text, str_of(envelope));
    CHECK_STR(kept.env.id, S("pA"));
    CHECK_STR(kept.env.kind.text, S("mcp/proposal:tools/call"));
    CHECK_INT(kept.env.to_count, 1);
    CHECK_INT(kept.past.state, PROPOSAL_OPEN);
    CHECK(kept.past.order == 1 && kept.past.created_ms == 3 && kept.past.expires_ms == 4);
    buf_clear(&desk.value);
    kept_write_proposal(&closed, &desk.value);
    text = text_of(&desk, S("room"), 2);
    CHECK_INT(kept_read_proposal(&text, &desk.arena, &kept), OK);
    CHECK_INT(kept.past.state, PROPOSAL_REJECTED);
    CHECK_STR(kept.past.id, S("q"));
    CHECK_STR(kept.past.proposer, S("bot"));
    CHECK_STR(kept.past.kind, S("mcp/proposal:x"));
    CHECK_STR(kept.past.subject, S("x:y"));
    CHECK_STR(kept.past.by, S("ann"));
    CHECK_STR(kept.past.reason, S("\"no\" \xc3\xbc"));
    CHECK_INT(kept.past.decided_ms, 7);
    CHECK_INT(kept.past.approval_count, 0);
    CHECK_STR(kept.past.rule, S(""));
    buf_clear(&desk.value);
    kept_write_proposal(&by_rule, &desk.value);
    text = text_of(&desk, S("room"), 3);
    CHECK_INT(kept_read_proposal(&text, &desk.arena, &kept), OK);
    CHECK_INT(kept.past.state, PROPOSAL_FULFILLED);
    CHECK_STR(kept.past.rule, S("r-1"));
    desk_done(&desk);
}

TEST(a_standing_is_read_as_it_was_written)
{
    static const struct kept_standing cases[] = {
        { .barred_until_ms = 77 },
        { .is_paused = true },
        { .barred_until_ms = 1, .is_paused = true, .is_held = true },
    };

    FOR_EACH_CASE(c, cases) {
        struct kept_standing kept;
        struct kept_text text;
        struct desk desk;

        desk_init(&desk);
        kept_write_standing(c, &desk.value);
        text = (struct kept_text){ S(""), S("bot"), buf_str(&desk.value) };
        CHECK_INT(kept_read_standing(&text, &desk.arena, &kept), OK);
        CHECK_INT(kept.barred_until_ms, c->barred_until_ms);
        CHECK_INT(kept.is_paused, c->is_paused);
        CHECK_INT(kept.is_held, c->is_held);
        desk_done(&desk);
    }
}

/* --- what others may have written --- */

#define KEY  S("0000000000000001")
#define ROOM S("room")
#define LONG                                                                             \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define GRANT(holder, id, more) \
    S("{\"holder\":\"" holder "\",\"id\":\"" id "\",\"granter\":\"a\"," more "}")
#define CHAT "\"capabilities\":[\"chat\"],\"created\":1"

TEST(grants_that_cannot_have_been_written_here_are_refused)
{
    /* clang-format off */
    static const struct { struct str topic, key, value; enum err err; } cases[] = {
        { ROOM, KEY, GRANT("b", "g", CHAT), OK },
        { S(""), KEY, GRANT("b", "g", CHAT), OK },
        { ROOM, KEY, GRANT("b", "g", CHAT ",\"max_uses\":2,\"uses\":2"), OK },
        { ROOM, KEY, GRANT("b", "g", CHAT ",\"max_uses\":2,\"uses\":3"), ERR_INVALID },
        { ROOM, KEY, GRANT("b", "g", CHAT ",\"max_uses\":1000000001"), ERR_INVALID },
        { S(""), KEY, GRANT("b", "g", CHAT ",\"max_uses\":2"), ERR_INVALID },
        { ROOM, KEY, GRANT("b", "g", CHAT ",\"expires\":253402300800000"), ERR_INVALID },
        { ROOM, KEY, GRANT("b", "g", CHAT ",\"expires\":-1"), ERR_INVALID },
        { ROOM, KEY, GRANT("b", "g", CHAT ",\"other\":1"), ERR_INVALID },
        { ROOM, KEY, GRANT("b", "g", "\"capabilities\":\"chat\",\"created\":1"), ERR_INVALID },
        { ROOM, KEY, GRANT("b", "g", "\"capabilities\":[\"{\"],\"created\":1"), ERR_INVALID },
        { ROOM, KEY, GRANT("b", "g", "\"capabilities\":[7],\"created\":1"), ERR_INVALID },
        { ROOM, KEY, GRANT("", "g", CHAT), ERR_INVALID },
        { ROOM, KEY, GRANT("b", "", CHAT), ERR_INVALID },
        { ROOM, KEY, GRANT(LONG, "g", CHAT), ERR_INVALID },
        { ROOM, KEY, GRANT("b", LONG, CHAT), ERR_INVALID },
        { S("a/b"), KEY, GRANT("b", "g", CHAT), ERR_INVALID },
        { ROOM, S("1"), GRANT("b", "g", CHAT), ERR_INVALID },
        { ROOM, S("0000000000000000"), GRANT("b", "g", CHAT), ERR_INVALID },
        { ROOM, S("ffffffffffffffff"), GRANT("b", "g", CHAT), ERR_INVALID },
        { ROOM, S("000000000000000G"), GRANT("b", "g", CHAT), ERR_INVALID },
        { ROOM, KEY, S(""), ERR_INVALID },
        { ROOM, KEY, S("[]"), ERR_INVALID },
        { ROOM, KEY, S("{\"holder\":"), ERR_INVALID },
        { ROOM, KEY, S("{}"), ERR_INVALID },
        { ROOM, KEY, S("\xff"), ERR_INVALID },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct kept_text text = { c->topic, c->key, c->value };
        struct kept_grant kept;
        struct desk desk;

        desk_init(&desk);
        CHECK_INT(kept_read_grant(&text, &desk.arena, &kept), c->err);
        desk_done(&desk);
    }
}

TEST(strikes_that_cannot_have_been_written_here_are_refused)
{
    /* clang-format off */
    static const struct { struct str topic, key, value; enum err err; } cases[] = {
        { ROOM, KEY, S("{\"holder\":\"b\",\"by\":\"a\",\"capability\":\"chat\",\"created\":1}"), OK },
        { S("?"), KEY, S("{\"holder\":\"b\",\"by\":\"a\",\"capability\":\"chat\",\"created\":1}"), ERR_INVALID },
        { ROOM, S(""), S("{\"holder\":\"b\",\"by\":\"a\",\"capability\":\"chat\",\"created\":1}"), ERR_INVALID },
        { ROOM, KEY, S("{\"holder\":\"b\",\"by\":\"a\",\"capability\":[],\"created\":1}"), ERR_INVALID },
        { ROOM, KEY, S("{\"holder\":\"b\",\"by\":\"a\",\"created\":1}"), ERR_INVALID },
        { ROOM, KEY, S("{\"holder\":\"\",\"by\":\"a\",\"capability\":\"chat\",\"created\":1}"), ERR_INVALID },
        { ROOM, KEY, S("7"), ERR_INVALID },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct kept_text text = { c->topic, c->key, c->value };
        struct kept_strike kept;
        struct desk desk;

        desk_init(&desk);
        CHECK_INT(kept_read_strike(&text, &desk.arena, &kept), c->err);
        desk_done(&desk);
    }
}

#define ENVELOPE                                                                       \
    "{\\\"protocol\\\":\\\"mcpx/v0.1\\\",\\\"id\\\":\\\"p\\\",\\\"from\\\":\\\"b\\\"," \
    "\\\"kind\\\":\\\"mcp/proposal:x\\\",\\\"payload\\\":{}}"

#define CLOSED                                                          \
    "{\"created\":1,\"expires\":2,\"state\":\"rejected\",\"id\":\"p\"," \
    "\"proposer\":\"b\",\"kind\":\"k\""
#define A1  "{\"id\":\"a\",\"at\":1},"
#define A8  A1 A1 A1 A1 A1 A1 A1 A1
#define A33 A8 A8 A8 A8 "{\"id\":\"a\",\"at\":1}"

TEST(proposals_that_cannot_have_been_written_here_are_refused)
{
    /* clang-format off */
    static const struct { struct str topic, key, value; enum err err; } cases[] = {
        { ROOM, KEY, S("{\"created\":1,\"expires\":2,\"envelope\":\"" ENVELOPE "\"}"), OK },
        { S(""), KEY, S("{\"created\":1,\"expires\":2,\"envelope\":\"" ENVELOPE "\"}"), ERR_INVALID },
        { ROOM, S("x"), S("{\"created\":1,\"expires\":2,\"envelope\":\"" ENVELOPE "\"}"), ERR_INVALID },
        { ROOM, KEY, S("{\"created\":1,\"envelope\":\"" ENVELOPE "\"}"), ERR_INVALID },
        { ROOM, KEY, S("{\"created\":1,\"expires\":253402300800000,\"envelope\":\"" ENVELOPE "\"}"), ERR_INVALID },
        { ROOM, KEY, S("{\"created\":1,\"expires\":2,\"envelope\":\"\"}"), ERR_INVALID },
        { ROOM, KEY, S("{\"created\":1,\"expires\":2,\"envelope\":\"{}\"}"), ERR_INVALID },
        { ROOM, KEY, S("{\"created\":1,\"expires\":2,\"envelope\":{}}"), ERR_INVALID },
        { ROOM, KEY, S("{\"created\":1,\"expires\":2}"), ERR_INVALID },
        { ROOM, KEY, S("{\"created\":1,\"expires\":2,\"state\":\"rejected\",\"id\":\"p\",\"proposer\":\"b\",\"kind\":\"k\"}"), OK },
        { ROOM, KEY, S("{\"created\":1,\"expires\":2,\"state\":\"open\",\"id\":\"p\",\"proposer\":\"b\",\"kind\":\"k\"}"), ERR_INVALID },
        { ROOM, KEY, S("{\"created\":1,\"expires\":2,\"state\":\"rejected\",\"proposer\":\"b\",\"kind\":\"k\"}"), ERR_INVALID },
        { ROOM, KEY, S(CLOSED ",\"by\":\"" LONG "\"}"), ERR_INVALID },
        { ROOM, KEY, S(CLOSED ",\"decided\":253402300800000}"), ERR_INVALID },
        { ROOM, KEY, S(CLOSED ",\"rule\":\"r-1\"}"), ERR_INVALID }, /* no rule rejects */
        { ROOM, KEY, S("{\"created\":1,\"expires\":2,\"state\":\"fulfilled\",\"id\":\"p\",\"proposer\":\"b\",\"kind\":\"k\",\"rule\":\"r-1\"}"), OK },
        { ROOM, KEY, S("{\"created\":1,\"expires\":2,\"state\":\"fulfilled\",\"id\":\"p\",\"proposer\":\"b\",\"kind\":\"k\",\"rule\":\"" LONG "\"}"), ERR_INVALID },
        { ROOM, KEY, S(CLOSED ",\"approvals\":[{\"id\":\"a\",\"at\":1}]}"), OK },
        { ROOM, KEY, S(CLOSED ",\"approvals\":[{\"id\":\"a\"}]}"), ERR_INVALID },
        { ROOM, KEY, S(CLOSED ",\"approvals\":[{\"id\":\"\",\"at\":1}]}"), ERR_INVALID },
        { ROOM, KEY, S(CLOSED ",\"approvals\":[{\"id\":\"" LONG "\",\"at\":1}]}"), ERR_INVALID },
        { ROOM, KEY, S(CLOSED ",\"approvals\":[{\"id\":\"a\",\"at\":253402300800000}]}"), ERR_INVALID },
        { ROOM, KEY, S(CLOSED ",\"approvals\":[{\"id\":\"a\",\"at\":1,\"human\":1}]}"), ERR_INVALID },
        { ROOM, KEY, S(CLOSED ",\"approvals\":[7]}"), ERR_INVALID },
        { ROOM, KEY, S(CLOSED ",\"approvals\":{}}"), ERR_INVALID },
        { ROOM, KEY, S(CLOSED ",\"approvals\":[" A33 "]}"), ERR_INVALID },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct kept_text text = { c->topic, c->key, c->value };
        struct kept_proposal kept;
        struct desk desk;

        desk_init(&desk);
        CHECK_INT(kept_read_proposal(&text, &desk.arena, &kept), c->err);
        desk_done(&desk);
    }
}

TEST(standings_that_cannot_have_been_written_here_are_refused)
{
    static const struct {
        struct str topic, key, value;
        enum err err;
    } cases[] = {
        { ROOM, S("bot"), S("{\"paused\":true}"), OK },
        { S("?"), S("bot"), S("{\"paused\":true}"), ERR_INVALID },
        { ROOM, S(""), S("{\"paused\":true}"), ERR_INVALID },
        { ROOM, S(LONG), S("{\"paused\":true}"), ERR_INVALID },
        { ROOM, S("bot"), S("{\"paused\":1}"), ERR_INVALID },
        { ROOM, S("bot"), S("{\"held\":true}"), ERR_INVALID },
        { ROOM, S("bot"), S("{\"barred_until\":253402300800000}"), ERR_INVALID },
        { ROOM, S("bot"), S("nothing"), ERR_INVALID },
    };

    FOR_EACH_CASE(c, cases) {
        struct kept_text text = { c->topic, c->key, c->value };
        struct kept_standing kept;
        struct desk desk;

        desk_init(&desk);
        CHECK_INT(kept_read_standing(&text, &desk.arena, &kept), c->err);
        desk_done(&desk);
    }
}
