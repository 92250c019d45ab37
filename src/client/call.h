/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request of somebody else that waits for our answer, and how answers are given.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "json/scan.h"
#include "mcp/result.h"
#include "mcp/rpc.h"
#include "moot.h"

/* Whom an answer goes to and what it answers. */
struct asker {
    struct str request_id, correlation_id;
    struct str method, context; /* of the kind */
    struct json_span rpc_id;    /* text.ptr NULL: it is not answered */
    const struct str *to;       /* the first one asked */
    size_t to_count;
    struct result_of of;
};

/* No answer is longer. */
size_t answer_bytes(const struct moot *m);

enum err answer_error(struct moot *m, const struct asker *asker, int64_t code,
                      struct str message);

/* Whoever asked gets an answer, even if it is not the one that was meant: then this
 * fails, and *ret_why may say why. */
enum err answer_send(struct moot *m, const struct asker *asker,
                     const struct rpc_reply *reply, const char **ret_why);

/* All is copied. NULL: too many wait, or they hold too much. */
struct moot_call *call_new(struct moot *m, const struct asker *asker,
                           const struct rpc_request *request, struct str name,
                           void *user);
void call_free(struct moot_call *call);
