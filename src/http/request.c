/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The head of a request. Every call starts from the first byte, so it goes in three
 * passes of which the first two are cheap and run on partial heads as well:
 *
 *   1. the request line, byte by byte, so that garbage is refused at once;
 *   2. the ends of the header lines, until the empty one;
 *   3. once the head is whole: the header lines, then what they mean together.
 *
 * Each pass reports the first error in the order of the bytes. A head therefore gets the
 * same answer in whatever pieces it arrives.
 */
#include "http/request.h"

#include <string.h>

#include "base/cleanup.h"
#include "http/http_priv.h"

enum { METHOD_BYTES = 32 };

struct head {
    struct str bytes; /* as far as the limit lets us look */
    size_t at;
    const struct http_limits *limits;
    struct arena *scratch;
    const char *why;
};

struct request_line {
    struct str method;
    struct str target;
    unsigned minor_version;
};

/* clang-format off */
static const struct {
    struct str text;
    enum http_method method;
} methods[] = {
    { S("GET"),     HTTP_GET },
    { S("HEAD"),    HTTP_HEAD },
    { S("POST"),    HTTP_POST },
    { S("PUT"),     HTTP_PUT },
    { S("PATCH"),   HTTP_PATCH },
    { S("DELETE"),  HTTP_DELETE },
    { S("OPTIONS"), HTTP_OPTIONS },
};
/* clang-format on */

static enum err fail(struct head *head, enum err err, const char *why)
{
    head->why = why;
    return err;
}

static enum err bad(struct head *head, const char *why)
{
    return fail(head, ERR_BAD_REQUEST, why);
}

/* RFC 9112 2.2: an empty line before the request line is what some old clients send
 * behind a body. One is enough for them. */
static enum err skip_empty_line(struct head *head)
{
    struct str bytes = head->bytes;

    if (bytes.len == 0)
        return ERR_AGAIN;
    if (bytes.ptr[0] != '\r')
        return OK;
    if (bytes.len == 1)
        return ERR_AGAIN;
    if (bytes.ptr[1] != '\n')
        return bad(head, "CR without LF");
    head->at = 2;
    return OK;
}

static enum err scan_method(struct head *head, struct str *ret)
{
    struct str bytes = head->bytes;
    size_t from = head->at;
    size_t at = from;

    while (at < bytes.len && at - from <= METHOD_BYTES && http_is_token(bytes.ptr[at]))
        at++;
    if (at - from > METHOD_BYTES)
        return fail(head, ERR_NOT_IMPLEMENTED, "method too long");
    if (at == bytes.len)
        return ERR_AGAIN;
    if (at == from || bytes.ptr[at] != ' ')
        return bad(head, "not a request line");
    *ret = str_slice(bytes, from, at);
    head->at = at + 1;
    return OK;
}

/* Visible ASCII without '#', which ends a target, and without what no URI may hold and
 * some readers repair. */
static bool is_target(char c)
{
    return c > ' ' && c < 0x7f && !strchr("#\"<>\\", c);
}

/* "GET /" and a line end is HTTP/0.9. */
static enum err refuse_end_of_target(struct head *head, size_t at)
{
    struct str rest = str_slice(head->bytes, at, at + 2);

    if (str_eq(rest, S("\r")))
        return ERR_AGAIN;
    if (str_eq(rest, S("\r\n")))
        return fail(head, ERR_HTTP_VERSION, "request line without a version");
    return bad(head, "illegal character in the request target");
}

static enum err scan_target(struct head *head, size_t max, struct str *ret)
{
    struct str bytes = head->bytes;
    size_t from = head->at;
    size_t at = from;

    while (at < bytes.len && at - from <= max && is_target(bytes.ptr[at]))
        at++;
    if (at - from > max)
        return fail(head, ERR_URI_TOO_LONG, "request target too long");
    if (at == bytes.len)
        return ERR_AGAIN;
    if (at == from)
        return bad(head, "no request target");
    if (bytes.ptr[at] != ' ')
        return refuse_end_of_target(head, at);
    *ret = str_slice(bytes, from, at);
    head->at = at + 1;
    return OK;
}

static const char version_form[] = "HTTP/d.d\r\n"; /* d: a digit */
enum { MAJOR = 5, MINOR = 7, VERSION_BYTES = sizeof(version_form) - 1 };

static enum err check_version(struct head *head, size_t at, char c)
{
    bool is_form = version_form[at] == 'd' ? c >= '0' && c <= '9' : c == version_form[at];

    if (!is_form)
        return bad(head, "malformed HTTP version");
    if ((at == MAJOR && c != '1') || (at == MINOR && c > '1'))
        return fail(head, ERR_HTTP_VERSION, "only HTTP/1.0 and HTTP/1.1 are spoken");
    return OK;
}

static enum err scan_version(struct head *head, unsigned *ret)
{
    struct str rest = str_slice(head->bytes, head->at, head->at + VERSION_BYTES);

    for (size_t i = 0; i < rest.len; i++) {
        enum err err = check_version(head, i, rest.ptr[i]);

        if (err)
            return err;
    }
    if (rest.len < VERSION_BYTES)
        return ERR_AGAIN;
    *ret = (unsigned)(rest.ptr[MINOR] - '0');
    head->at += VERSION_BYTES;
    return OK;
}

static enum err scan_request_line(struct head *head, size_t max_target,
                                  struct request_line *ret)
{
    enum err err = skip_empty_line(head);

    if (!err)
        err = scan_method(head, &ret->method);
    if (!err)
        err = scan_target(head, max_target, &ret->target);
    if (!err)
        err = scan_version(head, &ret->minor_version);
    return err;
}

static enum err check_host(struct head *head, struct http_request *req)
{
    size_t count;
    struct str host = http_header_find(req, S("host"), &count);

    if (count > 1)
        return bad(head, "more than one Host");
    if (count == 0 && req->minor_version > 0)
        return bad(head, "no Host");
    if (count == 0)
        return OK;
    if (!http_is_host(host))
        return bad(head, "malformed Host");
    req->host = host;
    return OK;
}

/* No sign, no list, no leading zero: one spelling per number. */
static enum err check_length(struct head *head, struct http_request *req)
{
    size_t count;
    struct str text = http_header_find(req, S("content-length"), &count);

    if (count == 0)
        return OK;
    if (count > 1)
        return bad(head, "more than one Content-Length");
    if (text.len > 1 && text.ptr[0] == '0')
        return bad(head, "malformed Content-Length");
    if (str_to_u64(text, INT64_MAX, &req->length))
        return bad(head, "malformed Content-Length");
    req->has_length = true;
    return OK;
}

static bool is_token(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (!http_is_token(text.ptr[i]))
            return false;
    return text.len > 0;
}

/* True for a list of codings that ends where chunks end it, so that only the codings
 * before are beyond us: RFC 9112 6.1 wants 501 there, and 6.3 wants 400 otherwise. */
static bool ends_chunked(struct str codings)
{
    while (codings.ptr) {
        struct str coding = str_trim(str_cut(&codings, ','));

        if (!is_token(coding) || str_ieq(coding, S("chunked")) != !codings.ptr)
            return false;
    }
    return true;
}

static enum err check_coding(struct head *head, struct http_request *req)
{
    size_t count;
    struct str coding = http_header_find(req, S("transfer-encoding"), &count);

    if (count == 0)
        return OK;
    if (count > 1)
        return bad(head, "more than one Transfer-Encoding");
    if (req->minor_version == 0)
        return bad(head, "Transfer-Encoding in HTTP/1.0");
    if (http_header_find(req, S("content-length"), NULL).ptr)
        return bad(head, "Content-Length with Transfer-Encoding");
    req->is_chunked = str_ieq(coding, S("chunked"));
    if (req->is_chunked)
        return OK;
    if (ends_chunked(coding))
        return fail(head, ERR_NOT_IMPLEMENTED,
                    "only the chunked transfer coding is known");
    return bad(head, "malformed Transfer-Encoding");
}

static enum err check_target(struct head *head, struct http_request *req)
{
    return http_target_read(req, req->target, head->limits, head->scratch, &head->why);
}

static enum err check_expect(struct head *head, struct http_request *req)
{
    bool has_body = req->is_chunked || req->length > 0;

    for (size_t i = 0; i < req->header_count; i++) {
        if (!str_ieq(req->headers[i].name, S("expect")))
            continue;
        if (!str_ieq(req->headers[i].value, S("100-continue")))
            return fail(head, ERR_EXPECTATION, "only 100-continue may be expected");
        /* RFC 9110 10.1.1: HTTP/1.0 knows no interim answers. */
        req->expects_continue = has_body && req->minor_version > 0;
    }
    return OK;
}

static enum err check_connection(struct head *, struct http_request *req)
{
    bool closes = http_header_has_token(req, S("connection"), S("close"));
    bool keeps = http_header_has_token(req, S("connection"), S("keep-alive"));

    req->keeps_alive = !closes && (keeps || req->minor_version > 0);
    return OK;
}

static enum err (*const checks[])(struct head *, struct http_request *) = {
    check_length, check_coding, check_host, check_target, check_expect, check_connection,
};

static enum http_method method_of(struct str text)
{
    for (size_t i = 0; i < COUNT(methods); i++)
        if (str_eq(text, methods[i].text))
            return methods[i].method;
    return HTTP_OTHER;
}

static enum err read_head(struct head *head, const struct request_line *line, size_t end,
                          struct http_request *ret)
{
    struct http_request req = {
        .method = method_of(line->method),
        .method_text = line->method,
        .target = line->target,
        .minor_version = line->minor_version,
        .host = S(""),
    };
    enum err err = http_headers_read(str_slice(head->bytes, head->at, end), req.headers,
                                     &req.header_count, &head->why);

    for (size_t i = 0; !err && i < COUNT(checks); i++)
        err = checks[i](head, &req);
    if (!err)
        *ret = req;
    return err;
}

static enum err find_end(struct head *head, struct request_line *ret_line, size_t *ret)
{
    size_t max = head->limits->head_bytes;
    enum err err = scan_request_line(head, head->limits->target_bytes, ret_line);

    if (!err)
        err = http_headers_end(head->bytes, head->at, ret, &head->why);
    if (err == ERR_AGAIN && head->bytes.len >= max)
        err = fail(head, ERR_HEAD_TOO_LARGE, "request head too large");
    return err;
}

static struct head head_of(struct str bytes, const struct http_limits *limits,
                           struct arena *scratch)
{
    return (struct head){ .bytes = str_slice(bytes, 0, limits->head_bytes),
                          .limits = limits,
                          .scratch = scratch };
}

enum err http_request_measure(struct str bytes, const struct http_limits *limits,
                              size_t *ret, const char **ret_why)
{
    struct head head = head_of(bytes, limits, NULL);
    struct request_line line;
    enum err err = find_end(&head, &line, ret);

    if (err && err != ERR_AGAIN)
        *ret_why = head.why;
    return err;
}

enum err http_request_parse(struct str bytes, const struct http_limits *limits,
                            struct arena *scratch, struct http_request *ret,
                            size_t *ret_used, const char **ret_why)
{
    struct head head = head_of(bytes, limits, scratch);
    struct request_line line;
    size_t end;
    enum err err = find_end(&head, &line, &end);

    if (!err)
        err = read_head(&head, &line, end, ret);
    if (!err)
        *ret_used = end;
    else if (err != ERR_AGAIN)
        *ret_why = head.why;
    return err;
}

struct str http_header_find(const struct http_request *req, struct str name,
                            size_t *ret_count)
{
    return http_headers_find(req->headers, req->header_count, name, ret_count);
}

bool http_header_has_token(const struct http_request *req, struct str name,
                           struct str token)
{
    return http_headers_have(req->headers, req->header_count, name, token);
}
