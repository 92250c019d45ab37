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
