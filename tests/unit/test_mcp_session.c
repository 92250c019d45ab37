/* SPDX-License-Identifier: Apache-2.0 */
/* A session with a legacy server. */
#include <stdio.h>

#include "fake_carrier.h"
#include "harness.h"

static const struct mcp_session_settings legacy = { .era = ERA_LEGACY,
                                                    .has_sampling = true,
                                                    .has_elicitation = true,
                                                    .has_roots = true,
                                                    .has_tasks = true };

TEST(a_legacy_server_is_initialized)
{
    struct fake_carrier fake;

    fake_carrier_init(&fake, &legacy);
    CHECK(!mcp_session_is_ready(fake.session));
    CHECK_STR(fake_carrier_sent(&fake),
              S("1 initialize {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
                "\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{"
                "\"sampling\":{\"tools\":{}},\"elicitation\":{\"form\":{}},"
                "\"roots\":{\"listChanged\":true}},"
                "\"clientInfo\":{\"name\":\"moot\",\"version\":\"1\"}}}\n"));
    CHECK_INT(fake_carrier_call(&fake, "tools/list", ""), 0);
    CHECK_STR(fake_carrier_told(&fake), S("refused again\n"));
    fake_carrier_answers(
        &fake, 1,
        "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":"
        "{}},\"serverInfo\":{\"name\":\"s\"},\"instructions\":\"a\\nb\"}");
    CHECK_STR(fake_carrier_sent(&fake),
              S("- notifications/initialized "
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
                "settled 2025-06-18\n"));
    CHECK_STR(fake_carrier_told(&fake), S("ready legacy 2025-06-18\n"));
    CHECK_STR(mcp_session_facts(fake.session)->capable.text, S("{\"tools\":{}}"));
    CHECK_STR(mcp_session_facts(fake.session)->server, S("{\"name\":\"s\"}"));
    CHECK_STR(mcp_session_facts(fake.session)->instructions, S("a\nb"));
    fake_carrier_done(&fake);
}

TEST(a_handshake_that_fails_ends_the_session)
{
    static const struct {
        const char *answer;
        struct mishap mishap;
        const char *told;
    } cases[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2099-01-01\"}}",
          {},
          "end refused: the server speaks another version\n" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2026-07-28\"}}",
          {},
          "end refused: the server speaks another version\n" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[]}",
          {},
          "end refused: initialize was answered with an error\n" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"no\"}}",
          {},
          "end refused: initialize was answered with an error\n" },
        { NULL, { .type = MISHAP_STATUS, .status = 500 }, "end refused: a mishap\n" },
        { NULL,
          { .type = MISHAP_FORBIDDEN, .status = 401 },
          "end forbidden: a mishap\n" },
        { NULL, { .type = MISHAP_TIMEOUT }, "end silent: a mishap\n" },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_carrier fake;

        fake_carrier_init(&fake, &legacy);
        if (c->answer)
            CHECK(fake_carrier_says(&fake, c->answer));
        else
            fake_carrier_mishap(&fake, 1, c->mishap);
        CHECK_STR(fake_carrier_told(&fake), str_of(c->told));
        CHECK_INT(fake_carrier_call(&fake, "m", ""), 0);
        CHECK_STR(fake_carrier_told(&fake), S("refused closed\n"));
        CHECK_INT(mcp_session_due_ms(fake.session), UINT64_MAX);
        fake_carrier_done(&fake);
    }
}

TEST(a_version_that_the_server_names_is_offered_once)
{
    static const char refusal[] =
        "\"error\":{\"code\":-32602,\"message\":\"m\",\"data\":{\"supported\":"
        "[\"2024-11-05\",\"2025-03-26\",\"2026-07-28\"]}}}";
    struct fake_carrier fake;
    struct buf text;

    fake_carrier_init(&fake, &legacy);
    fake.is_brief = true;
    (void)fake_carrier_sent(&fake);
    buf_init(&text, 1000);
    buf_putf(&text, "{\"jsonrpc\":\"2.0\",\"id\":1,%s", refusal);
    fake_carrier_says(&fake, buf_cstr(&text));
    CHECK(str_starts(fake_carrier_sent(&fake),
                     S("2 initialize {\"protocolVersion\":\"2025-03-26\",")));
    buf_clear(&text);
    buf_putf(&text, "{\"jsonrpc\":\"2.0\",\"id\":2,%s", refusal);
    fake_carrier_says(&fake, buf_cstr(&text));
    CHECK_STR(fake_carrier_told(&fake),
              S("end refused: initialize was answered with an error\n"));
    buf_done(&text);
    fake_carrier_done(&fake);
}

TEST(a_level_is_told_when_it_changes)
{
    struct mcp_session_settings settings = { .era = ERA_LEGACY };
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &settings, "{\"logging\":{}}");
    fake.is_brief = true;
    (void)fake_carrier_sent(&fake);
    mcp_session_level(fake.session, S("debug"), fake.now_ms);
    mcp_session_level(fake.session, S("debug"), fake.now_ms);
    mcp_session_level(fake.session, S("none of MCP's"), fake.now_ms);
    CHECK_STR(fake_carrier_sent(&fake), S("2 logging/setLevel {\"level\":\"debug\"}\n"));
    mcp_session_level(fake.session, S("alert"), fake.now_ms);
    CHECK_STR(fake_carrier_sent(&fake), S("3 logging/setLevel {\"level\":\"alert\"}\n"));
    fake_carrier_done(&fake);
}

/* What a caller can be asked is said to us: such a server was told at the beginning. */
TEST(a_legacy_server_does_not_hear_what_its_caller_can_be_asked)
{
    static const struct {
        const char *meta, *sent;
    } cases[] = {
        { "{\"io.modelcontextprotocol/clientCapabilities\":{}}",
          "2 ping {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":{}}\n" },
        { "{\"io.modelcontextprotocol/clientCapabilities\":{},\"k\":1}",
          "2 ping {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":{\"_meta\":"
          "{\"k\":1}}}\n" },
        { "{}", "2 ping {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\",\"params\":{"
                "\"_meta\":{}}}\n" },
    };

    FOR_EACH_CASE(c, cases) {
        struct mcp_session_settings settings = { .era = ERA_LEGACY };
        struct fake_carrier fake;
        struct buf params;
        uint64_t id;

        buf_init(&params, 1000);
        buf_putf(&params, "{\"_meta\":%s}", c->meta);
        fake_carrier_ready(&fake, &settings, "{}");
        (void)fake_carrier_sent(&fake);
        CHECK_INT(mcp_session_call(
                      fake.session,
                      &(struct mcp_call){ .method = S("ping"),
                                          .params = buf_str(&params),
                                          .capable = S("{\"roots\":{}}"),
                                          .ops.on_done = fake_carrier_call_ops.on_done,
                                          .user = &fake },
                      fake.now_ms, &id),
                  OK);
        CHECK_STR(fake_carrier_sent(&fake), str_of(c->sent));
        fake_carrier_done(&fake);
        buf_done(&params);
    }
}

TEST(levels_and_subscriptions_are_set_where_the_server_has_them)
{
    static const struct {
        const char *capable, *ready, *changed;
    } cases[] = {
        { "{\"logging\":{},\"resources\":{\"subscribe\":true}}",
          "2 logging/setLevel {\"level\":\"info\"}\n"
          "3 resources/subscribe {\"uri\":\"x:a\"}\n"
          "4 resources/subscribe {\"uri\":\"x:b\"}\n",
          "5 resources/subscribe {\"uri\":\"x:\\\"\"}\n"
          "6 resources/unsubscribe {\"uri\":\"x:a\"}\n" },
        { "{\"resources\":{}}", "", "" },
    };
    struct mcp_session_settings settings = { .era = ERA_LEGACY, .log_level = S("info") };
    const struct str first[] = { S("x:a"), S("x:b") };
    const struct str second[] = { S("x:b"), S("x:\"") };
    struct buf answer;

    buf_init(&answer, 1000);
    FOR_EACH_CASE(c, cases) {
        struct fake_carrier fake;
        struct str sent;

        fake_carrier_init(&fake, &settings);
        fake.is_brief = true;
        mcp_session_watch(fake.session, first, 2, fake.now_ms);
        buf_clear(&answer);
        buf_putf(&answer, "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":%s}",
                 c->capable);
        (void)fake_carrier_sent(&fake);
        fake_carrier_answers(&fake, 1, buf_cstr(&answer));
        sent = fake_carrier_sent(&fake);
        (void)str_cut(&sent, '\n'); /* initialized */
        (void)str_cut(&sent, '\n'); /* settled */
        CHECK_STR(sent, str_of(c->ready));
        mcp_session_watch(fake.session, second, 2, fake.now_ms);
        CHECK_STR(fake_carrier_sent(&fake), str_of(c->changed));
        CHECK_INT(mcp_session_underway(fake.session), 0);
        fake_carrier_done(&fake);
    }
    buf_done(&answer);
}

TEST(a_server_that_says_nothing_is_given_up)
{
    struct fake_carrier fake;

    fake_carrier_init(&fake, &legacy);
    CHECK_INT(mcp_session_due_ms(fake.session), fake.now_ms + 10000);
    fake_carrier_tick(&fake, 9999);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_tick(&fake, 1);
    CHECK_STR(fake_carrier_told(&fake), S("end silent: no answer\n"));
    fake_carrier_done(&fake);
}

TEST(a_call_is_sent_and_answered)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    CHECK_INT(fake_carrier_call(&fake, "tools/call",
                                "{\"name\":\"a\",\"_meta\":{\"progressToken\":\"x\","
                                "\"k\":1e400,\"io.modelcontextprotocol/protocolVersion\":"
                                "\"2026-07-28\"},\"n\":12345678901234567890}"),
              2);
    CHECK_STR(fake_carrier_sent(&fake),
              S("2 tools/call {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
                "\"params\":{\"name\":\"a\",\"n\":12345678901234567890,"
                "\"_meta\":{\"k\":1e400,\"progressToken\":2}}}\n"));
    CHECK_INT(mcp_session_underway(fake.session), 1);
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                             "\"params\":{\"progressToken\":2,\"progress\":1}}");
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                             "\"params\":{\"progressToken\":\"2\",\"progress\":1}}");
    CHECK_STR(fake_carrier_told(&fake),
              S("progress {\"progressToken\":2,\"progress\":1}\n"));
    fake_carrier_answers(&fake, 3, "{}");
    fake_carrier_answers(&fake, 2, "{\"x\":1}");
    fake_carrier_answers(&fake, 2, "{\"x\":2}");
    CHECK_STR(fake_carrier_told(&fake), S("result {\"x\":1}\n"));
    CHECK_INT(mcp_session_underway(fake.session), 0);
    CHECK_INT(fake_carrier_call(&fake, "m", ""), 3);
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-5,"
                             "\"message\":\"no\",\"data\":1}}");
    CHECK_STR(fake_carrier_told(&fake),
              S("error {\"code\":-5,\"message\":\"no\",\"data\":1}\n"));
    fake_carrier_done(&fake);
}

TEST(without_anybody_to_tell_there_is_no_progress_token)
{
    struct fake_carrier fake;
    uint64_t id;

    fake_carrier_ready(&fake, &legacy, "{}");
    CHECK_INT(mcp_session_call(
                  fake.session,
                  &(struct mcp_call){ .method = S("m"),
                                      .ops = { .on_done = fake_carrier_call_ops.on_done },
                                      .user = &fake },
                  fake.now_ms, &id),
              OK);
    CHECK_STR(fake_carrier_sent(&fake),
              S("2 m {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"m\"}\n"));
    fake_carrier_done(&fake);
}

TEST(a_call_that_takes_too_long_is_cancelled)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    fake.is_terse = true;
    (void)fake_carrier_call(&fake, "m", "");
    fake_carrier_tick(&fake, 29000);
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                             "\"params\":{\"progressToken\":2,\"progress\":1}}");
    (void)fake_carrier_told(&fake);
    fake_carrier_tick(&fake, 29999);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    (void)fake_carrier_sent(&fake);
    fake.is_terse = false;
    fake_carrier_tick(&fake, 1);
    CHECK_STR(
        fake_carrier_told(&fake),
        S("failed {\"code\":-32603,\"message\":\"the server did not answer in time\","
          "\"data\":{\"reason\":\"timeout\"}}\n"));
    CHECK_STR(fake_carrier_sent(&fake),
              S("- notifications/cancelled {\"jsonrpc\":\"2.0\",\"method\":"
                "\"notifications/cancelled\",\"params\":{\"requestId\":2,"
                "\"reason\":\"timeout\"}}\ndrop 2\n"));
    fake_carrier_done(&fake);
}

static void say_progress(struct fake_carrier *fake, double progress)
{
    char text[200];

    (void)snprintf(text, sizeof(text),
                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                   "\"params\":{\"progressToken\":2,\"progress\":%g}}",
                   progress);
    fake_carrier_says(fake, text);
}

#define PROGRESS(number) "progress {\"progressToken\":2,\"progress\":" number "}\n"

/* PROG-02: what does not rise is no progress, and no sign of life. */
TEST(progress_only_rises)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    (void)fake_carrier_call(&fake, "m", "");
    say_progress(&fake, -1);
    fake_carrier_tick(&fake, 100);
    say_progress(&fake, 0.5);
    CHECK_STR(fake_carrier_told(&fake), S(PROGRESS("-1") PROGRESS("0.5")));
    fake_carrier_tick(&fake, 100);
    say_progress(&fake, 0.5);
    say_progress(&fake, 0.25);
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                             "\"params\":{\"progressToken\":2,\"progress\":\"7\"}}");
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\","
                             "\"params\":{\"progressToken\":2}}");
    CHECK_STR(fake_carrier_told(&fake), S("odd: its progress does not rise: not told\n"));
    fake_carrier_tick(&fake, 29000);
    say_progress(&fake, 0.5);
    fake_carrier_tick(&fake, 900);
    CHECK(str_starts(fake_carrier_told(&fake), S("failed ")));
    fake_carrier_done(&fake);
}

/* PROG-05, PROG-03. */
TEST(progress_is_told_ten_times_a_second_and_the_last_before_the_answer)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    (void)fake_carrier_call(&fake, "m", "");
    for (int i = 1; i <= 9; i++)
        say_progress(&fake, i);
    (void)fake_carrier_told(&fake);
    for (int i = 10; i <= 1000; i++) {
        say_progress(&fake, i);
        if (i % 400 == 0)
            fake_carrier_tick(&fake, 100);
    }
    CHECK_STR(fake_carrier_told(&fake),
              S(PROGRESS("10") PROGRESS("400") PROGRESS("800")));
    fake_carrier_tick(&fake, 99);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_answers(&fake, 2, "{}");
    CHECK_STR(fake_carrier_told(&fake), S(PROGRESS("1000") "result {}\n"));
    say_progress(&fake, 2000);
    fake_carrier_tick(&fake, 1000);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_done(&fake);
}

/* The held one was overtaken where the next came before its time was looked at. */
TEST(a_short_call_is_told_of_in_full)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    (void)fake_carrier_call(&fake, "m", "");
    say_progress(&fake, 0);
    fake.now_ms += 50;
    say_progress(&fake, 50);
    fake.now_ms += 50;
    say_progress(&fake, 100);
    fake_carrier_answers(&fake, 2, "{}");
    CHECK_STR(fake_carrier_told(&fake),
              S(PROGRESS("0") PROGRESS("50") PROGRESS("100") "result {}\n"));
    fake_carrier_done(&fake);
}

TEST(what_is_held_back_comes_before_what_follows_it)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    (void)fake_carrier_call(&fake, "m", "");
    for (int i = 1; i <= 11; i++)
        say_progress(&fake, i);
    (void)fake_carrier_told(&fake);
    fake.now_ms += 100; /* its time has come, and nobody has looked */
    say_progress(&fake, 12);
    CHECK_STR(fake_carrier_told(&fake), S(PROGRESS("11")));
    fake_carrier_tick(&fake, 100);
    CHECK_STR(fake_carrier_told(&fake), S(PROGRESS("12")));
    fake_carrier_done(&fake);
}

TEST(progress_that_is_held_back_ends_with_a_call_that_is_cancelled)
{
    struct fake_carrier fake;
    uint64_t call;

    fake_carrier_ready(&fake, &legacy, "{}");
    call = fake_carrier_call(&fake, "m", "");
    for (int i = 1; i <= 11; i++)
        say_progress(&fake, i);
    mcp_session_cancel(fake.session, call, S(""), fake.now_ms);
    (void)fake_carrier_told(&fake);
    fake_carrier_tick(&fake, 100);
    CHECK(str_starts(fake_carrier_told(&fake), S("cancelled ")));
    fake_carrier_done(&fake);
}

TEST(progress_does_not_prolong_a_call_for_ever)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    (void)fake_carrier_call(&fake, "m", "");
    for (int i = 0; i < 11; i++) {
        say_progress(&fake, i);
        CHECK_INT(mcp_session_underway(fake.session), 1);
        fake_carrier_tick(&fake, i < 10 ? 29999 : 10);
    }
    CHECK_INT(mcp_session_underway(fake.session), 0);
    fake_carrier_done(&fake);
}

TEST(a_call_that_waits_for_a_person_is_not_late)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    (void)fake_carrier_call(&fake, "m", "");
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
    fake_carrier_tick(&fake, 60000);
    fake_carrier_reply(&fake, "{\"roots\":[]}");
    fake_carrier_tick(&fake, 29999);
    CHECK_INT(mcp_session_underway(fake.session), 1);
    fake_carrier_tick(&fake, 1);
    CHECK_INT(mcp_session_underway(fake.session), 0);
    fake_carrier_done(&fake);
}

TEST(an_error_without_an_id_is_of_the_stream_that_brings_it)
{
    static const char error[] =
        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-5,\"message\":\"m\"}}";
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    (void)fake_carrier_call(&fake, "m", "");
    CHECK(fake_carrier_says(&fake, error));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    CHECK(fake_carrier_says_via(&fake, 2, error));
    CHECK_STR(fake_carrier_told(&fake), S("error {\"code\":-5,\"message\":\"m\"}\n"));
    fake_carrier_done(&fake);
}

TEST(a_server_asks_so_much_and_no_more)
{
    struct mcp_session_settings settings = { .era = ERA_LEGACY,
                                             .has_roots = true,
                                             .max_questions = 1 };
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &settings, "{}");
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"roots/list\"}");
    CHECK_STR(fake_carrier_sent(&fake),
              S("- answer {\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32603,"
                "\"message\":\"too many questions\"}}\n"));
    CHECK_STR(fake_carrier_told(&fake), S("question 0 roots/list \n"));
    fake_carrier_reply(&fake, "{}");
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"roots/list\"}");
    CHECK_STR(fake_carrier_told(&fake), S("question 0 roots/list \n"));
    fake_carrier_done(&fake);
}

TEST(a_cancelled_call_ends_with_the_next_tick)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    (void)fake_carrier_call(&fake, "m", "");
    (void)fake_carrier_sent(&fake);
    mcp_session_cancel(fake.session, 2, S("why"), fake.now_ms);
    mcp_session_cancel(fake.session, 2, S("twice"), fake.now_ms);
    mcp_session_cancel(fake.session, 99, S("nothing"), fake.now_ms);
    CHECK_STR(fake_carrier_sent(&fake),
              S("- notifications/cancelled {\"jsonrpc\":\"2.0\",\"method\":"
                "\"notifications/cancelled\",\"params\":{\"requestId\":2,"
                "\"reason\":\"why\"}}\ndrop 2\n"));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    CHECK(mcp_session_due_ms(fake.session) <= fake.now_ms);
    fake_carrier_answers(&fake, 2, "{}");
    fake_carrier_tick(&fake, 0);
    CHECK_STR(fake_carrier_told(&fake),
              S("cancelled {\"code\":-32603,\"message\":\"it was cancelled\","
                "\"data\":{\"reason\":\"cancelled\"}}\n"));
    fake_carrier_done(&fake);
}

TEST(a_server_asks_and_is_answered_with_its_own_id)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    (void)fake_carrier_call(&fake, "tools/call", "{\"name\":\"a\"}");
    (void)fake_carrier_sent(&fake);
    fake_carrier_says_via(&fake, 2,
                          "{\"jsonrpc\":\"2.0\",\"id\":\"\\u0030\",\"method\":"
                          "\"elicitation/create\",\"params\":{\"message\":\"m\"}}");
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"roots/list\"}");
    CHECK_STR(fake_carrier_told(&fake), S("question 2 elicitation/create {\"message\":"
                                          "\"m\"}\nquestion 0 roots/list \n"));
    fake_carrier_reply(&fake, "{\"action\":\"accept\"}");
    fake_carrier_reply(&fake, "{\"roots\":[]}");
    CHECK_STR(fake_carrier_sent(&fake),
              S("- answer {\"jsonrpc\":\"2.0\",\"id\":\"\\u0030\",\"result\":"
                "{\"action\":\"accept\"}}\n"
                "- answer {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"roots\":[]}}\n"));
    fake_carrier_done(&fake);
}

TEST(what_may_not_be_asked_is_refused_here)
{
    static const struct {
        const char *asked;
        struct str code;
    } cases[] = {
        { "\"method\":\"tools/call\"", S("-32601") },
        { "\"method\":\"sampling/createMessage\",\"params\":{}", S("-32601") },
        { "\"method\":\"roots/list\"", S("-32601") },
        { "\"method\":\"elicitation/create\",\"params\":{\"mode\":\"url\"}",
          S("-32602") },
        { "\"method\":\"elicitation/create\",\"params\":{\"mode\":7}", S("-32602") },
    };
    struct mcp_session_settings settings = { .era = ERA_LEGACY, .has_elicitation = true };
    struct fake_carrier fake;
    struct buf text;

    fake_carrier_ready(&fake, &settings, "{}");
    buf_init(&text, 1000);
    FOR_EACH_CASE(c, cases) {
        buf_clear(&text);
        buf_putf(&text, "{\"jsonrpc\":\"2.0\",\"id\":5,%s}", c->asked);
        CHECK(fake_carrier_says(&fake, buf_cstr(&text)));
        buf_clear(&text);
        buf_putf(&text,
                 "- answer {\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":" STR_FMT
                 ",\"message\":\"this client cannot be asked that\"}}\n",
                 STR_ARG(c->code));
        CHECK_STR(fake_carrier_sent(&fake), buf_str(&text));
        CHECK_STR(fake_carrier_told(&fake), S(""));
    }
    buf_done(&text);
    fake_carrier_done(&fake);
}

TEST(a_ping_is_answered_at_any_time)
{
    struct fake_carrier fake;

    fake_carrier_init(&fake, &legacy);
    (void)fake_carrier_sent(&fake);
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}");
    CHECK_STR(fake_carrier_sent(&fake),
              S("- answer {\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n"));
    fake.is_terse = true;
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"roots/list\"}");
    CHECK_STR(fake_carrier_sent(&fake), S("- answer\n"));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"method\":"
                             "\"notifications/tools/list_changed\"}");
    CHECK_STR(fake_carrier_told(&fake),
              S("notification 0 notifications/tools/list_changed \n"));
    fake_carrier_done(&fake);
}

TEST(a_question_goes_with_its_call_and_when_it_is_taken_back)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    fake.is_terse = true;
    (void)fake_carrier_call(&fake, "m", "");
    fake_carrier_says_via(&fake, 2,
                          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
    fake_carrier_says(&fake,
                      "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"roots/list\"}");
    (void)fake_carrier_told(&fake);
    (void)fake_carrier_sent(&fake);
    fake_carrier_says(&fake,
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                      "\"params\":{\"requestId\":\"1\"}}");
    CHECK_STR(fake_carrier_told(&fake), S("gone roots/list\n"));
    CHECK_INT(fake.question_count, 1);
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_answers(&fake, 2, "{}");
    CHECK_STR(fake_carrier_told(&fake), S("gone roots/list\nresult {}\n"));
    CHECK_STR(fake_carrier_sent(&fake), S("- answer\n"));
    fake_carrier_done(&fake);
}

TEST(when_the_server_ends_its_calls_do_too)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    (void)fake_carrier_call(&fake, "m", "");
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
    (void)fake_carrier_told(&fake);
    mcp_session_ended(fake.session, "it crashed", fake.now_ms);
    CHECK_STR(fake_carrier_told(&fake),
              S("failed {\"code\":-32603,\"message\":\"it crashed\",\"data\":{\"reason\":"
                "\"server_died\"}}\ngone roots/list\nend ended: it crashed\n"));
    mcp_session_ended(fake.session, "again", fake.now_ms);
    fake_carrier_tick(&fake, 100000);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_done(&fake);
}

TEST(what_is_no_message_is_passed_over)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    CHECK(!fake_carrier_says(&fake, "Server listening …"));
    CHECK(!fake_carrier_says(&fake, "{\"level\":\"info\"}"));
    CHECK(!fake_carrier_says(&fake, "[{\"jsonrpc\":\"2.0\",\"method\":\"m\"}]"));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_done(&fake);
}

TEST(batches_are_of_one_version)
{
    struct mcp_session_settings settings = { .era = ERA_LEGACY,
                                             .newest = S("2025-03-26") };
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &settings, "{}");
    (void)fake_carrier_call(&fake, "m", "");
    CHECK(fake_carrier_says(&fake, "[{\"jsonrpc\":\"2.0\",\"method\":\"m\"},"
                                   "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}]"));
    CHECK_STR(fake_carrier_told(&fake), S("notification 0 m \nresult {}\n"));
    CHECK(!fake_carrier_says(&fake, "[7,{\"jsonrpc\":\"2.0\",\"method\":\"m\"}]"));
    CHECK_STR(fake_carrier_told(&fake), S("notification 0 m \n"));
    fake_carrier_done(&fake);
}

TEST(a_carrier_that_takes_nothing_is_told_at_once)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    fake.refusal = ERR_OVERLOAD;
    CHECK_INT(fake_carrier_call(&fake, "m", ""), 0);
    CHECK_STR(fake_carrier_told(&fake), S("refused overload\n"));
    fake.refusal = OK;
    for (int i = 0; i < 11; i++)
        (void)fake_carrier_call(&fake, "m", "");
    CHECK_STR(fake_carrier_told(&fake), S("refused overload\n"));
    CHECK_INT(mcp_session_underway(fake.session), 10);
    fake_carrier_done(&fake);
}

TEST(a_forgotten_session_is_opened_anew_and_its_call_sent_again_once)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    fake.is_terse = true;
    (void)fake_carrier_call(&fake, "m", "");
    (void)fake_carrier_sent(&fake);
    fake_carrier_mishap(&fake, 2,
                        (struct mishap){ .type = MISHAP_FORGOTTEN, .status = 404 });
    CHECK_STR(fake_carrier_sent(&fake), S("renew\n3 initialize\n"));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_answers(&fake, 3, "{\"protocolVersion\":\"2025-11-25\"}");
    CHECK_STR(fake_carrier_sent(&fake),
              S("- notifications/initialized\nsettled 2025-11-25\n4 m\n"));
    CHECK_STR(fake_carrier_told(&fake), S("ready legacy 2025-11-25\n"));
    fake_carrier_mishap(&fake, 4,
                        (struct mishap){ .type = MISHAP_FORGOTTEN, .status = 404 });
    CHECK_STR(fake_carrier_told(&fake),
              S("failed unsent {\"code\":-32603,\"message\":\"a mishap\",\"data\":{"
                "\"reason\":\"session_lost\"}}\n"));
    fake_carrier_done(&fake);
}

TEST(a_status_with_an_error_in_it_is_that_error)
{
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &legacy, "{}");
    (void)fake_carrier_call(&fake, "m", "");
    fake_carrier_mishap(&fake, 2,
                        (struct mishap){ .type = MISHAP_STATUS,
                                         .status = 400,
                                         .body = S("{\"jsonrpc\":\"2.0\",\"id\":null,"
                                                   "\"error\":{\"code\":-32000,"
                                                   "\"message\":\"x\"}}") });
    CHECK_STR(fake_carrier_told(&fake), S("error {\"code\":-32000,\"message\":\"x\"}\n"));
    (void)fake_carrier_call(&fake, "m", "");
    fake_carrier_mishap(
        &fake, 3,
        (struct mishap){ .type = MISHAP_STATUS, .status = 502, .body = S("<html>") });
    CHECK_STR(fake_carrier_told(&fake),
              S("failed {\"code\":-32603,\"message\":\"a mishap\",\"data\":{\"reason\":"
                "\"http_status\"}}\n"));
    fake_carrier_done(&fake);
}

TEST(silence_is_broken_by_a_ping_that_must_be_answered)
{
    struct mcp_session_settings settings = { .era = ERA_LEGACY, .ping_ms = 5000 };
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &settings, "{}");
    fake.is_terse = true;
    fake_carrier_tick(&fake, 4999);
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_tick(&fake, 1);
    CHECK_STR(fake_carrier_sent(&fake), S("2 ping\n"));
    fake_carrier_answers(&fake, 2, "{}");
    fake_carrier_tick(&fake, 5000);
    CHECK_STR(fake_carrier_sent(&fake), S("3 ping\n"));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_tick(&fake, 5000);
    CHECK_STR(fake_carrier_told(&fake), S("end silent: a ping failed\n"));
    fake_carrier_done(&fake);
}

TEST(a_ping_that_finds_the_session_forgotten_opens_it_anew)
{
    struct mcp_session_settings settings = { .era = ERA_LEGACY, .ping_ms = 5000 };
    struct fake_carrier fake;

    fake_carrier_ready(&fake, &settings, "{}");
    fake.is_terse = true;
    fake_carrier_tick(&fake, 5000);
    (void)fake_carrier_sent(&fake);
    fake_carrier_mishap(&fake, 2,
                        (struct mishap){ .type = MISHAP_FORGOTTEN, .status = 404 });
    CHECK_STR(fake_carrier_sent(&fake), S("renew\n3 initialize\n"));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_done(&fake);
}

TEST(a_call_that_is_too_large_is_refused_and_leaves_nothing)
{
    struct mcp_session_settings settings = { .era = ERA_LEGACY, .max_message = 1000 };
    struct fake_carrier fake;
    struct buf params;

    fake_carrier_ready(&fake, &settings, "{}");
    buf_init(&params, 2000);
    buf_putf(&params, "{\"a\":\"%0990d\"}", 0);
    CHECK_INT(fake_carrier_call(&fake, "m", buf_cstr(&params)), 0);
    CHECK_STR(fake_carrier_told(&fake), S("refused too_big\n"));
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    CHECK_INT(mcp_session_underway(fake.session), 0);
    CHECK_INT(fake_carrier_call(&fake, "m", "{}"), 2);
    buf_done(&params);
    fake_carrier_done(&fake);
}
