/* SPDX-License-Identifier: Apache-2.0 */
/* Answers in pieces: as many as the client takes, for as long as there are some. */
#include "gateway/http_priv.h"

static bool is_framed(const struct exchange *x)
{
    return x->request.minor_version > 0;
}

void exchange_stream(struct exchange *x, struct str type, struct str headers,
                     const struct stream_ops *ops, void *user)
{
    struct http_client *client = x->client;

    if (!is_framed(x))
        client->closes_after = true; /* the end of the connection is that of the answer */
    http_answer_head(x, &(struct http_response){
                            .status = 200,
                            .type = type,
                            .extra = headers,
                            .framing = is_framed(x) ? HTTP_CHUNKED : HTTP_UNTIL_CLOSE });
    client->state = STREAMING;
    client->on_sent = ops->on_sent;
    client->sent_user = user;
    exchange_on_gone(x, ops->on_gone, user);
}

/* Else who always lags a little behind would have all of it kept. */
static void drop_sent(struct http_client *client)
{
    if (client->sent <= client->out.len / 2)
        return;
    buf_drop(&client->out, client->sent);
    client->sent = 0;
}

void exchange_stream_write(struct exchange *x, struct str bytes)
{
    struct http_client *client = x->client;

    if (bytes.len == 0 || x->request.method == HTTP_HEAD)
        return;
    drop_sent(client);
    if (is_framed(x))
        http_write_chunk(&client->out, bytes);
    else
        buf_put(&client->out, bytes);
    http_wake(client);
}

size_t exchange_stream_unsent(const struct exchange *x)
{
    return x->client->out.len - x->client->sent + conn_unsent(&x->client->conn);
}

void exchange_stream_end(struct exchange *x)
{
    struct http_client *client = x->client;

    if (is_framed(x) && x->request.method != HTTP_HEAD) {
        http_write_chunk(&client->out, S(""));
        http_wake(client);
    }
    client->state = SENDING;
    client->on_gone = NULL;
    exchange_end(x);
    if (client->out.len == 0)
        http_answered(client);
}

void exchange_stream_break(struct exchange *x)
{
    x->client->on_gone = NULL;
    conn_close(&x->client->conn, ERR_CLOSED);
}

void exchange_watch_end(struct exchange *x)
{
    conn_watch_end(&x->client->conn);
}

bool exchange_is_abandoned(const struct exchange *x)
{
    return conn_peer_has_ended(&x->client->conn);
}
