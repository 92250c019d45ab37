/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The key of the opening handshake (RFC 6455 4.2). The headers themselves are read by
 * whoever holds the HTTP request; this folder does not know HTTP.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* ERR_BAD_REQUEST unless the key is the base64 form of exactly 16 bytes. */
enum err ws_key_check(struct str key);

/* Appends the value of Sec-WebSocket-Accept for the key. */
void ws_accept_write(struct buf *out, struct str key);
