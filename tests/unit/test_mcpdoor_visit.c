/* SPDX-License-Identifier: Apache-2.0 */
/* Legacy sessions: made, recognised, found again, ended; and their streams. */
#include "mcpdoor_hall.h"

#define FILES "{\"tools\":[" READ "]}"
#define CALL \
    "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":\"read\"}}"

static void open_stage(struct stage *stage, const struct hall_settings *settings)
{
    stage_init(stage, settings);
    stage_owner(stage, "files", FILES);
}

static bool knows(struct stage *stage, const char *who, const char *visit)
{
    struct str said = stage_said(stage, stage_post(stage, who, visit, LEGACY("ping")));

    if (str_starts(said, S("200 ")))
        return true;
    CHECK_STR(said, S("404 {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32001,"
                      "\"message\":\"there is no such session\"}}\n"));
    return false;
}

/* --- finding --- */

TEST(without_a_session_there_is_only_initialize)
{
    struct stage stage;

    open_stage(&stage, &(struct hall_settings){});
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", LEGACY("tools/list"))), "400 {");
    HAS(stage_said(&stage, stage_get(&stage, "ann", "", "")), "400 {");
    HAS(stage_said(&stage, stage_delete(&stage, "ann", "")), "400 {");
    HAS(stage_said(&stage, stage_post(&stage, "ann", open_visit(&stage, "ann"),
                                      INITIALIZE("2025-11-25"))),
        "400 {\"jsonrpc\":\"2.0\",\"id\":\"i\",\"error\":{\"code\":-32600,");
    stage_done(&stage);
}

TEST(forged_and_foreign_ids_are_as_unknown_as_ended_ones)
{
    struct stage stage;
    const char *visit;

    open_stage(&stage, &(struct hall_settings){});
    visit = open_visit(&stage, "ann");
    CHECK(knows(&stage, "ann", visit));
    CHECK(!knows(&stage, "bob", visit));
    CHECK(!knows(&stage, "ann", "nonsense"));
    CHECK_STR(stage_said(&stage, stage_delete(&stage, "ann", visit)), S("204\n"));
    CHECK(!knows(&stage, "ann", visit));
    HAS(stage_said(&stage, stage_delete(&stage, "ann", visit)), "404 {");
    HAS(stage_said(&stage, stage_get(&stage, "ann", visit, "")), "404 {");
    stage_done(&stage);
}

TEST(a_session_of_another_topic_is_unknown)
{
    struct stage here, there;
    const char *visit;

    open_stage(&here, &(struct hall_settings){ .topic = S("here"), .boot = 1 });
    open_stage(&there, &(struct hall_settings){ .topic = S("there"), .boot = 2 });
    visit = open_visit(&here, "ann");
    CHECK(!knows(&there, "ann", visit));
    stage_done(&here);
    stage_done(&there);
}

TEST(a_session_of_another_life_is_taken_up_until_it_ends)
{
    struct stage before, after;
    const char *visit;

    open_stage(&before, &(struct hall_settings){ .boot = 1 });
    visit = open_visit(&before, "ann");
    stage_done(&before);
    open_stage(&after, &(struct hall_settings){ .boot = 2 });
    CHECK(knows(&after, "ann", visit));
    CHECK(!knows(&after, "bob", visit));
    HAS(stage_said(&after, stage_post(&after, "ann", visit, LEGACY("tools/list"))),
        "\"read\"");
    CHECK_INT(hall_counts(after.hall).resumed, 1);
    CHECK_STR(stage_said(&after, stage_delete(&after, "ann", visit)), S("204\n"));
    CHECK(!knows(&after, "ann", visit));
    stage_done(&after);
}

TEST(what_is_older_than_a_week_is_not_taken_up)
{
    struct stage before, after;
    const char *visit;

    open_stage(&before, &(struct hall_settings){ .boot = 1 });
    visit = open_visit(&before, "ann");
    stage_done(&before);
    open_stage(&after, &(struct hall_settings){ .boot = 2 });
    after.now.wall_ms += 7ULL * 24 * 3600'000 + 1;
    CHECK(!knows(&after, "ann", visit));
    after.now.wall_ms -= 2;
    CHECK(knows(&after, "ann", visit));
    stage_done(&after);
}

TEST(a_renewed_token_carries_on)
{
    struct stage stage;
    const char *visit;
    size_t stream;

    open_stage(&stage, &(struct hall_settings){});
    visit = open_visit(&stage, "ann");
    stream = stage_get(&stage, "ann", visit, "");
    CHECK(knows(&stage, "ann#2", visit));
    stage_end(&stage, "ann", "expired");
    CHECK(knows(&stage, "ann#2", visit));
    (void)stage_said(&stage, stream);
    stage_owner(&stage, "more", "{\"tools\":[" WRITE "]}");
    stage_pass(&stage, 2000);
    HAS(stage_said(&stage, stream), "notifications/tools/list_changed");
    stage_end(&stage, "ann#2", "expired");
    CHECK(!knows(&stage, "ann#2", visit));
    stage_done(&stage);
}

static void tell_ann(struct stage *stage)
{
    stage_say(stage, "files", "mcp/request:notifications/tasks/status",
              "\"to\":[\"ann\"],\"payload\":{\"jsonrpc\":\"2.0\",\"method\":"
              "\"notifications/tasks/status\",\"params\":{\"taskId\":\"t\"}}");
}

TEST(who_only_listens_is_in_the_room)
{
    struct stage before, after;
    const char *visit;
    size_t stream;

    open_stage(&before, &(struct hall_settings){ .boot = 1 });
    visit = open_visit(&before, "ann");
    stage_done(&before);
    open_stage(&after, &(struct hall_settings){ .boot = 2 });
    stream = stage_get(&after, "ann", visit, "");
    tell_ann(&after);
    HAS(stage_said(&after, stream), "notifications/tasks/status");
    stage_lose(&after, stream);
    stream = stage_get(&after, "ann#2", visit, "");
    stage_end(&after, "ann", "expired");
    tell_ann(&after);
    HAS(stage_said(&after, stream), "notifications/tasks/status");
    stage_done(&after);
}

TEST(what_a_renewed_token_takes_over_is_watched_through_it)
{
    struct stage stage;
    const char *visit;
    const char *last, *before;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "files", "{\"resources\":[{\"uri\":\"a:b\",\"name\":\"x\"}]}");
    visit = open_visit(&stage, "ann");
    (void)stage_post(&stage, "ann", visit,
                     "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"resources/subscribe\","
                     "\"params\":{\"uri\":\"a:b\"}}");
    (void)stage_post(&stage, "ann#2", visit, LEGACY("tools/list"));
    before = strstr(buf_cstr(&stage.log), "mcp/request:resources/unsubscribe");
    CHECK(before);
    last = before ? strstr(before, "mcp/request:resources/subscribe") : NULL;
    CHECK(last);
    stage_done(&stage);
}

/* --- ending --- */

TEST(a_session_without_a_request_or_stream_expires)
{
    struct stage stage;
    char idle[VISIT_ID];
    const char *listening;

    open_stage(&stage, &(struct hall_settings){ .idle_ms = 60'000, .linger_ms = 1000 });
    open_visit_in(&stage, "ann", idle);
    listening = open_visit(&stage, "ann");
    (void)stage_get(&stage, "ann", listening, "");
    stage_pass(&stage, 59'000);
    CHECK_INT(hall_counts(stage.hall).visits, 2);
    stage_pass(&stage, 2'000);
    CHECK_INT(hall_counts(stage.hall).visits, 1);
    CHECK(!knows(&stage, "ann", idle));
    CHECK(knows(&stage, "ann", listening));
    CHECK_INT(hall_counts(stage.hall).attendees, 1);
    stage_done(&stage);
}

TEST(the_longest_unused_session_makes_room)
{
    struct stage stage;
    char first[VISIT_ID], second[VISIT_ID];
    const char *third;

    open_stage(&stage, &(struct hall_settings){ .max_visits = 2 });
    open_visit_in(&stage, "ann", first);
    open_visit_in(&stage, "ann", second);
    CHECK(knows(&stage, "ann", first));
    third = open_visit(&stage, "ann");
    CHECK(knows(&stage, "ann", first));
    CHECK(!knows(&stage, "ann", second));
    CHECK(knows(&stage, "ann", third));
    stage_done(&stage);
}

TEST(sessions_that_are_busy_are_not_ended_for_others)
{
    struct stage stage;
    const char *visit;

    open_stage(&stage, &(struct hall_settings){ .max_visits = 1 });
    visit = open_visit(&stage, "ann");
    (void)stage_post(&stage, "ann", visit, CALL);
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", INITIALIZE("2025-11-25"))),
        "503 {");
    CHECK(knows(&stage, "ann", visit));
    stage_done(&stage);
}

/* --- streams --- */

TEST(a_session_has_one_stream_and_another_when_that_was_left)
{
    struct stage stage;
    const char *visit;
    size_t stream;

    open_stage(&stage, &(struct hall_settings){});
    visit = open_visit(&stage, "ann");
    stream = stage_get(&stage, "ann", visit, "");
    HAS(stage_said(&stage, stream), "event ");
    HAS(stage_said(&stage, stage_get(&stage, "ann", visit, "")), "409 {");
    stage_lose(&stage, stream);
    HAS(stage_said(&stage, stage_get(&stage, "ann", visit, "")), "event ");
    stage_done(&stage);
}

TEST(a_slow_answer_becomes_a_stream_that_can_be_resumed)
{
    struct stage stage;
    const char *visit;
    size_t call, rest;
    char id[64] = "";

    open_stage(&stage, &(struct hall_settings){});
    visit = open_visit(&stage, "ann");
    call = stage_post(&stage, "ann", visit, CALL);
    stage_pass(&stage, 1500);
    CHECK_INT(sscanf(stage_said(&stage, call).ptr, "event %63s", id), 1);
    stage_lose(&stage, call);
    stage_answer(&stage, "files", "{\"result\":{\"content\":[]}}");
    rest = stage_get(&stage, "ann", visit, id);
    HAS(stage_said(&stage, rest),
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"content\":[]}}\nend\n");
    CHECK_INT(hall_counts(stage.hall).resumed, 1);
    stage_pass(&stage, 6 * 60'000);
    CHECK_INT(hall_counts(stage.hall).strands, 0);
    stage_done(&stage);
}

TEST(no_other_session_resumes_a_stream)
{
    struct stage stage;
    char first[VISIT_ID], id[64] = "";
    const char *second;
    size_t call, other;

    open_stage(&stage, &(struct hall_settings){});
    open_visit_in(&stage, "ann", first);
    second = open_visit(&stage, "ann");
    call = stage_post(&stage, "ann", first, CALL);
    stage_pass(&stage, 1500);
    CHECK_INT(sscanf(stage_said(&stage, call).ptr, "event %63s", id), 1);
    stage_answer(&stage, "files", "{\"result\":{\"content\":[]}}");
    other = stage_get(&stage, "ann", second, id);
    CHECK(!has(stage_said(&stage, other), "\"result\""));
    stage_done(&stage);
}

TEST(streams_murmur)
{
    struct stage stage;
    size_t stream;

    open_stage(&stage, &(struct hall_settings){});
    stream = stage_get(&stage, "ann", open_visit(&stage, "ann"), "");
    (void)stage_said(&stage, stream);
    stage_pass(&stage, 16'000);
    CHECK_STR(stage_said(&stage, stream), S("~\n"));
    stage_done(&stage);
}

static void answer_at_length(struct stage *stage, size_t len)
{
    struct buf text;

    buf_init(&text, len + 64);
    buf_put(&text, S("{\"result\":{\"content\":[],\"x\":\""));
    for (size_t i = 0; i < len; i++)
        buf_putc(&text, 'x');
    buf_put(&text, S("\"}}"));
    stage_answer(stage, "files", buf_cstr(&text));
    buf_done(&text);
}

/* A stream of a session, left before its answer came; gives the id of its beginning. */
static void leave_stream(struct stage *stage, const char *visit, char id[static 64])
{
    size_t call = stage_post(stage, "ann", visit, CALL);

    stage_pass(stage, 1500);
    CHECK_INT(sscanf(stage_said(stage, call).ptr, "event %63s", id), 1);
    stage_lose(stage, call);
}

TEST(all_sessions_of_one_keep_no_more_than_so_much)
{
    struct stage stage;
    char first[VISIT_ID], id[64], last[64];
    const char *visit = first;

    open_stage(&stage, &(struct hall_settings){});
    open_visit_in(&stage, "ann", first);
    leave_stream(&stage, first, id);
    answer_at_length(&stage, 900'000);
    for (size_t i = 0; i < 20; i++) {
        visit = open_visit(&stage, "ann");
        leave_stream(&stage, visit, last);
        answer_at_length(&stage, 900'000);
    }
    stage_pass(&stage, 5000);
    CHECK(has(stage_said(&stage, stage_get(&stage, "ann", visit, last)), "xxx"));
    CHECK(!has(stage_said(&stage, stage_get(&stage, "ann", first, id)), "xxx"));
    stage_done(&stage);
}

TEST(answers_that_are_kept_are_bounded)
{
    struct stage stage;
    const char *visit;

    open_stage(&stage, &(struct hall_settings){});
    visit = open_visit(&stage, "ann");
    for (size_t i = 0; i < 50; i++) {
        (void)stage_post(&stage, "ann", visit, CALL);
        stage_pass(&stage, 1500);
        stage_answer(&stage, "files", "{\"result\":{\"content\":[]}}");
    }
    CHECK(hall_counts(stage.hall).strands <= 33);
    CHECK(hall_counts(stage.hall).strands > 20);
    stage_done(&stage);
}

/* --- notifications, cancelling, batches --- */

TEST(notifications_and_answers_are_accepted)
{
    static const char *const bodies[] = {
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unknown\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":99}}",
    };
    struct stage stage;
    const char *visit;

    open_stage(&stage, &(struct hall_settings){});
    visit = open_visit(&stage, "ann");
    FOR_EACH_CASE(body, bodies)
        CHECK_STR(stage_said(&stage, stage_post(&stage, "ann", visit, *body)),
                  S("202\n"));
    stage_done(&stage);
}

TEST(a_call_that_is_cancelled_has_no_answer)
{
    struct stage stage;
    const char *visit;
    size_t call;

    open_stage(&stage, &(struct hall_settings){});
    visit = open_visit(&stage, "ann");
    call = stage_post(&stage, "ann", visit, CALL);
    (void)stage_post(&stage, "ann", visit,
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                     "\"params\":{\"requestId\":5}}");
    CHECK_STR(stage_said(&stage, call), S("202\n"));
    HAS(buf_str(&stage.log), "mcp/request:notifications/cancelled");
    CHECK_INT(hall_counts(stage.hall).wishes, 0);
    stage_done(&stage);
}

TEST(who_goes_cancels_in_the_modern_era_alone)
{
    struct stage stage;
    const char *visit;
    size_t legacy, modern;

    open_stage(&stage, &(struct hall_settings){});
    visit = open_visit(&stage, "ann");
    legacy = stage_post(&stage, "ann", visit, CALL);
    stage_lose(&stage, legacy);
    CHECK_INT(hall_counts(stage.hall).wishes, 1);
    modern = stage_post(&stage, "ann", "",
                        "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/call\","
                        "\"params\":{\"name\":\"read\"," META("") "}}");
    CHECK_INT(hall_counts(stage.hall).wishes, 2);
    stage_lose(&stage, modern);
    CHECK_INT(hall_counts(stage.hall).wishes, 1);
    stage_done(&stage);
}

TEST(a_batch_is_answered_as_one)
{
    struct stage stage;
    char visit[VISIT_ID];
    size_t out = 0;

    open_stage(&stage, &(struct hall_settings){});
    out = stage_post(&stage, "ann", "", INITIALIZE("2025-03-26"));
    (void)snprintf(visit, sizeof(visit), STR_FMT, STR_ARG(stage_visit(&stage, out)));
    out = stage_post(
        &stage, "ann", visit,
        "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},"
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}," CALL "]");
    CHECK_STR(stage_said(&stage, out), S(""));
    stage_answer(&stage, "files", "{\"result\":{\"content\":[]}}");
    CHECK_STR(stage_said(&stage, out),
              S("200 [{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},"
                "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"content\":[]}}]\n"));
    HAS(stage_said(
            &stage,
            stage_post(
                &stage, "ann", visit,
                "[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}]")),
        "202\n");
    stage_done(&stage);
}

TEST(a_session_that_ends_during_a_batch_leaves_nothing_behind)
{
    struct stage stage;
    char visit[VISIT_ID];
    size_t out;

    open_stage(&stage, &(struct hall_settings){});
    out = stage_post(&stage, "ann", "", INITIALIZE("2025-03-26"));
    (void)snprintf(visit, sizeof(visit), STR_FMT, STR_ARG(stage_visit(&stage, out)));
    (void)stage_post(&stage, "ann", visit, "[" CALL "]");
    CHECK_STR(stage_said(&stage, stage_delete(&stage, "ann", visit)), S("204\n"));
    CHECK_INT(hall_counts(stage.hall).wishes, 0);
    CHECK_INT(hall_counts(stage.hall).strands, 0);
    stage_done(&stage);
}
