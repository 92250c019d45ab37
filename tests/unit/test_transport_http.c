/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions over HTTP against a server of the test. What the session tells is written down
 * line by line; what the server got is looked up in its log. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "harness.h"
#include "http_stage.h"

static void finish(struct http_stage *stage, struct http_server *server)
{
    http_stage_done(stage);
    http_server_stop(server);
}

/* --- answers; their Content-Length is left out, so each closes its connection --- */

#define JSON_HEAD          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
#define EVENTS_HEAD        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
#define RESULT(id, result) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":" result "}"
#define INITIALIZED                                                        \
    RESULT("1", "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{}," \
                "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}")
#define DISCOVERED                                                                     \
    RESULT("1", "{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"]," \
                "\"capabilities\":{},\"ttlMs\":0,\"cacheScope\":\"private\"}")
#define REFUSED(status) "HTTP/1.1 " status "\r\nContent-Length: 0\r\n\r\n"

#define OPENING                                                                      \
    { "POST", "\"initialize\"", JSON_HEAD "Mcp-Session-Id: s-1\r\n\r\n" INITIALIZED, \
      true, 1 },                                                                     \
    {                                                                                \
        "POST", "notifications/initialized", REFUSED("202 Accepted"), false, 0       \
    }
#define NO_LISTENING                             \
    {                                            \
        "GET", NULL, REFUSED("405 No"), false, 0 \
    }

TEST(a_legacy_server_is_spoken_to_in_its_session)
{
    static const struct http_rule rules[] = {
        OPENING,
        NO_LISTENING,
        { "POST", "tools/list", JSON_HEAD "\r\n" RESULT("2", "{\"tools\":[]}"), true, 0 },
        { "DELETE", NULL, REFUSED("200 OK"), false, 0 },
    };
    struct http_stage stage = {};
    struct http_server server;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_LEGACY);
    CHECK(http_stage_wait(&stage, "ready 2025-11-25\n"));
    http_stage_call(&stage, "tools/list");
    CHECK(http_stage_wait(&stage, "result {\"tools\":[]}\n"));
    http_stage_wait_requests(&stage, &server, 4);
    http_carrier_close(stage.http);
    CHECK(http_stage_wait(&stage, "ended it was closed\n"));
    finish(&stage, &server);
    CHECK_INT(http_server_count(&server, "POST /mcp HTTP/1.1\r\n"), 3);
    CHECK_INT(http_server_count(&server, "X-Mine: yes\r\n"), 5);
    CHECK_INT(http_server_count(&server, "Mcp-Session-Id: s-1\r\n"), 4);
    CHECK_INT(http_server_count(&server, "MCP-Protocol-Version: 2025-11-25\r\n"), 4);
    CHECK_INT(
        http_server_count(&server, "Accept: application/json, text/event-stream\r\n"), 3);
    CHECK_INT(http_server_count(&server, "Accept: text/event-stream\r\n"), 1);
    CHECK_INT(http_server_count(&server, "DELETE /mcp HTTP/1.1\r\n"), 1);
    CHECK_INT(http_server_count(&server, "Mcp-Method"), 0);
    http_server_done(&server);
}

/* The notification says that the server may be asked; a request on another connection
 * could overtake it. */
TEST(nothing_overtakes_the_end_of_the_handshake)
{
    static const struct http_rule rules[] = {
        { "POST", "\"initialize\"", JSON_HEAD "\r\n" INITIALIZED, true, 1 },
        { "POST", "notifications/initialized", NULL, false, 0 },
    };
    struct http_stage stage = {};
    struct http_server server;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_LEGACY);
    CHECK(http_stage_wait(&stage, "ready 2025-11-25\n"));
    http_stage_call(&stage, "tools/list");
    http_stage_wait_requests(&stage, &server, 2);
    for (int i = 0; i < 10; i++)
        loop_turn(stage.loop, 10);
    finish(&stage, &server);
    CHECK_INT(http_server_count(&server, "tools/list"), 0);
    CHECK_INT(http_server_count(&server, "GET "), 0);
    http_server_done(&server);
}

TEST(an_answer_may_come_as_events_with_questions_before_it)
{
    static const struct http_rule rules[] = {
        OPENING,
        NO_LISTENING,
        { "POST", "tools/call",
          EVENTS_HEAD
          "id: 1\ndata:\n\n"
          "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\","
          "\"params\":{}}\n\n"
          "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n"
          "event: other\ndata: {}\n\n"
          "data: " RESULT("2", "{\"content\":[]}") "\n\n",
          true, 0 },
        { "POST", "\"roots\"", REFUSED("202 Accepted"), false, 0 },
    };
    struct http_stage stage = {};
    struct http_server server;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_LEGACY);
    CHECK(http_stage_wait(&stage, "ready"));
    http_stage_call(&stage, "tools/call");
    CHECK(http_stage_wait(&stage, "notification notifications/message 1\n"
                                  "question roots/list 1\n"
                                  "result {\"content\":[]}\n"));
    http_stage_wait_requests(&stage, &server, 5);
    finish(&stage, &server);
    CHECK_INT(http_server_count(&server, "\"id\":\"q\",\"result\":{\"roots\":[]}"), 1);
    http_server_done(&server);
}

/* HTTP-12, HTTP-23: the ids are of whichever connection came last. */
TEST(a_legacy_stream_that_breaks_off_is_resumed)
{
    static const struct http_rule rules[] = {
        OPENING,
        { "GET", "Last-Event-ID: e2\r\n",
          EVENTS_HEAD "id: e3\ndata: " RESULT("2", "{\"content\":[]}") "\n\n", true, 0 },
        { "GET", "Last-Event-ID: e1\r\n", EVENTS_HEAD "id: e2\nretry: 20\ndata:\n\n",
          true, 0 },
        NO_LISTENING,
        { "POST", "tools/call",
          EVENTS_HEAD "id: e1\nretry: 10\ndata:\n\nid: e9\ndata: cut", true, 0 },
    };
    struct http_stage stage = {};
    struct http_server server;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_LEGACY);
    CHECK(http_stage_wait(&stage, "ready"));
    http_stage_call(&stage, "tools/call");
    CHECK(http_stage_wait(&stage, "result {\"content\":[]}\n"));
    finish(&stage, &server);
    CHECK_INT(http_server_count(&server, "tools/call"), 1);
    CHECK_INT(http_server_count(&server, "Last-Event-ID: e1\r\n"), 1);
    CHECK_INT(http_server_count(&server, "Last-Event-ID: e2\r\n"), 1);
    http_server_done(&server);
}

TEST(a_call_that_cannot_be_resumed_fails_and_is_not_sent_again)
{
    static const struct {
        const char *answer;
        const char *get;
        const char *told;
    } cases[] = {
        { EVENTS_HEAD ": nothing\n\n", REFUSED("405 No"), "\"reason\":\"broken\"" },
        { EVENTS_HEAD "id: e1\nretry: 1\ndata:\n\n", REFUSED("405 No"),
          "\"reason\":\"broken\"" },
        { "", REFUSED("405 No"), "\"reason\":\"broken\"" },
        { JSON_HEAD "\r\n" RESULT("77", "{}"), REFUSED("405 No"),
          "\"reason\":\"broken\"" },
        { "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>", REFUSED("405 No"),
          "\"reason\":\"http_status\"" },
        { REFUSED("202 Accepted"), REFUSED("405 No"), "\"reason\":\"http_status\"" },
        { REFUSED("500 Oh"), REFUSED("405 No"), "\"reason\":\"http_status\"" },
        { REFUSED("302 Go"), REFUSED("405 No"), "\"reason\":\"http_status\"" },
        { REFUSED("401 Who"), REFUSED("405 No"), "\"reason\":\"forbidden\"" },
    };

    FOR_EACH_CASE(c, cases) {
        const struct http_rule rules[] = {
            OPENING,
            { "GET", NULL, c->get, false, 0 },
            { "POST", "tools/call", c->answer, true, 0 },
        };
        struct http_stage stage = {};
        struct http_server server;

        http_server_start(&server, rules, COUNT(rules));
        http_stage_init(&stage, server.url, ERA_LEGACY);
        CHECK(http_stage_wait(&stage, "ready"));
        http_stage_call(&stage, "tools/call");
        CHECK(http_stage_wait(&stage, "failed {"));
        CHECK(strstr(buf_cstr(&stage.told), c->told));
        finish(&stage, &server);
        CHECK_INT(http_server_count(&server, "tools/call"), 1);
        http_server_done(&server);
    }
}

TEST(what_is_too_long_is_not_taken)
{
    static const char *const heads[] = { JSON_HEAD "\r\n\"", EVENTS_HEAD "data: \"" };

    FOR_EACH_CASE(head, heads) {
        struct http_stage stage = {};
        struct http_server server;
        struct buf answer;
        struct http_rule rules[] = {
            OPENING,
            NO_LISTENING,
            { "POST", "tools/call", NULL, false, 0 },
        };

        buf_init(&answer, 1 << 20);
        buf_put(&answer, str_of(*head));
        for (int i = 0; i < 1 << 17; i++)
            buf_putc(&answer, 'x');
        rules[3].answer = buf_cstr(&answer);
        http_server_start(&server, rules, COUNT(rules));
        http_stage_init(&stage, server.url, ERA_LEGACY);
        CHECK(http_stage_wait(&stage, "ready"));
        http_stage_call(&stage, "tools/call");
        CHECK(http_stage_wait(&stage, "\"reason\":\"too_big\""));
        finish(&stage, &server);
        http_server_done(&server);
        buf_done(&answer);
    }
}

/* HTTP-30, and what server-everything answers instead. */
TEST(a_forgotten_session_is_opened_anew_and_the_call_sent_once_more)
{
    static const struct {
        const char *refusal;
        const char *told;
        size_t calls;
    } cases[] = {
        { REFUSED("404 Gone\r\nConnection: close"), "result {\"n\":2}\n", 2 },
        { "HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\n\r\n"
          "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32000,\"message\":\"No valid "
          "session\"}}",
          "result {\"n\":2}\n", 2 },
        /* about the request, not about the session */
        { "HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\n\r\n"
          "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32602,\"message\":\"no\"}}",
          "error {\"code\":-32602,\"message\":\"no\"}\n", 1 },
    };

    FOR_EACH_CASE(c, cases) {
        const struct http_rule rules[] = {
            OPENING,
            { "POST", "\"initialize\"",
              JSON_HEAD "Mcp-Session-Id: s-2\r\n\r\n" RESULT(
                  "4", "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
                       "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}"),
              true, 0 },
            NO_LISTENING,
            { "POST", "tools/list", JSON_HEAD "\r\n" RESULT("2", "{\"n\":1}"), true, 0 },
            { "POST", "\"id\":3", c->refusal, true, 1 },
            { "POST", "tools/call", JSON_HEAD "\r\n" RESULT("5", "{\"n\":2}"), true, 0 },
        };
        struct http_stage stage = {};
        struct http_server server;

        http_server_start(&server, rules, COUNT(rules));
        http_stage_init(&stage, server.url, ERA_LEGACY);
        CHECK(http_stage_wait(&stage, "ready"));
        http_stage_call(&stage, "tools/list");
        CHECK(http_stage_wait(&stage, "result {\"n\":1}\n"));
        http_stage_call(&stage, "tools/call");
        CHECK(http_stage_wait(&stage, c->told));
        finish(&stage, &server);
        CHECK_INT(http_server_count(&server, "tools/call"), c->calls);
        CHECK_INT(http_server_count(&server, "\"initialize\""), c->calls);
        CHECK_INT(http_server_count(&server, "Mcp-Session-Id: s-2\r\n") > 0,
                  c->calls > 1);
        http_server_done(&server);
    }
}

TEST(what_a_server_says_on_its_own_comes_on_a_stream_of_its_own)
{
    static const struct http_rule rules[] = {
        OPENING,
        { "GET", "Last-Event-ID: g1\r\n",
          EVENTS_HEAD
          "id: g2\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/b\"}\n\n",
          false, 0 },
        { "GET", NULL,
          EVENTS_HEAD "retry: 5\nid: g1\ndata: "
                      "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/a\"}\n\n",
          true, 0 },
    };
    struct http_stage stage = {};
    struct http_server server;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_LEGACY);
    CHECK(http_stage_wait(&stage, "notification notifications/a 0\n"
                                  "notification notifications/b 0\n"));
    finish(&stage, &server);
    CHECK_INT(http_server_count(&server, "GET /mcp HTTP/1.1\r\n"), 2);
    http_server_done(&server);
}

TEST(a_modern_server_is_told_everything_in_headers_and_has_no_session)
{
    static const struct http_rule rules[] = {
        { "POST", "server/discover", JSON_HEAD "Mcp-Session-Id: s-1\r\n\r\n" DISCOVERED,
          true, 0 },
        { "POST", "tools/list",
          JSON_HEAD "\r\n" RESULT("2", "{\"resultType\":\"complete\",\"tools\":[]}"),
          true, 0 },
        { "POST", "tools/call", EVENTS_HEAD "id: e1\nretry: 1\ndata:\n\n", true, 0 },
    };
    struct http_stage stage = {};
    struct http_server server;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_UNKNOWN);
    CHECK(http_stage_wait(&stage, "ready 2026-07-28\n"));
    http_stage_call(&stage, "tools/list");
    CHECK(http_stage_wait(&stage, "result {"));
    http_stage_call(&stage, "tools/call");
    CHECK(http_stage_wait(&stage, "\"reason\":\"broken\"")); /* nothing is resumed */
    http_carrier_close(stage.http);
    CHECK(http_stage_wait(&stage, "ended it was closed\n"));
    finish(&stage, &server);
    CHECK_INT(http_server_count(&server, "MCP-Protocol-Version: 2026-07-28\r\n"), 3);
    CHECK_INT(http_server_count(&server, "Mcp-Method: server/discover\r\n"), 1);
    CHECK_INT(http_server_count(&server, "Mcp-Method: tools/list\r\n"), 1);
    CHECK_INT(http_server_count(&server, "Mcp-Session-Id"), 0);
    CHECK_INT(http_server_count(&server, "GET "), 0);
    CHECK_INT(http_server_count(&server, "DELETE "), 0);
    http_server_done(&server);
}

TEST(the_era_is_found_out_and_what_says_nothing_of_it_is_no_verdict)
{
    static const struct {
        const char *answer;
        const char *told;
    } cases[] = {
        { "HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\n\r\n"
          "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32000,\"message\":\"Server "
          "not initialized\"}}",
          "ready 2025-11-25\n" },
        { REFUSED("404 No\r\nConnection: close"), "ready 2025-11-25\n" },
        { REFUSED("405 No\r\nConnection: close"), "ready 2025-11-25\n" },
        { REFUSED("401 Who\r\nConnection: close"), "end 4 " },
        { REFUSED("403 Who\r\nConnection: close"), "end 4 " },
    };

    FOR_EACH_CASE(c, cases) {
        const struct http_rule rules[] = {
            { "POST", "server/discover", c->answer, true, 0 },
            { "POST", "\"initialize\"",
              JSON_HEAD "\r\n" RESULT("2", "{\"protocolVersion\":\"2025-11-25\","
                                           "\"capabilities\":{},\"serverInfo\":{"
                                           "\"name\":\"s\",\"version\":\"1\"}}"),
              true, 0 },
            { "POST", "notifications/initialized", REFUSED("202 Accepted"), false, 0 },
            NO_LISTENING,
        };
        struct http_stage stage = {};
        struct http_server server;

        http_server_start(&server, rules, COUNT(rules));
        http_stage_init(&stage, server.url, ERA_UNKNOWN);
        CHECK(http_stage_wait(&stage, c->told));
        finish(&stage, &server);
        CHECK_INT(http_server_count(&server, "\"initialize\""),
                  strstr(c->told, "ready") ? 1 : 0);
        http_server_done(&server);
    }
}

#define ENDPOINT "event: endpoint\ndata: /message?sessionId=7\n\n"
#define OLDER_RULES                                                                      \
    { "POST /mcp", NULL, REFUSED("404 No"), false, 0 },                                  \
        { "POST /message?sessionId=7", "\"initialize\"", REFUSED("202 Accepted"), false, \
          0 },                                                                           \
    {                                                                                    \
        "POST /message?sessionId=7", NULL, REFUSED("202 Accepted"), false, 0             \
    }

/* HTTP-35. Its answers come on the stream that was opened first, so here they are there
 * before they are asked for; the session takes those that it waits for. */
TEST(an_older_server_is_spoken_to_as_it_wants)
{
    static const struct http_rule rules[] = {
        OLDER_RULES,
        { "GET /mcp", NULL, EVENTS_HEAD ENDPOINT "data: " INITIALIZED "\n\n", false, 0 },
    };
    struct http_stage stage = {};
    struct http_server server;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_LEGACY);
    CHECK(http_stage_wait(&stage, "ready 2025-11-25\n"));
    http_stage_wait_requests(&stage, &server, 4);
    finish(&stage, &server);
    CHECK_INT(http_server_count(&server, "POST /message?sessionId=7 HTTP/1.1\r\n"), 2);
    CHECK_INT(http_server_count(&server, "GET /mcp HTTP/1.1\r\n"), 1);
    http_server_done(&server);
}

TEST(the_end_of_an_older_servers_stream_is_the_end_of_the_session)
{
    static const struct http_rule rules[] = {
        OLDER_RULES,
        { "GET /mcp", NULL, EVENTS_HEAD ENDPOINT "data: " INITIALIZED "\n\n", true, 0 },
    };
    struct http_stage stage = {};
    struct http_server server;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_LEGACY);
    CHECK(http_stage_wait(&stage, "ended the server ended the stream of its answers\n"));
    CHECK(strstr(buf_cstr(&stage.told), "end 0 "));
    finish(&stage, &server);
    http_server_done(&server);
}

TEST(an_older_server_cannot_send_us_elsewhere)
{
    static const char *const endpoints[] = {
        "event: endpoint\ndata: http://127.0.0.1:1/message\n\n",
        "event: endpoint\ndata: //example.com/message\n\n",
        "event: endpoint\ndata: file:///etc/passwd\n\n",
        "event: endpoint\ndata: https://127.0.0.1/message\n\n",
    };

    FOR_EACH_CASE(c, endpoints) {
        struct http_stage stage = {};
        struct http_server server;
        char stream[256];
        const struct http_rule rules[] = {
            OLDER_RULES,
            { "GET /mcp", NULL, stream, false, 0 },
        };

        (void)snprintf(stream, sizeof(stream), "%s%s", EVENTS_HEAD, *c);
        http_server_start(&server, rules, COUNT(rules));
        http_stage_init(&stage, server.url, ERA_LEGACY);
        CHECK(http_stage_wait(&stage, "ended the server wants its messages"));
        finish(&stage, &server);
        CHECK_INT(http_server_count(&server, "POST "), 1);
        http_server_done(&server);
    }
}

TEST(a_server_that_is_not_older_either_is_refused)
{
    static const char *const gets[] = { REFUSED("405 No"), REFUSED("404 No"),
                                        JSON_HEAD "\r\n{}" };

    FOR_EACH_CASE(c, gets) {
        const struct http_rule rules[] = {
            { "POST", NULL, REFUSED("404 No"), false, 0 },
            { "GET", NULL, *c, true, 0 },
        };
        struct http_stage stage = {};
        struct http_server server;

        http_server_start(&server, rules, COUNT(rules));
        http_stage_init(&stage, server.url, ERA_LEGACY);
        CHECK(http_stage_wait(&stage, "end 1 "));
        finish(&stage, &server);
        http_server_done(&server);
    }
}

TEST(a_refused_request_is_sent_again_with_another_credential)
{
    static const struct http_rule rules[] = {
        { "POST", "Authorization: Bearer old\r\n",
          "HTTP/1.1 401 Who\r\nWWW-Authenticate: Bearer a=1\r\nContent-Length: "
          "0\r\n\r\n",
          false, 0 },
        OPENING,
        NO_LISTENING,
        { "POST", "tools/list", JSON_HEAD "\r\n" RESULT("2", "{\"tools\":[]}"), true, 0 },
    };
    struct http_stage stage = { .tokens = { "Bearer old", "Bearer new" } };
    struct http_server server;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_LEGACY);
    CHECK(http_stage_wait(&stage,
                          "challenge 401 Bearer a=1 for Bearer old\nready 2025-11-25\n"));
    http_stage_call(&stage, "tools/list");
    CHECK(http_stage_wait(&stage, "result {\"tools\":[]}\n"));
    finish(&stage, &server);
    CHECK_INT(http_server_count(&server, "Authorization: Bearer old\r\n"), 1);
    CHECK_INT(http_server_count(&server, "\"initialize\""), 2);
    http_server_done(&server);
}

TEST(a_credential_that_does_not_help_is_said_so)
{
    static const struct http_rule rules[] = {
        { "POST", NULL,
          "HTTP/1.1 401 Who\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\n\r\n",
          false, 0 },
    };
    struct http_stage stage = { .tokens = { "Bearer old" } };
    struct http_server server;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_LEGACY);
    CHECK(http_stage_wait(&stage, "end 4 no more tokens\n"));
    finish(&stage, &server);
    http_server_done(&server);
}

TEST(a_redirection_is_followed_to_the_same_server_alone)
{
    static const struct {
        const char *location;
        const char *told;
    } cases[] = {
        { "/mcp/", "ready 2025-11-25\n" },
        { "http://127.0.0.1:1/mcp/", "end 1 " },
        { "https://127.0.0.1/mcp/", "end 1 " },
        { "", "end 1 " },
    };

    FOR_EACH_CASE(c, cases) {
        struct http_stage stage = {};
        struct http_server server;
        char moved[256];
        const struct http_rule rules[] = {
            { "POST /mcp ", NULL, moved, false, 0 },
            OPENING,
            NO_LISTENING,
        };

        (void)snprintf(moved, sizeof(moved),
                       "HTTP/1.1 307 Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n",
                       c->location);
        http_server_start(&server, rules, COUNT(rules));
        http_stage_init(&stage, server.url, ERA_LEGACY);
        CHECK(http_stage_wait(&stage, c->told));
        finish(&stage, &server);
        http_server_done(&server);
    }
}

TEST(a_session_id_that_is_none_is_not_repeated)
{
    static const struct http_rule rules[] = {
        { "POST", "\"initialize\"",
          JSON_HEAD "Mcp-Session-Id: s\x01\x7f\r\n\r\n" INITIALIZED, true, 1 },
        { "POST", "notifications/initialized", REFUSED("202 Accepted"), false, 0 },
        NO_LISTENING,
    };
    struct http_stage stage = {};
    struct http_server server;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_LEGACY);
    CHECK(http_stage_wait(&stage, "ready"));
    http_stage_wait_requests(&stage, &server, 3);
    finish(&stage, &server);
    CHECK_INT(http_server_count(&server, "Mcp-Session-Id"), 0);
    http_server_done(&server);
}

/* Modern: the stream is the call, and closing it the cancellation. */
TEST(a_call_that_nobody_waits_for_is_hung_up)
{
    static const struct http_rule rules[] = {
        { "POST", "server/discover", JSON_HEAD "\r\n" DISCOVERED, true, 0 },
        { "POST", "tools/call", EVENTS_HEAD ": wait\n\n", false, 0 },
    };
    struct http_stage stage = {};
    struct http_server server;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_MODERN);
    CHECK(http_stage_wait(&stage, "ready"));
    http_stage_call(&stage, "tools/call");
    http_stage_wait_requests(&stage, &server, 2);
    mcp_session_cancel(stage.session, 2, S("enough"), loop_now_ms(stage.loop));
    CHECK(http_stage_wait(&stage, "cancelled {"));
    finish(&stage, &server);
    CHECK_INT(http_server_count(&server, "notifications/cancelled"), 0);
    http_server_done(&server);
}

TEST(no_more_streams_than_were_agreed_upon)
{
    static const struct http_rule rules[] = {
        { "POST", "server/discover", JSON_HEAD "\r\n" DISCOVERED, true, 0 },
        { "POST", NULL, NULL, false, 0 },
    };
    struct http_stage stage = {};
    struct http_server server;
    uint64_t id;

    http_server_start(&server, rules, COUNT(rules));
    http_stage_init(&stage, server.url, ERA_MODERN);
    CHECK(http_stage_wait(&stage, "ready"));
    for (int i = 0; i < 4; i++)
        http_stage_call(&stage, "tools/call");
    CHECK_INT(mcp_session_call(stage.session,
                               &(struct mcp_call){ .method = S("tools/call"),
                                                   .ops.on_done = http_stage_on_done,
                                                   .user = &stage },
                               loop_now_ms(stage.loop), &id),
              ERR_OVERLOAD);
    finish(&stage, &server);
    http_server_done(&server);
}

TEST(a_server_that_is_not_there_ends_the_session)
{
    struct http_stage stage = {};

    http_stage_init(&stage, "http://127.0.0.1:1/mcp", ERA_LEGACY);
    CHECK(http_stage_wait(&stage, "end "));
    http_stage_done(&stage);
}
