/* SPDX-License-Identifier: Apache-2.0 */
/* A session with a modern server: claims, headers, questions by asking again, listening.
 */
#include "fake_carrier.h"
#include "harness.h"

static const struct mcp_session_settings modern = { .era = ERA_MODERN,
                                                    .has_sampling = true,
                                                    .has_elicitation = true,
                                                    .has_url_elicitation = true,
                                                    .has_tasks = true,
                                                    .max_rounds = 3 };

static void begin(struct fake_carrier *fake, const char *capable)
{
    fake_carrier_ready(fake, &modern, capable);
    fake->is_brief = true;
}

static void begin_call(struct fake_carrier *fake)
{
    begin(fake, "{}");
    CHECK_INT(fake_carrier_call(fake, "tools/call", "{\"name\":\"a\"}"), 2);
    (void)fake_carrier_sent(fake);
}

TEST(a_call_brings_its_claim_and_its_name)
{
    struct fake_carrier fake;

    begin(&fake, "{}");
    fake.is_brief = false;
    (void)fake_carrier_call(&fake, "resources/read",
                            "{\"uri\":\"x:\\u0061\",\"_meta\":{"
                            "\"io.modelcontextprotocol/protocolVersion\":\"2030-01-01\","
                            "\"io.modelcontextprotocol/logLevel\":\"debug\",\"k\":1}}");
    CHECK_STR(fake_carrier_sent(&fake),
              S("2 resources/read {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":"
                "\"resources/read\",\"params\":{\"uri\":\"x:\\u0061\",\"_meta\":{\"k\":1,"
                "\"progressToken\":2,"
                "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"moot\",\"version\":"
                "\"1\"},\"io.modelcontextprotocol/clientCapabilities\":{\"sampling\":"
                "{\"tools\":{}},\"elicitation\":{\"form\":{},\"url\":{}},\"extensions\":"
                "{\"io.modelcontextprotocol/tasks\":{}}},"
                "\"io.modelcontextprotocol/logLevel\":\"debug\"}}}\n"
                "  x:a\n"));
    fake_carrier_done(&fake);
}

static const char tool[] =
    "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"r\":{"
    "\"type\":\"string\",\"x-mcp-header\":\"Region\"}}}}";

static void call_tool(struct fake_carrier *fake)
{
    uint64_t id;

    CHECK_INT(
        mcp_session_call(fake->session,
                         &(struct mcp_call){
                             .method = S("tools/call"),
                             .params = S("{\"name\":\"a\",\"arguments\":{\"r\":\"eu\"}}"),
                             .tool = str_of(tool),
                             .ops = fake_carrier_call_ops,
                             .user = fake },
                         fake->now_ms, &id),
        OK);
}

TEST(arguments_that_a_tool_wants_in_headers_go_there)
{
    struct fake_carrier fake;

    begin(&fake, "{}");
    fake.is_terse = true;
    call_tool(&fake);
    CHECK_STR(fake_carrier_sent(&fake), S("2 tools/call\n  a\n  Mcp-Param-Region: eu\n"));
    fake_carrier_done(&fake);
}

TEST(headers_that_do_not_match_are_made_anew_once)
{
    struct fake_carrier fake;

    begin(&fake, "{}");
    fake.is_terse = true;
    call_tool(&fake);
    (void)fake_carrier_sent(&fake);
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32020,"
                             "\"message\":\"m\"}}");
    CHECK_STR(fake_carrier_sent(&fake), S("3 tools/list\n"));
    fake.is_terse = false;
    fake.is_brief = true;
    fake_carrier_answers(&fake, 3, "{\"tools\":[{\"name\":\"b\"}],\"nextCursor\":\"\"}");
    CHECK_STR(fake_carrier_sent(&fake), S("4 tools/list {\"cursor\":\"\"}\n"));
    fake.is_terse = true;
    fake_carrier_answers(&fake, 4,
                         "{\"tools\":[{\"name\":\"a\",\"inputSchema\":{\"type\":"
                         "\"object\",\"properties\":{\"r\":{\"type\":\"string\","
                         "\"x-mcp-header\":\"Area\"}}}}]}");
    CHECK_STR(fake_carrier_sent(&fake), S("5 tools/call\n  a\n  Mcp-Param-Area: eu\n"));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32020,"
                             "\"message\":\"m\"}}");
    CHECK_STR(fake_carrier_told(&fake), S("error {\"code\":-32020,\"message\":\"m\"}\n"));
    fake_carrier_done(&fake);
}

TEST(a_version_is_negotiated_once)
{
    struct fake_carrier fake;

    begin_call(&fake);
    fake.is_terse = true;
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32022,"
                             "\"message\":\"m\",\"data\":{\"supported\":"
                             "[\"2026-07-28\"]}}}");
    CHECK_STR(fake_carrier_sent(&fake), S("3 tools/call\n  a\n"));
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32022,"
                             "\"message\":\"m\",\"data\":{\"supported\":"
                             "[\"2026-07-28\"]}}}");
    CHECK(str_starts(fake_carrier_told(&fake), S("error {\"code\":-32022")));
    fake_carrier_done(&fake);
}

/* LM-09 */
TEST(a_method_that_a_modern_server_does_not_know_is_no_lost_session)
{
    struct fake_carrier fake;

    begin_call(&fake);
    fake_carrier_mishap(&fake, 2,
                        (struct mishap){ .type = MISHAP_FORGOTTEN,
                                         .status = 404,
                                         .body = S("{\"jsonrpc\":\"2.0\",\"id\":2,"
                                                   "\"error\":{\"code\":-32601,"
                                                   "\"message\":\"m\"}}") });
    CHECK_STR(fake_carrier_told(&fake), S("error {\"code\":-32601,\"message\":\"m\"}\n"));
    (void)fake_carrier_call(&fake, "m", "");
    fake_carrier_mishap(&fake, 3,
                        (struct mishap){ .type = MISHAP_FORGOTTEN, .status = 404 });
    CHECK(str_starts(fake_carrier_told(&fake), S("failed {")));
    CHECK(mcp_session_is_ready(fake.session));
    fake_carrier_done(&fake);
}

TEST(results_have_a_type_that_is_known_or_none)
{
    static const struct {
        const char *result, *told;
    } cases[] = {
        { "{}", "result {}\n" },
        { "{\"resultType\":\"complete\"}", "result {\"resultType\":\"complete\"}\n" },
        { "{\"resultType\":\"odd\"}",
          "failed {\"code\":-32603,\"message\":\"the result is of an unknown type\","
          "\"data\":{\"reason\":\"bad_result\"}}\n" },
        { "{\"resultType\":7}",
          "failed {\"code\":-32603,\"message\":\"the result is of an unknown type\","
          "\"data\":{\"reason\":\"bad_result\"}}\n" },
        { "{\"resultType\":\"input_required\"}",
          "failed {\"code\":-32603,\"message\":\"input is required, but none is named\","
          "\"data\":{\"reason\":\"bad_result\"}}\n" },
        { "[]", "failed {\"code\":-32603,\"message\":\"the result is no object\","
                "\"data\":{\"reason\":\"bad_result\"}}\n" },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_carrier fake;

        begin_call(&fake);
        fake_carrier_answers(&fake, 2, c->result);
        CHECK_STR(fake_carrier_told(&fake), str_of(c->told));
        fake_carrier_done(&fake);
    }
}

/* --- being asked --- */

TEST(input_that_is_required_becomes_questions_and_then_the_call_again)
{
    struct fake_carrier fake;

    begin_call(&fake);
    fake_carrier_answers(
        &fake, 2,
        "{\"resultType\":\"input_required\",\"inputRequests\":{"
        "\"k\\u0031\":{\"method\":\"elicitation/create\",\"params\":{\"message\":\"m\"}},"
        "\"two\":{\"method\":\"sampling/createMessage\",\"params\":{\"maxTokens\":1}}},"
        "\"requestState\":\"s\\u0020\\/\"}");
    CHECK_STR(fake_carrier_told(&fake),
              S("question 2 elicitation/create {\"message\":\"m\"}\n"
                "question 2 sampling/createMessage {\"maxTokens\":1}\n"));
    fake_carrier_reply(&fake, "{\"action\":\"accept\"}");
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_reply(&fake, "{\"role\":\"assistant\"}");
    CHECK_STR(fake_carrier_sent(&fake),
              S("3 tools/call {\"name\":\"a\",\"inputResponses\":{\"k\\u0031\":"
                "{\"action\":\"accept\"},\"two\":{\"role\":\"assistant\"}},"
                "\"requestState\":\"s\\u0020\\/\"}\n  a\n"));
    /* the next round has no state, and none of the answers before */
    fake_carrier_answers(&fake, 3,
                         "{\"resultType\":\"input_required\",\"inputRequests\":{"
                         "\"two\":{\"method\":\"elicitation/create\"}}}");
    CHECK_STR(fake_carrier_told(&fake), S("question 2 elicitation/create \n"));
    fake_carrier_reply(&fake, "{}");
    CHECK_STR(fake_carrier_sent(&fake),
              S("4 tools/call {\"name\":\"a\",\"inputResponses\":{\"two\":{}}}\n  a\n"));
    fake_carrier_answers(&fake, 4, "{\"resultType\":\"complete\"}");
    CHECK_STR(fake_carrier_told(&fake), S("result {\"resultType\":\"complete\"}\n"));
    CHECK_INT(mcp_session_underway(fake.session), 0);
    fake_carrier_done(&fake);
}

TEST(a_state_alone_is_sent_back_after_a_pause)
{
    struct fake_carrier fake;

    begin_call(&fake);
    fake_carrier_answers(&fake, 2,
                         "{\"resultType\":\"input_required\",\"requestState\":\"\"}");
    fake_carrier_tick(&fake, 249);
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    CHECK_INT(mcp_session_due_ms(fake.session), fake.now_ms + 1);
    fake_carrier_tick(&fake, 1);
    CHECK_STR(fake_carrier_sent(&fake),
              S("3 tools/call {\"name\":\"a\",\"requestState\":\"\"}\n  a\n"));
    fake_carrier_done(&fake);
}

static void call_as(struct fake_carrier *fake, const char *params, bool answers_roots)
{
    uint64_t id;

    CHECK_INT(
        mcp_session_call(fake->session,
                         &(struct mcp_call){ .method = S("tools/call"),
                                             .params = str_of(params),
                                             .capable = S("{\"elicitation\":{}}"),
                                             .log_level = S("info"),
                                             .takes_unfinished = true,
                                             .answers_roots = answers_roots,
                                             .ops.on_done = fake_carrier_call_ops.on_done,
                                             .user = fake },
                         fake->now_ms, &id),
        OK);
}

TEST(who_takes_unfinished_results_is_asked_by_the_server_itself)
{
    struct fake_carrier fake;

    begin(&fake, "{}");
    fake.is_brief = false;
    call_as(&fake,
            "{\"name\":\"a\",\"requestState\":\"s\",\"inputResponses\":{\"k\":{}}}",
            false);
    CHECK_STR(fake_carrier_sent(&fake),
              S("2 tools/call {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
                "\"params\":{\"name\":\"a\",\"requestState\":\"s\",\"inputResponses\":"
                "{\"k\":{}},\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
                "\"2026-07-28\",\"io.modelcontextprotocol/clientInfo\":{\"name\":"
                "\"moot\",\"version\":\"1\"},\"io.modelcontextprotocol/"
                "clientCapabilities\":{\"elicitation\":{}},"
                "\"io.modelcontextprotocol/logLevel\":\"info\"}}}\n  a\n"));
    fake_carrier_answers(&fake, 2,
                         "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{"
                         "\"method\":\"roots/list\"}},\"requestState\":\"t\"}");
    CHECK_STR(fake_carrier_told(&fake),
              S("result {\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{"
                "\"method\":\"roots/list\"}},\"requestState\":\"t\"}\n"));
    fake_carrier_done(&fake);
}

TEST(roots_that_are_ours_are_never_asked_of_a_caller)
{
    struct mcp_session_settings settings = {
        .name = S("moot"), .version = S("1"), .era = ERA_MODERN, .has_roots = true
    };
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &settings, "{}");
    fake.is_brief = true;
    (void)fake_carrier_sent(&fake);
    call_as(&fake, "{\"name\":\"a\",\"requestState\":\"s\"}", true);
    CHECK_STR(fake_carrier_sent(&fake),
              S("2 tools/call {\"name\":\"a\",\"requestState\":\"s\"}\n  a\n"));
    fake_carrier_answers(&fake, 2,
                         "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{"
                         "\"method\":\"roots/list\"}},\"requestState\":\"t\"}");
    CHECK_STR(fake_carrier_told(&fake), S("question 2 roots/list \n"));
    fake_carrier_reply(&fake, "{\"roots\":[]}");
    /* the state of the caller's own is over */
    CHECK_STR(fake_carrier_sent(&fake),
              S("3 tools/call {\"name\":\"a\",\"inputResponses\":{\"a\":{\"roots\":[]}},"
                "\"requestState\":\"t\"}\n  a\n"));
    fake_carrier_answers(&fake, 3,
                         "{\"resultType\":\"input_required\",\"inputRequests\":{\"b\":{"
                         "\"method\":\"elicitation/create\"}}}");
    CHECK_STR(fake_carrier_told(&fake),
              S("result {\"resultType\":\"input_required\",\"inputRequests\":{\"b\":{"
                "\"method\":\"elicitation/create\"}}}\n"));
    fake_carrier_done(&fake);
}

TEST(rounds_are_bounded)
{
    struct fake_carrier fake;

    begin_call(&fake);
    for (uint64_t i = 0; i < 4; i++) {
        CHECK_STR(fake_carrier_told(&fake), S(""));
        fake_carrier_answers(&fake, 2 + i,
                             "{\"resultType\":\"input_required\",\"requestState\":\"\"}");
        fake_carrier_tick(&fake, 250);
    }
    CHECK_STR(fake_carrier_told(&fake),
              S("failed {\"code\":-32603,\"message\":\"the server asked again and "
                "again\",\"data\":{\"reason\":\"too_many_rounds\"}}\n"));
    fake_carrier_done(&fake);
}

TEST(entries_that_cannot_be_asked_end_the_call)
{
    static const char *const entries[] = {
        "{\"method\":\"tools/call\"}",
        "{\"method\":\"roots/list\"}",
        "{\"params\":{}}",
        "{\"method\":\"elicitation/create\",\"params\":[]}",
        "{\"method\":\"elicitation/create\",\"params\":{\"mode\":\"x\"}}",
        "7",
    };
    struct buf result;

    buf_init(&result, 1000);
    FOR_EACH_CASE(entry, entries) {
        struct fake_carrier fake;

        begin_call(&fake);
        buf_clear(&result);
        buf_putf(&result,
                 "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{"
                 "\"method\":\"elicitation/create\"},\"b\":%s}}",
                 *entry);
        fake_carrier_answers(&fake, 2, buf_cstr(&result));
        CHECK(str_starts(fake_carrier_told(&fake), S("failed ")));
        CHECK_INT(mcp_session_underway(fake.session), 0);
        fake_carrier_done(&fake);
    }
    buf_done(&result);
}

static void answer_with_error(struct fake_carrier *fake, const char *error)
{
    fake->question_count--;
    mcp_question_answer(fake->session, fake->questions[0], S("error"), str_of(error),
                        fake->now_ms);
}

TEST(a_person_who_says_nothing_has_dismissed_it)
{
    struct fake_carrier fake;

    begin_call(&fake);
    fake_carrier_answers(&fake, 2,
                         "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":"
                         "{\"method\":\"elicitation/create\"}}}");
    answer_with_error(&fake, "{\"code\":-32603,\"message\":\"late\"}");
    CHECK_STR(fake_carrier_sent(&fake),
              S("3 tools/call {\"name\":\"a\",\"inputResponses\":{\"a\":{\"action\":"
                "\"cancel\"}}}\n  a\n"));
    fake_carrier_done(&fake);
}

TEST(a_caller_who_cannot_be_asked_gets_a_result_that_says_so)
{
    static const struct {
        const char *method, *params, *entry, *told;
    } cases[] = {
        { "tools/call", "{\"name\":\"a\"}", "elicitation/create",
          "result {\"content\":[{\"type\":\"text\",\"text\":\"the server asked for "
          "elicitation/create, which was refused\"}],\"isError\":true}\n" },
        { "tools/call", "{\"name\":\"a\"}", "sampling/createMessage",
          "result {\"content\":[{\"type\":\"text\",\"text\":\"the server asked for "
          "sampling/createMessage, which was refused\"}],\"isError\":true}\n" },
        { "prompts/get", "{\"name\":\"a\"}", "elicitation/create",
          "error {\"code\":-32603,\"message\":\"the server asked for "
          "elicitation/create, which was refused\"}\n" },
    };
    struct buf result;

    buf_init(&result, 1000);
    FOR_EACH_CASE(c, cases) {
        struct fake_carrier fake;

        begin(&fake, "{}");
        (void)fake_carrier_call(&fake, c->method, c->params);
        buf_clear(&result);
        buf_putf(&result,
                 "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{"
                 "\"method\":\"%s\"}}}",
                 c->entry);
        fake_carrier_answers(&fake, 2, buf_cstr(&result));
        (void)fake_carrier_told(&fake);
        answer_with_error(&fake, "{\"code\":-32601,\"message\":\"cannot\"}");
        CHECK_STR(fake_carrier_told(&fake), S(""));
        fake_carrier_tick(&fake, 0);
        CHECK_STR(fake_carrier_told(&fake), str_of(c->told));
        fake_carrier_done(&fake);
    }
    buf_done(&result);
}

TEST(a_url_gets_the_id_that_legacy_callers_expect)
{
    struct fake_carrier fake;

    begin_call(&fake);
    fake_carrier_answers(&fake, 2,
                         "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{"
                         "\"method\":\"elicitation/create\",\"params\":{\"mode\":\"url\","
                         "\"url\":\"https://x\"}}}}");
    CHECK_STR(fake_carrier_told(&fake),
              S("question 2 elicitation/create {\"mode\":\"url\",\"url\":\"https://x\","
                "\"elicitationId\":\"2-1-0\"}\n"));
    fake_carrier_done(&fake);
}

TEST(an_id_that_the_server_gave_a_url_stays)
{
    struct fake_carrier fake;

    begin_call(&fake);
    fake_carrier_answers(&fake, 2,
                         "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":{"
                         "\"method\":\"elicitation/create\",\"params\":{\"mode\":\"url\","
                         "\"elicitationId\":\"e\"}}}}");
    CHECK_STR(fake_carrier_told(&fake),
              S("question 2 elicitation/create {\"mode\":\"url\",\"elicitationId\":"
                "\"e\"}\n"));
    fake_carrier_done(&fake);
}

TEST(more_entries_than_questions_end_the_call)
{
    struct mcp_session_settings settings = modern;
    struct fake_carrier fake;

    settings.max_questions = 1;
    fake_carrier_ready(&fake, &settings, "{}");
    (void)fake_carrier_call(&fake, "tools/call", "{\"name\":\"a\"}");
    fake_carrier_answers(&fake, 2,
                         "{\"resultType\":\"input_required\",\"inputRequests\":{"
                         "\"a\":{\"method\":\"elicitation/create\"},"
                         "\"b\":{\"method\":\"elicitation/create\"}}}");
    CHECK_STR(fake_carrier_told(&fake),
              S("failed {\"code\":-32603,\"message\":\"the server asked too many "
                "questions\",\"data\":{\"reason\":\"bad_question\"}}\n"));
    fake_carrier_done(&fake);
}

TEST(an_answer_to_a_call_that_was_cancelled_sends_nothing)
{
    struct fake_carrier fake;

    begin_call(&fake);
    fake_carrier_answers(&fake, 2,
                         "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":"
                         "{\"method\":\"elicitation/create\"}}}");
    mcp_session_cancel(fake.session, 2, S(""), fake.now_ms);
    fake_carrier_reply(&fake, "{}");
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_done(&fake);
}

/* Its state would be lost. */
TEST(a_round_is_not_begun_anew)
{
    struct fake_carrier fake;

    begin_call(&fake);
    fake_carrier_answers(&fake, 2,
                         "{\"resultType\":\"input_required\",\"requestState\":\"\"}");
    fake_carrier_tick(&fake, 250);
    (void)fake_carrier_sent(&fake);
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32022,"
                             "\"message\":\"m\",\"data\":{\"supported\":"
                             "[\"2026-07-28\"]}}}");
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    CHECK(str_starts(fake_carrier_told(&fake), S("error {\"code\":-32022")));
    fake_carrier_done(&fake);
}

TEST(while_somebody_is_asked_a_call_is_not_late)
{
    struct fake_carrier fake;

    begin_call(&fake);
    fake_carrier_answers(&fake, 2,
                         "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":"
                         "{\"method\":\"elicitation/create\"}}}");
    (void)fake_carrier_told(&fake);
    fake_carrier_tick(&fake, 60000);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_reply(&fake, "{}");
    fake_carrier_tick(&fake, 29999);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_tick(&fake, 1);
    CHECK(str_starts(fake_carrier_told(&fake), S("failed ")));
    fake_carrier_done(&fake);
}

TEST(questions_go_with_their_call)
{
    struct fake_carrier fake;

    begin_call(&fake);
    fake_carrier_answers(&fake, 2,
                         "{\"resultType\":\"input_required\",\"inputRequests\":{\"a\":"
                         "{\"method\":\"elicitation/create\"}}}");
    (void)fake_carrier_told(&fake);
    (void)fake_carrier_sent(&fake);
    mcp_session_cancel(fake.session, 2, S(""), fake.now_ms);
    fake_carrier_tick(&fake, 0);
    CHECK(str_starts(fake_carrier_told(&fake), S("gone elicitation/create\ncancelled ")));
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_done(&fake);
}

/* A modern server asks nothing by request, and is never sent an answer. */
TEST(a_request_of_a_modern_server_is_passed_over)
{
    struct fake_carrier fake;

    begin_call(&fake);
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                             "\"elicitation/create\"}");
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_done(&fake);
}

TEST(cancelling_is_told_or_a_stream_is_closed)
{
    struct fake_carrier fake;

    begin_call(&fake);
    mcp_session_cancel(fake.session, 2, S(""), fake.now_ms);
    CHECK_STR(fake_carrier_sent(&fake),
              S("- notifications/cancelled {\"requestId\":2}\ndrop 2\n"));
    fake_carrier_done(&fake);
    begin_call(&fake);
    fake.carrier.drop_cancels = true;
    mcp_session_cancel(fake.session, 2, S(""), fake.now_ms);
    CHECK_STR(fake_carrier_sent(&fake), S("drop 2\n"));
    fake_carrier_done(&fake);
}

/* --- listening --- */

static void acknowledge(struct fake_carrier *fake, int id)
{
    struct buf text;

    buf_init(&text, 1000);
    buf_putf(&text,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/"
             "acknowledged\",\"params\":{\"_meta\":{"
             "\"io.modelcontextprotocol/subscriptionId\":%d},\"notifications\":{}}}",
             id);
    CHECK(fake_carrier_says(fake, buf_cstr(&text)));
    buf_done(&text);
}

static void change_tools(struct fake_carrier *fake, int id)
{
    struct buf text;

    buf_init(&text, 1000);
    buf_putf(&text,
             "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\","
             "\"params\":{\"_meta\":{\"a\":1,"
             "\"io.modelcontextprotocol/subscriptionId\":%d}}}",
             id);
    CHECK(fake_carrier_says(fake, buf_cstr(&text)));
    buf_done(&text);
}

static void begin_listening(struct fake_carrier *fake)
{
    fake_carrier_init(fake, &modern);
    fake->is_brief = true;
    (void)fake_carrier_sent(fake);
    fake_carrier_says(fake, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
                            "\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{"
                            "\"tools\":{\"listChanged\":true},\"prompts\":{},"
                            "\"resources\":{\"subscribe\":true}}}}");
    CHECK_STR(
        fake_carrier_sent(fake),
        S("settled 2026-07-28 modern\n"
          "2 subscriptions/listen {\"notifications\":{\"toolsListChanged\":true}}\n"));
    (void)fake_carrier_told(fake);
}

TEST(changes_are_listened_to)
{
    struct fake_carrier fake;

    begin_listening(&fake);
    change_tools(&fake, 2);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    acknowledge(&fake, 2);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    change_tools(&fake, 2);
    CHECK_STR(
        fake_carrier_told(&fake),
        S("notification 0 notifications/tools/list_changed {\"_meta\":{\"a\":1}}\n"));
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/"
                             "updated\",\"params\":{\"uri\":\"x:a\",\"_meta\":{"
                             "\"io.modelcontextprotocol/subscriptionId\":2}}}");
    CHECK_STR(fake_carrier_told(&fake),
              S("notification 0 notifications/resources/updated {\"uri\":\"x:a\"}\n"));
    change_tools(&fake, 3);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    CHECK_INT(mcp_session_underway(fake.session), 0);
    fake_carrier_done(&fake);
}

TEST(a_new_filter_is_listened_to_before_the_old_one_goes)
{
    const struct str uris[] = { S("x:a"), S("x:b") };
    struct fake_carrier fake;

    begin_listening(&fake);
    acknowledge(&fake, 2);
    mcp_session_watch(fake.session, uris, 2, fake.now_ms);
    CHECK_STR(fake_carrier_sent(&fake),
              S("3 subscriptions/listen {\"notifications\":{\"toolsListChanged\":true,"
                "\"resourceSubscriptions\":[\"x:a\",\"x:b\"]}}\n"));
    change_tools(&fake, 2);
    CHECK(fake_carrier_told(&fake).len > 0);
    acknowledge(&fake, 3);
    CHECK_STR(fake_carrier_sent(&fake),
              S("- notifications/cancelled {\"requestId\":2}\ndrop 2\n"));
    change_tools(&fake, 2);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    change_tools(&fake, 3);
    CHECK(fake_carrier_told(&fake).len > 0);
    /* one that was not acknowledged gives way at once */
    mcp_session_watch(fake.session, uris, 1, fake.now_ms);
    (void)fake_carrier_sent(&fake);
    mcp_session_watch(fake.session, uris, 0, fake.now_ms);
    CHECK_STR(
        fake_carrier_sent(&fake),
        S("- notifications/cancelled {\"requestId\":4}\ndrop 4\n"
          "5 subscriptions/listen {\"notifications\":{\"toolsListChanged\":true}}\n"));
    fake_carrier_done(&fake);
}

TEST(who_stops_being_listened_to_is_listened_to_again)
{
    struct fake_carrier fake;

    begin_listening(&fake);
    acknowledge(&fake, 2);
    fake_carrier_mishap(&fake, 2, (struct mishap){ .type = MISHAP_BROKEN });
    fake_carrier_tick(&fake, 999);
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake.is_terse = true;
    fake_carrier_tick(&fake, 1);
    CHECK_STR(fake_carrier_sent(&fake), S("3 subscriptions/listen\n"));
    fake_carrier_answers(&fake, 3, "{}");
    fake_carrier_tick(&fake, 1999);
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_tick(&fake, 1);
    CHECK_STR(fake_carrier_sent(&fake), S("4 subscriptions/listen\n"));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    acknowledge(&fake, 4);
    CHECK_STR(fake_carrier_told(&fake),
              S("notification 0 notifications/tools/list_changed \n"));
    fake_carrier_answers(&fake, 4, "{}");
    fake_carrier_tick(&fake, 1000);
    CHECK_STR(fake_carrier_sent(&fake), S("5 subscriptions/listen\n"));
    fake_carrier_done(&fake);
}

TEST(who_ends_while_the_next_one_begins_is_not_missed)
{
    const struct str uris[] = { S("x:a") };
    struct fake_carrier fake;

    begin_listening(&fake);
    acknowledge(&fake, 2);
    mcp_session_watch(fake.session, uris, 1, fake.now_ms);
    (void)fake_carrier_sent(&fake);
    fake_carrier_answers(&fake, 2, "{}");
    fake_carrier_tick(&fake, 60000);
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_done(&fake);
}

TEST(resources_are_watched_where_the_server_has_that)
{
    static const struct {
        const char *capable, *watched, *unwatched;
    } cases[] = {
        { "{\"resources\":{\"subscribe\":true}}",
          "2 subscriptions/listen {\"notifications\":{\"resourceSubscriptions\":"
          "[\"x:a\"]}}\n",
          "- notifications/cancelled {\"requestId\":2}\ndrop 2\n" },
        { "{\"resources\":{}}", "", "" },
    };
    const struct str uris[] = { S("x:a") };

    FOR_EACH_CASE(c, cases) {
        struct fake_carrier fake;

        begin(&fake, c->capable);
        mcp_session_watch(fake.session, uris, 1, fake.now_ms);
        CHECK_STR(fake_carrier_sent(&fake), str_of(c->watched));
        acknowledge(&fake, 2);
        mcp_session_watch(fake.session, uris, 0, fake.now_ms);
        CHECK_STR(fake_carrier_sent(&fake), str_of(c->unwatched));
        fake_carrier_done(&fake);
    }
}

TEST(who_cannot_be_listened_to_is_left_alone)
{
    struct fake_carrier fake;

    begin_listening(&fake);
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,"
                             "\"message\":\"m\"}}");
    fake_carrier_tick(&fake, 100000);
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_done(&fake);
}

TEST(a_server_without_changes_is_not_listened_to)
{
    struct fake_carrier fake;

    fake_carrier_init(&fake, &modern);
    fake.is_terse = true;
    (void)fake_carrier_sent(&fake);
    fake_carrier_answers(&fake, 1,
                         "{\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":{"
                         "\"tools\":{}}}");
    CHECK_STR(fake_carrier_sent(&fake), S("settled 2026-07-28 modern\n"));
    fake_carrier_done(&fake);
}

TEST(a_modern_client_tells_nothing_by_itself)
{
    struct fake_carrier fake;

    begin(&fake, "{}");
    CHECK_INT(
        mcp_session_notify(fake.session, S("notifications/roots/list_changed"), S("")),
        OK);
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_done(&fake);
}
