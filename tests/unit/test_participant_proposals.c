/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "participant/proposals.h"
#include "participant_ledger.h"

/* --- learning --- */

TEST(a_proposal_that_is_heard_is_open)
{
    const struct proposed *p;

    begin();
    CHECK(!occupant_next_proposal(fake.occupant, NULL));
    propose();
    p = find("p");
    CHECK_STR(p->proposer, S("agent"));
    CHECK_STR(p->owner, S(""));
    CHECK_STR(p->method, S("tools/call"));
    CHECK_STR(p->name, S("rm"));
    CHECK_INT(p->to_count, 1);
    CHECK_STR(p->to[0], S("srv"));
    CHECK_STR(p->params, S("{\"name\":\"rm\",\"arguments\":{\"f\":\"a b\"}}"));
    CHECK_STR(p->reason, S("full"));
    CHECK_STR(p->by, S(""));
    CHECK_INT(p->created_ms, NOON);
    CHECK_INT(p->expires_ms, NOON + 300'000);
    CHECK_INT(p->state, PROPOSED_OPEN);
    CHECK(!p->is_mine);
    CHECK(occupant_next_proposal(fake.occupant, NULL) == p);
    CHECK(!occupant_next_proposal(fake.occupant, p));
    CHECK(!occupant_find_proposal(fake.occupant, S("q")));
    done();
}

TEST(a_proposal_without_params_has_none)
{
    begin();
    (void)hear("agent", "p", "mcp/proposal:tools/list",
               "\"expires_at\":\"2027-01-15T08:00:02Z\","
               "\"payload\":{\"method\":\"tools/list\"}");
    CHECK_STR(find("p")->params, S("{}"));
    CHECK_STR(find("p")->name, S(""));
    CHECK_INT(find("p")->expires_ms, NOON + 2000);
    (void)hear("agent", "q", "mcp/proposal:tools/list",
               "\"expires_at\":\"2030-01-15T08:00:02Z\","
               "\"payload\":{\"method\":\"tools/list\"}");
    CHECK_INT(find("q")->expires_ms, NOON + 86'400'000);
    done();
}

TEST(what_others_do_to_a_proposal_is_seen)
{
    static const struct {
        const char *from, *kind, *rest;
        enum proposed_state state;
        struct str by, reason;
    } cases[] = {
        { "ann", CALL, TO_SRV CALLS, PROPOSED_FULFILLED, S("ann"), S("full") },
        { "ann", "mcp/reject", "\"payload\":{\"reason\":\"no\"}", PROPOSED_REJECTED,
          S("ann"), S("no") },
        { "ann", "mcp/reject", "\"payload\":{}", PROPOSED_REJECTED, S("ann"), S("") },
        { "agent", "mcp/withdraw", "\"payload\":{}", PROPOSED_WITHDRAWN, S("agent"),
          S("full") },
        { "ann", "mcp/withdraw", "\"payload\":{}", PROPOSED_OPEN, S(""), S("full") },
        { "ann", "mcp/approve", "\"payload\":{}", PROPOSED_OPEN, S(""), S("full") },
        { "ann", "chat", "\"payload\":{\"text\":\"x\"}", PROPOSED_OPEN, S(""),
          S("full") },
        { "ann", CALL, CALLS, PROPOSED_OPEN, S(""), S("full") },
        { "ann", CALL, "\"to\":[\"ann\"]," CALLS, PROPOSED_OPEN, S(""), S("full") },
        { "ann", CALL, "\"to\":[\"srv\",\"x\"]," CALLS, PROPOSED_OPEN, S(""), S("full") },
        { "ann", "mcp/request:tools/call", TO_SRV CALLS, PROPOSED_OPEN, S(""),
          S("full") },
        { "ann", "mcp/request:ping", TO_SRV "\"payload\":{\"id\":1,\"method\":\"ping\"}",
          PROPOSED_OPEN, S(""), S("full") },
    };

    FOR_EACH_CASE(c, cases) {
        char rest[512];

        begin();
        propose();
        (void)snprintf(rest, sizeof(rest), ABOUT("p") "%s", c->rest);
        CHECK_INT(hear(c->from, "d", c->kind, rest).len == 0, c->state == PROPOSED_OPEN);
        CHECK_INT(find("p")->state, c->state);
        CHECK_STR(find("p")->by, c->by);
        CHECK_STR(find("p")->reason, c->reason);
        /* the first decision counts */
        if (c->state != PROPOSED_OPEN) {
            (void)hear("eve", "e", "mcp/reject", ABOUT("p") "\"payload\":{}");
            CHECK_INT(find("p")->state, c->state);
            CHECK_STR(find("p")->by, c->by);
        }
        done();
    }
}

TEST(a_proposal_expires_and_may_turn_out_to_have_been_decided)
{
    begin();
    propose();
    CHECK_INT(occupant_due_ms(fake.occupant), 301'000);
    fake_tick(&fake, 299'999);
    CHECK_TOLD("");
    fake_tick(&fake, 1);
    CHECK_TOLD("proposal p expired\n");
    CHECK_INT(occupant_due_ms(fake.occupant), UINT64_MAX);
    CHECK_STR(hear("ann", "d", CALL, ABOUT("p") TO_SRV CALLS),
              S("proposal p fulfilled\n"));
    CHECK_STR(hear("ann", "e", CALL, ABOUT("p") TO_SRV CALLS), S(""));
    done();
}

TEST(an_id_is_used_again_when_it_is_free)
{
    begin();
    propose();
    CHECK_STR(hear("eve", "p", PROPOSAL, PROPOSES), S(""));
    CHECK_STR(find("p")->proposer, S("agent"));
    (void)hear("ann", "d", "mcp/reject", ABOUT("p") "\"payload\":{}");
    CHECK_STR(hear("eve", "p", PROPOSAL, PROPOSES), S("proposal p open\n"));
    CHECK_STR(find("p")->proposer, S("eve"));
    CHECK_STR(find("p")->by, S(""));
    done();
}

/* --- what the gateway says --- */

static struct str say_tidings(const char *members)
{
    fake_hear_gateway(&fake, "system/proposal", members);
    return fake_told(&fake);
}

#define TOLD "heard system/proposal\n"

TEST(the_gateway_says_how_many_have_approved)
{
    begin();
    propose();
    CHECK_INT(find("p")->needed, 0);
    CHECK_STR(say_tidings("\"proposal\":\"p\",\"state\":\"open\",\"approvals\":{"
                          "\"needed\":3,\"given\":1,\"by\":[\"ann\"]}"),
              S(TOLD "proposal p open\n"));
    CHECK_INT(find("p")->needed, 3);
    CHECK_INT(find("p")->given, 1);
    CHECK_STR(say_tidings("\"proposal\":\"p\",\"state\":\"open\",\"approvals\":{"
                          "\"needed\":3,\"given\":1,\"by\":[\"ann\"]}"),
              S(TOLD)); /* nothing new */
    CHECK_STR(say_tidings("\"proposal\":\"q\",\"state\":\"expired\""), S(TOLD));
    done();
}

TEST(the_gateway_says_how_it_ended)
{
    static const struct {
        const char *members;
        enum proposed_state state;
        struct str told, by, reason;
    } cases[] = {
        { "\"state\":\"expired\"", PROPOSED_EXPIRED, S(TOLD "proposal p expired\n"),
          S(""), S("full") },
        { "\"state\":\"rejected\",\"by\":\"ann\",\"reason\":\"no\"", PROPOSED_REJECTED,
          S(TOLD "proposal p rejected\n"), S("ann"), S("no") },
        { "\"state\":\"fulfilled\",\"by\":\"ann\",\"approvals\":{\"needed\":2,"
          "\"given\":2}",
          PROPOSED_FULFILLED, S(TOLD "proposal p fulfilled\n"), S("ann"), S("full") },
        { "\"state\":\"withdrawn\",\"by\":\"agent\"", PROPOSED_WITHDRAWN,
          S(TOLD "proposal p withdrawn\n"), S("agent"), S("full") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf members;

        buf_init(&members, 4096);
        buf_putf(&members, "\"proposal\":\"p\",%s", c->members);
        begin();
        propose();
        CHECK_STR(say_tidings(buf_cstr(&members)), c->told);
        CHECK_INT(find("p")->state, c->state);
        CHECK_STR(find("p")->by, c->by);
        CHECK_STR(find("p")->reason, c->reason);
        CHECK_STR(say_tidings(buf_cstr(&members)), S(TOLD)); /* once */
        done();
        buf_done(&members);
    }
}

TEST(what_was_heard_already_is_not_told_again)
{
    begin();
    propose();
    CHECK_STR(hear("ann", "r", "mcp/reject", ABOUT("p") "\"payload\":{}"),
              S("proposal p rejected\n"));
    CHECK_STR(say_tidings("\"proposal\":\"p\",\"state\":\"rejected\",\"by\":\"ann\""),
              S(TOLD));
    done();
}

TEST(news_that_cannot_be_read_is_an_offence)
{
    static const char *const cases[] = {
        "\"state\":\"open\"",
        "\"proposal\":7,\"state\":\"open\"",
        "\"proposal\":\"p\"",
        "\"proposal\":\"p\",\"state\":\"lost\"",
        "\"proposal\":\"p\",\"state\":\"open\",\"approvals\":3",
        "\"proposal\":\"p\",\"state\":\"open\",\"approvals\":{\"given\":-1}",
        "\"proposal\":\"p\",\"state\":\"open\",\"state\":\"expired\"",
    };

    FOR_EACH_CASE(c, cases) {
        begin();
        propose();
        CHECK(str_starts(say_tidings(*c), S("offence")));
        CHECK_INT(find("p")->state, PROPOSED_OPEN);
        done();
    }
}

/* --- the welcome --- */

static struct str welcome(const char *proposals)
{
    struct buf rest;

    buf_init(&rest, 1 << 20);
    buf_put(&rest, S("\"you\":{\"id\":\"bot\",\"capabilities\":[\"mcp/*\"]},"
                     "\"participants\":[],\"moot\":{\"proposals\":"));
    buf_put(&rest, str_of(proposals));
    buf_putc(&rest, '}');
    fake_hear_gateway(&fake, "system/welcome", buf_cstr(&rest));
    buf_done(&rest);
    return fake_told(&fake);
}

static struct str come_back(const char *proposals)
{
    occupant_lost(fake.occupant, false, fake.now);
    occupant_begin(fake.occupant, true);
    return welcome(proposals);
}

#define WELCOME "heard system/welcome to me\nwelcome resumed\n"
#define LISTED  "\"id\":\"p\"," LISTED_REST
#define LISTED_REST                               \
    "\"proposer\":\"agent\",\"kind\":\"" PROPOSAL \
    "\",\"created\":\"2027-01-15T07:59:00Z\",\"expires\":\"2027-01-15T08:03:00Z\""
#define ENVELOPE(id, from, kind)                                                   \
    ",\"envelope\":{\"protocol\":\"mcpx/v0.1\",\"id\":\"" id "\",\"from\":\"" from \
    "\",\"to\":[\"srv\"],\"kind\":\"" kind "\"," PROPOSES "}"

TEST(the_welcome_tells_what_is_open)
{
    const struct proposed *p;

    begin();
    CHECK_STR(come_back("[{" LISTED ENVELOPE(
                  "p", "agent",
                  PROPOSAL) ",\"approvals\":{\"needed\":2,\"given\":1,\"by\":[]}}]"),
              S(WELCOME "proposal p open\n"));
    p = find("p");
    CHECK_INT(p->needed, 2);
    CHECK_INT(p->given, 1);
    CHECK_STR(p->proposer, S("agent"));
    CHECK_STR(p->name, S("rm"));
    CHECK_STR(p->params, S("{\"name\":\"rm\",\"arguments\":{\"f\":\"a b\"}}"));
    CHECK_STR(p->reason, S("full"));
    CHECK_STR(p->to[0], S("srv"));
    CHECK_INT(p->created_ms, NOON - 60'000);
    CHECK_INT(p->expires_ms, NOON + 180'000);
    CHECK_STR(hear("agent", "p", PROPOSAL, TO_SRV PROPOSES), S("")); /* replayed */
    CHECK_INT(find("p")->expires_ms, NOON + 180'000);
    fake_tick(&fake, 180'000);
    CHECK_TOLD("proposal p expired\n");
    done();
}

static enum err await(const char *id)
{
    return occupant_await(fake.occupant, str_of(id), &fake_ask, &fake, fake.now);
}

/* "bot" is who we are: one of ours, from before a restart. */
#define OURS                                                                                 \
    "[{\"id\":\"p\",\"proposer\":\"bot\",\"kind\":\"" PROPOSAL                               \
    "\",\"created\":\"2027-01-15T07:59:00Z\",\"expires\":\"2027-01-15T08:03:00Z\"" ENVELOPE( \
        "p", "bot", PROPOSAL) "}]"

TEST(a_proposal_of_another_life_is_waited_for)
{
    begin();
    (void)come_back(OURS);
    CHECK_INT(await("q"), ERR_NOT_FOUND);
    CHECK_INT(await("p"), OK);
    CHECK_INT(await("p"), ERR_PROPOSAL_STATE);
    fake_tick(&fake, 0);
    CHECK_TOLD("progress p proposed\n");
    (void)hear("ann", "r", "mcp/reject",
               "\"correlation_id\":\"p\",\"payload\":{\"reason\":\"no\"}");
    CHECK_INT(await("p"), ERR_PROPOSAL_STATE);
    done();

    begin();
    (void)come_back(OURS);
    CHECK_INT(await("p"), OK);
    fake_tick(&fake, 0);
    (void)fake_told(&fake);
    fake_tick(&fake, 180'000);
    CHECK_TOLD("done p declined expired: nobody decided on the proposal in time\n"
               "proposal p expired\n");
    done();

    begin();
    (void)come_back("[{" LISTED ENVELOPE("p", "agent", PROPOSAL) "}]");
    CHECK_INT(await("p"), ERR_PROPOSAL_STATE);
    done();
}

TEST(what_is_known_in_part_cannot_be_fulfilled_until_it_is_known)
{
    const char *why = "";

    begin();
    CHECK_STR(come_back("[{" LISTED "}]"), S(WELCOME "proposal p open\n"));
    CHECK_STR(find("p")->params, S(""));
    CHECK_STR(welcome("[{" LISTED "}]"), S(WELCOME)); /* nothing new */
    CHECK_INT(occupant_fulfil(fake.occupant,
                              &(struct deciding){ .id = S("p"),
                                                  .to = S("srv"),
                                                  .params = S("{\"name\":\"rm\"}") },
                              fake.now, &why),
              ERR_PROPOSAL_STATE);
    CHECK_STR(str_of(why), S("what is proposed is not known in full"));
    CHECK_STR(welcome("[{" LISTED ENVELOPE("p", "agent", PROPOSAL) "}]"),
              S(WELCOME "proposal p open\n"));
    CHECK_INT(occupant_fulfil(fake.occupant, &on_p, fake.now, NULL), OK);
    done();
    begin();
    (void)come_back("[{" LISTED "}]");
    CHECK_STR(hear("ann", "d", CALL, ABOUT("p") TO_SRV CALLS),
              S("proposal p fulfilled\n")); /* whoever was to be asked */
    done();
}

TEST(a_list_may_be_wrong)
{
    static const char *const cases[] = {
        "[1]",
        "{}",
        "[{}]",
        "[{\"id\":\"p\",\"proposer\":\"agent\"}]",
        "[{\"id\":\"p\",\"proposer\":\"agent\",\"kind\":\"chat\"}]",
        "[{\"id\":\"p\",\"proposer\":\"\",\"kind\":\"" PROPOSAL "\"}]",
        "[{\"id\":\"p\\n\",\"proposer\":\"agent\",\"kind\":\"" PROPOSAL "\"}]",
        "[{" LISTED ENVELOPE("p2", "agent", PROPOSAL) "}]",
        "[{" LISTED ENVELOPE("p", "eve", PROPOSAL) "}]",
        "[{" LISTED ENVELOPE("p", "agent", "chat") "}]",
        "[{" LISTED ENVELOPE("p", "agent", CALL) "}]",
        "[{\"id\":\"p\",\"proposer\":\"a\\n\",\"kind\":\"" PROPOSAL "\"}]",
        "[{" LISTED ENVELOPE("p", "agent", "mcp/proposal:tools/call:ls") "}]",
        "[{" LISTED ",\"envelope\":{}}]",
    };

    FOR_EACH_CASE(c, cases) {
        begin();
        CHECK_STR(come_back(*c), S(WELCOME));
        CHECK(!occupant_next_proposal(fake.occupant, NULL));
        done();
    }
}

TEST(what_is_listed_under_an_id_that_is_used_again_is_something_else)
{
    begin();
    CHECK_STR(hear("eve", "p", PROPOSAL, TO_SRV PROPOSES), S("proposal p open\n"));
    CHECK_STR(come_back("[{" LISTED ENVELOPE("p", "agent", PROPOSAL) "}]"), S(WELCOME));
    CHECK_STR(find("p")->proposer, S("eve")); /* as it was shown */
    (void)hear("ann", "d", "mcp/reject", ABOUT("p") "\"payload\":{}");
    CHECK_STR(come_back("[{" LISTED ENVELOPE("p", "agent", PROPOSAL) "}]"),
              S(WELCOME "proposal p open\n"));
    CHECK_STR(find("p")->proposer, S("agent"));
    done();
}

TEST(what_is_not_listed_when_a_connection_begins_is_over)
{
    begin();
    propose();
    (void)hear("srv", "a", ANNOUNCES, ANNOUNCE(WANTS));
    (void)hear("srv", "p", ANNOUNCES, ANNOUNCE(WANTS)); /* an id that is taken */
    CHECK_STR(find("p")->owner, S(""));
    (void)hear("agent", "p2", PROPOSAL, PROPOSES);
    CHECK_STR(welcome("[{" LISTED "}]"), S(WELCOME));
    CHECK_INT(find("p2")->state, PROPOSED_OPEN);
    CHECK_STR(come_back("[{" LISTED "}]"), S(WELCOME "proposal p2 expired\n"));
    CHECK_STR(hear("ann", "d", CALL, ABOUT("p2") CALLS), S("proposal p2 fulfilled\n"));
    CHECK_STR(come_back("[]"), S(WELCOME "proposal p expired\n"));
    CHECK_STR(come_back("[{\"id\":\"a\"," LISTED_REST "}]"), S(WELCOME));
    CHECK_INT(find("a")->created_ms, NOON); /* is none of these */
    done();
}

TEST(a_decision_that_did_not_arrive_was_none)
{
    begin();
    propose();
    CHECK_INT(occupant_reject(fake.occupant, &on_p, fake.now, NULL), OK);
    fake_tick(&fake, 0);
    (void)fake_told(&fake);
    CHECK_STR(welcome("[{" LISTED "}]"), S(WELCOME));
    CHECK_STR(come_back("[{" LISTED "}]"), S(WELCOME "proposal p open\n"));
    done();
}

TEST(what_was_said_before_has_the_time_of_its_sender)
{
    begin();
    (void)come_back("[]");
    (void)hear("agent", "p", PROPOSAL, "\"ts\":\"2027-01-15T07:58:00Z\"," PROPOSES);
    CHECK_INT(find("p")->created_ms, NOON - 120'000);
    CHECK_INT(find("p")->expires_ms, NOON + 180'000);
    (void)hear("agent", "p2", PROPOSAL, "\"ts\":\"2028-01-15T07:58:00Z\"," PROPOSES);
    CHECK_INT(find("p2")->created_ms, NOON);
    fake_judge(&fake);
    (void)hear("agent", "p3", PROPOSAL, "\"ts\":\"2027-01-15T07:58:00Z\"," PROPOSES);
    CHECK_INT(find("p3")->created_ms, NOON);
    done();
}

/* --- our own --- */

TEST(our_own_proposals_are_in_the_ledger)
{
    begin_with(&(struct occupant_settings){ .hears_itself = true });
    CHECK_INT(occupant_request(fake.occupant,
                               &(struct asking){ .method = S("ping"),
                                                 .how = ASK_PROPOSE,
                                                 .reason = S("\"why\"") },
                               fake.now, NULL, NULL),
              OK);
    CHECK(find("me-1")->is_mine);
    CHECK_STR(find("me-1")->reason, S("\"why\""));
    CHECK_TOLD("");
    CHECK_STR(
        hear("bot", "me-1", "mcp/proposal:ping", "\"payload\":{\"method\":\"ping\"}"),
        S("proposal me-1 open\n"));
    fake_tick(&fake, 0);
    CHECK_TOLD("");
    REFUSE("me-1");
    CHECK_INT(find("me-1")->state, PROPOSED_REJECTED);
    CHECK_STR(find("me-1")->by, S("system:gateway"));
    CHECK_STR(find("me-1")->reason, S("no"));
    done();
}

static enum err propose_ping(uint64_t timeout_ms)
{
    return occupant_request(fake.occupant,
                            &(struct asking){ .method = S("ping"),
                                              .how = ASK_PROPOSE,
                                              .timeout_ms = timeout_ms },
                            fake.now, NULL, NULL);
}

TEST(what_changes_twice_is_told_once)
{
    begin();
    CHECK_INT(propose_ping(0), OK);
    CHECK_INT(propose_ping(0), OK);
    CHECK_INT(propose_ping(0), OK);
    REFUSE("me-1");
    REFUSE("me-2");
    (void)fake_told(&fake);
    fake_tick(&fake, 0);
    CHECK_TOLD("proposal me-1 rejected\nproposal me-2 rejected\nproposal me-3 open\n");
    done();
}

TEST(the_first_to_expire_is_due)
{
    begin();
    CHECK_INT(propose_ping(1000), OK);
    CHECK_INT(propose_ping(2000), OK);
    occupant_forget(fake.occupant, S("me-1"));
    fake_tick(&fake, 0);
    CHECK_INT(occupant_due_ms(fake.occupant), 2000);
    fake_tick(&fake, 1000);
    CHECK_TOLD("proposal me-1 open\nproposal me-2 open\nproposal me-1 expired\n");
    done();
}

TEST(what_is_forgotten_is_not_told_and_what_does_not_fit_is_no_offence_of_ours)
{
    begin_with(&(struct occupant_settings){ .limits = { .proposals = 1 } });
    CHECK_INT(propose_ping(0), OK);
    REFUSE("me-1");
    (void)fake_told(&fake);
    CHECK_INT(propose_ping(0), OK);
    CHECK_INT(propose_ping(0), OK);
    CHECK_INT(occupant_notify(
                  fake.occupant, S(""), S("notifications/authorization/request"),
                  S("{\"id\":\"a\",\"tool\":\"t\",\"requester\":\"r\"}"), fake.now, NULL),
              OK);
    fake_tick(&fake, 0);
    CHECK_TOLD("proposal me-2 open\n");
    done();
}

TEST(much_may_be_proposed_before_anything_is_heard)
{
    static char reason[5 * 100'001];
    size_t len = 0;

    begin_with(
        &(struct occupant_settings){ .limits = { .calls = 200, .proposals = 200 } });
    for (; len < 100'000; len++)
        reason[len] = '\n'; /* to be unescaped */
    for (int i = 1; i <= 100; i++) {
        char id[16];

        CHECK_INT(occupant_request(fake.occupant,
                                   &(struct asking){ .method = S("ping"),
                                                     .how = ASK_PROPOSE,
                                                     .reason = { reason, len } },
                                   fake.now, NULL, NULL),
                  OK);
        (void)snprintf(id, sizeof(id), "me-%d", i);
        CHECK_INT(find(id)->reason.len, len);
    }
    done();
}

/* --- bounds --- */

static struct str propose_many(const char *from, const char *id)
{
    return hear(from, id, PROPOSAL, PROPOSES);
}

TEST(the_oldest_decided_ones_are_forgotten_first)
{
    begin_with(&(struct occupant_settings){ .limits = { .proposals = 3 } });
    (void)propose_many("a", "p1");
    (void)propose_many("b", "p2");
    (void)propose_many("c", "p3");
    CHECK_STR(propose_many("d", "p4"), S("offence 1 d: flood, \n"));
    CHECK(!occupant_find_proposal(fake.occupant, S("p4")));
    (void)hear("x", "d1", "mcp/reject", ABOUT("p3") "\"payload\":{}");
    (void)hear("x", "d2", "mcp/reject", ABOUT("p1") "\"payload\":{}");
    CHECK_STR(propose_many("e", "p5"), S("proposal p5 open\n"));
    CHECK(!occupant_find_proposal(fake.occupant, S("p3")));
    CHECK_STR(find("p1")->id, S("p1"));
    CHECK_STR(occupant_next_proposal(fake.occupant, NULL)->id, S("p1"));
    CHECK_STR(propose_many("f", "p6"), S("proposal p6 open\n"));
    CHECK(!occupant_find_proposal(fake.occupant, S("p1")));
    done();
}

TEST(what_is_decided_is_nobodys_share)
{
    char id[16], rest[64];

    begin();
    for (int i = 0; i < 40; i++) {
        (void)snprintf(id, sizeof(id), "p%d", i);
        CHECK(str_starts(propose_many("agent", id), S("proposal")));
        (void)snprintf(rest, sizeof(rest), ABOUT("p%d") "\"payload\":{}", i);
        (void)snprintf(id, sizeof(id), "d%d", i);
        (void)hear("ann", id, "mcp/reject", rest);
    }
    done();
}

TEST(nobody_fills_the_ledger_alone)
{
    char id[16];
    int open = 0;

    begin();
    for (int i = 0; i < 16; i++) {
        (void)snprintf(id, sizeof(id), "p%d", i);
        (void)propose_many("agent", id);
        open += occupant_find_proposal(fake.occupant, str_of(id)) != NULL;
    }
    CHECK_INT(open, 5); /* a quarter, and one */
    CHECK_STR(hear("agent", "a", ANNOUNCES, ANNOUNCE(WANTS)),
              S("offence 12 agent: flood, \n"));
    CHECK_STR(hear("srv", "a2", ANNOUNCES, ANNOUNCE(WANTS)), S("proposal a2 open\n"));
    done();
}

TEST(nobody_fills_the_ledger_in_our_name)
{
    char id[16], rest[512];
    int open = 0;

    begin();
    for (int i = 0; i < 16; i++) {
        (void)snprintf(id, sizeof(id), "p%d", i);
        (void)snprintf(rest, sizeof(rest),
                       ANNOUNCE("\"id\":\"a%d\",\"tool\":\"rm\",\"requester\":\"bot\""),
                       i);
        (void)hear("eve", id, ANNOUNCES, rest);
        open += occupant_find_proposal(fake.occupant, str_of(id)) != NULL;
    }
    CHECK_INT(open, 5);
    CHECK_STR(propose_many("agent", "p"), S("proposal p open\n"));
    done();
}

/* A payload of about so many bytes. */
static char *large(size_t bytes)
{
    char *rest = xmalloc(bytes + 200);
    int len = snprintf(rest, 200,
                       "\"payload\":{\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"rm\",\"x\":\"");

    memset(rest + len, 'x', bytes);
    memcpy(rest + (size_t)len + bytes, "\"}}", 4);
    return rest;
}

TEST(what_is_too_much_is_known_without_its_arguments)
{
    CLEANUP(xfreep) char *megabyte = large(1 << 20);
    char from[2] = "a";
    char id[16];
    int known = 0;

    begin_with(&(struct occupant_settings){ .limits = { .proposals = 100 } });
    for (int i = 0; i < 40; i++) {
        from[0] = (char)('a' + i / 5);
        (void)snprintf(id, sizeof(id), "p%d", i);
        CHECK(hear(from, id, PROPOSAL, megabyte).len);
        known += find(id)->params.len > 0;
        if (i == 4)
            CHECK_INT(known, 3); /* of one sender a quarter of 16 MiB */
    }
    CHECK_INT(known, 15);
    CHECK_INT(find("p4")->params.len, 0);
    done();
}

TEST(what_was_decided_makes_room_for_what_is_open)
{
    CLEANUP(xfreep) char *megabyte = large(1 << 20);
    char from[8], id[16];

    begin_with(&(struct occupant_settings){ .limits = { .proposals = 100 } });
    for (int i = 0; i < 40; i++) {
        (void)snprintf(from, sizeof(from), "a%d", i);
        (void)snprintf(id, sizeof(id), "p%d", i);
        CHECK(hear(from, id, PROPOSAL, megabyte).len);
        CHECK(find(id)->params.len > 0);
        (void)snprintf(id, sizeof(id), "d%d", i);
        {
            char rest[64];

            (void)snprintf(rest, sizeof(rest), ABOUT("p%d") "\"payload\":{}", i);
            (void)hear("ann", id, "mcp/reject", rest);
        }
    }
    CHECK(!occupant_find_proposal(fake.occupant, S("p20")));
    CHECK_INT(find("p39")->state, PROPOSED_REJECTED);
    done();
}

TEST(a_long_reason_is_cut_between_characters)
{
    char rest[6000];
    size_t len =
        (size_t)snprintf(rest, sizeof(rest), ABOUT("p") "\"payload\":{\"reason\":\"x");

    begin();
    propose();
    for (; len < 5000; len += 2)
        memcpy(rest + len, "\xc3\xa4", 2);
    memcpy(rest + len, "\"}", 3);
    (void)hear("ann", "d", "mcp/reject", rest);
    CHECK_INT(find("p")->reason.len, 4095);
    done();
}

/* --- callbacks that act --- */

static void fulfil_it(struct fake_seat *seat, const struct proposed *p)
{
    if (p->state == PROPOSED_OPEN)
        CHECK_INT(occupant_fulfil(seat->occupant, &(struct deciding){ .id = p->id },
                                  seat->now, NULL),
                  OK);
}

TEST(who_is_told_may_decide)
{
    begin();
    fake.on_proposal = fulfil_it;
    CHECK_STR(hear("agent", "p", PROPOSAL, TO_SRV PROPOSES), S("proposal p open\n"));
    CHECK_INT(fake.sent_count, 1);
    fake_tick(&fake, 0);
    CHECK_TOLD("proposal p fulfilled\n");
    CHECK_INT(occupant_due_ms(fake.occupant), 61'000);
    done();
}

static void propose_more(struct fake_seat *seat, const struct proposed *p)
{
    for (int i = 0; i < 3; i++)
        CHECK_INT(
            occupant_request(seat->occupant,
                             &(struct asking){ .method = S("ping"), .how = ASK_PROPOSE },
                             seat->now, NULL, NULL),
            OK);
    CHECK_INT(p->state, PROPOSED_REJECTED);
    CHECK_STR(p->by, S("ann"));
    seat->on_proposal = NULL;
}

TEST(what_is_being_told_is_not_forgotten)
{
    begin_with(&(struct occupant_settings){ .limits = { .proposals = 1 } });
    propose();
    fake.on_proposal = propose_more;
    (void)hear("ann", "d", "mcp/reject", ABOUT("p") "\"payload\":{}");
    CHECK_INT(find("p")->state, PROPOSED_REJECTED);
    CHECK(!occupant_find_proposal(fake.occupant, S("me-1")));
    done();
}

TEST(nobody_has_an_id_that_is_being_told)
{
    begin();
    CHECK_STR(hear("eve", "me-1", PROPOSAL, PROPOSES), S("proposal me-1 open\n"));
    fake.on_proposal = propose_more;
    (void)hear("ann", "d", "mcp/reject", ABOUT("me-1") "\"payload\":{}");
    CHECK_STR(find("me-1")->proposer, S("eve"));
    CHECK_STR(find("me-2")->proposer, S("bot"));
    done();
}
