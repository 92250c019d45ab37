/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of callers, with servers of the other era: ML-11, LM-08, PROG-04. */
#include <stdio.h>
#include <string.h>

#include "bridge_room.h"
#include "harness.h"

#define TASK_TOOL                                               \
    "{\"name\":\"slow\",\"inputSchema\":{\"type\":\"object\"}," \
    "\"execution\":{\"taskSupport\":\"optional\"}}"
#define NEEDY_TOOL                                               \
    "{\"name\":\"needy\",\"inputSchema\":{\"type\":\"object\"}," \
    "\"execution\":{\"taskSupport\":\"required\"}}"
#define CLAIM                                                         \
    "\"_meta\":{\"progressToken\":\"p\","                             \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","     \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"extensions\":" \
    "{\"io.modelcontextprotocol/tasks\":{}}}}"
#define RELATED  "\"io.modelcontextprotocol/related-task\":{\"taskId\":\"t\"}"
#define MODERN_T "{\"taskId\":\"t\"," CLAIM "}"

static void begin(struct room *room, enum mcp_era era)
{
    room_sit(room, stage_spec_of_era(era), ANN_AND_BOB);
    room_answer(
        room, ++room->ids,
        era == ERA_MODERN
            ? "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],"
              "\"capabilities\":{\"tools\":{},\"extensions\":{"
              "\"io.modelcontextprotocol/tasks\":{}}},\"ttlMs\":0,\"cacheScope\":"
              "\"private\"}"
            : "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{},"
              "\"logging\":{},\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}}}");
    room_answer(room, ++room->ids,
                "{\"resultType\":\"complete\",\"tools\":[" TASK_TOOL "," NEEDY_TOOL "]}");
    room_settle(room);
    room->stage.servers[0].fake.is_terse = false;
}

/* What was asked last is answered. */
static struct str reply(struct room *room, const char *result)
{
    room_answer(room, ++room->ids, result);
    return fake_sent(&room->seat);
}

/* A task "t" of ann. */
static struct str make_task(struct room *room, const char *params, const char *result)
{
    (void)room_ask(room, "ann", "tools/call", params);
    return reply(room, result);
}

static struct str make_modern_task(struct room *room)
{
    return make_task(room, "{\"name\":\"slow\"," CLAIM "}",
                     "{\"task\":{\"taskId\":\"t\",\"status\":\"working\",\"ttl\":60000,"
                     "\"pollInterval\":5}}");
}

static struct str look(struct room *room, const char *status)
{
    char text[128];

    (void)room_ask(room, "ann", "tasks/get", MODERN_T);
    (void)snprintf(text, sizeof(text),
                   "{\"taskId\":\"t\",\"status\":\"%s\",\"ttl\":60000}", status);
    return reply(room, text);
}

TEST(a_modern_caller_has_the_end_of_a_legacy_task_in_it)
{
    struct room room;
    struct str sent;

    begin(&room, ERA_LEGACY);
    sent = make_modern_task(&room);
    CHECK(text_has(sent,
                   "\"result\":{\"resultType\":\"task\",\"taskId\":\"t\",\"status\":"
                   "\"working\",\"ttlMs\":60000,\"pollIntervalMs\":5"));
    CHECK(text_has(stage_sent(&room.stage, 0), "\"task\":{}"));
    (void)room_ask(&room, "bob", "tasks/get", MODERN_T);
    CHECK(text_has(fake_sent(&room.seat), "there is no such task"));
    CHECK(text_has(look(&room, "working"),
                   "\"result\":{\"resultType\":\"complete\",\"taskId\":"
                   "\"t\",\"status\":\"working\",\"ttlMs\":60000}"));
    (void)stage_sent(&room.stage, 0);
    CHECK_STR(look(&room, "failed"), S("")); /* of a tool that failed: it completed */
    CHECK(text_has(stage_sent(&room.stage, 0), "\"method\":\"tasks/result\""));
    sent = reply(&room, "{\"content\":[],\"isError\":true,\"_meta\":{" RELATED "}}");
    CHECK(text_has(sent,
                   "\"status\":\"completed\",\"ttlMs\":60000,\"result\":{\"resultType\":"
                   "\"complete\",\"content\":[],\"isError\":true}}"));
    CHECK_STR(look(&room, "completed"), S(""));
    stage_says(
        &room.stage, 0,
        "{\"jsonrpc\":\"2.0\",\"id\":8,\"error\":{\"code\":-5,\"message\":\"m\"}}");
    CHECK_INT(++room.ids, 8);
    CHECK(text_has(fake_sent(&room.seat),
                   "\"status\":\"failed\",\"ttlMs\":60000,\"error\":"
                   "{\"code\":-5,\"message\":\"m\"}}"));
    CHECK(
        text_has(look(&room, "cancelled"), "\"status\":\"cancelled\",\"ttlMs\":60000}"));
    room_end(&room);
}

static void task_asks(struct room *room, const char *id)
{
    char text[512];

    (void)snprintf(text, sizeof(text),
                   "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"elicitation/create\","
                   "\"params\":{\"message\":\"sure?\",\"requestedSchema\":{\"type\":"
                   "\"object\",\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":"
                   "[\"a\"]},\"_meta\":{" RELATED "}}}",
                   id);
    stage_says(&room->stage, 0, text);
}

static struct str update(struct room *room, const char *answers)
{
    char params[600];

    (void)snprintf(params, sizeof(params),
                   "{\"taskId\":\"t\",\"inputResponses\":%s," CLAIM "}", answers);
    (void)stage_sent(&room->stage, 0);
    (void)room_ask(room, "ann", "tasks/update", params);
    return fake_sent(&room->seat);
}

TEST(what_a_legacy_task_asks_stands_in_it_for_a_modern_owner)
{
    struct room room;
    struct str sent;

    begin(&room, ERA_LEGACY);
    (void)make_modern_task(&room);
    (void)stage_sent(&room.stage, 0);
    CHECK(text_has(look(&room, "input_required"), "\"status\":\"working\""));
    CHECK(text_has(stage_sent(&room.stage, 0), "\"method\":\"tasks/result\""));
    room.ids++; /* which stays open */
    (void)room_ask(&room, "bob", "tools/call", "{\"name\":\"slow\"}");
    room.ids++; /* and so does this: it is still clear whose the question is */
    task_asks(&room, "q");
    task_asks(&room, "r");
    CHECK_STR(fake_sent(&room.seat), S("")); /* nobody is asked */
    (void)stage_sent(&room.stage, 0);
    sent = look(&room, "input_required");
    CHECK(text_has(sent,
                   "\"status\":\"input_required\",\"ttlMs\":60000,\"inputRequests\":{"
                   "\"q1\":{\"method\":\"elicitation/create\",\"params\":{\"message\":"
                   "\"sure?\""));
    CHECK(text_has(sent, "\"q2\":{"));
    CHECK(!text_has(sent, "related-task") && !text_has(sent, "\"_meta\":{}"));
    CHECK(!text_has(stage_sent(&room.stage, 0), "tasks/result")); /* one is enough */
    CHECK(
        text_has(update(&room, "{\"q1\":{\"action\":\"accept\",\"content\":{\"a\":7}}}"),
                 "\"error\":{\"code\":-32602"));
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    CHECK(text_has(update(&room, "{\"x\":{},\"q1\":{\"action\":\"accept\",\"content\":"
                                 "{\"a\":\"b\"}}}"),
                   "\"result\":{\"resultType\":\"complete\""));
    CHECK(text_has(stage_sent(&room.stage, 0),
                   "\"id\":\"q\",\"result\":{\"action\":\"accept\","
                   "\"content\":{\"a\":\"b\"},\"_meta\":{" RELATED));
    sent = look(&room, "input_required");
    CHECK(!text_has(sent, "\"q1\"") && text_has(sent, "\"q2\""));
    (void)stage_sent(&room.stage, 0);
    stage_pass(&room.stage, 300'000); /* whoever does not answer has not */
    CHECK(text_has(stage_sent(&room.stage, 0), "nobody answered"));
    room_end(&room);
}

TEST(to_cancel_a_legacy_task_is_acknowledged_whatever_the_server_says)
{
    struct room room;

    begin(&room, ERA_LEGACY);
    (void)make_modern_task(&room);
    (void)room_ask(&room, "ann", "tasks/cancel", MODERN_T);
    stage_says(&room.stage, 0,
               "{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":{\"code\":-32602,\"message\":"
               "\"it has ended\"}}");
    CHECK(text_has(fake_sent(&room.seat),
                   "\"id\":3,\"result\":{\"resultType\":\"complete\""));
    room_end(&room);
}

#define MODERN_TASK(status)                                                    \
    "{\"resultType\":\"complete\",\"taskId\":\"t\",\"status\":\"" status "\"," \
    "\"ttlMs\":60000,\"pollIntervalMs\":5}"

static void make_legacy_task(struct room *room)
{
    struct str sent = make_task(room, "{\"name\":\"slow\",\"task\":{\"ttl\":1}}",
                                "{\"resultType\":\"task\",\"taskId\":\"t\",\"status\":"
                                "\"working\",\"ttlMs\":60000,\"pollIntervalMs\":5}");

    CHECK(text_has(sent, "\"result\":{\"task\":{\"taskId\":\"t\",\"status\":\"working\","
                         "\"ttl\":60000,\"pollInterval\":5}}"));
}

TEST(a_legacy_caller_has_a_task_of_a_modern_server_as_his_own)
{
    struct room room;

    begin(&room, ERA_MODERN);
    make_legacy_task(&room);
    (void)room_ask(&room, "ann", "tasks/get", "{\"taskId\":\"t\"}");
    CHECK(text_has(
        reply(&room, MODERN_TASK("input_required")),
        "\"result\":{\"taskId\":\"t\",\"status\":\"input_required\",\"ttl\":60000,"
        "\"pollInterval\":5}}"));
    (void)room_ask(&room, "ann", "tasks/list", "{}");
    CHECK(
        text_has(fake_sent(&room.seat),
                 "\"result\":{\"tasks\":[{\"taskId\":\"t\",\"status\":\"input_required\","
                 "\"ttl\":60000,\"pollInterval\":5}]}"));
    (void)room_ask(&room, "bob", "tasks/list", "{}");
    CHECK(text_has(fake_sent(&room.seat), "\"result\":{\"tasks\":[]}"));
    (void)room_ask(&room, "ann", "tasks/result", "{\"taskId\":\"t\"}");
    CHECK(
        text_has(reply(&room, "{\"resultType\":\"complete\",\"taskId\":\"t\",\"status\":"
                              "\"completed\",\"result\":{\"resultType\":\"complete\","
                              "\"content\":[]}}"),
                 "\"result\":{\"content\":[],\"_meta\":{" RELATED "}}"));
    room_end(&room);
}

TEST(a_legacy_caller_who_cancels_a_modern_task_is_given_it)
{
    struct room room;

    begin(&room, ERA_MODERN);
    make_legacy_task(&room);
    (void)room_ask(&room, "ann", "tasks/cancel", "{\"taskId\":\"t\"}");
    CHECK_STR(reply(&room, "{\"resultType\":\"complete\"}"), S(""));
    CHECK(
        text_has(reply(&room, MODERN_TASK("working")),
                 "\"result\":{\"taskId\":\"t\",\"status\":\"cancelled\",\"ttl\":60000,"));
    (void)room_ask(&room, "ann", "tasks/get", "{\"taskId\":\"t\"}");
    CHECK(text_has(reply(&room, MODERN_TASK("working")), "\"status\":\"cancelled\""));
    (void)room_ask(&room, "ann", "tasks/list", "{}");
    CHECK(text_has(fake_sent(&room.seat), "\"status\":\"cancelled\""));
    room_end(&room);

    begin(&room, ERA_MODERN);
    make_legacy_task(&room);
    (void)room_ask(&room, "ann", "tasks/cancel", "{\"taskId\":\"t\"}");
    CHECK_STR(reply(&room, "{\"resultType\":\"complete\"}"), S(""));
    CHECK(text_has(reply(&room, MODERN_TASK("completed")), "\"error\":{\"code\":-32602"));
    room_end(&room);
}

static struct str progress(struct room *room, const char *value)
{
    char text[256];

    (void)snprintf(
        text, sizeof(text),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
        "{\"progressToken\":3,\"progress\":%s}}",
        value);
    stage_says(&room->stage, 0, text);
    return fake_sent(&room->seat);
}

TEST(progress_of_a_task_reaches_its_caller_until_it_ends)
{
    struct room room;

    begin(&room, ERA_LEGACY);
    (void)make_task(&room,
                    "{\"name\":\"slow\",\"task\":{},\"_meta\":{\"progressToken\":\"p\"}}",
                    "{\"task\":{\"taskId\":\"t\",\"status\":\"working\",\"ttl\":60000}}");
    CHECK(text_has(progress(&room, "0.5"),
                   "\"to\":[\"ann\"],\"kind\":\"mcp/request:notifications/progress\","
                   "\"correlation_id\":\"e-2\""));
    CHECK_STR(progress(&room, "0.6"), S("")); /* too soon */
    stage_pass(&room.stage, 100);
    CHECK_STR(progress(&room, "0.5"), S("")); /* it does not rise */
    CHECK(text_has(progress(&room, "0.7"), "{\"progressToken\":\"p\",\"progress\":0.7}"));
    (void)room_ask(&room, "ann", "tasks/get", "{\"taskId\":\"t\"}");
    (void)reply(&room, "{\"taskId\":\"t\",\"status\":\"completed\"}");
    stage_pass(&room.stage, 100);
    CHECK_STR(progress(&room, "0.8"), S(""));
    room_end(&room);
}

/* --- what a task says --- */

static void log_of_task(struct room *room)
{
    stage_says(&room->stage, 0,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
               "\"level\":\"error\",\"data\":1,\"_meta\":{" RELATED "}}}");
}

TEST(what_a_task_says_to_a_modern_owner_is_told_to_nobody_else)
{
    struct room room;

    begin(&room, ERA_LEGACY);
    (void)room_ask(&room, "bob", "logging/setLevel", "{\"level\":\"debug\"}");
    CHECK(text_has(fake_sent(&room.seat), "\"result\":{}"));
    room.ids++; /* the server was told the level */
    (void)make_modern_task(&room);
    (void)look(&room, "input_required");
    room.ids++; /* tasks/result is open */
    log_of_task(&room);
    CHECK_STR(fake_sent(&room.seat), S(""));
    room_end(&room);
}

#define WITHOUT                                                   \
    "\"_meta\":{"                                                 \
    "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"
#define NEEDS_TASKS                                                     \
    "\"error\":{\"code\":-32021,\"message\":\"Missing required client " \
    "capability\",\"data\":{\"requiredCapabilities\":{\"extensions\":{" \
    "\"io.modelcontextprotocol/tasks\":{}}}}}"

/* SEP-2663. The legacy line does not declare it: we wait for him (TASK-02). */
TEST(what_can_only_be_a_task_is_not_for_who_cannot_have_one)
{
    struct room room;

    begin(&room, ERA_LEGACY);
    (void)room_ask(&room, "ann", "tools/call", "{\"name\":\"needy\"," WITHOUT "}");
    CHECK(text_has(fake_sent(&room.seat), NEEDS_TASKS));
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    (void)room_ask(&room, "ann", "tools/call", "{\"name\":\"slow\"," WITHOUT "}");
    CHECK(text_has(stage_sent(&room.stage, 0), "\"name\":\"slow\""));
    (void)room_ask(&room, "bob", "tools/call", "{\"name\":\"needy\"}");
    CHECK(text_has(stage_sent(&room.stage, 0), "\"task\":{}"));
    room_end(&room);
}

TEST(who_cannot_have_tasks_cannot_look_after_one)
{
    static const char *const methods[] = { "tasks/get", "tasks/update", "tasks/cancel" };
    struct room room;

    begin(&room, ERA_LEGACY);
    (void)make_modern_task(&room);
    (void)stage_sent(&room.stage, 0);
    for (size_t i = 0; i < COUNT(methods); i++) {
        (void)room_ask(&room, "ann", methods[i],
                       "{\"taskId\":\"t\",\"inputResponses\":{}," WITHOUT "}");
        CHECK(text_has(fake_sent(&room.seat), NEEDS_TASKS));
    }
    CHECK_STR(stage_sent(&room.stage, 0), S(""));
    room_end(&room);
}
