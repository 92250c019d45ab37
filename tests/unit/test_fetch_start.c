/* SPDX-License-Identifier: Apache-2.0 */
/* Orders: answers that are taken as they come, and where one may not go. What is heard is
 * written down in one line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "fetch/fetch.h"
#include "harness.h"
#include "http_server.h"

enum { PATIENCE_MS = 20'000 };

struct stage {
    struct loop *loop;
    struct fetch *fetch;
    struct fetch_call *call;
    struct buf told;
    int done;
    enum { CANCEL_NEVER, CANCEL_ON_HEAD, CANCEL_ON_BYTES } cancels;
    const struct fetch_order *again;
};

static void on_done(void *user, const struct fetch_answer *answer)
{
    struct stage *stage = user;

    stage->done++;
    buf_putf(&stage->told, "%s %u " STR_FMT, err_name(answer->err), answer->status,
             STR_ARG(answer->body));
}

static void on_head(void *user, struct fetch_call *call, const struct fetch_head *head)
{
    struct stage *stage = user;

    buf_putf(&stage->told, "[%u " STR_FMT " ", head->status, STR_ARG(head->type));
    buf_putf(&stage->told, STR_FMT "]", STR_ARG(fetch_field(call, S("x-two"))));
    if (stage->cancels == CANCEL_ON_HEAD)
        fetch_cancel(call);
}

static const struct fetch_ops whole = { .on_done = on_done };

static void on_bytes(void *user, struct str bytes)
{
    struct stage *stage = user;

    if (stage->cancels == CANCEL_ON_BYTES)
        fetch_cancel(stage->call);
    buf_put(&stage->told, bytes);
    buf_putc(&stage->told, '|');
    if (stage->again)
        (void)fetch_start(stage->fetch, TAKE(stage->again), &whole, stage);
}

static const struct fetch_ops streamed = { on_head, on_bytes, on_done };

static void stage_init(struct stage *stage)
{
    *stage = (struct stage){ .loop = loop_new() };
    buf_init(&stage->told, 1 << 20);
    CHECK_INT(fetch_new(stage->loop, &stage->fetch, NULL), OK);
}

static void stage_done(struct stage *stage)
{
    fetch_free(stage->fetch);
    loop_turn(stage->loop, 0); /* reaps */
    loop_free(stage->loop);
    buf_done(&stage->told);
}

static void wait_for(struct stage *stage, int done)
{
    uint64_t end = loop_now_ms(stage->loop) + PATIENCE_MS;

    while (stage->done < done && loop_now_ms(stage->loop) < end)
        loop_turn(stage->loop, 50);
    CHECK_INT(stage->done, done);
}

/* Until it was told something, or that many requests came. */
static void wait_for_text(struct stage *stage, const char *text)
{
    uint64_t end = loop_now_ms(stage->loop) + PATIENCE_MS;

    while (!strstr(buf_cstr(&stage->told), text) && loop_now_ms(stage->loop) < end)
        loop_turn(stage->loop, 50);
    CHECK(strstr(buf_cstr(&stage->told), text));
}

static struct fetch_order order_to(const char *method, const char *url)
{
    return (struct fetch_order){ .method = method, .url = url, .timeout_ms = 15'000 };
}

#define STREAM                                                                \
    "HTTP/1.1 100 Continue\r\nX-Two: no\r\n\r\n"                              \
    "HTTP/1.1 200 OK\r\nX-Two: a\r\nContent-Type: Text/Event-Stream; x=Y\r\n" \
    "x-two:  b \r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"

TEST(a_stream_is_told_as_it_comes_and_ends_with_its_connection)
{
    static const struct http_rule rules[] = {
        { .begins = "GET /mcp", .answer = STREAM "0\r\nX-Two: c\r\n\r\n" },
    };
    struct stage stage;
    struct http_server server;
    struct fetch_order order;

    http_server_start(&server, rules, COUNT(rules));
    stage_init(&stage);
    order = order_to("GET", server.url);
    stage.call = fetch_start(stage.fetch, &order, &streamed, &stage);
    CHECK_INT(stage.told.len, 0);
    wait_for(&stage, 1);
    CHECK_STR(buf_str(&stage.told), S("[200 text/event-stream a\nb]abc|ok 200 "));
    stage_done(&stage);
    http_server_stop(&server);
    http_server_done(&server);
}

TEST(a_part_of_a_stream_is_told_before_the_rest_is_there)
{
    static const struct http_rule rules[] = { { .answer = STREAM } };
    struct stage stage;
    struct http_server server;
    struct fetch_order order;

    http_server_start(&server, rules, COUNT(rules));
    stage_init(&stage);
    order = order_to("GET", server.url);
    stage.call = fetch_start(stage.fetch, &order, &streamed, &stage);
    wait_for_text(&stage, "abc|");
    CHECK_INT(stage.done, 0);
    stage_done(&stage);
    http_server_stop(&server);
    http_server_done(&server);
}

TEST(a_call_may_be_cancelled_while_it_tells)
{
    static const struct {
        int cancels;
        const char *told;
    } cases[] = {
        { CANCEL_ON_HEAD, "[200 text/event-stream a\nb]" },
        { CANCEL_ON_BYTES, "[200 text/event-stream a\nb]abc|" },
    };
    static const struct http_rule rules[] = { { .answer = STREAM "0\r\n\r\n" } };

    FOR_EACH_CASE(c, cases) {
        struct stage stage;
        struct http_server server;
        struct fetch_order order;

        http_server_start(&server, rules, COUNT(rules));
        stage_init(&stage);
        stage.cancels = c->cancels;
        order = order_to("GET", server.url);
        stage.call = fetch_start(stage.fetch, &order, &streamed, &stage);
        wait_for_text(&stage, c->told);
        for (int i = 0; i < 5; i++)
            loop_turn(stage.loop, 5);
        CHECK_STR(buf_str(&stage.told), str_of(c->told));
        stage_done(&stage);
        http_server_stop(&server);
        http_server_done(&server);
    }
}

TEST(a_call_may_begin_another_while_it_tells)
{
    static const struct http_rule rules[] = {
        { .begins = "GET", .answer = STREAM "0\r\n\r\n" },
        { .begins = "DELETE", .answer = "HTTP/1.1 204 No\r\n\r\n" },
    };
    struct stage stage;
    struct http_server server;
    struct fetch_order order, next;

    http_server_start(&server, rules, COUNT(rules));
    stage_init(&stage);
    order = order_to("GET", server.url);
    next = order_to("DELETE", server.url);
    stage.again = &next;
    stage.call = fetch_start(stage.fetch, &order, &streamed, &stage);
    wait_for(&stage, 2);
    CHECK(strstr(buf_cstr(&stage.told), "ok 204 "));
    stage_done(&stage);
    http_server_stop(&server);
    CHECK_INT(http_server_count(&server, "DELETE /mcp HTTP/1.1\r\n"), 1);
    http_server_done(&server);
}

TEST(an_order_is_copied_and_its_answer_comes_whole_to_who_takes_no_bytes)
{
    static const struct http_rule rules[] = {
        { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello" },
    };
    static const char *const fields[] = { "Mcp-Session-Id: s", "Content-Type: x/y" };
    struct stage stage;
    struct http_server server;
    char body[] = "{\"a\":1}";
    struct fetch_order order;

    http_server_start(&server, rules, COUNT(rules));
    stage_init(&stage);
    order = order_to("POST", server.url);
    order.body = str_of(body);
    order.fields = fields;
    order.field_count = COUNT(fields);
    order.max_answer = 5;
    (void)fetch_start(stage.fetch, &order, &whole, &stage);
    memset(body, 'x', sizeof(body) - 1);
    wait_for(&stage, 1);
    CHECK_STR(buf_str(&stage.told), S("ok 200 hello"));
    stage_done(&stage);
    http_server_stop(&server);
    CHECK_INT(http_server_count(&server, "\r\n\r\n{\"a\":1}\n--"), 1);
    CHECK_INT(http_server_count(&server, "\r\nMcp-Session-Id: s\r\n"), 1);
    http_server_done(&server);
}

#define LONG_FIELD "X-Long: " LONG_1K LONG_1K LONG_1K LONG_1K "\r\n"
#define LONG_1K    LONG_128 LONG_128 LONG_128 LONG_128 LONG_128 LONG_128 LONG_128 LONG_128
#define LONG_128                                                       \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef" \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define LONG_16K LONG_FIELD LONG_FIELD LONG_FIELD LONG_FIELD

TEST(what_is_too_long_or_too_slow_ends)
{
    static const struct {
        const char *answer;
        bool closes;
        const char *told;
        uint64_t timeout_ms, silence_ms;
    } cases[] = {
        { "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n123456789", false, "too_big 200 ",
          15'000, 0 },
        { "HTTP/1.1 200 OK\r\n" LONG_16K LONG_16K LONG_16K LONG_16K LONG_FIELD "\r\n",
          true, "too_big 200 ", 15'000, 0 },
        { NULL, false, "timeout 0 ", 100, 0 },
        { "HTTP/1.1 200 OK\r\n\r\nabc", false, "timeout 200 ", 15'000, 1 },
        { "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n12", true, "io_error 200 ", 15'000,
          0 },
        { "HTTP/1.1 302 Go\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
          false, "ok 302 ", 15'000, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        const struct http_rule rule = { .answer = c->answer, .closes = c->closes };
        struct stage stage;
        struct http_server server;
        struct fetch_order order;

        http_server_start(&server, &rule, 1);
        stage_init(&stage);
        order = order_to("GET", server.url);
        order.max_answer = 8;
        order.timeout_ms = c->timeout_ms;
        order.silence_ms = c->silence_ms;
        (void)fetch_start(stage.fetch, &order, &whole, &stage);
        wait_for(&stage, 1);
        CHECK(str_starts(buf_str(&stage.told), str_of(c->told)));
        stage_done(&stage);
        http_server_stop(&server);
        http_server_done(&server);
    }
}

TEST(nobody_goes_where_he_may_not)
{
    static const struct {
        const char *url; /* "": the server */
        enum fetch_reach reach;
        const char *told;
    } cases[] = {
        { "", FETCH_ANYWHERE, "ok 200 hi" },
        { "", FETCH_LOCAL, "ok 200 hi" },
        { "", FETCH_PUBLIC, "forbidden 0 " },
        { "https://127.0.0.1:1/", FETCH_LOCAL, "io_error 0 " },
        { "https://127.0.0.1:1/", FETCH_PUBLIC, "forbidden 0 " },
        { "https://localhost:1/", FETCH_PUBLIC, "forbidden 0 " },
        { "https://LOCALHOST.:1/", FETCH_PUBLIC, "forbidden 0 " },
        { "https://[::1]:1/", FETCH_PUBLIC, "forbidden 0 " },
        { "https://[::ffff:127.0.0.1]:1/", FETCH_LOCAL, "forbidden 0 " },
        { "https://2130706433:1/", FETCH_PUBLIC, "forbidden 0 " },
        { "https://0x7f.1:1/", FETCH_PUBLIC, "forbidden 0 " },
        { "https://10.0.0.1:1/", FETCH_LOCAL, "forbidden 0 " },
        { "http://169.254.169.254/latest/meta-data", FETCH_ANYWHERE, "forbidden 0 " },
        { "http://[fe80::1%25lo]/", FETCH_ANYWHERE, "forbidden 0 " },
        /* a public address without TLS */
        { "http://8.8.8.8/", FETCH_LOCAL, "forbidden 0 " },
        { "file:///etc/passwd", FETCH_ANYWHERE, "invalid 0 " },
        { "gopher://127.0.0.1/", FETCH_ANYWHERE, "invalid 0 " },
        { "http://", FETCH_ANYWHERE, "invalid 0 " },
        { "/mcp", FETCH_ANYWHERE, "invalid 0 " },
        { "http://me:secret@127.0.0.1:1/", FETCH_ANYWHERE, "io_error 0 " },
    };
    static const struct http_rule rules[] = {
        { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage stage;
        struct http_server server;
        struct fetch_order order;

        http_server_start(&server, rules, COUNT(rules));
        stage_init(&stage);
        order = order_to("GET", *c->url ? c->url : server.url);
        order.reach = c->reach;
        order.max_answer = 10;
        (void)fetch_start(stage.fetch, &order, &whole, &stage);
        CHECK_INT(stage.done, 0);
        wait_for(&stage, 1);
        CHECK_STR(buf_str(&stage.told), str_of(c->told));
        stage_done(&stage);
        http_server_stop(&server);
        CHECK_INT(http_server_count(&server, "GET "), strstr(c->told, "hi") ? 1 : 0);
        http_server_done(&server);
    }
}

/* The name means an address of this machine, which is found out when a socket is made
 * for it. */
TEST(a_name_is_judged_by_the_address_that_is_connected_to)
{
    static const struct http_rule rules[] = {
        { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" },
    };
    struct stage stage;
    struct http_server server;
    struct fetch_order order;
    char url[64];

    http_server_start(&server, rules, COUNT(rules));
    (void)snprintf(url, sizeof(url), "https://a.localhost%s", strrchr(server.url, ':'));
    stage_init(&stage);
    order = order_to("GET", url);
    order.reach = FETCH_PUBLIC;
    (void)fetch_start(stage.fetch, &order, &whole, &stage);
    wait_for(&stage, 1);
    CHECK_STR(buf_str(&stage.told), S("forbidden 0 "));
    stage_done(&stage);
    http_server_stop(&server);
    CHECK_INT(server.connections, 0);
    http_server_done(&server);
}

/* It was made by whoever may go there. */
TEST(a_kept_connection_is_not_a_way_around_the_guard)
{
    static const struct http_rule rules[] = {
        { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" },
    };
    struct stage stage;
    struct http_server server;
    struct fetch_order order;
    char url[64];

    http_server_start(&server, rules, COUNT(rules));
    (void)snprintf(url, sizeof(url), "http://a.localhost%s", strrchr(server.url, ':'));
    stage_init(&stage);
    order = order_to("GET", url);
    order.max_answer = 10;
    (void)fetch_start(stage.fetch, &order, &whole, &stage);
    wait_for(&stage, 1);
    order.reach = FETCH_LOCAL;
    (void)fetch_start(stage.fetch, &order, &whole, &stage);
    wait_for(&stage, 2);
    CHECK_STR(buf_str(&stage.told), S("ok 200 hiok 200 hi"));
    stage_done(&stage);
    http_server_stop(&server);
    CHECK_INT(server.connections, 2);
    http_server_done(&server);
}

/* The server has taken the second request and gone, as far as we can know. */
TEST(a_body_is_not_sent_twice)
{
    static const struct http_rule rules[] = {
        { .begins = "GET", .answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" },
        { .begins = "POST", .answer = "", .closes = true },
    };
    struct stage stage;
    struct http_server server;
    struct fetch_order order;

    http_server_start(&server, rules, COUNT(rules));
    stage_init(&stage);
    order = order_to("GET", server.url);
    order.max_answer = 10;
    (void)fetch_start(stage.fetch, &order, &whole, &stage);
    wait_for(&stage, 1);
    order.method = "POST";
    order.body = S("pay");
    (void)fetch_start(stage.fetch, &order, &whole, &stage);
    wait_for(&stage, 2);
    CHECK_STR(buf_str(&stage.told), S("ok 200 hiio_error 0 "));
    stage_done(&stage);
    http_server_stop(&server);
    CHECK_INT(http_server_count(&server, "pay"), 1);
    http_server_done(&server);
}

TEST(a_field_cannot_smuggle_another)
{
    static const char *const fields[] = { "X-A: b\r\nX-C: d" };
    struct stage stage;
    struct fetch_order order = order_to("GET", "http://127.0.0.1:1/");

    stage_init(&stage);
    order.fields = fields;
    order.field_count = 1;
    (void)fetch_start(stage.fetch, &order, &whole, &stage);
    wait_for(&stage, 1);
    CHECK_STR(buf_str(&stage.told), S("invalid 0 "));
    stage_done(&stage);
}

/* The test's server is the proxy; this machine itself is never asked for through it. */
TEST(proxies_of_the_environment_are_for_those_who_use_them)
{
    static const struct {
        const char *url, *no_proxy;
        enum fetch_reach reach;
        bool uses_proxies;
        const char *told;
    } cases[] = {
        { "http://a.invalid/x", "", FETCH_ANYWHERE, true, "ok 200 hi" },
        { "http://a.invalid/x", "", FETCH_ANYWHERE, false, "io_error 0 " },
        { "http://a.invalid/x", "b.invalid, invalid", FETCH_ANYWHERE, true,
          "io_error 0 " },
        { "http://a.invalid/x", ".a.invalid", FETCH_ANYWHERE, true, "io_error 0 " },
        { "http://a.invalid/x", "*", FETCH_ANYWHERE, true, "io_error 0 " },
        { "http://a.invalid/x", "b.a.invalid,nvalid", FETCH_ANYWHERE, true, "ok 200 hi" },
        { "http://127.0.0.1:1/x", "", FETCH_ANYWHERE, true, "io_error 0 " },
        { "http://localhost:1/x", "", FETCH_ANYWHERE, true, "io_error 0 " },
        { "http://[::1]:1/x", "", FETCH_ANYWHERE, true, "io_error 0 " },
        /* an address that stands in the URL is judged, whoever brings us there */
        { "http://169.254.169.254/x", "", FETCH_ANYWHERE, true, "forbidden 0 " },
        { "https://10.0.0.1/x", "", FETCH_PUBLIC, true, "forbidden 0 " },
    };
    static const struct http_rule rules[] = {
        { .answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage stage;
        struct http_server server;
        struct fetch_order order = order_to("GET", c->url);

        http_server_start(&server, rules, COUNT(rules));
        (void)setenv("http_proxy", server.url, 1);
        (void)setenv("https_proxy", server.url, 1);
        (void)setenv("no_proxy", c->no_proxy, 1);
        stage_init(&stage);
        order.reach = c->reach;
        order.uses_proxies = c->uses_proxies;
        order.max_answer = 10;
        (void)fetch_start(stage.fetch, &order, &whole, &stage);
        wait_for(&stage, 1);
        CHECK_STR(buf_str(&stage.told), str_of(c->told));
        stage_done(&stage);
        http_server_stop(&server);
        CHECK_INT(http_server_count(&server, "GET http://a.invalid/x"),
                  strstr(c->told, "hi") ? 1 : 0);
        http_server_done(&server);
    }
    (void)unsetenv("http_proxy");
    (void)unsetenv("https_proxy");
    (void)unsetenv("no_proxy");
}
