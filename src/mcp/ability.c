/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/ability.h"

#include "base/cleanup.h"
#include "mcp/message.h"

enum { PATH = 2 };
enum { IN_LEGACY = 1, IN_MODERN = 2, IN_BOTH = 3 };

#define TASKS_EXTENSION S("io.modelcontextprotocol/tasks")

/* clang-format off */
static const struct {
    struct str method;
    int eras;
    struct str name; /* for people */
    struct str path[PATH];
} abilities[] = {
    { S("tools/list"),               IN_BOTH,   S("tools"),               { S("tools") } },
    { S("tools/call"),               IN_BOTH,   S("tools"),               { S("tools") } },
    { S("prompts/list"),             IN_BOTH,   S("prompts"),             { S("prompts") } },
    { S("prompts/get"),              IN_BOTH,   S("prompts"),             { S("prompts") } },
    { S("resources/list"),           IN_BOTH,   S("resources"),           { S("resources") } },
    { S("resources/templates/list"), IN_BOTH,   S("resources"),           { S("resources") } },
    { S("resources/read"),           IN_BOTH,   S("resources"),           { S("resources") } },
    { S("resources/subscribe"),      IN_BOTH,   S("resources.subscribe"), { S("resources"), S("subscribe") } },
    { S("resources/unsubscribe"),    IN_BOTH,   S("resources.subscribe"), { S("resources"), S("subscribe") } },
    { S("completion/complete"),      IN_BOTH,   S("completions"),         { S("completions") } },
    { S("logging/setLevel"),         IN_BOTH,   S("logging"),             { S("logging") } },
    { S("tasks/list"),               IN_LEGACY, S("tasks"),               { S("tasks") } },
    { S("tasks/get"),                IN_LEGACY, S("tasks"),               { S("tasks") } },
    { S("tasks/result"),             IN_LEGACY, S("tasks"),               { S("tasks") } },
    { S("tasks/cancel"),             IN_LEGACY, S("tasks.cancel"),        { S("tasks"), S("cancel") } },
    { S("tasks/list"),               IN_MODERN, S("extension tasks"),     { S("extensions"), TASKS_EXTENSION } },
    { S("tasks/get"),                IN_MODERN, S("extension tasks"),     { S("extensions"), TASKS_EXTENSION } },
    { S("tasks/result"),             IN_MODERN, S("extension tasks"),     { S("extensions"), TASKS_EXTENSION } },
    { S("tasks/cancel"),             IN_MODERN, S("extension tasks"),     { S("extensions"), TASKS_EXTENSION } },
    { S("tasks/update"),             IN_MODERN, S("extension tasks"),     { S("extensions"), TASKS_EXTENSION } },
};
/* clang-format on */

static bool is_declared(struct json_span capable, const struct str *path, size_t depth)
{
    struct json_span span = mcp_message_find(capable, path, depth);

    return span.text.ptr && (span.type == JSON_OBJECT || span.type == JSON_TRUE);
}

struct str ability_missing(struct json_span capable, bool is_modern, struct str method)
{
    int era = is_modern ? IN_MODERN : IN_LEGACY;

    for (size_t i = 0; i < COUNT(abilities); i++) {
        if (!(abilities[i].eras & era) || !str_eq(abilities[i].method, method))
            continue;
        if (!is_declared(capable, abilities[i].path, abilities[i].path[1].len ? 2 : 1))
            return abilities[i].name;
    }
    return S("");
}

bool ability_has_tasks(struct json_span capable)
{
    static const struct str path[] = { S("tasks"), S("requests"), S("tools"), S("call") };

    return is_declared(capable, path, COUNT(path));
}

static bool has_task_support(struct str tool, struct str word)
{
    static const struct str path[] = { S("execution"), S("taskSupport") };
    struct json_span span = mcp_message_find(
        (struct json_span){ .type = JSON_OBJECT, .text = tool }, path, COUNT(path));

    return span.text.ptr && span.type == JSON_STRING && json_string_is(span, word);
}

bool ability_needs_task(struct str tool)
{
    return has_task_support(tool, S("required"));
}

bool ability_runs_as_task(struct str tool)
{
    return has_task_support(tool, S("optional")) || ability_needs_task(tool);
}
