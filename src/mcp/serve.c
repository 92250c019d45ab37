/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/serve.h"

#include <string.h>

#include "base/cleanup.h"
#include "json/json.h"
#include "mcp/headers.h"
#include "mcp/rpc.h"

#define META "io.modelcontextprotocol/"

enum { BAD = 400, NOT_ACCEPTABLE = 406, UNSUPPORTED_MEDIA = 415 };

/* One post that is judged. */
struct judging {
    const struct serve_post *post;
    struct serve_incoming *ret;
    struct buf *error;
};

/* --- errors --- */

void serve_put_error(struct buf *out, struct json_span id, int64_t code,
                     struct str message, struct str data)
{
    struct rpc_reply reply;

    rpc_reply_init(&reply, out->max);
    rpc_fail(&reply, code, message, data);
    if (id.text.ptr) {
        mcp_message_put_answer(out, id, S("error"), buf_str(&reply.json));
    } else {
        buf_put(out, S("{\"jsonrpc\":\"2.0\",\"error\":"));
        buf_put(out, buf_str(&reply.json));
        buf_putc(out, '}');
    }
    out->is_full |= reply.json.is_full;
    rpc_reply_done(&reply);
}

static unsigned refuse(const struct judging *j, unsigned status, int64_t code,
                       const char *why)
{
    serve_put_error(j->error, j->ret->message.id, code, str_of(why), S(""));
    return status;
}

unsigned serve_status(enum mcp_era era, int64_t code)
{
    if (era != ERA_MODERN)
        return 200;
    switch (code) {
    case SERVE_NOT_JSON:
    case SERVE_HEADER_MISMATCH:
    case SERVE_MISSING_CAPABILITY:
    case RPC_UNSUPPORTED_VERSION:
    case RPC_INVALID_REQUEST: return BAD;
    case RPC_METHOD_NOT_FOUND: return 404;
    default: return 200;
    }
}

/* --- step 4: media types --- */

/* q=0: "not this one" (RFC 9110 12.4.2). */
static bool is_excluded(struct str params)
{
    while (params.ptr) {
        struct str param = str_trim(str_cut(&params, ';'));
        size_t at = 2;

        if (!str_ieq(str_slice(param, 0, 2), S("q=")))
            continue;
        while (at < param.len && (param.ptr[at] == '0' || param.ptr[at] == '.'))
            at++;
        return at == param.len;
    }
    return false;
}

static bool accepts(struct str accept, struct str type, struct str family)
{
    while (accept.ptr) {
        struct str range = str_cut(&accept, ',');
        struct str name = str_trim(str_cut(&range, ';'));

        if ((str_ieq(name, type) || str_ieq(name, family) || str_eq(name, S("*/*"))) &&
            !is_excluded(range))
            return true;
    }
    return false;
}

bool serve_takes_events(struct str accept)
{
    return accepts(accept, S("text/event-stream"), S("text/*"));
}

static unsigned judge_media(const struct judging *j)
{
    struct str content = j->post->content_type;

    if (!j->post->is_http)
        return 0;
    if (!content.ptr || !str_ieq(str_trim(str_cut(&content, ';')), S("application/json")))
        return refuse(j, UNSUPPORTED_MEDIA, SERVE_REFUSED,
                      "Content-Type must be application/json");
    if (!accepts(j->post->accept, S("application/json"), S("application/*")) ||
        !serve_takes_events(j->post->accept))
        return refuse(j, NOT_ACCEPTABLE, SERVE_REFUSED,
                      "Accept must list application/json and text/event-stream");
    return 0;
}

/* --- the version of the header, where no claim is made --- */

static struct str header_version(const struct serve_post *post)
{
    return post->is_http ? str_trim(post->version) : (struct str){};
}

/* HTTP-34. The handshake is not bound by what an eager client writes there. */
static unsigned judge_legacy_version(const struct judging *j)
{
    struct str version = header_version(j->post);

    if (!version.ptr)
        return 0;
    for (size_t i = 0; i < MCP_VERSIONS; i++)
        if (str_eq(version, mcp_versions[i]))
            return 0;
    return refuse(j, BAD, SERVE_REFUSED, "MCP-Protocol-Version names an unknown version");
}

/* --- step 5: is it a message? --- */

static bool is_modern_version(struct str version)
{
    return str_eq(version, mcp_versions[0]);
}

static void read_legacy(const struct judging *j)
{
    j->ret->era = ERA_LEGACY;
    j->ret->version = j->post->agreed;
}

static unsigned judge_batch(const struct judging *j)
{
    struct mcp_message_walk walk;
    struct mcp_message message;
    struct str item;
    const char *what;
    size_t count = 0;
    enum err err;

    if (!str_eq(j->post->agreed, S("2025-03-26")))
        return refuse(j, BAD, RPC_INVALID_REQUEST,
                      "batches exist in sessions of 2025-03-26 alone");
    if (mcp_message_walk_begin(&walk, j->post->body, j->post->max_depth))
        return refuse(j, BAD, RPC_INVALID_REQUEST, "the batch is empty");
    while (mcp_message_walk_next(&walk, &item, &err)) {
        if (++count > SERVE_BATCH)
            return refuse(j, BAD, RPC_INVALID_REQUEST, "the batch is too long");
        if (mcp_message_read(item, j->post->max_depth, &message, &what))
            return refuse(j, BAD, RPC_INVALID_REQUEST, what);
        if (str_eq(message.method, S("initialize")))
            return refuse(j, BAD, RPC_INVALID_REQUEST, "initialize stands in a batch");
    }
    if (err)
        return refuse(j, BAD, SERVE_NOT_JSON, "the batch is not JSON");
    read_legacy(j);
    j->ret->is_batch = true;
    return judge_legacy_version(j);
}

/* What is no message is looked at again: why, and does it have an id? */
static unsigned judge_unreadable(const struct judging *j, const char *what)
{
    static const struct str id = S("id");
    struct json_scan scan;
    struct json_span whole, found;
    enum err err;

    json_scan_init(&scan, j->post->body, j->post->max_depth);
    err = json_value(&scan, &whole);
    if (!err)
        err = json_scan_end(&scan);
    if (err == ERR_TOO_DEEP)
        return refuse(j, BAD, RPC_INVALID_REQUEST, "it is nested too deeply");
    if (err)
        return refuse(j, BAD, SERVE_NOT_JSON, scan.what ? scan.what : "it is not JSON");
    if (whole.type == JSON_ARRAY)
        return judge_batch(j);
    if (whole.type != JSON_OBJECT)
        return refuse(j, BAD, RPC_INVALID_REQUEST, "it is no object");
    found = mcp_message_member(whole, id);
    if (found.text.ptr && (found.type == JSON_STRING || found.type == JSON_NUMBER))
        j->ret->message.id = found;
    return refuse(j, BAD, RPC_INVALID_REQUEST, what);
}

/* --- step 6: the era --- */

/* What a request says of itself. */
struct meta {
    struct json_span version, capable, client, level, progress;
};

static struct json_span *meta_member(struct meta *meta, struct json_span key)
{
    const struct {
        struct str name;
        struct json_span *span;
    } known[] = {
        { S("progressToken"), &meta->progress },
        { S(META "protocolVersion"), &meta->version },
        { S(META "clientCapabilities"), &meta->capable },
        { S(META "clientInfo"), &meta->client },
        { S(META "logLevel"), &meta->level },
    };

    for (size_t i = 0; i < COUNT(known); i++)
        if (json_string_is(key, known[i].name))
            return known[i].span;
    return NULL;
}

/* The first where a name stands twice, as mcp_message_find() has it. Answers have none,
 * whatever stands in them. */
static void read_meta(const struct mcp_message *message, struct meta *ret)
{
    static const struct str name = S("_meta");
    struct json_span meta = {};
    struct json_scan scan;
    struct json_member member;
    enum err err;

    if (message->type == MESSAGE_REQUEST || message->type == MESSAGE_NOTIFICATION)
        meta = mcp_message_member(message->params, name);
    if (!meta.text.ptr || meta.type != JSON_OBJECT)
        return;
    json_walk_init(&scan, meta);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &member, &err)) {
        struct json_span *span = meta_member(ret, member.key);

        if (span && !span->text.ptr)
            *span = member.value;
    }
}

static void read_progress(struct serve_incoming *ret, const struct meta *meta)
{
    if (mcp_message_is(meta->progress, JSON_STRING) ||
        mcp_message_is(meta->progress, JSON_NUMBER))
        ret->progress = meta->progress;
}

/* --- steps 7 to 9 --- */

static const struct str levels[] = {
    S("debug"), S("info"),     S("notice"), S("warning"),
    S("error"), S("critical"), S("alert"),  S("emergency"),
};

int serve_level(struct str name)
{
    for (size_t i = 0; i < COUNT(levels); i++)
        if (str_eq(name, levels[i]))
            return (int)i;
    return -1;
}

struct str serve_level_name(int level)
{
    return level >= 0 && (size_t)level < COUNT(levels) ? levels[level] : S("");
}

static unsigned refuse_version(const struct judging *j, struct str requested)
{
    CLEANUP(buf_done) struct buf data;
    struct json_writer w;

    buf_init(&data, j->error->max);
    json_write_init(&w, &data);
    json_object_open(&w);
    json_put_strs(&w, S("supported"), (struct str_list){ mcp_versions, 1 });
    json_key(&w, S("requested"));
    json_span(&w, (struct json_span){ .type = JSON_STRING, .text = requested });
    json_object_close(&w);
    serve_put_error(j->error, j->ret->message.id, RPC_UNSUPPORTED_VERSION,
                    S("this version is not spoken here"), buf_str(&data));
    return BAD;
}

static unsigned judge_meta(const struct judging *j, const struct meta *meta)
{
    struct str version = header_version(j->post);

    if (!mcp_message_is(meta->version, JSON_STRING))
        return refuse(j, BAD, RPC_INVALID_PARAMS,
                      "_meta: " META "protocolVersion is not a string");
    if (!mcp_message_is(meta->capable, JSON_OBJECT))
        return refuse(j, BAD, RPC_INVALID_PARAMS,
                      "_meta: " META "clientCapabilities is missing, or no object");
    if (version.ptr && !json_string_is(meta->version, version))
        return refuse(j, BAD, SERVE_HEADER_MISMATCH,
                      "MCP-Protocol-Version is not the version in _meta");
    if (!json_string_is(meta->version, mcp_versions[0]))
        return refuse_version(j, meta->version.text);
    if (meta->client.text.ptr && meta->client.type != JSON_OBJECT)
        return refuse(j, BAD, RPC_INVALID_PARAMS,
                      "_meta: " META "clientInfo is no object");
    if (meta->level.text.ptr &&
        (meta->level.type != JSON_STRING || serve_level(meta->level.text) < 0))
        return refuse(j, BAD, RPC_INVALID_PARAMS,
                      "_meta: " META "logLevel is no level of messages");
    return 0;
}

/* NULL, or what is wrong with Mcp-Name. Where the body names nothing there is nothing to
 * compare with; the handler says what it lacks. */
static const char *name_fault(const struct serve_post *post,
                              const struct mcp_message *message)
{
    struct str member = header_name_member(message->method);
    struct json_span name;

    if (!member.len)
        return NULL;
    name = mcp_message_member(message->params, member);
    if (!mcp_message_is(name, JSON_STRING))
        return post->name.ptr ? "Mcp-Name names what the body does not" : NULL;
    if (!post->name.ptr)
        return "Mcp-Name is missing";
    return header_says(post->name, name) ? NULL : "Mcp-Name is not what the body names";
}

/* Notifications need no Mcp-Method, but a wrong one is wrong. */
static const char *headers_fault(const struct serve_post *post,
                                 const struct mcp_message *message)
{
    bool is_request = message->type == MESSAGE_REQUEST;

    if (!post->version.ptr)
        return "MCP-Protocol-Version is missing";
    if (!post->method.ptr && is_request)
        return "Mcp-Method is missing";
    if (post->method.ptr && !str_eq(str_trim(post->method), message->method))
        return "Mcp-Method is not the method of the body";
    return is_request ? name_fault(post, message) : NULL;
}

static bool is_modern_method(struct str method)
{
    static const struct str methods[] = {
        S("tools/call"),
        S("tools/list"),
        S("resources/read"),
        S("resources/list"),
        S("prompts/get"),
        S("prompts/list"),
        S("server/discover"),
        S("subscriptions/listen"),
        S("resources/templates/list"),
        S("tasks/get"),
        S("tasks/update"),
        S("tasks/cancel"),
        S("completion/complete"),
    };

    for (size_t i = 0; i < COUNT(methods); i++)
        if (str_eq(method, methods[i]))
            return true;
    return false;
}

static unsigned judge_modern(const struct judging *j, const struct meta *meta)
{
    const struct mcp_message *message = &j->ret->message;
    unsigned status = judge_meta(j, meta);
    const char *fault;

    if (status)
        return status;
    fault = j->post->is_http ? headers_fault(j->post, message) : NULL;
    if (fault)
        return refuse(j, BAD, SERVE_HEADER_MISMATCH, fault);
    if (message->type == MESSAGE_REQUEST && !is_modern_method(message->method))
        return refuse(j, 404, RPC_METHOD_NOT_FOUND, "there is no such method");
    j->ret->era = ERA_MODERN;
    j->ret->version = mcp_versions[0];
    j->ret->capable = meta->capable;
    j->ret->client = meta->client;
    if (meta->level.text.ptr)
        j->ret->log_level = meta->level.text;
    return 0;
}

/* No claim, but a header of the modern era: the body lacks it (not a mismatch). */
static unsigned refuse_unclaimed(const struct judging *j, const struct meta *meta)
{
    if (meta->capable.text.ptr)
        return refuse(j, BAD, RPC_INVALID_PARAMS,
                      "params._meta lacks " META "protocolVersion");
    return refuse(j, BAD, RPC_INVALID_PARAMS,
                  "params._meta lacks " META "protocolVersion and " META
                  "clientCapabilities");
}

static unsigned judge_message(const struct judging *j)
{
    const struct mcp_message *message = &j->ret->message;
    bool is_request = message->type == MESSAGE_REQUEST;
    struct meta meta = {};

    read_meta(message, &meta);
    read_progress(j->ret, &meta);
    if (meta.version.text.ptr)
        return judge_modern(j, &meta);
    read_legacy(j);
    if (is_request && str_eq(message->method, S("initialize")))
        return 0;
    if (is_request && is_modern_version(header_version(j->post)))
        return refuse_unclaimed(j, &meta);
    return judge_legacy_version(j);
}

unsigned serve_judge(const struct serve_post *post, struct serve_incoming *ret,
                     struct buf *ret_error)
{
    struct judging j = { post, ret, ret_error };
    const char *what = NULL;
    unsigned status;

    *ret = (struct serve_incoming){};
    status = judge_media(&j);
    if (status)
        return status;
    if (mcp_message_read(post->body, post->max_depth, &ret->message, &what))
        return judge_unreadable(&j, what);
    return judge_message(&j);
}

bool serve_batch_next(const struct serve_incoming *batch, struct mcp_message_walk *walk,
                      struct serve_incoming *ret)
{
    struct meta meta = {};
    struct str item;
    const char *what;
    enum err err;

    *ret = (struct serve_incoming){ .era = batch->era, .version = batch->version };
    if (!mcp_message_walk_next(walk, &item, &err) ||
        mcp_message_read(item, JSON_MAX_DEPTH, &ret->message, &what))
        return false;
    read_meta(&ret->message, &meta);
    read_progress(ret, &meta);
    return true;
}

/* --- step 10 --- */

/* Trees are made only where the name of the annotation stands in the text: a tool that
 * spells it with escapes is its own loss. */
static bool has_annotation(struct str tool)
{
    return tool.len && memmem(tool.ptr, tool.len, "x-mcp-header", 12);
}

static const char *params_fault(const struct serve_post *post, struct str tool,
                                struct json_span arguments, struct arena *arena)
{
    const struct json *listed, *given = NULL;
    struct json_problem problem = {};

    if (json_parse(tool, arena, &listed, NULL))
        return NULL;
    if (mcp_message_is(arguments, JSON_OBJECT) &&
        json_parse(arguments.text, arena, &given, &problem))
        return problem.what ? problem.what : "the arguments are too large";
    return header_params_fault(listed, given, post->params, post->param_count);
}

unsigned serve_judge_params(const struct serve_post *post,
                            const struct serve_incoming *incoming, struct str tool,
                            struct buf *ret_error)
{
    static const struct str name = S("arguments");
    struct json_span arguments;
    struct arena arena;
    const char *fault;

    if (!post->is_http || incoming->era != ERA_MODERN || !has_annotation(tool))
        return 0;
    arguments = mcp_message_member(incoming->message.params, name);
    /* A node of the tree is at most 64 times what its text takes. */
    arena_init(&arena, (tool.len + arguments.text.len + 1024) * 64);
    fault = params_fault(post, tool, arguments, &arena);
    if (fault)
        serve_put_error(ret_error, incoming->message.id, SERVE_HEADER_MISMATCH,
                        str_of(fault), S(""));
    arena_done(&arena);
    return fault ? BAD : 0;
}
