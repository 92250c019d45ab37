/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an error of JSON-RPC says, with the two codes that tool authorization has in MCPx
 * envelopes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "json/scan.h"

enum { RPC_AUTHORIZING = -32001, RPC_DENIED = -32002 };

struct rpc_error {
    int64_t code;
    struct str message;
    struct str reason;              /* data.reason, or "" */
    struct str decided_by;          /* data.decidedBy, or "" */
    struct json_span authorization; /* data.authorizationRequest */
    bool names_authorization;       /* data.authorizationId is a text */
};

/* Of an error that was checked (check.h). */
struct rpc_error rpc_error_read(struct json_span error, struct arena *arena);

/* Its sender asks somebody first, and answers again. */
bool rpc_error_is_provisional(const struct rpc_error *error);
