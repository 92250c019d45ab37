/* SPDX-License-Identifier: Apache-2.0 */
/* What callers say of themselves, what servers hear of it, who hears messages. */
#include <stdio.h>
#include <string.h>

#include "bridge_room.h"
#include "harness.h"

#define P       "io.modelcontextprotocol/"
#define VERSION "\"" P "protocolVersion\":\"2026-07-28\""
#define CAN     "\"" P "clientCapabilities\":"

static void begin_spec(struct room *room, struct server_spec *spec, enum mcp_era era)
{
    room_sit(room, spec, ANN_AND_BOB);
    room_answer(
        room, ++room->ids,
        era == ERA_MODERN
            ? "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
              "\"capabilities\":{\"tools\":{},\"logging\":{}},\"ttlMs\":0,"
              "\"cacheScope\":\"private\"}"
            : "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{},"
              "\"logging\":{}}}");
    room_answer(room, ++room->ids,
                "{\"resultType\":\"complete\",\"tools\":[" TOOL("echo") "]}");
    room_settle(room);
    room->stage.servers[0].fake.is_terse = false;
}

static void begin(struct room *room, enum mcp_era era)
{
    begin_spec(room, stage_spec_of_era(era), era);
}

static struct str call(struct room *room, const char *from, const char *meta)
{
    char params[512];

    (void)snprintf(params, sizeof(params), "{\"name\":\"echo\",\"_meta\":{%s}}", meta);
    (void)room_ask(room, from, "tools/call", params);
    return stage_sent(&room->stage, 0);
}

TEST(a_modern_server_is_told_what_the_caller_can_be_asked)
{
    static const struct {
        const char *meta, *told;
    } cases[] = {
        /* a claim: as it stands */
        { VERSION "," CAN "{\"sampling\":{},\"x\":1.0}",
          CAN "{\"sampling\":{},\"x\":1.0}" },
        /* the legacy line: his tasks are followed for him */
        { CAN "{\"sampling\":{},\"extensions\":{\"y\":{}}}",
          CAN "{\"sampling\":{},\"extensions\":{\"y\":{},\"" P "tasks\":{}}}" },
        /* who says nothing: what a participant of the room can be asked */
        { "\"k\":1", CAN "{\"sampling\":{\"tools\":{}},\"elicitation\":{\"form\":{},"
                         "\"url\":{}},\"roots\":{},\"extensions\":{\"" P "tasks\":{}}}" },
    };

    FOR_EACH_CASE(c, cases) {
        struct room room;

        begin(&room, ERA_MODERN);
        CHECK(text_has(call(&room, "ann", c->meta), c->told));
        room_end(&room);
    }
}

#define INPUT(url)                                                                         \
    "{\"resultType\":\"input_required\",\"inputRequests\":{\"k\\u0031\":{\"method\":"      \
    "\"elicitation/create\",\"params\":{\"mode\":\"url\",\"message\":\"m\",\"url\":\"" url \
    "\"}}},\"requestState\":\"s\\/\"}"

TEST(a_modern_caller_answers_a_modern_server_himself)
{
    struct room room;
    struct str sent;

    begin(&room, ERA_MODERN);
    (void)call(&room, "ann", VERSION "," CAN "{\"elicitation\":{\"url\":{}}}");
    room_answer(&room, ++room.ids, INPUT("https://a.example/"));
    sent = fake_sent(&room.seat);
    CHECK_INT(text_count(sent, "\n"), 1);
    CHECK(text_has(sent, "\"kind\":\"mcp/response:tools/call"));
    CHECK(text_has(sent, "\"result\":" INPUT("https://a.example/")));
    room_end(&room);
}

TEST(what_must_not_be_shown_is_not_shown_to_a_modern_caller_either)
{
    struct room room;
    struct str sent;

    begin(&room, ERA_MODERN);
    (void)call(&room, "ann", VERSION "," CAN "{\"elicitation\":{\"url\":{}}}");
    room_answer(&room, ++room.ids, INPUT("javascript:x"));
    sent = fake_sent(&room.seat);
    CHECK(text_has(sent, "\"error\":{\"code\":-32603,\"message\":\"the server's question "
                         "cannot be asked: "));
    CHECK(!text_has(sent, "javascript:x\""));
    room_end(&room);
}

TEST(a_legacy_caller_of_a_modern_server_is_asked)
{
    struct room room;

    begin(&room, ERA_MODERN);
    (void)call(&room, "ann", CAN "{\"elicitation\":{\"url\":{}}}");
    room_answer(&room, ++room.ids, INPUT("https://a.example/"));
    CHECK(text_has(fake_sent(&room.seat),
                   "\"to\":[\"ann\"],\"kind\":\"mcp/request:elicitation/create\""));
    room_end(&room);
}

/* --- what he answers --- */

#define FORM                                                                               \
    "{\"message\":\"m\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"         \
    "\"a\":{\"type\":\"string\",\"enum\":[\"x\"]},\"n\":{\"type\":\"number\",\"default\":" \
    "1.0}}}}"

static struct str answer(struct room *room, const char *result)
{
    struct str sent;
    char rest[512], id[64] = "";
    const char *at;

    stage_says(
        &room->stage, 0,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"elicitation/create\",\"params\":" FORM
        "}");
    sent = fake_sent(&room->seat);
    at = strstr(sent.ptr, "\"id\":\"");
    CHECK(at && sscanf(at, "\"id\":\"%63[^\"]", id) == 1);
    (void)snprintf(
        rest, sizeof(rest),
        "\"to\":[\"tool\"],\"correlation_id\":\"%s\",\"payload\":{\"jsonrpc\":\"2.0\",\"id\":\"%s\","
        "\"result\":%s}",
        id, id, result);
    room_hear(room, "ann", "mcp/response:elicitation/create", rest);
    return stage_sent(&room->stage, 0);
}

/* Between an MCP client and the server there is nobody; for others the bridge is one. */
TEST(a_client_of_mcp_answers_for_itself)
{
    static const struct {
        const char *meta, *answer, *told;
    } cases[] = {
        { CAN "{}", "{\"action\":\"accept\",\"content\":{}}",
          "\"result\":{\"action\":\"accept\",\"content\":{}}}" },
        { CAN "{}", "{\"action\":\"accept\",\"content\":{\"a\":\"y\"},\"z\":1.0}",
          "\"result\":{\"action\":\"accept\",\"content\":{\"a\":\"y\"},\"z\":1.0}}" },
        { CAN "{}", "7", "\"error\":{\"code\":-32602" },
        { "", "{\"action\":\"accept\",\"content\":{}}",
          "\"result\":{\"action\":\"accept\",\"content\":{\"n\":1.0}}}" },
        { "", "{\"action\":\"accept\",\"content\":{\"a\":\"y\"}}",
          "\"error\":{\"code\":-32602" },
        { CAN "[]", "{\"action\":\"accept\",\"content\":{\"a\":\"y\"}}",
          "\"error\":{\"code\":-32602" },
    };

    FOR_EACH_CASE(c, cases) {
        struct room room;

        begin(&room, ERA_LEGACY);
        (void)call(&room, "ann", c->meta);
        CHECK(text_has(answer(&room, c->answer), c->told));
        room_end(&room);
    }
}

/* --- pages that are to be opened first --- */

#define PAGE(url) \
    "{\"mode\":\"url\",\"elicitationId\":\"e\",\"url\":\"" url "\",\"message\":\"m\"}"
#define OPENS VERSION "," CAN "{\"elicitation\":{\"url\":{}}}"

static struct str fail_with_pages(struct room *room, const char *meta, const char *pages)
{
    char text[512];

    (void)call(room, "ann", meta);
    (void)snprintf(text, sizeof(text),
                   "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"error\":{\"code\":-32042,"
                   "\"message\":\"open it\",\"data\":{\"elicitations\":[%s]}}}",
                   (unsigned long long)++room->ids, pages);
    stage_says(&room->stage, 0, text);
    return fake_sent(&room->seat);
}

/* ML-06. */
TEST(pages_to_open_first_are_told_as_each_era_has_it)
{
    static const struct {
        const char *meta, *pages, *told;
    } cases[] = {
        { "\"k\":1", PAGE("https://a.example/"),
          "\"error\":{\"code\":-32042,\"message\":\"open it\",\"data\":{"
          "\"elicitations\":[" PAGE("https://a.example/") "]}}" },
        { OPENS, PAGE("https://a.example/") "," PAGE("https://b.example/"),
          "\"result\":{\"resultType\":\"input_required\",\"inputRequests\":{\"q1\":{"
          "\"method\":\"elicitation/create\",\"params\":{\"mode\":\"url\",\"url\":"
          "\"https://a.example/\",\"message\":\"m\"}},\"q2\":{\"method\":"
          "\"elicitation/create\",\"params\":{\"mode\":\"url\",\"url\":"
          "\"https://b.example/\",\"message\":\"m\"}}}}" },
        { VERSION "," CAN "{\"elicitation\":{}}", PAGE("https://a.example/"),
          "\"error\":{\"code\":-32021,\"message\":\"Missing required client "
          "capability\",\"data\":{\"requiredCapabilities\":{\"elicitation\":{"
          "\"url\":{}}}}}" },
        { OPENS, "", "\"error\":{\"code\":-32603,\"message\":\"open it\"" },
        { OPENS, PAGE("javascript:x"),
          "\"error\":{\"code\":-32603,\"message\":\"the server's -32042 cannot be "
          "shown: " },
    };

    FOR_EACH_CASE(c, cases) {
        struct room room;

        begin(&room, ERA_LEGACY);
        CHECK(text_has(fail_with_pages(&room, c->meta, c->pages), c->told));
        room_end(&room);
    }
}

TEST(who_has_opened_them_calls_again)
{
    struct room room;
    struct str sent;

    begin(&room, ERA_LEGACY);
    (void)fail_with_pages(&room, OPENS, PAGE("https://a.example/"));
    (void)room_ask(&room, "ann", "tools/call",
                   "{\"name\":\"echo\",\"inputResponses\":{\"q1\":{\"action\":"
                   "\"accept\"}},\"_meta\":{" OPENS "}}");
    sent = stage_sent(&room.stage, 0);
    CHECK(text_has(sent, "\"method\":\"tools/call\",\"params\":{\"name\":\"echo\""));
    CHECK(!text_has(sent, "inputResponses"));
    room_answer(&room, ++room.ids, "{\"content\":[]}");
    CHECK(text_has(fake_sent(&room.seat),
                   "\"result\":{\"resultType\":\"complete\",\"content\":[]"));
    room_end(&room);
}

/* --- messages --- */

static struct str message(struct room *room, const char *level)
{
    char text[256];

    (void)snprintf(
        text, sizeof(text),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
        "\"level\":\"%s\",\"data\":1}}",
        level);
    stage_says(&room->stage, 0, text);
    return fake_sent(&room->seat);
}

TEST(a_legacy_server_is_told_the_most_verbose_level_that_is_wanted)
{
    struct room room;

    begin(&room, ERA_LEGACY);
    (void)room_ask(&room, "bob", "logging/setLevel", "{\"level\":\"error\"}");
    CHECK(text_has(stage_sent(&room.stage, 0), "{\"level\":\"error\"}"));
    room_answer(&room, ++room.ids, "{}");
    CHECK(text_has(call(&room, "ann", VERSION "," CAN "{},\"" P "logLevel\":\"info\""),
                   "{\"level\":\"info\"}"));
    room.ids++;
    (void)fake_sent(&room.seat);
    /* to the request that wanted it, and to who wants all that is that bad */
    CHECK_STR(message(&room, "debug"), S(""));
    CHECK(text_has(message(&room, "info"),
                   "\"to\":[\"ann\"],\"kind\":\"mcp/request:notifications/message\","
                   "\"correlation_id\":\"e-3\""));
    CHECK_INT(text_count(message(&room, "error"), "\n"), 2);
    room_answer(&room, ++room.ids, "{\"content\":[]}");
    (void)fake_sent(&room.seat);
    CHECK_STR(message(&room, "info"), S(""));
    CHECK(text_has(message(&room, "error"), "\"to\":[\"bob\"]"));
    room_end(&room);
}

TEST(a_modern_request_that_names_no_level_hears_nothing)
{
    struct room room;

    begin(&room, ERA_LEGACY);
    (void)call(&room, "ann", VERSION "," CAN "{}");
    CHECK_STR(message(&room, "emergency"), S(""));
    room_end(&room);
}

TEST(messages_during_the_calls_of_two_belong_to_neither)
{
    struct room room;

    begin(&room, ERA_LEGACY);
    (void)call(&room, "ann", VERSION "," CAN "{},\"" P "logLevel\":\"debug\"");
    (void)call(&room, "bob", VERSION "," CAN "{},\"" P "logLevel\":\"debug\"");
    CHECK_STR(message(&room, "error"), S(""));
    room_end(&room);
}

TEST(a_modern_server_hears_the_level_of_a_legacy_caller_with_his_calls)
{
    struct room room;

    begin(&room, ERA_MODERN);
    CHECK(!text_has(call(&room, "ann", "\"k\":1"), "logLevel"));
    room_answer(&room, ++room.ids, "{\"resultType\":\"complete\",\"content\":[]}");
    (void)room_ask(&room, "ann", "logging/setLevel", "{\"level\":\"notice\"}");
    CHECK(text_has(call(&room, "ann", "\"k\":1"), "\"" P "logLevel\":\"notice\""));
    CHECK(!text_has(call(&room, "ann", VERSION "," CAN "{}"), "logLevel"));
    room_end(&room);
}
