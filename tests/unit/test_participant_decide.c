/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "participant_ledger.h"

/* --- proposals --- */

TEST(fulfilling_makes_the_call_that_was_proposed)
{
    struct deciding deciding = on_p;

    begin();
    propose();
    deciding.ops.on_done = fake_ask.on_done;
    CHECK_INT(occupant_fulfil(fake.occupant, &deciding, fake.now, NULL), OK);
    CHECK_STR(fake_sent(&fake),
              S(HEAD("me-1") TO_SRV
                "\"kind\":\"" CALL "\",\"correlation_id\":\"p\",\"payload\":{\"jsonrpc\":"
                "\"2.0\",\"id\":\"me-1\",\"method\":\"tools/call\",\"params\":{\"name\":"
                "\"rm\",\"arguments\":{\"f\":\"a b\"}}}}\n"));
    CHECK_INT(find("p")->state, PROPOSED_FULFILLED);
    CHECK_STR(find("p")->by, S("bot"));
    CHECK_INT(occupant_due_ms(fake.occupant), 0);
    CHECK_TOLD("");
    fake_tick(&fake, 0);
    CHECK_TOLD("proposal p fulfilled\n");
    CHECK_INT(occupant_fulfil(fake.occupant, &deciding, fake.now, NULL),
              ERR_PROPOSAL_STATE);
    CHECK_STR(hear("srv", "r", "mcp/response:tools/call:rm",
                   ABOUT("me-1") "\"payload\":{\"id\":\"me-1\",\"result\":1}"),
              S("done me-1 result by srv = 1\n"));
    done();
}

TEST(a_rule_allows_what_capabilities_do_not)
{
    static const struct {
        const char *capabilities;
        struct str params;
        enum err err;
    } cases[] = {
        { "[\"rule/use\"]", S(""), OK },
        { "[\"chat\"]", S(""), ERR_FORBIDDEN },
        { "[\"mcp/*\"]", S(""), ERR_FORBIDDEN },
        { "[\"rule/use\"]", S("{\"name\":\"rm\"}"), ERR_INVALID },
    };

    FOR_EACH_CASE(c, cases) {
        struct deciding deciding = on_p;

        fake_seat_init(&fake, &(struct occupant_settings){});
        fake_seat_welcome(&fake, c->capabilities, "");
        propose();
        deciding.rule = S("r-1");
        deciding.params = c->params;
        CHECK_INT(occupant_fulfil(fake.occupant, &deciding, fake.now, NULL), c->err);
        if (!c->err)
            CHECK(strstr(fake_sent(&fake).ptr, ",\"rule\":\"r-1\",\"payload\""));
        CHECK_INT(fake.sent_count, !c->err);
        done();
    }
}

TEST(a_fulfilment_says_whether_it_was_edited)
{
    static const struct {
        struct str params;
        bool is_edited;
    } cases[] = {
        { S(""), false },
        { S("{\"name\":\"rm\",\"arguments\":{\"f\":\"a b\"}}"), false },
        { S(" { \"name\" : \"rm\" ,\n\"arguments\":{\t\"f\":\"a b\" } }\r"), false },
        { S("{\"name\":\"rm\",\"arguments\":{\"f\":\"ab\"}}"), true },
        { S("{\"name\":\"rm\",\"arguments\":{\"f\":\"a  b\"}}"), true },
        { S("{\"name\":\"rm\",\"arguments\":{\"f\":\"a b\\\" \"}}"), true },
        { S("{\"name\":\"rm\"}"), true },
        { S("{\"name\":\"rm\",\"arguments\":{\"f\":\"a b\"},\"x\":1}"), true },
    };

    FOR_EACH_CASE(c, cases) {
        struct deciding deciding = on_p;

        begin();
        propose();
        deciding.params = c->params;
        CHECK_INT(occupant_fulfil(fake.occupant, &deciding, fake.now, NULL), OK);
        CHECK_INT(strstr(fake_sent(&fake).ptr, ",\"edited\":true,") != NULL,
                  c->is_edited);
        done();
    }
}

TEST(what_others_read_differently_is_not_fulfilled)
{
    static const char twice[] =
        "\"payload\":{\"method\":\"tools/call\",\"params\":{\"name\":\"rm\","
        "\"arguments\":{\"f\":\"/tmp/x\",\"\\u0066\":\"/\"}}}";
    struct deciding deciding = on_p;
    const char *why = "";

    begin();
    CHECK_STR(hear("agent", "p", PROPOSAL, twice), S("proposal p open\n"));
    deciding.to = S("srv");
    CHECK_INT(occupant_fulfil(fake.occupant, &deciding, fake.now, &why), ERR_INVALID);
    CHECK_STR(str_of(why), S("a name stands twice in params, or too deeply"));
    deciding.params = S("{\"name\":\"rm\"}");
    CHECK_INT(occupant_fulfil(fake.occupant, &deciding, fake.now, &why), OK);
    done();
}

TEST(white_space_in_strings_is_compared)
{
    static const struct {
        const char *proposed, *params;
        bool is_edited;
    } cases[] = {
        { "\"\\\\\",\"b\":\" x\"", "\"\\\\\", \"b\": \" x\"", false },
        { "\"\\\\\",\"b\":\" x\"", "\"\\\\\",\"b\":\"x\"", true },
        { "\"\\\" x\"", "\"\\\" x\"", false },
        { "\"\\\" x\"", "\"\\\"x\"", true },
        { "\"\\\\\\\" x\"", "\"\\\\\\\"x\"", true },
    };

    FOR_EACH_CASE(c, cases) {
        struct deciding deciding = on_p;
        char rest[512], params[256];

        begin();
        (void)snprintf(params, sizeof(params), "{\"name\":\"rm\",\"a\":%s}", c->proposed);
        (void)snprintf(rest, sizeof(rest),
                       TO_SRV "\"payload\":{\"method\":\"tools/call\",\"params\":%s}",
                       params);
        (void)hear("agent", "p", PROPOSAL, rest);
        (void)snprintf(params, sizeof(params), "{\"name\":\"rm\",\"a\":%s}", c->params);
        deciding.params = str_of(params);
        CHECK_INT(occupant_fulfil(fake.occupant, &deciding, fake.now, NULL), OK);
        CHECK_INT(strstr(fake_sent(&fake).ptr, "\"edited\":true") != NULL, c->is_edited);
        done();
    }
}

TEST(what_is_edited_must_be_an_object)
{
    static const struct str cases[] = { S("[]"), S("{"), S("{}},\"x\":{") };

    FOR_EACH_CASE(c, cases) {
        struct deciding deciding = on_p;
        const char *why = "";

        begin();
        propose();
        deciding.params = *c;
        CHECK_INT(occupant_fulfil(fake.occupant, &deciding, fake.now, &why), ERR_INVALID);
        CHECK_STR(str_of(why), S("params is not a JSON object"));
        CHECK_INT(fake.sent_count, 0);
        done();
    }
}

TEST(whom_to_ask_is_said_once)
{
    static const struct {
        const char *proposed;
        struct str to;
        enum err err;
        struct str why;
        const char *sent;
    } cases[] = {
        { "", S("srv"), OK, S(""), "\"to\":[\"srv\"]" },
        { "", S(""), ERR_INVALID, S("it is not said who is asked"), "" },
        { TO_SRV, S("srv"), OK, S(""), "\"to\":[\"srv\"]" },
        { TO_SRV, S("eve"), ERR_INVALID, S("the proposal says who is asked"), "" },
        { "\"to\":[\"a\",\"b\"],", S(""), OK, S(""), "\"to\":[\"a\",\"b\"]" },
        { "\"to\":[\"a\",\"b\"],", S("a"), ERR_INVALID,
          S("the proposal says who is asked"), "" },
    };

    FOR_EACH_CASE(c, cases) {
        struct deciding deciding = on_p;
        const char *why = "";
        char rest[512];

        begin();
        (void)snprintf(rest, sizeof(rest), "%s" PROPOSES, c->proposed);
        (void)hear("agent", "p", PROPOSAL, rest);
        deciding.to = c->to;
        CHECK_INT(occupant_fulfil(fake.occupant, &deciding, fake.now, &why), c->err);
        CHECK_STR(str_of(why), c->why);
        CHECK(strstr(buf_cstr(&fake.sent), c->sent));
        CHECK_INT(fake.sent_count, c->err ? 0 : 1);
        done();
    }
}

TEST(who_of_several_answers_a_fulfilment_ends_it)
{
    struct deciding deciding = on_p;

    begin();
    (void)hear("agent", "p", PROPOSAL, "\"to\":[\"a\",\"b\"]," PROPOSES);
    deciding.ops.on_done = fake_ask.on_done;
    CHECK_INT(occupant_fulfil(fake.occupant, &deciding, fake.now, NULL), OK);
    fake_tick(&fake, 0);
    (void)fake_told(&fake);
    CHECK_STR(hear("c", "r1", "mcp/response:tools/call:rm",
                   ABOUT("me-1") "\"payload\":{\"id\":\"me-1\",\"result\":1}"),
              S("offence 1 c: foreign_response, from\n"));
    CHECK_STR(hear("b", "r2", "mcp/response:tools/call:rm",
                   ABOUT("me-1") "\"payload\":{\"id\":\"me-1\",\"result\":2}"),
              S("done me-1 result by b = 2\n"));
    CHECK_STR(hear("a", "r3", "mcp/response:tools/call:rm",
                   ABOUT("me-1") "\"payload\":{\"id\":\"me-1\",\"result\":3}"),
              S(""));
    done();
}

TEST(a_word_on_a_proposal)
{
    struct deciding deciding = on_p;

    begin();
    propose();
    deciding.ops.on_done = fake_ask.on_done;
    CHECK_INT(occupant_approve(fake.occupant, &deciding, fake.now, NULL), OK);
    CHECK_STR(fake_sent(&fake),
              S(HEAD("me-1") "\"kind\":\"mcp/approve\",\"correlation_id\":\"p\","
                             "\"payload\":{\"reason\":\"so\"}}\n"));
    CHECK_INT(find("p")->state, PROPOSED_OPEN);
    CHECK_INT(occupant_reject(fake.occupant, &deciding, fake.now, NULL), OK);
    CHECK_STR(fake_sent(&fake),
              S(HEAD("me-2") "\"kind\":\"mcp/reject\",\"correlation_id\":\"p\","
                             "\"payload\":{\"reason\":\"so\"}}\n"));
    CHECK_INT(find("p")->state, PROPOSED_REJECTED);
    CHECK_STR(find("p")->reason, S("so"));
    fake_judge(&fake);
    fake_judge(&fake);
    CHECK_TOLD("done me-1 sent\ndone me-2 sent\n");
    done();
}

TEST(not_everything_is_ours_to_decide)
{
    const char *why = "";

    begin();
    CHECK_INT(occupant_reject(fake.occupant, &on_p, fake.now, &why), ERR_NOT_FOUND);
    CHECK_STR(str_of(why), S("no such proposal is known"));
    (void)hear("bot", "p", PROPOSAL, TO_SRV PROPOSES); /* of another connection of ours */
    CHECK(find("p")->is_mine);
    CHECK_INT(occupant_reject(fake.occupant, &on_p, fake.now, &why), ERR_PROPOSAL_STATE);
    CHECK_STR(str_of(why), S("nobody decides on what he asked for"));
    CHECK_INT(occupant_fulfil(fake.occupant, &on_p, fake.now, &why), ERR_PROPOSAL_STATE);
    CHECK_INT(occupant_approve(fake.occupant, &on_p, fake.now, &why), ERR_PROPOSAL_STATE);
    done();
    begin();
    propose();
    fake.now.wall_ms += 300'000; /* nobody has noticed yet */
    CHECK_INT(occupant_fulfil(fake.occupant, &on_p, fake.now, &why), ERR_PROPOSAL_STATE);
    CHECK_STR(str_of(why), S("it is no longer open"));
    CHECK_STR(fake_sent(&fake), S(""));
    done();
    fake_seat_init(&fake, &(struct occupant_settings){});
    fake_seat_welcome(&fake, "[\"mcp/reject\"]", "");
    propose();
    CHECK_INT(occupant_fulfil(fake.occupant, &on_p, fake.now, &why), ERR_FORBIDDEN);
    CHECK_INT(find("p")->state, PROPOSED_OPEN);
    CHECK_INT(occupant_reject(fake.occupant, &on_p, fake.now, &why), OK);
    CHECK_INT(fake.fence, 0); /* nobody wants to know */
    done();
    begin_with(&(struct occupant_settings){ .limits = { .calls = 1 } });
    propose();
    CHECK_INT(occupant_approve(
                  fake.occupant,
                  &(struct deciding){ .id = S("p"), .ops = fake_ask, .user = &fake },
                  fake.now, &why),
              OK);
    CHECK_INT(occupant_fulfil(fake.occupant, &on_p, fake.now, &why), ERR_OVERLOAD);
    done();
}

TEST(a_decision_that_is_refused_was_none)
{
    struct deciding deciding = on_p;

    begin();
    propose();
    deciding.ops.on_done = fake_ask.on_done;
    CHECK_INT(occupant_reject(fake.occupant, &deciding, fake.now, NULL), OK);
    fake_tick(&fake, 0);
    (void)fake_told(&fake);
    REFUSE("me-1");
    fake_tick(&fake, 0);
    CHECK_TOLD("heard system/error to me\ndone me-1 refused by system:gateway "
               "proposal_state: no = {\"error\":\"proposal_state\",\"message\":\"no\"}\n"
               "proposal p open\n");
    CHECK_STR(find("p")->by, S(""));
    CHECK_STR(find("p")->reason, S("full"));
    CHECK_INT(occupant_fulfil(fake.occupant, &deciding, fake.now, NULL), OK);
    CHECK_INT(find("p")->state, PROPOSED_FULFILLED);
    REFUSE("me-2");
    CHECK_INT(find("p")->state, PROPOSED_OPEN);
    fake_tick(&fake, 300'000);
    CHECK_INT(find("p")->state, PROPOSED_EXPIRED);
    done();
}

TEST(a_refusal_of_something_else_changes_nothing)
{
    begin();
    CHECK_STR(hear("eve", "me-1", PROPOSAL, TO_SRV PROPOSES), S("proposal me-1 open\n"));
    propose();
    (void)hear("ann", "d", "mcp/reject", ABOUT("p") "\"payload\":{}");
    CHECK_INT(occupant_notify(fake.occupant, S(""), S("notifications/x"), S(""), fake.now,
                              NULL),
              OK);
    REFUSE("me-1");
    fake_hear_gateway(&fake, "system/error",
                      "\"error\":\"malformed_envelope\",\"message\":\"no\"");
    fake_tick(&fake, 0);
    CHECK_INT(find("me-1")->state, PROPOSED_OPEN);
    CHECK_INT(find("p")->state, PROPOSED_REJECTED);
    done();
}

TEST(who_was_faster_decided)
{
    begin();
    propose();
    CHECK_INT(occupant_reject(fake.occupant, &on_p, fake.now, NULL), OK);
    CHECK_STR(hear("ann", "d", CALL, ABOUT("p") TO_SRV CALLS),
              S("proposal p fulfilled\n"));
    CHECK_STR(find("p")->by, S("ann"));
    CHECK_STR(find("p")->reason, S("full")); /* not why we said no */
    REFUSE("me-1");
    CHECK_INT(find("p")->state, PROPOSED_FULFILLED);
    done();
}

TEST(we_hear_of_our_own_decision_once)
{
    begin_with(&(struct occupant_settings){ .hears_itself = true });
    propose();
    CHECK_INT(occupant_reject(fake.occupant, &on_p, fake.now, NULL), OK);
    fake_tick(&fake, 0);
    CHECK_TOLD("proposal p rejected\n");
    CHECK_STR(hear("bot", "me-1", "mcp/reject", ABOUT("p") "\"payload\":{}"), S(""));
    CHECK_STR(hear("ann", "d", CALL, ABOUT("p") TO_SRV CALLS), S(""));
    CHECK_STR(find("p")->by, S("bot"));
    done();
}

/* --- authorizations --- */

TEST(an_authorization_is_something_to_decide)
{
    const struct proposed *p;

    begin();
    announce();
    p = find("p");
    CHECK_STR(p->owner, S("srv"));
    CHECK_STR(p->proposer, S("agent"));
    CHECK_STR(p->authorization_id, S("a1"));
    CHECK_STR(p->method, S("tools/call"));
    CHECK_STR(p->name, S("rm"));
    CHECK_STR(p->params, S("{\"name\":\"rm\",\"arguments\":{\"f\":1}}"));
    CHECK_STR(p->reason, S("big"));
    CHECK_INT(p->to_count, 1);
    CHECK_STR(p->to[0], S("srv"));
    CHECK_INT(p->expires_ms, NOON + 60'000);
    fake_tick(&fake, 60'000);
    CHECK_TOLD("proposal p expired\n");
    done();
}

TEST(a_broken_announcement_is_none)
{
    static const char *const cases[] = {
        ANNOUNCE(""),
        ANNOUNCE("\"tool\":\"rm\",\"requester\":\"agent\""),
        ANNOUNCE("\"id\":\"a1\",\"requester\":\"agent\""),
        ANNOUNCE("\"id\":\"a1\",\"tool\":\"rm\""),
        ANNOUNCE("\"id\":1,\"tool\":\"rm\",\"requester\":\"agent\""),
        ANNOUNCE("\"id\":\"\",\"tool\":\"rm\",\"requester\":\"agent\""),
        ANNOUNCE("\"id\":\"a\\u0000\",\"tool\":\"rm\",\"requester\":\"agent\""),
        ANNOUNCE("\"id\":\"a1\",\"tool\":\"r\\nm\",\"requester\":\"agent\""),
        ANNOUNCE(
            "\"id\":\"a1\",\"tool\":\"rm\",\"requester\":\"agent\",\"arguments\":[]"),
        ANNOUNCE(WANTS ",\"id\":\"a2\""),
        ANNOUNCE(WANTS ",\"expiresAt\":\"2027-01-15T08:00:00Z\""),
        "\"payload\":{\"method\":\"notifications/authorization/request\"}",
    };

    FOR_EACH_CASE(c, cases) {
        begin();
        CHECK_STR(hear("srv", "p", ANNOUNCES, *c), S(""));
        CHECK(!occupant_next_proposal(fake.occupant, NULL));
        done();
    }
}

TEST(names_have_their_limit)
{
    char rest[4096];

    begin();
    (void)snprintf(rest, sizeof(rest),
                   ANNOUNCE("\"id\":\"a1\",\"tool\":\"%03000d\",\"requester\":\"agent\""),
                   0);
    CHECK_STR(hear("srv", "p", ANNOUNCES, rest), S(""));
    CHECK(!occupant_next_proposal(fake.occupant, NULL));
    done();
}

TEST(who_called_is_not_told_what_is_said_about_it)
{
    begin();
    announce();
    CHECK_STR(
        hear("ann", "d", "mcp/request:ping",
             ABOUT("p") "\"to\":[\"bot\"],\"payload\":{\"id\":1,\"method\":\"ping\"}"),
        S("request d to ann\n"));
    done();
}

TEST(an_authorization_is_answered_to_its_owner)
{
    static const struct {
        typeof(&occupant_fulfil) decide;
        const char *word;
        enum proposed_state state;
    } cases[] = {
        { occupant_fulfil, "approve", PROPOSED_FULFILLED },
        { occupant_approve, "approve", PROPOSED_FULFILLED },
        { occupant_reject, "deny", PROPOSED_REJECTED },
    };

    FOR_EACH_CASE(c, cases) {
        struct deciding deciding = on_p;
        struct buf want;

        begin();
        announce();
        deciding.ops.on_done = fake_ask.on_done;
        CHECK_INT(c->decide(fake.occupant, &deciding, fake.now, NULL), OK);
        buf_init(&want, 1024);
        buf_putf(&want,
                 HEAD("me-1") TO_SRV
                 "\"kind\":\"" RESPONDS "\",\"correlation_id\":\"p\",\"payload\":{"
                 "\"jsonrpc\":\"2.0\",\"method\":\"authorization/respond\",\"params\":{"
                 "\"authorizationId\":\"a1\",\"decision\":\"%s\",\"reason\":\"so\"}}}\n",
                 c->word);
        CHECK_STR(fake_sent(&fake), buf_str(&want));
        buf_done(&want);
        CHECK_INT(find("p")->state, c->state);
        fake_judge(&fake);
        CHECK_TOLD("done me-1 sent\n");
        CHECK_INT(c->decide(fake.occupant, &deciding, fake.now, NULL),
                  ERR_PROPOSAL_STATE);
        REFUSE("me-1");
        CHECK_INT(find("p")->state, PROPOSED_OPEN);
        done();
    }
}

TEST(nobody_authorizes_his_own_call)
{
    const char *why = "";

    begin();
    (void)hear("srv", "p", ANNOUNCES,
               ANNOUNCE("\"id\":\"a1\",\"tool\":\"rm\",\"requester\":\"bot\""));
    CHECK(find("p")->is_mine);
    CHECK_INT(occupant_fulfil(fake.occupant, &on_p, fake.now, &why), ERR_PROPOSAL_STATE);
    CHECK_STR(str_of(why), S("nobody decides on what he asked for"));
    (void)hear("bot", "p2", ANNOUNCES, ANNOUNCE(WANTS));
    CHECK_INT(occupant_fulfil(fake.occupant, &(struct deciding){ .id = S("p2") },
                              fake.now, &why),
              ERR_PROPOSAL_STATE);
    CHECK_STR(str_of(why), S("it is ourselves who ask"));
    done();
}

TEST(an_authorization_ends_with_an_answer_or_with_the_call)
{
    static const struct {
        const char *from, *kind, *rest;
        enum proposed_state state;
        struct str by, reason;
    } cases[] = {
        { "ann", RESPONDS, RESPOND("\"authorizationId\":\"a1\",\"decision\":\"approve\""),
          PROPOSED_FULFILLED, S("ann"), S("big") },
        { "ann", RESPONDS,
          RESPOND("\"authorizationId\":\"a1\",\"decision\":\"deny\",\"reason\":\"no\""),
          PROPOSED_REJECTED, S("ann"), S("no") },
        { "ann", RESPONDS, RESPOND("\"authorizationId\":\"a1\",\"decision\":\"maybe\""),
          PROPOSED_OPEN, S(""), S("big") },
        { "ann", RESPONDS, RESPOND("\"authorizationId\":\"a2\",\"decision\":\"approve\""),
          PROPOSED_OPEN, S(""), S("big") },
        { "agent", RESPONDS,
          RESPOND("\"authorizationId\":\"a1\",\"decision\":\"approve\""), PROPOSED_OPEN,
          S(""), S("big") },
        { "ann", RESPONDS,
          ABOUT("p") "\"payload\":{\"method\":\"authorization/respond\",\"params\":{"
                     "\"authorizationId\":\"a1\",\"decision\":\"approve\"}}",
          PROPOSED_OPEN, S(""), S("big") },
        { "srv", "mcp/response:tools/call:rm",
          ABOUT("q") "\"payload\":{\"id\":1,\"result\":{}}", PROPOSED_FULFILLED, S("srv"),
          S("big") },
        { "srv", "mcp/response:tools/call:rm",
          ABOUT(
              "q") "\"payload\":{\"id\":1,\"error\":{\"code\":-32002,\"message\":\"no\"}}",
          PROPOSED_REJECTED, S("srv"), S("no") },
        { "srv", "mcp/response:tools/call:rm",
          ABOUT(
              "q") "\"payload\":{\"id\":1,\"error\":{\"code\":-32001,\"message\":\"wait\","
                   "\"data\":{\"authorizationRequest\":{}}}}",
          PROPOSED_OPEN, S(""), S("big") },
        { "eve", "mcp/response:tools/call:rm",
          ABOUT("q") "\"payload\":{\"id\":1,\"result\":{}}", PROPOSED_OPEN, S(""),
          S("big") },
        { "srv", "mcp/response:tools/call:rm",
          ABOUT("q2") "\"payload\":{\"id\":1,\"result\":{}}", PROPOSED_OPEN, S(""),
          S("big") },
        { "ann", "mcp/reject", ABOUT("p") "\"payload\":{}", PROPOSED_OPEN, S(""),
          S("big") },
        { "agent", "mcp/withdraw", ABOUT("p") "\"payload\":{}", PROPOSED_OPEN, S(""),
          S("big") },
        { "ann", CALL, ABOUT("p") TO_SRV CALLS, PROPOSED_OPEN, S(""), S("big") },
    };

    FOR_EACH_CASE(c, cases) {
        begin();
        announce();
        (void)hear(c->from, "d", c->kind, c->rest);
        CHECK_INT(find("p")->state, c->state);
        CHECK_STR(find("p")->by, c->by);
        CHECK_STR(find("p")->reason, c->reason);
        done();
    }
}
