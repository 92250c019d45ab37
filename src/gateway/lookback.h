/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An answer that is made of the record, piece by piece: whoever needs one asks the
 * store's readers for a page, looks at it, and asks again or answers. Meanwhile the
 * client may go, its credential may end, and the record may be out of reach; that is
 * taken care of here, and the looking then is over.
 */
#pragma once

#include "gateway/exchange.h"
#include "store/record.h"

struct lookback {
    struct exchange *x;
    struct store_read read;                 /* read.query: what is asked */
    void (*on_page)(struct lookback *look); /* read.page: what was found */
    void (*on_over)(struct lookback *look); /* nobody waits any more: frees it */
    bool is_reading;                        /* the read is the store's */
    bool has_begun; /* a stream: what goes wrong can no longer be said */
};

/* Nothing is asked yet, and nobody looks after the client. */
void lookback_init(struct lookback *look, struct exchange *x,
                   void (*on_page)(struct lookback *look),
                   void (*on_over)(struct lookback *look));
void lookback_done(struct lookback *look);

/* For the first time; on_over() may be called from now on. */
void lookback_start(struct lookback *look);

void lookback_ask(struct lookback *look);

/* What lies behind the page. */
void lookback_go_on(struct lookback *look);

/* The client of `user`, a lookback, has gone: on_gone of streams. */
void lookback_gone(void *user);
