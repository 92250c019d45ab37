/* SPDX-License-Identifier: Apache-2.0 */
#include "proxy/target.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "http/request.h"

enum { HTTPS_PORT = 443, HTTP_PORT = 80, MAX_LABEL = 63 };

/* "host", "host:port", "[v6]:port", or a bare v6 address. Port 0: none was given. */
static bool split(struct str text, struct str *ret_host, uint16_t *ret_port)
{
    struct str port;
    uint64_t number = 0;
    size_t at;

    if (str_starts(text, S("["))) {
        at = str_find(text, ']', 0);
        *ret_host = str_slice(text, 1, at);
        port = str_slice(text, at + 1, text.len);
        if (at == text.len || (port.len && port.ptr[0] != ':'))
            return false;
    } else {
        at = str_find(text, ':', 0);
        if (str_find(text, ':', at + 1) < text.len)
            at = text.len; /* several: an address without a port */
        *ret_host = str_slice(text, 0, at);
        port = str_slice(text, at, text.len);
    }
    if (port.len &&
        (str_to_u64(str_slice(port, 1, port.len), UINT16_MAX, &number) || number == 0))
        return false;
    *ret_port = (uint16_t)number;
    if (str_ends(*ret_host, S(".")))
        ret_host->len--;
    return ret_host->len > 0 && ret_host->len <= PROXY_MAX_HOST;
}

static bool is_number(struct str host)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;

    if (host.len >= sizeof(text))
        return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    return inet_pton(AF_INET, text, &address) == 1 ||
           inet_pton(AF_INET6, text, &address) == 1;
}

bool proxy_host_is_literal(struct str host)
{
    struct str name;
    uint16_t port;

    return split(host, &name, &port) &&
           (str_ieq(name, S("localhost")) || is_number(name));
}

/* Parts between dots, none of them empty or longer than DNS has them. */
static bool has_sound_labels(struct str name)
{
    struct str rest = name;

    while (rest.ptr) {
        struct str label = str_cut(&rest, '.');

        if (label.len == 0 || label.len > MAX_LABEL || label.ptr[0] == '-' ||
            str_ends(label, S("-")))
            return false;
    }
    return true;
}

/* Resolvers take "127.1" and "0x7f000001" for addresses too. */
static bool looks_like_number(struct str name)
{
    struct str rest = name, last = name;

    while (rest.ptr)
        last = str_cut(&rest, '.');
    if (str_starts(last, S("0x")) || str_starts(last, S("0X")))
        return true;
    for (size_t i = 0; i < last.len; i++)
        if (last.ptr[i] < '0' || last.ptr[i] > '9')
            return false;
    return true;
}

static const char *name_fault(struct str name)
{
    if (str_eq(name, S("*")))
        return NULL;
    if (str_starts(name, S("*.")))
        name = str_slice(name, 2, name.len);
    else if (is_number(name))
        return NULL;
    if (str_find(name, '*', 0) < name.len)
        return "a * stands alone or at the beginning: *.DOMAIN";
    if (!http_is_host_name(name) || !has_sound_labels(name))
        return "a name has letters, digits, - and _ between dots (others as xn--…)";
    if (looks_like_number(name))
        return "that is no address: write it as 192.0.2.1 or [2001:db8::1]";
    return NULL;
}

const char *proxy_host_fault(struct str host)
{
    bool has_brackets = str_starts(host, S("["));
    struct str name;
    uint16_t port;

    if (host.len == 0)
        return "it is empty";
    for (size_t i = 0; i < host.len; i++)
        if (host.ptr[i] == '/' || host.ptr[i] == '@' || (uint8_t)host.ptr[i] <= ' ')
            return "a host is no URL: HOST, HOST:PORT or *.DOMAIN";
    if (!split(host, &name, &port))
        return "behind the : stands a port, 1 to 65535";
    if (has_brackets && (!is_number(name) || str_find(name, ':', 0) == name.len))
        return "in [ ] stands an IPv6 address";
    if (str_starts(host, S("*.")) && name.len == 1) /* not all of the world */
        return "behind *. stands a domain";
    return name_fault(name);
}

static enum err bad(const char **ret_why, const char *why)
{
    *ret_why = why;
    return ERR_BAD_REQUEST;
}

/* The end of the head, behind its empty line; 0: it has not come. */
static size_t head_end(struct str bytes)
{
    const char *end = bytes.len ? memmem(bytes.ptr, bytes.len, "\r\n\r\n", 4) : NULL;

    return end ? (size_t)(end - bytes.ptr) + 4 : 0;
}

/* RFC 9110 9.3.6: "CONNECT host:port HTTP/1.1"; fields are not looked at. */
static enum err parse_connect(struct str bytes, struct proxy_target *ret,
                              size_t *ret_used, const char **ret_why)
{
    size_t end = head_end(bytes);
    struct str line = str_slice(bytes, 0, str_find(bytes, '\r', 0));
    struct str authority;

    if (!end && bytes.len > PROXY_MAX_HEAD)
        return bad(ret_why, "the head is too large");
    if (!end)
        return ERR_AGAIN;
    (void)str_cut(&line, ' ');
    authority = str_cut(&line, ' ');
    if (!line.ptr || !str_starts(line, S("HTTP/1.")) ||
        !split(authority, &ret->host, &ret->port) || !ret->port)
        return bad(ret_why, "CONNECT wants host:port");
    if (!is_number(ret->host) && !http_is_host_name(ret->host))
        return bad(ret_why, "that is no name of a host");
    ret->is_tunnel = true;
    *ret_used = end;
    return OK;
}

static bool is_for_proxy(struct str name)
{
    static const struct str names[] = { S("connection"), S("keep-alive"),
                                        S("proxy-connection"), S("proxy-authorization"),
                                        S("upgrade") };

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_ieq(name, names[i]))
            return true;
    return false;
}

/* The same request for the host itself. It is the only one on its connection: a second
 * one could be for another host. */
static enum err put_head(const struct http_request *request, struct arena *arena,
                         struct str *ret)
{
    struct buf head;

    buf_init(&head, PROXY_MAX_HEAD + 256);
    buf_put(&head, request->method_text);
    buf_putc(&head, ' ');
    buf_put(&head, request->target);
    buf_put(&head, S(" HTTP/1.1\r\nConnection: close\r\n"));
    for (size_t i = 0; i < request->header_count; i++) {
        if (is_for_proxy(request->headers[i].name))
            continue;
        buf_put(&head, request->headers[i].name);
        buf_put(&head, S(": "));
        buf_put(&head, request->headers[i].value);
        buf_put(&head, S("\r\n"));
    }
    buf_put(&head, S("\r\n"));
    *ret = arena_str(arena, buf_str(&head));
    buf_done(&head);
    return ret->ptr ? OK : ERR_TOO_BIG;
}

static enum err parse_plain(struct str bytes, struct arena *arena,
                            struct proxy_target *ret, size_t *ret_used,
                            const char **ret_why)
{
    const struct http_limits limits = { .head_bytes = PROXY_MAX_HEAD,
                                        .target_bytes = PROXY_MAX_HEAD / 2,
                                        .passes_path_on = true };
    struct http_request *request = arena_alloc(arena, sizeof(*request));
    struct str target = bytes;
    enum err err;

    if (!request)
        return bad(ret_why, "the head is too large");
    err = http_request_parse(bytes, &limits, arena, request, ret_used, ret_why);
    if (err)
        return err;
    (void)str_cut(&target, ' ');
    if (!str_starts(target, S("http://")))
        return bad(ret_why, "this is a proxy: say CONNECT, or GET http://…");
    if (!split(request->host, &ret->host, &ret->port))
        return bad(ret_why, "that is no name of a host");
    if (!ret->port)
        ret->port = HTTP_PORT;
    return put_head(request, arena, &ret->head);
}

enum err proxy_target_parse(struct str bytes, struct arena *arena,
                            struct proxy_target *ret, size_t *ret_used,
                            const char **ret_why)
{
    struct proxy_target target = {};
    bool is_tunnel = str_starts(bytes, S("CONNECT "));
    enum err err;

    if (bytes.len < S("CONNECT ").len)
        return ERR_AGAIN;
    err = is_tunnel ? parse_connect(bytes, &target, ret_used, ret_why)
                    : parse_plain(bytes, arena, &target, ret_used, ret_why);
    if (!err)
        *ret = target;
    return err;
}

static bool is_name_permitted(struct str name, struct str pattern)
{
    struct str below = str_slice(pattern, 1, pattern.len);

    if (str_eq(pattern, S("*")))
        return true;
    if (!str_starts(pattern, S("*.")))
        return str_ieq(name, pattern);
    return name.len > below.len &&
           str_ieq(str_slice(name, name.len - below.len, name.len), below);
}

struct str proxy_target_permitted(const struct proxy_target *target,
                                  const struct str *hosts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct str pattern;
        uint16_t port;

        if (!split(hosts[i], &pattern, &port) ||
            !is_name_permitted(target->host, pattern))
            continue;
        if (port ? target->port == port
                 : target->port == HTTPS_PORT || target->port == HTTP_PORT)
            return hosts[i];
    }
    return S("");
}
