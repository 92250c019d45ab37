/* SPDX-License-Identifier: Apache-2.0 */
/* Listening: addresses in text form, sockets for them, and accepting in batches. */
#include "net/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"

enum { BACKLOG = 4096, ACCEPT_BATCH = 64, PAUSE_MS = 100 };

/* Any address we listen on. */
union endpoint {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

static bool parse_ip(struct str host, union endpoint *ret)
{
    char text[NET_ADDRESS];

    if (str_eq(host, S("localhost")))
        host = S("127.0.0.1");
    if (host.len >= sizeof(text))
        return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    if (inet_pton(AF_INET, text, &ret->v4.sin_addr) == 1) {
        ret->v4.sin_family = AF_INET;
        return true;
    }
    if (inet_pton(AF_INET6, text, &ret->v6.sin6_addr) == 1) {
        ret->v6.sin6_family = AF_INET6;
        return true;
    }
    return false;
}

/* "host:port" or "[host]:port"; a bare host leaves `*ret_port` empty. */
static struct str split_port(struct str address, struct str *ret_port)
{
    size_t colon = address.len;

    *ret_port = S("");
    if (str_starts(address, S("["))) {
        size_t end = str_find(address, ']', 0);

        *ret_port = str_slice(address, end + 2, address.len);
        return str_slice(address, 1, end);
    }
    while (colon > 0 && address.ptr[colon - 1] != ':')
        colon--;
    if (colon == 0 || str_find(address, ':', 0) != colon - 1)
        return address; /* no colon, or several: a bare IPv6 address */
    *ret_port = str_slice(address, colon, address.len);
    return str_slice(address, 0, colon - 1);
}

static enum err parse_unix(struct str path, union endpoint *ret, socklen_t *ret_size)
{
    if (path.len == 0 || path.len >= sizeof(ret->local.sun_path))
        return ERR_INVALID;
    ret->local.sun_family = AF_UNIX;
    memcpy(ret->local.sun_path, path.ptr, path.len);
    *ret_size = sizeof(ret->local);
    return OK;
}

static enum err parse_endpoint(struct str address, union endpoint *ret,
                               socklen_t *ret_size)
{
    struct str host, port_text;
    uint64_t port;

    memset(ret, 0, sizeof(*ret));
    if (str_starts(address, S("unix:")))
        return parse_unix(str_slice(address, 5, address.len), ret, ret_size);
    host = split_port(address, &port_text);
    if (!parse_ip(host, ret) || str_to_u64(port_text, UINT16_MAX, &port))
        return ERR_INVALID;
    if (ret->any.sa_family == AF_INET6)
        ret->v6.sin6_port = htons((uint16_t)port);
    else
        ret->v4.sin_port = htons((uint16_t)port);
    *ret_size = ret->any.sa_family == AF_INET6 ? sizeof(ret->v6) : sizeof(ret->v4);
    return OK;
}

/* Removes a socket that nobody listens on. */
static enum err clear_stale(const union endpoint *at, socklen_t size,
                            const char **ret_why)
{
    CLEANUP(fd_closep) int probe = -1;
    struct stat st;

    if (lstat(at->local.sun_path, &st))
        return OK;
    *ret_why = "something that is no socket has this path";
    if (!S_ISSOCK(st.st_mode))
        return ERR_CONFLICT;
    probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    *ret_why = "another program listens there";
    if (connect(probe, &at->any, size) == 0 || errno != ECONNREFUSED)
        return ERR_CONFLICT;
    *ret_why = "the old socket cannot be removed";
    return unlink(at->local.sun_path) ? ERR_IO : OK;
}

static enum err bind_failed(const char **ret_why)
{
    switch (errno) {
    case EADDRINUSE: *ret_why = "another program listens there"; return ERR_CONFLICT;
    case EACCES: *ret_why = "permission denied"; return ERR_FORBIDDEN;
    case EADDRNOTAVAIL: *ret_why = "this machine has no such address"; return ERR_IO;
    case ENOENT: *ret_why = "the folder does not exist"; return ERR_NOT_FOUND;
    default: *ret_why = "cannot bind the address"; return ERR_IO;
    }
}

static void set_options(int fd, int family)
{
    const int one = 1;

    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (family == AF_INET6)
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
    if (family == AF_UNIX)
        (void)fchmod(fd, 0600); /* bind() gives the file this mode */
}

enum err net_listen(struct str address, int *ret_fd, const char **ret_why)
{
    union endpoint at;
    socklen_t size;
    enum err err;
    int fd;

    err = parse_endpoint(address, &at, &size);
    if (err) {
        *ret_why = "not an address like 127.0.0.1:8420, [::1]:8420 or unix:/path";
        return err;
    }
    if (at.any.sa_family == AF_UNIX) {
        err = clear_stale(&at, size, ret_why);
        if (err)
            return err;
    }
    fd = socket(at.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return bind_failed(ret_why);
    set_options(fd, at.any.sa_family);
    if (bind(fd, &at.any, size) || listen(fd, BACKLOG)) {
        err = bind_failed(ret_why);
        (void)close(fd);
        return err;
    }
    *ret_fd = fd;
    return OK;
}

/* The host and port of an internet address in text form. */
static uint16_t write_ip(const union endpoint *at, char ret[static NET_ADDRESS])
{
    if (at->any.sa_family == AF_INET6) {
        (void)inet_ntop(AF_INET6, &at->v6.sin6_addr, ret, NET_ADDRESS);
        return ntohs(at->v6.sin6_port);
    }
    (void)inet_ntop(AF_INET, &at->v4.sin_addr, ret, NET_ADDRESS);
    return ntohs(at->v4.sin_port);
}

void net_bound_address(int fd, char ret[static NET_ADDRESS])
{
    union endpoint at = {};
    socklen_t size = sizeof(at);
    char host[NET_ADDRESS];
    uint16_t port;

    (void)getsockname(fd, &at.any, &size);
    if (at.any.sa_family == AF_UNIX) {
        (void)snprintf(ret, NET_ADDRESS, "unix:%.*s", NET_ADDRESS - 6, at.local.sun_path);
        return;
    }
    port = write_ip(&at, host);
    (void)snprintf(ret, NET_ADDRESS, strchr(host, ':') ? "[%.50s]:%u" : "%.50s:%u", host,
                   (unsigned)port);
}

bool net_is_loopback(struct str address)
{
    union endpoint at = {};
    struct str port;

    if (str_starts(address, S("unix:")) || str_eq(address, S("local")))
        return true;
    if (!parse_ip(split_port(address, &port), &at))
        return false;
    if (at.any.sa_family == AF_INET)
        return ntohl(at.v4.sin_addr.s_addr) >> 24 == 127;
    if (IN6_IS_ADDR_V4MAPPED(&at.v6.sin6_addr))
        return at.v6.sin6_addr.s6_addr[12] == 127;
    return IN6_IS_ADDR_LOOPBACK(&at.v6.sin6_addr);
}

static void describe_peer(int fd, const union endpoint *at, struct net_peer *ret)
{
    struct ucred cred = { .uid = UINT32_MAX };
    socklen_t size = sizeof(cred);

    *ret = (struct net_peer){};
    if (at->any.sa_family != AF_UNIX) {
        ret->port = write_ip(at, ret->address);
        return;
    }
    (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size);
    memcpy(ret->address, "local", sizeof("local"));
    ret->is_local = true;
    ret->uid = cred.uid;
}

/* Without descriptors accept() fails at once and forever: wait instead of spinning. */
static void pause_accepting(struct listener *listener)
{
    log_warn("listener.pause", "errno=%d ms=%d", errno, PAUSE_MS);
    loop_fd_remove(listener->loop, &listener->io);
    loop_timer_set(listener->loop, &listener->pause, PAUSE_MS);
}

static void accept_failed(struct listener *listener)
{
    switch (errno) {
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM: pause_accepting(listener); return;
    default: return; /* nothing waits, or it went away: epoll tells when there is more */
    }
}

static void on_ready(struct loop_fd *io, uint32_t)
{
    struct listener *listener = CONTAINER_OF(io, struct listener, io);

    for (int i = 0; i < ACCEPT_BATCH && io->fd >= 0; i++) {
        union endpoint at = {};
        socklen_t size = sizeof(at);
        struct net_peer peer;
        int fd = accept4(listener->fd, &at.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0) {
            accept_failed(listener);
            return;
        }
        describe_peer(fd, &at, &peer);
        listener->on_accept(listener->user, fd, &peer);
    }
}

static enum err watch(struct listener *listener)
{
    listener->io = (struct loop_fd){
        .fd = listener->fd,
        .events = EPOLLIN | EPOLLEXCLUSIVE,
        .on_ready = on_ready,
    };
    return loop_fd_add(listener->loop, &listener->io);
}

static void on_pause_over(struct loop_timer *timer)
{
    struct listener *listener = CONTAINER_OF(timer, struct listener, pause);

    if (watch(listener))
        pause_accepting(listener);
}

enum err listener_init(struct listener *listener, struct loop *loop, int fd,
                       void (*on_accept)(void *user, int fd, const struct net_peer *peer),
                       void *user)
{
    *listener = (struct listener){
        .loop = loop,
        .fd = fd,
        .on_accept = on_accept,
        .user = user,
        .pause.on_fire = on_pause_over,
    };
    return watch(listener);
}

void listener_done(struct listener *listener)
{
    loop_fd_remove(listener->loop, &listener->io);
    loop_timer_clear(listener->loop, &listener->pause);
}
