/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/rpc.h"

#include "base/cleanup.h"

const struct str mcp_versions[MCP_VERSIONS] = {
    { "2026-07-28", 10 }, { "2025-11-25", 10 }, { "2025-06-18", 10 },
    { "2025-03-26", 10 }, { "2024-11-05", 10 },
};

/* The members of a request that are read; each may stand once. */
struct members {
    struct json_span jsonrpc, id, method, params;
};

static struct json_span *member_of(struct members *m, struct json_span key)
{
    const struct {
        struct str name;
        struct json_span *span;
    } known[] = {
        { S("jsonrpc"), &m->jsonrpc },
        { S("id"), &m->id },
        { S("method"), &m->method },
        { S("params"), &m->params },
    };

    for (size_t i = 0; i < COUNT(known); i++)
        if (json_string_is(key, known[i].name))
            return known[i].span;
    return NULL;
}

/* NULL, or what is wrong. All of it is read, so that an id is known where there is one.
 */
static const char *read_members(struct str payload, struct members *ret)
{
    const char *what = NULL;
    struct json_scan scan;
    struct json_member member;
    enum err err;

    json_scan_init(&scan, payload, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &member, &err)) {
        struct json_span *span = member_of(ret, member.key);

        if (!span)
            continue;
        if (span->text.ptr)
            what = "a name stands twice";
        *span = member.value;
    }
    if (!err)
        err = json_scan_end(&scan);
    return err ? "the payload is no JSON object" : what;
}

static const char *check_members(const struct members *m)
{
    if (m->jsonrpc.type != JSON_STRING || !json_string_is(m->jsonrpc, S("2.0")))
        return "jsonrpc is not \"2.0\"";
    if (m->id.text.ptr && m->id.type != JSON_STRING && m->id.type != JSON_NUMBER)
        return "id is neither a string nor a number";
    if (m->method.type != JSON_STRING)
        return "method is not a string";
    if (m->params.text.ptr && m->params.type != JSON_OBJECT)
        return "params is not an object";
    return NULL;
}

/* What MCP itself puts into every request. */
static void read_meta(struct rpc_request *request)
{
    const struct json *meta = json_find(request->params, S("_meta"));
    const struct json *version =
        json_find(meta, S("io.modelcontextprotocol/protocolVersion"));
    const struct json *token = json_find(meta, S("progressToken"));

    if (version && version->type == JSON_STRING)
        request->version = version->text;
    if (token && (token->type == JSON_STRING || token->type == JSON_NUMBER))
        request->progress = token;
}

static enum err read_params(struct json_span params, struct arena *arena,
                            struct rpc_request *request, const char **ret_what)
{
    struct json_problem problem = {};
    enum err err;

    if (!params.text.ptr)
        return OK;
    err = json_parse(params.text, arena, &request->params, &problem);
    if (err == ERR_TOO_BIG)
        return err;
    if (err) {
        *ret_what = problem.what;
        return ERR_INVALID;
    }
    read_meta(request);
    return OK;
}

enum err rpc_read(struct str payload, struct arena *arena, struct rpc_request *ret,
                  const char **ret_what)
{
    struct members m = {};
    const char *what = read_members(payload, &m);

    *ret = (struct rpc_request){};
    if (!what)
        what = check_members(&m);
    if (m.id.type == JSON_STRING || m.id.type == JSON_NUMBER)
        ret->id = m.id;
    if (what) {
        *ret_what = what;
        return ERR_INVALID;
    }
    if (json_unescape(m.method, arena, &ret->method))
        return ERR_TOO_BIG;
    return read_params(m.params, arena, ret, ret_what);
}

void rpc_reply_init(struct rpc_reply *reply, size_t max)
{
    reply->is_error = false;
    buf_init(&reply->json, max);
}

void rpc_reply_done(struct rpc_reply *reply)
{
    buf_done(&reply->json);
}

void rpc_fail(struct rpc_reply *reply, int64_t code, struct str message, struct str data)
{
    struct json_writer w;

    buf_clear(&reply->json);
    reply->is_error = true;
    json_write_init(&w, &reply->json);
    json_object_open(&w);
    json_key(&w, S("code"));
    buf_putf(&reply->json, "%lld", (long long)code);
    w.needs_comma = true;
    json_put_str(&w, S("message"), message);
    if (data.len) {
        json_key(&w, S("data"));
        json_raw(&w, data);
    }
    json_object_close(&w);
}
