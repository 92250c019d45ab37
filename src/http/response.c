/* SPDX-License-Identifier: Apache-2.0 */
/* Writing answers: the head from a table of standard headers, problem details. */
#include "http/response.h"

#include <assert.h>

#include "base/cleanup.h"
#include "base/utf8.h"

/* clang-format off */
static const struct {
    int status;
    struct str phrase;
} phrases[] = {
    { 100, S("Continue") },
    { 101, S("Switching Protocols") },
    { 200, S("OK") },
    { 201, S("Created") },
    { 202, S("Accepted") },
    { 204, S("No Content") },
    { 206, S("Partial Content") },
    { 301, S("Moved Permanently") },
    { 302, S("Found") },
    { 303, S("See Other") },
    { 304, S("Not Modified") },
    { 307, S("Temporary Redirect") },
    { 308, S("Permanent Redirect") },
    { 400, S("Bad Request") },
    { 401, S("Unauthorized") },
    { 403, S("Forbidden") },
    { 404, S("Not Found") },
    { 405, S("Method Not Allowed") },
    { 406, S("Not Acceptable") },
    { 408, S("Request Timeout") },
    { 409, S("Conflict") },
    { 410, S("Gone") },
    { 411, S("Length Required") },
    { 412, S("Precondition Failed") },
    { 413, S("Content Too Large") },
    { 414, S("URI Too Long") },
    { 415, S("Unsupported Media Type") },
    { 416, S("Range Not Satisfiable") },
    { 417, S("Expectation Failed") },
    { 421, S("Misdirected Request") },
    { 422, S("Unprocessable Content") },
    { 426, S("Upgrade Required") },
    { 428, S("Precondition Required") },
    { 429, S("Too Many Requests") },
    { 431, S("Request Header Fields Too Large") },
    { 500, S("Internal Server Error") },
    { 501, S("Not Implemented") },
    { 502, S("Bad Gateway") },
    { 503, S("Service Unavailable") },
    { 504, S("Gateway Timeout") },
    { 505, S("HTTP Version Not Supported") },
};
/* clang-format on */

struct str http_phrase(int status)
{
    for (size_t i = 0; i < COUNT(phrases); i++)
        if (phrases[i].status == status)
            return phrases[i].phrase;
    return S("Unknown");
}

static bool has_header(struct str lines, struct str name)
{
    while (lines.ptr) {
        struct str line = str_cut(&lines, '\n');

        if (str_ieq(str_cut(&line, ':'), name))
            return true;
    }
    return false;
}

static void put_header(struct buf *out, struct str name, struct str value)
{
    buf_put(out, name);
    buf_put(out, S(": "));
    buf_put(out, value);
    buf_put(out, S("\r\n"));
}

static void put_standard(struct buf *out, const struct http_response *res)
{
    const struct {
        struct str name, value;
    } standard[] = {
        { S("Connection"), res->keeps_alive ? S("keep-alive") : S("close") },
        { S("X-Content-Type-Options"), S("nosniff") },
        { S("Cache-Control"), S("no-store") },
    };

    for (size_t i = 0; i < COUNT(standard); i++)
        if (!has_header(res->extra, standard[i].name))
            put_header(out, standard[i].name, standard[i].value);
}

/* RFC 9110 8.6 and 6.4.1 */
static bool may_have_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

void http_write(struct buf *out, const struct http_response *res)
{
    bool has_body = may_have_body(res->status);

    assert(res->extra.len == 0 || str_ends(res->extra, S("\r\n")));
    buf_put(out, S("HTTP/1.1 "));
    buf_putu(out, (uint64_t)res->status);
    buf_putc(out, ' ');
    buf_put(out, http_phrase(res->status));
    buf_put(out, S("\r\n"));
    if (has_body && res->type.len)
        put_header(out, S("Content-Type"), res->type);
    if (res->framing == HTTP_CHUNKED) {
        put_header(out, S("Transfer-Encoding"), S("chunked"));
    } else if (has_body && res->framing == HTTP_LENGTH) {
        buf_put(out, S("Content-Length: "));
        buf_putu(out, res->body.len);
        buf_put(out, S("\r\n"));
    }
    put_standard(out, res);
    buf_put(out, res->extra);
    buf_put(out, S("\r\n"));
    if (has_body && !res->is_head)
        buf_put(out, res->body);
}

void http_write_chunk(struct buf *out, struct str bytes)
{
    buf_putf(out, "%zx\r\n", bytes.len);
    buf_put(out, bytes);
    buf_put(out, S("\r\n"));
}

void http_write_continue(struct buf *out)
{
    buf_put(out, S("HTTP/1.1 100 Continue\r\n\r\n"));
}

/* Details may quote what a client sent: bytes that are no text become U+FFFD. */
static void put_json(struct buf *out, struct str text)
{
    bool is_text = utf8_is_valid(text);

    buf_putc(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c < 0x20)
            buf_putf(out, "\\u%04x", c);
        else if (c >= 0x80 && !is_text)
            buf_put(out, S("\\ufffd"));
        else if (c == '"' || c == '\\')
            buf_putf(out, "\\%c", c);
        else
            buf_putc(out, (char)c);
    }
    buf_putc(out, '"');
}

void http_problem_body(struct buf *out, enum err err, struct str detail,
                       struct str members)
{
    int status = err_status(err);

    buf_put(out, S("{\"type\":\"about:blank\",\"title\":"));
    put_json(out, http_phrase(status));
    buf_put(out, S(",\"status\":"));
    buf_putu(out, (uint64_t)status);
    buf_put(out, S(",\"error\":"));
    put_json(out, str_of(err_name(err)));
    buf_put(out, S(",\"detail\":"));
    put_json(out, detail);
    buf_put(out, members);
    buf_putc(out, '}');
}
