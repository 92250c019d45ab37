/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP client against a server of the test: what is sent, what comes back, and how it
 * ends when nothing good does. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "fetch/fetch.h"
#include "harness.h"

enum { REQUEST_MAX = 8 << 20, PATIENCE_MS = 20'000 };

/* A server that takes one connection after the other and gives the same answer to each
 * request; "": none, the connection is closed; NULL: none, and it stays open. */
struct server {
    int fd;
    char url[64];
    const char *answer;
    pthread_t thread;
    struct buf incoming;
    struct buf last; /* request that came whole; to be read when the server has stopped */
    size_t connections;
};

static size_t wanted(struct buf *got)
{
    const char *text = buf_cstr(got);
    const char *end = strstr(text, "\r\n\r\n");
    const char *length = end ? strcasestr(text, "content-length:") : NULL;

    if (!length)
        return SIZE_MAX;
    return (size_t)(end - text) + 4 + strtoul(length + 15, NULL, 10);
}

/* One request; false: the peer has gone. */
static bool receive(struct server *server, int fd)
{
    buf_clear(&server->incoming);
    while (server->incoming.len < wanted(&server->incoming)) {
        char part[4096];
        ssize_t got = recv(fd, part, sizeof(part), 0);

        if (got <= 0)
            return false;
        buf_put(&server->incoming, (struct str){ part, (size_t)got });
    }
    buf_clear(&server->last);
    buf_put(&server->last, buf_str(&server->incoming));
    return true;
}

static void *serve(void *user)
{
    struct server *server = user;
    int fd;

    while ((fd = accept(server->fd, NULL, NULL)) >= 0) {
        server->connections++;
        while (receive(server, fd) && (!server->answer || *server->answer))
            if (server->answer)
                (void)send(fd, server->answer, strlen(server->answer), MSG_NOSIGNAL);
        (void)close(fd);
    }
    return NULL;
}

static void server_listen(struct server *server)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);

    server->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)bind(server->fd, (struct sockaddr *)&address, size);
    (void)getsockname(server->fd, (struct sockaddr *)&address, &size);
    (void)snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%u/v1/logs?x=1",
                   ntohs(address.sin_port));
    (void)listen(server->fd, 8);
}

static void server_start(struct server *server, const char *answer)
{
    *server = (struct server){ .answer = answer };
    buf_init(&server->incoming, REQUEST_MAX);
    buf_init(&server->last, REQUEST_MAX);
    server_listen(server);
    CHECK_INT(pthread_create(&server->thread, NULL, serve, server), 0);
}

/* The clients have gone. */
static void server_stop(struct server *server)
{
    (void)shutdown(server->fd, SHUT_RDWR);
    (void)pthread_join(server->thread, NULL);
    (void)close(server->fd);
}

static void server_done(struct server *server)
{
    buf_done(&server->incoming);
    buf_done(&server->last);
}

/* What the client heard. */
struct heard {
    int count;
    enum err err;
    unsigned status;
    struct buf body;
    char why[128];
    struct fetch *fetch;
    struct fetch_request *again; /* sends it once more from inside on_done */
};

static void on_done(void *user, const struct fetch_answer *answer)
{
    struct heard *heard = user;
    struct fetch_request *again = heard->again;

    heard->count++;
    heard->err = answer->err;
    heard->status = answer->status;
    buf_clear(&heard->body);
    buf_put(&heard->body, answer->body);
    (void)snprintf(heard->why, sizeof(heard->why), "%s", answer->why);
    heard->again = NULL;
    if (again)
        (void)fetch_post(heard->fetch, again, on_done, heard);
}

static void wait_for(struct loop *loop, const struct heard *heard, int count)
{
    uint64_t end = loop_now_ms(loop) + PATIENCE_MS;

    while (heard->count < count && loop_now_ms(loop) < end)
        loop_turn(loop, 100);
    CHECK_INT(heard->count, count);
}

struct stage {
    struct loop *loop;
    struct fetch *fetch;
    struct heard heard;
};

static void stage_init(struct stage *stage)
{
    *stage = (struct stage){ .loop = loop_new() };
    buf_init(&stage->heard.body, 1 << 20);
    CHECK_INT(fetch_new(stage->loop, &stage->fetch, NULL), OK);
    stage->heard.fetch = stage->fetch;
}

static void stage_done(struct stage *stage)
{
    fetch_free(stage->fetch);
    loop_turn(stage->loop, 0); /* reaps */
    loop_free(stage->loop);
    buf_done(&stage->heard.body);
}

#define OKAY "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"

static struct fetch_request request_to(const char *url)
{
    return (struct fetch_request){
        .url = url, .body = S("{\"a\":1}"), .timeout_ms = 15'000, .max_answer = 100
    };
}

TEST(a_post_has_its_fields_and_body_and_brings_the_answer)
{
    static const char *const fields[] = { "Content-Type: application/json",
                                          "Authorization: Bearer secret" };
    struct stage stage;
    struct server server;
    struct fetch_request request;

    server_start(&server, OKAY);
    stage_init(&stage);
    request = request_to(server.url);
    request.fields = fields;
    request.field_count = COUNT(fields);
    (void)fetch_post(stage.fetch, &request, on_done, &stage.heard);
    CHECK_INT(stage.heard.count, 0);
    wait_for(stage.loop, &stage.heard, 1);
    CHECK_INT(stage.heard.err, OK);
    CHECK_INT(stage.heard.status, 200);
    CHECK_STR(buf_str(&stage.heard.body), S("{}"));
    stage_done(&stage);
    server_stop(&server);
    CHECK(str_starts(buf_str(&server.last), S("POST /v1/logs?x=1 HTTP/1.1\r\n")));
    CHECK(str_ends(buf_str(&server.last), S("\r\n\r\n{\"a\":1}")));
    CHECK(strstr(buf_cstr(&server.last), "\r\nContent-Type: application/json\r\n"));
    CHECK(strstr(buf_cstr(&server.last), "\r\nAuthorization: Bearer secret\r\n"));
    CHECK(!strcasestr(buf_cstr(&server.last), "expect"));
    server_done(&server);
}

TEST(one_connection_serves_many_calls_also_from_inside_an_answer)
{
    struct stage stage;
    struct server server;
    struct fetch_request request;

    server_start(&server, OKAY);
    stage_init(&stage);
    request = request_to(server.url);
    stage.heard.again = &request;
    (void)fetch_post(stage.fetch, &request, on_done, &stage.heard);
    wait_for(stage.loop, &stage.heard, 2);
    CHECK_INT(stage.heard.err, OK);
    stage_done(&stage);
    server_stop(&server);
    CHECK_INT(server.connections, 1);
    server_done(&server);
}

TEST(a_large_body_arrives_whole)
{
    struct stage stage;
    struct server server;
    struct fetch_request request;
    struct buf body;

    buf_init(&body, REQUEST_MAX);
    for (int i = 0; i < 400'000; i++)
        buf_putf(&body, "%d,", i);
    server_start(&server, OKAY);
    stage_init(&stage);
    request = request_to(server.url);
    request.body = buf_str(&body);
    (void)fetch_post(stage.fetch, &request, on_done, &stage.heard);
    wait_for(stage.loop, &stage.heard, 1);
    CHECK_INT(stage.heard.err, OK);
    stage_done(&stage);
    server_stop(&server);
    CHECK(str_ends(buf_str(&server.last), buf_str(&body)));
    server_done(&server);
    buf_done(&body);
}

#define LONG_ANSWER                                                \
    "HTTP/1.1 200 OK\r\nContent-Length: 120\r\n\r\n"               \
    "012345678901234567890123456789012345678901234567890123456789" \
    "012345678901234567890123456789012345678901234567890123456789"

TEST(each_way_to_end_is_told_once)
{
    static const struct {
        const char *answer;
        enum err err;
        unsigned status;
        uint64_t timeout_ms;
    } cases[] = {
        { OKAY, OK, 200, 15'000 },
        { "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", OK, 503, 15'000 },
        /* no redirect is followed, whoever it points to */
        { "HTTP/1.1 307 Moved\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", OK, 307,
          15'000 },
        { LONG_ANSWER, ERR_TOO_BIG, 200, 15'000 },
        { "", ERR_IO, 0, 15'000 },
        { "SSH-2.0-OpenSSH\r\n", ERR_IO, 0, 15'000 },
        { NULL, ERR_TIMEOUT, 0, 100 },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage stage;
        struct server server;
        struct fetch_request request;

        server_start(&server, c->answer);
        stage_init(&stage);
        request = request_to(server.url);
        request.timeout_ms = c->timeout_ms;
        (void)fetch_post(stage.fetch, &request, on_done, &stage.heard);
        wait_for(stage.loop, &stage.heard, 1);
        CHECK_INT(stage.heard.err, c->err);
        CHECK_INT(stage.heard.status, c->status);
        CHECK(strstr(stage.heard.why, "127.0.0.1") == NULL);
        stage_done(&stage);
        server_stop(&server);
        server_done(&server);
    }
}

TEST(what_cannot_be_asked_fails_and_names_no_secret)
{
    static const char *const urls[] = { "http://user:pass@127.0.0.1:1/secret",
                                        "file:///etc/passwd", "gopher://127.0.0.1/",
                                        "http://", "" };

    FOR_EACH_CASE(url, urls) {
        struct stage stage;
        struct fetch_request request = request_to(*url);

        stage_init(&stage);
        (void)fetch_post(stage.fetch, &request, on_done, &stage.heard);
        wait_for(stage.loop, &stage.heard, 1);
        CHECK_INT(stage.heard.err, ERR_IO);
        CHECK(stage.heard.why[0] != '\0');
        CHECK(!strstr(stage.heard.why, "pass") && !strstr(stage.heard.why, "secret"));
        stage_done(&stage);
    }
}

TEST(the_proxies_of_the_environment_are_not_asked)
{
    struct stage stage;
    struct server server;
    struct fetch_request request;

    server_start(&server, OKAY);
    (void)setenv("http_proxy", "http://127.0.0.1:1", 1);
    (void)setenv("all_proxy", "http://127.0.0.1:1", 1);
    stage_init(&stage);
    request = request_to(server.url);
    (void)fetch_post(stage.fetch, &request, on_done, &stage.heard);
    wait_for(stage.loop, &stage.heard, 1);
    CHECK_INT(stage.heard.err, OK);
    (void)unsetenv("http_proxy");
    (void)unsetenv("all_proxy");
    stage_done(&stage);
    server_stop(&server);
    server_done(&server);
}

TEST(a_cancelled_call_is_silent_and_so_are_those_of_a_client_that_is_freed)
{
    struct stage stage;
    struct server server;
    struct fetch_request request;
    struct fetch_call *call;

    server_start(&server, NULL);
    stage_init(&stage);
    request = request_to(server.url);
    call = fetch_post(stage.fetch, &request, on_done, &stage.heard);
    (void)fetch_post(stage.fetch, &request, on_done, &stage.heard);
    for (int i = 0; i < 20; i++)
        loop_turn(stage.loop, 10);
    fetch_cancel(call);
    stage_done(&stage);
    CHECK_INT(stage.heard.count, 0);
    server_stop(&server);
    server_done(&server);
}
