/* SPDX-License-Identifier: Apache-2.0 */
/* Header lines, as requests and answers have them (RFC 9112 5). */
#include "http/http_priv.h"

static enum err bad(const char **ret_why, const char *why)
{
    *ret_why = why;
    return ERR_BAD_REQUEST;
}

enum err http_headers_end(struct str bytes, size_t from, size_t *ret,
                          const char **ret_why)
{
    for (size_t count = 0;; count++) {
        size_t end = str_find(bytes, '\n', from);

        if (end == bytes.len)
            return ERR_AGAIN;
        if (end == from || bytes.ptr[end - 1] != '\r')
            return bad(ret_why, "LF without CR");
        if (end == from + 1) {
            *ret = end + 1;
            return OK;
        }
        if (count == HTTP_MAX_HEADERS) {
            *ret_why = "too many header lines";
            return ERR_HEAD_TOO_LARGE;
        }
        from = end + 1;
    }
}

static enum err read_line(struct str line, struct http_header *ret, const char **ret_why)
{
    size_t colon = 0;

    if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
        return bad(ret_why, "folded header line");
    while (colon < line.len && http_is_token(line.ptr[colon]))
        colon++;
    if (colon == 0 || colon == line.len || line.ptr[colon] != ':')
        return bad(ret_why, "malformed header name");
    for (size_t i = colon + 1; i < line.len; i++)
        if (!http_is_value(line.ptr[i]))
            return bad(ret_why, "control character in a header value");
    ret->name = str_slice(line, 0, colon);
    ret->value = str_trim(str_slice(line, colon + 1, line.len));
    return OK;
}

enum err http_headers_read(struct str lines,
                           struct http_header out[static HTTP_MAX_HEADERS],
                           size_t *ret_count, const char **ret_why)
{
    size_t count = 0;

    for (size_t at = 0; at + 2 < lines.len; count++) {
        size_t stop = str_find(lines, '\n', at) - 1;
        enum err err = read_line(str_slice(lines, at, stop), &out[count], ret_why);

        if (err)
            return err;
        at = stop + 2;
    }
    *ret_count = count;
    return OK;
}

struct str http_headers_find(const struct http_header *headers, size_t count,
                             struct str name, size_t *ret_count)
{
    struct str found = {};
    size_t seen = 0;

    for (size_t i = 0; i < count; i++) {
        if (!str_ieq(headers[i].name, name))
            continue;
        if (seen == 0)
            found = headers[i].value;
        seen++;
    }
    if (ret_count)
        *ret_count = seen;
    return found;
}

static bool list_has(struct str list, struct str token)
{
    while (list.ptr)
        if (str_ieq(str_trim(str_cut(&list, ',')), token))
            return true;
    return false;
}

bool http_headers_have(const struct http_header *headers, size_t count, struct str name,
                       struct str token)
{
    for (size_t i = 0; i < count; i++)
        if (str_ieq(headers[i].name, name) && list_has(headers[i].value, token))
            return true;
    return false;
}
