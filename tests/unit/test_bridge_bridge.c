/* SPDX-License-Identifier: Apache-2.0 */
/* A bridge between a room that the test is, and servers that the test is too. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "bridge_room.h"
#include "harness.h"

/* --- requests --- */

TEST(a_request_is_one_call_and_its_answer_goes_to_who_asked)
{
    struct room room;
    struct str sent;

    room_begin(&room);
    CHECK_INT(room_call(&room, "ann", "echo"), 2);
    CHECK_STR(stage_sent(&room.stage, 0), S("5 tools/call\n"));
    room_answer(&room, 5, "{\"content\":[],\"n\":1.50}");
    sent = fake_sent(&room.seat);
    CHECK_INT(text_count(sent, "\n"), 1);
    CHECK(text_has(sent, "\"from\":\"tool\",\"to\":[\"ann\"],"
                         "\"kind\":\"mcp/response:tools/call:echo\","
                         "\"correlation_id\":\"e-2\",\"payload\":{\"jsonrpc\":\"2.0\","
                         "\"id\":2,\"result\":{\"content\":[],\"n\":1.50}}}"));
    room_judge(&room);
    stage_pass(&room.stage, 60'000);
    CHECK_STR(fake_sent(&room.seat), S(""));
    room_end(&room);
}

TEST(a_result_that_is_too_large_is_an_error)
{
    CLEANUP(buf_done) struct buf result;
    struct room room;
    struct str sent;

    buf_init(&result, 3 << 20);
    buf_put(&result, S("{\"text\":\""));
    for (size_t i = 0; i < (2 << 20); i++)
        buf_putc(&result, 'x');
    buf_put(&result, S("\"}"));
    room_begin(&room);
    (void)room_call(&room, "ann", "echo");
    room_answer(&room, 5, buf_cstr(&result));
    sent = fake_sent(&room.seat);
    CHECK_INT(text_count(sent, "\n"), 1);
    CHECK(text_has(
        sent, "\"error\":{\"code\":-32603,\"message\":\"the result is too large\"}"));
    room_end(&room);
}

#define READ \
    "{\"uri\":\"a:b\",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}"

/* Each is read anew for each: nothing private is anybody else's, and what a server says
 * of who may keep it is the caller's to know. */
TEST(what_is_read_is_kept_for_nobody_and_says_who_may_keep_it)
{
    struct room room;
    struct str sent;

    room_sit(&room, stage_spec_of_era(ERA_MODERN), ANN_AND_BOB);
    room_answer(&room, ++room.ids,
                "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
                "\"capabilities\":{\"resources\":{}},\"ttlMs\":0,\"cacheScope\":"
                "\"private\"}");
    room_answer(&room, ++room.ids, "{\"resultType\":\"complete\",\"resources\":[]}");
    room_answer(&room, ++room.ids,
                "{\"resultType\":\"complete\",\"resourceTemplates\":[]}");
    room_settle(&room);
    (void)room_ask(&room, "ann", "resources/read", READ);
    CHECK(text_has(stage_sent(&room.stage, 0), " resources/read\n"));
    room_answer(&room, ++room.ids,
                "{\"resultType\":\"complete\",\"contents\":[],\"ttlMs\":60000,"
                "\"cacheScope\":\"public\"}");
    CHECK(text_has(fake_sent(&room.seat), "\"ttlMs\":60000,\"cacheScope\":\"public\""));
    (void)room_ask(&room, "bob", "resources/read", READ);
    CHECK(text_has(stage_sent(&room.stage, 0), " resources/read\n"));
    CHECK_STR(fake_sent(&room.seat), S(""));
    room_answer(&room, ++room.ids,
                "{\"resultType\":\"complete\",\"contents\":[],\"ttlMs\":60000,"
                "\"cacheScope\":\"private\"}");
    sent = fake_sent(&room.seat);
    CHECK(text_has(sent, "\"to\":[\"bob\"]") &&
          text_has(sent, "\"cacheScope\":\"private\""));
    room_end(&room);
}

/* --- notifications --- */

TEST(progress_goes_to_the_caller_and_changes_to_the_room)
{
    struct room room;
    struct str sent;

    room_begin(&room);
    (void)room_call(&room, "ann", "echo");
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
               "{\"progressToken\":5,\"progress\":0.5}}");
    sent = fake_sent(&room.seat);
    CHECK(text_has(sent,
                   "\"to\":[\"ann\"],\"kind\":\"mcp/request:notifications/progress\","
                   "\"correlation_id\":\"e-2\""));
    CHECK(text_has(sent, "{\"progressToken\":\"t\",\"progress\":0.5}"));
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    CHECK(str_ends(stage_sent(&room.stage, 0), S("\n6 tools/list\n")));
    room_answer(&room, 6, "{\"tools\":[]}");
    stage_pass(&room.stage, 2000);
    CHECK(text_has(
        fake_sent(&room.seat),
        "\"from\":\"tool\",\"kind\":\"mcp/request:notifications/tools/list_changed\""));
    room_end(&room);
}

TEST(an_updated_resource_is_told_to_who_subscribed)
{
    struct room room;
    struct str sent;

    room_begin(&room);
    (void)room_ask(&room, "bob", "resources/subscribe", "{\"uri\":\"a:b\"}");
    CHECK_STR(stage_sent(&room.stage, 0), S("5 resources/subscribe\n"));
    (void)fake_sent(&room.seat);
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
               "\"params\":{\"uri\":\"a:b\"}}");
    sent = fake_sent(&room.seat);
    CHECK_INT(text_count(sent, "\n"), 1);
    CHECK(text_has(sent, "\"to\":[\"bob\"]"));
    room_presence(&room, "leave", "bob");
    CHECK_STR(stage_sent(&room.stage, 0), S("6 resources/unsubscribe\n"));
    room_end(&room);
}

/* --- questions --- */

static void ask_back(struct room *room)
{
    stage_says(&room->stage, 0,
               "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\","
               "\"params\":{\"message\":\"sure?\",\"requestedSchema\":{\"type\":"
               "\"object\",\"properties\":{}}}}");
}

/* The id of the only envelope that was sent, behind `rest`. */
static void answer_back(struct room *room, const char *from, struct str sent)
{
    char rest[512], id[64] = "";
    const char *at = strstr(sent.ptr, "\"id\":\"");

    CHECK(at && sscanf(at, "\"id\":\"%63[^\"]", id) == 1);
    (void)snprintf(
        rest, sizeof(rest),
        "\"to\":[\"tool\"],\"correlation_id\":\"%s\",\"payload\":{\"jsonrpc\":"
        "\"2.0\",\"id\":\"%s\",\"result\":{\"action\":\"accept\",\"content\":{}}}",
        id, id);
    room_hear(room, from, "mcp/response:elicitation/create", rest);
}

TEST(a_question_goes_to_whose_call_it_is_and_only_he_answers)
{
    struct room room;
    struct str sent;

    room_begin(&room);
    (void)room_call(&room, "ann", "echo");
    (void)stage_sent(&room.stage, 0);
    ask_back(&room);
    sent = fake_sent(&room.seat);
    CHECK_INT(text_count(sent, "\n"), 1);
    CHECK(text_has(sent, "\"to\":[\"ann\"],\"kind\":\"mcp/request:elicitation/create\","
                         "\"correlation_id\":\"e-2\""));
    answer_back(&room, "bob", sent);
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    answer_back(&room, "ann", sent);
    CHECK_STR(stage_sent(&room.stage, 0), S("- answer\n"));
    room_end(&room);
}

TEST(a_question_that_may_be_of_several_is_given_to_nobody)
{
    struct room room;

    room_begin(&room);
    (void)room_call(&room, "ann", "echo");
    (void)room_call(&room, "bob", "echo");
    (void)stage_sent(&room.stage, 0);
    ask_back(&room);
    CHECK_STR(fake_sent(&room.seat), S(""));
    CHECK_STR(stage_sent(&room.stage, 0), S("- answer\n"));
    CHECK_INT(bridge_counts(room.bridge).dropped, 1);
    room_end(&room);
}

/* --- leaving --- */

TEST(who_leaves_is_not_answered_and_his_call_is_cancelled)
{
    struct room room;

    room_begin(&room);
    (void)room_call(&room, "ann", "echo");
    (void)stage_sent(&room.stage, 0);
    room_presence(&room, "leave", "ann");
    CHECK(str_starts(stage_sent(&room.stage, 0), S("- notifications/cancelled\n")));
    room_answer(&room, 5, "{}");
    CHECK_STR(fake_sent(&room.seat), S(""));
    room_end(&room);
}

/* However many are here, each is noticed when he leaves. */
TEST(the_thousandth_participant_is_noticed_too)
{
    CLEANUP(buf_done) struct buf all;
    struct room room;

    buf_init(&all, 1 << 20);
    for (int i = 0; i < 1000; i++)
        buf_putf(&all, "%s{\"id\":\"p%d\",\"capabilities\":[\"*\"]}", i ? "," : "", i);
    room_begin_in(&room, buf_cstr(&all));
    (void)room_call(&room, "p999", "echo");
    (void)stage_sent(&room.stage, 0);
    room_presence(&room, "leave", "p999");
    CHECK(str_starts(stage_sent(&room.stage, 0), S("- notifications/cancelled\n")));
    room_end(&room);
}

/* --- lists --- */

TEST(a_list_whose_time_is_over_is_asked_for_again)
{
    struct room room;
    struct str sent;

    room_begin(&room);
    (void)room_ask(&room, "ann", "tools/list", "{}");
    CHECK_STR(stage_sent(&room.stage, 0), S("")); /* a server that says nothing of it */
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    room_answer(&room, 5,
                "{\"ttlMs\":60000,\"nextCursor\":\"2\",\"tools\":[" TOOL("echo") "]}");
    room_answer(&room, 6, "{\"ttlMs\":5000,\"tools\":[]}");
    (void)stage_sent(&room.stage, 0);
    stage_pass(&room.stage, 4999);
    (void)room_ask(&room, "ann", "tools/list", "{}");
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    stage_pass(&room.stage, 1);
    CHECK_STR(stage_sent(&room.stage, 0), S("")); /* nobody wants to know */
    (void)fake_sent(&room.seat);
    (void)room_ask(&room, "ann", "tools/list", "{}");
    CHECK_STR(stage_sent(&room.stage, 0), S("7 tools/list\n"));
    sent = fake_sent(&room.seat);
    CHECK(text_has(sent, "\"result\":{\"tools\":[{\"name\":\"echo\"")); /* at once */
    room_answer(&room, 7, "{\"ttlMs\":0,\"tools\":[]}");
    stage_pass(&room.stage, 999);
    (void)room_ask(&room, "ann", "tools/list", "{}");
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    stage_pass(&room.stage, 1);
    (void)room_ask(&room, "ann", "tools/list", "{}");
    CHECK_STR(stage_sent(&room.stage, 0), S("8 tools/list\n"));
    room_end(&room);
}

/* --- pins --- */

TEST(what_is_held_is_neither_called_nor_read)
{
    struct room room;

    room_begin(&room);
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    room_answer(&room, 5, "{\"tools\":[" TOOL("echo") "," TOOL("new") "]}");
    stage_says(
        &room.stage, 0,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}");
    room_answer(&room, 6, "{\"resources\":[]}");
    room_answer(&room, 7,
                "{\"resourceTemplates\":[{\"uriTemplate\":\"secret:{/path*}\","
                "\"name\":\"s\"}]}");
    stage_pass(&room.stage, 2000);
    (void)fake_sent(&room.seat);
    (void)stage_sent(&room.stage, 0);
    (void)room_call(&room, "ann", "new");
    CHECK(text_has(fake_sent(&room.seat),
                   "\"error\":{\"code\":-32602,\"message\":\"held: it is new"));
    (void)room_ask(&room, "ann", "resources/read", "{\"uri\":\"secret:/a/b\"}");
    CHECK(text_has(fake_sent(&room.seat),
                   "\"error\":{\"code\":-32602,\"message\":\"held: it is new"));
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    (void)room_ask(&room, "ann", "resources/read", "{\"uri\":\"other:/a/b\"}");
    CHECK_STR(stage_sent(&room.stage, 0), S("8 resources/read\n"));
    room_end(&room);
}

/* --- the end of a server --- */

TEST(calls_end_in_their_order_when_the_server_dies)
{
    struct room room;
    struct str sent;
    const char *first, *second;

    room_begin(&room);
    (void)room_call(&room, "ann", "echo");
    (void)room_call(&room, "bob", "echo");
    stage_ends(&room.stage, 0, "it ended with code 1");
    sent = fake_sent(&room.seat);
    CHECK_INT(text_count(sent, "\"reason\":\"server_died\""), 2);
    first = strstr(sent.ptr, "\"correlation_id\":\"e-2\"");
    second = strstr(sent.ptr, "\"correlation_id\":\"e-3\"");
    CHECK(first && second && first < second);
    /* What comes now waits for the next one. */
    (void)room_call(&room, "ann", "echo");
    CHECK_STR(fake_sent(&room.seat), S(""));
    stage_pass(&room.stage, 500);
    room.ids = 0;
    CHECK_INT(room.stage.server_count, 2);
    room_answer(&room, ++room.ids,
                "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":" CAPABLE "}");
    CHECK(text_has(stage_sent(&room.stage, 1), " tools/call\n"));
    room_end(&room);
}

/* --- answers that are not judged --- */

static void refuse(struct room *room, struct str sent, const char *error)
{
    char rest[512], id[64] = "";
    const char *at = strstr(sent.ptr, "\"id\":\"");

    CHECK(at && sscanf(at, "\"id\":\"%63[^\"]", id) == 1);
    (void)snprintf(rest, sizeof(rest),
                   "\"to\":[\"tool\"],\"correlation_id\":\"%s\",\"payload\":{\"error\":"
                   "\"%s\",\"message\":\"m\",\"retry_after_ms\":200}",
                   id, error);
    room_hear(room, "system:gateway", "system/error", rest);
}

/* The first word after "id": what the envelope is called. */
static bool have_one_id(struct str one, struct str other)
{
    const char *a = strstr(one.ptr, "\"id\":\""), *b = strstr(other.ptr, "\"id\":\"");

    return a && b && strncmp(a, b, strcspn(a + 6, "\"") + 6) == 0;
}

TEST(an_answer_that_was_lost_with_the_connection_is_sent_again)
{
    CLEANUP(buf_done) struct buf first;
    struct room room;
    struct str again;

    buf_init(&first, 1 << 16);
    room_begin(&room);
    (void)room_call(&room, "ann", "echo");
    room_answer(&room, 5, "{}");
    buf_put(&first, fake_sent(&room.seat));
    (void)buf_cstr(&first);
    room.seat.is_away = true;
    bridge_seat_ops.on_lost(room.bridge, false, "gone");
    stage_pass(&room.stage, 60'000);
    room.seat.is_away = false;
    room_welcome(&room, "{\"id\":\"bob\",\"capabilities\":[\"*\"]}");
    CHECK(!text_has(fake_sent(&room.seat), "mcp/response")); /* ann is not back yet */
    room_presence(&room, "join", "ann");
    again = fake_sent(&room.seat);
    CHECK(text_has(again, "\"correlation_id\":\"e-2\""));
    CHECK(have_one_id(buf_str(&first), again));
    refuse(&room, again, "duplicate_id"); /* it was taken */
    CHECK_INT(bridge_counts(room.bridge).dropped, 0);
    stage_pass(&room.stage, 60'000);
    CHECK_STR(fake_sent(&room.seat), S(""));
    room_end(&room);
}

TEST(who_does_not_come_back_has_left)
{
    struct room room;

    room_begin(&room);
    (void)room_call(&room, "ann", "echo");
    bridge_seat_ops.on_lost(room.bridge, false, "gone");
    room_welcome(&room, "");
    (void)stage_sent(&room.stage, 0);
    stage_pass(&room.stage, 29'000);
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    stage_pass(&room.stage, 1000);
    CHECK(str_starts(stage_sent(&room.stage, 0), S("- notifications/cancelled\n")));
    room_end(&room);
}

TEST(an_answer_that_was_refused_for_now_is_sent_again_and_others_after_it)
{
    struct room room;
    struct str sent;

    room_begin(&room);
    (void)room_call(&room, "ann", "echo");
    (void)room_call(&room, "bob", "echo");
    room_answer(&room, 5, "{}");
    refuse(&room, fake_sent(&room.seat), "rate_limited");
    room_judge(&room);
    room_answer(&room, 6, "{}"); /* waits behind it */
    stage_pass(&room.stage, 199);
    CHECK_STR(fake_sent(&room.seat), S(""));
    stage_pass(&room.stage, 1);
    sent = fake_sent(&room.seat);
    CHECK_INT(text_count(sent, "\n"), 1);
    CHECK(text_has(sent, "\"correlation_id\":\"e-2\""));
    room_judge(&room);
    stage_pass(&room.stage, 1);
    CHECK(text_has(fake_sent(&room.seat), "\"correlation_id\":\"e-3\""));
    room_judge(&room);
    stage_pass(&room.stage, 60'000);
    CHECK_STR(fake_sent(&room.seat), S(""));
    room_end(&room);
}
