/* SPDX-License-Identifier: Apache-2.0 */
/* What a request of ours says besides what its caller wants: the progress token, and in
 * the modern era who asks, in which revision and what he can be asked (MCP.md LM-02). */
#include "mcp/session_parts.h"

#define META "io.modelcontextprotocol/"

void session_put_client(const struct mcp_session *session, struct json_writer *w)
{
    json_object_open(w);
    json_put_str(w, S("name"), session->settings.name);
    json_put_str(w, S("version"), session->settings.version);
    json_object_close(w);
}

static void put_empty(struct json_writer *w, struct str key)
{
    json_key(w, key);
    json_raw(w, S("{}"));
}

static void put_elicitation(const struct mcp_session *session, struct json_writer *w)
{
    json_key(w, S("elicitation"));
    json_object_open(w);
    put_empty(w, S("form"));
    if (session->settings.has_url_elicitation)
        put_empty(w, S("url"));
    json_object_close(w);
}

/* Legacy tasks need no word of ours: a client declares only what it runs as a task
 * itself, which is nothing (TASK-01). */
void session_put_capabilities(const struct mcp_session *session, struct json_writer *w)
{
    const struct mcp_session_settings *settings = &session->settings;
    bool is_modern = session_is_modern(session);

    json_object_open(w);
    if (settings->has_sampling) {
        json_key(w, S("sampling"));
        json_raw(w, S("{\"tools\":{}}"));
    }
    if (settings->has_elicitation)
        put_elicitation(session, w);
    if (settings->has_roots) {
        json_key(w, S("roots"));
        json_raw(w, is_modern ? S("{}") : S("{\"listChanged\":true}"));
    }
    if (settings->has_tasks && is_modern) {
        json_key(w, S("extensions"));
        json_raw(w, S("{\"" META "tasks\":{}}"));
    }
    json_object_close(w);
}

/* The modern claim. The level of logs is the caller's where he names one. */
static void put_claim(const struct mcp_session *session, struct json_writer *w,
                      struct json_span level, const struct params_change *change)
{
    struct str known =
        change->log_level.len ? change->log_level : session->settings.log_level;

    json_put_str(w, S(META "protocolVersion"), session->facts.version);
    json_key(w, S(META "clientInfo"));
    session_put_client(session, w);
    json_key(w, S(META "clientCapabilities"));
    if (change->capable.len)
        json_raw(w, change->capable);
    else
        session_put_capabilities(session, w);
    if (level.text.ptr) {
        json_key(w, S(META "logLevel"));
        json_span(w, level);
    } else if (known.len) {
        json_put_str(w, S(META "logLevel"), known);
    }
}

static const struct str ours[] = {
    S("progressToken"),           S(META "protocolVersion"), S(META "clientInfo"),
    S(META "clientCapabilities"), S(META "logLevel"),
};

static bool is_ours(struct json_span key)
{
    for (size_t i = 0; i < COUNT(ours); i++)
        if (json_string_is(key, ours[i]))
            return true;
    return false;
}

/* What was said to us alone is not said to a legacy server, not even that it was. */
static bool is_for_us(struct json_span meta)
{
    bool is_empty = true;
    struct json_scan scan;
    struct json_member m;
    enum err err;

    if (meta.type != JSON_OBJECT)
        return false;
    json_walk_init(&scan, meta);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err)) {
        if (!is_ours(m.key))
            return false;
        is_empty = false;
    }
    return !is_empty;
}

static void put_meta(const struct mcp_session *session, struct json_writer *w,
                     struct json_span meta, const struct params_change *change)
{
    json_key(w, S("_meta"));
    json_object_open(w);
    if (meta.text.ptr && meta.type == JSON_OBJECT)
        json_put_members(w, meta.text, (struct str_list){ ours, COUNT(ours) });
    if (change->token)
        json_put_uint(w, S("progressToken"), change->token);
    if (session_is_modern(session))
        put_claim(session, w, mcp_message_find(meta, &ours[COUNT(ours) - 1], 1), change);
    json_object_close(w);
}

struct str session_params(struct mcp_session *session, const struct params_change *change)
{
    static const struct str name = S("_meta");
    struct json_span all = { .type = JSON_OBJECT, .text = change->params };
    struct json_span meta = {};
    struct str without[8] = { S("_meta") };
    struct json_writer w;

    buf_clear(&session->params);
    session->params.is_full = false;
    if (change->params.len)
        meta = mcp_message_member(all, name);
    if (!change->params.len && !change->more.len && !change->token &&
        !session_is_modern(session))
        return S("");
    for (size_t i = 0; i < change->without.count; i++)
        without[i + 1] = change->without.items[i];
    json_write_init(&w, &session->params);
    json_object_open(&w);
    if (change->params.len)
        json_put_members(&w, change->params,
                         (struct str_list){ without, change->without.count + 1 });
    if (change->more.len)
        json_raw(&w, change->more);
    if ((meta.text.ptr && !is_for_us(meta)) || change->token ||
        session_is_modern(session))
        put_meta(session, &w, meta, change);
    json_object_close(&w);
    return buf_str(&session->params);
}
