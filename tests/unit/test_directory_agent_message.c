/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/agent_message.h"
#include "harness.h"

enum { DEPTH = 64, TEXT = 128 << 10 };

#define UUID    "6b1f7a52-0c1e-4c8e-9f3e-2f0d5a7c9b10"
#define VERSION "\"protocol_version\":\"1.0\""
#define ID      "\"message_id\":\"" UUID "\""
#define TIME    "\"timestamp\":\"2026-11-15T05:06:07Z\""
#define SOURCE  "\"source_agent_id\":\"scout\""
#define VERB    "\"performative\":\"TEAM_GET_STATUS\""
#define PAYLOAD "\"payload\":{\"team_id\":\"t-1\"}"
#define WHOLE   "{" VERSION "," ID "," TIME "," SOURCE "," VERB "," PAYLOAD "}"

struct got {
    struct agent_message message;
    struct agent_problem problem;
    enum err err;
};

static struct got read_text(struct str text, struct arena *arena)
{
    struct got got = {};

    got.err = agent_message_read(text, DEPTH, arena, &got.message, &got.problem);
    return got;
}

TEST(the_six_fields_are_read)
{
    struct arena arena;
    struct got got;

    arena_init(&arena, AGENT_ARENA);
    got = read_text(S(WHOLE), &arena);
    CHECK_INT(got.err, OK);
    CHECK_STR(got.message.message_id, S(UUID));
    CHECK_INT(got.message.sent_ms, 1794719167000);
    CHECK_STR(got.message.source_agent_id, S("scout"));
    CHECK_INT(got.message.performative, AGENT_TEAM_GET_STATUS);
    CHECK_STR(got.message.payload, S("{\"team_id\":\"t-1\"}"));
    arena_done(&arena);
}

TEST(other_fields_pass)
{
    struct arena arena;
    struct got got;

    arena_init(&arena, AGENT_ARENA);
    got = read_text(S("{\"trace\":{\"a\":[1,2]},\"Payload\":1,\"trace\":2," VERSION "," ID
                      "," TIME "," SOURCE "," VERB "," PAYLOAD "}"),
                    &arena);
    CHECK_INT(got.err, OK);
    arena_done(&arena);
}

TEST(a_field_that_is_missing_or_wrong_is_named)
{
    static const struct {
        struct str text, code, field;
        bool has_id;
    } cases[] = {
        { S("{}"), S("MALFORMED_MESSAGE"), S("protocol_version"), false },
        { S("[]"), S("MALFORMED_MESSAGE"), S(""), false },
        { S("{" ID "," TIME "," SOURCE "," VERB "," PAYLOAD "}"), S("MALFORMED_MESSAGE"),
          S("protocol_version"), true },
        { S("{" VERSION "," TIME "," SOURCE "," VERB "," PAYLOAD "}"),
          S("MALFORMED_MESSAGE"), S("message_id"), false },
        { S("{" VERSION "," ID "," SOURCE "," VERB "," PAYLOAD "}"),
          S("MALFORMED_MESSAGE"), S("timestamp"), true },
        { S("{" VERSION "," ID "," TIME "," VERB "," PAYLOAD "}"), S("MALFORMED_MESSAGE"),
          S("source_agent_id"), true },
        { S("{" VERSION "," ID "," TIME "," SOURCE "," PAYLOAD "}"),
          S("MALFORMED_MESSAGE"), S("performative"), true },
        { S("{" VERSION "," ID "," TIME "," SOURCE "," VERB "}"), S("MALFORMED_MESSAGE"),
          S("payload"), true },
        { S("{\"protocol_version\":\"1.1\"," ID "," TIME "," SOURCE "," VERB "," PAYLOAD
            "}"),
          S("UNSUPPORTED_VERSION"), S("protocol_version"), true },
        { S("{\"protocol_version\":1.0," ID "," TIME "," SOURCE "," VERB "," PAYLOAD "}"),
          S("MALFORMED_MESSAGE"), S("protocol_version"), true },
        { S("{" VERSION ",\"message_id\":\"1\"," TIME "," SOURCE "," VERB "," PAYLOAD
            "}"),
          S("MALFORMED_MESSAGE"), S("message_id"), false },
        { S("{" VERSION "," ID ",\"timestamp\":\"2026-11-15T05:06:07+01:00\"," SOURCE
            "," VERB "," PAYLOAD "}"),
          S("MALFORMED_MESSAGE"), S("timestamp"), true },
        { S("{" VERSION "," ID ",\"timestamp\":\"yesterday\"," SOURCE "," VERB "," PAYLOAD
            "}"),
          S("MALFORMED_MESSAGE"), S("timestamp"), true },
        { S("{" VERSION "," ID "," TIME ",\"source_agent_id\":\"\"," VERB "," PAYLOAD
            "}"),
          S("MALFORMED_MESSAGE"), S("source_agent_id"), true },
        { S("{" VERSION "," ID "," TIME ",\"source_agent_id\":\"moot\"," VERB "," PAYLOAD
            "}"),
          S("SOURCE_MISMATCH"), S("source_agent_id"), true },
        { S("{" VERSION "," ID "," TIME ",\"source_agent_id\":\"a\\u0000b\"," VERB
            "," PAYLOAD "}"),
          S("MALFORMED_MESSAGE"), S("source_agent_id"), true },
        { S("{" VERSION "," ID "," TIME "," SOURCE ",\"performative\":\"DANCE\"," PAYLOAD
            "}"),
          S("UNKNOWN_PERFORMATIVE"), S("performative"), true },
        { S("{" VERSION "," ID "," TIME "," SOURCE
            ",\"performative\":\"team_create\"," PAYLOAD "}"),
          S("UNKNOWN_PERFORMATIVE"), S("performative"), true },
        { S("{" VERSION "," ID "," TIME "," SOURCE "," VERB ",\"payload\":[]}"),
          S("MALFORMED_MESSAGE"), S("payload"), true },
        { S("{" VERSION "," ID "," TIME "," SOURCE "," VERB "," PAYLOAD "," PAYLOAD "}"),
          S("MALFORMED_MESSAGE"), S("payload"), true },
        { S("{" ID "," VERSION "," TIME "," SOURCE "," VERB "," PAYLOAD
            ",\"p\\u0061yload\":{}}"),
          S("MALFORMED_MESSAGE"), S("payload"), true },
        { S(WHOLE "x"), S("MALFORMED_MESSAGE"), S(""), true },
        { S("{" ID ","), S("MALFORMED_MESSAGE"), S(""), true },
    };

    FOR_EACH_CASE(c, cases) {
        struct arena arena;
        struct got got;

        arena_init(&arena, AGENT_ARENA);
        got = read_text(c->text, &arena);
        CHECK(got.err != OK);
        CHECK_STR(got.problem.code, c->code);
        CHECK_STR(got.problem.field, c->field);
        CHECK(got.problem.what.len > 0);
        CHECK_STR(got.message.message_id, c->has_id ? S(UUID) : S(""));
        arena_done(&arena);
    }
}

TEST(what_is_no_text_or_too_deep_says_so)
{
    struct arena arena;

    arena_init(&arena, AGENT_ARENA);
    CHECK_INT(read_text(S("{\"a\":\"\xff\"}"), &arena).err, ERR_UTF8);
    CHECK_INT(read_text(S("[\"\xff\"]"), &arena).err, ERR_UTF8);
    CHECK_INT(read_text(S("{\"payload\":1,\"payload\":\"\xff\"}"), &arena).err, ERR_UTF8);
    struct buf deep;
    buf_init(&deep, TEXT);
    buf_put(&deep, S("{\"a\":"));
    for (size_t i = 0; i < DEPTH + 1; i++)
        buf_putc(&deep, '[');
    CHECK_INT(read_text(buf_str(&deep), &arena).err, ERR_TOO_DEEP);
    buf_done(&deep);
    arena_done(&arena);
}

TEST(a_uuid_has_one_form)
{
    static const struct {
        struct str text;
        bool is_valid;
    } cases[] = {
        { S(UUID), true },
        { S("6B1F7A52-0C1E-4C8E-9F3E-2F0D5A7C9B10"), true },
        { S("00000000-0000-0000-0000-000000000000"), true },
        { S("6b1f7a520c1e4c8e9f3e2f0d5a7c9b10"), false },
        { S("{6b1f7a52-0c1e-4c8e-9f3e-2f0d5a7c9b10}"), false },
        { S("6b1f7a52-0c1e-4c8e-9f3e-2f0d5a7c9b1g"), false },
        { S("6b1f7a52-0c1e-4c8e-9f3e2-f0d5a7c9b10"), false },
        { S(""), false },
    };
    char made[AGENT_UUID + 1];
    uint8_t random[16];

    FOR_EACH_CASE(c, cases)
        CHECK_INT(agent_uuid_is_valid(c->text), c->is_valid);
    memset(random, 0xff, sizeof(random));
    agent_uuid_write(random, made);
    CHECK_STR(str_of(made), S("ffffffff-ffff-4fff-bfff-ffffffffffff"));
}

/* --- payloads --- */

static const struct agent_message *with_payload(struct agent_message *message,
                                                struct str payload)
{
    *message = (struct agent_message){ .payload = payload };
    return message;
}

TEST(a_subscription_is_read)
{
    struct agent_message message;
    struct agent_subscription s = {};
    struct agent_problem problem = {};
    struct arena arena;

    arena_init(&arena, AGENT_ARENA);
    CHECK_INT(
        agent_subscription_read(
            with_payload(&message,
                         S("{\"authentication_token\":\"moot_x\",\"topics\":[\"team-1\"],"
                           "\"teams\":[\"t-1\",\"t-2\"],\"event_types\":[\"RESOURCE_"
                           "UPDATED\"],\"since\":{\"epoch\":\"e\",\"sequence\":7}}")),
            &arena, &s, &problem),
        OK);
    CHECK_STR(s.token, S("moot_x"));
    CHECK_INT(s.interest.topics.count, 1);
    CHECK_INT(s.interest.teams.count, 2);
    CHECK_STR(s.interest.event_types.items[0], S("RESOURCE_UPDATED"));
    CHECK(s.has_since);
    CHECK_STR(s.since_epoch, S("e"));
    CHECK_INT(s.since_sequence, 7);
    arena_done(&arena);
}

TEST(a_query_is_read)
{
    struct agent_message message;
    struct agent_query q = {};
    struct agent_problem problem = {};
    struct arena arena;

    arena_init(&arena, AGENT_ARENA);
    CHECK_INT(
        agent_query_read(
            with_payload(&message,
                         S("{\"query\":\"Python developer\",\"filters\":{\"skills\":["
                           "\"python\",\"fastapi\"],\"availability\":\"full-time\","
                           "\"kind\":\"human\",\"location\":\"Bern\",\"max_rate\":120.50,"
                           "\"currency\":\"CHF\",\"team\":\"t-1\"},\"limit\":5,"
                           "\"cursor\":\"abc\"}")),
            &arena, &q, &problem),
        OK);
    CHECK_STR(q.text, S("Python developer"));
    CHECK_INT(q.skills.count, 2);
    CHECK_STR(q.availability, S("full-time"));
    CHECK_STR(q.kind, S("human"));
    CHECK_STR(q.location, S("Bern"));
    CHECK_STR(q.max_rate, S("120.50"));
    CHECK_STR(q.currency, S("CHF"));
    CHECK_STR(q.team, S("t-1"));
    CHECK_INT(q.limit, 5);
    CHECK_STR(q.cursor, S("abc"));
    CHECK_INT(agent_query_read(with_payload(&message, S("{\"query\":\"\"}")), &arena, &q,
                               &problem),
              OK);
    CHECK_INT(q.limit, AGENT_LIMIT_DEFAULT);
    arena_done(&arena);
}

TEST(a_team_is_read)
{
    struct agent_message message;
    struct agent_team team = {};
    struct agent_problem problem = {};
    struct arena arena;
    struct str id = {};

    arena_init(&arena, AGENT_ARENA);
    CHECK_INT(agent_team_read(
                  with_payload(&message, S("{\"team_name\":\"Phoenix\",\"member_resource_"
                                           "ids\":[\"r-1\",\"r-2\"],"
                                           "\"contract_id\":\"c-9\"}")),
                  &arena, &team, &problem),
              OK);
    CHECK_STR(team.name, S("Phoenix"));
    CHECK_INT(team.resources.count, 2);
    CHECK_STR(team.contract_id, S("c-9"));
    CHECK_INT(agent_team_id_read(with_payload(&message, S("{\"team_id\":\"t-1\"}")),
                                 &arena, &id, &problem),
              OK);
    CHECK_STR(id, S("t-1"));
    arena_done(&arena);
}

static enum err read_payload(enum agent_performative as, const struct agent_message *m,
                             struct arena *arena, struct agent_problem *problem)
{
    struct agent_subscription subscription;
    struct agent_query query;
    struct agent_team team;
    struct str id;

    switch (as) {
    case AGENT_CONTEXT_SUBSCRIBE:
        return agent_subscription_read(m, arena, &subscription, problem);
    case AGENT_RESOURCE_QUERY: return agent_query_read(m, arena, &query, problem);
    case AGENT_TEAM_CREATE: return agent_team_read(m, arena, &team, problem);
    case AGENT_TEAM_GET_STATUS: return agent_team_id_read(m, arena, &id, problem);
    case AGENT_CONTEXT_EVENT: break;
    }
    return ERR_INVALID;
}

TEST(what_is_wrong_with_a_payload_is_named)
{
#define TOKEN "\"authentication_token\":\"x\""
    static const struct {
        enum agent_performative as;
        struct str payload, field;
    } cases[] = {
        { AGENT_CONTEXT_SUBSCRIBE, S("{}"), S("payload.authentication_token") },
        { AGENT_CONTEXT_SUBSCRIBE, S("{\"authentication_token\":\"\"}"),
          S("payload.authentication_token") },
        { AGENT_CONTEXT_SUBSCRIBE, S("{\"authentication_token\":7}"),
          S("payload.authentication_token") },
        { AGENT_CONTEXT_SUBSCRIBE, S("{" TOKEN ",\"x\":1}"), S("payload.x") },
        { AGENT_CONTEXT_SUBSCRIBE, S("{" TOKEN "," TOKEN "}"), S("payload") },
        { AGENT_CONTEXT_SUBSCRIBE, S("{" TOKEN ",\"topics\":\"a\"}"),
          S("payload.topics") },
        { AGENT_CONTEXT_SUBSCRIBE, S("{" TOKEN ",\"teams\":[\"a\",\"\"]}"),
          S("payload.teams[1]") },
        { AGENT_CONTEXT_SUBSCRIBE, S("{" TOKEN ",\"event_types\":[\"NOTHING\"]}"),
          S("payload.event_types[0]") },
        { AGENT_CONTEXT_SUBSCRIBE, S("{" TOKEN ",\"since\":7}"), S("payload.since") },
        { AGENT_CONTEXT_SUBSCRIBE, S("{" TOKEN ",\"since\":{\"epoch\":\"e\"}}"),
          S("payload.since.sequence") },
        { AGENT_RESOURCE_QUERY, S("{}"), S("payload.query") },
        { AGENT_RESOURCE_QUERY, S("{\"query\":\"\",\"limit\":0}"), S("payload.limit") },
        { AGENT_RESOURCE_QUERY, S("{\"query\":\"\",\"limit\":101}"), S("payload.limit") },
        { AGENT_RESOURCE_QUERY, S("{\"query\":\"\",\"limit\":-1}"), S("payload.limit") },
        { AGENT_RESOURCE_QUERY, S("{\"query\":\"\\u0000\"}"), S("payload.query") },
        { AGENT_RESOURCE_QUERY, S("{\"query\":\"\",\"filters\":[]}"),
          S("payload.filters") },
        { AGENT_RESOURCE_QUERY, S("{\"query\":\"\",\"filters\":{\"skill\":\"a\"}}"),
          S("payload.filters.skill") },
        { AGENT_RESOURCE_QUERY,
          S("{\"query\":\"\",\"filters\":{\"skills\":[\"a\",\"a\"]}}"),
          S("payload.filters.skills[1]") },
        { AGENT_RESOURCE_QUERY, S("{\"query\":\"\",\"filters\":{\"kind\":\"dog\"}}"),
          S("payload.filters.kind") },
        { AGENT_RESOURCE_QUERY, S("{\"query\":\"\",\"filters\":{\"max_rate\":-1}}"),
          S("payload.filters.max_rate") },
        { AGENT_RESOURCE_QUERY, S("{\"query\":\"\",\"filters\":{\"max_rate\":\"1\"}}"),
          S("payload.filters.max_rate") },
        { AGENT_RESOURCE_QUERY, S("{\"query\":\"\",\"filters\":{\"currency\":\"EURO\"}}"),
          S("payload.filters.currency") },
        { AGENT_TEAM_CREATE, S("{\"team_name\":\"a\"}"),
          S("payload.member_resource_ids") },
        { AGENT_TEAM_CREATE, S("{\"team_name\":\"a\",\"member_resource_ids\":[]}"),
          S("payload.member_resource_ids") },
        { AGENT_TEAM_CREATE, S("{\"team_name\":\"\",\"member_resource_ids\":[\"a\"]}"),
          S("payload.team_name") },
        { AGENT_TEAM_CREATE,
          S("{\"team_name\":\"a\",\"member_resource_ids\":[\"a\",\"b\",\"a\"]}"),
          S("payload.member_resource_ids[2]") },
        { AGENT_TEAM_CREATE,
          S("{\"team_name\":\"a\",\"member_resource_ids\":[\"a\"],\"contract_id\":\"\"}"),
          S("payload.contract_id") },
        { AGENT_TEAM_GET_STATUS, S("{\"team_id\":\"\"}"), S("payload.team_id") },
        { AGENT_TEAM_GET_STATUS, S("{\"team\":\"t\"}"), S("payload.team_id") },
    };

    FOR_EACH_CASE(c, cases) {
        struct agent_problem problem = {};
        struct agent_message message;
        struct arena arena;

        arena_init(&arena, AGENT_ARENA);
        CHECK_INT(
            read_payload(c->as, with_payload(&message, c->payload), &arena, &problem),
            ERR_INVALID);
        CHECK_STR(problem.code, S("INVALID_PAYLOAD"));
        CHECK_STR(problem.field, c->field);
        CHECK(str_starts(problem.what, c->field));
        CHECK(str_ends(problem.what, S(".")));
        arena_done(&arena);
    }
}

TEST(a_payload_is_bounded)
{
    struct agent_problem problem = {};
    struct agent_message message;
    struct arena arena;
    struct buf text;
    struct str id;

    arena_init(&arena, AGENT_ARENA);
    buf_init(&text, TEXT);
    buf_put(&text, S("{\"team_id\":\""));
    while (text.len < AGENT_PAYLOAD)
        buf_putc(&text, 'a');
    buf_put(&text, S("\"}"));
    CHECK_INT(
        agent_team_id_read(with_payload(&message, buf_str(&text)), &arena, &id, &problem),
        ERR_INVALID);
    CHECK_STR(problem.field, S("payload"));
    /* The worst that fits: as many parts as there can be. */
    buf_clear(&text);
    buf_put(&text, S("{\"x\":[0"));
    while (text.len + 4 <= AGENT_PAYLOAD)
        buf_put(&text, S(",0"));
    buf_put(&text, S("]}"));
    CHECK_INT(
        agent_team_id_read(with_payload(&message, buf_str(&text)), &arena, &id, &problem),
        ERR_INVALID);
    CHECK_STR(problem.field, S("payload.team_id"));
    buf_done(&text);
    arena_done(&arena);
}

TEST(an_event_is_written)
{
    struct json_writer w;
    struct buf out;

    buf_init(&out, TEXT);
    agent_event_begin(
        &w, &out,
        &(struct agent_event_head){ UUID, 1794719167089, S("TEAM_STATUS_UPDATED") });
    json_put_str(&w, S("team_id"), S("t-1"));
    agent_event_end(&w);
    CHECK_STR(buf_str(&out),
              S("{\"protocol_version\":\"1.0\",\"message_id\":\"" UUID
                "\",\"timestamp\":\"2026-11-15T05:06:07.089Z\",\"source_agent_id\":"
                "\"moot\",\"performative\":\"CONTEXT_EVENT\",\"payload\":{\"event_type\":"
                "\"TEAM_STATUS_UPDATED\",\"data\":{\"team_id\":\"t-1\"}}}"));
    buf_done(&out);
}
