/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON-RPC 2.0 as MCP uses it: a request is read out of a payload, and the errors that
 * answer one are written. Both eras of MCP are known: a request of the modern one
 * (2026-07-28) claims its revision in `params._meta`, one of the legacy line does not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

/* The newest first; the first is the modern one. */
enum { MCP_VERSIONS = 5 };
extern const struct str mcp_versions[MCP_VERSIONS];

enum rpc_code {
    RPC_INVALID_REQUEST = -32600,
    RPC_METHOD_NOT_FOUND = -32601,
    RPC_INVALID_PARAMS = -32602,
    RPC_INTERNAL = -32603,
    RPC_UNSUPPORTED_VERSION = -32022,
    RPC_URL_REQUIRED = -32042, /* pages are to be opened first (legacy) */
};

struct rpc_request {
    struct json_span id; /* string or number, as it stood; text.ptr NULL: none */
    struct str method;
    const struct json *params;   /* an object, or NULL */
    const struct json *progress; /* params._meta.progressToken, or NULL */
    struct str version;          /* the revision that it claims, or "" */
};

/* Reads a payload, which was scanned before. ERR_INVALID: it is no request, a name stands
 * twice, or `params` are nested too deeply; `what`, static, says so, and `ret->id` is set
 * where it could be read. ERR_TOO_BIG: the arena is full. The request borrows from the
 * text and the arena. */
enum err rpc_read(struct str payload, struct arena *arena, struct rpc_request *ret,
                  const char **ret_what);

static inline bool rpc_is_modern(const struct rpc_request *request)
{
    return str_eq(request->version, mcp_versions[0]);
}

/* The member that answers a request: `result` or `error`, finished JSON. */
struct rpc_reply {
    bool is_error;
    struct buf json;
};

void rpc_reply_init(struct rpc_reply *reply, size_t max);
void rpc_reply_done(struct rpc_reply *reply);

/* Makes an error of it: whatever was written before is dropped. `data` is finished JSON,
 * or "". */
void rpc_fail(struct rpc_reply *reply, int64_t code, struct str message, struct str data);
