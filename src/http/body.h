/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a request or an answer: a length, or chunks (RFC 9112 7.1). Bytes in,
 * pieces of the content out; the decoder holds none of them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "http/request.h"

enum http_body_state { HTTP_BODY_DONE, HTTP_BODY_LENGTH, HTTP_BODY_CHUNKED };

struct http_body {
    enum http_body_state state;
    uint64_t left;      /* of the length or of the current chunk */
    uint64_t total;     /* content seen so far */
    uint64_t max_bytes; /* ERR_TOO_LARGE above */
    uint8_t step;       /* inside the chunk syntax */
    uint16_t line;      /* length of the chunk line or trailers so far */
};

/* ERR_TOO_LARGE at once where Content-Length already says so; the body is then unread,
 * and its state says so. */
enum err http_body_init(struct http_body *body, const struct http_request *req,
                        uint64_t max_bytes);

/* A body in chunks, whatever brings it. */
void http_body_init_chunked(struct http_body *body, uint64_t max_bytes);

/*
 * Takes from `*bytes` and gives the next piece of content. OK with an empty piece: more
 * bytes are needed, or the body is done (state HTTP_BODY_DONE; what is left in *bytes
 * belongs to the next request). ERR_BAD_REQUEST, ERR_TOO_LARGE: the connection is of no
 * use any more. Trailers are read, bounded and dropped. Chunk extensions are bounded and
 * ignored.
 */
enum err http_body_next(struct http_body *body, struct str *bytes, struct str *ret_piece);
