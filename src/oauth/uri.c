/* SPDX-License-Identifier: Apache-2.0 */
#include "oauth/uri.h"

#include "http/request.h"

enum { URI_BYTES = 2048, HTTP_PORT = 80, HTTPS_PORT = 443 };

/* Printable ASCII but for what RFC 3986 gives no place. */
static bool is_uri_text(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] >= 0x7f ||
            str_find(S("\"<>\\^`{|}"), text.ptr[i], 0) < 9)
            return false;
    return text.len <= URI_BYTES;
}

static bool cut_prefix(struct str *text, struct str prefix)
{
    if (!str_ieq(str_slice(*text, 0, prefix.len), prefix))
        return false;
    *text = str_slice(*text, prefix.len, text->len);
    return true;
}

static bool is_ipv6_literal(struct str host)
{
    size_t colons = 0;

    if (host.len < 4 || host.ptr[0] != '[' || host.ptr[host.len - 1] != ']')
        return false;
    for (size_t i = 1; i + 1 < host.len; i++) {
        colons += host.ptr[i] == ':';
        if (str_hex_digit(host.ptr[i]) < 0 && host.ptr[i] != ':' && host.ptr[i] != '.')
            return false;
    }
    return colons >= 2;
}

static enum err read_authority(struct str authority, struct uri *uri)
{
    size_t end = authority.len && authority.ptr[0] == '['
                     ? str_find(authority, ']', 0) + 1
                     : str_find(authority, ':', 0);
    uint64_t port = uri->is_secure ? HTTPS_PORT : HTTP_PORT;

    uri->host = str_slice(authority, 0, end);
    if (!is_ipv6_literal(uri->host) && !http_is_host_name(uri->host))
        return ERR_INVALID;
    if (end < authority.len &&
        (authority.ptr[end] != ':' ||
         str_to_u64(str_slice(authority, end + 1, authority.len), UINT16_MAX, &port) ||
         port == 0))
        return ERR_INVALID;
    uri->port = (uint16_t)port;
    return OK;
}

static size_t first_of(struct str text, struct str ends)
{
    size_t at = text.len;

    for (size_t i = 0; i < ends.len; i++) {
        size_t found = str_find(text, ends.ptr[i], 0);

        at = found < at ? found : at;
    }
    return at;
}

enum err uri_parse(struct str text, struct uri *ret)
{
    struct uri uri = {};
    size_t end;

    if (!is_uri_text(text))
        return ERR_INVALID;
    if (cut_prefix(&text, S("https://")))
        uri.is_secure = true;
    else if (!cut_prefix(&text, S("http://")))
        return ERR_INVALID;
    end = first_of(text, S("/?#"));
    if (read_authority(str_slice(text, 0, end), &uri))
        return ERR_INVALID;
    text = str_slice(text, end, text.len);
    end = str_find(text, '#', 0);
    uri.has_fragment = end < text.len;
    text = str_slice(text, 0, end);
    uri.path = str_cut(&text, '?');
    uri.query = text;
    *ret = uri;
    return OK;
}

bool uri_is_same_origin(const struct uri *a, const struct uri *b)
{
    return a->is_secure == b->is_secure && a->port == b->port &&
           str_ieq(a->host, b->host);
}

static bool is_ipv4(struct str host)
{
    size_t dots = 0;

    for (size_t i = 0; i < host.len; i++) {
        dots += host.ptr[i] == '.';
        if (host.ptr[i] != '.' && (host.ptr[i] < '0' || host.ptr[i] > '9'))
            return false;
    }
    return dots == 3;
}

bool uri_is_loopback(const struct uri *uri)
{
    struct str host = uri->host;

    return str_ieq(host, S("localhost")) || str_eq(host, S("[::1]")) ||
           (is_ipv4(host) && str_starts(host, S("127.")));
}

static struct str without_last_slash(struct str path)
{
    return str_ends(path, S("/")) ? str_slice(path, 0, path.len - 1) : path;
}

bool uri_is_above(const struct uri *resource, const struct uri *server)
{
    struct str above = without_last_slash(resource->path);
    struct str path = server->path;

    return uri_is_same_origin(resource, server) && str_starts(path, above) &&
           (path.len == above.len || path.ptr[above.len] == '/');
}

void uri_put_origin(struct buf *out, const struct uri *uri)
{
    buf_put(out, uri->is_secure ? S("https://") : S("http://"));
    for (size_t i = 0; i < uri->host.len; i++) {
        char c = uri->host.ptr[i];

        if (c >= 'A' && c <= 'Z')
            c = (char)(c | 0x20);
        buf_putc(out, c);
    }
    if (uri->port != (uri->is_secure ? HTTPS_PORT : HTTP_PORT)) {
        buf_putc(out, ':');
        buf_putu(out, uri->port);
    }
}

bool uri_has_path(const struct uri *uri)
{
    return uri->path.len > 1;
}

void uri_put_canonical(struct buf *out, const struct uri *uri)
{
    uri_put_origin(out, uri);
    if (uri_has_path(uri))
        buf_put(out, uri->path);
}

void uri_put_well_known(struct buf *out, const struct uri *uri, struct str name,
                        enum uri_place place)
{
    uri_put_origin(out, uri);
    if (place == URI_AFTER_PATH)
        buf_put(out, without_last_slash(uri->path));
    buf_put(out, S("/.well-known/"));
    buf_put(out, name);
    if (place == URI_BEFORE_PATH)
        buf_put(out, without_last_slash(uri->path));
}

void uri_put_escaped(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool is_plain = (c >= '0' && c <= '9') ||
                        ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
                        str_find(S("-._~"), (char)c, 0) < 4;

        if (is_plain)
            buf_putc(out, (char)c);
        else
            buf_putf(out, "%%%02X", c);
    }
}
