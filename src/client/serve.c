/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of others, and what they are answered. What follows from the catalogue alone
 * is answered at once; for everything else a call is made, which lives until somebody
 * replies to it.
 *
 *     request ──► catalogue ──► answer
 *                     └───────► call ──► handler … moot_reply_…() ──► answer
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/xalloc.h"
#include "client/moot_priv.h"
#include "json/json.h"
#include "mcp/catalogue.h"
#include "mcp/result.h"
#include "participant/ask.h"

/* Whom an answer goes to and what it answers. */
struct asker {
    struct str request_id;
    struct str method, context; /* of the kind */
    struct json_span rpc_id;
    const struct str *to;
    size_t to_count;
    struct result_of of;
};

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

/* --- answers --- */

/* A reply that does not fit into an envelope is not sent: it is cut off here. */
static size_t reply_bytes(const struct moot *m)
{
    size_t most = occupant_envelope_bytes(m->occupant);

    return most ? most : m->limits.envelope_bytes;
}

static enum err send_reply(struct moot *m, const struct asker *asker,
                           const struct rpc_reply *reply)
{
    struct answer answer = {
        .request_id = asker->request_id,
        .method = asker->method,
        .context = asker->context,
        .rpc_id = asker->rpc_id,
        .to = asker->to,
        .to_count = asker->to_count,
        .member = reply->is_error ? S("error") : S("result"),
        .json = buf_str(&reply->json),
    };

    /* JSON-RPC 2.0, 4.1: a request without an id is never answered. */
    if (!asker->rpc_id.text.ptr)
        return OK;
    if (reply->json.is_full)
        return ERR_TOO_BIG;
    return occupant_answer(m->occupant, &answer, moot_now());
}

static enum err send_error(struct moot *m, const struct asker *asker, int64_t code,
                           struct str message)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, message.len * 6 + 256);
    rpc_fail(&reply, code, message, S(""));
    return send_reply(m, asker, &reply);
}

static enum err send_result(struct moot *m, const struct asker *asker, struct str json)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, reply_bytes(m));
    if (result_write(&reply.json, &asker->of, json))
        return ERR_INVALID;
    return send_reply(m, asker, &reply);
}

/* Whoever asked gets an answer, even if it is not the one that was meant. */
static enum err deliver(struct moot *m, const struct asker *asker,
                        const struct rpc_reply *reply, const char **ret_why)
{
    enum err err;

    if (reply->json.is_full)
        err = ERR_TOO_BIG;
    else if (reply->is_error)
        err = send_reply(m, asker, reply);
    else
        err = send_result(m, asker, buf_str(&reply->json));
    if (err == ERR_TOO_BIG)
        *ret_why = "the answer is too large";
    if (err == ERR_INVALID)
        *ret_why = "the result is not a JSON object";
    if (err == ERR_TOO_BIG || err == ERR_INVALID)
        (void)send_error(m, asker, RPC_INTERNAL, str_of(*ret_why));
    return err;
}

/* --- calls --- */

static void call_free(struct moot_call *call)
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

/* NULL: too many wait, or they hold too much. */
static struct moot_call *call_new(struct moot *m, const struct asker *asker,
                                  const struct rpc_request *request, struct str name)
{
    struct moot_call *call;

    if (m->call_count >= m->limits.served || m->call_bytes >= m->limits.served_bytes)
        return NULL;
    call = xcalloc(1, sizeof(*call));
    call->m = m;
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

static void hand_out(struct moot *m, const struct asker *asker,
                     const struct rpc_request *request, struct str name,
                     const struct offered *offered)
{
    struct moot_call *call = call_new(m, asker, request, name);

    if (!call) {
        (void)send_error(m, asker, RPC_INTERNAL, S("too many calls wait here"));
        return;
    }
    call->user = offered->user;
    offered->serve(m, offered->user, call);
}

/* --- requests --- */

/* To everybody only what is worth telling is told: no errors, no empty lists. */
static void answer_at_once(struct moot *m, const struct asker *asker,
                           const struct rpc_reply *reply, bool names_me)
{
    const char *why;

    if (names_me || (!reply->is_error && catalogue_has(m->catalogue, asker->of.method)))
        (void)deliver(m, asker, reply, &why);
}

/* The method is none that the catalogue knows. */
static void serve_other(struct moot *m, const struct asker *asker,
                        const struct rpc_request *request)
{
    struct offered others = { m->others, m->others_user };

    if (m->others)
        hand_out(m, asker, request, asker->context, &others);
    else
        (void)send_error(m, asker, RPC_METHOD_NOT_FOUND, S("method not found"));
}

static void serve_found(struct moot *m, struct asker *asker,
                        const struct rpc_request *request,
                        const struct catalogue_item *item)
{
    struct offered offered = *(const struct offered *)item->user; /* may be replaced */
    struct str name = item->key;

    /* Nobody would hear of it: it is not done. */
    if (!asker->rpc_id.text.ptr)
        return;
    if (item->type == OFFER_RESOURCE || item->type == OFFER_TEMPLATE) {
        name = json_find(request->params, S("uri"))->text;
        asker->of.uri = name;
        asker->of.mime_type = item->mime_type;
    }
    hand_out(m, asker, request, name, &offered);
}

static void serve(struct moot *m, struct asker *asker, const struct rpc_request *request,
                  bool names_me)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;
    const struct catalogue_item *item = NULL;
    size_t most = reply_bytes(m);

    rpc_reply_init(&reply, most);
    switch (catalogue_ask(m->catalogue, request, most / 2, &m->desk->scratch, &reply,
                          &item)) {
    case CATALOGUE_ANSWERED: answer_at_once(m, asker, &reply, names_me); break;
    case CATALOGUE_FOUND:
        if (names_me)
            serve_found(m, asker, request, item);
        break;
    case CATALOGUE_OTHER:
        if (names_me)
            serve_other(m, asker, request);
        break;
    }
}

void serve_request(struct moot *m, const struct heard *heard, const struct str *reply_to,
                   size_t reply_count)
{
    struct asker asker = {
        .request_id = heard->env.id,
        .method = heard->env.kind.method,
        .context = heard->env.kind.context,
        .to = reply_to,
        .to_count = reply_count,
    };
    struct rpc_request request;
    const char *what = "the request is too large";
    enum err err;

    if (m->is_leaving)
        return;
    arena_reset(&m->desk->scratch);
    err = rpc_read(heard->env.payload.text, &m->desk->scratch, &request, &what);
    asker.rpc_id = request.id;
    asker.of = (struct result_of){ .method = request.method,
                                   .is_modern = rpc_is_modern(&request) };
    if (!err)
        serve(m, &asker, &request, heard->names_me);
    else if (heard->names_me)
        (void)send_error(m, &asker, RPC_INVALID_REQUEST, str_of(what));
}

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

void moot_serve_others(struct moot *m, moot_serve *serve_them, void *user)
{
    m->others = serve_them;
    m->others_user = user;
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
        err = deliver(m, &call->asker, reply, &why);
    call_free(call);
    return moot_fail(m, err, why);
}

enum moot_err moot_reply_text(struct moot_call *call, const char *text)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, reply_bytes(call->m));
    result_write_text(&reply.json, &call->asker.of, str_of(text));
    return finish(call, &reply);
}

enum moot_err moot_reply_failure(struct moot_call *call, const char *text)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, reply_bytes(call->m));
    result_write_failure(&reply, &call->asker.of, str_of(text));
    return finish(call, &reply);
}

enum moot_err moot_reply_json(struct moot_call *call, const char *result)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, reply_bytes(call->m));
    buf_put(&reply.json, str_of(result));
    return finish(call, &reply);
}

enum moot_err moot_reply_error(struct moot_call *call, int code, const char *message)
{
    CLEANUP(rpc_reply_done) struct rpc_reply reply;

    rpc_reply_init(&reply, reply_bytes(call->m));
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
                           S("notifications/progress"), buf_str(&params), moot_now(),
                           NULL);
}

enum moot_err moot_call_progress(struct moot_call *call, double done, double total,
                                 const char *message)
{
    if (call->has_progressed && !(done > call->done))
        return moot_fail(call->m, ERR_INVALID, "progress only grows");
    call->has_progressed = true;
    call->done = done;
    if (!call->progress_token.len || call->is_cancelled)
        return MOOT_OK;
    return moot_fail(call->m, send_progress(call, done, total, str_of(message)), NULL);
}
