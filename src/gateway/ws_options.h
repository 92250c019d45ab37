/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client asks for when it connects (D3): options of the query, and the WebSocket
 * subprotocol, which names a dialect as well.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "envelope/dialect.h"
#include "gateway/exchange.h"
#include "topic/topic.h"

struct ws_options {
    enum routing routing;
    enum presence_mode presence;
    enum dialect dialect;
    bool wants_echo;
    struct str after;       /* empty: no replay */
    struct str subprotocol; /* to be agreed on; empty: none */
};

/* ERR_BAD_REQUEST with a static text in *ret_why: a value that does not exist, an option
 * given twice, or a `dialect` that contradicts all subprotocols we know of the offered
 * ones. Without either the dialect is slash. */
enum err ws_options_read(struct exchange *x, struct ws_options *ret,
                         const char **ret_why);
