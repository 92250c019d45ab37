/* SPDX-License-Identifier: Apache-2.0 */
/* One process for each caller, or several with one call at a time. */
#include "base/cleanup.h"
#include "harness.h"
#include "supervisor_stage.h"

static void begin(struct supervisor_stage *stage, enum server_mode mode, size_t instances)
{
    struct server_spec *spec = stage_spec();

    spec->mode = mode;
    spec->instances = instances;
    stage_init(stage, spec);
}

TEST(each_caller_has_an_instance_of_his_own)
{
    struct supervisor_stage stage;

    begin(&stage, SERVER_PER_CALLER, 3);
    (void)stage_order(&stage, "ada", "tools/call");
    (void)stage_order(&stage, "bob", "tools/call");
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_INT(stage.server_count, 2);
    stage_opens(&stage, 0);
    stage_opens(&stage, 1);
    (void)stage_told(&stage);
    CHECK(str_ends(stage_sent(&stage, 0), S("2 tools/call\n3 tools/call\n")));
    CHECK(str_ends(stage_sent(&stage, 1), S("\n2 tools/call\n")));
    /* His questions are his, whatever others do. */
    stage_says(&stage, 1, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
    CHECK_STR(stage_told(&stage), S("question bob 1 roots/list\n"));
    /* A crash of one is nothing to the other. */
    stage_ends(&stage, 0, "it ended");
    (void)stage_told(&stage);
    stage_answers(&stage, 1, 2);
    CHECK_STR(stage_told(&stage), S("bob: result {\"by\":1}\n"));
    stage_done(&stage);
}

TEST(nobody_restarts_an_instance_whose_caller_does_not_call)
{
    struct supervisor_stage stage;

    begin(&stage, SERVER_PER_CALLER, 3);
    (void)stage_order(&stage, "ada", "tools/call");
    stage_opens(&stage, 0);
    stage_answers(&stage, 0, 2);
    stage_ends(&stage, 0, "it ended");
    stage_pass(&stage, 60'000);
    CHECK_INT(stage.server_count, 1);
    stage_done(&stage);
}

TEST(the_instance_that_learned_what_is_offered_serves_the_first_caller)
{
    struct supervisor_stage stage;

    begin(&stage, SERVER_PER_CALLER, 3);
    supervisor_start(stage.supervisor);
    stage_pass(&stage, 0);
    stage_opens(&stage, 0);
    (void)stage_order(&stage, "", "tools/list");
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_INT(stage.server_count, 1);
    (void)stage_order(&stage, "bob", "tools/call");
    CHECK_INT(stage.server_count, 2);
    stage_done(&stage);
}

TEST(the_least_recently_used_instance_makes_room)
{
    struct supervisor_stage stage;

    begin(&stage, SERVER_PER_CALLER, 2);
    (void)stage_order(&stage, "ada", "tools/call");
    (void)stage_order(&stage, "bob", "tools/call");
    stage_opens(&stage, 0);
    stage_opens(&stage, 1);
    /* All are busy: the third waits. */
    (void)stage_order(&stage, "eve", "tools/call");
    stage_pass(&stage, 10);
    CHECK(!stage.servers[0].is_closed && !stage.servers[1].is_closed);
    stage_answers(&stage, 1, 2);
    CHECK(stage.servers[1].is_closed && !stage.servers[0].is_closed);
    CHECK_INT(stage.server_count, 2);
    stage_ends(&stage, 1, "it ended with code 0");
    CHECK_INT(stage.server_count, 3);
    stage_opens(&stage, 2);
    CHECK(str_ends(stage_sent(&stage, 2), S("\n2 tools/call\n")));
    stage_done(&stage);
}

TEST(who_leaves_takes_his_instance_along)
{
    struct supervisor_stage stage;

    begin(&stage, SERVER_PER_CALLER, 2);
    (void)stage_order(&stage, "ada", "tools/call");
    stage_opens(&stage, 0);
    supervisor_forget(stage.supervisor, S("ada"));
    stage_pass(&stage, 0);
    CHECK(stage.servers[0].is_closed);
    /* Back again, he does not get the old one. */
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_INT(stage.server_count, 2);
    stage_ends(&stage, 0, "it ended with code 0");
    stage_opens(&stage, 1);
    CHECK(str_ends(stage_sent(&stage, 1), S("\n2 tools/call\n")));
    stage_done(&stage);
}

TEST(each_of_a_pool_has_one_call_at_a_time)
{
    struct supervisor_stage stage;

    begin(&stage, SERVER_POOLED, 2);
    for (size_t i = 0; i < 4; i++)
        (void)stage_order(&stage, "ada", "tools/call");
    CHECK_INT(stage.server_count, 2);
    stage_opens(&stage, 0);
    stage_opens(&stage, 1);
    CHECK(str_ends(stage_sent(&stage, 0), S("\n2 tools/call\n")));
    CHECK(str_ends(stage_sent(&stage, 1), S("\n2 tools/call\n")));
    (void)stage_told(&stage);
    stage_answers(&stage, 1, 2);
    CHECK_STR(stage_sent(&stage, 1), S("3 tools/call\n"));
    CHECK_STR(stage_sent(&stage, 0), S(""));
    stage_answers(&stage, 0, 2);
    CHECK_STR(stage_sent(&stage, 0), S("3 tools/call\n"));
    CHECK_STR(stage_told(&stage), S("ada: result {\"by\":1}\nada: result {\"by\":0}\n"));
    stage_done(&stage);
}

/* Any of them may be the one that changes something. */
TEST(all_of_a_pool_watch_and_one_of_them_keeps_running_for_it)
{
    static const char opened[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":"
        "\"2025-11-25\",\"capabilities\":{\"resources\":{\"subscribe\":true}}}}";
    struct supervisor_stage stage;
    const struct str uri = S("a:b");

    begin(&stage, SERVER_POOLED, 2);
    (void)stage_order(&stage, "ada", "tools/call");
    (void)stage_order(&stage, "bob", "tools/call");
    stage_says(&stage, 0, opened);
    supervisor_watch(stage.supervisor, S(""), &uri, 1);
    CHECK(str_ends(stage_sent(&stage, 0), S(" resources/subscribe\n")));
    stage_says(&stage, 1, opened);
    CHECK(str_ends(stage_sent(&stage, 1), S("2 resources/subscribe\n3 tools/call\n")));
    stage_answers(&stage, 0, 2);
    stage_answers(&stage, 1, 3);
    (void)stage_told(&stage);
    stage_says(&stage, 1,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
               "\"params\":{\"uri\":\"a:b\"}}");
    stage_says(&stage, 1,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    CHECK_STR(stage_told(&stage),
              S("notification nobody notifications/resources/updated\n"
                "notification nobody notifications/tools/list_changed\n"));
    stage_pass(&stage, 600'000);
    CHECK(!stage.servers[0].is_closed);
    CHECK(stage.servers[1].is_closed);
    stage_done(&stage);
}

TEST(a_pool_grows_with_its_calls_and_does_not_while_one_pauses)
{
    struct supervisor_stage stage;

    begin(&stage, SERVER_POOLED, 3);
    (void)stage_order(&stage, "ada", "tools/call");
    CHECK_INT(stage.server_count, 1);
    stage_opens(&stage, 0);
    (void)stage_order(&stage, "bob", "tools/call");
    CHECK_INT(stage.server_count, 2);
    stage_ends(&stage, 1, "it ended");
    (void)stage_order(&stage, "eve", "tools/call");
    CHECK_INT(stage.server_count, 2);
    stage_answers(&stage, 0, 2);
    CHECK(str_ends(stage_sent(&stage, 0), S("\n3 tools/call\n")));
    stage_pass(&stage, 500);
    CHECK_INT(stage.server_count, 3);
    stage_done(&stage);
}
