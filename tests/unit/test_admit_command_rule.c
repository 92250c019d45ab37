/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "admit/command.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "harness.h"

#define DAY_MS 86'400'000ULL
#define NOW_MS 1'767'225'600'000ULL /* 2026-01-01T00:00:00Z */

#define RULE                                                              \
    "\"proposer\":\"bot\",\"method\":\"tools/call\",\"tool\":\"write\","  \
    "\"arguments\":{\"path\":{\"under\":\"/srv/docs\",\"max_bytes\":200," \
    "\"characters\":\"a-z\",\"depth\":2},\"mode\":{\"exactly\":\"append\"}}"

static enum err read_command(struct arena *arena, struct str kind, struct str payload,
                             struct command *ret, struct command_problem *problem)
{
    struct envelope env = { .id = S("e1"),
                            .from = S("ann"),
                            .payload = { JSON_OBJECT, false, payload } };

    CHECK_INT(kind_parse(kind, &env.kind), OK);
    CHECK_INT(env.kind.type, KIND_COMMAND);
    return command_read(&env, S("lobby"), NOW_MS, arena, ret, problem);
}

TEST(a_whole_rule_is_read_and_has_this_topic_where_it_names_none)
{
    static const struct str payloads[] = {
        S("{\"rule\":{" RULE "}}"),
        S("{\"rule\":{\"topic\":\"\"," RULE "}}"),
        S("{\"rule\":{" RULE ",\"topic\":\"lobby\"}}"),
    };
    struct command_problem problem = {};
    struct str id = {};
    struct arena arena;

    arena_init(&arena, 1 << 16);
    FOR_EACH_CASE(c, payloads) {
        struct command command;

        CHECK_INT(read_command(&arena, S("rule/suggest"), *c, &command, &problem), OK);
        CHECK_INT(command.verb, COMMAND_RULE);
        CHECK_STR(command.target, S(""));
        CHECK_INT(command.rule.verb, RULE_SUGGEST);
        CHECK_STR(command.rule.by, S("ann"));
        CHECK(command.rule.at_ms == NOW_MS);
        CHECK(!command.rule.is_by_human); /* nobody has said so */
        CHECK_STR(command.rule.rule->topic, S("lobby"));
        CHECK_STR(command.rule.rule->tool, S("write"));
        CHECK_INT(command.rule.rule->budget, 0); /* none was given */
        CHECK(command.rule.rule->expires_ms == 0);
        CHECK(str_starts(command.rule.id, S("r-")));
        if (id.ptr)
            CHECK_STR(command.rule.id, id); /* of what it covers: always the same */
        id = command.rule.id;
    }
    arena_done(&arena);
}

TEST(a_rule_that_is_added_says_more)
{
    struct command_problem problem = {};
    struct command command;
    struct arena arena;

    arena_init(&arena, 1 << 16);
    CHECK_INT(read_command(&arena, S("rule/add"),
                           S("{\"rule\":{\"id\":\"docs\",\"topic\":\"hall\"," RULE
                             ",\"budget\":7,\"expires_at\":\"2026-02-01T00:00:00Z\","
                             "\"note\":\"so\"}}"),
                           &command, &problem),
              OK);
    CHECK_INT(command.rule.verb, RULE_ADD);
    CHECK_STR(command.rule.id, S("docs"));
    CHECK_STR(command.rule.rule->topic, S("hall")); /* the book says no */
    CHECK_INT(command.rule.rule->budget, 7);
    CHECK(command.rule.rule->expires_ms == NOW_MS + 31 * DAY_MS);
    CHECK_STR(command.rule.rule->note, S("so"));
    arena_done(&arena);
}

TEST(an_acceptance_may_narrow_what_was_suggested)
{
    struct command_problem problem = {};
    struct command command;
    struct arena arena;

    arena_init(&arena, 1 << 16);
    CHECK_INT(read_command(&arena, S("rule/accept"),
                           S("{\"rule\":\"r\\u002d1\",\"shadow\":true,\"budget\":3,"
                             "\"expires_at\":\"2026-01-02T00:00:00Z\",\"reason\":\"so\","
                             "\"narrow\":{\"mode\":{\"exactly\":\"append\"}}}"),
                           &command, &problem),
              OK);
    CHECK_INT(command.rule.verb, RULE_ACCEPT);
    CHECK_STR(command.rule.id, S("r-1"));
    CHECK(command.rule.is_shadow);
    CHECK_INT(command.rule.budget, 3);
    CHECK(command.rule.expires_ms == NOW_MS + DAY_MS);
    CHECK(command.rule.narrow && command.rule.narrow->count == 1);
    CHECK_STR(command.rule.reason, S("so"));
    CHECK(!command.rule.rule);

    CHECK_INT(read_command(&arena, S("rule/accept"), S("{\"rule\":\"r-1\"}"), &command,
                           &problem),
              OK);
    CHECK(!command.rule.is_shadow && !command.rule.narrow && !command.rule.budget &&
          !command.rule.expires_ms);
    arena_done(&arena);
}

TEST(the_other_words_name_a_rule_and_may_say_why)
{
    static const struct {
        struct str kind;
        enum rule_verb verb;
    } cases[] = {
        { S("rule/decline"), RULE_DECLINE },
        { S("rule/disable"), RULE_DISABLE },
        { S("rule/enable"), RULE_ENABLE },
        { S("rule/remove"), RULE_REMOVE },
    };
    struct command_problem problem = {};
    struct arena arena;

    arena_init(&arena, 1 << 16);
    FOR_EACH_CASE(c, cases) {
        char text[] = "{\"rule\":\"docs\",\"reason\":\"too wide\"}";
        struct command command;

        CHECK_INT(read_command(&arena, c->kind, str_of(text), &command, &problem), OK);
        memset(text, 'x', sizeof(text) - 1);
        CHECK_INT(command.rule.verb, c->verb);
        CHECK_STR(command.rule.id, S("docs"));
        CHECK_STR(command.rule.reason, S("too wide"));
        CHECK_STR(command.rule.by, S("ann"));
    }
    arena_done(&arena);
}

TEST(a_whole_rule_keeps_its_texts_when_its_envelope_is_gone)
{
    char text[] = "{\"rule\":{\"id\":\"docs\"," RULE ",\"note\":\"so\"}}";
    struct command_problem problem = {};
    struct command command;
    struct arena arena;

    arena_init(&arena, 1 << 16);
    CHECK_INT(read_command(&arena, S("rule/add"), str_of(text), &command, &problem), OK);
    memset(text, 'x', sizeof(text) - 1);
    CHECK_STR(command.rule.id, S("docs"));
    CHECK_STR(command.rule.rule->proposer, S("bot"));
    CHECK_STR(command.rule.rule->note, S("so"));
    CHECK_STR(command.rule.rule->arguments->first->key, S("mode"));
    arena_done(&arena);
}

TEST(whatever_else_is_said_of_a_rule_is_refused)
{
#define LONG "0123456789012345678901234567890123456789012345678901234567890123"
    /* clang-format off */
    static const struct { struct str kind, payload, field; const char *what; } cases[] = {
        { S("rule/suggest"), S("{}"),                                     S("payload.rule"), "" },
        { S("rule/suggest"), S("{\"rule\":\"docs\"}"),                    S("payload.rule"), "mapping" },
        { S("rule/suggest"), S("{\"rule\":null}"),                        S("payload.rule"), "" },
        { S("rule/suggest"), S("{\"rule\":[]}"),                          S("payload.rule"), "mapping" },
        { S("rule/suggest"), S("{\"rule\":{}}"),                          S("payload.rule"), "proposer" },
        { S("rule/suggest"), S("{\"rule\":{" RULE ",\"then\":\"x\"}}"),   S("payload.rule"), "then" },
        { S("rule/suggest"), S("{\"rule\":{" RULE ",\"topic\":7}}"),      S("payload.rule"), "topic" },
        { S("rule/suggest"), S("{\"rule\":{" RULE "},\"shadow\":true}"),  S("payload.shadow"), "" },
        { S("rule/suggest"), S("{\"rule\":{" RULE "},\"reason\":\"x\"}"), S("payload.reason"), "" },
        { S("rule/suggest"), S("{\"rule\":{" RULE ",\"tool\":\"x\"}}"),   S("payload"), "" }, /* twice */
        { S("rule/suggest"), S("{\"rule\":{" RULE ",\"budget\":0}}"),     S("payload.rule"), "budget" },
        { S("rule/suggest"), S("{\"rule\":{" RULE ",\"budget\":10001}}"), S("payload.rule"), "budget" },
        { S("rule/suggest"), S("{\"rule\":{" RULE ",\"id\":\"" LONG "x\"}}"), S("payload.rule"), "id" },
        { S("rule/add"),     S("{\"rule\":\"docs\"}"),                    S("payload.rule"), "mapping" },
        { S("rule/accept"),  S("{}"),                                     S("payload.rule"), "" },
        { S("rule/accept"),  S("{\"rule\":{" RULE "}}"),                  S("payload.rule"), "id of a rule" },
        { S("rule/accept"),  S("{\"rule\":\"\"}"),                        S("payload.rule"), "id of a rule" },
        { S("rule/accept"),  S("{\"rule\":\"" LONG "x\"}"),               S("payload.rule"), "id of a rule" },
        { S("rule/accept"),  S("{\"rule\":\"r\",\"shadow\":1}"),          S("payload.shadow"), "" },
        { S("rule/accept"),  S("{\"rule\":\"r\",\"budget\":0}"),          S("payload.budget"), "10000" },
        { S("rule/accept"),  S("{\"rule\":\"r\",\"budget\":10001}"),      S("payload.budget"), "10000" },
        { S("rule/accept"),  S("{\"rule\":\"r\",\"budget\":\"3\"}"),      S("payload.budget"), "10000" },
        { S("rule/accept"),  S("{\"rule\":\"r\",\"budget\":1.5}"),        S("payload.budget"), "10000" },
        { S("rule/accept"),  S("{\"rule\":\"r\",\"expires_at\":\"soon\"}"), S("payload.expires_at"), "" },
        { S("rule/accept"),  S("{\"rule\":\"r\",\"expires_at\":\"2025-12-31T00:00:00Z\"}"), S("payload.expires_at"), "future" },
        { S("rule/accept"),  S("{\"rule\":\"r\",\"narrow\":7}"),          S("payload.narrow"), "" },
        { S("rule/accept"),  S("{\"rule\":\"r\",\"narrow\":{\"p\":{\"under\":\"/\"}}}"), S("payload.narrow"), "" },
        { S("rule/decline"), S("{\"rule\":\"r\",\"shadow\":true}"),       S("payload.shadow"), "" },
        { S("rule/disable"), S("{\"rule\":7}"),                           S("payload.rule"), "id of a rule" },
        { S("rule/enable"),  S("{\"rule\":\"r\",\"narrow\":{}}"),         S("payload.narrow"), "" },
        { S("rule/remove"),  S("{\"rule\":\"r\",\"rules\":[]}"),                S("payload.rules"), "" },
    };
    /* clang-format on */
    struct arena arena;

    arena_init(&arena, 1 << 16);
    FOR_EACH_CASE(c, cases) {
        struct command command = { .max_uses = 77 };
        struct command_problem problem = {};

        CHECK_INT(read_command(&arena, c->kind, c->payload, &command, &problem),
                  ERR_MALFORMED_ENVELOPE);
        CHECK_STR(problem.field, c->field);
        CHECK(problem.what && strstr(problem.what, c->what));
        CHECK(problem.at < c->payload.len);
        CHECK_INT(command.max_uses, 77); /* untouched */
        arena_reset(&arena);
    }
    arena_done(&arena);
}

TEST(what_is_wrong_with_a_rule_has_its_place_in_the_payload)
{
    static const struct str payload = S("{\"rule\":{" RULE ",\"state\":\"resting\"}}");
    struct command_problem problem = {};
    struct command command;
    struct arena arena;

    arena_init(&arena, 1 << 16);
    CHECK_INT(read_command(&arena, S("rule/suggest"), payload, &command, &problem),
              ERR_MALFORMED_ENVELOPE);
    CHECK(str_starts(str_slice(payload, problem.at, payload.len), S("\"resting\"")));
    arena_done(&arena);
}

TEST(a_rule_that_is_too_large_for_the_arena_is_said_to_be)
{
    static const struct str payload = S("{\"rule\":{" RULE "}}");
    struct command command;

    for (size_t max = 64; max < 4096; max += 64) {
        struct command_problem problem = {};
        struct arena arena;
        enum err err;

        arena_init(&arena, max);
        err = read_command(&arena, S("rule/suggest"), payload, &command, &problem);
        CHECK(err == OK || err == ERR_TOO_LARGE);
        CHECK(err == OK || problem.what);
        arena_done(&arena);
    }
}
