/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/proposals.h"
#include "participant_ledger.h"

static struct str counted(const char *id, const char *rest)
{
    return hear("system:gateway", id, "system/proposal", rest);
}

TEST(the_gateway_counts_who_approves)
{
    begin();
    propose();
    CHECK_INT(find("p")->needed, 0);
    CHECK_INT(find("p")->given, 0);
    CHECK_STR(counted("c1", "\"payload\":{\"proposal\":\"p\",\"state\":\"open\","
                            "\"approvals\":{\"needed\":2,\"given\":1,\"by\":[\"ann\"]}}"),
              S("proposal p open\n"));
    CHECK_INT(find("p")->needed, 2);
    CHECK_INT(find("p")->given, 1);
    CHECK_INT(find("p")->approver_count, 1);
    CHECK_STR(find("p")->approvers[0], S("ann"));
    CHECK_STR(counted("c2", "\"payload\":{\"proposal\":\"p\",\"state\":\"open\","
                            "\"approvals\":{\"needed\":2,\"given\":2,"
                            "\"by\":[\"ann\",\"b\\u006fb\"]}}"),
              S("proposal p open\n"));
    CHECK_INT(find("p")->given, 2);
    CHECK_STR(find("p")->approvers[1], S("bob"));
    done();
}

TEST(nobody_but_the_gateway_counts)
{
    begin();
    propose();
    (void)hear(
        "eve", "c", "system/proposal",
        "\"payload\":{\"proposal\":\"p\",\"approvals\":{\"needed\":1,\"given\":1}}");
    CHECK_INT(find("p")->given, 0);
    done();
}

TEST(the_welcome_says_how_many_have_approved)
{
    begin();
    fake_hear_from(&fake, "system:gateway", "w", "system/welcome",
                   "\"to\":[\"bot\"],\"payload\":{\"you\":{\"id\":\"bot\","
                   "\"capabilities\":[\"mcp/*\"]},\"participants\":[],\"moot\":{"
                   "\"proposals\":[{\"id\":\"p\",\"proposer\":\"agent\",\"kind\":"
                   "\"" PROPOSAL "\",\"approvals\":{\"needed\":3,\"given\":1,\"by\":["
                   "\"ann\",7,\"\"]}}]}}");
    CHECK_INT(find("p")->needed, 3);
    CHECK_INT(find("p")->given, 1);
    CHECK_INT(find("p")->approver_count, 1);
    done();
}

TEST(what_the_welcome_has_counted_is_not_counted_back)
{
    begin();
    fake_hear_from(&fake, "system:gateway", "w", "system/welcome",
                   "\"ts\":\"2026-11-16T15:22:25.829Z\",\"to\":[\"bot\"],\"payload\":{"
                   "\"you\":{\"id\":\"bot\",\"capabilities\":[\"mcp/*\"]},"
                   "\"participants\":[],\"moot\":{\"proposals\":[{\"id\":\"p\","
                   "\"proposer\":\"agent\",\"kind\":\"" PROPOSAL "\",\"approvals\":{"
                   "\"needed\":3,\"given\":2,\"by\":[\"ann\",\"ben\"]}}]}}");
    (void)counted("c1", "\"ts\":\"2026-11-16T15:22:25.815Z\",\"payload\":{\"proposal\":"
                        "\"p\",\"state\":\"open\",\"approvals\":{\"needed\":3,"
                        "\"given\":1,\"by\":[\"ann\"]}}");
    CHECK_INT(find("p")->given, 2);
    CHECK_INT(find("p")->approver_count, 2);
    (void)counted("c2", "\"ts\":\"2026-11-16T15:22:25.829Z\",\"payload\":{\"proposal\":"
                        "\"p\",\"state\":\"open\",\"approvals\":{\"needed\":3,"
                        "\"given\":3,\"by\":[\"ann\",\"ben\",\"cyd\"]}}");
    CHECK_INT(find("p")->given, 3);
    (void)counted("c3", "\"ts\":\"2026-11-16T15:22:25.820Z\",\"payload\":{\"proposal\":"
                        "\"p\",\"state\":\"rejected\",\"by\":\"ann\"}");
    CHECK_INT(find("p")->state, PROPOSED_REJECTED); /* ends are never taken back */
    done();
}

TEST(who_proposed_hears_of_each_approval)
{
    begin();
    CHECK_INT(occupant_request(fake.occupant,
                               &(struct asking){ .method = S("ping"),
                                                 .how = ASK_PROPOSE,
                                                 .ops = fake_ask,
                                                 .user = &fake },
                               fake.now, NULL, NULL),
              OK);
    CHECK_STR(counted("c1", "\"payload\":{\"proposal\":\"me-1\",\"state\":\"open\","
                            "\"approvals\":{\"needed\":2,\"given\":1,\"by\":[\"ann\"]}}"),
              S("progress me-1 proposed\nprogress me-1 approved by ann 1/2\n"
                "proposal me-1 open\n"));
    /* the same again is no news */
    CHECK_STR(counted("c2", "\"payload\":{\"proposal\":\"me-1\",\"state\":\"open\","
                            "\"approvals\":{\"needed\":2,\"given\":1,\"by\":[\"ann\"]}}"),
              S(""));
    done();
}

static void cancel_and_propose(struct fake_seat *seat)
{
    CHECK_INT(occupant_cancel(seat->occupant, S("me-1"), S(""), seat->now), OK);
    for (int i = 0; i < 3; i++)
        (void)occupant_request(
            seat->occupant, &(struct asking){ .method = S("ping"), .how = ASK_PROPOSE },
            seat->now, NULL, NULL);
}

static void on_approval(void *user, const struct progress *progress)
{
    if (progress->type == ASK_APPROVED)
        cancel_and_propose(user);
}

TEST(who_hears_of_an_approval_may_take_it_back)
{
    begin_with(&(struct occupant_settings){ .limits = { .proposals = 1 } });
    CHECK_INT(occupant_request(fake.occupant,
                               &(struct asking){ .method = S("ping"),
                                                 .how = ASK_PROPOSE,
                                                 .ops = { .on_progress = on_approval },
                                                 .user = &fake },
                               fake.now, NULL, NULL),
              OK);
    (void)counted("c1", "\"payload\":{\"proposal\":\"me-1\",\"state\":\"open\","
                        "\"approvals\":{\"needed\":2,\"given\":1,\"by\":[\"ann\"]}}");
    CHECK(!occupant_find_proposal(fake.occupant, S("me-1")));
    done();
}

TEST(a_fulfilment_that_comes_too_early_tells_how_many_are_missing)
{
    begin();
    propose();
    CHECK_INT(occupant_fulfil(fake.occupant, &on_p, fake.now, NULL), OK);
    CHECK_INT(find("p")->state, PROPOSED_FULFILLED);
    fake_hear_from(
        &fake, "system:gateway", "x1", "system/error",
        "\"to\":[\"bot\"]," ABOUT(
            "me-1") "\"payload\":{\"error\":"
                    "\"proposal_state\",\"message\":\"no\",\"needed\":3,\"given\":1}");
    CHECK_INT(find("p")->state, PROPOSED_OPEN);
    CHECK_INT(find("p")->needed, 3);
    CHECK_INT(find("p")->given, 1);
    done();
}

TEST(a_refusal_without_counts_changes_none)
{
    begin();
    propose();
    (void)counted("c1", "\"payload\":{\"proposal\":\"p\",\"state\":\"open\","
                        "\"approvals\":{\"needed\":2,\"given\":1,\"by\":[\"ann\"]}}");
    CHECK_INT(occupant_reject(fake.occupant, &on_p, fake.now, NULL), OK);
    REFUSE("me-1");
    CHECK_INT(find("p")->given, 1);
    CHECK_INT(find("p")->approver_count, 1);
    done();
}

/* --- authorizations --- */

TEST(an_authorization_may_hold_for_a_while)
{
    struct deciding deciding = on_p;

    begin();
    announce();
    deciding.valid_until_ms = NOON + 3600'000;
    CHECK_INT(occupant_approve(fake.occupant, &deciding, fake.now, NULL), OK);
    CHECK_STR(fake_sent(&fake),
              S(HEAD("me-1") TO_SRV
                "\"kind\":\"" RESPONDS "\",\"correlation_id\":\"p\",\"payload\":{"
                "\"jsonrpc\":\"2.0\",\"method\":\"authorization/respond\",\"params\":{"
                "\"authorizationId\":\"a1\",\"decision\":\"approve\",\"reason\":\"so\","
                "\"validUntil\":\"2027-01-15T09:00:00.000Z\"}}}\n"));
    done();
}

TEST(an_authorization_is_left_to_somebody_else)
{
    static const struct {
        struct str id, to;
        enum err err;
        const char *why;
    } cases[] = {
        { S("p"), S("ann"), OK, "" },
        { S("p"), S(""), ERR_INVALID, "it is not said who is to decide" },
        { S("p"), S("agent"), ERR_INVALID, "it is to be decided by somebody else" },
        { S("p"), S("srv"), ERR_INVALID, "it is to be decided by somebody else" },
        { S("p"), S("bot"), ERR_INVALID, "it is to be decided by somebody else" },
        { S("x"), S("ann"), ERR_PROPOSAL_STATE, "only an authorization is delegated" },
        { S("y"), S("ann"), ERR_NOT_FOUND, "no such proposal is known" },
    };

    FOR_EACH_CASE(c, cases) {
        struct deciding deciding = { .id = c->id, .to = c->to };
        const char *why = "";

        begin();
        announce();
        (void)hear("agent", "x", PROPOSAL, TO_SRV PROPOSES);
        CHECK_INT(occupant_delegate(fake.occupant, &deciding, fake.now, &why), c->err);
        CHECK_STR(str_of(why), str_of(c->why));
        CHECK_INT(fake.sent_count, c->err == OK);
        CHECK_INT(find("p")->state, PROPOSED_OPEN);
        if (!c->err)
            CHECK(str_ends(fake_sent(&fake), S("\"params\":{\"authorizationId\":\"a1\","
                                               "\"decision\":\"delegate\","
                                               "\"delegate\":\"ann\"}}}\n")));
        done();
    }
}

TEST(what_one_is_asked_others_do_not_decide)
{
    const char *why = "";

    begin();
    (void)hear("srv", "p", ANNOUNCES, "\"to\":[\"ann\"]," ANNOUNCE(WANTS));
    CHECK_STR(find("p")->asked, S("ann"));
    CHECK_INT(occupant_fulfil(fake.occupant, &on_p, fake.now, &why), ERR_PROPOSAL_STATE);
    CHECK_STR(str_of(why), S("somebody else is asked to decide"));
    (void)hear("eve", "d1", RESPONDS,
               RESPOND("\"authorizationId\":\"a1\",\"decision\":\"approve\""));
    CHECK_INT(find("p")->state, PROPOSED_OPEN);
    (void)hear("ann", "d2", RESPONDS,
               RESPOND("\"authorizationId\":\"a1\",\"decision\":\"delegate\","
                       "\"delegate\":\"bot\""));
    CHECK_INT(find("p")->state, PROPOSED_OPEN);
    /* … and its owner asks us */
    CHECK_STR(hear("srv", "p2", ANNOUNCES, "\"to\":[\"bot\"]," ANNOUNCE(WANTS)),
              S("proposal p withdrawn\nproposal p2 open\n"));
    CHECK_STR(find("p")->by, S("srv"));
    CHECK_INT(occupant_fulfil(fake.occupant, &(struct deciding){ .id = S("p2") },
                              fake.now, NULL),
              OK);
    done();
}

TEST(only_its_owner_announces_again)
{
    begin();
    announce();
    (void)hear("eve", "p2", ANNOUNCES, ANNOUNCE(WANTS));
    (void)hear("srv", "p3", ANNOUNCES,
               ANNOUNCE("\"id\":\"a2\",\"tool\":\"rm\",\"requester\":\"agent\""));
    CHECK_INT(find("p")->state, PROPOSED_OPEN);
    CHECK_INT(find("p2")->state, PROPOSED_OPEN);
    CHECK_INT(find("p3")->state, PROPOSED_OPEN);
    done();
}

/* --- who came later --- */

static void ask_for_list(void)
{
    CHECK_INT(occupant_request(fake.occupant,
                               &(struct asking){ .to = S("srv"),
                                                 .method = S("authorization/list"),
                                                 .how = ASK_CALL,
                                                 .ops = { .on_done = fake_ask.on_done },
                                                 .user = &fake },
                               fake.now, NULL, NULL),
              OK);
    (void)fake_sent(&fake);
}

static struct str list(const char *from, const char *id, const char *pending)
{
    struct buf rest;
    struct str told;

    buf_init(&rest, 1 << 20);
    buf_putf(&rest,
             ABOUT("me-1") "\"to\":[\"bot\"],\"payload\":{\"jsonrpc\":\"2.0\",\"id\":"
                           "\"me-1\",\"result\":{\"pending\":%s}}",
             pending);
    told = hear(from, id, "mcp/response:authorization/list", buf_cstr(&rest));
    told = str_slice(told, 0, str_find(told, '=', 0));
    buf_done(&rest);
    return told;
}

#define PENDING                                                                      \
    "\"authorizationId\":\"a1\",\"tool\":\"rm\",\"requester\":\"agent\",\"reason\":" \
    "\"big\",\"expiresAt\":\"2027-01-15T08:01:00Z\""

TEST(an_owner_tells_what_is_pending)
{
    begin();
    ask_for_list();
    CHECK_STR(list("srv", "l",
                   "[{" PENDING ",\"arguments\":{\"f\":1}},{" PENDING
                   ",\"arguments\":{}},"
                   "{\"authorizationId\":\"a2\",\"announcement\":\"n2\",\"tool\":\"rm\","
                   "\"requester\":\"agent\",\"delegate\":\"ann\"},"
                   "{\"authorizationId\":\"\"},7]"),
              S("proposal srv/a1 open\nproposal n2 open\ndone me-1 result by srv "));
    CHECK_STR(find("srv/a1")->owner, S("srv"));
    CHECK_STR(find("srv/a1")->proposer, S("agent"));
    CHECK_STR(find("srv/a1")->params, S("{\"name\":\"rm\",\"arguments\":{\"f\":1}}"));
    CHECK_STR(find("srv/a1")->reason, S("big"));
    CHECK_INT(find("srv/a1")->expires_ms, NOON + 60'000);
    CHECK_STR(find("n2")->authorization_id, S("a2"));
    CHECK_STR(find("n2")->asked, S("ann"));
    CHECK_STR(find("n2")->params, S("")); /* nothing is approved unseen */
    CHECK(!occupant_find_proposal(fake.occupant, S("a2")));
    done();
}

TEST(what_was_only_listed_is_answered_without_an_announcement)
{
    begin();
    ask_for_list();
    (void)list("srv", "l", "[{" PENDING ",\"arguments\":{}}]");
    (void)fake_told(&fake);
    CHECK_INT(occupant_approve(fake.occupant, &(struct deciding){ .id = S("srv/a1") },
                               fake.now, NULL),
              OK);
    CHECK_STR(fake_sent(&fake),
              S(HEAD("me-2") TO_SRV
                "\"kind\":\"" RESPONDS "\",\"payload\":{"
                "\"jsonrpc\":\"2.0\",\"method\":\"authorization/respond\",\"params\":{"
                "\"authorizationId\":\"a1\",\"decision\":\"approve\"}}}\n"));
    CHECK_INT(find("srv/a1")->state, PROPOSED_FULFILLED);
    done();
}

TEST(what_others_answer_to_what_was_listed_is_seen)
{
    begin();
    ask_for_list();
    (void)list("srv", "l", "[{" PENDING ",\"arguments\":{}}]");
    (void)hear("ann", "d", RESPONDS,
               ABOUT("n") TO_SRV
               "\"payload\":{\"method\":\"authorization/respond\",\"params\":{"
               "\"authorizationId\":\"a1\",\"decision\":\"deny\",\"reason\":\"no\"}}");
    CHECK_INT(find("srv/a1")->state, PROPOSED_REJECTED);
    CHECK_STR(find("srv/a1")->by, S("ann"));
    done();
}

TEST(a_list_that_nobody_asked_for_is_none)
{
    begin();
    CHECK_STR(list("srv", "l", "[{" PENDING ",\"arguments\":{}}]"), S(""));
    CHECK(!occupant_find_proposal(fake.occupant, S("srv/a1")));
    ask_for_list();
    (void)list("eve", "l2", "[{" PENDING ",\"arguments\":{}}]");
    CHECK(!occupant_find_proposal(fake.occupant, S("srv/a1")));
    done();
}

TEST(what_was_announced_is_not_listed_again)
{
    begin();
    announce();
    ask_for_list();
    CHECK_STR(list("srv", "l", "[{" PENDING ",\"arguments\":{}}]"),
              S("done me-1 result by srv "));
    (void)hear("srv", "p2", ANNOUNCES, "\"to\":[\"ann\"]," ANNOUNCE(WANTS));
    CHECK_INT(find("p")->state, PROPOSED_WITHDRAWN);
    CHECK_STR(find("p2")->asked, S("ann"));
    done();
}

TEST(nobody_fills_the_ledger_with_a_list)
{
    struct buf pending;
    size_t open = 0;

    begin();
    ask_for_list();
    buf_init(&pending, 1 << 20);
    for (int i = 0; i < 100; i++)
        buf_putf(&pending,
                 "%c{\"authorizationId\":\"a%d\",\"tool\":\"t\",\"requester\":\"r\"}",
                 i ? ',' : '[', i);
    buf_putc(&pending, ']');
    (void)list("srv", "l", buf_cstr(&pending));
    buf_done(&pending);
    for (const struct proposed *p = NULL;
         (p = occupant_next_proposal(fake.occupant, p)) != NULL;)
        open++;
    CHECK_INT(open, 5); /* a quarter, and one */
    done();
}
