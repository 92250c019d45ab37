/* SPDX-License-Identifier: Apache-2.0 */
/* Every path this server answers, one row each. */
#include "gateway/agents_door.h"
#include "gateway/doors.h"
#include "gateway/mcp_halls.h"
#include "gateway/servers.h"
#include "gateway/ws_door.h"

/* clang-format off */
static const struct route routes[] = {
    { HTTP_GET,    S("/"),                                   ACCESS_PUBLIC,   ANYWHERE,        S(""),                    false, console_page_get },
    { HTTP_GET,    S("/console"),                            ACCESS_PUBLIC,   ANYWHERE,        S(""),                    false, console_page_get },
    { HTTP_GET,    S("/console/{}"),                         ACCESS_PUBLIC,   ANYWHERE,        S(""),                    false, console_page_get },
    { HTTP_GET,    S("/console/{}/{}"),                      ACCESS_PUBLIC,   ANYWHERE,        S(""),                    false, console_page_get },
    { HTTP_GET,    S("/assets/{}"),                          ACCESS_PUBLIC,   ANYWHERE,        S(""),                    false, console_asset_get },
    { HTTP_GET,    S("/ws"),                                 ACCESS_IDENTITY, TOPIC_IN_QUERY,  S(""),                    true,  ws_open },
    { HTTP_GET,    S("/agents"),                             ACCESS_PUBLIC,   AT_FIRST_WORKER, S(""),                    false, agents_open },
    { HTTP_POST,   S("/ws-ticket"),                          ACCESS_IDENTITY, ANYWHERE,        S("ticket.create"),       false, ticket_post },
    { HTTP_GET,    S("/session"),                            ACCESS_IDENTITY, ANYWHERE,        S(""),                    false, session_get },
    { HTTP_POST,   S("/session"),                            ACCESS_PUBLIC,   AT_FIRST_WORKER, S("session.create"),      false, session_post },
    { HTTP_DELETE, S("/session"),                            ACCESS_IDENTITY, AT_FIRST_WORKER, S("session.end"),         false, session_delete },
    { HTTP_GET,    S("/session/ways"),                       ACCESS_PUBLIC,   ANYWHERE,        S(""),                    false, session_ways },
    { HTTP_GET,    S("/session/provider"),                   ACCESS_PUBLIC,   AT_FIRST_WORKER, S(""),                    false, session_provider },
    { HTTP_GET,    S("/session/callback"),                   ACCESS_PUBLIC,   AT_FIRST_WORKER, S(""),                    false, session_callback },
    { HTTP_GET,    S("/topics"),                             ACCESS_IDENTITY, ANYWHERE,        S(""),                    false, topics_list },
    { HTTP_GET,    S("/inbox"),                              ACCESS_IDENTITY, ANYWHERE,        S(""),                    false, inbox_get },
    { HTTP_GET,    S("/rules"),                              ACCESS_IDENTITY, ANYWHERE,        S(""),                    false, rules_get },
    { HTTP_POST,   S("/topics/{}/messages"),                 ACCESS_IDENTITY, TOPIC_IN_PATH,   S(""),                    false, messages_post },
    { HTTP_GET,    S("/topics/{}/messages"),                 ACCESS_IDENTITY, TOPIC_IN_PATH,   S(""),                    false, messages_get },
    { HTTP_GET,    S("/topics/{}/participants"),             ACCESS_IDENTITY, TOPIC_IN_PATH,   S(""),                    false, participants_list },
    { HTTP_GET,    S("/topics/{}/proposals"),                ACCESS_IDENTITY, TOPIC_IN_PATH,   S(""),                    false, proposals_list },
    { HTTP_GET,    S("/topics/{}/decisions"),                ACCESS_IDENTITY, TOPIC_IN_PATH,   S(""),                    false, decisions_get },
    { HTTP_GET,    S("/topics/{}/rules"),                    ACCESS_IDENTITY, TOPIC_IN_PATH,   S(""),                    false, rules_list },
    { HTTP_POST,   S("/topics/{}/rules/test"),               ACCESS_IDENTITY, TOPIC_IN_PATH,   S(""),                    false, rules_test },
    { HTTP_POST,   S("/admin/participants/{}/capabilities"), ACCESS_ADMIN,    AT_FIRST_WORKER, S("capabilities.change"), false, admin_capabilities },
    { HTTP_GET,    S("/admin/participants/{}/rights"),       ACCESS_ADMIN,    TOPIC_IN_QUERY,  S(""),                    false, admin_rights },
    { HTTP_GET,    S("/admin/participants/{}/grants"),       ACCESS_ADMIN,    ANYWHERE,        S(""),                    false, admin_grants },
    { HTTP_DELETE, S("/admin/participants/{}/grants"),       ACCESS_ADMIN,    AT_FIRST_WORKER, S("grant.revoke"),        false, admin_grant_end },
    { HTTP_GET,    S("/admin/settings"),                     ACCESS_ADMIN,    AT_FIRST_WORKER, S(""),                    false, admin_settings },
    { HTTP_PATCH,  S("/admin/settings"),                     ACCESS_ADMIN,    AT_FIRST_WORKER, S("settings.change"),     false, admin_set_settings },
    { HTTP_GET,    S("/admin/overview"),                     ACCESS_ADMIN,    AT_FIRST_WORKER, S(""),                    false, admin_overview },
    { HTTP_GET,    S("/admin/tokens"),                       ACCESS_ADMIN,    ANYWHERE,        S(""),                    false, tokens_list },
    { HTTP_POST,   S("/admin/tokens"),                       ACCESS_ADMIN,    AT_FIRST_WORKER, S("token.create"),        false, tokens_create },
    { HTTP_DELETE, S("/admin/tokens/{}"),                    ACCESS_ADMIN,    AT_FIRST_WORKER, S("token.revoke"),        false, tokens_revoke },
    { HTTP_GET,    S("/admin/topics"),                       ACCESS_ADMIN,    ANYWHERE,        S(""),                    false, admin_topics },
    { HTTP_GET,    S("/admin/topics/{}"),                    ACCESS_ADMIN,    TOPIC_IN_PATH,   S(""),                    false, admin_topic },
    { HTTP_POST,   S("/admin/topics/{}"),                    ACCESS_ADMIN,    TOPIC_IN_PATH,   S("topic.set"),           false, admin_set_topic },
    { HTTP_POST,   S("/admin/topics/{}/loop-guard/reset"),   ACCESS_ADMIN,    TOPIC_IN_PATH,   S("loop_guard.reset"),    false, admin_reset_loop_guard },
    { HTTP_GET,    S("/admin/members"),                      ACCESS_ADMIN,    ANYWHERE,        S(""),                    false, admin_members },
    { HTTP_POST,   S("/admin/members/{}/kick"),              ACCESS_ADMIN,    AT_FIRST_WORKER, S("member.kick"),         false, admin_kick },
    { HTTP_POST,   S("/admin/members/{}/pause"),             ACCESS_ADMIN,    AT_FIRST_WORKER, S("member.pause"),        false, admin_pause },
    { HTTP_POST,   S("/admin/members/{}/resume"),            ACCESS_ADMIN,    AT_FIRST_WORKER, S("member.resume"),       false, admin_resume },
    { HTTP_GET,    S("/admin/servers"),                      ACCESS_ADMIN,    ANYWHERE,        S(""),                    false, admin_servers_list },
    { HTTP_POST,   S("/admin/servers"),                      ACCESS_ADMIN,    AT_FIRST_WORKER, S("server.add"),          false, admin_servers_add },
    { HTTP_GET,    S("/admin/servers/{}"),                   ACCESS_ADMIN,    SERVER_IN_PATH,  S(""),                    false, admin_server_get },
    { HTTP_DELETE, S("/admin/servers/{}"),                   ACCESS_ADMIN,    AT_FIRST_WORKER, S("server.remove"),       false, admin_servers_remove },
    { HTTP_GET,    S("/admin/servers/{}/uid"),               ACCESS_ADMIN,    AT_FIRST_WORKER, S(""),                    false, admin_server_uid },
    { HTTP_POST,   S("/admin/servers/{}/start"),             ACCESS_ADMIN,    SERVER_IN_PATH,  S("server.start"),        false, admin_server_start },
    { HTTP_POST,   S("/admin/servers/{}/stop"),              ACCESS_ADMIN,    SERVER_IN_PATH,  S("server.stop"),         false, admin_server_stop },
    { HTTP_POST,   S("/admin/servers/{}/restart"),           ACCESS_ADMIN,    SERVER_IN_PATH,  S("server.restart"),      false, admin_server_restart },
    { HTTP_GET,    S("/admin/servers/{}/logs"),              ACCESS_ADMIN,    SERVER_IN_PATH,  S(""),                    false, admin_server_logs },
    { HTTP_GET,    S("/admin/servers/{}/tools"),             ACCESS_ADMIN,    SERVER_IN_PATH,  S(""),                    false, admin_server_tools },
    { HTTP_POST,   S("/admin/servers/{}/pins"),              ACCESS_ADMIN,    SERVER_IN_PATH,  S("server.approve"),      false, admin_server_pins },
    { HTTP_POST,   S("/admin/servers/{}/sign-in"),           ACCESS_ADMIN,    SERVER_IN_PATH,  S("server.sign_in"),      false, admin_server_sign_in },
    { HTTP_GET,    S("/oauth/callback/{}"),                  ACCESS_PUBLIC,   SERVER_IN_PATH,  S(""),                    false, oauth_callback },
    { HTTP_GET,    S("/admin/resources"),                    ACCESS_ADMIN,    ANYWHERE,        S(""),                    false, resources_list },
    { HTTP_POST,   S("/admin/resources"),                    ACCESS_ADMIN,    ANYWHERE,        S("resource.add"),        false, resources_add },
    { HTTP_POST,   S("/admin/resources/import"),             ACCESS_ADMIN,    ANYWHERE,        S("resource.import"),     false, resources_import },
    { HTTP_GET,    S("/admin/resources/{}"),                 ACCESS_ADMIN,    ANYWHERE,        S(""),                    false, resource_get },
    { HTTP_PUT,    S("/admin/resources/{}"),                 ACCESS_ADMIN,    ANYWHERE,        S("resource.put"),        false, resource_put },
    { HTTP_PATCH,  S("/admin/resources/{}"),                 ACCESS_ADMIN,    ANYWHERE,        S("resource.change"),     false, resource_patch },
    { HTTP_DELETE, S("/admin/resources/{}"),                 ACCESS_ADMIN,    ANYWHERE,        S("resource.remove"),     false, resource_delete },
    { HTTP_GET,    S("/teams"),                              ACCESS_IDENTITY,  ANYWHERE,         S(""),                    false, teams_get },
    { HTTP_POST,   S("/teams"),                              ACCESS_IDENTITY,  ANYWHERE,         S(""),                    false, teams_post },
    { HTTP_GET,    S("/teams/{}"),                           ACCESS_IDENTITY,  ANYWHERE,         S(""),                    false, team_get },
    { HTTP_PATCH,  S("/teams/{}"),                           ACCESS_IDENTITY,  ANYWHERE,         S(""),                    false, team_patch },
    { HTTP_DELETE, S("/teams/{}"),                           ACCESS_IDENTITY,  ANYWHERE,         S(""),                    false, team_delete },
    { HTTP_POST,   S("/teams/{}/members"),                   ACCESS_IDENTITY,  ANYWHERE,         S(""),                    false, team_members_post },
    { HTTP_DELETE, S("/teams/{}/members/{}"),                ACCESS_IDENTITY,  ANYWHERE,         S(""),                    false, team_member_delete },
    { HTTP_POST,   S("/teams/{}/accept"),                    ACCESS_IDENTITY,  ANYWHERE,         S(""),                    false, team_accept },
    { HTTP_POST,   S("/teams/{}/decline"),                   ACCESS_IDENTITY,  ANYWHERE,         S(""),                    false, team_decline },
    { HTTP_GET,    S("/admin/teams"),                        ACCESS_ADMIN,     ANYWHERE,         S(""),                    false, teams_get },
    { HTTP_POST,   S("/admin/teams"),                        ACCESS_ADMIN,     ANYWHERE,         S("team.create"),         false, teams_post },
    { HTTP_GET,    S("/admin/teams/{}"),                     ACCESS_ADMIN,     ANYWHERE,         S(""),                    false, team_get },
    { HTTP_PATCH,  S("/admin/teams/{}"),                     ACCESS_ADMIN,     ANYWHERE,         S("team.rename"),         false, team_patch },
    { HTTP_DELETE, S("/admin/teams/{}"),                     ACCESS_ADMIN,     ANYWHERE,         S("team.dissolve"),       false, team_delete },
    { HTTP_POST,   S("/admin/teams/{}/members"),             ACCESS_ADMIN,     ANYWHERE,         S("team.add"),            false, team_members_post },
    { HTTP_DELETE, S("/admin/teams/{}/members/{}"),          ACCESS_ADMIN,     ANYWHERE,         S("team.remove"),         false, team_member_delete },
    { HTTP_POST,   S("/admin/teams/{}/accept"),              ACCESS_ADMIN,     ANYWHERE,         S("team.accept"),         false, team_accept },
    { HTTP_POST,   S("/admin/teams/{}/decline"),             ACCESS_ADMIN,     ANYWHERE,         S("team.decline"),        false, team_decline },
    { HTTP_GET,    S("/admin/audit"),                        ACCESS_ADMIN,    ANYWHERE,        S(""),                    false, admin_audit },
    { HTTP_GET,    S("/admin/audit/head"),                   ACCESS_ADMIN,    ANYWHERE,        S(""),                    false, admin_audit_head },
    { HTTP_GET,    S("/admin/audit/origin"),                 ACCESS_ADMIN,    ANYWHERE,        S(""),                    false, admin_audit_origin },
    { HTTP_GET,    S("/admin/audit/verify"),                 ACCESS_ADMIN,    AT_FIRST_WORKER, S(""),                    false, admin_verify_status },
    { HTTP_POST,   S("/admin/audit/verify"),                 ACCESS_ADMIN,    AT_FIRST_WORKER, S("audit.verify"),        false, admin_verify },
    { HTTP_DELETE, S("/admin/audit/verify"),                 ACCESS_ADMIN,    AT_FIRST_WORKER, S("audit.verify_stop"),   false, admin_verify_stop },
    { HTTP_POST,   S("/admin/reload"),                       ACCESS_ADMIN,    AT_FIRST_WORKER, S("config.reload"),       false, admin_reload },
    { HTTP_POST,   S("/admin/link"),                         ACCESS_ADMIN,    ANYWHERE,        S("link.create"),         false, admin_link },
    { HTTP_POST,   S("/mcp/{}"),                             ACCESS_MCP,      TOPIC_IN_PATH,   S(""),                    false, mcp_post },
    { HTTP_GET,    S("/mcp/{}"),                             ACCESS_MCP,      TOPIC_IN_PATH,   S(""),                    false, mcp_get },
    { HTTP_DELETE, S("/mcp/{}"),                             ACCESS_MCP,      TOPIC_IN_PATH,   S(""),                    false, mcp_delete },
    { HTTP_POST,   S("/mcp"),                                ACCESS_MCP,      TOPIC_OF_MCP,    S(""),                    false, mcp_post },
    { HTTP_GET,    S("/mcp"),                                ACCESS_MCP,      TOPIC_OF_MCP,    S(""),                    false, mcp_get },
    { HTTP_DELETE, S("/mcp"),                                ACCESS_MCP,      TOPIC_OF_MCP,    S(""),                    false, mcp_delete },
    { HTTP_GET,    S("/healthz"),                            ACCESS_PUBLIC,   ANYWHERE,        S(""),                    false, health_get },
    { HTTP_GET,    S("/readyz"),                             ACCESS_PUBLIC,   ANYWHERE,        S(""),                    false, ready_get },
    { HTTP_GET,    S("/metrics"),                            ACCESS_LOOPBACK, ANYWHERE,        S(""),                    false, metrics_get },
};
/* clang-format on */

bool route_streams_body(const struct route *route)
{
    return route->handle == resources_import;
}

/* "{}" takes one segment that is not empty. */
static bool path_matches(struct str pattern, struct str path,
                         struct str params[static ROUTE_PARAMS])
{
    size_t param = 0, at = 0;

    for (size_t i = 0; i < pattern.len; i++) {
        struct str segment = str_slice(path, at, path.len);

        if (pattern.ptr[i] != '{') {
            if (at == path.len || path.ptr[at++] != pattern.ptr[i])
                return false;
            continue;
        }
        segment = str_cut(&segment, '/');
        if (segment.len == 0)
            return false;
        params[param++] = segment;
        at += segment.len;
        i++; /* the brace that closes */
    }
    return at == path.len;
}

static void add_method(struct buf *allow, enum http_method method)
{
    static const struct str names[] = {
        [HTTP_GET] = S("GET, HEAD"), [HTTP_POST] = S("POST"),     [HTTP_PUT] = S("PUT"),
        [HTTP_PATCH] = S("PATCH"),   [HTTP_DELETE] = S("DELETE"),
    };

    buf_put(allow, names[method]);
    buf_put(allow, S(", "));
}

const struct route *route_find(enum http_method method, struct str path,
                               struct str params[static ROUTE_PARAMS], struct buf *allow)
{
    for (size_t i = 0; i < COUNT(routes); i++) {
        struct str found[ROUTE_PARAMS] = {};

        if (!path_matches(routes[i].path, path, found))
            continue;
        if (routes[i].method != method) {
            add_method(allow, routes[i].method);
            continue;
        }
        for (size_t p = 0; p < ROUTE_PARAMS; p++)
            params[p] = found[p];
        return &routes[i];
    }
    if (allow->len)
        buf_put(allow, S("OPTIONS"));
    return NULL;
}
