/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What callers say of themselves with each request: in the modern era all of it, in
 * `_meta`; of the legacy line what they can be asked, where somebody who knows puts it
 * there. Modern servers are told so in place of what we could be asked ourselves. A
 * modern caller gets what such a server wants to know (`input_required`) as his result;
 * for everybody else it is asked.
 */
#include "base/cleanup.h"
#include "bridge/bridge_priv.h"
#include "mcp/question.h"
#include "mcp/serve.h"

#define META "io.modelcontextprotocol/"

static const struct json *meta_find(const struct rpc_request *request, struct str name)
{
    return json_find(json_find(request->params, S("_meta")), name);
}

static const struct json *capable_of(const struct rpc_request *request)
{
    const struct json *capable = meta_find(request, S(META "clientCapabilities"));

    return capable && capable->type == JSON_OBJECT ? capable : NULL;
}

void claim_read(struct bridged *call, const struct rpc_request *request)
{
    const struct json *capable = capable_of(request);

    call->is_client = capable;
    call->is_modern = rpc_is_modern(request);
    call->level = call->is_modern
                      ? serve_level(json_text(meta_find(request, S(META "logLevel"))))
                      : -1;
    if (capable)
        call->can =
            client_can((struct json_span){ .type = capable->type, .text = capable->raw });
}

/* --- what he can be asked --- */

/* Tasks of servers are followed for whoever does not look after them himself. */
static void put_extensions(struct json_writer *w, const struct json *capable)
{
    static const struct str tasks = S(META "tasks");
    const struct json *others = json_find(capable, S("extensions"));

    json_key(w, S("extensions"));
    json_object_open(w);
    if (others && others->type == JSON_OBJECT)
        json_put_members(w, others->raw, (struct str_list){ &tasks, 1 });
    json_key(w, tasks);
    json_raw(w, S("{}"));
    json_object_close(w);
}

static void put_capable(struct buf *out, const struct bridge *b,
                        const struct json *capable, bool is_modern)
{
    static const struct str anew[] = { S("extensions") };
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_members(&w, capable->raw, (struct str_list){ anew, is_modern ? 0 : 1 });
    if (bridge_has_roots(b) && !json_find(capable, S("roots"))) {
        json_key(&w, S("roots"));
        json_raw(&w, S("{}"));
    }
    if (!is_modern)
        put_extensions(&w, capable);
    json_object_close(&w);
}

static struct str level_of(const struct bridged *call)
{
    const struct guest *guest = guest_find(call->bridge, call->to[0]);

    return guest && !call->is_modern ? serve_level_name(guest->level) : S("");
}

void bridged_claim(const struct bridged *call, const struct rpc_request *request,
                   struct mcp_call *mcp, struct buf *out)
{
    const struct bridge *b = call->bridge;
    const struct json *capable = capable_of(request);

    mcp->log_level = level_of(call);
    if (!capable)
        return;
    put_capable(out, b, capable, call->is_modern);
    if (out->is_full)
        return;
    mcp->capable = buf_str(out);
    mcp->takes_unfinished = call->is_modern;
    mcp->answers_roots = bridge_has_roots(b);
}

/* --- what he is asked --- */

/* In the legacy shape, which has an id with a URL. */
static bool entry_fits(struct json_span entry, struct buf *why)
{
    struct json_span method = mcp_message_member(entry, S("method"));
    struct json_span params = mcp_message_member(entry, S("params"));
    CLEANUP(arena_done) struct arena scratch;
    CLEANUP(buf_done) struct buf legacy;
    struct json_writer w;

    arena_init(&scratch, entry.text.len * BRIDGE_TREE + (1 << 16));
    buf_init(&legacy, entry.text.len + 64);
    json_write_init(&w, &legacy);
    json_object_open(&w);
    if (params.text.ptr && params.type == JSON_OBJECT)
        json_put_members(&w, params.text, (struct str_list){});
    if (params.text.ptr && !mcp_message_member(params, S("elicitationId")).text.ptr)
        json_put_str(&w, S("elicitationId"), S("-"));
    json_object_close(&w);
    return method.text.ptr && method.type == JSON_STRING &&
           !question_check(method.text, buf_str(&legacy), &scratch, why);
}

static bool entries_fit(struct json_span requests, struct buf *why)
{
    bool is_fit = true;
    struct json_scan scan;
    struct json_member entry;
    enum err err;

    if (!requests.text.ptr || requests.type != JSON_OBJECT)
        return true;
    json_scan_init(&scan, requests.text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && is_fit && json_object_next(&scan, &entry, &err))
        is_fit = entry_fits(entry.value, why);
    return is_fit;
}

bool bridged_input_fits(struct bridged *call, struct json_span result)
{
    struct bridge *b = call->bridge;
    struct json_span type = mcp_message_member(result, S("resultType"));
    CLEANUP(buf_done) struct buf why;
    CLEANUP(buf_done) struct buf message;

    buf_init(&why, QUESTION_WHY);
    buf_init(&message, QUESTION_WHY + 64);
    if (b->facts.era != ERA_MODERN || !type.text.ptr || type.type != JSON_STRING ||
        !json_string_is(type, S("input_required")) ||
        entries_fit(mcp_message_member(result, S("inputRequests")), &why))
        return true;
    buf_putf(&message, "the server's question cannot be asked: " STR_FMT,
             STR_ARG(buf_str(&why)));
    b->counts.dropped++;
    bridge_note(b, STR_FMT, STR_ARG(buf_str(&message)));
    bridged_fail(call, RPC_INTERNAL, buf_str(&message));
    return false;
}
