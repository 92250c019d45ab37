/* SPDX-License-Identifier: Apache-2.0 */
/* A hall on a stage: both eras, who it says it is, what it lists and to whom. */
#include "mcpdoor_hall.h"

/* --- who it is --- */

TEST(a_single_owner_speaks_for_itself)
{
    struct stage stage;
    size_t out;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(
        &stage, "files",
        "{\"tools\":[" READ "],\"serverInfo\":{\"name\":\"fs\",\"version\":\"9\"},"
        "\"capabilities\":{\"tools\":{\"x\":1.0}},\"instructions\":\"Be careful.\"}");
    out = stage_post(&stage, "ann", "", INITIALIZE("2025-06-18"));
    CHECK_STR(
        stage_said(&stage, out),
        S("200 {\"jsonrpc\":\"2.0\",\"id\":\"i\",\"result\":{\"protocolVersion\":"
          "\"2025-06-18\",\"capabilities\":{\"tools\":{\"x\":1.0}},\"serverInfo\":"
          "{\"name\":\"fs\",\"version\":\"9\"},\"instructions\":\"Be careful.\"}}\n"));
    CHECK(stage_visit(&stage, out).len > 0);
    stage_done(&stage);
}

TEST(every_legacy_revision_is_agreed_upon_and_others_become_the_newest)
{
    static const struct {
        const char *asked, *given;
    } cases[] = {
        { INITIALIZE("2024-11-05"), "\"protocolVersion\":\"2024-11-05\"" },
        { INITIALIZE("2025-03-26"), "\"protocolVersion\":\"2025-03-26\"" },
        { INITIALIZE("2025-06-18"), "\"protocolVersion\":\"2025-06-18\"" },
        { INITIALIZE("2025-11-25"), "\"protocolVersion\":\"2025-11-25\"" },
        { INITIALIZE("2026-07-28"), "\"protocolVersion\":\"2025-11-25\"" },
        { INITIALIZE("1999-01-01"), "\"protocolVersion\":\"2025-11-25\"" },
    };
    struct stage stage;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    FOR_EACH_CASE(c, cases)
        HAS(stage_said(&stage, stage_post(&stage, "ann", "", c->asked)), c->given);
    stage_done(&stage);
}

TEST(several_owners_are_a_server_of_ours)
{
    struct stage stage;
    struct str said;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "a",
                "{\"tools\":[" READ
                "],\"capabilities\":{\"tools\":{}},\"instructions\":\"A.\"}");
    stage_owner(&stage, "b",
                "{\"tools\":[" READ "],\"capabilities\":{\"tools\":{},\"logging\":{}}}");
    said = stage_said(&stage, stage_post(&stage, "ann", "", INITIALIZE("2025-11-25")));
    HAS(said, "\"serverInfo\":{\"name\":\"moot\",\"version\":\"1\"}");
    HAS(said, "\"capabilities\":{\"tools\":{\"listChanged\":true},\"logging\":{}}");
    HAS(said, "\\n\\na: A.");
    stage_done(&stage);
}

TEST(discovery_says_what_initialize_says)
{
    struct stage stage;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "files",
                "{\"tools\":[" READ "],\"capabilities\":{\"tools\":{},\"tasks\":{}},"
                "\"serverInfo\":{\"name\":\"fs\",\"version\":\"9\"}}");
    CHECK_STR(
        stage_said(&stage, stage_post(&stage, "ann", "", MODERN("server/discover"))),
        S("200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\","
          "\"ttlMs\":0,\"cacheScope\":\"private\",\"supportedVersions\":["
          "\"2026-07-28\",\"2025-11-25\",\"2025-06-18\",\"2025-03-26\",\"2024-11-05\"],"
          "\"capabilities\":{\"tools\":{},\"extensions\":{"
          "\"io.modelcontextprotocol/tasks\":{}}},\"_meta\":{"
          "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"fs\",\"version\":\"9\"}}}}\n"));
    stage_done(&stage);
}

/* --- lists --- */

TEST(lists_are_the_owners_own_in_either_era)
{
    struct stage stage;
    const char *visit;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(
        &stage, "files",
        "{\"tools\":[{\"name\":\"read\",\"n\":1.0,\"inputSchema\":{\"type\":\"object\"},"
        "\"execution\":{}}],\"prompts\":[{\"name\":\"p\"}],"
        "\"resources\":[{\"uri\":\"a:b\",\"name\":\"x\"}],"
        "\"resourceTemplates\":[{\"uriTemplate\":\"a:{b}\",\"name\":\"y\"}]}");
    visit = open_visit(&stage, "ann");
    CHECK_STR(
        stage_said(&stage, stage_post(&stage, "ann", visit, LEGACY("tools/list"))),
        S("200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"read\","
          "\"n\":1.0,\"inputSchema\":{\"type\":\"object\"},\"execution\":{}}]}}\n"));
    CHECK_STR(stage_said(&stage, stage_post(&stage, "ann", visit,
                                            LEGACY("resources/templates/list"))),
              S("200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resourceTemplates\":["
                "{\"uriTemplate\":\"a:{b}\",\"name\":\"y\"}]}}\n"));
    CHECK_STR(
        stage_said(&stage, stage_post(&stage, "ann", "", MODERN("tools/list"))),
        S("200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\","
          "\"ttlMs\":0,\"cacheScope\":\"private\",\"tools\":[{\"name\":\"read\",\"n\":1.0,"
          "\"inputSchema\":{\"type\":\"object\"}}],\"_meta\":{"
          "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"fake\",\"version\":\"1\"}}}}\n"));
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", MODERN("prompts/list"))),
        "\"prompts\":[{\"name\":\"p\"}]");
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", MODERN("resources/list"))),
        "\"resources\":[{\"uri\":\"a:b\",\"name\":\"x\"}]");
    stage_done(&stage);
}

TEST(what_one_may_neither_call_nor_propose_is_not_listed)
{
    static const struct {
        const char *rights;
        bool reads, writes;
    } cases[] = {
        { "[\"mcp/request:tools/call:read\"]", true, false },
        { "[\"mcp/proposal:tools/call:write\"]", false, true },
        { "[\"mcp/proposal:*\"]", true, true },
        { "[{\"kind\":\"mcp/request:tools/call:read\",\"payload\":{\"params\":{\"a\":1}}}]",
          true, false },
        { "[\"chat\"]", false, false },
    };

    FOR_EACH_CASE(c, cases) {
        struct stage stage;
        struct str said;

        stage_init(&stage, &(struct hall_settings){});
        stage_owner(&stage, "files", "{\"tools\":[" READ "," WRITE "]}");
        stage_rights(&stage, "ann", c->rights);
        said = stage_said(&stage, stage_post(&stage, "ann", "", MODERN("tools/list")));
        CHECK_INT(has(said, "\"read\""), c->reads);
        CHECK_INT(has(said, "\"write\""), c->writes);
        stage_done(&stage);
    }
}

/* Is a service of that id asked what it offers? */
static bool is_asked(struct stage *stage, const char *id)
{
    stage_owner(stage, id, "{\"tools\":[" READ "]}");
    stage_pass(stage, 2000);
    stage_owner_leaves(stage, id);
    return strstr(buf_cstr(&stage->log), "mcp/request:initialize");
}

TEST(who_has_the_name_of_a_client_is_no_owner)
{
    struct stage stage;

    stage_init(&stage, &(struct hall_settings){});
    (void)stage_post(&stage, "ann", "", MODERN("ping"));
    (void)stage_post(&stage, "ann#2", "", MODERN("ping"));
    (void)stage_post(&stage, "ann#3", "", MODERN("ping"));
    CHECK(!is_asked(&stage, "ann"));
    stage_end(&stage, "ann", "");
    CHECK(!is_asked(&stage, "ann"));
    stage_end(&stage, "ann#3", "");
    CHECK(!is_asked(&stage, "ann"));
    stage_end(&stage, "ann#2", "");
    CHECK(is_asked(&stage, "ann"));
    stage_done(&stage);
}

TEST(a_cursor_that_is_none_of_ours_is_invalid)
{
    struct stage stage;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    HAS(stage_said(&stage,
                   stage_post(&stage, "ann", "",
                              "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\","
                              "\"params\":{\"cursor\":\"x\"," META("") "}}")),
        "200 {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,");
    stage_done(&stage);
}

TEST(the_tools_of_the_room_are_listed_and_called)
{
    struct stage stage;

    stage_init(&stage, &(struct hall_settings){ .has_room_tools = true });
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", MODERN("tools/list"))),
        "\"room_who\"");
    HAS(stage_said(&stage,
                   stage_post(&stage, "ann", "",
                              "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\","
                              "\"params\":{\"name\":\"room_who\"," META("") "}}")),
        "files");
    stage_done(&stage);
}

/* --- requests wait --- */

TEST(who_comes_later_is_not_waited_for)
{
    struct stage stage;
    size_t list, ping;
    const char *visit;

    stage_init(&stage, &(struct hall_settings){});
    visit = open_visit(&stage, "ann");
    stage.is_silent = true;
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    list = stage_post(&stage, "bob", "", MODERN("tools/list"));
    ping = stage_post(&stage, "ann", visit, LEGACY("ping"));
    CHECK_STR(stage_said(&stage, ping),
              S("200 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"));
    HAS(stage_said(&stage, list), "\"tools\":[]");
    stage_done(&stage);
}

TEST(the_first_look_waits_for_who_is_there)
{
    struct stage stage;
    size_t list;

    stage_init(&stage, &(struct hall_settings){ .is_stdio = true });
    stage.is_silent = true;
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    list = stage_post(&stage, "ann", "", MODERN("tools/list"));
    CHECK_STR(stage_said(&stage, list), S(""));
    stage_pass(&stage, 1900);
    CHECK_STR(stage_said(&stage, list), S(""));
    stage_pass(&stage, 200);
    HAS(stage_said(&stage, list), "\"tools\":[]");
    stage_done(&stage);
}

TEST(a_client_that_goes_while_it_waits_is_forgotten)
{
    struct stage stage;
    size_t list;

    stage_init(&stage, &(struct hall_settings){ .is_stdio = true });
    stage.is_silent = true;
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    list = stage_post(&stage, "ann", "", MODERN("tools/list"));
    stage_lose(&stage, list);
    CHECK_INT(hall_counts(stage.hall).strands, 0);
    stage_pass(&stage, 10'000);
    CHECK_STR(stage_said(&stage, list), S(""));
    stage_done(&stage);
}

/* --- methods --- */

TEST(methods_of_the_other_era_do_not_exist)
{
    static const struct {
        const char *body, *said;
    } cases[] = {
        { MODERN("ping"),
          "404 {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601," },
        { MODERN("initialize"),
          "404 {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601," },
        { LEGACY("server/discover"),
          "200 {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601," },
        { LEGACY("subscriptions/listen"),
          "200 {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601," },
        { LEGACY("no/such"),
          "200 {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32601," },
    };
    struct stage stage;
    const char *visit;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    visit = open_visit(&stage, "ann");
    FOR_EACH_CASE(c, cases)
        HAS(stage_said(&stage, stage_post(&stage, "ann", visit, c->body)), c->said);
    stage_done(&stage);
}

TEST(a_call_goes_to_its_owner_and_back)
{
    struct stage stage;
    size_t out;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    out = stage_post(&stage, "ann", open_visit(&stage, "ann"),
                     "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\","
                     "\"params\":{\"name\":\"read\",\"arguments\":{\"n\":1.0}}}");
    CHECK_STR(stage_said(&stage, out), S(""));
    HAS(stage_asked(&stage, "files"), "\"arguments\":{\"n\":1.0}");
    stage_answer(&stage, "files", "{\"result\":{\"content\":[],\"z\":2.50}}");
    CHECK_STR(
        stage_said(&stage, out),
        S("200 {\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"content\":[],\"z\":2.50}}\n"));
    CHECK_INT(hall_counts(stage.hall).strands, 0);
    stage_done(&stage);
}

TEST(an_owner_that_leaves_ends_its_calls)
{
    struct stage stage;
    size_t out;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    out = stage_post(&stage, "ann", "",
                     "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\","
                     "\"params\":{\"name\":\"read\"," META("") "}}");
    CHECK_STR(stage_said(&stage, out), S(""));
    stage_owner_leaves(&stage, "files");
    stage_pass(&stage, 1000);
    HAS(stage_said(&stage, out), "\"isError\":true");
    stage_done(&stage);
}

/* --- attendees --- */

TEST(an_attendee_without_anything_leaves_and_the_hall_is_idle)
{
    struct stage stage;

    stage_init(&stage, &(struct hall_settings){ .linger_ms = 30'000 });
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    (void)stage_post(&stage, "ann", "", MODERN("tools/list"));
    stage_pass(&stage, 29'000);
    CHECK_INT(hall_counts(stage.hall).attendees, 1);
    CHECK(!hall_is_idle(stage.hall));
    stage_pass(&stage, 2'000);
    CHECK_INT(hall_counts(stage.hall).attendees, 0);
    CHECK(hall_is_idle(stage.hall));
    stage_done(&stage);
}

/* Two clients of one credential have the same ids. */
TEST(nobody_cancels_what_another_modern_client_has_asked_for)
{
    struct stage stage;
    size_t call, notice;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    call = stage_post(&stage, "ann", "",
                      "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/call\","
                      "\"params\":{\"name\":\"read\"," META("") "}}");
    notice = stage_post(
        &stage, "ann", "",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
        "\"requestId\":6," META("") "}}");
    HAS(stage_said(&stage, notice), "202");
    CHECK(!has(buf_str(&stage.log), "notifications/cancelled"));
    stage_answer(&stage, "files",
                 "\"result\":{\"resultType\":\"complete\",\"content\":[]}");
    HAS(stage_said(&stage, call), "200 {\"jsonrpc\":\"2.0\",\"id\":6,\"result\"");
    stage_done(&stage);
}

TEST(who_is_ended_is_told_and_its_sessions_are_over)
{
    struct stage stage;
    size_t call, stream, modern;
    const char *visit;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    visit = open_visit(&stage, "ann");
    stream = stage_get(&stage, "ann", visit, "");
    call = stage_post(&stage, "ann", visit,
                      "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\","
                      "\"params\":{\"name\":\"read\"}}");
    modern = stage_post(&stage, "ann", "",
                        "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/call\","
                        "\"params\":{\"name\":\"read\"," META("") "}}");
    stage_end(&stage, "ann", "the token was revoked");
    HAS(stage_said(&stage, call),
        "404 {\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32001,"
        "\"message\":\"the token was revoked\"");
    HAS(stage_said(&stage, modern), "404 {\"jsonrpc\":\"2.0\",\"id\":6,\"error\"");
    HAS(stage_said(&stage, stream), "end\n");
    HAS(stage_said(&stage, stage_post(&stage, "ann", visit, LEGACY("ping"))), "404 ");
    HAS(buf_str(&stage.log), "mcp/request:notifications/cancelled");
    stage_done(&stage);
}

TEST(a_hall_that_drains_takes_no_new_sessions)
{
    struct stage stage;
    const char *visit;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    visit = open_visit(&stage, "ann");
    hall_drain(stage.hall, stage.now);
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", INITIALIZE("2025-11-25"))),
        "503 ");
    HAS(stage_said(&stage, stage_post(&stage, "ann", visit, LEGACY("tools/list"))),
        "\"read\"");
    stage_done(&stage);
}

TEST(what_is_shown_stays_while_nobody_asks)
{
    struct stage stage;

    stage_init(&stage, &(struct hall_settings){ .has_room_tools = true });
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    (void)stage_said(&stage, stage_post(&stage, "ann", "", MODERN("tools/list")));
    hall_stand(stage.hall, stage.now);
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", MODERN("tools/list"))),
        "\"name\":\"read\"");
    stage_done(&stage);
}

TEST(settings_apply_at_once)
{
    struct stage stage;
    struct hall_settings settings;

    stage_init(&stage, &(struct hall_settings){});
    stage_owner(&stage, "files", "{\"tools\":[" READ "]}");
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", MODERN("tools/list"))),
        "\"name\":\"read\"");
    settings = stage.settings;
    settings.names_are_prefixed = true;
    settings.has_room_tools = true;
    hall_apply(stage.hall, &settings);
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", MODERN("tools/list"))),
        "\"name\":\"files.read\"");
    HAS(stage_said(&stage, stage_post(&stage, "ann", "", MODERN("tools/list"))),
        "\"room_who\"");
    stage_done(&stage);
}
