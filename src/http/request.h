/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of an HTTP/1.1 request (RFC 9112), parsed strictly: what two readers could
 * understand differently is refused, so that no request can hide inside another.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_PUT,
    HTTP_PATCH,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_OTHER, /* a valid token that is none of these: 405 or 501 */
};

enum { HTTP_MAX_HEADERS = 64 };

struct http_header {
    struct str name;
    struct str value; /* without surrounding white space */
};

struct http_limits {
    size_t head_bytes;   /* request line and headers together: ERR_HEAD_TOO_LARGE */
    size_t target_bytes; /* ERR_URI_TOO_LONG */
    bool passes_path_on; /* it is another's to judge: `path` stays as it was sent */
};

struct http_request {
    enum http_method method;
    struct str method_text;
    struct str target; /* origin form, also where the absolute form was sent; or "*" */
    struct str path;   /* percent-decoded, in the arena; never holds NUL */
    struct str query;  /* as sent, without '?'; ptr NULL where there is none */
    unsigned minor_version; /* HTTP/1.0 or HTTP/1.1 */
    struct http_header headers[HTTP_MAX_HEADERS];
    size_t header_count;
    struct str host; /* of the Host header; "" in HTTP/1.0 without one */
    bool keeps_alive;
    bool expects_continue;
    bool is_chunked;
    bool has_length;
    uint64_t length;
};

/*
 * Parses one head from the front of `bytes`. ERR_AGAIN: more is needed. OK: *ret_used is
 * the length of the head with its empty line. The result borrows from `bytes` and
 * `scratch`. Otherwise the error tells the status: ERR_BAD_REQUEST, ERR_HEAD_TOO_LARGE,
 * ERR_URI_TOO_LONG, ERR_NOT_IMPLEMENTED (transfer coding, endless method),
 * ERR_HTTP_VERSION, ERR_EXPECTATION, ERR_TOO_BIG (scratch is full); *ret_why is a static
 * text that says what was wrong. A limit is reported as soon as it is exceeded, not when
 * the head is complete. Nothing is kept between calls: each starts from the first byte,
 * and the answer does not depend on the pieces in which the bytes arrived.
 */
enum err http_request_parse(struct str bytes, const struct http_limits *limits,
                            struct arena *scratch, struct http_request *ret,
                            size_t *ret_used, const char **ret_why);

/* Only where one ends: its request line was looked at, its headers were not. The same
 * errors, as far as that goes. */
enum err http_request_measure(struct str bytes, const struct http_limits *limits,
                              size_t *ret, const char **ret_why);

/* The first header of that name (any case); *ret_count, which may be NULL, tells how many
 * there are. ptr NULL where there is none. */
struct str http_header_find(const struct http_request *req, struct str name,
                            size_t *ret_count);

/* True if a comma-separated header holds the token, in any case (Connection: Upgrade). */
bool http_header_has_token(const struct http_request *req, struct str name,
                           struct str token);

/* Walks the parameters of a query: `*rest` starts as req->query and ends with ptr NULL.
 * Decodes '+' and %XX into the arena. Two '&' in a row have a parameter without name
 * between them. ERR_BAD_REQUEST for broken escapes, NUL or invalid UTF-8, ERR_TOO_BIG
 * where scratch is full; both leave `*rest` alone. */
struct http_param {
    struct str name;
    struct str value;
};
enum err http_query_next(struct str *rest, struct arena *scratch, struct http_param *ret);

/* Percent-decodes one path segment or value. Errors as above. */
enum err http_percent_decode(struct str text, struct arena *scratch, struct str *ret);

/* A name of the characters that names of hosts have; an IPv4 address is one, too. */
bool http_is_host_name(struct str name);
