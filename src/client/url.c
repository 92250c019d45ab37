/* SPDX-License-Identifier: Apache-2.0 */
#include "client/url.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include "base/cleanup.h"
#include "http/request.h"

enum {
    PORT_PLAIN = 80,
    PORT_SECURE = 443,
    NAME_BYTES = 253,
    SOCKET_BYTES = sizeof(((struct sockaddr_un *)0)->sun_path) - 1,
};

/* clang-format off */
static const struct {
    struct str prefix;
    bool is_secure;
} schemes[] = {
    { S("ws://"),    false },
    { S("wss://"),   true  },
    { S("http://"),  false },
    { S("https://"), true  },
};
/* clang-format on */

static enum err bad(struct buf *why, const char *what)
{
    buf_put(why, str_of(what));
    return ERR_INVALID;
}

static bool has_any(struct str text, const char *bytes)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] && strchr(bytes, text.ptr[i]))
            return true;
    return false;
}

static bool has(struct str text, char c)
{
    return str_find(text, c, 0) < text.len;
}

/* What a URL may not hold anywhere, and some readers repair. */
static bool is_visible(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] >= 0x7f)
            return false;
    return !has_any(text, "\"<>\\^`{|}");
}

static void copy(char *out, struct str text)
{
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
}

static enum err read_local(struct str path, struct url *url, struct buf *why)
{
    if (!str_starts(path, S("/")))
        return bad(why,
                   "unix: takes the whole path of a socket, as in unix:/run/moot.sock");
    if (has(path, '\0'))
        return bad(why, "the path of the socket holds a NUL");
    if (path.len > SOCKET_BYTES)
        return bad(why, "the path of the socket is longer than sockets' paths can be");
    url->is_local = true;
    copy(url->host, path);
    return OK;
}

static bool is_name(struct str name)
{
    return http_is_host_name(name) && name.len <= NAME_BYTES && name.ptr[0] != '-';
}

/* Takes "[::1]" from the front of `*rest`. */
static enum err read_ipv6(struct str *rest, struct url *url, struct buf *why)
{
    size_t end = str_find(*rest, ']', 0);
    struct str text = str_slice(*rest, 1, end);
    struct in6_addr address;

    if (end < rest->len && text.len < INET6_ADDRSTRLEN)
        copy(url->host, text);
    *rest = str_slice(*rest, end + 1, rest->len);
    if (inet_pton(AF_INET6, url->host, &address) != 1)
        return bad(why, "what stands in brackets is not an IPv6 address");
    url->is_ipv6 = true;
    return OK;
}

static enum err read_name(struct str *rest, struct url *url, struct buf *why)
{
    struct str name = str_slice(*rest, 0, str_find(*rest, ':', 0));

    *rest = str_slice(*rest, name.len, rest->len);
    if (!name.len)
        return bad(why, "the URL names no host");
    if (has(*rest, ':') && has(str_slice(*rest, 1, rest->len), ':'))
        return bad(why, "an IPv6 address is written in brackets, as in ws://[::1]:8420");
    if (!is_name(name))
        return bad(why, "the host is neither a name nor an address");
    copy(url->host, name);
    return OK;
}

static enum err read_authority(struct str text, struct url *url, struct buf *why)
{
    struct str rest = text;
    uint64_t port = url->is_secure ? PORT_SECURE : PORT_PLAIN;
    enum err err;

    if (has(text, '@'))
        return bad(why, "the URL holds a name or password; the token is given apart");
    err = str_starts(rest, S("[")) ? read_ipv6(&rest, url, why)
                                   : read_name(&rest, url, why);
    if (err)
        return err;
    if (rest.len && (rest.ptr[0] != ':' ||
                     str_to_u64(str_slice(rest, 1, rest.len), UINT16_MAX, &port)))
        return bad(why, "the port is not a number from 1 to 65535");
    if (port == 0)
        return bad(why, "the port is not a number from 1 to 65535");
    url->port = (uint16_t)port;
    return OK;
}

static bool is_escape(struct str text, size_t at)
{
    struct str escape = str_slice(text, at, at + 3);

    return escape.len == 3 && str_hex_digit(escape.ptr[1]) >= 0 &&
           str_hex_digit(escape.ptr[2]) >= 0;
}

static enum err check_path(struct str path, struct buf *why)
{
    struct str rest = path;

    for (size_t at = str_find(path, '%', 0); at < path.len;
         at = str_find(path, '%', at + 1))
        if (!is_escape(path, at))
            return bad(why, "the path of the URL has a broken escape");
    while (rest.ptr) {
        struct str segment = str_cut(&rest, '/');

        if (str_eq(segment, S(".")) || str_eq(segment, S("..")))
            return bad(why, "the path of the URL has a dot segment");
    }
    return OK;
}

static enum err read_path(struct str path, struct url *url, struct buf *why)
{
    while (str_ends(path, S("/")))
        path.len--;
    if (str_ends(path, S("/ws")))
        path.len -= 3;
    while (str_ends(path, S("/")))
        path.len--;
    if (path.len >= URL_PATH)
        return bad(why, "the path of the URL is too long");
    if (!path.len)
        return OK;
    copy(url->path, path);
    return check_path(path, why);
}

static enum err read_remote(struct str rest, struct url *url, struct buf *why)
{
    size_t end = str_find(rest, '/', 0);
    enum err err;

    if (!is_visible(rest))
        return bad(why, "the URL holds a character that no URL has");
    if (has(rest, '?'))
        return bad(why, "the URL has a query; topic and options are given apart");
    if (has(rest, '#'))
        return bad(why, "the URL has a fragment");
    err = read_authority(str_slice(rest, 0, end), url, why);
    if (err)
        return err;
    return read_path(str_slice(rest, end, rest.len), url, why);
}

static enum err read_any(struct str text, struct url *url, struct buf *why)
{
    if (str_ieq(str_slice(text, 0, 5), S("unix:")))
        return read_local(str_slice(text, 5, text.len), url, why);
    for (size_t i = 0; i < COUNT(schemes); i++) {
        size_t len = schemes[i].prefix.len;

        if (!str_ieq(str_slice(text, 0, len), schemes[i].prefix))
            continue;
        url->is_secure = schemes[i].is_secure;
        return read_remote(str_slice(text, len, text.len), url, why);
    }
    return bad(why,
               "the URL begins with none of ws://, wss://, http://, https://, unix:");
}

enum err url_parse(struct str text, struct url *ret, struct buf *why)
{
    struct url url = {};
    enum err err = read_any(text, &url, why);

    if (!err)
        *ret = url;
    return err;
}

static void put_name(struct buf *out, const struct url *url)
{
    buf_putf(out, url->is_ipv6 ? "[%s]" : "%s", url->host);
}

void url_put_host(struct buf *out, const struct url *url)
{
    if (url->is_local) {
        buf_put(out, S("localhost"));
        return;
    }
    put_name(out, url);
    if (url->port != (url->is_secure ? PORT_SECURE : PORT_PLAIN))
        buf_putf(out, ":%u", url->port);
}

void url_put_place(struct buf *out, const struct url *url)
{
    put_name(out, url);
    if (!url->is_local)
        buf_putf(out, ":%u", url->port);
}

struct resolve *url_resolve(const struct url *url, enum resolve_how how)
{
    if (url->is_local)
        return resolve_local(url->host);
    return resolve_new(url->host, url->port, how);
}
