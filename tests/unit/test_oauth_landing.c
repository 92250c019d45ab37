/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "harness.h"
#include "oauth/landing.h"

struct stage {
    struct loop *loop;
    struct landing *landing;
    struct buf heard;
    unsigned port;
    bool closes; /* the landing, when it hears something */
};

static void on_query(void *user, struct str query)
{
    struct stage *stage = user;

    buf_put(&stage->heard, query);
    if (!stage->closes)
        return;
    landing_close(stage->landing);
    stage->landing = NULL;
}

static void stage_open(struct stage *stage)
{
    *stage = (struct stage){ .loop = loop_new() };
    buf_init(&stage->heard, 1000);
    CHECK_INT(landing_open(stage->loop, 0, on_query, stage, &stage->landing), OK);
    CHECK_INT(sscanf(landing_uri(stage->landing).ptr, "http://127.0.0.1:%u/callback",
                     &stage->port),
              1);
}

static void stage_close(struct stage *stage)
{
    landing_close(stage->landing);
    loop_turn(stage->loop, 0);
    loop_free(stage->loop);
    buf_done(&stage->heard);
}

/* Sends it in two parts and gives the status of what comes. */
static int visit(struct stage *stage, const char *head)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)stage->port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char answer[1000] = "";
    size_t half = strlen(head) / 2;
    int status = 0;

    CHECK_INT(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    CHECK_INT(send(fd, head, half, MSG_NOSIGNAL), half);
    for (int i = 0; i < 3; i++)
        loop_turn(stage->loop, 10);
    CHECK_INT(send(fd, head + half, strlen(head) - half, MSG_NOSIGNAL),
              strlen(head) - half);
    for (int i = 0; i < 3; i++)
        loop_turn(stage->loop, 10);
    if (recv(fd, answer, sizeof(answer) - 1, MSG_DONTWAIT) > 0)
        CHECK_INT(sscanf(answer, "HTTP/1.1 %d", &status), 1);
    (void)close(fd);
    return status;
}

TEST(a_browser_that_comes_back_is_heard_and_nobody_else)
{
    static const struct {
        const char *line;
        const char *host; /* NULL: that of the landing */
        int status;
        struct str heard;
    } cases[] = {
        { "GET /callback?code=a&state=b", NULL, 200, S("code=a&state=b") },
        { "GET /callback", NULL, 404, S("") },
        { "GET /callback?", NULL, 404, S("") },
        { "GET /?code=a", NULL, 404, S("") },
        { "POST /callback?code=a", NULL, 404, S("") },
        { "GET /callback?code=a", "evil.example", 421, S("") },
        { "nonsense", NULL, 400, S("") },
    };
    struct stage stage;

    stage_open(&stage);
    FOR_EACH_CASE(c, cases) {
        char head[300], host[100];

        (void)snprintf(host, sizeof(host), "127.0.0.1:%u", stage.port);
        (void)snprintf(head, sizeof(head), "%s HTTP/1.1\r\nHost: %s\r\n\r\n", c->line,
                       c->host ? c->host : host);
        buf_clear(&stage.heard);
        CHECK_INT(visit(&stage, head), c->status);
        CHECK_STR(buf_str(&stage.heard), c->heard);
    }
    stage_close(&stage);
}

TEST(a_landing_may_be_closed_by_who_hears)
{
    struct stage stage;
    char head[300];

    stage_open(&stage);
    stage.closes = true;
    (void)snprintf(head, sizeof(head),
                   "GET /callback?x=y HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
                   stage.port);
    CHECK_INT(visit(&stage, head), 200);
    CHECK_STR(buf_str(&stage.heard), S("x=y"));
    CHECK(stage.landing == NULL);
    stage_close(&stage);
}
