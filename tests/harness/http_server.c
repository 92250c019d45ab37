/* SPDX-License-Identifier: Apache-2.0 */
#include "http_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness.h"

enum { REQUEST_MAX = 8 << 20, LOG_MAX = 64 << 20 };

/* The length of the first request, or SIZE_MAX while it is not complete. */
static size_t first_request(struct buf *got)
{
    const char *text = buf_cstr(got);
    const char *end = strstr(text, "\r\n\r\n");
    const char *length = end ? strcasestr(text, "content-length:") : NULL;
    size_t size;

    if (!end)
        return SIZE_MAX;
    size = (size_t)(end - text) + 4;
    if (length && length < end)
        size += strtoul(length + 15, NULL, 10);
    return size <= got->len ? size : SIZE_MAX;
}

static bool fits(const struct http_rule *rule, const char *request)
{
    if (rule->times < 0)
        return false;
    if (rule->begins && strncmp(request, rule->begins, strlen(rule->begins)) != 0)
        return false;
    return !rule->has || strstr(request, rule->has);
}

/* False: the connection is to be closed. */
static bool answer(struct http_server *server, int fd, const char *request)
{
    for (size_t i = 0; i < server->rule_count; i++) {
        struct http_rule *rule = &server->rules[i];

        if (!fits(rule, request))
            continue;
        if (rule->times && --rule->times == 0)
            rule->times = -1;
        if (rule->answer)
            (void)send(fd, rule->answer, strlen(rule->answer), MSG_NOSIGNAL);
        return !rule->closes;
    }
    return false;
}

static bool take_requests(struct http_server *server, size_t peer)
{
    struct buf *incoming = &server->incoming[peer];
    size_t size;

    while ((size = first_request(incoming)) != SIZE_MAX) {
        char *request = str_dup(str_slice(buf_str(incoming), 0, size));
        bool stays;

        buf_put(&server->log, (struct str){ request, size });
        buf_put(&server->log, S("\n--\n"));
        buf_drop(incoming, size);
        stays = answer(server, server->peers[peer], request);
        atomic_fetch_add(&server->requests, 1);
        free(request);
        if (!stays)
            return false;
    }
    return true;
}

static void hang_up(struct http_server *server, size_t peer)
{
    (void)close(server->peers[peer]);
    server->peers[peer] = -1;
    buf_clear(&server->incoming[peer]);
}

static void hear(struct http_server *server, size_t peer)
{
    char part[65536];
    ssize_t got = recv(server->peers[peer], part, sizeof(part), 0);

    if (got > 0)
        buf_put(&server->incoming[peer], (struct str){ part, (size_t)got });
    if (got <= 0 || !take_requests(server, peer))
        hang_up(server, peer);
}

static void take_peer(struct http_server *server)
{
    int fd = accept4(server->fd, NULL, NULL, SOCK_CLOEXEC);

    atomic_fetch_add(&server->connections, 1);
    for (size_t i = 0; i < HTTP_SERVER_PEERS; i++)
        if (server->peers[i] < 0) {
            server->peers[i] = fd;
            return;
        }
    (void)close(fd);
}

static void *serve(void *user)
{
    struct http_server *server = user;
    struct pollfd ready[HTTP_SERVER_PEERS + 2];

    for (;;) {
        for (size_t i = 0; i < HTTP_SERVER_PEERS; i++)
            ready[i] = (struct pollfd){ .fd = server->peers[i], .events = POLLIN };
        ready[HTTP_SERVER_PEERS] = (struct pollfd){ .fd = server->fd, .events = POLLIN };
        ready[HTTP_SERVER_PEERS + 1] =
            (struct pollfd){ .fd = server->wake_fd, .events = POLLIN };
        (void)poll(ready, HTTP_SERVER_PEERS + 2, -1);
        if (ready[HTTP_SERVER_PEERS + 1].revents)
            return NULL;
        for (size_t i = 0; i < HTTP_SERVER_PEERS; i++)
            if (ready[i].fd >= 0 && ready[i].revents)
                hear(server, i);
        if (ready[HTTP_SERVER_PEERS].revents)
            take_peer(server);
    }
}

static void listen_on(struct http_server *server)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);

    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)bind(server->fd, (struct sockaddr *)&address, size);
    (void)getsockname(server->fd, (struct sockaddr *)&address, &size);
    (void)snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%u/mcp",
                   ntohs(address.sin_port));
    (void)listen(server->fd, 8);
}

void http_server_start(struct http_server *server, const struct http_rule *rules,
                       size_t count)
{
    *server = (struct http_server){ .rule_count = count };
    memcpy(server->rules, rules, count * sizeof(*rules));
    buf_init(&server->log, LOG_MAX);
    for (size_t i = 0; i < HTTP_SERVER_PEERS; i++) {
        server->peers[i] = -1;
        buf_init(&server->incoming[i], REQUEST_MAX);
    }
    server->wake_fd = eventfd(0, EFD_CLOEXEC);
    listen_on(server);
    CHECK_INT(pthread_create(&server->thread, NULL, serve, server), 0);
}

void http_server_stop(struct http_server *server)
{
    CHECK_INT(eventfd_write(server->wake_fd, 1), 0);
    (void)pthread_join(server->thread, NULL);
    (void)close(server->wake_fd);
    (void)close(server->fd);
    for (size_t i = 0; i < HTTP_SERVER_PEERS; i++)
        if (server->peers[i] >= 0)
            hang_up(server, i);
}

void http_server_done(struct http_server *server)
{
    for (size_t i = 0; i < HTTP_SERVER_PEERS; i++)
        buf_done(&server->incoming[i]);
    buf_done(&server->log);
}

size_t http_server_count(struct http_server *server, const char *text)
{
    const char *at = buf_cstr(&server->log);
    size_t count = 0;

    while ((at = strstr(at, text))) {
        at += strlen(text);
        count++;
    }
    return count;
}
