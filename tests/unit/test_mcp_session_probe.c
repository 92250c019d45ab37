/* SPDX-License-Identifier: Apache-2.0 */
/* How a session finds out the era of its server (MCP.md 2.4). */
#include "fake_carrier.h"
#include "harness.h"

#define DISCOVERED                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\","         \
    "\"supportedVersions\":[\"2025-11-25\",\"2026-07-28\"],\"capabilities\":{\"a\":" \
    "{}},\"instructions\":\"read\",\"_meta\":{"                                      \
    "\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\"}}}}"
#define ERROR(code, more)                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":" code ",\"message\":" \
    "\"m\"" more "}}"

static const char modern[] = "ready modern 2026-07-28\n";
static const char initialized[] = "2 initialize\n";

TEST(a_server_is_discovered_with_a_claim)
{
    struct fake_carrier fake;

    fake_carrier_init(&fake, &(struct mcp_session_settings){ .has_elicitation = true,
                                                             .has_url_elicitation = true,
                                                             .has_tasks = true,
                                                             .log_level = S("info") });
    CHECK_STR(fake_carrier_sent(&fake),
              S("1 server/discover {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":"
                "\"server/discover\",\"params\":{\"_meta\":{"
                "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"moot\",\"version\":"
                "\"1\"},\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":"
                "{\"form\":{},\"url\":{}},\"extensions\":{"
                "\"io.modelcontextprotocol/tasks\":{}}},"
                "\"io.modelcontextprotocol/logLevel\":\"info\"}}}\n"));
    fake_carrier_says(&fake, DISCOVERED);
    CHECK_STR(fake_carrier_told(&fake), str_of(modern));
    CHECK_STR(fake_carrier_sent(&fake), S("settled 2026-07-28 modern\n"));
    CHECK_STR(mcp_session_facts(fake.session)->capable.text, S("{\"a\":{}}"));
    CHECK_STR(mcp_session_facts(fake.session)->server, S("{\"name\":\"s\"}"));
    CHECK_STR(mcp_session_facts(fake.session)->instructions, S("read"));
    fake_carrier_done(&fake);
}

TEST(what_is_answered_says_the_era)
{
    static const struct {
        const char *answer;
        struct mishap mishap;
        enum mcp_era era;
        const char *told, *sent; /* sent: after it, without the carrier's own lines */
    } cases[] = {
        { ERROR("-32020", ""), {}, ERA_UNKNOWN, modern, "settled 2026-07-28 modern\n" },
        { ERROR("-32021", ""), {}, ERA_UNKNOWN, modern, "settled 2026-07-28 modern\n" },
        { ERROR("-32022", ",\"data\":{\"supported\":[\"2026-07-28\"]}"),
          {},
          ERA_UNKNOWN,
          "",
          "2 server/discover\n" },
        { ERROR("-32022", ",\"data\":{\"supported\":[\"2025-11-25\"]}"),
          {},
          ERA_UNKNOWN,
          "",
          initialized },
        { ERROR("-32022", ""), {}, ERA_UNKNOWN, "", initialized },
        { ERROR("-32601", ""), {}, ERA_UNKNOWN, "", initialized },
        { ERROR("-32000", ""), {}, ERA_UNKNOWN, "", initialized },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
          {},
          ERA_UNKNOWN,
          "",
          initialized },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"supportedVersions\":"
          "[\"2025-11-25\"]}}",
          {},
          ERA_UNKNOWN,
          "",
          initialized },
        { NULL, { .type = MISHAP_STATUS, .status = 400 }, ERA_UNKNOWN, "", initialized },
        { NULL, { .type = MISHAP_STATUS, .status = 405 }, ERA_UNKNOWN, "", initialized },
        { NULL,
          { .type = MISHAP_FORGOTTEN, .status = 404 },
          ERA_UNKNOWN,
          "",
          initialized },
        { NULL,
          { .type = MISHAP_STATUS, .status = 400, .body = S(ERROR("-32021", "")) },
          ERA_UNKNOWN,
          modern,
          "settled 2026-07-28 modern\n" },
        { NULL,
          { .type = MISHAP_STATUS, .status = 404, .body = S(ERROR("-32601", "")) },
          ERA_UNKNOWN,
          "",
          initialized },
        /* never a verdict */
        { NULL,
          { .type = MISHAP_STATUS, .status = 401 },
          ERA_UNKNOWN,
          "end forbidden: a mishap\n",
          "" },
        { NULL,
          { .type = MISHAP_STATUS, .status = 403, .body = S(ERROR("-32000", "")) },
          ERA_UNKNOWN,
          "end forbidden: a mishap\n",
          "" },
        { NULL,
          { .type = MISHAP_FORBIDDEN, .status = 403 },
          ERA_UNKNOWN,
          "end forbidden: a mishap\n",
          "" },
        { NULL,
          { .type = MISHAP_STATUS, .status = 503, .body = S(ERROR("-32601", "")) },
          ERA_UNKNOWN,
          "end refused: a mishap\n",
          "" },
        { NULL, { .type = MISHAP_TIMEOUT }, ERA_UNKNOWN, "end silent: a mishap\n", "" },
        { NULL, { .type = MISHAP_BROKEN }, ERA_UNKNOWN, "end refused: a mishap\n", "" },
        /* known to be modern */
        { ERROR("-32601", ""), {}, ERA_MODERN, modern, "settled 2026-07-28 modern\n" },
        { ERROR("-32022", ""),
          {},
          ERA_MODERN,
          "end refused: the server does not speak 2026-07-28\n",
          "" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
          {},
          ERA_MODERN,
          "end refused: the server does not speak 2026-07-28\n",
          "" },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_carrier fake;

        fake_carrier_init(&fake, &(struct mcp_session_settings){ .era = c->era });
        fake.is_terse = true;
        (void)fake_carrier_sent(&fake);
        if (c->answer)
            CHECK(fake_carrier_says(&fake, c->answer));
        else
            fake_carrier_mishap(&fake, 1, c->mishap);
        CHECK_STR(fake_carrier_told(&fake), str_of(c->told));
        CHECK_STR(fake_carrier_sent(&fake), str_of(c->sent));
        fake_carrier_done(&fake);
    }
}

TEST(a_version_that_is_refused_twice_is_asked_for_no_more)
{
    struct fake_carrier fake;

    fake_carrier_init(&fake, &(struct mcp_session_settings){});
    fake_carrier_says(&fake,
                      ERROR("-32022", ",\"data\":{\"supported\":[\"2026-07-28\"]}"));
    fake_carrier_says(&fake, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32022,"
                             "\"message\":\"m\",\"data\":{\"supported\":"
                             "[\"2026-07-28\"]}}}");
    CHECK_STR(fake_carrier_told(&fake), str_of(modern));
    fake_carrier_done(&fake);
}

TEST(silence_means_legacy_unless_it_ends)
{
    struct fake_carrier fake;

    fake_carrier_init(&fake, &(struct mcp_session_settings){});
    fake.is_terse = true;
    (void)fake_carrier_sent(&fake);
    CHECK_INT(mcp_session_due_ms(fake.session), fake.now_ms + 2000);
    fake_carrier_tick(&fake, 1999);
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    fake_carrier_tick(&fake, 1);
    CHECK_STR(fake_carrier_sent(&fake), str_of(initialized));
    fake_carrier_says(&fake, DISCOVERED);
    CHECK_STR(fake_carrier_told(&fake), str_of(modern));
    CHECK_STR(fake_carrier_sent(&fake), S("drop 2\nsettled 2026-07-28 modern\n"));
    fake_carrier_done(&fake);

    fake_carrier_init(&fake, &(struct mcp_session_settings){});
    fake_carrier_tick(&fake, 2000);
    fake.is_terse = true;
    (void)fake_carrier_sent(&fake);
    fake_carrier_answers(&fake, 2, "{\"protocolVersion\":\"2025-11-25\"}");
    CHECK_STR(fake_carrier_told(&fake), S("ready legacy 2025-11-25\n"));
    CHECK_STR(fake_carrier_sent(&fake),
              S("- notifications/initialized\ndrop 1\nsettled 2025-11-25\n"));
    fake_carrier_says(&fake, DISCOVERED);
    CHECK_STR(fake_carrier_told(&fake), S(""));
    CHECK_INT(mcp_session_facts(fake.session)->era, ERA_LEGACY);
    fake_carrier_done(&fake);
}

TEST(a_late_error_changes_nothing)
{
    struct fake_carrier fake;

    fake_carrier_init(&fake, &(struct mcp_session_settings){});
    fake_carrier_tick(&fake, 2000);
    fake.is_terse = true;
    (void)fake_carrier_sent(&fake);
    fake_carrier_says(&fake, ERROR("-32601", ""));
    CHECK_STR(fake_carrier_sent(&fake), S(""));
    CHECK_STR(fake_carrier_told(&fake), S(""));
    /* but for one that only a modern server gives */
    fake_carrier_done(&fake);
    fake_carrier_init(&fake, &(struct mcp_session_settings){});
    fake_carrier_tick(&fake, 2000);
    fake_carrier_says(&fake,
                      ERROR("-32022", ",\"data\":{\"supported\":[\"2026-07-28\"]}"));
    fake.is_terse = true;
    CHECK(str_ends(fake_carrier_sent(&fake), S("\n")));
    fake_carrier_answers(&fake, 2, "{\"protocolVersion\":\"2025-11-25\"}");
    CHECK_STR(fake_carrier_told(&fake), S(""));
    fake_carrier_answers(&fake, 3, "{\"supportedVersions\":[\"2026-07-28\"]}");
    CHECK_STR(fake_carrier_told(&fake), str_of(modern));
    fake_carrier_done(&fake);
}

TEST(a_server_that_does_not_survive_the_probe_says_so)
{
    static const struct {
        enum mcp_era era;
        const char *told;
    } cases[] = {
        { ERA_UNKNOWN, "end no_probe: gone\n" },
        { ERA_MODERN, "end ended: gone\n" },
        { ERA_LEGACY, "end ended: gone\n" },
    };

    FOR_EACH_CASE(c, cases) {
        struct fake_carrier fake;

        fake_carrier_init(&fake, &(struct mcp_session_settings){ .era = c->era });
        mcp_session_ended(fake.session, "gone", fake.now_ms);
        CHECK_STR(fake_carrier_told(&fake), str_of(c->told));
        fake_carrier_done(&fake);
    }
}

TEST(a_modern_server_that_is_silent_is_given_up)
{
    struct fake_carrier fake;

    fake_carrier_init(&fake, &(struct mcp_session_settings){ .era = ERA_MODERN });
    fake_carrier_tick(&fake, 10000);
    CHECK_STR(fake_carrier_told(&fake), S("end silent: no answer to server/discover\n"));
    fake_carrier_done(&fake);
}

TEST(what_cannot_be_sent_ends_with_the_next_tick)
{
    static const enum mcp_era eras[] = { ERA_UNKNOWN, ERA_LEGACY };

    FOR_EACH_CASE(era, eras) {
        struct mcp_session_settings tight = { .era = *era, .max_message = 20 };
        struct fake_carrier fake;

        fake_carrier_init(&fake, &tight);
        CHECK_STR(fake_carrier_told(&fake), S(""));
        CHECK(mcp_session_due_ms(fake.session) <= fake.now_ms);
        fake_carrier_tick(&fake, 0);
        CHECK(str_starts(fake_carrier_told(&fake), S("end ended: ")));
        fake_carrier_done(&fake);
    }
}
