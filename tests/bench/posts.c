/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MCP client over Streamable HTTP that does nothing but call, or nothing but be there.
 *
 *     posts PORT PATH TOKEN ERA calls SECONDS WINDOW
 *     posts PORT PATH TOKEN ERA count CALLS WINDOW
 *     posts PORT PATH TOKEN ERA hold SESSIONS STREAMS
 *
 * TOKEN may be "-": none. ERA is `legacy` (one session for all connections) or `modern`.
 * `calls` and `count` keep WINDOW connections open, each with one call of `echo` under
 * way, for so many seconds or until so many calls are answered. `hold` begins sessions
 * and, where STREAMS is 1, opens a GET stream for each; it then says "holding" and stays
 * until its input ends. One JSON object is printed.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "samples.h"

enum { MAX_WINDOW = 1024, BYTES = 1 << 16, EVENTS = 64, SESSION = 256 };
enum { TRIES = 60, AGAIN_MS = 200 };

#define TEXT     "a text of about fifty bytes, as a short answer has"
#define CALL     "\"name\":\"echo\",\"arguments\":{\"text\":\"" TEXT "\"}"
#define FIRST_ID "100000000" /* others have as many digits */
#define MODERN   "2026-07-28"
#define LEGACY   "2025-11-25"

struct target {
    unsigned short port;
    const char *path, *token;
    bool is_modern;
};

struct connection {
    int fd;
    uint64_t began_ns;
    size_t len;
    char bytes[BYTES + 1];
};

struct bench {
    struct target target;
    char session[SESSION]; /* "": none */
    size_t window, underway;
    uint64_t until_ns, max_calls; /* 0: no such end */
    size_t begun;
    struct samples samples;
    struct connection *connections;
    char request[BYTES];
    size_t request_len;
    size_t last_id;
};

_Noreturn static void fail(const char *what)
{
    (void)fprintf(stderr, "posts: %s\n", what);
    exit(1);
}

/* --- one connection --- */

static int dial(const struct target *target)
{
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons(target->port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof(to)))
        fail(strerror(errno));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

static void say(int fd, const char *bytes, size_t len)
{
    if (send(fd, bytes, len, MSG_NOSIGNAL) != (ssize_t)len)
        fail("the server does not listen");
}

static void hear(struct connection *c)
{
    ssize_t got = recv(c->fd, c->bytes + c->len, BYTES - c->len, 0);

    if (got <= 0)
        fail("the server hung up");
    c->len += (size_t)got;
    c->bytes[c->len] = '\0';
}

/* The value of a header in the head that ends at `end`, or NULL. */
static const char *header_of(const char *head, const char *end, const char *name)
{
    size_t len = strlen(name);

    for (const char *line = strstr(head, "\r\n"); line && line < end;
         line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, len) == 0 && line[2 + len] == ':')
            return line + 2 + len + 1 + strspn(line + 2 + len + 1, " ");
    return NULL;
}

/* Whether the answer is there: as long as it says, or up to the last chunk. There is
 * never more than one, so the last chunk is at the end. */
static bool is_whole(const struct connection *c)
{
    static const char last[] = "0\r\n\r\n";
    const char *end = strstr(c->bytes, "\r\n\r\n");
    const char *length = end ? header_of(c->bytes, end, "Content-Length") : NULL;
    size_t head = end ? (size_t)(end - c->bytes) + 4 : 0;

    if (!end)
        return false;
    if (length)
        return c->len >= head + strtoul(length, NULL, 10);
    if (!header_of(c->bytes, end, "Transfer-Encoding"))
        return true;
    return c->len >= head + sizeof(last) - 1 &&
           memcmp(c->bytes + c->len - (sizeof(last) - 1), last, sizeof(last) - 1) == 0;
}

static unsigned status_of(const struct connection *c)
{
    return (unsigned)strtoul(c->bytes + strlen("HTTP/1.1 "), NULL, 10);
}

/* --- requests --- */

static int put_head(char *out, size_t size, const struct bench *b, const char *verb)
{
    const struct target *t = &b->target;
    bool is_named = b->session[0];
    bool has_token = strcmp(t->token, "-") != 0;

    return snprintf(out, size,
                    "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                    "Accept: application/json, text/event-stream\r\n"
                    "Content-Type: application/json\r\n%s%s%s%s%s%s%s",
                    verb, t->path, t->port, has_token ? "Authorization: Bearer " : "",
                    has_token ? t->token : "", has_token ? "\r\n" : "",
                    is_named ? "Mcp-Session-Id: " : "", b->session,
                    is_named ? "\r\n" : "",
                    is_named ? "MCP-Protocol-Version: " LEGACY "\r\n" : "");
}

static void make_post(struct bench *b, const char *more, const char *body)
{
    int head = put_head(b->request, sizeof(b->request), b, "POST");
    int rest = snprintf(b->request + head, sizeof(b->request) - (size_t)head,
                        "%sContent-Length: %zu\r\n\r\n%s", more, strlen(body), body);

    b->request_len = (size_t)head + (size_t)rest;
}

static void make_call(struct bench *b)
{
    if (b->target.is_modern)
        make_post(b,
                  "MCP-Protocol-Version: " MODERN
                  "\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n",
                  "{\"jsonrpc\":\"2.0\",\"id\":" FIRST_ID ",\"method\":\"tools/call\","
                  "\"params\":{" CALL ",\"_meta\":{"
                  "\"io.modelcontextprotocol/protocolVersion\":\"" MODERN "\","
                  "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"posts\","
                  "\"version\":\"1\"},"
                  "\"io.modelcontextprotocol/clientCapabilities\":{}}}}");
    else
        make_post(b, "",
                  "{\"jsonrpc\":\"2.0\",\"id\":" FIRST_ID ",\"method\":\"tools/call\","
                  "\"params\":{" CALL "}}");
}

/* No two calls of a session have the same id. */
static void renew_id(struct bench *b)
{
    static const char key[] = "\"id\":";
    char digits[sizeof(FIRST_ID)];

    (void)snprintf(digits, sizeof(digits), "%zu",
                   strtoul(FIRST_ID, NULL, 10) + ++b->last_id);
    memcpy(strstr(b->request, key) + sizeof(key) - 1, digits, sizeof(digits) - 1);
}

/* Sends what was made and waits for the whole answer. */
static void ask(struct bench *b, struct connection *c)
{
    c->len = 0;
    say(c->fd, b->request, b->request_len);
    do
        hear(c);
    while (!is_whole(c));
}

static void begin_session(struct bench *b, struct connection *c)
{
    const char *id;

    b->session[0] = '\0';
    make_post(b, "",
              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
              "\"protocolVersion\":\"" LEGACY "\",\"capabilities\":{},"
              "\"clientInfo\":{\"name\":\"posts\",\"version\":\"1\"}}}");
    ask(b, c);
    id = header_of(c->bytes, strstr(c->bytes, "\r\n\r\n"), "Mcp-Session-Id");
    if (status_of(c) != 200 || !id || strcspn(id, "\r") >= SESSION)
        fail(c->bytes);
    memcpy(b->session, id, strcspn(id, "\r"));
    b->session[strcspn(id, "\r")] = '\0';
    make_post(b, "", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    ask(b, c);
    if (status_of(c) >= 300)
        fail(c->bytes);
}

static bool is_result(const struct connection *c)
{
    return status_of(c) == 200 && strstr(c->bytes, "\"result\"");
}

/* Starts the server behind and waits until it is there. */
static void call_first(struct bench *b, struct connection *c)
{
    make_call(b);
    for (int i = 0; i < TRIES; i++) {
        renew_id(b);
        ask(b, c);
        if (is_result(c))
            return;
        (void)poll(NULL, 0, AGAIN_MS);
    }
    fail(c->bytes);
}

/* --- calls --- */

static void call(struct bench *b, struct connection *c)
{
    if (b->max_calls ? b->begun == b->max_calls : samples_now_ns() >= b->until_ns)
        return;
    b->begun++;
    b->underway++;
    c->len = 0;
    renew_id(b);
    c->began_ns = samples_now_ns();
    say(c->fd, b->request, b->request_len);
}

static void on_readable(struct bench *b, struct connection *c)
{
    hear(c);
    if (!is_whole(c))
        return;
    b->underway--;
    samples_add(&b->samples, c->began_ns);
    if (!is_result(c))
        b->samples.errors++;
    call(b, c);
}

static int watch(struct bench *b)
{
    int loop = epoll_create1(EPOLL_CLOEXEC);

    for (size_t i = 0; i < b->window; i++) {
        struct connection *c = &b->connections[i];
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };

        c->fd = dial(&b->target);
        if (epoll_ctl(loop, EPOLL_CTL_ADD, c->fd, &event))
            fail("epoll_ctl");
    }
    return loop;
}

static void run_calls(struct bench *b)
{
    struct epoll_event events[EVENTS];
    int loop = watch(b);

    if (!b->target.is_modern)
        begin_session(b, &b->connections[0]);
    call_first(b, &b->connections[0]); /* does not count */
    samples_begin(&b->samples);
    b->until_ns += b->samples.began_ns;
    for (size_t i = 0; i < b->window; i++)
        call(b, &b->connections[i]);
    while (b->underway) {
        int count = epoll_wait(loop, events, EVENTS, -1);

        for (int i = 0; i < count; i++)
            on_readable(b, events[i].data.ptr);
    }
    samples_print(&b->samples);
    (void)puts("}");
    (void)close(loop);
}

/* --- sessions --- */

static void open_stream(struct bench *b, struct connection *c)
{
    int len = put_head(b->request, sizeof(b->request), b, "GET");

    len += snprintf(b->request + len, sizeof(b->request) - (size_t)len, "\r\n");
    c->fd = dial(&b->target); /* stays open until the program ends */
    c->len = 0;
    say(c->fd, b->request, (size_t)len);
    do
        hear(c);
    while (!strstr(c->bytes, "\r\n\r\n"));
    if (status_of(c) != 200)
        fail(c->bytes);
}

static void raise_files(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

static void run_hold(struct bench *b, size_t sessions, bool has_streams)
{
    struct connection *asking = &b->connections[0], *stream = &b->connections[1];
    char ignored;

    raise_files();
    asking->fd = dial(&b->target);
    samples_begin(&b->samples);
    for (size_t i = 0; i < sessions; i++) {
        uint64_t began_ns = samples_now_ns();

        begin_session(b, asking);
        if (has_streams)
            open_stream(b, stream);
        samples_add(&b->samples, began_ns);
    }
    call_first(b, asking); /* that of the last one */
    samples_print(&b->samples);
    (void)puts("}");
    (void)fputs("holding\n", stderr);
    (void)fflush(stdout);
    while (read(STDIN_FILENO, &ignored, 1) > 0)
        ;
}

int main(int argc, char **argv)
{
    static struct bench b;
    bool is_hold = argc == 8 && strcmp(argv[5], "hold") == 0;
    size_t much;

    if (argc != 8)
        fail("PORT PATH TOKEN ERA calls|count|hold …: see the file's head");
    (void)signal(SIGPIPE, SIG_IGN);
    b.target = (struct target){ .port = (unsigned short)strtoul(argv[1], NULL, 10),
                                .path = argv[2],
                                .token = argv[3],
                                .is_modern = strcmp(argv[4], "modern") == 0 };
    much = strtoul(argv[6], NULL, 10);
    b.window = is_hold ? 2 : strtoul(argv[7], NULL, 10);
    if (b.window == 0 || b.window > MAX_WINDOW)
        fail("a window is 1 to 1024");
    b.connections = calloc(b.window, sizeof(*b.connections));
    if (!b.connections)
        fail("no memory");
    if (strcmp(argv[5], "count") == 0)
        b.max_calls = much;
    else
        b.until_ns = much * 1000000000;
    if (is_hold)
        run_hold(&b, much, strcmp(argv[7], "1") == 0);
    else
        run_calls(&b);
    samples_done(&b.samples);
    free(b.connections);
    return 0;
}
