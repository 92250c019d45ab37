/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "mcp/ability.h"

TEST(what_a_server_did_not_declare_is_missing)
{
    static const struct {
        struct str capable;
        bool is_modern;
        struct str method, missing;
    } cases[] = {
        { S("{}"), false, S("tools/list"), S("tools") },
        { S("{}"), true, S("tools/call"), S("tools") },
        { S("{\"tools\":{}}"), false, S("tools/call"), S("") },
        { S("{\"tools\":null}"), false, S("tools/call"), S("tools") },
        { S("{\"tools\":false}"), false, S("tools/list"), S("tools") },
        { S("{\"tools\":{}}"), false, S("prompts/get"), S("prompts") },
        { S("{\"tools\":{}}"), false, S("resources/read"), S("resources") },
        { S("{\"resources\":{}}"), false, S("resources/templates/list"), S("") },
        { S("{\"resources\":{}}"), false, S("resources/subscribe"),
          S("resources.subscribe") },
        { S("{\"resources\":{\"subscribe\":true}}"), true, S("resources/subscribe"),
          S("") },
        { S("{\"resources\":{\"subscribe\":false}}"), false, S("resources/unsubscribe"),
          S("resources.subscribe") },
        { S("{}"), false, S("completion/complete"), S("completions") },
        { S("{\"completions\":{}}"), true, S("completion/complete"), S("") },
        { S("{}"), false, S("logging/setLevel"), S("logging") },
        { S("{\"tasks\":{}}"), false, S("tasks/get"), S("") },
        { S("{\"tasks\":{}}"), false, S("tasks/cancel"), S("tasks.cancel") },
        { S("{\"tasks\":{\"cancel\":{}}}"), false, S("tasks/cancel"), S("") },
        { S("{\"tasks\":{}}"), true, S("tasks/get"), S("extension tasks") },
        { S("{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"), true,
          S("tasks/update"), S("") },
        { S("{}"), false, S("ping"), S("") },
        { S("{}"), false, S("x/y"), S("") },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_STR(
            ability_missing((struct json_span){ .type = JSON_OBJECT, .text = c->capable },
                            c->is_modern, c->method),
            c->missing);
}

TEST(a_tool_runs_as_a_task_where_server_and_tool_say_so)
{
    static const struct {
        struct str json;
        bool has_tasks, runs, is_needed;
    } cases[] = {
        { S("{\"tasks\":{\"requests\":{\"tools\":{\"call\":{}}}}}"), true, false, false },
        { S("{\"tasks\":{\"requests\":{\"tools\":{}}}}"), false, false, false },
        { S("{\"execution\":{\"taskSupport\":\"optional\"}}"), false, true, false },
        { S("{\"execution\":{\"taskSupport\":\"required\"}}"), false, true, true },
        { S("{\"execution\":{\"taskSupport\":\"forbidden\"}}"), false, false, false },
        { S("{\"execution\":{\"taskSupport\":7}}"), false, false, false },
        { S("{}"), false, false, false },
    };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(
            ability_has_tasks((struct json_span){ .type = JSON_OBJECT, .text = c->json }),
            c->has_tasks);
        CHECK_INT(ability_runs_as_task(c->json), c->runs);
        CHECK_INT(ability_needs_task(c->json), c->is_needed);
    }
}
