/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results in the shape that their method gives them.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "mcp/rpc.h"

/* What a result answers. */
struct result_of {
    struct str method;
    struct str uri;       /* resources/read: what was read */
    struct str mime_type; /* likewise, or "" */
    bool is_modern;
};

/* A text: the content of a tool's result, of a resource, or a prompt's one message. */
void result_write_text(struct buf *out, const struct result_of *of, struct str text);

/* Something went wrong, for people or a model to read: a tool's result says so itself
 * (isError), everything else is answered with an error. */
void result_write_failure(struct rpc_reply *reply, const struct result_of *of,
                          struct str text);

/* A finished result, which must be a JSON object (ERR_INVALID; nothing is written then).
 * The modern era demands members that the legacy line does not know: those that are not
 * there are added. */
enum err result_write(struct buf *out, const struct result_of *of, struct str json);
