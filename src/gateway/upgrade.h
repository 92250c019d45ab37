/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The opening handshake of a WebSocket (RFC 6455 4.2): is this request one, and the
 * answer to it. Here because it knows both HTTP and WebSocket; pure like they are.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "http/request.h"
#include "json/json.h"
#include "ws/deflate.h"

struct upgrade {
    struct str key; /* borrowed from the request */
    struct ws_extension extension;
    struct str subprotocol; /* the one agreed on, static; "" for none: the caller's say */
};

/*
 * ERR_METHOD: not GET. ERR_UPGRADE_REQUIRED: does not ask for a WebSocket, or for another
 * version than 13. ERR_BAD_REQUEST: asks, but not in the right form (HTTP/1.0,
 * Connection, key, extensions, a body). *ret_why is static text. Compression is agreed on
 * only with a server window of at least `min_bits`; 0: never.
 */
enum err upgrade_check(const struct http_request *req, int min_bits, struct upgrade *ret,
                       const char **ret_why);

/* The first of the client's offers (RFC 6455 4.2.2: its order is its preference) that is
 * among the known ones, as an index into them; `known.count` if there is none. */
size_t upgrade_choose(const struct http_request *req, struct str_list known);

/* The header lines that the answer to such an error must carry, or "". */
struct str upgrade_refusal_headers(enum err err);

/* Writes the whole head of the answer: 101 Switching Protocols. */
void upgrade_write(struct buf *out, const struct upgrade *upgrade);
