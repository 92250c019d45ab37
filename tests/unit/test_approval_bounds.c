/* SPDX-License-Identifier: Apache-2.0 */
/* What one proposer can make the ledger keep. */
#include <stdio.h>

#include "approval/ledger.h"
#include "harness.h"

static const struct ledger_settings settings = {
    .mode = PROPOSALS_ONCE,
    .expiry_ms = 1000,
    .max_expiry_ms = 5000,
    .max_proposals = 4,
    .max_each = 2,
    .max_requests = 4,
};

/* Judges and, where that allows it, enters. */
static enum err say(struct ledger *ledger, const char *from, const char *kind,
                    const char *id, const char *cites, uint64_t wall_ms)
{
    struct envelope env = { .id = str_of(id), .from = str_of(from) };
    struct ledger_problem problem;
    struct ledger_effect effect;
    enum err err;

    if (cites)
        env.correlation_id = str_of(cites);
    if (kind_parse(str_of(kind), &env.kind))
        return ERR_MALFORMED_KIND;
    err = ledger_judge(ledger, &env, wall_ms, &effect, &problem);
    if (!err)
        ledger_enter(ledger, &env, &effect, wall_ms);
    return err;
}

TEST(nobody_takes_the_room_of_all_others)
{
    struct ledger ledger;

    ledger_init(&ledger, &settings);
    CHECK_INT(say(&ledger, "a", "mcp/proposal:x", "1", NULL, 0), OK);
    CHECK_INT(say(&ledger, "a", "mcp/proposal:x", "2", NULL, 0), OK);
    CHECK_INT(say(&ledger, "a", "mcp/proposal:x", "3", NULL, 0), ERR_UNAVAILABLE);
    CHECK_INT(say(&ledger, "b", "mcp/proposal:x", "3", NULL, 0), OK);
    CHECK_INT(say(&ledger, "a", "mcp/withdraw", "4", "1", 0), OK);
    CHECK_INT(say(&ledger, "a", "mcp/proposal:x", "5", NULL, 0), OK);
    ledger_done(&ledger);
}

TEST(closed_proposals_make_room)
{
    struct ledger ledger;

    ledger_init(&ledger, &settings);
    CHECK_INT(say(&ledger, "a", "mcp/proposal:x", "1", NULL, 0), OK);
    CHECK_INT(say(&ledger, "b", "mcp/proposal:x", "2", NULL, 0), OK);
    CHECK_INT(say(&ledger, "c", "mcp/proposal:x", "3", NULL, 0), OK);
    CHECK_INT(say(&ledger, "d", "mcp/proposal:x", "4", NULL, 0), OK);
    CHECK_INT(say(&ledger, "e", "mcp/proposal:x", "5", NULL, 0), ERR_UNAVAILABLE);
    CHECK_INT(say(&ledger, "e", "mcp/reject", "6", "2", 0), OK);
    CHECK_INT(say(&ledger, "e", "mcp/proposal:x", "7", NULL, 0), OK);
    CHECK(!ledger_find(&ledger, S("2"), 0));
    ledger_done(&ledger);
}

TEST(the_id_of_a_closed_proposal_may_be_used_again)
{
    struct ledger ledger;

    ledger_init(&ledger, &settings);
    CHECK_INT(say(&ledger, "a", "mcp/proposal:x", "1", NULL, 0), OK);
    CHECK_INT(say(&ledger, "a", "mcp/withdraw", "2", "1", 0), OK);
    CHECK_INT(say(&ledger, "b", "mcp/proposal:y", "1", NULL, 10), OK);
    CHECK_INT(say(&ledger, "c", "mcp/proposal:x", "3", NULL, 10), OK);
    CHECK_INT(say(&ledger, "d", "mcp/proposal:x", "4", NULL, 10), OK);
    CHECK_INT(say(&ledger, "e", "mcp/proposal:x", "5", NULL, 10), OK);
    CHECK_INT(say(&ledger, "f", "mcp/proposal:x", "6", NULL, 10),
              ERR_UNAVAILABLE); /* sweeps */
    CHECK(ledger_find(&ledger, S("1"), 10));
    CHECK_INT(say(&ledger, "b", "mcp/withdraw", "7", "1", 10), OK);
    ledger_done(&ledger);
}

TEST(a_fulfilment_names_the_same_addressees_in_the_same_order)
{
    static const struct str both[] = { S("x"), S("y") };
    static const struct str turned[] = { S("y"), S("x") };
    static const struct str joined[] = { S("xy") };
    static const struct {
        const struct str *to;
        size_t count;
        int effect;
    } cases[] = {
        { both, 2, EFFECT_FULFIL },    { turned, 2, EFFECT_REQUEST },
        { joined, 1, EFFECT_REQUEST }, { both, 1, EFFECT_REQUEST },
        { NULL, 0, EFFECT_REQUEST },
    };
    struct envelope proposal = {
        .id = S("1"), .from = S("a"), .to = both, .to_count = 2
    };
    struct ledger_problem problem;
    struct ledger_effect effect;
    struct ledger ledger;

    ledger_init(&ledger, &settings);
    CHECK_INT(kind_parse(S("mcp/proposal:x"), &proposal.kind), OK);
    CHECK_INT(ledger_judge(&ledger, &proposal, 0, &effect, &problem), OK);
    ledger_enter(&ledger, &proposal, &effect, 0);
    FOR_EACH_CASE(c, cases) {
        struct envelope request = { .id = S("2"),
                                    .from = S("b"),
                                    .correlation_id = S("1"),
                                    .to = c->to,
                                    .to_count = c->count };

        CHECK_INT(kind_parse(S("mcp/request:x"), &request.kind), OK);
        CHECK_INT(ledger_judge(&ledger, &request, 0, &effect, &problem), OK);
        CHECK_INT(effect.type, c->effect);
    }
    ledger_done(&ledger);
}
