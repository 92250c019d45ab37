/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON-RPC messages as they go between an MCP client and a server: what a text is, as
 * spans of it. Ids keep their type and text. Nothing is allocated.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/scan.h"

enum mcp_message_type {
    MESSAGE_REQUEST,
    MESSAGE_NOTIFICATION,
    MESSAGE_RESULT,
    MESSAGE_ERROR, /* its id may be missing, or null */
};

struct mcp_message {
    enum mcp_message_type type;
    struct json_span id;     /* a string or a number; text.ptr NULL: none */
    struct str method;       /* as it stands: one with escapes is none of MCP's */
    struct json_span params; /* an object; text.ptr NULL: none, like the next two */
    struct json_span result;
    struct json_span error; /* an object with an integer `code` and a `message` */
    struct str text;        /* the whole */
};

/* ERR_INVALID (`what`, static, says why), ERR_UTF8, ERR_TOO_DEEP. What is none of the
 * four, or has a name twice at the top, is invalid. */
enum err mcp_message_read(struct str text, size_t max_depth, struct mcp_message *ret,
                          const char **ret_what);

/* 2025-03-26 knows batches: the items of an array, or the one message that the text is.
 * `next` is false at the end and on failure. An empty array is ERR_INVALID. */
struct mcp_message_walk {
    struct json_scan scan;
    struct str single;
    bool is_batch, is_over;
};
enum err mcp_message_walk_begin(struct mcp_message_walk *walk, struct str text,
                                size_t max_depth);
bool mcp_message_walk_next(struct mcp_message_walk *walk, struct str *ret,
                           enum err *ret_err);

/* Of an answer to what we asked: our ids are numbers. False: it is none of them. */
bool mcp_message_number(struct json_span id, uint64_t *ret);

/* What stands at a path inside an object ("_meta", "progressToken"), the first where a
 * name stands twice; text.ptr NULL: nothing. The object was scanned before. */
struct json_span mcp_message_find(struct json_span object, const struct str *path,
                                  size_t depth);
/* The same, of a path of one. */
struct json_span mcp_message_member(struct json_span object, struct str name);
/* There is something, and it is of this type. */
bool mcp_message_is(struct json_span span, enum json_type type);

/* Writing: one line, which is what stdio needs. Finished JSON that is given is copied
 * without the line ends between its tokens. */
void mcp_message_put_request(struct buf *out, uint64_t id, struct str method,
                             struct str params);
void mcp_message_put_notification(struct buf *out, struct str method, struct str params);

/* `member` is "result" or "error". */
void mcp_message_put_answer(struct buf *out, struct json_span id, struct str member,
                            struct str json);
