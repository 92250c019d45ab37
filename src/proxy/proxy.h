/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The way out for a child whose network is its own: a CONNECT proxy that listens inside
 * that network (spawn.h: proxy_fd) and goes out from ours, to named hosts alone. The name
 * is checked as it was asked for, then every address that it resolves to: private,
 * link-local and loopback ones are not public, whatever their name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "loop/loop.h"
#include "net/conn.h"

struct proxy;

/* Which of the hosts may have an address that is not public; link-local ones never. */
enum proxy_private {
    PROXY_PUBLIC,   /* none */
    PROXY_LITERALS, /* those that the operator named as numbers, or localhost */
    PROXY_NAMED,    /* all that the operator named, but those with a * */
};

struct proxy_settings {
    const struct str *hosts; /* "api.example.org", "*.example.org", "host:8443"; 443 and
                              * 80 where no port is given */
    size_t host_count;
    enum proxy_private reaches_private;
    size_t max_connections;
    uint64_t idle_ms, connect_ms;
    void (*on_refused)(void *user, struct str host, const char *why); /* for the log */
    void *user;
};

/* Takes the descriptor. */
struct proxy *proxy_new(struct loop *loop, struct conn_flusher *flusher, int listen_fd,
                        const struct proxy_settings *settings);
void proxy_free(struct proxy *proxy);

/* What has come in from outside so far. */
uint64_t proxy_received(const struct proxy *proxy);
