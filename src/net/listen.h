/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listening sockets. One socket may be watched by the loops of several workers
 * (EPOLLEXCLUSIVE): each accepts in bounded batches. When descriptors run out it pauses
 * and logs instead of spinning.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

enum { NET_ADDRESS = 64 };

/* The peer of an accepted connection. */
struct net_peer {
    char address[NET_ADDRESS]; /* "127.0.0.1", "::1", or "local" for Unix sockets */
    uint16_t port;
    bool is_local;   /* Unix socket */
    bool is_trusted; /* the owner's to set: it needs no credential */
    uint32_t uid;    /* of the peer, Unix sockets only */
};

/* "127.0.0.1:8420", "[::1]:0", "0.0.0.0:80", "localhost:8420" or "unix:/path" (mode 0600,
 * a stale socket is replaced, a live one is ERR_CONFLICT). *ret_why is static text. */
enum err net_listen(struct str address, int *ret_fd, const char **ret_why);

/* Writes the bound address, for example "127.0.0.1:8420" after port 0. */
void net_bound_address(int fd, char ret[static NET_ADDRESS]);

/* True if the address names only this machine. */
bool net_is_loopback(struct str address);

struct listener {
    struct loop_fd io;
    struct loop_timer pause;
    struct loop *loop;
    void (*on_accept)(void *user, int fd, const struct net_peer *peer);
    void *user;
    int fd; /* not owned: several listeners may share it */
};

enum err listener_init(struct listener *listener, struct loop *loop, int fd,
                       void (*on_accept)(void *user, int fd, const struct net_peer *peer),
                       void *user);
void listener_done(struct listener *listener);
