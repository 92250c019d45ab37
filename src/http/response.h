/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing answers: status line and headers, whole bodies or chunks, problem details
 * (RFC 9457).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* How the body's end is known: by its length, or, where it follows in pieces, by an empty
 * chunk (http_write_chunk()), or by the end of the connection. */
enum http_framing { HTTP_LENGTH, HTTP_CHUNKED, HTTP_UNTIL_CLOSE };

struct http_response {
    int status;
    struct str type; /* Content-Type; "" for none */
    struct str body;
    bool keeps_alive;
    bool is_head; /* the request was HEAD: length, but no body */
    enum http_framing framing;
    struct str extra; /* finished header lines, each with CRLF */
};

/* Status line, standard headers without Date (Content-Type, Content-Length, and, unless
 * `extra` has its own, Connection, X-Content-Type-Options and Cache-Control: no-store),
 * extra, body. 1xx, 204 and 304 carry neither type, length nor body. */
void http_write(struct buf *out, const struct http_response *res);

/* One chunk of a body (RFC 9112 7.1); an empty one is its end. */
void http_write_chunk(struct buf *out, struct str bytes);

/* "HTTP/1.1 100 Continue" */
void http_write_continue(struct buf *out);

/* The standard phrase of a status, or "Unknown". */
struct str http_phrase(int status);

/* application/problem+json:
 * {"type":"about:blank","title":…,"status":…,"error":…,"detail":…} into `out`; the detail
 * may be any bytes; `members` are finished JSON members that follow (",\"x\":1"), or "".
 */
void http_problem_body(struct buf *out, enum err err, struct str detail,
                       struct str members);
