/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/era.h"

#include "base/cleanup.h"
#include "json/json.h"
#include "mcp/message.h"
#include "mcp/result.h"

#define SERVER_INFO  S("io.modelcontextprotocol/serverInfo")
#define RELATED_TASK S("io.modelcontextprotocol/related-task")

/* --- tasks: another shape, and other names for times --- */

static const struct {
    struct str legacy, modern;
} task_names[] = {
    { S("ttl"), S("ttlMs") },
    { S("pollInterval"), S("pollIntervalMs") },
};

static struct str task_name(struct json_span key, bool is_modern_to)
{
    for (size_t i = 0; i < COUNT(task_names); i++) {
        struct str from = is_modern_to ? task_names[i].legacy : task_names[i].modern;

        if (json_string_is(key, from))
            return is_modern_to ? task_names[i].modern : task_names[i].legacy;
    }
    return (struct str){};
}

/* What an end adds to a task has a place of its own in either era. */
static bool is_beside_task(struct json_span key)
{
    static const struct str names[] = { S("resultType"), S("result"), S("error"),
                                        S("inputRequests"), S("_meta") };

    for (size_t i = 0; i < COUNT(names); i++)
        if (json_string_is(key, names[i]))
            return true;
    return false;
}

/* A tool that failed has failed as a task, too, where the eras differ: the modern one
 * calls that completed (TASK-16). */
static bool is_tool_error(struct json_span task)
{
    static const struct str path[] = { S("result"), S("isError") };
    struct json_span flag = mcp_message_find(task, path, COUNT(path));

    return flag.text.ptr && flag.type == JSON_TRUE;
}

void era_put_task(struct json_writer *w, struct json_span task, bool is_modern_to,
                  struct str status)
{
    struct json_scan scan;
    struct json_member m;
    enum err err;

    if (!status.len && !is_modern_to && is_tool_error(task))
        status = S("failed");
    json_scan_init(&scan, task.text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err)) {
        struct str name = task_name(m.key, is_modern_to);

        if (is_beside_task(m.key))
            continue;
        json_key(w, name.len ? name : m.key.text);
        if (status.len && json_string_is(m.key, S("status")))
            json_str(w, status);
        else
            json_span(w, m.value);
    }
}

/* Whether it was a task that is written now, as it is when it is made or looked at. */
static bool put_as_task(struct json_writer *w, const struct era_change *change,
                        struct json_span result)
{
    struct json_span type = mcp_message_member(result, S("resultType"));
    struct json_span made = mcp_message_member(result, S("task"));
    bool is_get = str_eq(change->method, S("tasks/get"));

    if (is_get || (change->is_modern_to && mcp_message_is(made, JSON_OBJECT) &&
                   mcp_message_is(mcp_message_member(made, S("taskId")), JSON_STRING))) {
        if (change->is_modern_to)
            json_put_str(w, S("resultType"), is_get ? S("complete") : S("task"));
        era_put_task(w, is_get ? result : made, change->is_modern_to, S(""));
        return true;
    }
    if (change->is_modern_to || !mcp_message_is(type, JSON_STRING) ||
        !json_string_is(type, S("task")))
        return false;
    json_key(w, S("task"));
    json_object_open(w);
    era_put_task(w, result, false, S(""));
    json_object_close(w);
    return true;
}

/* --- tools --- */

/* Legacy clients take objects alone. */
static bool is_odd_schema(struct json_span schema)
{
    struct json_span type = mcp_message_member(schema, S("type"));

    return schema.text.ptr &&
           !(mcp_message_is(type, JSON_STRING) && json_string_is(type, S("object")));
}

static void put_tool(struct json_writer *w, const struct era_change *change,
                     struct json_span tool)
{
    static const struct str dropped[] = { S("execution"), S("outputSchema") };
    struct str_list without = { dropped, 0 };

    if (change->is_modern_to)
        without.count = 1;
    else if (is_odd_schema(mcp_message_member(tool, S("outputSchema"))))
        without = (struct str_list){ dropped + 1, 1 };
    json_object_open(w);
    json_put_members(w, tool.text, without);
    json_object_close(w);
}

static void put_tools(struct json_writer *w, const struct era_change *change,
                      struct json_span tools)
{
    struct json_scan scan;
    struct json_span tool;
    enum err err;

    json_key(w, S("tools"));
    json_array_open(w);
    json_scan_init(&scan, tools.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &tool, &err)) {
        if (tool.type == JSON_OBJECT)
            put_tool(w, change, tool);
        else
            json_span(w, tool);
    }
    json_array_close(w);
}

/* --- results --- */

/* Strict old clients refuse members that they do not know on empty results. */
static bool is_only(struct json_span meta, struct str name)
{
    struct json_scan scan;
    struct json_member m;
    enum err err;

    json_walk_init(&scan, meta);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err))
        if (!json_string_is(m.key, name))
            return false;
    return true;
}

static void put_added(struct json_writer *w, const struct era_change *change)
{
    json_key(w, change->is_modern_to ? SERVER_INFO : RELATED_TASK);
    if (change->is_modern_to) {
        json_raw(w, change->server);
        return;
    }
    json_object_open(w);
    json_put_str(w, S("taskId"), change->task);
    json_object_close(w);
}

/* serverInfo, which only modern results have; and, which only legacy ones have, of which
 * task they are (TASK-11). */
static void put_meta(struct json_writer *w, const struct era_change *change,
                     struct json_span meta)
{
    struct str without = change->is_modern_to ? RELATED_TASK : SERVER_INFO;
    struct str own = change->is_modern_to ? SERVER_INFO : RELATED_TASK;
    struct str known = change->is_modern_to ? change->server : change->task;
    bool is_kept = mcp_message_is(meta, JSON_OBJECT) && !is_only(meta, without);
    bool is_added = known.len && !mcp_message_member(meta, own).text.ptr;

    if (!is_kept && !is_added)
        return;
    json_key(w, S("_meta"));
    json_object_open(w);
    if (is_kept)
        json_put_members(w, meta.text, (struct str_list){ &without, 1 });
    if (is_added)
        put_added(w, change);
    json_object_close(w);
}

enum { MAX_WITHOUT = 8 };

/* All that stays as it is, and what is written anew. */
static void put_members(struct json_writer *w, const struct era_change *change,
                        struct json_span result)
{
    static const struct str modern_only[] = { S("resultType"), S("ttlMs"),
                                              S("cacheScope") };
    struct json_span tools = mcp_message_member(result, S("tools"));
    struct json_span structured = mcp_message_member(result, S("structuredContent"));
    struct str without[MAX_WITHOUT] = { S("_meta") };
    size_t count = 1;
    bool has_tools =
        str_eq(change->method, S("tools/list")) && mcp_message_is(tools, JSON_ARRAY);

    if (has_tools)
        without[count++] = S("tools");
    for (size_t i = 0; !change->is_modern_to && i < COUNT(modern_only); i++)
        without[count++] = modern_only[i];
    if (!change->is_modern_to && structured.text.ptr && structured.type != JSON_OBJECT)
        without[count++] = S("structuredContent");
    json_put_members(w, result.text, (struct str_list){ without, count });
    if (has_tools)
        put_tools(w, change, tools);
}

static void put_changed(struct buf *out, const struct era_change *change,
                        struct json_span result)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    if (str_eq(change->method, S("tasks/cancel")) && change->is_modern_to) {
        /* The extension answers this with nothing. */
        put_meta(&w, change, (struct json_span){});
    } else {
        if (!put_as_task(&w, change, result))
            put_members(&w, change, result);
        put_meta(&w, change, mcp_message_member(result, S("_meta")));
    }
    json_object_close(&w);
}

enum err era_put_result(struct buf *out, const struct era_change *change,
                        struct json_span result)
{
    struct result_of of = { .method = change->method, .is_modern = change->is_modern_to };
    struct buf changed;
    enum err err;

    if (!mcp_message_is(result, JSON_OBJECT))
        return ERR_INVALID;
    if (change->is_modern_from == change->is_modern_to) {
        buf_put(out, result.text);
        return OK;
    }
    buf_init(&changed, out->max);
    put_changed(&changed, change, result);
    err = changed.is_full ? ERR_TOO_BIG : result_write(out, &of, buf_str(&changed));
    buf_done(&changed);
    return err;
}

/* --- errors --- */

/* A resource that is not there: −32002, which the modern era calls invalid params with
 * the URI in `data` (ML-10). */
static bool is_not_found(const struct era_change *change, struct str code)
{
    return !change->is_modern_from && change->is_modern_to && str_eq(code, S("-32002")) &&
           str_eq(change->method, S("resources/read"));
}

/* The modern era has no such code: whoever can asks for the page instead (ML-06). */
static bool is_url_error(const struct era_change *change, struct str code)
{
    return change->is_modern_to && str_eq(code, S("-32042"));
}

/* What describes the hop to the server is none of the caller's business (LM-07); what he
 * cannot be asked is, where he is modern: he said so himself. */
static struct str code_for(const struct era_change *change, struct str code)
{
    static const struct str of_hop[] = { S("-32020"), S("-32022"), S("-32021") };
    size_t count = COUNT(of_hop) - (change->is_modern_to ? 1 : 0);

    for (size_t i = 0; change->is_modern_from && i < count; i++)
        if (str_eq(code, of_hop[i]))
            return S("-32603");
    if (is_url_error(change, code))
        return S("-32603");
    return is_not_found(change, code) ? S("-32602") : code;
}

/* The server's own data, and the URI where it does not stand there. */
static void put_not_found(struct json_writer *w, const struct era_change *change,
                          struct json_span data)
{
    bool is_object = mcp_message_is(data, JSON_OBJECT);

    json_key(w, S("data"));
    json_object_open(w);
    if (is_object)
        json_put_members(w, data.text, (struct str_list){});
    if (!is_object || !mcp_message_member(data, S("uri")).text.ptr)
        json_put_str(w, S("uri"), change->uri);
    json_object_close(w);
}

enum err era_put_error(struct buf *out, const struct era_change *change,
                       struct json_span error)
{
    static const struct str anew[] = { S("code"), S("data") };
    struct str_list without = { anew, 1 };
    struct json_span code;
    struct json_writer w;
    bool has_uri;

    if (!mcp_message_is(error, JSON_OBJECT))
        return ERR_INVALID;
    code = mcp_message_member(error, S("code"));
    if (!mcp_message_is(code, JSON_NUMBER))
        code.text = S("-32603");
    has_uri = is_not_found(change, code.text) && change->uri.len;
    without.count += has_uri;
    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, S("code"));
    json_raw(&w, code_for(change, code.text));
    json_put_members(&w, error.text, without);
    if (has_uri)
        put_not_found(&w, change, mcp_message_member(error, S("data")));
    json_object_close(&w);
    return OK;
}
