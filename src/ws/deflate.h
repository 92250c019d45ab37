/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permessage-deflate (RFC 7692), always without context takeover in both directions: one
 * inflater and one deflater serve every connection of a loop, one compressed frame serves
 * every receiver, and no connection keeps zlib state.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct ws_inflater;
struct ws_deflater;

struct ws_inflater *ws_inflater_new(void);
void ws_inflater_free(struct ws_inflater *inflater);

/* One whole message. ERR_TOO_BIG above `out->max`, ERR_INVALID for bad data. */
enum err ws_inflate(struct ws_inflater *inflater, struct str compressed, struct buf *out);

/* `window_bits` 9 to 15. */
struct ws_deflater *ws_deflater_new(int window_bits);
void ws_deflater_free(struct ws_deflater *deflater);

/* Appends the compressed form of one message, without the trailing 00 00 ff ff. */
enum err ws_deflate(struct ws_deflater *deflater, struct str message, struct buf *out);

/* What was agreed on. */
struct ws_extension {
    bool is_on;
    int server_bits;        /* 9 to 15 */
    bool names_server_bits; /* the answer must say server_max_window_bits */
    bool names_client_bits; /* the answer says client_max_window_bits=15 */
};

/* Chooses among the offers of all Sec-WebSocket-Extensions headers joined by commas.
 * Offers with unknown or repeated parameters, bad values, or a server window below
 * `min_bits` are passed over. No acceptable offer: is_on false. ERR_BAD_REQUEST for a
 * broken header. */
enum err ws_extension_choose(struct str offers, int min_bits, struct ws_extension *ret);

/* Writes the value of the answering header. */
void ws_extension_write(struct buf *out, const struct ws_extension *ext);
