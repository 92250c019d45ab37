/* SPDX-License-Identifier: Apache-2.0 */
#include "client/call.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/xalloc.h"
#include "client/moot_priv.h"
#include "json/json.h"
#include "participant/ask.h"

struct moot_call {
    struct moot *m;
    struct link link;
    struct arena arena; /* all that follows */
    size_t bytes;
    struct asker asker;
    const char *from, *method, *name;
    const struct moot_json *params;
    struct str progress_token; /* JSON, or "" */
    double done;               /* told last */
    bool has_progressed;
    bool is_cancelled;
    moot_serve *on_cancel;
    void *user;
};

void call_free(struct moot_call *call)
{
    struct moot *m = call->m;

    list_remove(&call->link);
    m->call_count--;
    m->call_bytes -= call->bytes;
    arena_done(&call->arena);
    free(call);
}

void serve_free(struct moot *m)
{
    struct moot_call *call;

    LIST_FOREACH(call, &m->calls, link)
        call_free(call);
}

/* A terminated copy that lives as long as the call. False: there is no room. */
static bool keep(struct moot_call *call, struct str text, struct str *ret)
{
    *ret = text.ptr ? arena_str(&call->arena, text) : (struct str){};
    return !text.ptr || ret->ptr;
}

static bool keep_asker(struct moot_call *call, const struct asker *asker)
{
    struct str *to = arena_alloc(&call->arena, asker->to_count * sizeof(*to));
    struct asker *kept = &call->asker;
    bool fits = to;

    *kept = *asker;
    kept->to = to;
    for (size_t i = 0; fits && i < asker->to_count; i++)
        fits = keep(call, asker->to[i], &to[i]);
    return fits && keep(call, asker->request_id, &kept->request_id) &&
           keep(call, asker->correlation_id, &kept->correlation_id) &&
           keep(call, asker->method, &kept->method) &&
           keep(call, asker->context, &kept->context) &&
           keep(call, asker->rpc_id.text, &kept->rpc_id.text) &&
           keep(call, asker->of.uri, &kept->of.uri) &&
           keep(call, asker->of.mime_type, &kept->of.mime_type);
}

/* What the handler asks for. */
static bool keep_request(struct moot_call *call, const struct rpc_request *request,
                         struct str name)
{
    const char *what;
    struct str kept;

    call->from = call->asker.to[0].ptr;
    call->method = call->asker.method.ptr;
    call->asker.of.method = call->asker.method;
    if (!keep(call, name, &kept))
        return false;
    call->name = kept.ptr ? kept.ptr : "";
    if (request->progress && !keep(call, request->progress->raw, &call->progress_token))
        return false;
    return !request->params ||
           !json_view_text(request->params->raw, &call->m->desk->scratch, &call->arena,
                           &call->params, &what);
}

struct moot_call *call_new(struct moot *m, const struct asker *asker,
                           const struct rpc_request *request, struct str name, void *user)
{
    struct moot_call *call;

    if (m->call_count >= m->limits.served || m->call_bytes >= m->limits.served_bytes)
        return NULL;
    call = xcalloc(1, sizeof(*call));
    call->m = m;
    call->user = user;
    arena_init(&call->arena, m->limits.served_bytes - m->call_bytes);
    list_append(&m->calls, &call->link);
    m->call_count++;
    if (!keep_asker(call, asker) || !keep_request(call, request, name)) {
        call_free(call);
        return NULL;
    }
    call->bytes = call->arena.total;
    m->call_bytes += call->bytes;
    return call;
}

/* --- cancelling --- */

static bool is_meant(const struct moot_call *call, struct str request_id, struct str from)
{
    const struct json_span *id = &call->asker.rpc_id;

    if (!str_eq(str_of(call->from), from))
        return false;
    if (str_eq(call->asker.request_id, request_id))
        return true;
    return id->type == JSON_STRING ? json_string_is(*id, request_id)
                                   : str_eq(id->text, request_id);
}

void serve_cancelled(struct moot *m, struct str request_id, struct str from)
{
    struct moot_call *call;

    LIST_FOREACH(call, &m->calls, link) {
        if (call->is_cancelled || !is_meant(call, request_id, from))
            continue;
        call->is_cancelled = true;
        if (call->on_cancel)
            call->on_cancel(m, call->user, call);
        return; /* the handler may have changed the list */
    }
}

/* --- what a handler asks of a call --- */

const char *moot_call_from(const struct moot_call *call)
{
    return call->from;
}

const char *moot_call_method(const struct moot_call *call)
{
    return call->method;
}

const char *moot_call_name(const struct moot_call *call)
{
    return call->name;
}

const char *moot_call_correlation_id(const struct moot_call *call)
{
    return call->asker.correlation_id.ptr ? call->asker.correlation_id.ptr : "";
}

const struct moot_json *moot_call_params(const struct moot_call *call)
{
    return call->params;
}

const struct moot_json *moot_call_argument(const struct moot_call *call, const char *name)
{
    return moot_get(moot_get(call->params, "arguments"), name);
}

bool moot_call_is_cancelled(const struct moot_call *call)
{
    return call->is_cancelled;
}

void moot_call_on_cancel(struct moot_call *call, moot_serve *on_cancel)
{
    call->on_cancel = on_cancel;
}

/* --- replies --- */

/* MCP, basic/utilities/cancellation: what is no longer wanted is not answered. */
static enum moot_err finish(struct moot_call *call, const struct rpc_reply *reply)
{
    struct moot *m = call->m;
    const char *why = NULL;
    enum err err = OK;

    if (!call->is_cancelled)
        err = answer_send(m, &call->asker, reply, &why);
    call_free(call);
    return handle_fail(m, err, why);
}

enum moot_err moot_reply_text(struct moot_call *call, const char *text)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, answer_bytes(call->m));
    result_write_text(&reply.json, &call->asker.of, str_of(text));
    return finish(call, &reply);
}

enum moot_err moot_reply_failure(struct moot_call *call, const char *text)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, answer_bytes(call->m));
    result_write_failure(&reply, &call->asker.of, str_of(text));
    return finish(call, &reply);
}

enum moot_err moot_reply_json(struct moot_call *call, const char *result)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, answer_bytes(call->m));
    buf_put(&reply.json, str_of(result));
    return finish(call, &reply);
}

enum moot_err moot_reply_error(struct moot_call *call, int code, const char *message)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, answer_bytes(call->m));
    rpc_fail(&reply, code, str_of(message), S(""));
    return finish(call, &reply);
}

static void put_number(struct json_writer *w, struct str key, double value)
{
    char text[DECIMAL_TEXT];

    json_key(w, key);
    json_raw(w, decimal_write(value, text));
}

static enum err send_progress(struct moot_call *call, double done, double total,
                              struct str message)
{
    CLEANUP(buf_done) struct buf params;
    struct json_writer w;

    buf_init(&params, message.len * 6 + call->progress_token.len + 256);
    json_write_init(&w, &params);
    json_object_open(&w);
    json_key(&w, S("progressToken"));
    json_raw(&w, call->progress_token);
    put_number(&w, S("progress"), done);
    if (total > 0)
        put_number(&w, S("total"), total);
    if (message.len)
        json_put_str(&w, S("message"), message);
    json_object_close(&w);
    return occupant_notify(call->m->occupant, str_of(call->from),
                           S("notifications/progress"), buf_str(&params), handle_now(),
                           NULL);
}

enum moot_err moot_call_progress(struct moot_call *call, double done, double total,
                                 const char *message)
{
    if (call->has_progressed && !(done > call->done))
        return handle_fail(call->m, ERR_INVALID, "progress only grows");
    call->has_progressed = true;
    call->done = done;
    if (!call->progress_token.len || call->is_cancelled)
        return MOOT_OK;
    return handle_fail(call->m, send_progress(call, done, total, str_of(message)), NULL);
}
