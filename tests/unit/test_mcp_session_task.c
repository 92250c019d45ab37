/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that run as tasks, in both eras. */
#include <string.h>

#include "fake_carrier.h"
#include "harness.h"

static const struct mcp_session_settings legacy = { .era = ERA_LEGACY,
                                                    .has_elicitation = true,
                                                    .has_tasks = true };
static const struct mcp_session_settings modern = { .era = ERA_MODERN,
                                                    .has_elicitation = true,
                                                    .has_tasks = true };

static const char can_tasks[] =
    "{\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}}";
static const char required[] = "{\"name\":\"a\",\"execution\":{\"taskSupport\":"
                               "\"required\"}}";

static void call(struct fake_carrier *fake, const char *tool, enum mcp_call_task task)
{
    uint64_t id;

    CHECK_INT(mcp_session_call(fake->session,
                               &(struct mcp_call){
                                   .method = S("tools/call"),
                                   .params = S("{\"name\":\"a\",\"task\":{\"ttl\":5}}"),
                                   .tool = str_of(tool),
                                   .task = task,
                                   .ops = fake_carrier_call_ops,
                                   .user = fake },
                               fake->now_ms, &id),
              OK);
}

static void begin(struct fake_carrier *fake, const struct mcp_session_settings *settings)
{
    fake_carrier_ready(fake, settings, can_tasks);
    fake->is_brief = true;
    call(fake, required, TASK_AS_NEEDED);
}

TEST(a_tool_runs_as_a_task_only_where_it_must)
{
    static const struct {
        const char *capable, *tool;
        enum mcp_call_task task;
        const char *sent;
    } cases[] = {
        { can_tasks, required, TASK_AS_NEEDED,
          "2 tools/call {\"name\":\"a\",\"task\":{}}\n" },
        { can_tasks, required, TASK_NEVER, "2 tools/call {\"name\":\"a\"}\n" },
        { can_tasks, required, TASK_PASSED_ON,
          "2 tools/call {\"name\":\"a\",\"task\":{\"ttl\":5}}\n" },
        { "{}", required, TASK_AS_NEEDED, "2 tools/call {\"name\":\"a\"}\n" },
        { can_tasks, "", TASK_AS_NEEDED, "2 tools/call {\"name\":\"a\"}\n" },
        { can_tasks, "{\"execution\":{\"taskSupport\":\"optional\"}}", TASK_AS_NEEDED,
          "2 tools/call {\"name\":\"a\"}\n" },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_carrier fake;

        fake_carrier_ready(&fake, &legacy, c->capable);
        fake.is_brief = true;
        call(&fake, c->tool, c->task);
        CHECK_STR(fake_carrier_sent(&fake), str_of(c->sent));
        fake_carrier_done(&fake);
    }
}

TEST(a_task_that_is_passed_on_is_one_whether_the_caller_says_so_or_not)
{
    static const struct {
        const struct mcp_session_settings *settings;
        struct str params;
        const char *sent;
    } cases[] = {
        { &legacy, S("{\"name\":\"a\"}"), "2 tools/call {\"name\":\"a\",\"task\":{}}\n" },
        { &legacy, S("{\"task\":{\"ttl\":5}}"), "2 tools/call {\"task\":{\"ttl\":5}}\n" },
        { &modern, S("{\"name\":\"a\",\"task\":{}}"),
          "\"params\":{\"name\":\"a\",\"_meta" },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_carrier fake;
        uint64_t id;

        fake_carrier_ready(&fake, c->settings, can_tasks);
        fake.is_brief = c->settings == &legacy;
        CHECK_INT(mcp_session_call(fake.session,
                                   &(struct mcp_call){ .method = S("tools/call"),
                                                       .params = c->params,
                                                       .task = TASK_PASSED_ON,
                                                       .ops = fake_carrier_call_ops,
                                                       .user = &fake },
                                   fake.now_ms, &id),
                  OK);
        CHECK(strstr(fake_carrier_sent(&fake).ptr, c->sent));
        fake_carrier_done(&fake);
    }
}

/* Who waits for a result and goes leaves the task alone: its owner may ask again. */
TEST(a_task_outlives_who_waits_for_its_result)
{
    static const struct mcp_session_settings *const eras[] = { &legacy, &modern };

    for (size_t i = 0; i < 2; i++) {
        struct fake_carrier fake;
        uint64_t id;

        fake_carrier_ready(&fake, eras[i], can_tasks);
        fake.is_terse = true;
        CHECK_INT(mcp_session_call(fake.session,
                                   &(struct mcp_call){ .method = S("tasks/result"),
                                                       .params = S("{\"taskId\":\"t\"}"),
                                                       .ops = fake_carrier_call_ops,
                                                       .user = &fake },
                                   fake.now_ms, &id),
                  OK);
        (void)fake_carrier_sent(&fake);
        mcp_session_cancel(fake.session, id, S("gone"), fake.now_ms);
        fake_carrier_tick(&fake, 1);
        CHECK(!strstr(fake_carrier_sent(&fake).ptr, "tasks/cancel"));
        CHECK(str_starts(fake_carrier_told(&fake), S("cancelled")));
        fake_carrier_done(&fake);
    }
}

TEST(a_legacy_task_is_polled_to_its_end)
{
    struct fake_carrier fake;

    begin(&fake, &legacy);
    (void)fake_carrier_sent(&fake);
    fake_carrier_answers(&fake, 2,
                         "{\"task\":{\"taskId\":\"t\\u0031\",\"status\":\"working\","
                         "\"pollInterval\":200}}");
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_tick(&fake, 199);
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_tick(&fake, 1);
    CHECK_STR(fake_carrier_sent(&fake), S("3 tasks/get {\"taskId\":\"t\\u0031\"}\n"));
    fake_carrier_answers(&fake, 3, "{\"taskId\":\"t1\",\"status\":\"working\"}");
    fake_carrier_tick(&fake, 1000);
    CHECK_STR(fake_carrier_sent(&fake), S("4 tasks/get {\"taskId\":\"t\\u0031\"}\n"));
    fake_carrier_answers(&fake, 4, "{\"taskId\":\"t1\",\"status\":\"completed\"}");
    CHECK_STR(fake_carrier_sent(&fake), S("5 tasks/result {\"taskId\":\"t\\u0031\"}\n"));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_answers(&fake, 5, "{\"content\":[]}");
    CHECK_STR(fake_carrier_told(&fake), S("result {\"content\":[]}\n"));
    fake_carrier_done(&fake);
}

TEST(a_legacy_task_that_asks_does_so_while_its_result_is_waited_for)
{
    struct fake_carrier fake;

    begin(&fake, &legacy);
    fake_carrier_answers(&fake, 2,
                         "{\"task\":{\"taskId\":\"t\",\"status\":\"input_required\"}}");
    (void)fake_carrier_sent(&fake);
    fake_carrier_says(&fake,
                      "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"elicitation/create\","
                      "\"params\":{\"_meta\":{\"io.modelcontextprotocol/related-task\":"
                      "{\"taskId\":\"t\"}}}}");
    CHECK(str_starts(fake_carrier_told(&fake), S("question 2 elicitation/create ")));
    fake_carrier_reply(&fake, "{\"action\":\"accept\"}");
    CHECK_STR(fake_carrier_sent(&fake),
              S("- answer {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"action\":"
                "\"accept\",\"_meta\":{\"io.modelcontextprotocol/related-task\":{"
                "\"taskId\":\"t\"}}}}\n"));
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-5,"
                             "\"message\":\"m\"}}");
    CHECK_STR(fake_carrier_told(&fake), S("error {\"code\":-5,\"message\":\"m\"}\n"));
    fake_carrier_done(&fake);
}

TEST(a_task_at_work_is_not_late_before_everything_is)
{
    struct fake_carrier fake;

    begin(&fake, &legacy);
    fake.is_terse = true;
    fake_carrier_answers(&fake, 2,
                         "{\"task\":{\"taskId\":\"t\",\"status\":\"working\","
                         "\"pollInterval\":20000}}");
    for (uint64_t i = 0; i < 14; i++) {
        fake_carrier_tick(&fake, 20000);
        fake_carrier_answers(&fake, 3 + i,
                             "{\"status\":\"working\",\"pollInterval\":20000}");
        CHECK_STR(fake_carrier_told(&fake), S(""));
    }
    (void)fake_carrier_sent(&fake);
    fake_carrier_tick(&fake, 19999);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_tick(&fake, 20000);
    CHECK(str_starts(fake_carrier_told(&fake), S("failed ")));
    CHECK(str_ends(fake_carrier_sent(&fake), S("tasks/cancel\n")));
    fake_carrier_done(&fake);
}

TEST(the_pace_of_polling_is_the_servers_within_bounds)
{
    static const struct {
        const char *interval;
        uint64_t ms;
    } cases[] = {
        { "0", 50 },
        { "300", 300 },
        { "1000000000", 60000 },
        { "\"x\"", 1000 },
    };
    struct buf result;

    buf_init(&result, 1000);
    FOR_EACH_CASE(c, cases) {
        struct fake_carrier fake;

        begin(&fake, &legacy);
        fake.is_terse = true;
        (void)fake_carrier_sent(&fake);
        buf_clear(&result);
        buf_putf(&result,
                 "{\"task\":{\"taskId\":\"t\",\"status\":\"working\","
                 "\"pollInterval\":%s}}",
                 c->interval);
        fake_carrier_answers(&fake, 2, buf_cstr(&result));
        fake_carrier_tick(&fake, c->ms - 1);
        CHECK_STR(fake_carrier_sent(&fake), S(""));
        fake_carrier_tick(&fake, 1);
        CHECK_STR(fake_carrier_sent(&fake), S("3 tasks/get\n"));
        CHECK_STR(fake_carrier_told(&fake), S(""));
        fake_carrier_done(&fake);
    }
    buf_done(&result);
}

TEST(who_cannot_cancel_tasks_is_not_asked_to)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy,
                       "{\"tasks\":{\"requests\":{\"tools\":{\"call\":{}}}}}");
    call(&fake, required, TASK_AS_NEEDED);
    fake_carrier_answers(&fake, 2,
                         "{\"task\":{\"taskId\":\"t\",\"status\":\"working\"}}");
    (void)fake_carrier_sent(&fake);
    mcp_session_cancel(fake.session, 2, S(""), fake.now_ms);
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_done(&fake);
}

TEST(without_tasks_of_ours_a_tool_runs_plainly)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &(struct mcp_session_settings){ .era = ERA_LEGACY },
                       can_tasks);
    fake.is_brief = true;
    call(&fake, required, TASK_AS_NEEDED);
    CHECK_STR(fake_carrier_sent(&fake), S("2 tools/call {\"name\":\"a\"}\n"));
    fake_carrier_done(&fake);
}

TEST(a_task_is_cancelled_as_one)
{
    struct fake_carrier fake;

    begin(&fake, &legacy);
    fake_carrier_answers(&fake, 2,
                         "{\"task\":{\"taskId\":\"t\",\"status\":\"working\"}}");
    fake_carrier_tick(&fake, 1000);
    (void)fake_carrier_sent(&fake);
    mcp_session_cancel(fake.session, 2, S(""), fake.now_ms);
    CHECK_STR(fake_carrier_sent(&fake), S("drop 3\n4 tasks/cancel {\"taskId\":\"t\"}\n"));
    fake_carrier_answers(&fake, 4, "{}");
    fake_carrier_tick(&fake, 0);
    CHECK(str_starts(fake_carrier_told(&fake), S("cancelled ")));
    fake_carrier_done(&fake);
}

TEST(a_task_without_a_name_yet_is_cancelled_when_it_has_one)
{
    struct fake_carrier fake;

    begin(&fake, &legacy);
    (void)fake_carrier_sent(&fake);
    mcp_session_cancel(fake.session, 2, S(""), fake.now_ms);
    fake_carrier_tick(&fake, 0);
    CHECK(str_starts(fake_carrier_told(&fake), S("cancelled ")));
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_answers(&fake, 2,
                         "{\"task\":{\"taskId\":\"t\",\"status\":\"working\"}}");
    CHECK_STR(fake_carrier_sent(&fake), S("3 tasks/cancel {\"taskId\":\"t\"}\n"));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_done(&fake);
}

TEST(a_task_that_the_caller_wanted_is_his)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, can_tasks);
    call(&fake, required, TASK_PASSED_ON);
    fake_carrier_answers(&fake, 2,
                         "{\"task\":{\"taskId\":\"t\",\"status\":\"working\"}}");
    CHECK_STR(fake_carrier_told(&fake),
              S("result {\"task\":{\"taskId\":\"t\",\"status\":\"working\"}}\n"));
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                             "\"params\":{\"progressToken\":2}}");
    CHECK_STR(fake_carrier_told(&fake),
              S("notification 2 notifications/progress {\"progressToken\":2}\n"));
    fake_carrier_done(&fake);
}

TEST(a_server_that_ran_it_plainly_has_answered)
{
    struct fake_carrier fake;

    begin(&fake, &legacy);
    fake_carrier_answers(&fake, 2, "{\"content\":[],\"isError\":true}");
    CHECK_STR(fake_carrier_told(&fake), S("result {\"content\":[],\"isError\":true}\n"));
    fake_carrier_done(&fake);
}

/* --- modern --- */

static void begin_modern(struct fake_carrier *fake)
{
    begin(fake, &modern);
    CHECK_STR(fake_carrier_sent(fake), S("2 tools/call {\"name\":\"a\"}\n  a\n"));
    fake_carrier_answers(fake, 2,
                         "{\"resultType\":\"task\",\"taskId\":\"t\",\"status\":"
                         "\"working\",\"pollIntervalMs\":100}");
    fake_carrier_tick(fake, 100);
    CHECK_STR(fake_carrier_sent(fake), S("3 tasks/get {\"taskId\":\"t\"}\n  t\n"));
}

TEST(a_modern_task_can_be_passed_on_too)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &modern, "{}");
    call(&fake, required, TASK_PASSED_ON);
    fake_carrier_answers(&fake, 2,
                         "{\"resultType\":\"task\",\"taskId\":\"t\",\"status\":"
                         "\"working\"}");
    CHECK_STR(fake_carrier_told(&fake),
              S("result {\"resultType\":\"task\",\"taskId\":\"t\",\"status\":"
                "\"working\"}\n"));
    fake_carrier_done(&fake);
}

TEST(a_modern_task_has_its_end_in_itself)
{
    static const struct {
        const char *state, *told;
    } cases[] = {
        { "{\"resultType\":\"complete\",\"status\":\"completed\",\"result\":{\"content\":"
          "[]}}",
          "result {\"content\":[]}\n" },
        { "{\"status\":\"failed\",\"error\":{\"code\":-5,\"message\":\"m\"}}",
          "error {\"code\":-5,\"message\":\"m\"}\n" },
        { "{\"status\":\"cancelled\"}",
          "failed {\"code\":-32603,\"message\":\"the server cancelled its task\","
          "\"data\":{\"reason\":\"task_cancelled\"}}\n" },
        { "{\"status\":\"completed\"}",
          "failed {\"code\":-32603,\"message\":\"its task ended without a result\","
          "\"data\":{\"reason\":\"task_cancelled\"}}\n" },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_carrier fake;

        begin_modern(&fake);
        fake_carrier_answers(&fake, 3, c->state);
        CHECK_STR(fake_carrier_told(&fake), str_of(c->told));
        fake_carrier_done(&fake);
    }
}

TEST(a_modern_task_is_told_what_it_asks_for_once)
{
    struct fake_carrier fake;

    begin_modern(&fake);
    fake_carrier_answers(&fake, 3,
                         "{\"status\":\"input_required\",\"inputRequests\":{\"k\":{"
                         "\"method\":\"elicitation/create\",\"params\":{}}}}");
    CHECK_STR(fake_carrier_told(&fake), S("question 2 elicitation/create {}\n"));
    fake_carrier_reply(&fake, "{\"action\":\"accept\"}");
    CHECK_STR(fake_carrier_sent(&fake),
              S("4 tasks/update {\"taskId\":\"t\",\"inputResponses\":{\"k\":{\"action\":"
                "\"accept\"}}}\n  t\n"));
    fake_carrier_answers(&fake, 4, "{}");
    fake_carrier_tick(&fake, 50);
    CHECK_STR(fake_carrier_sent(&fake), S("5 tasks/get {\"taskId\":\"t\"}\n  t\n"));
    /* the server has not seen the answer yet */
    fake_carrier_answers(&fake, 5,
                         "{\"status\":\"input_required\",\"pollIntervalMs\":100,"
                         "\"inputRequests\":{\"k\":{\"method\":\"elicitation/create\","
                         "\"params\":{}}}}");
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_tick(&fake, 100);
    CHECK_STR(fake_carrier_sent(&fake), S("6 tasks/get {\"taskId\":\"t\"}\n  t\n"));
    fake_carrier_answers(&fake, 6, "{\"status\":\"completed\",\"result\":{}}");
    CHECK_STR(fake_carrier_told(&fake), S("result {}\n"));
    fake_carrier_done(&fake);
}

TEST(a_modern_task_is_cancelled_when_nobody_can_be_asked)
{
    struct fake_carrier fake;

    begin_modern(&fake);
    fake_carrier_answers(&fake, 3,
                         "{\"status\":\"input_required\",\"inputRequests\":{\"k\":{"
                         "\"method\":\"elicitation/create\",\"params\":{}}}}");
    (void)fake_carrier_told(&fake);
    fake.question_count = 0;
    mcp_question_answer(fake.session, fake.questions[0], S("error"),
                        S("{\"code\":-32601,\"message\":\"cannot\"}"), fake.now_ms);
    CHECK_STR(fake_carrier_sent(&fake), S("4 tasks/cancel {\"taskId\":\"t\"}\n  t\n"));
    fake_carrier_tick(&fake, 0);
    CHECK(str_starts(fake_carrier_told(&fake), S("result {\"content\":")));
    fake_carrier_done(&fake);
}

TEST(the_result_of_a_modern_task_can_be_asked_for_as_before)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &modern, "{}");
    fake.is_brief = true;
    CHECK_INT(fake_carrier_call(&fake, "tasks/result", "{\"taskId\":\"t\"}"), 2);
    CHECK_STR(fake_carrier_sent(&fake), S("2 tasks/get {\"taskId\":\"t\"}\n  t\n"));
    fake_carrier_answers(&fake, 2,
                         "{\"status\":\"input_required\",\"inputRequests\":{\"k\":{"
                         "\"method\":\"elicitation/create\",\"params\":{\"_meta\":{"
                         "\"b\":1},\"a\":1.0}}}}");
    CHECK_STR(fake_carrier_told(&fake),
              S("question 2 elicitation/create {\"a\":1.0,\"_meta\":{\"b\":1,"
                "\"io.modelcontextprotocol/related-task\":{\"taskId\":\"t\"}}}\n"));
    fake_carrier_reply(&fake, "{\"action\":\"accept\"}");
    (void)fake_carrier_sent(&fake);
    fake_carrier_answers(&fake, 3, "{}");
    fake_carrier_tick(&fake, 1000);
    fake_carrier_answers(&fake, 4, "{\"status\":\"completed\",\"result\":{\"a\":1}}");
    CHECK_STR(fake_carrier_told(&fake), S("result {\"a\":1}\n"));
    CHECK_INT(fake_carrier_call(&fake, "tasks/result", "{}"), 0);
    CHECK_STR(fake_carrier_told(&fake), S("refused invalid\n"));
    fake_carrier_done(&fake);
}
