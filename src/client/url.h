/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a gateway is:
 *
 *     ws://127.0.0.1:8420      wss://moot.example/base      unix:/run/moot/moot.sock
 *     http://[::1]:8420/       https://moot.example/base/ws
 *
 * http is ws and https is wss; what follows the host is where the gateway's paths begin,
 * and may name its door "/ws" or not.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "net/resolve.h"

enum { URL_HOST = RESOLVE_HOST, URL_PATH = 256 };

struct url {
    bool is_local;       /* unix: `host` is the path of a socket */
    bool is_secure;      /* TLS */
    bool is_ipv6;        /* written in brackets, which `host` has not */
    uint16_t port;       /* never 0, but where is_local */
    char host[URL_HOST]; /* a name or an address */
    char path[URL_PATH]; /* "" or "/base", without "/ws" and the last slash */
};

/* ERR_INVALID: a sentence about what is wrong is appended to `why`. It does not repeat
 * the text, which may hold a password. */
enum err url_parse(struct str text, struct url *ret, struct buf *why);

/* "host:port" as the Host header wants it: brackets, no usual port. */
void url_put_host(struct buf *out, const struct url *url);

/* The same for people, with the port. */
void url_put_place(struct buf *out, const struct url *url);

/* Asks for its addresses; see net/resolve.h. */
struct resolve *url_resolve(const struct url *url, enum resolve_how how);
