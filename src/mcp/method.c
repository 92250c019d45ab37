/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The methods that a catalogue answers, or finds somebody to answer.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "mcp/catalogue_priv.h"

/* A request that is being answered. */
struct question {
    const struct catalogue *c;
    const struct rpc_request *request;
    size_t page_bytes;
    struct arena *scratch;
    struct rpc_reply *reply;
    const struct catalogue_item *item; /* who is to answer */
};

/* A row of the table below. */
struct method {
    struct str name;
    bool is_modern; /* too; all belong to the legacy line or do no harm there */
    void (*answer)(struct question *q, const struct method *m);
    enum offer_type type;
    struct str member; /* lists: what holds the items; calls: what names one */
};

static void invalid(struct question *q, struct str message)
{
    rpc_fail(q->reply, RPC_INVALID_PARAMS, message, S(""));
}

/* --- who we are
 * ------------------------------------------------------------------------- */

static void put_server_info(const struct catalogue *c, struct json_writer *w)
{
    json_object_open(w);
    json_put_str(w, S("name"), str_of(c->name));
    json_put_str(w, S("version"), str_of(c->version));
    json_object_close(w);
}

static void put_capability(struct json_writer *w, struct str name, bool is_there)
{
    if (!is_there)
        return;
    json_key(w, name);
    json_object_open(w);
    json_put_bool(w, S("listChanged"), true);
    json_object_close(w);
}

static void put_capabilities(const struct catalogue *c, struct json_writer *w)
{
    const struct shelf *shelves = c->shelves;

    json_key(w, S("capabilities"));
    json_object_open(w);
    put_capability(w, S("tools"), shelves[OFFER_TOOL].was_used);
    put_capability(w, S("resources"),
                   shelves[OFFER_RESOURCE].was_used || shelves[OFFER_TEMPLATE].was_used);
    put_capability(w, S("prompts"), shelves[OFFER_PROMPT].was_used);
    json_object_close(w);
}

/* The same version where it is known, else the newest of that era. */
static struct str agree_on(struct str version)
{
    for (size_t i = 1; i < MCP_VERSIONS; i++)
        if (str_eq(version, mcp_versions[i]))
            return mcp_versions[i];
    return mcp_versions[1];
}

static void initialize(struct question *q, const struct method *)
{
    const struct json *version = json_find(q->request->params, S("protocolVersion"));
    struct json_writer w;

    if (!version || version->type != JSON_STRING) {
        invalid(q, S("protocolVersion is missing"));
        return;
    }
    json_write_init(&w, &q->reply->json);
    json_object_open(&w);
    json_put_str(&w, S("protocolVersion"), agree_on(version->text));
    put_capabilities(q->c, &w);
    json_key(&w, S("serverInfo"));
    put_server_info(q->c, &w);
    json_object_close(&w);
}

static void ping(struct question *q, const struct method *)
{
    buf_put(&q->reply->json, S("{}"));
}

static void discover(struct question *q, const struct method *)
{
    struct json_writer w;

    json_write_init(&w, &q->reply->json);
    json_object_open(&w);
    json_put_strs(&w, S("supportedVersions"),
                  (struct str_list){ mcp_versions, MCP_VERSIONS });
    put_capabilities(q->c, &w);
    json_key(&w, S("_meta"));
    json_object_open(&w);
    json_key(&w, S("io.modelcontextprotocol/serverInfo"));
    put_server_info(q->c, &w);
    json_object_close(&w);
    json_object_close(&w);
}

/* --- lists
 * ------------------------------------------------------------------------------ */

/* A cursor is the serial of the last item that was told: what is added or removed
 * meanwhile moves nothing. */
static bool read_cursor(struct question *q, uint64_t *ret_after)
{
    const struct json *cursor = json_find(q->request->params, S("cursor"));

    *ret_after = 0;
    if (!cursor)
        return true;
    if (cursor->type == JSON_STRING &&
        !str_to_u64(cursor->text, q->c->serials, ret_after))
        return true;
    invalid(q, S("the cursor is none of ours"));
    return false;
}

static void put_cursor(struct json_writer *w, uint64_t after)
{
    char text[24];
    int len = snprintf(text, sizeof(text), "%" PRIu64, after);

    json_put_str(w, S("nextCursor"), (struct str){ text, (size_t)len });
}

/* True: there is more. */
static bool put_page(const struct question *q, enum offer_type type,
                     struct json_writer *w, uint64_t *after)
{
    const struct catalogue_item *item;
    bool is_first = true;

    LIST_FOREACH(item, &q->c->shelves[type].items, link) {
        if (item->serial <= *after)
            continue;
        if (!is_first && q->reply->json.len + item->json.len > q->page_bytes)
            return true;
        json_raw(w, item->json);
        *after = item->serial;
        is_first = false;
    }
    return false;
}

static void list(struct question *q, const struct method *m)
{
    struct json_writer w;
    uint64_t after;
    bool has_more;

    if (!read_cursor(q, &after))
        return;
    json_write_init(&w, &q->reply->json);
    json_object_open(&w);
    json_key(&w, m->member);
    json_array_open(&w);
    has_more = put_page(q, m->type, &w, &after);
    json_array_close(&w);
    if (has_more)
        put_cursor(&w, after);
    json_object_close(&w);
}

/* --- calls
 * ------------------------------------------------------------------------------ */

/* What was asked for is named in an error's data, for readers of logs. */
static void unknown(struct question *q, const struct method *m, struct str name)
{
    CLEANUP(buf_done) struct buf data;
    struct json_writer w;

    buf_init(&data, name.len * 6 + 64);
    json_write_init(&w, &data);
    json_object_open(&w);
    json_put_str(&w, m->member, name);
    json_object_close(&w);
    rpc_fail(q->reply, RPC_INVALID_PARAMS, S("there is no such thing here"),
             buf_str(&data));
}

static const struct catalogue_item *find(const struct question *q, const struct method *m,
                                         struct str name)
{
    if (m->type == OFFER_RESOURCE)
        return catalogue_find_resource(q->c, name);
    return catalogue_find(q->c, m->type, name);
}

static void call(struct question *q, const struct method *m)
{
    const struct json *name = json_find(q->request->params, m->member);
    const struct json *arguments = json_find(q->request->params, S("arguments"));
    const struct catalogue_item *item;

    if (!name || name->type != JSON_STRING) {
        invalid(q, S("params do not name what is meant"));
        return;
    }
    if (arguments && arguments->type != JSON_OBJECT) {
        invalid(q, S("arguments are not an object"));
        return;
    }
    item = find(q, m, name->text);
    if (!item) {
        unknown(q, m, name->text);
        return;
    }
    q->item = item;
}

static bool is_true(const struct json *json)
{
    return json && json->type == JSON_TRUE;
}

/* MCP 2025-11-25, server/prompts: values are texts, and required ones are there. */
static bool has_required(const struct question *q)
{
    const struct json *given = json_find(q->request->params, S("arguments"));
    const struct json *known;

    if (given)
        JSON_FOREACH(argument, given)
            if (argument->type != JSON_STRING)
                return false;
    if (!q->item->arguments.len ||
        json_parse(q->item->arguments, q->scratch, &known, NULL))
        return true;
    JSON_FOREACH(argument, known)
        if (is_true(json_find(argument, S("required"))) &&
            !json_find(given, json_find(argument, S("name"))->text))
            return false;
    return true;
}

static void get_prompt(struct question *q, const struct method *m)
{
    call(q, m);
    if (!q->item || has_required(q))
        return;
    q->item = NULL;
    invalid(q, S("an argument that is required is missing, or one is no text"));
}

/* --- which
 * ------------------------------------------------------------------------------ */

/* clang-format off */
static const struct method methods[] = {
    { S("initialize"),               false, initialize, 0,              S("") },
    { S("ping"),                     false, ping,       0,              S("") },
    { S("server/discover"),          true,  discover,   0,              S("") },
    { S("tools/list"),               true,  list,       OFFER_TOOL,     S("tools") },
    { S("resources/list"),           true,  list,       OFFER_RESOURCE, S("resources") },
    { S("resources/templates/list"), true,  list,       OFFER_TEMPLATE, S("resourceTemplates") },
    { S("prompts/list"),             true,  list,       OFFER_PROMPT,   S("prompts") },
    { S("tools/call"),               true,  call,       OFFER_TOOL,     S("name") },
    { S("resources/read"),           true,  call,       OFFER_RESOURCE, S("uri") },
    { S("prompts/get"),              true,  get_prompt, OFFER_PROMPT,   S("name") },
};
/* clang-format on */

static const struct method *find_method(struct str name)
{
    for (size_t i = 0; i < COUNT(methods); i++)
        if (str_eq(methods[i].name, name))
            return &methods[i];
    return NULL;
}

bool catalogue_has(const struct catalogue *c, struct str method)
{
    const struct method *m = find_method(method);

    return !m || m->answer != list || catalogue_count(c, m->type) > 0;
}

/* MCP 2026-07-28, basic/versioning: a revision that is claimed and not known. */
static bool is_version_known(struct question *q)
{
    CLEANUP(buf_done) struct buf data;
    struct str version = q->request->version;
    struct json_writer w;

    buf_init(&data, version.len * 6 + 256);
    for (size_t i = 0; i < MCP_VERSIONS; i++)
        if (version.len == 0 || str_eq(version, mcp_versions[i]))
            return true;
    json_write_init(&w, &data);
    json_object_open(&w);
    json_put_strs(&w, S("supported"), (struct str_list){ mcp_versions, MCP_VERSIONS });
    json_put_str(&w, S("requested"), version);
    json_object_close(&w);
    rpc_fail(q->reply, RPC_UNSUPPORTED_VERSION, S("unsupported protocol version"),
             buf_str(&data));
    return false;
}

enum catalogue_verdict catalogue_ask(const struct catalogue *c,
                                     const struct rpc_request *request, size_t page_bytes,
                                     struct arena *scratch, struct rpc_reply *ret_reply,
                                     const struct catalogue_item **ret_item)
{
    struct question q = { c, request, page_bytes, scratch, ret_reply, NULL };
    const struct method *m = find_method(request->method);

    if (!m)
        return CATALOGUE_OTHER;
    if (!is_version_known(&q))
        return CATALOGUE_ANSWERED;
    if (rpc_is_modern(request) && !m->is_modern) {
        rpc_fail(ret_reply, RPC_METHOD_NOT_FOUND, S("method not found"), S(""));
        return CATALOGUE_ANSWERED;
    }
    m->answer(&q, m);
    *ret_item = q.item;
    return q.item ? CATALOGUE_FOUND : CATALOGUE_ANSWERED;
}
