/* SPDX-License-Identifier: Apache-2.0 */
/* A bridge between a room that the test is, and servers that the test is too. */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "bridge/bridge.h"
#include "fake_seat.h"
#include "harness.h"
#include "supervisor_stage.h"

#define CAPABLE                                                             \
    "{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true}," \
    "\"tasks\":{}}"
#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"
#define ANN_AND_BOB                              \
    "{\"id\":\"ann\",\"capabilities\":[\"*\"]}," \
    "{\"id\":\"bob\",\"capabilities\":[\"*\"]}"

struct room {
    struct supervisor_stage stage;
    struct fake_seat seat;
    struct bridge *bridge;
    unsigned heard;
    unsigned ids; /* that the server was asked with so far */
};

/* --- what the room does --- */

static void hear(struct room *room, const char *from, const char *kind, const char *rest)
{
    struct buf text;

    buf_init(&text, 1 << 22);
    buf_putf(&text,
             "{\"protocol\":\"mcpx/v0.1\",\"id\":\"e-%u\",\"from\":\"%s\","
             "\"kind\":\"%s\",",
             ++room->heard, from, kind);
    buf_put(&text, str_of(rest));
    buf_putc(&text, '}');
    bridge_seat_ops.on_text(room->bridge, buf_str(&text));
    buf_done(&text);
    stage_pass(&room->stage, 0);
}

static void welcome(struct room *room, const char *participants)
{
    struct buf rest;

    buf_init(&rest, 1 << 22);
    buf_put(&rest, S("\"to\":[\"tool\"],\"payload\":{\"you\":{\"id\":\"tool\","
                     "\"capabilities\":[\"*\"]},\"participants\":["));
    buf_put(&rest, str_of(participants));
    buf_put(&rest, S("]}"));
    bridge_seat_ops.on_begin(room->bridge, false);
    hear(room, "system:gateway", "system/welcome", buf_cstr(&rest));
    buf_done(&rest);
}

static void presence(struct room *room, const char *event, const char *id)
{
    char rest[256];

    (void)snprintf(rest, sizeof(rest),
                   "\"payload\":{\"event\":\"%s\",\"participant\":{\"id\":\"%s\","
                   "\"capabilities\":[\"*\"]}}",
                   event, id);
    hear(room, "system:gateway", "system/presence", rest);
}

/* The envelope's id is "e-N", which is what this gives: N. */
static unsigned ask(struct room *room, const char *from, const char *method,
                    const char *params)
{
    char kind[128], rest[1024];

    (void)snprintf(kind, sizeof(kind), "mcp/request:%s", method);
    (void)snprintf(rest, sizeof(rest),
                   "\"to\":[\"tool\"],\"payload\":{\"jsonrpc\":\"2.0\",\"id\":%u,"
                   "\"method\":\"%s\",\"params\":%s}",
                   room->heard + 1, method, params);
    hear(room, from, kind, rest);
    return room->heard;
}

static unsigned call(struct room *room, const char *from, const char *tool)
{
    char kind[128], params[256];

    (void)snprintf(params, sizeof(params),
                   "\"to\":[\"tool\"],\"payload\":{\"jsonrpc\":\"2.0\",\"id\":%u,"
                   "\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
                   "\"_meta\":{\"progressToken\":\"t\"}}}",
                   room->heard + 1, tool);
    (void)snprintf(kind, sizeof(kind), "mcp/request:tools/call:%s", tool);
    hear(room, from, kind, params);
    return room->heard;
}

static void judge(struct room *room)
{
    bridge_seat_ops.on_judged(room->bridge, room->seat.fence);
    stage_pass(&room->stage, 0);
}

/* --- what came of it --- */

static bool has(struct str text, const char *what)
{
    return text.len && strstr(text.ptr, what) != NULL;
}

static size_t count_of(struct str text, const char *what)
{
    size_t count = 0;

    for (const char *at = text.len ? text.ptr : ""; (at = strstr(at, what)) != NULL; at++)
        count++;
    return count;
}

/* --- the stage --- */

static void answer(struct room *room, unsigned id, const char *result)
{
    struct buf text;

    buf_init(&text, 4 << 20);
    buf_putf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":", id);
    buf_put(&text, str_of(result));
    buf_putc(&text, '}');
    stage_says(&room->stage, room->stage.server_count - 1, buf_cstr(&text));
    buf_done(&text);
}

/* The three lists that a bridge asks for. */
static void list(struct room *room, const char *tools, const char *templates)
{
    char text[1024];

    (void)snprintf(text, sizeof(text), "{\"tools\":[%s]}", tools);
    answer(room, ++room->ids, text);
    answer(room, ++room->ids, "{\"resources\":[]}");
    (void)snprintf(text, sizeof(text), "{\"resourceTemplates\":[%s]}", templates);
    answer(room, ++room->ids, text);
}

static void begin_in(struct room *room, const char *participants)
{
    struct bridge_setup setup = {};

    *room = (struct room){};
    stage_begin(&room->stage, stage_spec());
    fake_seat_init(&room->seat, &(struct occupant_settings){});
    setup.spec = room->stage.spec;
    setup.means = stage_means(&room->stage);
    room->bridge = bridge_new(&setup);
    bridge_sit(room->bridge, &room->seat.seat);
    welcome(room, participants);
    answer(room, ++room->ids,
           "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":" CAPABLE "}");
    list(room, TOOL("echo"), "");
    stage_pass(&room->stage, 20'000); /* the first catalogue is closed */
    (void)stage_sent(&room->stage, 0);
    (void)fake_sent(&room->seat);
}

static void begin(struct room *room)
{
    begin_in(room, ANN_AND_BOB);
}

static void end(struct room *room)
{
    bridge_free(room->bridge);
    fake_seat_done(&room->seat);
    stage_done(&room->stage);
}

/* --- requests --- */

TEST(a_request_is_one_call_and_its_answer_goes_to_who_asked)
{
    struct room room;
    struct str sent;

    begin(&room);
    CHECK_INT(call(&room, "ann", "echo"), 2);
    CHECK_STR(stage_sent(&room.stage, 0), S("5 tools/call\n"));
    answer(&room, 5, "{\"content\":[],\"n\":1.50}");
    sent = fake_sent(&room.seat);
    CHECK_INT(count_of(sent, "\n"), 1);
    CHECK(has(sent, "\"from\":\"tool\",\"to\":[\"ann\"],"
                    "\"kind\":\"mcp/response:tools/call:echo\","
                    "\"correlation_id\":\"e-2\",\"payload\":{\"jsonrpc\":\"2.0\","
                    "\"id\":2,\"result\":{\"content\":[],\"n\":1.50}}}"));
    judge(&room);
    stage_pass(&room.stage, 60'000);
    CHECK_STR(fake_sent(&room.seat), S(""));
    end(&room);
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
    begin(&room);
    (void)call(&room, "ann", "echo");
    answer(&room, 5, buf_cstr(&result));
    sent = fake_sent(&room.seat);
    CHECK_INT(count_of(sent, "\n"), 1);
    CHECK(
        has(sent, "\"error\":{\"code\":-32603,\"message\":\"the result is too large\"}"));
    end(&room);
}

/* --- notifications --- */

TEST(progress_goes_to_the_caller_and_changes_to_the_room)
{
    struct room room;
    struct str sent;

    begin(&room);
    (void)call(&room, "ann", "echo");
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
               "{\"progressToken\":5,\"progress\":0.5}}");
    sent = fake_sent(&room.seat);
    CHECK(has(sent, "\"to\":[\"ann\"],\"kind\":\"mcp/request:notifications/progress\","
                    "\"correlation_id\":\"e-2\""));
    CHECK(has(sent, "{\"progressToken\":\"t\",\"progress\":0.5}"));
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    CHECK(str_ends(stage_sent(&room.stage, 0), S("\n6 tools/list\n")));
    answer(&room, 6, "{\"tools\":[]}");
    stage_pass(&room.stage, 2000);
    CHECK(has(
        fake_sent(&room.seat),
        "\"from\":\"tool\",\"kind\":\"mcp/request:notifications/tools/list_changed\""));
    end(&room);
}

TEST(an_updated_resource_is_told_to_who_subscribed)
{
    struct room room;
    struct str sent;

    begin(&room);
    (void)ask(&room, "bob", "resources/subscribe", "{\"uri\":\"a:b\"}");
    CHECK_STR(stage_sent(&room.stage, 0), S("5 resources/subscribe\n"));
    (void)fake_sent(&room.seat);
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
               "\"params\":{\"uri\":\"a:b\"}}");
    sent = fake_sent(&room.seat);
    CHECK_INT(count_of(sent, "\n"), 1);
    CHECK(has(sent, "\"to\":[\"bob\"]"));
    presence(&room, "leave", "bob");
    CHECK_STR(stage_sent(&room.stage, 0), S("6 resources/unsubscribe\n"));
    end(&room);
}

/* --- questions --- */

static void ask_back(struct room *room)
{
    stage_says(&room->stage, 0,
               "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"elicitation/create\","
               "\"params\":{\"message\":\"sure?\"}}");
}

/* The id of the only envelope that was sent, behind `rest`. */
static void answer_back(struct room *room, const char *from, struct str sent)
{
    char rest[512], id[64] = "";
    const char *at = strstr(sent.ptr, "\"id\":\"");

    CHECK(at && sscanf(at, "\"id\":\"%63[^\"]", id) == 1);
    (void)snprintf(rest, sizeof(rest),
                   "\"to\":[\"tool\"],\"correlation_id\":\"%s\",\"payload\":{\"jsonrpc\":"
                   "\"2.0\",\"id\":\"%s\",\"result\":{\"action\":\"accept\"}}",
                   id, id);
    hear(room, from, "mcp/response:elicitation/create", rest);
}

TEST(a_question_goes_to_whose_call_it_is_and_only_he_answers)
{
    struct room room;
    struct str sent;

    begin(&room);
    (void)call(&room, "ann", "echo");
    (void)stage_sent(&room.stage, 0);
    ask_back(&room);
    sent = fake_sent(&room.seat);
    CHECK_INT(count_of(sent, "\n"), 1);
    CHECK(has(sent, "\"to\":[\"ann\"],\"kind\":\"mcp/request:elicitation/create\","
                    "\"correlation_id\":\"e-2\""));
    answer_back(&room, "bob", sent);
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    answer_back(&room, "ann", sent);
    CHECK_STR(stage_sent(&room.stage, 0), S("- answer\n"));
    end(&room);
}

TEST(a_question_that_may_be_of_several_is_given_to_nobody)
{
    struct room room;

    begin(&room);
    (void)call(&room, "ann", "echo");
    (void)call(&room, "bob", "echo");
    (void)stage_sent(&room.stage, 0);
    ask_back(&room);
    CHECK_STR(fake_sent(&room.seat), S(""));
    CHECK_STR(stage_sent(&room.stage, 0), S("- answer\n"));
    CHECK_INT(bridge_counts(room.bridge).dropped, 1);
    end(&room);
}

/* --- leaving --- */

TEST(who_leaves_is_not_answered_and_his_call_is_cancelled)
{
    struct room room;

    begin(&room);
    (void)call(&room, "ann", "echo");
    (void)stage_sent(&room.stage, 0);
    presence(&room, "leave", "ann");
    CHECK(str_starts(stage_sent(&room.stage, 0), S("- notifications/cancelled\n")));
    answer(&room, 5, "{}");
    CHECK_STR(fake_sent(&room.seat), S(""));
    end(&room);
}

/* However many are here, each is noticed when he leaves. */
TEST(the_thousandth_participant_is_noticed_too)
{
    CLEANUP(buf_done) struct buf all;
    struct room room;

    buf_init(&all, 1 << 20);
    for (int i = 0; i < 1000; i++)
        buf_putf(&all, "%s{\"id\":\"p%d\",\"capabilities\":[\"*\"]}", i ? "," : "", i);
    begin_in(&room, buf_cstr(&all));
    (void)call(&room, "p999", "echo");
    (void)stage_sent(&room.stage, 0);
    presence(&room, "leave", "p999");
    CHECK(str_starts(stage_sent(&room.stage, 0), S("- notifications/cancelled\n")));
    end(&room);
}

/* --- lists --- */

TEST(a_list_whose_time_is_over_is_asked_for_again)
{
    struct room room;
    struct str sent;

    begin(&room);
    (void)ask(&room, "ann", "tools/list", "{}");
    CHECK_STR(stage_sent(&room.stage, 0), S("")); /* a server that says nothing of it */
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    answer(&room, 5,
           "{\"ttlMs\":60000,\"nextCursor\":\"2\",\"tools\":[" TOOL("echo") "]}");
    answer(&room, 6, "{\"ttlMs\":5000,\"tools\":[]}");
    (void)stage_sent(&room.stage, 0);
    stage_pass(&room.stage, 4999);
    (void)ask(&room, "ann", "tools/list", "{}");
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    stage_pass(&room.stage, 1);
    CHECK_STR(stage_sent(&room.stage, 0), S("")); /* nobody wants to know */
    (void)fake_sent(&room.seat);
    (void)ask(&room, "ann", "tools/list", "{}");
    CHECK_STR(stage_sent(&room.stage, 0), S("7 tools/list\n"));
    sent = fake_sent(&room.seat);
    CHECK(has(sent, "\"result\":{\"tools\":[{\"name\":\"echo\"")); /* at once */
    answer(&room, 7, "{\"ttlMs\":0,\"tools\":[]}");
    stage_pass(&room.stage, 999);
    (void)ask(&room, "ann", "tools/list", "{}");
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    stage_pass(&room.stage, 1);
    (void)ask(&room, "ann", "tools/list", "{}");
    CHECK_STR(stage_sent(&room.stage, 0), S("8 tools/list\n"));
    end(&room);
}

/* --- pins --- */

TEST(what_is_held_is_neither_called_nor_read)
{
    struct room room;

    begin(&room);
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    answer(&room, 5, "{\"tools\":[" TOOL("echo") "," TOOL("new") "]}");
    stage_says(
        &room.stage, 0,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}");
    answer(&room, 6, "{\"resources\":[]}");
    answer(&room, 7,
           "{\"resourceTemplates\":[{\"uriTemplate\":\"secret:{/path*}\","
           "\"name\":\"s\"}]}");
    stage_pass(&room.stage, 2000);
    (void)fake_sent(&room.seat);
    (void)stage_sent(&room.stage, 0);
    (void)call(&room, "ann", "new");
    CHECK(has(fake_sent(&room.seat),
              "\"error\":{\"code\":-32602,\"message\":\"held: it is new"));
    (void)ask(&room, "ann", "resources/read", "{\"uri\":\"secret:/a/b\"}");
    CHECK(has(fake_sent(&room.seat),
              "\"error\":{\"code\":-32602,\"message\":\"held: it is new"));
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    (void)ask(&room, "ann", "resources/read", "{\"uri\":\"other:/a/b\"}");
    CHECK_STR(stage_sent(&room.stage, 0), S("8 resources/read\n"));
    end(&room);
}

/* --- the end of a server --- */

TEST(calls_end_in_their_order_when_the_server_dies)
{
    struct room room;
    struct str sent;
    const char *first, *second;

    begin(&room);
    (void)call(&room, "ann", "echo");
    (void)call(&room, "bob", "echo");
    stage_ends(&room.stage, 0, "it ended with code 1");
    sent = fake_sent(&room.seat);
    CHECK_INT(count_of(sent, "\"reason\":\"server_died\""), 2);
    first = strstr(sent.ptr, "\"correlation_id\":\"e-2\"");
    second = strstr(sent.ptr, "\"correlation_id\":\"e-3\"");
    CHECK(first && second && first < second);
    /* What comes now waits for the next one. */
    (void)call(&room, "ann", "echo");
    CHECK_STR(fake_sent(&room.seat), S(""));
    stage_pass(&room.stage, 500);
    room.ids = 0;
    CHECK_INT(room.stage.server_count, 2);
    answer(&room, ++room.ids,
           "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":" CAPABLE "}");
    CHECK(has(stage_sent(&room.stage, 1), " tools/call\n"));
    end(&room);
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
    hear(room, "system:gateway", "system/error", rest);
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
    begin(&room);
    (void)call(&room, "ann", "echo");
    answer(&room, 5, "{}");
    buf_put(&first, fake_sent(&room.seat));
    (void)buf_cstr(&first);
    room.seat.is_away = true;
    bridge_seat_ops.on_lost(room.bridge, false, "gone");
    stage_pass(&room.stage, 60'000);
    room.seat.is_away = false;
    welcome(&room, "{\"id\":\"bob\",\"capabilities\":[\"*\"]}");
    CHECK(!has(fake_sent(&room.seat), "mcp/response")); /* ann is not back yet */
    presence(&room, "join", "ann");
    again = fake_sent(&room.seat);
    CHECK(has(again, "\"correlation_id\":\"e-2\""));
    CHECK(have_one_id(buf_str(&first), again));
    refuse(&room, again, "duplicate_id"); /* it was taken */
    CHECK_INT(bridge_counts(room.bridge).dropped, 0);
    stage_pass(&room.stage, 60'000);
    CHECK_STR(fake_sent(&room.seat), S(""));
    end(&room);
}

TEST(who_does_not_come_back_has_left)
{
    struct room room;

    begin(&room);
    (void)call(&room, "ann", "echo");
    bridge_seat_ops.on_lost(room.bridge, false, "gone");
    welcome(&room, "");
    (void)stage_sent(&room.stage, 0);
    stage_pass(&room.stage, 29'000);
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    stage_pass(&room.stage, 1000);
    CHECK(str_starts(stage_sent(&room.stage, 0), S("- notifications/cancelled\n")));
    end(&room);
}

TEST(an_answer_that_was_refused_for_now_is_sent_again_and_others_after_it)
{
    struct room room;
    struct str sent;

    begin(&room);
    (void)call(&room, "ann", "echo");
    (void)call(&room, "bob", "echo");
    answer(&room, 5, "{}");
    refuse(&room, fake_sent(&room.seat), "rate_limited");
    judge(&room);
    answer(&room, 6, "{}"); /* waits behind it */
    stage_pass(&room.stage, 199);
    CHECK_STR(fake_sent(&room.seat), S(""));
    stage_pass(&room.stage, 1);
    sent = fake_sent(&room.seat);
    CHECK_INT(count_of(sent, "\n"), 1);
    CHECK(has(sent, "\"correlation_id\":\"e-2\""));
    judge(&room);
    stage_pass(&room.stage, 1);
    CHECK(has(fake_sent(&room.seat), "\"correlation_id\":\"e-3\""));
    judge(&room);
    stage_pass(&room.stage, 60'000);
    CHECK_STR(fake_sent(&room.seat), S(""));
    end(&room);
}
