/* SPDX-License-Identifier: Apache-2.0 */
/* What owners ask while they work, of clients of both eras. */
#include <stdlib.h>

#include "wish_stage.h"

#define TOOL "tools/call:add"
#define FORM                                                                            \
    "{\"mode\":\"form\",\"message\":\"who?\",\"requestedSchema\":{\"type\":\"object\"," \
    "\"properties\":{\"n\":{\"type\":\"string\"}},\"required\":[\"n\"]}}"
#define SAMPLE                                                                            \
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"x\"}}]," \
    "\"maxTokens\":5}"
#define ASK(id, params) "\"id\":" id ",\"params\":" params
#define ELICIT          "elicitation/create"
#define FORMS           "{\"elicitation\":{}}"

/* --- legacy --- */

TEST(a_legacy_client_is_asked_on_the_strand_of_its_call)
{
    begin(ALL);
    post("s", LEGACY, CALL("1", "add", "{}"));
    say("me-1", ELICIT, ASK("\"q\"", FORM));
    SAID(
        "s> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\",\"params\":" FORM
        "}\n");
    (void)fake_sent(&fake);
    CHECK(!reply("{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"));
    CHECK(!reply("{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}"));
    CHECK(reply(
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\",\"x\":1.0}}"));
    CHECK(!reply("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"));
    SENT("\"kind\":\"mcp/response:elicitation/create\"");
    SENT("\"to\":[\"srv\"]");
    SENT("\"correlation_id\":\"e1\"");
    SENT("\"id\":\"q\",\"result\":{\"action\":\"accept\",\"x\":1.0}");
    say("me-1", "sampling/createMessage", ASK("9", SAMPLE));
    SAYS("\"id\":2,\"method\":\"sampling/createMessage\"");
    (void)fake_sent(&fake);
    CHECK(reply(
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-1,\"message\":\"no\"}}"));
    SENT("\"id\":9,\"error\":{\"code\":-1,\"message\":\"no\"}");
    done();
}

TEST(what_a_client_cannot_be_asked_is_answered_for_it)
{
    begin(ALL);
    post("s", LEGACY, CALL("1", "add", "{}"));
    (void)fake_sent(&fake);
    say("me-1", "roots/list", ASK("1", "{}"));
    SAID("");
    SENT("\"error\":{\"code\":-32601");
    say("me-1", "tools/call", ASK("1", "{}"));
    SAID("not asked\n");
    say("me-7", ELICIT, ASK("1", FORM));
    SAID("not asked\n");
    done();
}

TEST(questions_end_with_their_call_and_by_their_owner)
{
    begin(ALL);
    post("s", LEGACY, CALL("1", "add", "{}"));
    say("me-1", ELICIT, ASK("1", FORM));
    say("me-1", ELICIT, ASK("2", FORM));
    (void)said_so_far();
    hear_from(
        "srv", "mcp/request:notifications/cancelled",
        "\"to\":[\"bot\"],\"correlation_id\":\"e1\",\"payload\":{\"jsonrpc\":\"2.0\","
        "\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}");
    SAYS("s> {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
         "\"requestId\":1,");
    CHECK(!reply("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"));
    (void)said_so_far();
    answer("me-1", TOOL, "\"result\":{}");
    SAYS("\"requestId\":2,");
    SAYS("s 200 {");
    done();
}

TEST(too_much_is_not_asked_at_once)
{
    begin(ALL);
    post("s", LEGACY, CALL("1", "add", "{}"));
    for (int i = 0; i < WISH_QUESTIONS; i++)
        say("me-1", ELICIT, ASK("1", FORM));
    (void)fake_sent(&fake);
    (void)said_so_far();
    say("me-1", ELICIT, ASK("1", FORM));
    SAID("");
    SENT("too much is asked at once");
    done();
}

/* --- modern --- */

static char state[512];

static void retry(const char *strand, const char *name, const char *with,
                  const char *responses)
{
    char body[2048];

    (void)snprintf(body, sizeof(body),
                   "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{"
                   "\"name\":\"%s\",\"arguments\":{},\"requestState\":\"%s\","
                   "\"inputResponses\":%s" CLAIM(FORMS) "}}",
                   name, with, responses);
    post(strand, MODERN, body);
}

/* The first question, which is with the client. */
static void park(void)
{
    begin(ALL);
    post("s", MODERN, CALL_WITH("1", "add", "{}", CLAIM(FORMS)));
    say("me-1", ELICIT, ASK("\"q\"", FORM));
    SAID("");
    pass(WISH_COLLECT_MS);
    find_text("requestState", state, sizeof(state));
}

#define ACCEPTED "{\"action\":\"accept\",\"content\":{\"n\":\"x\"}}"

TEST(a_modern_client_is_asked_by_the_result)
{
    park();
    SAYS(
        "s 200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"input_required\","
        "\"inputRequests\":{\"q1\":{\"method\":\"elicitation/create\",\"params\":" FORM
        "}},\"requestState\":\"moot-");
    SAYS("\",\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"hall\"}}}}");
    (void)said_so_far();
    (void)fake_sent(&fake);
    retry("t", "add", state, "{\"q1\":" ACCEPTED ",\"zz\":1}");
    SAID("");
    SENT("\"correlation_id\":\"e1\"");
    SENT("\"id\":\"q\",\"result\":" ACCEPTED);
    answer("me-1", TOOL, "\"result\":{\"resultType\":\"complete\",\"content\":[]}");
    SAYS("t 200 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"complete\"");
    CHECK_INT(bot.wish_count, 0);
    done();
}

TEST(questions_that_come_together_go_out_together)
{
    begin(ALL);
    post("s", MODERN, CALL_WITH("1", "add", "{}", CLAIM(FORMS)));
    (void)fake_sent(&fake);
    say("me-1", ELICIT, ASK("1", FORM));
    say("me-1", "roots/list", ASK("2", "{}"));
    say("me-1", ELICIT,
        ASK("3", "{\"mode\":\"form\",\"message\":\"b\",\"requestedSchema\":{"
                 "\"type\":\"object\",\"properties\":{}},"
                 "\"elicitationId\":\"x\"}"));
    pass(WISH_COLLECT_MS);
    SAYS("\"q1\":");
    SAYS("\"q3\":");
    CHECK(!strstr(buf_cstr(&said), "\"q2\":"));
    CHECK(!strstr(buf_cstr(&said), "elicitationId"));
    SENT("\"id\":2,\"error\":{\"code\":-32601");
    done();
}

TEST(what_is_missing_or_malformed_is_asked_again)
{
    static const char *const answers[] = {
        "{}",
        "{\"q1\":7}",
        "{\"q1\":{\"action\":\"maybe\"}}",
        "[]",
        "{\"q2\":" ACCEPTED "}",
    };

    FOR_EACH_CASE(c, answers) {
        park();
        (void)said_so_far();
        (void)fake_sent(&fake);
        retry("t", "add", state, *c);
        SAYS("t 200 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":"
             "\"input_required\",\"inputRequests\":{\"q1\":");
        CHECK_STR(fake_sent(&fake), S(""));
        find_text("requestState", state, sizeof(state));
        (void)said_so_far();
        retry("u", "add", state, "{\"q1\":" ACCEPTED "}");
        SENT("\"result\":" ACCEPTED);
        done();
    }
}

TEST(a_state_belongs_to_its_request)
{
    char bad[600];

    park();
    (void)said_so_far();
    (void)snprintf(bad, sizeof(bad), "%s-TAMPERED", state);
    retry("t", "add", bad, "{}");
    SAYS("\"error\":{\"code\":-32602");
    (void)said_so_far();
    retry("u", "rm", state, "{}");
    SAYS("\"error\":{\"code\":-32602");
    (void)said_so_far();
    bot.id = S("eve");
    retry("v", "add", state, "{}");
    SAYS("\"error\":{\"code\":-32602");
    bot.id = S("bot");
    (void)said_so_far();
    (void)fake_sent(&fake);
    retry("w", "add", "the owner's", "{}"); /* a modern server's own */
    SAID("");
    SENT("\"requestState\":\"the owner's\"");
    done();
}

TEST(who_does_not_come_back_in_time_finds_nothing_run_again)
{
    park();
    (void)said_so_far();
    pass(WISH_PARKED_MS - 1);
    CHECK_INT(bot.wish_count, 1);
    (void)fake_sent(&fake);
    pass(1);
    CHECK_INT(bot.wish_count, 0);
    SENT("notifications/cancelled");
    (void)fake_sent(&fake);
    retry("t", "add", state, "{\"q1\":" ACCEPTED "}");
    SAYS("\"isError\":true");
    SAYS("was not run again");
    CHECK_STR(fake_sent(&fake), S(""));
    done();
}

TEST(an_answer_while_nobody_is_there_is_kept)
{
    park();
    (void)said_so_far();
    answer("me-1", TOOL, "\"result\":{\"resultType\":\"complete\",\"n\":1}");
    SAID("");
    retry("t", "add", state, "{}");
    SAYS("\"n\":1");
    CHECK_INT(bot.wish_count, 0);
    done();
}

TEST(who_can_answer_nothing_is_told_what_it_takes)
{
    begin(ALL);
    post("s", MODERN, CALL_WITH("1", "add", "{}", CLAIM("{\"roots\":{}}")));
    say("me-1", ELICIT, ASK("1", FORM));
    (void)fake_sent(&fake);
    pass(WISH_COLLECT_MS);
    SAYS("s 400 {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32021,");
    SAYS("\"data\":{\"requiredCapabilities\":{\"elicitation\":{\"form\":{}}}}");
    SENT("notifications/cancelled");
    CHECK_INT(bot.wish_count, 0);
    done();
}
