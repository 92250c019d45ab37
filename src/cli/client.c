/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/client.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/input.h"
#include "crypto/crypto.h"
#include "json/json.h"

enum { ANSWER_MAX = 64 << 20, READ_BYTES = 16384, TIMEOUT_S = 30 };

static void set_timeouts(int fd)
{
    struct timeval timeout = { .tv_sec = TIMEOUT_S };

    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
}

static enum err connect_local(const char *data, int *ret)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    CLEANUP(fd_closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int len = snprintf(address.sun_path, sizeof(address.sun_path), "%s/moot.sock", data);

    if (fd < 0 || len < 0 || (size_t)len >= sizeof(address.sun_path))
        return ERR_NOT_FOUND;
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        return ERR_NOT_FOUND;
    set_timeouts(fd);
    *ret = fd_take(&fd);
    return OK;
}

/* "http://host:port" into its two parts; false if it is anything else. */
static bool split_url(const char *url, char host[static 256], char port[static 8])
{
    struct str rest = str_of(url);
    size_t colon;

    if (!str_starts(rest, S("http://")))
        return false;
    rest = str_slice(rest, 7, rest.len);
    if (str_ends(rest, S("/")))
        rest.len--;
    colon = rest.len;
    while (colon > 0 && rest.ptr[colon - 1] != ':' && rest.ptr[colon - 1] != ']')
        colon--;
    if (colon == 0 || rest.ptr[colon - 1] == ']') {
        (void)snprintf(port, 8, "80");
        colon = rest.len + 1;
    } else {
        (void)snprintf(port, 8, STR_FMT, STR_ARG(str_slice(rest, colon, rest.len)));
    }
    rest = str_slice(rest, 0, colon - 1);
    if (str_starts(rest, S("[")) && str_ends(rest, S("]")))
        rest = str_slice(rest, 1, rest.len - 1);
    (void)snprintf(host, 256, STR_FMT, STR_ARG(rest));
    return rest.len > 0 && rest.len < 256 && str_find(rest, '/', 0) == rest.len;
}

static enum err connect_url(const char *url, int *ret)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = NULL;
    char host[256], port[8];
    int fd = -1;

    if (!split_url(url, host, port)) {
        (void)cli_fail("--server takes http://HOST:PORT (for TLS use the local socket)");
        return ERR_INVALID;
    }
    if (getaddrinfo(host, port, &hints, &found) != 0) {
        (void)cli_fail("%s cannot be resolved", host);
        return ERR_IO;
    }
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            (void)close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(found);
    if (fd < 0) {
        (void)cli_fail("nothing answers at %s: %s", url, strerror(errno));
        return ERR_IO;
    }
    set_timeouts(fd);
    *ret = fd;
    return OK;
}

static enum err write_request(const struct cli_server *server, const char *method,
                              struct str path, struct str body, struct buf *out)
{
    struct buf token;
    char host[256] = "localhost", port[8] = "80";
    enum err err = OK;

    if (server->url && !split_url(server->url, host, port))
        return ERR_INVALID;
    buf_putf(out, "%s " STR_FMT " HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", method,
             STR_ARG(path), host);
    buf_init(&token, CLI_TOKEN_MAX);
    if (server->url) {
        err = cli_read_token(server->token_file, &token) ? ERR_UNAUTHORIZED : OK;
        buf_putf(out, "Authorization: Bearer " STR_FMT "\r\n", STR_ARG(buf_str(&token)));
        crypto_wipe(token.ptr, token.len);
    }
    buf_done(&token);
    if (body.len)
        buf_put(out, S("Content-Type: application/json\r\n"));
    buf_putf(out, "Content-Length: %zu\r\n\r\n", body.len);
    buf_put(out, body);
    return err;
}

static enum err send_all(int fd, struct str bytes)
{
    while (bytes.len) {
        ssize_t sent = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return ERR_IO;
        bytes = str_slice(bytes, (size_t)sent, bytes.len);
    }
    return OK;
}

static enum err receive_all(int fd, struct buf *out)
{
    for (;;) {
        ssize_t got;

        if (buf_reserve(out, READ_BYTES))
            return ERR_TOO_BIG;
        got = recv(fd, out->ptr + out->len, READ_BYTES, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return ERR_IO;
        if (got == 0)
            return OK;
        out->len += (size_t)got;
    }
}

/* "HTTP/1.1 200 OK … \r\n\r\n" and the body, which the end of the connection ends. */
static enum err split_answer(const struct buf *all, struct cli_answer *ret)
{
    const char *end = memmem(all->ptr, all->len, "\r\n\r\n", 4);
    uint64_t status;

    if (!end || all->len < 12 ||
        str_to_u64((struct str){ all->ptr + 9, 3 }, 599, &status))
        return ERR_IO;
    ret->status = (int)status;
    buf_init(&ret->body, ANSWER_MAX);
    buf_put(&ret->body, str_slice(buf_str(all), (size_t)(end + 4 - all->ptr), all->len));
    return OK;
}

static enum err exchange(int fd, struct str request, struct cli_answer *ret)
{
    struct buf all;
    enum err err;

    buf_init(&all, ANSWER_MAX);
    err = send_all(fd, request);
    if (!err)
        err = receive_all(fd, &all);
    if (!err)
        err = split_answer(&all, ret);
    if (err)
        (void)cli_fail("the server did not answer: %s",
                       errno ? strerror(errno) : "it closed the connection");
    crypto_wipe(all.ptr, all.len);
    buf_done(&all);
    return err;
}

enum err cli_call(const struct cli_server *server, const char *method, struct str path,
                  struct str body, struct cli_answer *ret)
{
    CLEANUP(fd_closep) int fd = -1;
    struct buf request;
    enum err err =
        server->url ? connect_url(server->url, &fd) : connect_local(server->data, &fd);

    if (err)
        return err;
    buf_init(&request, ANSWER_MAX);
    err = write_request(server, method, path, body, &request);
    if (!err)
        err = exchange(fd, buf_str(&request), ret);
    crypto_wipe(request.ptr, request.len);
    buf_done(&request);
    return err;
}

void cli_put_segment(struct buf *out, struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        buf_putf(out, "%%%02X", (unsigned char)text.ptr[i]);
}

int cli_report(const struct cli_answer *answer)
{
    const struct json *root, *detail = NULL;
    struct arena arena;

    arena_init(&arena, 1 << 20);
    if (json_parse(buf_str(&answer->body), &arena, &root, NULL) == OK)
        detail = json_find(root, S("detail"));
    if (detail)
        (void)cli_fail(STR_FMT, STR_ARG(detail->text));
    else
        (void)cli_fail("the server answered with status %d", answer->status);
    arena_done(&arena);
    return CLI_FAILED;
}
