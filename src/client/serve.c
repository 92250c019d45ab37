/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of others. What follows from the catalogue alone is answered at once; for
 * everything else a call is made, which lives until somebody replies to it.
 *
 *     request ──► catalogue ──► answer
 *                     └───────► call ──► handler … moot_reply_…() ──► answer
 */
#include "base/cleanup.h"
#include "client/call.h"
#include "client/moot_priv.h"
#include "json/json.h"
#include "mcp/catalogue.h"

static void hand_out(struct moot *m, const struct asker *asker,
                     const struct rpc_request *request, struct str name,
                     const struct offered *offered)
{
    struct moot_call *call = call_new(m, asker, request, name, offered->user);

    if (!call) {
        (void)answer_error(m, asker, RPC_INTERNAL, S("too many calls wait here"));
        return;
    }
    offered->serve(m, offered->user, call);
}

/* To everybody only what is worth telling is told: no errors, no empty lists. */
static void answer_at_once(struct moot *m, const struct asker *asker,
                           const struct rpc_reply *reply, bool names_me)
{
    const char *why;

    if (names_me || (!reply->is_error && catalogue_has(m->catalogue, asker->of.method)))
        (void)answer_send(m, asker, reply, &why);
}

/* The method is none that the catalogue knows. */
static void serve_other(struct moot *m, const struct asker *asker,
                        const struct rpc_request *request)
{
    struct offered others = { m->others, m->others_user };

    if (m->others)
        hand_out(m, asker, request, asker->context, &others);
    else
        (void)answer_error(m, asker, RPC_METHOD_NOT_FOUND, S("method not found"));
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
    size_t most = answer_bytes(m);

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
        .correlation_id = heard->env.correlation_id,
        .method = heard->env.kind.method,
        .context = heard->env.kind.context,
        .to = reply_to,
        .to_count = reply_count,
    };
    struct rpc_request request;
    const char *what = "the request is too large";
    enum err err;

    if (m->leaving)
        return;
    arena_reset(&m->desk->scratch);
    err = rpc_read(heard->env.payload.text, &m->desk->scratch, &request, &what);
    asker.rpc_id = request.id;
    asker.of = (struct result_of){ .method = request.method,
                                   .is_modern = rpc_is_modern(&request) };
    if (!err)
        serve(m, &asker, &request, heard->names_me);
    else if (heard->names_me)
        (void)answer_error(m, &asker, RPC_INVALID_REQUEST, str_of(what));
}

void moot_serve_others(struct moot *m, moot_serve *serve_them, void *user)
{
    m->others = serve_them;
    m->others_user = user;
}
