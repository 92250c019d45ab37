/* SPDX-License-Identifier: Apache-2.0 */
/* ws:// or wss://HOST:PORT/PATH, where HOST may be a name, an IPv4 or an [IPv6] address;
 * or nats://, redis:// or mqtt://HOST:PORT. */
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench_priv.h"

enum { PORT_SIZE = 8, HTTPS_PORT = 443 };

/* A scheme names the protocol; where one was named as well they must agree. */
static enum err choose_protocol(struct str *rest, const char *named, struct buf *why,
                                struct address *address)
{
    const char *colon = memmem(rest->ptr, rest->len, "://", 3);
    struct str scheme = { rest->ptr, colon ? (size_t)(colon - rest->ptr) : 0 };

    if (colon)
        *rest = str_slice(*rest, scheme.len + 3, rest->len);
    else
        scheme = str_of(named ? named : "ws");
    address->is_secure = str_eq(scheme, S("wss"));
    if (address->is_secure)
        scheme = S("ws");
    address->protocol = protocol_find(scheme);
    if (!address->protocol)
        buf_putf(why,
                 "a server is spoken to by ws, wss, nats, redis or mqtt, not by " STR_FMT,
                 STR_ARG(scheme));
    else if (named && !str_eq(scheme, str_of(named)))
        buf_putf(why, "the URL says " STR_FMT " and not %s", STR_ARG(scheme), named);
    else
        return OK;
    return ERR_INVALID;
}

/* "host:port", "host", "[::1]:port" into its two parts. */
static enum err split_host(struct address *address, char port[static PORT_SIZE])
{
    struct str rest = address->host;
    struct str name;
    uint64_t number = address->is_secure ? HTTPS_PORT : address->protocol->port;

    if (str_starts(rest, S("["))) {
        (void)str_cut(&rest, '[');
        name = str_cut(&rest, ']');
        if (!rest.ptr || (rest.len && rest.ptr[0] != ':'))
            return ERR_INVALID;
        rest = rest.len ? str_slice(rest, 1, rest.len) : (struct str){};
    } else {
        name = str_cut(&rest, ':');
    }
    if (rest.ptr && (str_to_u64(rest, UINT16_MAX, &number) || !number))
        return ERR_INVALID;
    if (!name.len || name.len >= sizeof(address->name))
        return ERR_INVALID;
    (void)snprintf(address->name, sizeof(address->name), STR_FMT, STR_ARG(name));
    (void)snprintf(port, PORT_SIZE, "%u", (unsigned)number);
    return OK;
}

static enum err look_up(const char *port, struct address *address)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;

    if (getaddrinfo(address->name, port, &hints, &found) || !found)
        return ERR_NOT_FOUND;
    memcpy(&address->socket, found->ai_addr, found->ai_addrlen);
    address->socket_size = found->ai_addrlen;
    freeaddrinfo(found);
    if (address->socket.ss_family == AF_INET) {
        struct sockaddr_in in;

        memcpy(&in, &address->socket, sizeof(in));
        address->is_loopback = ntohl(in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    return OK;
}

enum err address_parse(const char *url, const char *protocol, struct buf *why,
                       struct address *ret)
{
    struct address address = {};
    struct str rest = str_of(url);
    char port[PORT_SIZE];
    enum err err;

    err = choose_protocol(&rest, protocol, why, &address);
    if (err)
        return err;
    address.host = str_slice(rest, 0, str_find(rest, '/', 0));
    address.path = str_slice(rest, address.host.len, rest.len);
    if (split_host(&address, port)) {
        buf_putf(why, "%s has no host, or a port that is none", url);
        return ERR_INVALID;
    }
    if (look_up(port, &address)) {
        buf_putf(why, "%s cannot be resolved", address.name);
        return ERR_INVALID;
    }
    *ret = address;
    return OK;
}
