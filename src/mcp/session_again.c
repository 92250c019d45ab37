/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors that say how a modern server wants to be asked (MCP.md LM-07): -32022, in
 * another version; -32020, with the headers that its tools want now, so they are listed
 * again. What was refused that way did not run.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "mcp/session_parts.h"

bool again_lists(struct json_span versions, struct str version)
{
    struct json_scan scan;
    struct json_span item;
    enum err err;

    if (!versions.text.ptr || versions.type != JSON_ARRAY)
        return false;
    json_scan_init(&scan, versions.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err))
        if (item.type == JSON_STRING && json_string_is(item, version))
            return true;
    return false;
}

/* --- the tools once more --- */

static void list_tools(struct mcp_session *session, struct call *call,
                       struct json_span cursor);

/* Names are compared as they stand: both are of the same server. */
static struct json_span tool_in(const struct call *call, struct json_span tools)
{
    struct json_span old = { .type = JSON_OBJECT, .text = call->tool };
    struct str name = mcp_message_member(old, S("name")).text;
    struct json_scan scan;
    struct json_span item;
    enum err err;

    if (!tools.text.ptr || tools.type != JSON_ARRAY)
        return (struct json_span){};
    json_scan_init(&scan, tools.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err))
        if (item.type == JSON_OBJECT &&
            str_eq(mcp_message_member(item, S("name")).text, name))
            return item;
    return (struct json_span){};
}

static void keep_tool(struct call *call, struct str tool)
{
    free(call->relisted);
    call->relisted = str_dup(tool);
    call->tool = (struct str){ call->relisted, tool.len };
}

static void on_tools(struct mcp_session *session, struct call *call,
                     const struct answer *answer)
{
    struct json_span cursor = {};
    struct json_span tool = {};

    if (answer->type == ANSWER_RESULT) {
        tool = tool_in(call, mcp_message_member(answer->json, S("tools")));
        cursor = mcp_message_member(answer->json, S("nextCursor"));
    }
    if (tool.text.ptr) {
        keep_tool(call, tool.text);
        call_resend(session, call, S(""));
    } else if (cursor.text.ptr && cursor.type == JSON_STRING) {
        list_tools(session, call, cursor);
    } else {
        call_fail(session, call, "header_mismatch", "the server does not list this tool");
    }
}

/* Its time bounds the pages. */
static void list_tools(struct mcp_session *session, struct call *call,
                       struct json_span cursor)
{
    struct errand_order order = { .method = S("tools/list"),
                                  .call = call,
                                  .until_ms = UINT64_MAX,
                                  .on_answer = on_tools };
    struct buf more;

    buf_init(&more, session->settings.max_message);
    if (cursor.text.ptr) {
        buf_put(&more, S("\"cursor\":\""));
        buf_put(&more, cursor.text);
        buf_putc(&more, '"');
    }
    order.params =
        session_params(session, &(struct params_change){ .more = buf_str(&more) });
    if (errand_send(session, &order, &call->errand))
        call_give_up(session, call, "the tools could not be listed again");
    buf_done(&more);
}

bool again_hear(struct mcp_session *session, struct call *call, struct json_span error)
{
    static const struct str supported[] = { S("data"), S("supported") };
    struct str code = mcp_message_member(error, S("code")).text;

    if (!session_is_modern(session) || call->was_again || call->round.count)
        return false;
    if (str_eq(code, S("-32022")) &&
        again_lists(mcp_message_find(error, supported, COUNT(supported)),
                    mcp_versions[0])) {
        call->was_again = true;
        call_resend(session, call, S(""));
        return true;
    }
    if (str_eq(code, S("-32020")) && call->tool.len) {
        call->was_again = true;
        list_tools(session, call, (struct json_span){});
        return true;
    }
    return false;
}
