/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that somebody else decides about. */
#include <stdlib.h>

#include "wish_stage.h"

#define TOOL    "tools/call:add"
#define TOKEN   ",\"_meta\":{\"progressToken\":\"p\"}"
#define POLLS   "{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"
#define RESULT  "\"result\":{\"content\":[],\"n\":1.0}"
#define MODERNS "\"result\":{\"resultType\":\"complete\",\"n\":1.0}"

/* ann asks for it, and srv answers. */
static void fulfil(const char *proposal, const char *member)
{
    char rest[1024];

    (void)snprintf(
        rest, sizeof(rest),
        "\"to\":[\"srv\"],\"correlation_id\":\"%s\",\"payload\":{\"jsonrpc\":\"2.0\","
        "\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"add\","
        "\"arguments\":{}}}",
        proposal);
    hear_from("ann", "mcp/request:" TOOL, rest);
    (void)snprintf(rest, sizeof(rest),
                   "\"to\":[\"ann\",\"bot\"],\"correlation_id\":\"e%u\",\"payload\":{"
                   "\"jsonrpc\":\"2.0\",\"id\":5,%s}",
                   envelopes, member);
    hear_from("srv", "mcp/response:" TOOL, rest);
}

static void reject(const char *proposal, const char *reason)
{
    char rest[512];

    (void)snprintf(
        rest, sizeof(rest),
        "\"to\":[\"bot\"],\"correlation_id\":\"%s\",\"payload\":{\"reason\":\"%s\"}",
        proposal, reason);
    hear_from("ann", "mcp/reject", rest);
}

static void propose(enum client client, const char *capable)
{
    char body[1024];

    begin(PROPOSER);
    (void)snprintf(body, sizeof(body), CALL_WITH("1", "add", "{}", CLAIM("%s")), capable);
    post("s", client, client == LEGACY ? CALL_WITH("1", "add", "{}", TOKEN) : body);
    pass(0);
}

TEST(a_call_that_may_only_be_proposed_waits_for_a_decision)
{
    propose(LEGACY, "");
    SENT("\"kind\":\"mcp/proposal:tools/call:add\"");
    SENT("\"reason\":\"for an MCP client\"");
    CHECK(!strstr(buf_cstr(&fake.sent), "progressToken"));
    SAID("");
    pass(WISH_PROGRESS_MS - 1);
    SAID("");
    pass(1);
    SAID("s> {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
         "\"progressToken\":\"p\",\"progress\":1,\"message\":\"waiting for a decision "
         "(proposal me-1)\"}}\n");
    pass(WISH_PROGRESS_MS);
    SAYS("\"progress\":2,");
    (void)said_so_far();
    fulfil("me-1", RESULT);
    SAID("s 200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[],\"n\":1.0}}\n");
    CHECK_INT(bot.wish_count, 0);
    done();
}

TEST(a_decision_against_it_is_told_in_words)
{
    propose(LEGACY, "");
    reject("me-1", "too dangerous");
    SAID(
        "s 200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\","
        "\"text\":\"ann rejected it: too dangerous\"}],\"isError\":true}}\n");
    done();

    propose(LEGACY, "");
    for (uint64_t ms = 0; ms < WISH_PROPOSAL_MS; ms += WISH_PROGRESS_MS)
        pass(WISH_PROGRESS_MS);
    SAYS("\"text\":\"nobody decided within 5 minutes\"");
    done();

    propose(MODERN, "{}");
    reject("me-1", "");
    SAYS("\"resultType\":\"complete\"");
    SAYS("\"text\":\"ann rejected it\"");
    done();
}

TEST(what_the_gateway_refuses_is_told_in_words)
{
    propose(LEGACY, "");
    fake_hear_from(&fake, "system:gateway", "x", "system/error",
                   "\"to\":[\"bot\"],\"correlation_id\":\"me-1\",\"payload\":{\"error\":"
                   "\"rate_limited\",\"message\":\"slow\",\"retry_after_ms\":1200}");
    SAYS("\"text\":\"the gateway refused it: rate_limited, try again in 2 s\"");
    done();
}

TEST(the_same_call_again_joins_the_one_that_is_open)
{
    propose(LEGACY, "");
    (void)fake_sent(&fake);
    post(
        "t", LEGACY,
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{ \"arguments\":"
        "{},\"_meta\":{\"x\":1},\"name\":\"add\"}}");
    CHECK_STR(fake_sent(&fake), S(""));
    CHECK_INT(bot.wish_count, 1);
    post("u", LEGACY, CALL("3", "add", "{\"a\":1}"));
    SENT("mcp/proposal:tools/call:add");
    CHECK_INT(bot.wish_count, 2);
    (void)fake_sent(&fake);
    post("v", LEGACY, CALL("4", "add", "{\"a\":1.0}"));
    CHECK_STR(fake_sent(&fake), S(""));
    CHECK_INT(bot.wish_count, 2);
    pass(0);
    fulfil("me-1", RESULT);
    SAYS("s 200 {\"jsonrpc\":\"2.0\",\"id\":1,");
    SAYS("t 200 {\"jsonrpc\":\"2.0\",\"id\":2,");
    CHECK_INT(bot.wish_count, 1);
    done();
}

TEST(nobody_is_bothered_with_completions)
{
    begin(PROPOSER);
    (void)fake_sent(&fake);
    post("s", LEGACY,
         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"completion/complete\",\"params\":{"
         "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"x\"},\"argument\":{\"name\":\"a\","
         "\"value\":\"b\"}}}");
    SAYS("\"code\":-32602");
    CHECK_STR(fake_sent(&fake), S(""));
    done();
}

TEST(two_calls_at_once_are_one_proposal)
{
    begin(PROPOSER);
    post("s", LEGACY, CALL("1", "add", "{}"));
    (void)fake_sent(&fake);
    post("t", LEGACY, CALL("2", "add", "{}"));
    CHECK_STR(fake_sent(&fake), S(""));
    CHECK_INT(bot.wish_count, 1);
    done();
}

TEST(a_gateway_that_goes_waits_for_what_is_carried_out)
{
    propose(LEGACY, "");
    hear_from(
        "ann", "mcp/request:" TOOL,
        "\"to\":[\"srv\"],\"correlation_id\":\"me-1\",\"payload\":{\"jsonrpc\":"
        "\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"add\"}}");
    wish_drain(&bot);
    SAID("");
    CHECK_INT(bot.wish_count, 1);
    done();
}

TEST(direct_calls_never_join)
{
    begin(ALL);
    post("s", LEGACY, CALL("1", "add", "{}"));
    (void)fake_sent(&fake);
    post("t", LEGACY, CALL("2", "add", "{}"));
    SENT("mcp/request:tools/call:add");
    CHECK_INT(bot.wish_count, 2);
    done();
}

TEST(the_last_one_who_waits_withdraws_it)
{
    propose(LEGACY, "");
    post("t", LEGACY, CALL("2", "add", "{}"));
    (void)fake_sent(&fake);
    wish_cancel(&bot, &visit, (struct json_span){ .type = JSON_NUMBER, .text = S("1") });
    SAID("s 202 \n");
    CHECK_STR(fake_sent(&fake), S(""));
    wish_cancel(&bot, &visit, (struct json_span){ .type = JSON_NUMBER, .text = S("2") });
    SENT("\"kind\":\"mcp/withdraw\"");
    CHECK_INT(bot.wish_count, 0);
    done();
}

/* --- modern --- */

TEST(a_modern_client_is_held_and_comes_back)
{
    char state[512], body[2048];

    propose(MODERN, "{}");
    pass(hall.settings.hold_ms - 1);
    SAID("");
    pass(1);
    SAYS(
        "s 200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"input_required\","
        "\"requestState\":\"moot-");
    find_text("requestState", state, sizeof(state));
    (void)said_so_far();
    (void)fake_sent(&fake);
    (void)snprintf(body, sizeof(body),
                   CALL_WITH("2", "add", "{}", ",\"requestState\":\"%s\"" CLAIM("{}")),
                   state);
    post("t", MODERN, body);
    CHECK_STR(fake_sent(&fake), S(""));
    SAID("");
    fulfil("me-1", MODERNS);
    SAYS(
        "t 200 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"complete\",\"n\":1.0");
    done();
}

TEST(a_decision_while_nobody_waits_is_kept_for_the_next_call)
{
    propose(MODERN, "{}");
    pass(hall.settings.hold_ms);
    (void)said_so_far();
    fulfil("me-1", RESULT); /* asked for in the other era */
    SAID("");
    post("t", MODERN, CALL_WITH("2", "add", "{}", CLAIM("{}")));
    SAYS("t 200 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{");
    SAYS("\"resultType\":\"complete\"");
    CHECK_INT(bot.wish_count, 0);
    done();

    propose(MODERN, "{}");
    pass(hall.settings.hold_ms);
    fulfil("me-1", RESULT);
    pass(WISH_KEPT_MS);
    CHECK_INT(bot.wish_count, 0);
    done();
}

static char task[512];

static void ask_task_with(const char *strand, const char *method, const char *id,
                          const char *claim)
{
    char body[2048];

    (void)snprintf(
        body, sizeof(body),
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"%s\",\"params\":{\"taskId\":"
        "\"%s\"%s}}",
        method, id, claim);
    post(strand, MODERN, body);
}

static void ask_task(const char *strand, const char *method, const char *id)
{
    ask_task_with(strand, method, id, CLAIM(POLLS));
}

static void hand_out(void)
{
    propose(MODERN, POLLS);
    SAYS(
        "s 200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"task\",\"taskId\":"
        "\"moot-");
    SAYS("\"status\":\"working\"");
    find_text("taskId", task, sizeof(task));
    (void)said_so_far();
}

TEST(who_polls_tasks_gets_one)
{
    char bad[600];

    hand_out();
    ask_task("t", "tasks/get", task);
    SAYS("\"result\":{\"resultType\":\"complete\",\"taskId\":\"moot-");
    SAYS("\"status\":\"working\"");
    CHECK(!strstr(buf_cstr(&said), "\"result\":{\"resultType\":\"complete\",\"n\""));
    (void)said_so_far();
    (void)snprintf(bad, sizeof(bad), "%sx", task);
    ask_task("u", "tasks/get", bad);
    SAYS("\"code\":-32602,\"message\":\"Unknown task\"");
    fulfil("me-1", MODERNS);
    (void)said_so_far();
    ask_task("v", "tasks/get", task);
    SAYS("\"status\":\"completed\"");
    SAYS("\"result\":{\"resultType\":\"complete\",\"n\":1.0}");
    pass(WISH_TASK_MS);
    CHECK_INT(bot.wish_count, 0);
    done();
}

/* Whoever's task it is. */
TEST(who_does_not_declare_tasks_has_none)
{
    static const char *const methods[] = { "tasks/get", "tasks/update", "tasks/cancel" };
    static const char *const strand[] = { "t", "u", "v" };

    hand_out();
    (void)fake_sent(&fake);
    for (size_t i = 0; i < COUNT(methods); i++) {
        ask_task_with(strand[i], methods[i], i ? task : "other", CLAIM("{\"roots\":{}}"));
        SAYS(" 400 {\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":-32021,"
             "\"message\":\"Missing required client capability\",\"data\":{"
             "\"requiredCapabilities\":{\"extensions\":{"
             "\"io.modelcontextprotocol/tasks\":{}}}}}}\n");
        (void)said_so_far();
    }
    CHECK_STR(fake_sent(&fake), S(""));
    CHECK_INT(bot.wish_count, 1);
    done();
}

TEST(a_task_that_is_cancelled_withdraws_its_proposal)
{
    hand_out();
    (void)fake_sent(&fake);
    ask_task("t", "tasks/cancel", task);
    SAID(
        "t 200 {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{\"resultType\":\"complete\"}}\n");
    SENT("mcp/withdraw");
    ask_task("u", "tasks/get", task);
    SAYS("\"status\":\"cancelled\"");
    (void)said_so_far();
    ask_task("v", "tasks/cancel", task);
    SAYS("{\"resultType\":\"complete\"}");
    done();
}

TEST(who_waits_for_what_another_had_as_a_task_hears_that_it_was_cancelled)
{
    hand_out();
    post("w", MODERN, CALL_WITH("2", "add", "{}", CLAIM("{}")));
    ask_task("t", "tasks/cancel", task);
    buf_clear(&said);
    pass(0);
    SAYS("w 200 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{");
    SAYS("it was cancelled");
    SAYS("\"isError\":true");
    done();
}

/* --- other lives --- */

TEST(a_gateway_that_goes_leaves_proposals_open)
{
    propose(LEGACY, "");
    post(
        "t", LEGACY,
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/read\",\"params\":{\"uri\":"
        "\"file:///a\"}}");
    (void)fake_sent(&fake);
    wish_drain(&bot);
    SAYS(
        "s 200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\","
        "\"text\":\"the gateway restarts: repeat the call, the proposal stays\"");
    CHECK(!strstr(buf_cstr(&said), "t 200"));
    CHECK_STR(fake_sent(&fake), S(""));
    CHECK_INT(bot.wish_count, 1);
    done();
}

TEST(a_proposal_of_another_life_is_joined)
{
    begin(PROPOSER);
    fake_hear_gateway(
        &fake, "system/welcome",
        "\"you\":{\"id\":\"bot\",\"capabilities\":" PROPOSER
        "},\"participants\":[],\"moot\":{"
        "\"proposals\":[{\"id\":\"old-1\",\"proposer\":\"bot\",\"kind\":"
        "\"mcp/proposal:tools/call:add\",\"created\":\"2027-01-15T07:59:00Z\",\"expires\":"
        "\"2027-01-15T08:03:00Z\",\"envelope\":{\"protocol\":\"mcpx/v0.1\",\"id\":\"old-1\","
        "\"from\":\"bot\",\"to\":[\"srv\"],\"kind\":\"mcp/proposal:tools/call:add\","
        "\"payload\":{\"method\":\"tools/call\",\"params\":{\"name\":\"add\",\"arguments\":{}}}"
        "}}]}");
    (void)fake_sent(&fake);
    post("s", LEGACY, CALL("1", "add", "{}"));
    pass(0);
    CHECK_STR(fake_sent(&fake), S(""));
    fulfil("old-1", RESULT);
    SAYS("s 200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[],\"n\":1.0}}");
    done();
}

/* --- the client's own user --- */

static struct fake_seat concierge;

static void begin_approving(void)
{
    begin(PROPOSER);
    fake_seat_init(&concierge, &(struct occupant_settings){});
    fake_seat_welcome(&concierge, ALL, "");
    hall.settings.may_self_approve = true;
    hall.occupant = concierge.occupant;
}

static void done_approving(void)
{
    fake_seat_done(&concierge);
    done();
}

TEST(where_it_is_allowed_the_clients_own_user_decides)
{
    static const struct {
        const char *reply, *sent, *withdrawn, *said;
    } cases[] = {
        { "\"result\":{\"action\":\"accept\",\"content\":{\"approve\":true}}",
          "\"self_approved\":\"bot\"", NULL, "" },
        { "\"result\":{\"action\":\"accept\",\"content\":{\"approve\":false}}", NULL,
          "mcp/withdraw", "it was not approved" },
        { "\"result\":{\"action\":\"decline\"}", NULL, "mcp/withdraw",
          "it was not approved" },
        { "\"result\":{\"action\":\"cancel\"}", NULL, NULL, "" },
        { "\"error\":{\"code\":-1,\"message\":\"no\"}", NULL, NULL, "" },
    };

    FOR_EACH_CASE(c, cases) {
        char text[512];

        begin_approving();
        post("s", LEGACY, CALL("1", "add", "{\"a\":\"b\"}"));
        pass(0);
        SAYS(
            "s> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\",\"params\":{"
            "\"mode\":\"form\",\"message\":\"Approve this call? srv: tools/call add {\\\"a\\\":"
            "\\\"b\\\"}\"");
        (void)said_so_far();
        (void)fake_sent(&fake);
        (void)snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":1,%s}", c->reply);
        CHECK(reply(text));
        pass(0);
        CHECK_INT(strstr(buf_cstr(&concierge.sent), "self_approved") != NULL,
                  c->sent != NULL);
        if (c->sent) {
            CHECK(strstr(buf_cstr(&concierge.sent), c->sent));
            CHECK(strstr(buf_cstr(&concierge.sent), "\"correlation_id\":\"me-1\""));
            CHECK(strstr(buf_cstr(&concierge.sent), "{\"name\":\"add\",\"arguments\":{"
                                                    "\"a\":\"b\"}}"));
        }
        CHECK_INT(strstr(buf_cstr(&fake.sent), "mcp/withdraw") != NULL,
                  c->withdrawn != NULL);
        SAYS(c->said);
        CHECK_INT(bot.wish_count, c->withdrawn ? 0 : 1);
        done_approving();
    }
}

TEST(a_modern_user_decides_with_the_retry)
{
    char state[512], body[2048];

    begin_approving();
    post("s", MODERN, CALL_WITH("1", "add", "{}", CLAIM("{\"elicitation\":{}}")));
    pass(0);
    pass(WISH_COLLECT_MS);
    SAYS("\"q1\":{\"method\":\"elicitation/create\"");
    find_text("requestState", state, sizeof(state));
    (void)said_so_far();
    (void)snprintf(
        body, sizeof(body),
        CALL_WITH("2", "add", "{}",
                  ",\"requestState\":\"%s\",\"inputResponses\":{\"q1\":{\"action\":"
                  "\"accept\",\"content\":{\"approve\":true}}}" CLAIM("{}")),
        state);
    post("t", MODERN, body);
    CHECK(strstr(buf_cstr(&concierge.sent), "self_approved"));
    SAID("");
    fulfil("me-1", MODERNS);
    SAYS("t 200 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":\"complete\"");
    done_approving();
}

TEST(a_modern_user_may_leave_it_to_others)
{
    char state[512], body[2048];

    begin_approving();
    post("s", MODERN, CALL_WITH("1", "add", "{}", CLAIM("{\"elicitation\":{}}")));
    pass(0);
    pass(WISH_COLLECT_MS);
    find_text("requestState", state, sizeof(state));
    (void)said_so_far();
    (void)snprintf(body, sizeof(body),
                   CALL_WITH("2", "add", "{}",
                             ",\"requestState\":\"%s\",\"inputResponses\":{\"q1\":{"
                             "\"action\":\"cancel\"}}" CLAIM("{}")),
                   state);
    post("t", MODERN, body);
    SAID("");
    pass(hall.settings.hold_ms); /* no longer than anybody else is held */
    SAYS("t 200 {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"resultType\":"
         "\"input_required\",\"requestState\":");
    find_text("requestState", state, sizeof(state));
    (void)said_so_far();
    (void)snprintf(body, sizeof(body),
                   CALL_WITH("3", "add", "{}", ",\"requestState\":\"%s\"" CLAIM("{}")),
                   state);
    post("u", MODERN, body);
    SAID("");
    fulfil("me-1", MODERNS);
    SAYS("u 200 {\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"resultType\":\"complete\"");
    done_approving();
}

TEST(nobody_approves_himself_where_it_is_not_said)
{
    begin_approving();
    hall.settings.may_self_approve = false;
    post("s", LEGACY, CALL("1", "add", "{}"));
    pass(0);
    SAID("");
    done_approving();
}
