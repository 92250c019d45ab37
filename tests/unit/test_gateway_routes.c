/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/doors.h"
#include "gateway/mcp_halls.h"
#include "gateway/ws_door.h"
#include "harness.h"

TEST(every_route_is_found_with_its_handler_access_and_place)
{
    /* clang-format off */
    static const struct {
        enum http_method method;
        struct str path;
        void (*handle)(struct exchange *x);
        enum access access;
        enum place place;
        struct str param;
    } cases[] = {
        { HTTP_GET,    S("/"),                             console_page_get,   ACCESS_PUBLIC,   ANYWHERE,        {} },
        { HTTP_GET,    S("/ws"),                           ws_open,            ACCESS_IDENTITY, TOPIC_IN_QUERY,  {} },
        { HTTP_POST,   S("/ws-ticket"),                    ticket_post,        ACCESS_IDENTITY, ANYWHERE,        {} },
        { HTTP_GET,    S("/session"),                      session_get,        ACCESS_IDENTITY, ANYWHERE,        {} },
        { HTTP_GET,    S("/inbox"),                        inbox_get,          ACCESS_IDENTITY, ANYWHERE,        {} },
        { HTTP_GET,    S("/rules"),                        rules_get,          ACCESS_IDENTITY, ANYWHERE,        {} },
        { HTTP_GET,    S("/topics/t/decisions"),           decisions_get,      ACCESS_IDENTITY, TOPIC_IN_PATH,   S("t") },
        { HTTP_POST,   S("/topics/t/rules/test"),          rules_test,         ACCESS_IDENTITY, TOPIC_IN_PATH,   S("t") },
        { HTTP_GET,    S("/admin/overview"),               admin_overview,     ACCESS_ADMIN,    AT_FIRST_WORKER, {} },
        { HTTP_GET,    S("/admin/settings"),               admin_settings,     ACCESS_ADMIN,    AT_FIRST_WORKER, {} },
        { HTTP_PATCH,  S("/admin/settings"),               admin_set_settings, ACCESS_ADMIN,    AT_FIRST_WORKER, {} },
        { HTTP_GET,    S("/admin/audit/verify"),           admin_verify_status, ACCESS_ADMIN,   AT_FIRST_WORKER, {} },
        { HTTP_POST,   S("/admin/audit/verify"),           admin_verify,       ACCESS_ADMIN,    AT_FIRST_WORKER, {} },
        { HTTP_DELETE, S("/admin/audit/verify"),           admin_verify_stop,  ACCESS_ADMIN,    AT_FIRST_WORKER, {} },
        { HTTP_POST,   S("/session"),                      session_post,       ACCESS_PUBLIC,   AT_FIRST_WORKER, {} },
        { HTTP_DELETE, S("/session"),                      session_delete,     ACCESS_IDENTITY, AT_FIRST_WORKER, {} },
        { HTTP_GET,    S("/topics"),                       topics_list,        ACCESS_IDENTITY, ANYWHERE,        {} },
        { HTTP_POST,   S("/topics/t/messages"),            messages_post,      ACCESS_IDENTITY, TOPIC_IN_PATH,   S("t") },
        { HTTP_GET,    S("/topics/t/messages"),            messages_get,       ACCESS_IDENTITY, TOPIC_IN_PATH,   S("t") },
        { HTTP_GET,    S("/topics/messages/messages"),     messages_get,       ACCESS_IDENTITY, TOPIC_IN_PATH,   S("messages") },
        { HTTP_GET,    S("/topics/a b/participants"),      participants_list,  ACCESS_IDENTITY, TOPIC_IN_PATH,   S("a b") },
        { HTTP_GET,    S("/topics/{}/proposals"),          proposals_list,     ACCESS_IDENTITY, TOPIC_IN_PATH,   S("{}") },
        { HTTP_POST,   S("/admin/participants/a@b/capabilities"), admin_capabilities, ACCESS_ADMIN, AT_FIRST_WORKER, S("a@b") },
        { HTTP_GET,    S("/admin/tokens"),                 tokens_list,        ACCESS_ADMIN,    ANYWHERE,        {} },
        { HTTP_POST,   S("/admin/tokens"),                 tokens_create,      ACCESS_ADMIN,    AT_FIRST_WORKER, {} },
        { HTTP_DELETE, S("/admin/tokens/x"),               tokens_revoke,      ACCESS_ADMIN,    AT_FIRST_WORKER, S("x") },
        { HTTP_GET,    S("/admin/topics"),                 admin_topics,       ACCESS_ADMIN,    ANYWHERE,        {} },
        { HTTP_POST,   S("/admin/topics/t/loop-guard/reset"), admin_reset_loop_guard, ACCESS_ADMIN, TOPIC_IN_PATH,   S("t") },
        { HTTP_GET,    S("/admin/members"),                admin_members,      ACCESS_ADMIN,    ANYWHERE,        {} },
        { HTTP_POST,   S("/admin/members/m/kick"),         admin_kick,         ACCESS_ADMIN,    AT_FIRST_WORKER, S("m") },
        { HTTP_POST,   S("/admin/members/m/pause"),        admin_pause,        ACCESS_ADMIN,    AT_FIRST_WORKER, S("m") },
        { HTTP_POST,   S("/admin/members/m/resume"),       admin_resume,       ACCESS_ADMIN,    AT_FIRST_WORKER, S("m") },
        { HTTP_POST,   S("/admin/reload"),                 admin_reload,       ACCESS_ADMIN,    AT_FIRST_WORKER, {} },
        { HTTP_POST,   S("/admin/link"),                   admin_link,         ACCESS_ADMIN,    ANYWHERE,        {} },
        { HTTP_POST,   S("/mcp/t"),                        mcp_post,           ACCESS_MCP,      TOPIC_IN_PATH,   S("t") },
        { HTTP_GET,    S("/mcp/t"),                        mcp_get,            ACCESS_MCP,      TOPIC_IN_PATH,   S("t") },
        { HTTP_DELETE, S("/mcp/t"),                        mcp_delete,         ACCESS_MCP,      TOPIC_IN_PATH,   S("t") },
        { HTTP_POST,   S("/mcp"),                          mcp_post,           ACCESS_MCP,      TOPIC_OF_MCP,    {} },
        { HTTP_GET,    S("/mcp"),                          mcp_get,            ACCESS_MCP,      TOPIC_OF_MCP,    {} },
        { HTTP_DELETE, S("/mcp"),                          mcp_delete,         ACCESS_MCP,      TOPIC_OF_MCP,    {} },
        { HTTP_GET,    S("/healthz"),                      health_get,         ACCESS_PUBLIC,   ANYWHERE,        {} },
        { HTTP_GET,    S("/readyz"),                       ready_get,          ACCESS_PUBLIC,   ANYWHERE,        {} },
        { HTTP_GET,    S("/metrics"),                      metrics_get,        ACCESS_LOOPBACK, ANYWHERE,        {} },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct str params[ROUTE_PARAMS] = {};
        const struct route *route;
        struct buf allow;

        buf_init(&allow, 256);
        route = route_find(c->method, c->path, params, &allow);
        CHECK(route && route->handle == c->handle);
        if (route) {
            CHECK_INT(route->access, c->access);
            CHECK_INT(route->place, c->place);
            CHECK_INT(route->takes_ticket, c->handle == ws_open); /* D2: nowhere else */
        }
        CHECK_STR(params[0], c->param);
        CHECK_INT(params[1].len, 0);
        buf_done(&allow);
    }
}

TEST(a_wrong_method_finds_nothing_and_learns_the_right_ones)
{
    /* clang-format off */
    static const struct { enum http_method method; struct str path, allow; } cases[] = {
        { HTTP_POST,    S("/"),                    S("GET, HEAD, OPTIONS") },
        { HTTP_POST,    S("/ws"),                  S("GET, HEAD, OPTIONS") },
        { HTTP_GET,     S("/ws-ticket"),           S("POST, OPTIONS") },
        { HTTP_PUT,     S("/session"),             S("GET, HEAD, POST, DELETE, OPTIONS") },
        { HTTP_PUT,     S("/topics/t/messages"),   S("POST, GET, HEAD, OPTIONS") },
        { HTTP_DELETE,  S("/topics/t/proposals"),  S("GET, HEAD, OPTIONS") },
        { HTTP_DELETE,  S("/admin/tokens"),        S("GET, HEAD, POST, OPTIONS") },
        { HTTP_GET,     S("/admin/tokens/x"),      S("DELETE, OPTIONS") },
        { HTTP_PATCH,   S("/healthz"),             S("GET, HEAD, OPTIONS") },
        { HTTP_OPTIONS, S("/admin/link"),          S("POST, OPTIONS") },
        { HTTP_OTHER,   S("/metrics"),             S("GET, HEAD, OPTIONS") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct str params[ROUTE_PARAMS] = {};
        struct buf allow;

        buf_init(&allow, 256);
        CHECK(route_find(c->method, c->path, params, &allow) == NULL);
        CHECK_STR(buf_str(&allow), c->allow);
        CHECK(params[0].ptr == NULL);
        buf_done(&allow);
    }
}

TEST(what_only_looks_like_a_route_is_none)
{
    static const struct str paths[] = {
        S(""),
        S("*"),
        S("//"),
        S("/ws/"),
        S("ws"),
        S("/WS"),
        S("/ws "),
        S("/topics/"),
        S("/topics/t"),
        S("/topics//messages"),
        S("/topics/t/messages/"),
        S("/topics/t/messages/x"),
        S("/topics/t/u/messages"),
        S("//topics"),
        S("/admin"),
        S("/admin/"),
        S("/admin/tokens/"),
        S("/admin/tokens/a/b"),
        S("/admin/members//kick"),
        S("/admin/members/kick"),
        S("/admin/participants/a/capabilities/x"),
        S("/healthz/x"),
        S("/metrics\0"),
        S("/x"),
    };

    FOR_EACH_CASE(path, paths) {
        static const enum http_method methods[] = { HTTP_GET, HTTP_POST, HTTP_DELETE };

        for (size_t i = 0; i < COUNT(methods); i++) {
            struct str params[ROUTE_PARAMS] = {};
            struct buf allow;

            buf_init(&allow, 256);
            CHECK(route_find(methods[i], *path, params, &allow) == NULL);
            CHECK_INT(allow.len, 0);
            buf_done(&allow);
        }
    }
}
