/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/say.h"

#include "envelope/dialect.h"

static void put_raw(struct json_writer *w, struct str key, struct str value)
{
    json_key(w, key);
    json_raw(w, value);
}

/* A member as it stood, name and all. */
static void put_member(struct json_writer *w, const struct json_member *m)
{
    const char *begin = m->key.text.ptr - 1;
    const char *end = m->value.text.ptr + m->value.text.len;

    if (m->value.type == JSON_STRING)
        end++;
    json_raw(w, (struct str){ begin, (size_t)(end - begin) });
}

/* All members of the object but `without`; the last one of that name is given back. */
static void put_members(struct json_writer *w, struct str object, struct str without,
                        struct json_span *ret)
{
    struct json_scan scan;
    struct json_member m;
    enum err err;

    json_scan_init(&scan, object, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err)) {
        if (json_string_is(m.key, without))
            *ret = m.value;
        else
            put_member(w, &m);
    }
}

void say_begin(struct json_writer *w, struct buf *out, const struct say_head *head)
{
    json_write_init(w, out);
    json_object_open(w);
    json_put_str(w, S("protocol"), dialect_protocol(DIALECT_SLASH));
    json_put_str(w, S("id"), head->id);
    json_put_time(w, S("ts"), head->wall_ms);
    json_put_str(w, S("from"), head->from);
    if (head->to_count)
        json_put_strs(w, S("to"), (struct str_list){ head->to, head->to_count });
    json_put_str(w, S("kind"), head->kind);
    json_put_given(w, S("correlation_id"), head->correlation_id);
    if (head->expires_ms)
        json_put_time(w, S("expires_at"), head->expires_ms);
    if (head->is_edited)
        json_put_bool(w, S("edited"), true);
    json_put_given(w, S("rule"), head->rule);
    if (head->members.len)
        put_members(w, head->members, S(""), &(struct json_span){});
    json_key(w, S("payload"));
}

void say_end(struct json_writer *w)
{
    json_object_close(w);
}

/* --- params with a token --- */

static void put_params(struct json_writer *w, struct str params, struct str token)
{
    struct json_span meta = {};
    struct json_span old_token = {};

    json_key(w, S("params"));
    if (!token.len) {
        json_raw(w, params);
        return;
    }
    json_object_open(w);
    if (params.len)
        put_members(w, params, S("_meta"), &meta);
    json_key(w, S("_meta"));
    json_object_open(w);
    if (meta.type == JSON_OBJECT)
        put_members(w, meta.text, S("progressToken"), &old_token);
    json_put_str(w, S("progressToken"), token);
    json_object_close(w);
    json_object_close(w);
}

/* --- payloads --- */

static void open_rpc(struct json_writer *w)
{
    json_object_open(w);
    json_put_str(w, S("jsonrpc"), S("2.0"));
}

void say_call(struct json_writer *w, const struct say_call *call)
{
    open_rpc(w);
    json_put_given(w, S("id"), call->id);
    json_put_str(w, S("method"), call->method);
    if (call->params.len || call->progress_token.len)
        put_params(w, call->params, call->progress_token);
    json_object_close(w);
}

void say_proposal(struct json_writer *w, struct str method, struct str params,
                  struct str reason)
{
    json_object_open(w);
    json_put_str(w, S("method"), method);
    if (params.len)
        put_raw(w, S("params"), params);
    json_put_given(w, S("reason"), reason);
    json_object_close(w);
}

/* Text for text, so that the caller finds its own id again. */
static void put_rpc_id(struct json_writer *w, struct json_span id)
{
    json_key(w, S("id"));
    if (id.type == JSON_NULL) {
        json_null(w);
        return;
    }
    json_raw(w, id.type == JSON_STRING ? S("\"") : S(""));
    buf_put(w->out, id.text);
    if (id.type == JSON_STRING)
        buf_putc(w->out, '"');
}

void say_answer(struct json_writer *w, struct json_span id, struct str member,
                struct str json)
{
    open_rpc(w);
    put_rpc_id(w, id);
    put_raw(w, member, json);
    json_object_close(w);
}

void say_reason(struct json_writer *w, struct str reason)
{
    json_object_open(w);
    json_put_given(w, S("reason"), reason);
    json_object_close(w);
}

static void open_params(struct json_writer *w, struct str method)
{
    open_rpc(w);
    json_put_str(w, S("method"), method);
    json_key(w, S("params"));
    json_object_open(w);
}

static void close_params(struct json_writer *w)
{
    json_object_close(w);
    json_object_close(w);
}

void say_cancelled(struct json_writer *w, struct str request_id, struct str reason)
{
    open_params(w, S("notifications/cancelled"));
    json_put_str(w, S("requestId"), request_id);
    json_put_given(w, S("reason"), reason);
    close_params(w);
}

void say_authorization(struct json_writer *w, const struct say_decision *decision)
{
    open_params(w, S("authorization/respond"));
    json_put_str(w, S("authorizationId"), decision->id);
    json_put_str(w, S("decision"), decision->decision);
    json_put_given(w, S("delegate"), decision->delegate);
    json_put_given(w, S("reason"), decision->reason);
    if (decision->valid_until_ms)
        json_put_time(w, S("validUntil"), decision->valid_until_ms);
    close_params(w);
}

static bool takes_arguments(struct str method)
{
    return str_eq(method, S("tools/call")) || str_eq(method, S("prompts/get"));
}

void say_params(struct buf *out, struct str method, struct str name, struct str arguments)
{
    struct json_writer w;

    if (!name.len && !arguments.len)
        return;
    json_write_init(&w, out);
    json_object_open(&w);
    json_put_given(&w, str_starts(method, S("resources/")) ? S("uri") : S("name"), name);
    if (arguments.len)
        put_raw(&w, S("arguments"), arguments);
    else if (takes_arguments(method))
        put_raw(&w, S("arguments"), S("{}"));
    json_object_close(&w);
}
