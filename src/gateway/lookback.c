/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/lookback.h"

#include "gateway/auth.h"
#include "gateway/gateway.h"

static void fail(struct lookback *look, enum err err, const char *why)
{
    if (look->has_begun)
        exchange_stream_break(look->x);
    else
        exchange_fail(look->x, err, "%s", why);
    look->on_over(look);
}

static void on_read(struct store_read *read)
{
    struct lookback *look = CONTAINER_OF(read, struct lookback, read);
    const char *why;
    enum err err;

    look->is_reading = false;
    if (!exchange_resume(look->x)) {
        look->on_over(look);
        return;
    }
    err = auth_again(look->x, &why);
    if (!err && read->err) {
        err = ERR_UNAVAILABLE;
        why = "The record cannot be read now.";
    }
    if (err)
        fail(look, err, why);
    else
        look->on_page(look);
}

void lookback_init(struct lookback *look, struct exchange *x,
                   void (*on_page)(struct lookback *look),
                   void (*on_over)(struct lookback *look))
{
    *look = (struct lookback){ .x = x, .on_page = on_page, .on_over = on_over };
    store_read_init(&look->read, x->worker->loop);
    look->read.done = on_read;
}

void lookback_done(struct lookback *look)
{
    store_read_done(&look->read);
}

void lookback_start(struct lookback *look)
{
    exchange_on_gone(look->x, lookback_gone, look);
    lookback_ask(look);
}

void lookback_ask(struct lookback *look)
{
    look->is_reading = true;
    exchange_suspend(look->x);
    store_query(gateway_store(look->x->worker->gateway), &look->read);
}

void lookback_go_on(struct lookback *look)
{
    look->read.query.after_seq = look->read.reached_seq;
    lookback_ask(look);
}

void lookback_gone(void *user)
{
    struct lookback *look = user;

    if (look->is_reading)
        atomic_store(&look->read.is_cancelled, true); /* over when it comes back */
    else
        look->on_over(look);
}
