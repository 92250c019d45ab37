/* SPDX-License-Identifier: Apache-2.0 */
/* mcp: of the configuration. */
#include <string.h>

#include "base/cleanup.h"
#include "config/config.h"
#include "harness.h"

static struct config *parse(struct str text)
{
    struct config_problem problem = {};
    struct config *config = NULL;
    enum err err = config_parse(text, "t.yaml", NULL, &config, &problem);

    CHECK_STR(str_of(err ? problem.message : ""), S(""));
    return config;
}

TEST(without_a_word_topics_are_mcp_servers_for_whoever_has_a_token)
{
    struct config *config = config_default();
    const struct config_mcp *mcp = &config->mcp;

    CHECK(mcp->open);
    CHECK_STR(mcp->topic, S(""));
    CHECK_STR(mcp->id, S("mcp"));
    CHECK_STR(mcp->anonymous.id, S(""));
    CHECK(mcp->room_tools);
    CHECK_INT(mcp->names, CONFIG_MCP_NAMES_AUTO);
    CHECK_INT(mcp->idle_ms, 30 * 60'000);
    CHECK_INT(mcp->hold_ms, 25'000);
    CHECK_INT(mcp->poll_ms, 0);
    CHECK_INT(mcp->sessions, 20'000);
    CHECK_INT(mcp->calls, 256);
    CHECK(!config->topics.defaults.self_approve);
    config_free(config);
}

TEST(everything_can_be_said_of_mcp)
{
    struct config *config =
        parse(S("mcp:\n"
                "  { open: false, topic: room, id: door, room_tools: off, idle: 1m,\n"
                "    names: prefixed, hold: 5s, poll: 1s, sessions: 3, calls: 4,\n"
                "    anonymous: { id: guest, profile: full, topics: [room, 'a*'] } }\n"
                "topics: { defaults: { self_approve: on } }\n"));
    const struct config_mcp *mcp = &config->mcp;

    CHECK(!mcp->open);
    CHECK_STR(mcp->topic, S("room"));
    CHECK_STR(mcp->id, S("door"));
    CHECK_STR(mcp->anonymous.id, S("guest"));
    CHECK_STR(mcp->anonymous.profile, S("full"));
    CHECK_INT(mcp->anonymous.topics.count, 2);
    CHECK(!mcp->room_tools);
    CHECK_INT(mcp->names, CONFIG_MCP_NAMES_PREFIXED);
    CHECK_INT(mcp->idle_ms, 60'000);
    CHECK_INT(mcp->hold_ms, 5000);
    CHECK_INT(mcp->poll_ms, 1000);
    CHECK_INT(mcp->sessions, 3);
    CHECK_INT(mcp->calls, 4);
    CHECK(config->topics.defaults.self_approve);
    config_free(config);
}

TEST(who_comes_without_a_token_is_named_in_full_or_not_at_all)
{
    static const struct str texts[] = {
        S("mcp: { anonymous: { id: guest } }"),
        S("mcp: { anonymous: { profile: full } }"),
        S("mcp: { anonymous: { topics: [room] } }"),
        S("mcp: { anonymous: { id: guest, profile: full } }"),
        S("mcp: { anonymous: { id: guest, profile: full, topics: [] } }"),
        S("mcp: { anonymous: { profile: full, topics: [room] } }"),
    };
    struct config *config = NULL;

    FOR_EACH_CASE(text, texts) {
        struct config_problem problem = {};

        CHECK_INT(config_parse(*text, "t.yaml", NULL, &config, &problem), ERR_INVALID);
        CHECK_STR(str_of(problem.message),
                  S("anonymous needs \"id\", \"profile\" and \"topics\""));
        CHECK_INT(problem.mark.line, 1);
    }
    config = parse(S("mcp: { anonymous: {} }"));
    CHECK_STR(config->mcp.anonymous.id, S(""));
    config_free(config);
}

TEST(an_empty_name_is_not_nobody)
{
    struct config_problem problem = {};
    struct config *config = NULL;

    CHECK_INT(
        config_parse(S("mcp: { anonymous: { id: '', profile: full, topics: [a] } }"),
                     "t.yaml", NULL, &config, &problem),
        ERR_INVALID);
    CHECK_STR(str_of(problem.message), S("id must not be empty"));
}
