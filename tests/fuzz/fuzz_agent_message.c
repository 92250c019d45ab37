/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages of agents: any text, as it comes from the network. Whatever is refused is
 * refused with a code and a sentence; what is read keeps its bounds, and a payload is
 * read as each of those it may be.
 */
#include <stdint.h>
#include <stdlib.h>

#include "directory/agent_message.h"

enum { DEPTH = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

static void expect_told(const struct agent_problem *problem)
{
    expect(problem->code.len > 0 && problem->what.len > 0);
    expect(problem->what.ptr[problem->what.len - 1] == '.');
}

static void expect_list(struct str_list list)
{
    expect(list.count <= AGENT_LIST);
    for (size_t i = 0; i < list.count; i++)
        expect(list.items[i].len > 0 && list.items[i].len <= AGENT_WORD);
}

static void read_subscription(const struct agent_message *message, struct arena *arena)
{
    struct agent_problem problem = {};
    struct agent_subscription s = {};

    if (agent_subscription_read(message, arena, &s, &problem)) {
        expect_told(&problem);
        return;
    }
    expect(s.token.len > 0 && s.token.len <= AGENT_TOKEN);
    expect_list(s.interest.topics);
    expect_list(s.interest.teams);
    expect_list(s.interest.event_types);
    expect(!s.has_since || s.since_epoch.len > 0);
}

static void read_query(const struct agent_message *message, struct arena *arena)
{
    struct agent_problem problem = {};
    struct agent_query q = {};

    if (agent_query_read(message, arena, &q, &problem)) {
        expect_told(&problem);
        return;
    }
    expect(q.text.len <= AGENT_QUERY_TEXT && q.cursor.len <= AGENT_CURSOR);
    expect(q.limit >= 1 && q.limit <= AGENT_LIMIT);
    expect_list(q.skills);
}

static void read_team(const struct agent_message *message, struct arena *arena)
{
    struct agent_problem problem = {};
    struct agent_team team = {};
    struct str id = {};

    if (agent_team_read(message, arena, &team, &problem)) {
        expect_told(&problem);
    } else {
        expect(team.name.len > 0 && team.resources.count > 0);
        expect_list(team.resources);
    }
    if (agent_team_id_read(message, arena, &id, &problem))
        expect_told(&problem);
    else
        expect(id.len > 0 && id.len <= AGENT_WORD);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    struct agent_problem problem = {};
    struct agent_message message = {};
    struct arena arena;

    arena_init(&arena, size + AGENT_ARENA);
    if (agent_message_read(text, DEPTH, &arena, &message, &problem)) {
        expect_told(&problem);
    } else {
        expect(agent_uuid_is_valid(message.message_id));
        expect(message.source_agent_id.len > 0 &&
               message.source_agent_id.len <= AGENT_ID);
        expect(!str_eq(message.source_agent_id, AGENT_SERVER));
        expect(message.payload.len >= 2 && message.payload.ptr[0] == '{');
        read_subscription(&message, &arena);
        read_query(&message, &arena);
        read_team(&message, &arena);
    }
    arena_done(&arena);
    return 0;
}
