/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a URI in a request: the host, the target and the escapes in it (RFC 9112
 * 3.2, RFC 3986).
 *
 *     http://host:1/topics/a%20b?after=3     absolute form; the authority equals Host
 *                  /topics/a%20b?after=3     origin form
 *                  ^ path        ^ query
 */
#include <string.h>

#include "base/utf8.h"
#include "http/http_priv.h"
#include "http/request.h"

enum { HOST_BYTES = 261 /* 255 of a name, a colon, a port */ };

bool http_is_host_name(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        bool is_alnum =
            (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');

        if (!is_alnum && c != '-' && c != '.' && c != '_')
            return false;
    }
    return name.len > 0;
}

/* What stands between the brackets of an IPv6 literal; its meaning is nobody's here. */
static bool is_ipv6(struct str text)
{
    size_t colons = 0;

    for (size_t i = 0; i < text.len; i++) {
        colons += text.ptr[i] == ':';
        if (str_hex_digit(text.ptr[i]) < 0 && text.ptr[i] != ':' && text.ptr[i] != '.')
            return false;
    }
    return colons >= 2;
}

static bool is_port(struct str text)
{
    uint64_t port;

    return text.len <= 5 && !str_to_u64(text, UINT16_MAX, &port);
}

bool http_is_host(struct str text)
{
    size_t end = 0;
    bool is_valid;

    if (text.len == 0 || text.len > HOST_BYTES)
        return false;
    if (text.ptr[0] == '[') {
        end = str_find(text, ']', 0);
        is_valid = end < text.len && is_ipv6(str_slice(text, 1, end));
        end++;
    } else {
        end = str_find(text, ':', 0);
        is_valid = http_is_host_name(str_slice(text, 0, end));
    }
    if (!is_valid || end == text.len)
        return is_valid;
    return text.ptr[end] == ':' && is_port(str_slice(text, end + 1, text.len));
}

enum plus { PLUS_IS_PLUS, PLUS_IS_SPACE };

/* Reads the escape at `at`, or returns -1 where it is broken. */
static int unescape(struct str text, size_t at)
{
    int high, low;

    if (text.len - at < 3)
        return -1;
    high = str_hex_digit(text.ptr[at + 1]);
    low = str_hex_digit(text.ptr[at + 2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

static enum err decode(struct str text, enum plus plus, struct arena *scratch,
                       struct str *ret)
{
    char *out = arena_alloc(scratch, text.len + 1);
    struct str decoded = { out, 0 };

    if (!out)
        return ERR_TOO_BIG;
    for (size_t at = 0; at < text.len; at++) {
        int c = (unsigned char)text.ptr[at];

        if (c == '%') {
            c = unescape(text, at);
            at += 2;
        } else if (c == '+' && plus == PLUS_IS_SPACE) {
            c = ' ';
        }
        if (c <= 0)
            return ERR_BAD_REQUEST;
        out[decoded.len++] = (char)c;
    }
    if (!utf8_is_valid(decoded))
        return ERR_BAD_REQUEST;
    *ret = decoded;
    return OK;
}

enum err http_percent_decode(struct str text, struct arena *scratch, struct str *ret)
{
    return decode(text, PLUS_IS_PLUS, scratch, ret);
}

enum err http_query_next(struct str *rest, struct arena *scratch, struct http_param *ret)
{
    struct str after = *rest;
    struct str value = str_cut(&after, '&');
    struct str name = str_cut(&value, '=');
    struct http_param param;
    enum err err;

    err = decode(name, PLUS_IS_SPACE, scratch, &param.name);
    if (err)
        return err;
    err = decode(value, PLUS_IS_SPACE, scratch, &param.value);
    if (err)
        return err;
    *rest = after;
    *ret = param;
    return OK;
}

/* Some readers take %2f for a separator and some for a letter. */
static bool has_encoded_slash(struct str path)
{
    for (size_t at = str_find(path, '%', 0); at < path.len;
         at = str_find(path, '%', at + 1))
        if (unescape(path, at) == '/')
            return true;
    return false;
}

static bool has_dot_segment(struct str path)
{
    while (path.ptr) {
        struct str segment = str_cut(&path, '/');

        if (str_eq(segment, S(".")) || str_eq(segment, S("..")))
            return true;
    }
    return false;
}

static enum err read_path(struct str raw, struct arena *scratch, struct str *ret,
                          const char **ret_why)
{
    enum err err;

    if (has_encoded_slash(raw)) {
        *ret_why = "encoded slash in the path";
        return ERR_BAD_REQUEST;
    }
    err = http_percent_decode(raw, scratch, ret);
    if (err) {
        *ret_why = "malformed escape in the path";
        return err;
    }
    if (has_dot_segment(*ret)) {
        *ret_why = "dot segment in the path";
        return ERR_BAD_REQUEST;
    }
    return OK;
}

static enum err read_origin_form(struct http_request *req, struct str target,
                                 const struct http_limits *limits, struct arena *scratch,
                                 const char **ret_why)
{
    struct str query = target;
    struct str path = str_cut(&query, '?');
    enum err err = limits->passes_path_on ? OK : read_path(path, scratch, &path, ret_why);

    if (err)
        return err;
    req->target = target;
    req->path = path;
    req->query = query;
    return OK;
}

/* What follows "http://" or "https://", or ptr NULL for anything else. */
static struct str behind_scheme(struct str target)
{
    static const struct str schemes[] = { S("http://"), S("https://") };

    for (size_t i = 0; i < 2; i++) {
        struct str start = str_slice(target, 0, schemes[i].len);

        if (str_ieq(start, schemes[i]))
            return str_slice(target, start.len, target.len);
    }
    return (struct str){};
}

/* An empty path means "/" (RFC 9110 4.2.3). */
static enum err add_slash(struct str rest, struct arena *scratch, struct str *ret)
{
    char *text = arena_alloc(scratch, rest.len + 2);

    if (!text)
        return ERR_TOO_BIG;
    text[0] = '/';
    memcpy(text + 1, rest.ptr, rest.len);
    *ret = (struct str){ text, rest.len + 1 };
    return OK;
}

static enum err read_absolute_form(struct http_request *req, struct str target,
                                   const struct http_limits *limits,
                                   struct arena *scratch, const char **ret_why)
{
    struct str rest = behind_scheme(target);
    size_t end = 0;
    enum err err = OK;

    if (!rest.ptr) {
        *ret_why = "malformed request target";
        return ERR_BAD_REQUEST;
    }
    while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?')
        end++;
    if (end == 0 || !str_ieq(str_slice(rest, 0, end), req->host)) {
        *ret_why = "the request target names another host";
        return ERR_BAD_REQUEST;
    }
    rest = str_slice(rest, end, rest.len);
    if (!str_starts(rest, S("/")))
        err = add_slash(rest, scratch, &rest);
    if (err) {
        *ret_why = "request target too long";
        return err;
    }
    return read_origin_form(req, rest, limits, scratch, ret_why);
}

enum err http_target_read(struct http_request *req, struct str target,
                          const struct http_limits *limits, struct arena *scratch,
                          const char **ret_why)
{
    if (str_starts(target, S("/")))
        return read_origin_form(req, target, limits, scratch, ret_why);
    if (!str_eq(target, S("*")))
        return read_absolute_form(req, target, limits, scratch, ret_why);
    if (req->method != HTTP_OPTIONS) {
        *ret_why = "'*' is a target for OPTIONS only";
        return ERR_BAD_REQUEST;
    }
    return read_origin_form(req, target, limits, scratch, ret_why);
}
