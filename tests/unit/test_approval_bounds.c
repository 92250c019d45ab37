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
        ledger_enter(ledger, &env, env.text, &effect, wall_ms);
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
    ledger_enter(&ledger, &proposal, proposal.text, &effect, 0);
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

static const struct ledger_settings short_ones = {
    .mode = PROPOSALS_ONCE,
    .expiry_ms = 1000,
    .max_expiry_ms = 5000,
    .max_proposals = 100,
    .max_each = 100,
    .max_requests = 4,
    .max_bytes = 20,
    .max_each_bytes = 12,
};

static enum err propose(struct ledger *ledger, const char *from, const char *id,
                        struct str text, uint64_t wall_ms)
{
    struct envelope env = { .id = str_of(id), .from = str_of(from), .text = text };
    struct ledger_problem problem;
    struct ledger_effect effect;
    enum err err;

    CHECK_INT(kind_parse(S("mcp/proposal:x"), &env.kind), OK);
    err = ledger_judge(ledger, &env, wall_ms, &effect, &problem);
    if (err)
        CHECK_STR(str_of(problem.what),
                  S("the open proposals of this topic are too long together"));
    else
        ledger_enter(ledger, &env, text, &effect, wall_ms);
    return err;
}

TEST(the_envelopes_of_open_proposals_are_bounded_together)
{
    struct ledger ledger;

    ledger_init(&ledger, &short_ones);
    CHECK_INT(propose(&ledger, "a", "1", S("ten bytes."), 0), OK);
    CHECK_INT(propose(&ledger, "b", "2", S("eleven byte"), 0), ERR_UNAVAILABLE);
    CHECK_INT(propose(&ledger, "b", "2", S("ten bytes."), 0), OK);
    CHECK_INT(propose(&ledger, "c", "3", S("x"), 0), ERR_UNAVAILABLE);
    CHECK_INT(say(&ledger, "c", "mcp/reject", "4", "2", 0), OK);
    CHECK_INT(propose(&ledger, "c", "3", S("x"), 0), OK);
    CHECK_INT(ledger.bytes, 11);
    ledger_done(&ledger);
}

TEST(the_envelopes_of_one_proposer_are_bounded_below_that)
{
    struct ledger ledger;

    ledger_init(&ledger, &short_ones);
    CHECK_INT(propose(&ledger, "b", "0", S("five!"), 0), OK);
    CHECK_INT(propose(&ledger, "a", "1", S("ten bytes."), 0), OK);
    CHECK_INT(propose(&ledger, "a", "2", S("two"), 0), ERR_UNAVAILABLE);
    CHECK_INT(propose(&ledger, "a", "2", S("2!"), 0), OK);
    CHECK_INT(propose(&ledger, "b", "3", S("two"), 0), OK);
    ledger_done(&ledger);
}

TEST(what_has_expired_makes_room_for_envelopes_and_what_was_decided_stays_known)
{
    struct ledger ledger;

    ledger_init(&ledger, &short_ones);
    CHECK_INT(propose(&ledger, "a", "1", S("one"), 0), OK);
    CHECK_INT(say(&ledger, "b", "mcp/request:x", "2", "1", 0), OK);
    CHECK_INT(propose(&ledger, "a", "3", S("ten bytes."), 0), OK);
    CHECK_INT(propose(&ledger, "a", "4", S("ten bytes."), 999), ERR_UNAVAILABLE);
    CHECK_INT(propose(&ledger, "a", "4", S("ten bytes."), 1000), OK);
    CHECK_INT(ledger.bytes, 10);
    CHECK_INT(say(&ledger, "c", "mcp/request:x", "5", "1", 1000), ERR_PROPOSAL_STATE);
    CHECK_INT(say(&ledger, "c", "mcp/request:x", "5", "3", 1000), ERR_PROPOSAL_STATE);
    ledger_done(&ledger);
}
