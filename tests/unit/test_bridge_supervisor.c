/* SPDX-License-Identifier: Apache-2.0 */
/* A server that one process serves for all: it starts, answers, crashes, rests. */
#include "base/cleanup.h"
#include "harness.h"
#include "supervisor_stage.h"

/* A shared server that is ready; nothing of that is told. */
static void ready(struct supervisor_stage *stage)
{
    stage_init(stage, stage_spec());
    supervisor_start(stage->supervisor);
    stage_pass(stage, 0);
    stage_opens(stage, 0);
    (void)stage_told(stage);
    (void)stage_sent(stage, 0);
}

TEST(the_first_order_starts_the_server_and_is_answered_by_it)
{
    struct supervisor_stage stage;

    stage_init(&stage, stage_spec());
    stage_pass(&stage, 0);
    CHECK_INT(stage.server_count, 0);
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_INT(stage.server_count, 1);
    CHECK_STR(stage_told(&stage), S("state starting\n"));
    CHECK_STR(stage_sent(&stage, 0), S("1 initialize\n"));
    stage_opens(&stage, 0);
    CHECK_STR(stage_told(&stage), S("facts 2025-11-25\nstate ready\n"));
    CHECK_STR(stage_sent(&stage, 0),
              S("- notifications/initialized\nsettled 2025-11-25\n2 tools/call\n"));
    stage_answers(&stage, 0, 2);
    CHECK_STR(stage_told(&stage), S("ada: result {\"by\":0}\n"));
    stage_done(&stage);
}

TEST(the_bridge_itself_starts_nothing_that_rests)
{
    struct supervisor_stage stage;

    stage_init(&stage, stage_spec());
    (void)stage_order(&stage, "", "tools/list");
    CHECK_STR(stage_told(&stage), S("bridge: refused unavailable\n"));
    CHECK_INT(stage.server_count, 0);
    stage_done(&stage);
}

TEST(what_was_sent_when_the_server_died_fails_and_what_was_not_waits)
{
    struct supervisor_stage stage;

    ready(&stage);
    (void)stage_order(&stage, "ada", "tools/call");
    stage_ends(&stage, 0, "it ended with code 1");
    CHECK_STR(stage_told(&stage),
              S("ada: failed {\"code\":-32603,\"message\":\"it ended with code 1\","
                "\"data\":{\"reason\":\"server_died\"}}\n"
                "state failing: it ended with code 1\n"));
    CHECK(stage.servers[0].is_gone);
    (void)stage_order(&stage, "bob", "tools/call");
    CHECK_INT(stage.server_count, 1);
    stage_pass(&stage, 500);
    CHECK_INT(stage.server_count, 2);
    stage_opens(&stage, 1);
    CHECK_STR(stage_sent(&stage, 1),
              S("1 initialize\n- notifications/initialized\nsettled 2025-11-25\n"
                "2 tools/call\n"));
    stage_answers(&stage, 1, 2);
    CHECK_STR(stage_told(&stage),
              S("state starting\nstate ready\nbob: result {\"by\":1}\n"));
    stage_done(&stage);
}

TEST(pauses_grow_and_are_short_again_after_a_steady_time)
{
    struct supervisor_stage stage;
    uint64_t pause = 500;

    ready(&stage);
    for (size_t i = 0; i < 10; i++) {
        stage_ends(&stage, i, "it ended");
        CHECK_INT(stage.server_count, i + 1);
        stage_pass(&stage, pause * 3 / 4 - 1);
        CHECK_INT(stage.server_count, i + 1);
        stage_pass(&stage, pause / 4 + 1);
        CHECK_INT(stage.server_count, i + 2);
        pause = pause * 2 < 60'000 ? pause * 2 : 60'000;
    }
    stage_opens(&stage, 10);
    stage_pass(&stage, 60'000);
    stage_ends(&stage, 10, "it ended");
    stage_pass(&stage, 500);
    CHECK_INT(stage.server_count, 12);
    CHECK_INT(supervisor_restarts(stage.supervisor), 11);
    stage_done(&stage);
}

TEST(a_server_that_nobody_calls_rests_and_comes_back)
{
    struct supervisor_stage stage;

    ready(&stage);
    stage_pass(&stage, 599'999);
    (void)stage_order(&stage, "ada", "tools/call");
    stage_pass(&stage, 30'000);
    stage_answers(&stage, 0, 2);
    stage_pass(&stage, 599'999);
    CHECK(!stage.servers[0].is_closed);
    stage_pass(&stage, 1);
    CHECK(stage.servers[0].is_closed);
    (void)stage_told(&stage);
    /* What comes meanwhile waits for the next one. */
    (void)stage_order(&stage, "bob", "tools/call");
    CHECK_INT(stage.server_count, 1);
    stage_ends(&stage, 0, "it ended with code 0");
    CHECK_INT(stage.server_count, 2);
    stage_opens(&stage, 1);
    stage_answers(&stage, 1, 2);
    CHECK_STR(stage_told(&stage),
              S("state starting\nstate ready\nbob: result {\"by\":1}\n"));
    stage_done(&stage);
}

TEST(what_cannot_be_started_says_so_at_once)
{
    struct supervisor_stage stage;

    stage_init(&stage, stage_spec());
    stage.refusal = "npx: not found";
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_STR(
        stage_told(&stage),
        S("state failing: npx: not found\n"
          "ada: failed {\"code\":-32603,\"message\":\"the server cannot be started: "
          "npx: not found\",\"data\":{\"reason\":\"server_not_started\"}}\n"));
    /* And again while it pauses, without another try. */
    stage.refusal = NULL;
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_INT(stage.server_count, 0);
    stage_pass(&stage, 500);
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_INT(stage.server_count, 1);
    stage_done(&stage);
}

TEST(who_waits_too_long_is_told_why)
{
    struct supervisor_stage stage;

    stage_init(&stage, stage_spec());
    (void)stage_order(&stage, "ada", "tools/call");
    stage_ends(&stage, 0, "it ended with code 3");
    stage_pass(&stage, 500);
    stage_ends(&stage, 1, "it ended with code 3");
    (void)stage_told(&stage);
    stage_pass(&stage, 59'500);
    CHECK_STR(
        stage_told(&stage),
        S("ada: failed {\"code\":-32603,\"message\":\"the server was not ready in "
          "time: it ended with code 3\",\"data\":{\"reason\":\"server_not_ready\"}}\n"
          "state resting\n"));
    stage_done(&stage);
}

TEST(a_server_that_ends_when_probed_is_started_again_as_an_old_one)
{
    struct supervisor_stage stage;

    stage_init(&stage, stage_spec_of_era(ERA_UNKNOWN));
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_STR(stage_sent(&stage, 0), S("1 server/discover\n"));
    stage_ends(&stage, 0, "it ended with code 1");
    CHECK_INT(stage.server_count, 2);
    CHECK_STR(stage_sent(&stage, 1), S("1 initialize\n"));
    stage_opens(&stage, 1);
    CHECK(str_starts(buf_str(&stage.kept), S("{\"era\":\"legacy\",\"era_ms\":17")));
    stage_done(&stage);
}

TEST(what_ends_without_having_read_the_probe_is_started_once)
{
    struct supervisor_stage stage;

    stage_init(&stage, stage_spec_of_era(ERA_UNKNOWN));
    stage.is_unread = true;
    (void)stage_order(&stage, "ada", "tools/call");
    stage_ends(&stage, 0, "it ended with code 1");
    CHECK_INT(stage.server_count, 1);
    CHECK_STR(stage_told(&stage),
              S("state starting\nstate failing: it ended with code 1\n"));
    stage_pass(&stage, 500); /* probed again: nothing is known of it */
    CHECK_INT(stage.server_count, 2);
    CHECK_STR(stage_sent(&stage, 1), S("1 server/discover\n"));
    stage_done(&stage);
}

TEST(a_server_that_fails_as_an_old_one_too_is_probed_the_next_time)
{
    struct supervisor_stage stage;

    stage_init(&stage, stage_spec_of_era(ERA_UNKNOWN));
    (void)stage_order(&stage, "ada", "tools/call");
    stage_ends(&stage, 0, "it ended with code 1");
    stage_ends(&stage, 1, "it ended with code 1");
    CHECK_INT(stage.server_count, 2);
    stage_pass(&stage, 500);
    CHECK_INT(stage.server_count, 3);
    CHECK_STR(stage_sent(&stage, 2), S("1 server/discover\n"));
    stage_done(&stage);
}

/* What it was once: "modern" and "legacy" are found out anew where they do not hold. */
TEST(a_verdict_that_turns_out_wrong_is_found_out_anew)
{
    struct supervisor_stage stage;

    stage_init(&stage, stage_spec_of_era(ERA_UNKNOWN));
    supervisor_restore(stage.supervisor, S("{\"era\":\"modern\",\"era_ms\":1}"));
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_STR(stage_sent(&stage, 0), S("1 server/discover\n"));
    stage_says(&stage, 0,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"
               "\"message\":\"method not found\"}}");
    CHECK_STR(stage_sent(&stage, 0), S("2 initialize\n"));
    stage_says(&stage, 0,
               "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"protocolVersion\":"
               "\"2025-11-25\",\"capabilities\":{}}}");
    CHECK(str_starts(buf_str(&stage.kept), S("{\"era\":\"legacy\",\"era_ms\":17")));
    stage_done(&stage);

    stage_init(&stage, stage_spec_of_era(ERA_UNKNOWN));
    supervisor_restore(stage.supervisor, S("{\"era\":\"legacy\",\"era_ms\":1700000000}"));
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_STR(stage_sent(&stage, 0), S("1 initialize\n"));
    stage_says(&stage, 0,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601,"
               "\"message\":\"method not found\"}}");
    CHECK(stage.servers[0].is_closed);
    stage_ends(&stage, 0, "it ended with code 0");
    stage_pass(&stage, 500);
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_STR(stage_sent(&stage, 1), S("1 server/discover\n"));
    stage_done(&stage);
}

TEST(a_server_that_was_modern_has_time_for_the_probe)
{
    struct supervisor_stage stage;

    stage_init(&stage, stage_spec_of_era(ERA_UNKNOWN));
    supervisor_restore(stage.supervisor, S("{\"era\":\"modern\",\"era_ms\":1}"));
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_STR(stage_sent(&stage, 0), S("1 server/discover\n"));
    stage_pass(&stage, 3000);
    CHECK_STR(stage_sent(&stage, 0), S(""));
    stage_pass(&stage, stage.spec->open_ms);
    CHECK_STR(stage_sent(&stage, 0), S("2 initialize\n"));
    stage_done(&stage);
}

TEST(questions_belong_to_the_only_caller_or_to_nobody)
{
    static const char ask[] =
        "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}";
    struct supervisor_stage stage;

    ready(&stage);
    stage_says(&stage, 0, ask);
    CHECK_STR(stage_told(&stage), S("question nobody 0 roots/list\n"));
    supervisor_answer(stage.supervisor, stage.question, S("result"), S("{\"roots\":[]}"));
    CHECK_STR(stage_sent(&stage, 0), S("- answer\n"));
    (void)stage_order(&stage, "", "tools/list");
    (void)stage_order(&stage, "ada", "tools/call");
    (void)stage_order(&stage, "ada", "tools/call");
    stage_says(&stage, 0, ask);
    CHECK_STR(stage_told(&stage), S("question ada 1 roots/list\n"));
    (void)stage_order(&stage, "bob", "tools/call");
    stage_says(&stage, 0, "{\"jsonrpc\":\"2.0\",\"id\":\"r\",\"method\":\"roots/list\"}");
    CHECK_STR(stage_told(&stage), S("question nobody 2 roots/list\n"));
    stage_done(&stage);
}

TEST(an_order_is_cancelled_where_it_is)
{
    struct supervisor_stage stage;
    struct stage_call *call;

    stage_init(&stage, stage_spec());
    call = stage_order(&stage, "ada", "tools/call");
    supervisor_cancel(stage.supervisor, call->order, S("no more"));
    supervisor_cancel(stage.supervisor, call->order, S("no more"));
    stage_pass(&stage, 0);
    CHECK_STR(stage_told(&stage), S("state starting\nada: cancelled \n"));
    stage_opens(&stage, 0);
    call = stage_order(&stage, "ada", "tools/call");
    (void)stage_told(&stage);
    (void)stage_sent(&stage, 0);
    supervisor_cancel(stage.supervisor, call->order, S("no more"));
    stage_pass(&stage, 0);
    CHECK_STR(stage_told(&stage), S("ada: cancelled \n"));
    CHECK(str_starts(stage_sent(&stage, 0), S("- notifications/cancelled\n")));
    stage_done(&stage);
}

TEST(who_leaves_takes_his_orders_along)
{
    struct supervisor_stage stage;

    ready(&stage);
    (void)stage_order(&stage, "ada", "tools/call");
    (void)stage_order(&stage, "bob", "tools/call");
    supervisor_forget(stage.supervisor, S("ada"));
    stage_pass(&stage, 0);
    CHECK_STR(stage_told(&stage), S("ada: cancelled \n"));
    stage_answers(&stage, 0, 3);
    CHECK_STR(stage_told(&stage), S("bob: result {\"by\":0}\n"));
    stage_done(&stage);
}

TEST(a_person_stops_it_starts_it_and_starts_it_again)
{
    struct supervisor_stage stage;

    ready(&stage);
    (void)stage_order(&stage, "ada", "tools/call");
    supervisor_stop(stage.supervisor, "for a while");
    stage_pass(&stage, 0);
    CHECK(stage.servers[0].is_closed);
    CHECK(!supervisor_is_quiet(stage.supervisor));
    (void)stage_order(&stage, "bob", "tools/call");
    stage_answers(&stage, 0, 2);
    stage_ends(&stage, 0, "it ended with code 0");
    CHECK_STR(stage_told(&stage),
              S("state stopped: for a while\nbob: refused unavailable\n"
                "ada: result {\"by\":0}\n"));
    CHECK(supervisor_is_quiet(stage.supervisor));
    stage_pass(&stage, 3'600'000);
    CHECK_INT(stage.server_count, 1);
    supervisor_start(stage.supervisor);
    stage_pass(&stage, 0);
    CHECK_INT(stage.server_count, 2);
    stage_opens(&stage, 1);
    supervisor_restart(stage.supervisor);
    stage_pass(&stage, 0);
    CHECK(stage.servers[1].is_closed);
    stage_ends(&stage, 1, "it ended with code 0");
    CHECK_INT(stage.server_count, 3);
    stage_done(&stage);
}

TEST(only_so_many_wait)
{
    struct supervisor_stage stage;
    struct server_spec *spec = stage_spec();

    spec->max_waiting = 2;
    stage_init(&stage, spec);
    (void)stage_order(&stage, "ada", "tools/call");
    (void)stage_order(&stage, "ada", "tools/call");
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_STR(stage_told(&stage), S("state starting\nada: refused overload\n"));
    stage_done(&stage);
}

TEST(what_uses_too_much_is_killed)
{
    struct supervisor_stage stage;

    ready(&stage);
    (void)stage_order(&stage, "ada", "tools/call");
    stage_pass(&stage, 500);
    CHECK(!stage.servers[0].is_gone);
    stage.excess = "it uses more memory than it may";
    stage_pass(&stage, 500);
    CHECK(stage.servers[0].is_gone);
    CHECK_STR(stage_told(&stage),
              S("ada: failed {\"code\":-32603,\"message\":\"it uses more memory than it "
                "may\",\"data\":{\"reason\":\"server_died\"}}\n"
                "state failing: it uses more memory than it may\n"));
    stage_done(&stage);
}

TEST(what_is_watched_is_watched_again_after_a_crash_and_keeps_it_running)
{
    struct supervisor_stage stage;
    const struct str uri = S("a:b");

    ready(&stage);
    stage_ends(&stage, 0, "it ended");
    stage_pass(&stage, 500);
    supervisor_watch(stage.supervisor, S(""), &uri, 1);
    stage_says(&stage, 1,
               "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":"
               "\"2025-11-25\",\"capabilities\":{\"resources\":{\"subscribe\":true}}}}");
    CHECK(str_ends(stage_sent(&stage, 1), S(" resources/subscribe\n")));
    stage_pass(&stage, 600'000);
    CHECK(!stage.servers[1].is_closed);
    supervisor_watch(stage.supervisor, S(""), NULL, 0);
    stage_pass(&stage, 600'000);
    CHECK(stage.servers[1].is_closed);
    stage_done(&stage);
}
