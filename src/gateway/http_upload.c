/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies in pieces: as they come, and no faster than they are taken. */
#include "gateway/auth.h"
#include "gateway/http_priv.h"

static void set_deadline(struct http_client *client)
{
    loop_timer_set(client->worker->loop, &client->timer,
                   client->worker->settings->config->limits.body_timeout_ms);
}

void http_begin_upload(struct exchange *x)
{
    x->client->state = HANDLING; /* until the handler wants the body */
    x->was_handled = true;
    loop_timer_clear(x->worker->loop, &x->client->timer);
    x->route->handle(x);
}

void http_fail_upload(struct exchange *x, enum err err, const char *why)
{
    x->upload->on_gone(x->upload_user);
    x->client->on_gone = NULL;
    exchange_fail(x, err, "%s", why);
}

/* False if that already answered. */
static bool is_still_allowed(struct exchange *x)
{
    const char *why;
    enum err err = auth_again(x, &why);

    if (err)
        http_fail_upload(x, err, why);
    return !err;
}

static void end(struct exchange *x)
{
    struct http_client *client = x->client;

    client->state = HANDLING;
    loop_timer_clear(client->worker->loop, &client->timer);
    conn_pause_reads(&client->conn, true);
    if (is_still_allowed(x))
        x->upload->on_end(x->upload_user);
}

void exchange_upload(struct exchange *x, const struct upload_ops *ops, void *user)
{
    struct http_client *client = x->client;

    x->upload = ops;
    x->upload_user = user;
    exchange_on_gone(x, ops->on_gone, user);
    if (x->body_reader.state == HTTP_BODY_DONE) {
        end(x);
        return;
    }
    client->state = UPLOAD;
    if (x->request.expects_continue) {
        http_write_continue(&client->out);
        conn_wake(&client->conn);
    }
    set_deadline(client);
    conn_pause_reads(&client->conn, false);
}

void exchange_upload_pause(struct exchange *x, bool is_paused)
{
    struct http_client *client = x->client;

    if (client->state != UPLOAD || client->conn.is_read_paused == is_paused)
        return;
    if (!is_paused && x->body_reader.state == HTTP_BODY_DONE) {
        end(x); /* no byte comes that would tell */
        return;
    }
    conn_pause_reads(&client->conn, is_paused);
    if (is_paused)
        loop_timer_clear(client->worker->loop, &client->timer);
    else
        set_deadline(client);
}

/* Whoever takes a piece may answer, and the exchange is gone then. Who sends slowly could
 * keep it up for long after his rights have gone. */
size_t http_take_upload(struct http_client *client, struct str bytes)
{
    struct str rest = bytes;

    if (!is_still_allowed(client->exchange))
        return bytes.len;
    set_deadline(client);
    while (client->state == UPLOAD && !client->conn.is_read_paused) {
        struct exchange *x = client->exchange;
        struct str piece;
        enum err err = http_body_next(&x->body_reader, &rest, &piece);

        if (err) {
            http_fail_upload(x, err, "The chunks of the body are malformed.");
            return bytes.len;
        }
        if (piece.len)
            x->upload->on_piece(x->upload_user, piece);
        else if (x->body_reader.state == HTTP_BODY_DONE)
            end(x);
        else
            break;
    }
    return bytes.len - rest.len;
}
