/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A carrier brings the messages of a session (session.h) to a server and back: over the
 * pipes of a child, or over HTTP. The session is pure and knows no descriptor; a carrier
 * knows no method, but for what HTTP wants to be told in headers.
 *
 *     session ──send, drop, settled, renew──► carrier ──► server
 *             ◄── mcp_session_hear(), …_mishap(), …_ended() ──
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct carrier;

/* One message on its way out. All of it is valid during the call. */
struct parcel {
    struct str text;    /* one line */
    uint64_t call;      /* of a request: its id; 0: a notification or an answer */
    struct str method;  /* "": an answer */
    struct str name;    /* what Mcp-Name says, not encoded yet; or "" */
    struct str version; /* what MCP-Protocol-Version says; "": nothing is agreed yet */
    bool is_modern;
    const struct str *fields; /* "Mcp-Param-…: …", encoded */
    size_t field_count;
};

struct carrier_ops {
    /* ERR_CLOSED; ERR_OVERLOAD: too much waits to be written. Nothing of the session is
     * called from inside. */
    enum err (*send)(struct carrier *carrier, const struct parcel *parcel);
    /* Nobody waits for this call any more. Modern HTTP: closing its stream cancels it. */
    void (*drop)(struct carrier *carrier, uint64_t call);
    /* The handshake is over: HTTP opens its GET stream where the era has one. */
    void (*settled)(struct carrier *carrier, struct str version, bool is_modern);
    /* The server forgot us (404): the next message begins anew, without a session id. */
    void (*renew)(struct carrier *carrier);
};

struct carrier {
    const struct carrier_ops *ops;
    void *session;     /* struct mcp_session, whom it tells; set by mcp_session_new() */
    bool drop_cancels; /* set by the carrier: HTTP, where in the modern era a stream that
                        * is closed needs no notifications/cancelled */
};

enum mishap_type {
    MISHAP_STATUS,    /* HTTP, and no JSON-RPC answer: `status` */
    MISHAP_FORGOTTEN, /* 404, or a 400 on a session that used to work */
    MISHAP_FORBIDDEN, /* 401, 403, and the credential could not help */
    MISHAP_BROKEN,    /* its stream ended without an answer and cannot be resumed */
    MISHAP_TIMEOUT,
    MISHAP_TOO_BIG,
};

/* What came instead of an answer. */
struct mishap {
    enum mishap_type type;
    unsigned status; /* 0: none */
    struct str body; /* a JSON-RPC error with or without id, or anything */
    const char *why; /* for people, without secrets */
};
