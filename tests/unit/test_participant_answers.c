/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "participant/proposals.h"
#include "participant_calls.h"

/* --- answers --- */

TEST(the_answer_of_who_was_asked_ends_the_call)
{
    static const struct {
        const char *member;
        struct str told;
    } cases[] = {
        { "\"result\":{\"sum\":3}", S("done me-1 result by srv = {\"sum\":3}\n") },
        { "\"result\":{\"isError\":true}",
          S("done me-1 tool error by srv = {\"isError\":true}\n") },
        { "\"result\":{\"isError\":\"true\"}",
          S("done me-1 result by srv = {\"isError\":\"true\"}\n") },
        { "\"result\":7", S("done me-1 result by srv = 7\n") },
        { "\"error\":{\"code\":-32601,\"message\":\"n\\u006f\"}",
          S("done me-1 error by srv -32601: no = "
            "{\"code\":-32601,\"message\":\"n\\u006f\"}\n") },
        { "\"error\":{\"code\":-32001,\"message\":\"ask\"}",
          S("done me-1 error by srv -32001: ask = {\"code\":-32001,\"message\":\"ask\"}\n") },
        { "\"error\":{\"code\":-32001,\"message\":\"a\",\"data\":{"
          "\"authorizationRequest\":1}}",
          S("done me-1 error by srv -32001: a = {\"code\":-32001,\"message\":\"a\",\"data\":{"
            "\"authorizationRequest\":1}}\n") },
        /* without a word of an authorization it is the server's own: no such resource */
        { "\"error\":{\"code\":-32002,\"message\":\"no\"}",
          S("done me-1 error by srv -32002: no = "
            "{\"code\":-32002,\"message\":\"no\"}\n") },
        { "\"error\":{\"code\":-32002,\"message\":\"no\",\"data\":{"
          "\"authorizationId\":7}}",
          S("done me-1 error by srv -32002: no = {\"code\":-32002,\"message\":\"no\","
            "\"data\":{\"authorizationId\":7}}\n") },
        { "\"error\":{\"code\":-32002,\"message\":\"no\",\"data\":{"
          "\"authorizationId\":\"a\",\"reason\":\"ann\"}}",
          S("done me-1 denied by srv denied -32002: ann = {\"code\":-32002,"
            "\"message\":\"no\",\"data\":{\"authorizationId\":\"a\",\"reason\":"
            "\"ann\"}}\n") },
    };

    FOR_EACH_CASE(c, cases) {
        begin();
        CHECK_INT(ask(ASK_CALL), OK);
        CHECK_STR(answer("srv", "me-1", c->member), c->told);
        CHECK_INT(occupant_due_ms(fake.occupant) <= 61'000, true);
        fake_tick(&fake, 1 << 30);
        CHECK_TOLD("");
        done();
    }
}

TEST(who_left_as_another_seat_heard_answers_no_more)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    occupant_left(fake.occupant, S("ann"), fake.now);
    CHECK_TOLD("");
    occupant_left(fake.occupant, S("srv"), fake.now);
    CHECK_TOLD("done me-1 gone by srv gone: who was asked has left before answering\n");
    done();
}

TEST(a_verdict_needs_no_payload)
{
    static const struct {
        struct str kind;
        enum verdict verdict;
    } cases[] = {
        { S("mcp/request:tools/call:add"), VERDICT_ALLOW },
        { S("mcp/request:tools/call:sub"), VERDICT_INSPECT },
        { S("mcp/request:tools/call:mul"), VERDICT_DENY },
        { S("mcp/withdraw"), VERDICT_ALLOW },
        { S("no kind"), VERDICT_DENY },
    };

    fake_seat_init(&fake, &(struct occupant_settings){});
    CHECK_INT(occupant_verdict(fake.occupant, cases[0].kind), VERDICT_DENY);
    done();
    begin_with("[\"mcp/request:tools/call:add\",{\"kind\":\"mcp/request:tools/call:sub\","
               "\"payload\":{\"params\":{\"arguments\":{\"a\":1}}}}]");
    FOR_EACH_CASE(c, cases)
        CHECK_INT(occupant_verdict(fake.occupant, c->kind), c->verdict);
    done();
}

TEST(progress_is_asked_for_where_it_is_wanted)
{
    const struct asking asking = { .to = S("srv"),
                                   .method = S("tools/call"),
                                   .name = S("add"),
                                   .how = ASK_CALL,
                                   .ops = fake_ask,
                                   .user = &fake };
    struct asking quiet = asking;

    quiet.is_quiet = true;
    begin();
    CHECK_INT(occupant_request(fake.occupant, &asking, fake.now, NULL, NULL), OK);
    CHECK(strstr(fake_sent(&fake).ptr, "progressToken"));
    CHECK_INT(occupant_request(fake.occupant, &quiet, fake.now, NULL, NULL), OK);
    CHECK(!strstr(fake_sent(&fake).ptr, "progressToken"));
    done();
}

TEST(nobody_elses_answer_counts)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    CHECK_STR(answer("ann", "me-1", "\"result\":1"),
              S("offence 1 ann: foreign_response, from\n"));
    CHECK_STR(answer("srv", "me-2", "\"result\":1"), S(""));
    CHECK_STR(answer("srv", "me-1", "\"result\":2"), S("done me-1 result by srv = 2\n"));
    CHECK_STR(answer("ann", "me-1", "\"result\":1"),
              S("offence 2 ann: foreign_response, from\n"));
    CHECK_STR(answer("ann", "other-1", "\"result\":1"), S(""));
    done();
}

TEST(the_second_answer_is_an_offence)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    CHECK_STR(answer("srv", "me-1", "\"result\":2"), S("done me-1 result by srv = 2\n"));
    CHECK_STR(answer("srv", "me-1", "\"result\":2"),
              S("offence 1 srv: second_response, correlation_id\n"));
    done();
}

TEST(the_last_256_calls_are_remembered)
{
    begin();
    for (unsigned i = 1; i <= 258; i++) {
        char id[16];

        (void)snprintf(id, sizeof(id), "me-%u", i);
        CHECK_INT(ask(ASK_CALL), OK);
        (void)answer("srv", id, "\"result\":2");
    }
    CHECK_STR(answer("srv", "me-2", "\"result\":2"), S(""));
    CHECK_STR(answer("srv", "me-3", "\"result\":2"),
              S("offence 1 srv: second_response, correlation_id\n"));
    done();
}

TEST(an_answer_must_be_to_what_was_asked)
{
    static const struct {
        const char *kind, *payload;
        struct str told;
    } cases[] = {
        { "mcp/response:tools/call", "\"id\":\"me-1\",\"result\":1",
          S("done me-1 result by srv = 1\n") },
        { "mcp/response:tools/call:add", "\"id\":\"m\\u0065-1\",\"result\":1",
          S("done me-1 result by srv = 1\n") },
        { "mcp/response:tools/call:sub", "\"id\":\"me-1\",\"result\":1",
          S("offence 1 srv: method_mismatch, kind\n") },
        { "mcp/response:tools/list", "\"id\":\"me-1\",\"result\":1",
          S("offence 1 srv: method_mismatch, kind\n") },
        { "mcp/response:tools/call:add", "\"id\":\"me-2\",\"result\":1",
          S("offence 1 srv: method_mismatch, payload.id\n") },
        { "mcp/response:tools/call:add", "\"id\":1,\"result\":1",
          S("offence 1 srv: method_mismatch, payload.id\n") },
        { "mcp/response:tools/call:add", "\"result\":1",
          S("offence 1 srv: method_mismatch, payload.id\n") },
    };

    FOR_EACH_CASE(c, cases) {
        char rest[256];
        struct str told;

        begin();
        CHECK_INT(ask(ASK_CALL), OK);
        (void)snprintf(rest, sizeof(rest), ABOUT("me-1") "\"payload\":{%s}", c->payload);
        fake_hear_from(&fake, "srv", "1", c->kind, rest);
        told = fake_told(&fake);
        if (str_starts(told, S("heard")))
            told = str_slice(told, str_find(told, '\n', 0) + 1, told.len);
        CHECK_STR(told, c->told);
        done();
    }
}

TEST(what_is_not_said_is_not_compared)
{
    begin();
    CHECK_INT(occupant_request(fake.occupant,
                               &(struct asking){ .to = S("srv"),
                                                 .method = S("prompts/get"),
                                                 .params = S("{\"name\":\"p\"}"),
                                                 .ops = fake_ask,
                                                 .user = &fake },
                               fake.now, NULL, NULL),
              OK);
    fake_hear_from(&fake, "srv", "1", "mcp/response:prompts/get:p",
                   ABOUT("me-1") "\"payload\":{\"id\":\"me-1\",\"result\":{\"isError\":"
                                 "true}}");
    CHECK_TOLD("heard 1 srv mcp/response:prompts/get:p\n"
               "done me-1 result by srv = {\"isError\":true}\n");
    done();
}

TEST(who_only_said_something_waits_for_no_answer)
{
    begin();
    CHECK_INT(
        occupant_say(fake.occupant,
                     &(struct saying){ .kind = S("mcp/request:ping"),
                                       .payload = S("{\"id\":1,\"method\":\"ping\"}"),
                                       .ops = fake_ask,
                                       .user = &fake },
                     fake.now, NULL, NULL),
        OK);
    CHECK_STR(answer("ann", "me-1", "\"result\":1"), S(""));
    fake_judge(&fake);
    CHECK_TOLD("done me-1 sent\n");
    done();
}

/* --- authorization --- */

#define ASKS(rest)                                               \
    "\"error\":{\"code\":-32001,\"message\":\"wait\",\"data\":{" \
    "\"authorizationRequest\":{\"id\":\"a1\"" rest "}}}"
#define AT_TEN_PAST "2027-01-15T08:10:00Z"

TEST(a_provisional_answer_keeps_the_call_waiting)
{
    static const struct {
        const char *member;
        struct str told;
    } cases[] = {
        { "\"result\":1", S("done me-1 result by srv = 1\n") },
        { "\"error\":{\"code\":-32002,\"message\":\"no\"}",
          S("done me-1 denied by srv denied -32002: no = "
            "{\"code\":-32002,\"message\":\"no\"}\n") },
        { "\"error\":{\"code\":-32001,\"message\":\"a\",\"data\":{"
          "\"authorizationRequest\":{}}}",
          S("done me-1 error by srv -32001: a = {\"code\":-32001,\"message\":\"a\",\"data\":{"
            "\"authorizationRequest\":{}}}\n") },
    };

    FOR_EACH_CASE(c, cases) {
        begin();
        CHECK_INT(ask(ASK_CALL), OK);
        CHECK_STR(answer("srv", "me-1",
                         ASKS(",\"reason\":\"big\",\"expiresAt\":\"" AT_TEN_PAST "\"")),
                  S("progress me-1 authorizing by srv: big\n"));
        fake_tick(&fake, 599'999);
        CHECK_TOLD("");
        CHECK_STR(answer("srv", "me-1", c->member), c->told);
        CHECK_STR(answer("srv", "me-1", c->member),
                  S("offence 1 srv: second_response, correlation_id\n"));
        done();
    }
}

TEST(a_denial_names_who_denied)
{
    static const struct {
        const char *data;
        bool is_heard; /* that ann said no */
        struct str by;
    } cases[] = {
        { "", false, S("srv") },
        { "", true, S("ann") },
        { ",\"decidedBy\":\"bob\"", true, S("bob") },
        { ",\"decidedBy\":\"b\\u0000b\"", false, S("srv") },
        { ",\"decidedBy\":7", true, S("ann") },
    };

    FOR_EACH_CASE(c, cases) {
        char member[256];
        struct buf want;
        struct str told;

        begin();
        CHECK_INT(ask(ASK_CALL), OK);
        (void)answer("srv", "me-1", ASKS(""));
        (void)say("srv", "mcp/request:notifications/authorization/request",
                  ABOUT("me-1") "\"payload\":{\"method\":"
                                "\"notifications/authorization/request\",\"params\":{"
                                "\"id\":\"a1\",\"tool\":\"add\",\"requester\":\"bot\"}}");
        if (c->is_heard) {
            const struct proposed *p = occupant_next_proposal(fake.occupant, NULL);
            char rest[512];

            (void)snprintf(rest, sizeof(rest),
                           "\"to\":[\"srv\"],\"correlation_id\":\"" STR_FMT
                           "\",\"payload\":{\"method\":\"authorization/respond\","
                           "\"params\":{\"authorizationId\":\"a1\",\"decision\":"
                           "\"deny\"}}",
                           STR_ARG(p->id));
            (void)say("ann", "mcp/request:authorization/respond", rest);
        }
        (void)snprintf(member, sizeof(member),
                       "\"error\":{\"code\":-32002,\"message\":\"no\",\"data\":{"
                       "\"reason\":\"big\"%s}}",
                       c->data);
        buf_init(&want, 256);
        buf_putf(&want,
                 "done me-1 denied by " STR_FMT " denied -32002: big = ", STR_ARG(c->by));
        told = answer("srv", "me-1", member);
        if (str_starts(told, S("proposal"))) /* is over, since the call is */
            told = str_slice(told, str_find(told, '\n', 0) + 1, told.len);
        CHECK_STR(str_slice(told, 0, want.len), buf_str(&want));
        buf_done(&want);
        done();
    }
}

TEST(an_authorization_is_waited_for_until_it_expires)
{
    static const struct {
        const char *member;
        uint64_t ms;
    } cases[] = {
        { ASKS(",\"expiresAt\":\"" AT_TEN_PAST "\""), 600'000 },
        { ASKS(""), 300'000 }, /* a default */
        { ASKS(",\"expiresAt\":\"soon\""), 300'000 },
        { ASKS(",\"expiresAt\":\"2027-01-15T08:00:01Z\""), 60'000 }, /* the call's own */
        { ASKS(",\"expiresAt\":\"2026-01-15T08:00:01Z\""), 60'000 },
        { ASKS(",\"expiresAt\":\"2029-01-15T08:00:01Z\""), 86'400'000 }, /* the most */
    };

    FOR_EACH_CASE(c, cases) {
        begin();
        CHECK_INT(ask(ASK_CALL), OK);
        CHECK_STR(answer("srv", "me-1", c->member),
                  S("progress me-1 authorizing by srv: wait\n"));
        fake_tick(&fake, c->ms - 1);
        CHECK_TOLD("");
        CHECK_INT(occupant_due_ms(fake.occupant), 1000 + c->ms);
        fake_tick(&fake, 1);
        CHECK_TOLD("done me-1 timed out timeout: no answer came in time\n");
        done();
    }
}

/* --- progress --- */

#define PROGRESS "mcp/request:notifications/progress"
#define STEP(rest) \
    "\"payload\":{\"method\":\"notifications/progress\",\"params\":{" rest "}}"

TEST(progress_of_who_was_asked_is_told_and_restarts_nothing)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    CHECK_STR(say("srv", PROGRESS,
                  STEP("\"progressToken\":\"me-1\",\"progress\":1,\"total\":4.25,"
                       "\"message\":\"on\"")),
              S("progress me-1 underway by srv 1/4.25: on\n"));
    CHECK_STR(say("srv", PROGRESS, STEP("\"progressToken\":\"me-1\",\"progress\":-2.5")),
              S("progress me-1 underway by srv -2.5/0\n"));
    CHECK_STR(say("srv", PROGRESS, STEP("\"progressToken\":\"me-1\",\"progress\":\"1\"")),
              S("progress me-1 underway by srv 0/0\n"));
    CHECK_STR(say("ann", PROGRESS, STEP("\"progressToken\":\"me-1\"")), S(""));
    CHECK_STR(say("srv", PROGRESS, STEP("\"progressToken\":\"me-2\"")), S(""));
    CHECK_STR(say("srv", PROGRESS, STEP("\"progressToken\":1")), S(""));
    CHECK_STR(say("srv", PROGRESS, STEP("")), S(""));
    CHECK_INT(occupant_due_ms(fake.occupant), 61'000);
    done();
}

/* --- refusals --- */

TEST(the_gateway_refuses)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    REFUSE("me-1", "rate_limited");
    CHECK_TOLD(HEARD_ERROR "done me-1 " REFUSED("rate_limited"));
    REFUSE("me-1", "rate_limited");
    CHECK_TOLD(HEARD_ERROR "refused me-1: rate_limited, no\n");
    CHECK_INT(ask(ASK_CALL), OK);
    occupant_forget(fake.occupant, S("me-2"));
    REFUSE("me-2", "rate_limited");
    CHECK_TOLD(HEARD_ERROR "refused me-2: rate_limited, no\n");
    done();
}

TEST(what_may_not_be_called_after_all_is_proposed)
{
    begin();
    CHECK_INT(ask(ASK_CALL_OR_PROPOSE), OK);
    (void)fake_sent(&fake);
    REFUSE("me-1", "capability_violation");
    CHECK_TOLD(HEARD_ERROR "progress me-1 proposed\n");
    CHECK_STR(
        fake_sent(&fake),
        S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"me-1\",\"ts\":\"2027-01-15T08:00:00."
          "000Z\",\"from\":\"bot\",\"to\":[\"srv\"],\"kind\":\"mcp/"
          "proposal:tools/call:add\",\"expires_at\":\"2027-01-15T08:05:00.000Z\","
          "\"payload\":{\"method\":\"tools/call\",\"params\":{\"name\":\"add\","
          "\"arguments\":{\"a\":1}}}}\n"));
    REFUSE("me-1", "capability_violation");
    CHECK_TOLD(HEARD_ERROR "done me-1 " REFUSED("capability_violation"));
    fake_tick(&fake, 0);
    CHECK_TOLD("proposal me-1 rejected\n");
    done();
}

#define TELL_TO_PROPOSE(id)                                                              \
    fake_hear_from(                                                                      \
        &fake, "system:gateway", "x" id, "system/error",                                 \
        "\"to\":[\"bot\"]," ABOUT(id) "\"payload\":{\"error\":\"capability_violation\"," \
                                      "\"message\":\"no\",\"propose_instead\":"          \
                                      "\"mcp/proposal:tools/call:add\"}")

static bool has_proposed(void)
{
    return strstr(fake_sent(&fake).ptr, "\"kind\":\"mcp/proposal:tools/call:add\"");
}

TEST(who_is_told_to_propose_does_so_whatever_he_may)
{
    begin_with("[\"mcp/request:*\"]");
    CHECK_INT(ask(ASK_CALL_OR_PROPOSE), OK);
    (void)fake_sent(&fake);
    TELL_TO_PROPOSE("me-1");
    CHECK_TOLD(HEARD_ERROR "progress me-1 proposed\n");
    CHECK(has_proposed());
    TELL_TO_PROPOSE("me-1"); /* once: no gateway makes it go round in circles */
    CHECK(strstr(fake_told(&fake).ptr, "done me-1 refused by system:gateway"));
    CHECK_INT(fake_sent(&fake).len, 0);
    CHECK_INT(ask(ASK_CALL_UNLESS_TOLD), OK);
    (void)fake_sent(&fake);
    TELL_TO_PROPOSE("me-2");
    CHECK(has_proposed());
    CHECK_INT(ask(ASK_CALL), OK);
    (void)fake_sent(&fake);
    TELL_TO_PROPOSE("me-3");
    CHECK_INT(fake_sent(&fake).len, 0);
    done();
}

TEST(who_proposes_only_when_told_does_not_by_himself)
{
    begin();
    CHECK_INT(ask(ASK_CALL_UNLESS_TOLD), OK);
    REFUSE("me-1", "capability_violation");
    CHECK_TOLD(HEARD_ERROR "done me-1 " REFUSED("capability_violation"));
    done();
    begin_with("[\"mcp/proposal:*\"]");
    CHECK_INT(ask(ASK_CALL_UNLESS_TOLD), ERR_FORBIDDEN);
    done();
}

TEST(who_calls_only_or_cannot_propose_is_refused)
{
    begin();
    CHECK_INT(ask(ASK_CALL), OK);
    REFUSE("me-1", "capability_violation");
    CHECK_TOLD(HEARD_ERROR "done me-1 " REFUSED("capability_violation"));
    CHECK_INT(ask(ASK_CALL_OR_PROPOSE), OK);
    REFUSE("me-2", "loop_guard");
    CHECK_TOLD(HEARD_ERROR "done me-2 " REFUSED("loop_guard"));
    CHECK_INT(ask(ASK_CALL_OR_PROPOSE), OK);
    fake.is_away = true;
    REFUSE("me-3", "capability_violation");
    CHECK_TOLD(HEARD_ERROR "done me-3 " REFUSED("capability_violation"));
    done();
    begin_with("[\"mcp/request:*\"]");
    CHECK_INT(ask(ASK_CALL_OR_PROPOSE), OK);
    REFUSE("me-1", "capability_violation");
    CHECK_TOLD(HEARD_ERROR "done me-1 " REFUSED("capability_violation"));
    done();
}

/* A request of a megabyte. */
static enum err ask_for_much(void)
{
    static char arguments[1 << 20];

    memset(arguments, ' ', sizeof(arguments));
    arguments[0] = '{';
    arguments[sizeof(arguments) - 1] = '}';
    return occupant_request(
        fake.occupant,
        &(struct asking){ .to = S("srv"),
                          .method = S("tools/call"),
                          .name = S("add"),
                          .arguments = { arguments, sizeof(arguments) },
                          .ops = { .on_done = fake_ask.on_done },
                          .user = &fake },
        fake.now, NULL, NULL);
}

TEST(so_much_is_kept_for_a_proposal_and_no_more)
{
    begin();
    for (unsigned i = 1; i <= 20; i++) {
        char id[16];

        CHECK_INT(ask_for_much(), OK);
        (void)snprintf(id, sizeof(id), "me-%u", i);
        (void)answer("srv", id, "\"result\":1");
    }
    for (unsigned i = 21; i <= 36; i++)
        CHECK_INT(ask_for_much(), OK);
    REFUSE("me-35", "capability_violation");
    CHECK_TOLD(HEARD_ERROR);
    REFUSE("me-36", "capability_violation");
    CHECK_TOLD(HEARD_ERROR "done me-36 " REFUSED("capability_violation"));
    done();
}

/* --- proposals of ours --- */

#define CALLS_IT \
    "\"payload\":{\"id\":9,\"method\":\"tools/call\",\"params\":{\"name\":\"add\"}}"

static void propose(void)
{
    CHECK_INT(ask(ASK_PROPOSE), OK);
    fake_tick(&fake, 0);
    CHECK_TOLD("progress me-1 proposed\nproposal me-1 open\n");
}

TEST(a_proposal_that_is_taken_up_has_the_answer_of_the_request)
{
    begin();
    propose();
    fake_tick(&fake, 299'999);
    fake_hear_from(&fake, "ann", "q1", REQUEST,
                   ABOUT("me-1") "\"to\":[\"srv\"]," CALLS_IT);
    CHECK_TOLD("heard q1 ann " REQUEST "\nproposal me-1 fulfilled\n"
               "progress me-1 taken up by ann\n");
    fake_tick(&fake, 59'999); /* it has the time of a call */
    CHECK_STR(answer("ann", "q1", "\"result\":1"),
              S("offence 1 ann: foreign_response, from\n"));
    CHECK_STR(answer("srv", "me-1", "\"result\":1"),
              S("offence 1 srv: foreign_response, from\n"));
    fake_hear_from(&fake, "srv", "q2", RESPONSE,
                   ABOUT("q1") "\"payload\":{\"id\":9,\"result\":3}");
    CHECK_TOLD("heard q2 srv " RESPONSE "\ndone me-1 result by srv = 3\n");
    CHECK_STR(answer("srv", "q1", "\"result\":1"), S(""));
    done();
}

TEST(what_takes_a_proposal_up_may_be_authorized_time_out_or_leave)
{
    begin();
    propose();
    fake_hear_from(&fake, "ann", "q1", REQUEST,
                   ABOUT("me-1") "\"to\":[\"srv\"]," CALLS_IT);
    (void)fake_told(&fake);
    CHECK_STR(answer("srv", "q1", ASKS("")),
              S("progress me-1 authorizing by srv: wait\n"));
    (void)fake_sent(&fake);
    fake_tick(&fake, 300'000);
    CHECK_TOLD("done me-1 timed out timeout: no answer came in time\n");
    CHECK_STR(fake_sent(&fake), S(""));
    done();
    begin();
    propose();
    fake_hear_from(&fake, "ann", "q1", REQUEST,
                   ABOUT("me-1") "\"to\":[\"srv\"]," CALLS_IT);
    (void)fake_told(&fake);
    fake_hear_gateway(&fake, "system/presence",
                      "\"event\":\"leave\",\"participant\":{\"id\":\"srv\"}");
    CHECK_TOLD("heard system/presence\nleaves srv\n"
               "done me-1 gone by srv gone: who was asked has left before answering\n");
    done();
}

TEST(a_request_that_only_cites_a_proposal_does_not_take_it_up)
{
    static const struct {
        const char *kind, *rest;
    } cases[] = {
        { "mcp/request:tools/call:sub",
          ABOUT("me-1") "\"to\":[\"srv\"],"
                        "\"payload\":{\"id\":9,\"method\":\"tools/call\",\"params\":{"
                        "\"name\":\"sub\"}}" },
        { "mcp/request:tools/call", ABOUT("me-1") "\"to\":[\"srv\"]," CALLS_IT },
        { "mcp/request:ping",
          ABOUT("me-1") "\"to\":[\"srv\"],\"payload\":{\"id\":9,\"method\":\"ping\"}" },
        { "mcp/request:prompts/get:add",
          ABOUT("me-1") "\"to\":[\"srv\"],\"payload\":{\"id\":9,\"method\":\"prompts/"
                        "get\",\"params\":{\"name\":\"add\"}}" },
        { REQUEST, ABOUT("me-1") "\"to\":[\"ann\"]," CALLS_IT },
        { REQUEST, ABOUT("me-1") "\"to\":[\"srv\",\"ann\"]," CALLS_IT },
        { REQUEST, ABOUT("me-1") CALLS_IT },
        { REQUEST, ABOUT("me-2") "\"to\":[\"srv\"]," CALLS_IT },
        { REQUEST, "\"to\":[\"srv\"]," CALLS_IT },
        { "mcp/approve", ABOUT("me-1") "\"payload\":{}" },
        { "mcp/withdraw", ABOUT("me-1") "\"payload\":{}" },
    };

    FOR_EACH_CASE(c, cases) {
        begin();
        propose();
        CHECK_STR(say("ann", c->kind, c->rest), S(""));
        fake_tick(&fake, 300'000);
        CHECK_TOLD("done me-1 declined expired: nobody decided on the proposal in time\n"
                   "proposal me-1 expired\n");
        CHECK_STR(answer("ann", "me-1", "\"result\":1"), S(""));
        done();
    }
}

TEST(a_proposal_to_nobody_is_answered_by_whoever_is_asked)
{
    static const struct {
        const char *to, *answers;
        struct str told;
    } cases[] = {
        { "\"to\":[\"srv\"],", "srv", S("done me-1 result by srv = 1\n") },
        { "\"to\":[\"srv\"],", "ann", S("offence 1 ann: foreign_response, from\n") },
        { "\"to\":[\"a\",\"srv\"],", "srv", S("done me-1 result by srv = 1\n") },
        { "\"to\":[\"a\",\"srv\"],", "ann",
          S("offence 1 ann: foreign_response, from\n") },
        { "", "ann", S("done me-1 result by ann = 1\n") },
    };

    FOR_EACH_CASE(c, cases) {
        char rest[256];

        begin();
        CHECK_INT(occupant_request(fake.occupant,
                                   &(struct asking){ .method = S("tools/call"),
                                                     .name = S("add"),
                                                     .how = ASK_PROPOSE,
                                                     .ops = fake_ask,
                                                     .user = &fake },
                                   fake.now, NULL, NULL),
                  OK);
        (void)snprintf(rest, sizeof(rest), ABOUT("me-1") "%s" CALLS_IT, c->to);
        fake_hear_from(&fake, "ann", "q1", REQUEST, rest);
        CHECK_TOLD("heard q1 ann " REQUEST "\nproposal me-1 fulfilled\n"
                   "progress me-1 proposed\nprogress me-1 taken up by ann\n");
        CHECK_STR(answer(c->answers, "q1", "\"result\":1"), c->told);
        done();
    }
}

TEST(a_request_to_very_many_is_not_followed)
{
    char rest[2048];
    size_t len = (size_t)snprintf(rest, sizeof(rest), ABOUT("me-1") "\"to\":[");

    begin();
    CHECK_INT(occupant_request(fake.occupant,
                               &(struct asking){ .method = S("tools/call"),
                                                 .name = S("add"),
                                                 .how = ASK_PROPOSE,
                                                 .ops = { .on_done = fake_ask.on_done },
                                                 .user = &fake },
                               fake.now, NULL, NULL),
              OK);
    for (int i = 0; i < 65; i++)
        len += (size_t)snprintf(rest + len, sizeof(rest) - len, "\"p%d\",", i);
    (void)snprintf(rest + len - 1, sizeof(rest) - len + 1, "]," CALLS_IT);
    CHECK_STR(say("ann", REQUEST, rest), S("proposal me-1 fulfilled\n"));
    fake_tick(&fake, 300'000);
    CHECK_TOLD("done me-1 declined expired: nobody decided on the proposal in time\n");
    done();
}

TEST(a_proposal_is_taken_up_once)
{
    begin();
    propose();
    (void)say("ann", REQUEST, ABOUT("me-1") "\"to\":[\"srv\"]," CALLS_IT);
    CHECK_STR(say("srv", REQUEST, ABOUT("me-1") "\"to\":[\"srv\"]," CALLS_IT), S(""));
    CHECK_STR(say("ann", "mcp/reject", ABOUT("me-1") "\"payload\":{}"), S(""));
    REFUSE("me-1", "proposal_state");
    CHECK_TOLD(HEARD_ERROR "refused me-1: proposal_state, no\n");
    done();
}

TEST(one_request_takes_up_one_proposal)
{
    begin();
    propose();
    CHECK_INT(ask(ASK_PROPOSE), OK);
    fake_tick(&fake, 0);
    fake_hear_from(&fake, "ann", "q1", REQUEST,
                   ABOUT("me-1") "\"to\":[\"srv\"]," CALLS_IT);
    (void)fake_told(&fake);
    fake_hear_from(&fake, "ann", "q1", REQUEST,
                   ABOUT("me-2") "\"to\":[\"srv\"]," CALLS_IT);
    CHECK_TOLD("heard q1 ann " REQUEST "\nproposal me-2 fulfilled\n");
    CHECK_STR(answer("srv", "q1", "\"result\":1"), S("done me-1 result by srv = 1\n"));
    CHECK_STR(answer("srv", "q1", "\"result\":1"), S(""));
    done();
}

TEST(a_call_that_another_makes_is_not_ours_to_stop)
{
    begin();
    propose();
    (void)say("ann", REQUEST, ABOUT("me-1") "\"to\":[\"srv\"]," CALLS_IT);
    (void)fake_sent(&fake);
    CHECK_INT(occupant_cancel(fake.occupant, S("me-1"), S("so"), fake.now), OK);
    CHECK_STR(fake_sent(&fake), S(""));
    fake_tick(&fake, 0);
    CHECK_TOLD("done me-1 cancelled cancelled: so\n");
    CHECK_STR(answer("eve", "s1", "\"result\":1"), S(""));
    done();
}

TEST(a_proposal_is_rejected_or_withdrawn_elsewhere)
{
    begin();
    propose();
    CHECK_STR(
        say("ann", "mcp/reject", ABOUT("me-1") "\"payload\":{\"reason\":\"n\\u006f\"}"),
        S("proposal me-1 rejected\ndone me-1 declined by ann rejected: no\n"));
    done();
    begin();
    propose();
    CHECK_STR(say("bot", "mcp/withdraw", ABOUT("me-1") "\"payload\":{}"),
              S("proposal me-1 withdrawn\ndone me-1 declined by bot withdrawn\n"));
    done();
}
