/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "client/call.h"
#include "client/moot_priv.h"
#include "participant/ask.h"

/* A reply that does not fit into an envelope is not sent: it is cut off here. */
size_t answer_bytes(const struct moot *m)
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
    return occupant_answer(m->occupant, &answer, handle_now());
}

enum err answer_error(struct moot *m, const struct asker *asker, int64_t code,
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

    rpc_reply_init(&reply, answer_bytes(m));
    if (result_write(&reply.json, &asker->of, json))
        return ERR_INVALID;
    return send_reply(m, asker, &reply);
}

enum err answer_send(struct moot *m, const struct asker *asker,
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
        (void)answer_error(m, asker, RPC_INTERNAL, str_of(*ret_why));
    return err;
}
