/* SPDX-License-Identifier: Apache-2.0 */
/*
 * -32042: pages are to be opened, then the call is to be made again. The modern era has
 * no such error: a result wants input, and the next call is the same one (MCP.md ML-06).
 * Nothing is kept of it: what a legacy server gets of the retry is the first request.
 */
#include <stdio.h>

#include "base/cleanup.h"
#include "bridge/bridge_priv.h"
#include "mcp/question.h"
#include "mcp/serve.h"

enum { KEY = 24 };

static struct json_span find_pages(struct json_span error)
{
    static const struct str path[] = { S("data"), S("elicitations") };

    return mcp_message_find(error, path, COUNT(path));
}

static bool is_url_error(struct json_span error)
{
    static const struct str path[] = { S("code") };

    return str_eq(mcp_message_find(error, path, COUNT(path)).text, S("-32042"));
}

/* A URL that nobody is to be shown is not shown in an error either. */
static bool refuse(struct bridged *call, struct json_span error)
{
    CLEANUP(buf_done) struct buf why;
    CLEANUP(buf_done) struct buf message;

    buf_init(&why, QUESTION_WHY);
    buf_init(&message, QUESTION_WHY + 64);
    if (bridge_elicits(call->bridge, error, call->to[0], &why))
        return false;
    buf_putf(&message, "the server's -32042 cannot be shown: " STR_FMT,
             STR_ARG(buf_str(&why)));
    bridged_fail(call, RPC_INTERNAL, buf_str(&message));
    return true;
}

static void put_page(struct json_writer *w, struct json_span page, unsigned number)
{
    static const struct str without[] = { S("elicitationId") };
    char key[KEY];

    (void)snprintf(key, sizeof(key), "q%u", number);
    json_key(w, str_of(key));
    json_object_open(w);
    json_put_str(w, S("method"), S("elicitation/create"));
    json_key(w, S("params"));
    json_object_open(w);
    json_put_members(w, page.text, (struct str_list){ without, COUNT(without) });
    json_object_close(w);
    json_object_close(w);
}

/* How many there are. */
static unsigned put_pages(struct json_writer *w, struct json_span pages)
{
    unsigned count = 0;
    struct json_scan scan;
    struct json_span page;
    enum err err;

    json_scan_init(&scan, pages.text, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &page, &err))
        put_page(w, page, ++count);
    return count;
}

static bool give_pages(struct bridged *call, struct json_span pages)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;
    unsigned count;

    buf_init(&out, bridge_answer_bytes(call->bridge));
    json_write_init(&w, &out);
    json_object_open(&w);
    json_put_str(&w, S("resultType"), S("input_required"));
    json_key(&w, S("inputRequests"));
    json_object_open(&w);
    count = put_pages(&w, pages);
    json_object_close(&w);
    bridge_put_meta(call->bridge, &w);
    json_object_close(&w);
    if (!count || out.is_full)
        return false;
    bridged_answer(call, S("result"), buf_str(&out));
    return true;
}

static void give_missing(struct bridged *call)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, bridge_answer_bytes(call->bridge));
    client_fail_missing(&reply, CAN_OPEN_URLS);
    bridged_answer(call, S("error"), buf_str(&reply.json));
}

/* What may want input (MCP 2026-07-28, basic/patterns/mrtr). */
static bool can_want_input(struct str method)
{
    return str_eq(method, S("tools/call")) || str_eq(method, S("prompts/get")) ||
           str_eq(method, S("resources/read"));
}

bool bridge_turn_urls(struct bridged *call, struct json_span error)
{
    if (!is_url_error(error))
        return false;
    if (refuse(call, error))
        return true;
    if (!call->is_modern || !can_want_input(call->method))
        return false;
    if (call->can & CAN_OPEN_URLS)
        return give_pages(call, find_pages(error));
    give_missing(call);
    return true;
}
