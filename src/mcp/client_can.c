/* SPDX-License-Identifier: Apache-2.0 */
/* What clients declare that they can be asked, and what a question needs (serve.h). */
#include "base/cleanup.h"
#include "json/json.h"
#include "mcp/serve.h"

#define TASKS S("io.modelcontextprotocol/tasks")

enum { REQUIRED = 1024 }; /* bytes of all that can be declared */

static bool has(struct json_span object, struct str name)
{
    return mcp_message_is(mcp_message_member(object, name), JSON_OBJECT);
}

static unsigned can_sample(struct json_span sampling)
{
    if (!mcp_message_is(sampling, JSON_OBJECT))
        return 0;
    return (unsigned)CAN_SAMPLE | (has(sampling, S("tools")) ? CAN_SAMPLE_TOOLS : 0u) |
           (has(sampling, S("context")) ? CAN_SAMPLE_CONTEXT : 0u);
}

/* Who names no mode means forms, as before there were others. */
static unsigned can_elicit(struct json_span elicitation)
{
    bool opens_urls;

    if (!mcp_message_is(elicitation, JSON_OBJECT))
        return 0;
    opens_urls = has(elicitation, S("url"));
    if (has(elicitation, S("form")) || !opens_urls)
        return (unsigned)CAN_FILL_FORMS | (opens_urls ? CAN_OPEN_URLS : 0u);
    return CAN_OPEN_URLS;
}

static unsigned can_roots(struct json_span roots)
{
    if (!mcp_message_is(roots, JSON_OBJECT))
        return 0;
    return (unsigned)CAN_LIST_ROOTS |
           (mcp_message_is(mcp_message_member(roots, S("listChanged")), JSON_TRUE)
                ? CAN_TELL_ROOTS
                : 0u);
}

unsigned client_can(struct json_span capable)
{
    if (!mcp_message_is(capable, JSON_OBJECT))
        return 0;
    return can_sample(mcp_message_member(capable, S("sampling"))) |
           can_elicit(mcp_message_member(capable, S("elicitation"))) |
           can_roots(mcp_message_member(capable, S("roots"))) |
           (has(mcp_message_member(capable, S("extensions")), TASKS) ? CAN_POLL_TASKS
                                                                     : 0u);
}

static void put_empty(struct json_writer *w, struct str key)
{
    json_key(w, key);
    json_raw(w, S("{}"));
}

/* An object of up to two empty objects, where the first bit is set. */
static void put_abilities(struct json_writer *w, struct str key,
                          const struct str names[2], const bool is_there[2])
{
    json_key(w, key);
    json_object_open(w);
    for (size_t i = 0; i < 2; i++)
        if (is_there[i])
            put_empty(w, names[i]);
    json_object_close(w);
}

void client_can_put(struct buf *out, unsigned can)
{
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    if (can & CAN_SAMPLE)
        put_abilities(&w, S("sampling"), (struct str[]){ S("tools"), S("context") },
                      (bool[]){ can & CAN_SAMPLE_TOOLS, can & CAN_SAMPLE_CONTEXT });
    if (can & (CAN_FILL_FORMS | CAN_OPEN_URLS))
        put_abilities(&w, S("elicitation"), (struct str[]){ S("form"), S("url") },
                      (bool[]){ can & CAN_FILL_FORMS, can & CAN_OPEN_URLS });
    if (can & CAN_LIST_ROOTS)
        put_empty(&w, S("roots"));
    if (can & CAN_POLL_TASKS)
        put_abilities(&w, S("extensions"), (struct str[]){ TASKS, S("") },
                      (bool[]){ true, false });
    json_object_close(&w);
}

void client_fail_missing(struct rpc_reply *reply, unsigned must)
{
    CLEANUP(buf_done) struct buf can, data;

    buf_init(&can, REQUIRED);
    buf_init(&data, REQUIRED);
    client_can_put(&can, must);
    buf_putf(&data, "{\"requiredCapabilities\":" STR_FMT "}", STR_ARG(buf_str(&can)));
    rpc_fail(reply, SERVE_MISSING_CAPABILITY, S("Missing required client capability"),
             buf_str(&data));
}

unsigned client_must(struct str method, struct json_span params)
{
    if (str_eq(method, S("roots/list")))
        return CAN_LIST_ROOTS;
    if (str_eq(method, S("sampling/createMessage"))) {
        bool has_tools = mcp_message_member(params, S("tools")).text.ptr ||
                         mcp_message_member(params, S("toolChoice")).text.ptr;

        return (unsigned)CAN_SAMPLE | (has_tools ? CAN_SAMPLE_TOOLS : 0u);
    }
    if (str_eq(method, S("elicitation/create"))) {
        struct json_span mode = mcp_message_member(params, S("mode"));

        return mcp_message_is(mode, JSON_STRING) && json_string_is(mode, S("url"))
                   ? CAN_OPEN_URLS
                   : CAN_FILL_FORMS;
    }
    return 0;
}
