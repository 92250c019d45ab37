/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an MCP client sends to a server, in both eras, judged before anybody acts upon it:
 * one POST of Streamable HTTP, or one line. The body decides the era, headers are
 * compared with it.
 *
 *     media types ─► JSON ─► claim? ─► modern: _meta, version, headers, method
 *     415, 406       400       └────► legacy: version of the header, batches
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/scan.h"
#include "mcp/message.h"
#include "mcp/rpc.h"
#include "mcp/session.h"

/* The codes that only a server's own hop uses, besides enum rpc_code. */
enum serve_code {
    SERVE_NOT_JSON = -32700,
    SERVE_REFUSED = -32000,         /* of the transport: media types, a second stream */
    SERVE_NO_SESSION = -32001,      /* with 404 alone */
    SERVE_HEADER_MISMATCH = -32020, /* these two: modern, with 400 */
    SERVE_MISSING_CAPABILITY = -32021,
};

/* Mcp-Param-NAME: VALUE, as it came. */
struct serve_param {
    struct str name, value;
};

/* ptr NULL: the header was not sent. One that was sent twice is refused by whoever reads
 * headers. */
struct serve_post {
    struct str body;
    bool is_http; /* else the headers do not count */
    struct str content_type, accept;
    struct str version, method, name; /* MCP-Protocol-Version, Mcp-Method, Mcp-Name */
    const struct serve_param *params;
    size_t param_count;
    struct str agreed; /* the revision of the legacy session that it names, or "" */
    size_t max_depth;
};

enum { SERVE_BATCH = 50 }; /* items */

/* All of it borrows from the post. */
struct serve_incoming {
    enum mcp_era era;
    struct str version;         /* modern: that of the claim; legacy: agreed, or "" */
    bool is_batch;              /* 2025-03-26: walk the body; `message` says nothing */
    struct mcp_message message; /* one of its four types */
    struct json_span progress;  /* params._meta.progressToken, like the next ones: */
    struct json_span capable;   /* modern: clientCapabilities; text.ptr NULL: none */
    struct json_span client;    /* modern: clientInfo, or none */
    struct str log_level;       /* modern; "": nothing is to be told */
};

/* 0, or the status of HTTP with the error of JSON-RPC that answers it in `ret_error`
 * (with the id of the request, as soon as that could be read; without one it is left
 * out). MCP.md 2.3, steps 4 to 9, in their order. */
unsigned serve_judge(const struct serve_post *post, struct serve_incoming *ret,
                     struct buf *ret_error);

/* Step 10: Mcp-Param-* against the tool as it is listed upstream. 0 or 400, likewise. */
unsigned serve_judge_params(const struct serve_post *post,
                            const struct serve_incoming *incoming, struct str tool,
                            struct buf *ret_error);

/* GET: the one media type that there is for it. */
bool serve_takes_events(struct str accept);

/* The next item of a batch that was judged, begun by mcp_message_walk_begin(). False:
 * that was all. */
bool serve_batch_next(const struct serve_incoming *batch, struct mcp_message_walk *walk,
                      struct serve_incoming *ret);

/* One whole message. `id`: text.ptr NULL, none. `data`: finished JSON, or "". */
void serve_put_error(struct buf *out, struct json_span id, int64_t code,
                     struct str message, struct str data);

/* What the answer to a request has as status, where no stream is open yet: 200, but of
 * modern errors of the hop 400 and 404 (2.3, step 12). */
unsigned serve_status(enum mcp_era era, int64_t code);

/* Of messages: 0 is debug, 7 emergency; -1: no such level. */
int serve_level(struct str name);
struct str serve_level_name(int level); /* "": no such level */

/* --- what a client can be asked --- */

enum client_can {
    CAN_SAMPLE = 1 << 0,
    CAN_SAMPLE_TOOLS = 1 << 1,
    CAN_SAMPLE_CONTEXT = 1 << 2,
    CAN_FILL_FORMS = 1 << 3, /* elicitation: {} says so, too */
    CAN_OPEN_URLS = 1 << 4,
    CAN_LIST_ROOTS = 1 << 5,
    CAN_TELL_ROOTS = 1 << 6, /* roots.listChanged */
    CAN_POLL_TASKS = 1 << 7, /* the extension io.modelcontextprotocol/tasks */
};

/* Of ClientCapabilities, of either era. */
unsigned client_can(struct json_span capable);
/* The same as an object, in the modern shape (LM-02). */
void client_can_put(struct buf *out, unsigned can);
/* −32021, which names all of them: the client declared too little. */
void client_fail_missing(struct rpc_reply *reply, unsigned must);
/* What somebody must be able to do who is asked this; 0: nobody can. */
unsigned client_must(struct str method, struct json_span params);
