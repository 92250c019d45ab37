/* SPDX-License-Identifier: Apache-2.0 */
/* What was worked out is not worked out again before something changes. */
#include <stdio.h>

#include "gateway/holdings.h"
#include "harness.h"

#define here       ((struct rights_key){ S("t"), S("bot") })
#define everywhere ((struct rights_key){ S(""), S("bot") })

struct world {
    struct rights *rights;
    struct capsets *capsets;
    struct holdings holdings;
};

static void world_init(struct world *world)
{
    world->rights = rights_new();
    world->capsets = capsets_new();
    holdings_init(&world->holdings, world->rights, world->capsets);
}

static void world_done(struct world *world)
{
    holdings_done(&world->holdings);
    rights_free(world->rights);
    capsets_free(world->capsets);
}

static struct identity *make_identity(struct str id, struct str capability)
{
    return identity_new(
        &(struct identity){ .id = id, .capabilities = { &capability, 1 } });
}

static void grant(struct world *world, struct rights_key who, struct str id,
                  struct str capability, uint64_t expires_ms)
{
    CHECK_INT(rights_grant(world->rights, who,
                           &(struct grant_terms){ .id = id,
                                                  .capabilities = { &capability, 1 },
                                                  .expires_ms = expires_ms }),
              OK);
}

static void strike(struct world *world, struct rights_key who, struct str capability)
{
    CHECK_INT(rights_strike(world->rights, who,
                            &(struct strike_terms){ .capabilities = { &capability, 1 },
                                                    .reach = STRIKE_COVERED }),
              OK);
}

/* As JSON, and how often something was worked out until then. */
static void check(struct world *world, struct identity *identity, uint64_t now_ms,
                  struct str json, uint64_t worked_out)
{
    struct capset *set = holdings_find(&world->holdings, S("t"), identity, now_ms);

    CHECK_STR(capset_json(set, DIALECT_SLASH), json);
    CHECK_INT(world->holdings.worked_out, worked_out);
}

TEST(what_did_not_change_is_not_worked_out_again)
{
    struct world world;
    struct identity *bot = make_identity(S("bot"), S("chat"));
    struct identity *strong = make_identity(S("bot"), S("x/y"));

    world_init(&world);
    for (size_t i = 0; i < 3; i++) { /* by turns: each has its own */
        check(&world, bot, 0, S("[\"chat\"]"), i ? 2 : 1);
        check(&world, strong, 0, S("[\"x/y\"]"), 2);
    }
    grant(&world, here, S("g"), S("a/b"), 0);
    for (size_t i = 0; i < 3; i++)
        check(&world, bot, 0, S("[\"chat\",\"a/b\"]"), 3);
    /* Others, and other topics, are others. */
    grant(&world, (struct rights_key){ S("u"), S("bot") }, S("g"), S("c/d"), 0);
    grant(&world, (struct rights_key){ S("t"), S("else") }, S("g"), S("c/d"), 0);
    check(&world, bot, 0, S("[\"chat\",\"a/b\"]"), 3);
    world_done(&world);
    identity_unref(bot);
    identity_unref(strong);
}

TEST(every_change_is_seen)
{
    struct world world;
    struct identity *bot = make_identity(S("bot"), S("chat"));

    world_init(&world);
    grant(&world, everywhere, S("g"), S("a/b"), 0);
    check(&world, bot, 0, S("[\"chat\",\"a/b\"]"), 1);
    strike(&world, here, S("a/b"));
    check(&world, bot, 0, S("[\"chat\"]"), 2);
    grant(&world, here, S("h"), S("a/b"), 0);
    check(&world, bot, 0, S("[\"chat\",\"a/b\"]"), 3);
    rights_end(world.rights, rights_find(world.rights, here, S("h")));
    check(&world, bot, 0, S("[\"chat\"]"), 4);
    strike(&world, everywhere, S("chat"));
    check(&world, bot, 0, S("[]"), 5);
    rights_forget(world.rights, S("bot"));
    check(&world, bot, 0, S("[\"chat\"]"), 6);
    world_done(&world);
    identity_unref(bot);
}

TEST(what_expires_is_not_remembered_longer)
{
    struct world world;
    struct identity *bot = make_identity(S("bot"), S("chat"));

    world_init(&world);
    grant(&world, here, S("g"), S("a/b"), 100);
    check(&world, bot, 98, S("[\"chat\",\"a/b\"]"), 1);
    check(&world, bot, 99, S("[\"chat\",\"a/b\"]"), 1);
    check(&world, bot, 100, S("[\"chat\"]"), 2);
    check(&world, bot, 101, S("[\"chat\"]"), 2);
    world_done(&world);
    identity_unref(bot);
}

TEST(those_asked_for_longest_ago_go_first)
{
    struct world world;
    struct identity *bot = make_identity(S("bot"), S("chat"));

    world_init(&world);
    for (size_t i = 0; i < 2 * HOLDINGS_MAX; i++) {
        char text[16];
        struct identity *other;

        (void)snprintf(text, sizeof(text), "p%zu", i);
        other = make_identity(str_of(text), S("chat"));
        (void)holdings_find(&world.holdings, S("t"), bot, 0);
        (void)holdings_find(&world.holdings, S("t"), other, 0);
        identity_unref(other);
    }
    CHECK_INT(world.holdings.by_key.count, HOLDINGS_MAX);
    CHECK_INT(world.holdings.worked_out, 2 * HOLDINGS_MAX + 1);
    world_done(&world);
    identity_unref(bot);
}
