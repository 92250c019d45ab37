/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "admit/admit.h"
#include "admit/command.h"
#include "base/cleanup.h"
#include "fake_topic.h"
#include "harness.h"
#include "policy/holding.h"

enum { NOW_MS = 1'000'000 };

/* Reads a command out of an envelope of this kind with this payload. */
static enum err read_command(struct arena *arena, struct str kind, struct str payload,
                             struct command *ret, struct command_problem *problem)
{
    static const struct str to[] = { S("one"), S("two") };
    struct envelope env = { .payload = { JSON_OBJECT, false, payload } };

    CHECK_INT(kind_parse(kind, &env.kind), OK);
    CHECK_INT(env.kind.type, KIND_COMMAND);
    if (str_starts(payload, S("{ "))) { /* a blank: with a `to` */
        env.to = to;
        env.to_count = payload.ptr[2] == ' ' ? 2 : 1;
    }
    env.from = S("me");
    return command_read(&env, S("lobby"), NOW_MS, arena, ret, problem);
}

TEST(a_command_says_what_it_says)
{
    struct command command;
    struct command_problem problem;
    struct arena arena;

    arena_init(&arena, 1 << 16);
    CHECK_INT(
        read_command(&arena, S("capability/grant"),
                     S("{\"recipient\":\"b\\u006ft\",\"capabilities\":[\"chat\","
                       "{\"kind\":\"x/y\"}],\"expires_at\":\"2026-01-01T00:00:00Z\","
                       "\"max_uses\":3,\"reason\":\"so\"}"),
                     &command, &problem),
        OK);
    CHECK_INT(command.verb, COMMAND_GRANT);
    CHECK_STR(command.target, S("bot"));
    CHECK_INT(command.capabilities.count, 2);
    CHECK_STR(command.capabilities.items[1], S("x/y")); /* the normal form */
    CHECK(command.expires_ms == 1'767'225'600'000);
    CHECK_INT(command.max_uses, 3);
    CHECK_STR(command.reason, S("so"));

    CHECK_INT(read_command(&arena, S("capability/grant"),
                           S("{\"recipient\":\"a\",\"capabilities\":[\"chat\"]}"),
                           &command, &problem),
              OK);
    CHECK(command.expires_ms == 0 && command.max_uses == 0);

    CHECK_INT(read_command(&arena, S("capability/revoke"),
                           S("{\"recipient\":\"a\",\"grant_id\":\"g\"}"), &command,
                           &problem),
              OK);
    CHECK_INT(command.verb, COMMAND_REVOKE);
    CHECK_STR(command.grant_id, S("g"));
    CHECK(!command.capabilities.items);

    CHECK_INT(read_command(&arena, S("participant/kick"), S("{ }"), &command, &problem),
              OK);
    CHECK_INT(command.verb, COMMAND_KICK);
    CHECK_STR(command.target, S("one"));
    CHECK_INT(read_command(&arena, S("participant/pause"),
                           S("{ \"participant\":\"other\"}"), &command, &problem),
              OK);
    CHECK_STR(command.target, S("other")); /* the payload goes before `to` */

    CHECK_INT(read_command(&arena, S("topic/invite"),
                           S("{\"participant\":\"p\",\"profile\":\"full\","
                             "\"type\":\"human\"}"),
                           &command, &problem),
              OK);
    CHECK_INT(command.expires_in, INVITE_DEFAULT_S);
    CHECK_STR(command.profile, S("full"));
    CHECK_STR(command.type, S("human"));

    CHECK_INT(read_command(&arena, S("topic/set"),
                           S("{\"brake\":\"on\",\"reason\":\"so\"}"), &command, &problem),
              OK);
    CHECK_INT(command.verb, COMMAND_SET_TOPIC);
    CHECK_INT(command.brake, SWITCH_ON);
    CHECK_INT(command.automation, SWITCH_STAYS);
    CHECK_STR(command.reason, S("so"));
    CHECK_INT(read_command(&arena, S("topic/set"), S("{\"brake\":\"off\"}"), &command,
                           &problem),
              OK);
    CHECK_INT(command.brake, SWITCH_OFF);
    CHECK_INT(read_command(&arena, S("topic/set"),
                           S("{\"automation\":\"off\",\"brake\":\"on\"}"), &command,
                           &problem),
              OK);
    CHECK_INT(command.brake, SWITCH_ON);
    CHECK_INT(command.automation, SWITCH_OFF);
    arena_done(&arena);
}

/* The envelope stands where the next thing that is said in the room will. */
TEST(a_command_keeps_its_texts_when_its_envelope_is_gone)
{
    char payload[] = "{\"participant\":\"guest\",\"profile\":\"full\",\"type\":\"human\","
                     "\"reason\":\"so\"}";
    char revocation[] = "{\"recipient\":\"a\",\"grant_id\":\"g\"}";
    char id[] = "i1";
    char to[] = "one";
    struct envelope env = { .id = str_of(id) };
    struct command command;
    struct command_problem problem;
    struct arena arena;

    arena_init(&arena, 1 << 16);
    CHECK_INT(kind_parse(S("topic/invite"), &env.kind), OK);
    env.payload = (struct json_span){ JSON_OBJECT, false, str_of(payload) };
    CHECK_INT(command_read(&env, S("lobby"), NOW_MS, &arena, &command, &problem), OK);
    memset(payload, 'x', sizeof(payload));
    memset(id, 'x', sizeof(id));
    CHECK_STR(command.id, S("i1"));
    CHECK_STR(command.target, S("guest"));
    CHECK_STR(command.profile, S("full"));
    CHECK_STR(command.type, S("human"));
    CHECK_STR(command.reason, S("so"));

    CHECK_INT(kind_parse(S("capability/revoke"), &env.kind), OK);
    env.payload.text = str_of(revocation);
    CHECK_INT(command_read(&env, S("lobby"), NOW_MS, &arena, &command, &problem), OK);
    memset(revocation, 'x', sizeof(revocation));
    CHECK_STR(command.grant_id, S("g"));

    CHECK_INT(kind_parse(S("participant/kick"), &env.kind), OK);
    env.payload.text = S("{}");
    env.to = &(struct str){ to, 3 };
    env.to_count = 1;
    CHECK_INT(command_read(&env, S("lobby"), NOW_MS, &arena, &command, &problem), OK);
    memset(to, 'x', sizeof(to));
    CHECK_STR(command.target, S("one"));
    arena_done(&arena);
}

TEST(whatever_else_a_command_says_is_refused)
{
#define CAPS "\"capabilities\":[\"chat\"]"
    /* clang-format off */
    static const struct { struct str kind, payload, field; } cases[] = {
        { S("capability/grant"),  S("{}"),                                         S("payload.recipient") },
        { S("capability/grant"),  S("{" CAPS "}"),                                 S("payload.recipient") },
        { S("capability/grant"),  S("{\"recipient\":\"a\"}"),                      S("payload.capabilities") },
        { S("capability/grant"),  S("{\"recipient\":\"\"," CAPS "}"),              S("payload.recipient") },
        { S("capability/grant"),  S("{\"recipient\":null," CAPS "}"),              S("payload.recipient") },
        { S("capability/grant"),  S("{\"recipient\":\"a\",\"capabilities\":[]}"),  S("payload.capabilities") },
        { S("capability/grant"),  S("{\"recipient\":\"a\",\"capabilities\":{}}"),  S("payload.capabilities") },
        { S("capability/grant"),  S("{\"recipient\":\"a\",\"capabilities\":[7]}"), S("payload.capabilities") },
        { S("capability/grant"),  S("{\"recipient\":\"a\",\"capabilities\":[\"\"]}"), S("payload.capabilities") },
        { S("capability/grant"),  S("{\"recipient\":\"a\"," CAPS ",\"max_uses\":0}"), S("payload.max_uses") },
        { S("capability/grant"),  S("{\"recipient\":\"a\"," CAPS ",\"max_uses\":18446744073709551615}"), S("payload.max_uses") },
        { S("capability/grant"),  S("{\"recipient\":\"a\"," CAPS ",\"max_uses\":null}"), S("payload.max_uses") },
        { S("capability/grant"),  S("{\"recipient\":\"a\"," CAPS ",\"max_uses\":1e3}"), S("payload.max_uses") },
        { S("capability/grant"),  S("{\"recipient\":\"a\"," CAPS ",\"expires_at\":\"\"}"), S("payload.expires_at") },
        { S("capability/grant"),  S("{\"recipient\":\"a\"," CAPS ",\"expires_at\":\"1970-01-01T00:16:40Z\"}"), S("payload.expires_at") },
        { S("capability/grant"),  S("{\"recipient\":\"a\"," CAPS ",\"Expires_at\":\"x\"}"), S("payload.Expires_at") },
        { S("capability/grant"),  S("{\"recipient\":\"a\"," CAPS ",\"grant_id\":\"x\"}"), S("payload.grant_id") },
        { S("capability/grant"),  S("{\"recipient\":\"a\",\"recipient\":\"b\"," CAPS "}"), S("payload") },
        { S("capability/revoke"), S("{\"recipient\":\"a\"}"),                      S("payload.grant_id") },
        { S("capability/revoke"), S("{\"recipient\":\"a\",\"grant_id\":\"g\"," CAPS "}"), S("payload.grant_id") },
        { S("participant/kick"),  S("{}"),                                         S("payload.participant") },
        { S("participant/kick"),  S("{  }"),                                       S("payload.participant") }, /* two */
        { S("participant/kick"),  S("{\"recipient\":\"a\"}"),                      S("payload.recipient") },
        { S("topic/invite"),      S("{\"participant\":\"p\"}"),                    S("payload.capabilities") },
        { S("topic/invite"),      S("{\"participant\":\"p\",\"profile\":\"x\"," CAPS "}"), S("payload.capabilities") },
        { S("topic/invite"),      S("{\"participant\":\"p\"," CAPS ",\"expires_in\":0}"), S("payload.expires_in") },
        { S("topic/invite"),      S("{\"participant\":\"p\"," CAPS ",\"expires_in\":604801}"), S("payload.expires_in") },
        { S("topic/invite"),      S("{\"participant\":\"p\"," CAPS ",\"type\":\"service\"}"), S("payload.type") },
        { S("topic/set"),         S("{}"),                                         S("payload") },
        { S("topic/set"),         S("{\"reason\":\"so\"}"),                        S("payload") },
        { S("topic/set"),         S("{\"automation\":\"maybe\"}"),                 S("payload.automation") },
        { S("topic/set"),         S("{\"automation\":false}"),                     S("payload.automation") },
        { S("topic/set"),         S("{\"brake\":\"on\",\"automation\":\"\"}"),     S("payload.automation") },
        { S("topic/set"),         S("{\"brake\":\"On\"}"),                         S("payload.brake") },
        { S("topic/set"),         S("{\"brake\":true}"),                           S("payload.brake") },
        { S("topic/set"),         S("{\"brake\":\"on\",\"topic\":\"x\"}"),         S("payload.topic") },
        { S("topic/invite"),      S("{ " CAPS "}"),                                S("payload.participant") }, /* not by `to` */
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
        CHECK(problem.what && problem.what[0]);
        CHECK_INT(command.max_uses, 77); /* untouched */
        arena_reset(&arena);
    }
    arena_done(&arena);
}

TEST(there_is_an_end_to_what_is_looked_through)
{
    static char payload[40'000];
    struct command command;
    struct command_problem problem = {};
    struct arena arena;
    size_t len = (size_t)snprintf(payload, sizeof(payload), "{\"x\":[0");

    while (len < sizeof(payload) - 4)
        len += (size_t)snprintf(payload + len, sizeof(payload) - len, ",0");
    len += (size_t)snprintf(payload + len, sizeof(payload) - len, "]}");
    arena_init(&arena, 1 << 14);
    CHECK_INT(read_command(&arena, S("capability/grant"), (struct str){ payload, len },
                           &command, &problem),
              ERR_TOO_LARGE);
    arena_done(&arena);
}

/* --- a room to which "a", who may chat and moderate, posts --- */

static void on_topic(struct topic *)
{
}

static uint64_t wall_ms(const struct topic *)
{
    return NOW_MS;
}

static const struct topic_ops topic_ops = {
    .on_dirty = on_topic, .on_presence = on_topic, .wall_ms = wall_ms, .on_held = on_topic
};

struct gate {
    struct room room;
    struct topic_settings topic_settings;
    struct ledger_settings ledger_settings;
    struct admit_limits limits;
    struct admit_rules rules;
    struct arena scratch;
    struct capsets *capsets;
    struct participant *a;
    uint64_t wall_ms;
    struct refusal refusal;
    bool is_executed;
};

static void gate_init(struct gate *gate)
{
    static const struct str may[] = { S("chat"), S("participant/*") };
    struct capset *caps;

    *gate =
        (struct gate){ .topic_settings = { .ring_messages = 9, .ring_bytes = 1 << 20 },
                       .limits = { .depth = 16 },
                       .wall_ms = NOW_MS };
    arena_init(&gate->scratch, 1 << 20);
    topic_init(&gate->room.topic,
               &(struct topic_setup){ .name = S("room"),
                                      .native = &fake_plain,
                                      .settings = &gate->topic_settings,
                                      .ops = &topic_ops });
    ledger_init(&gate->room.ledger, &gate->ledger_settings);
    gate->room.rules = &gate->rules;
    gate->room.rights = rights_new();
    gate->capsets = capsets_new();
    CHECK_INT(capset_intern(gate->capsets, (struct str_list){ may, 2 }, &caps, NULL), OK);
    gate->a = participant_enter(&gate->room.topic, S("a"), TYPE_HUMAN, caps, 0);
    capset_unref(caps);
}

static void gate_done(struct gate *gate)
{
    ledger_done(&gate->room.ledger);
    topic_done(&gate->room.topic);
    rights_free(gate->room.rights);
    capsets_free(gate->capsets);
    arena_done(&gate->scratch);
}

static enum err post(struct gate *gate, struct str text)
{
    struct admission a = { .room = &gate->room,
                           .sender = gate->a,
                           .text = { memcpy(topic_reserve(&gate->room.topic, text.len),
                                            text.ptr, text.len),
                                     text.len },
                           .limits = &gate->limits,
                           .scratch = &gate->scratch,
                           .wall_ms = gate->wall_ms };
    uint64_t next_seq = gate->room.topic.ring.next_seq;
    enum err err = admit(&a, &gate->refusal);

    gate->is_executed = a.is_executed;
    CHECK_INT(gate->room.topic.ring.next_seq - next_seq, !err && !a.is_executed);
    return err;
}

#define TEXT(id, kind, payload)                                                       \
    S("{\"protocol\":\"mcpx/v0.1\",\"id\":\"" id "\",\"from\":\"a\",\"kind\":\"" kind \
      "\",\"payload\":" payload "}")

TEST(a_grant_of_so_many_uses_allows_what_nothing_else_does_and_counts_only_what_passed)
{
    static const struct str given[] = { S("x/*"), S("chat") };
    struct gate gate;
    struct grant *grant;

    gate_init(&gate);
    CHECK_INT(rights_grant(gate.room.rights, (struct rights_key){ S("room"), S("a") },
                           &(struct grant_terms){ .id = S("g"),
                                                  .capabilities = { given, 2 },
                                                  .expires_ms = NOW_MS + 10,
                                                  .max_uses = 2 }),
              OK);
    grant =
        rights_find(gate.room.rights, (struct rights_key){ S("room"), S("a") }, S("g"));
    CHECK_INT(post(&gate, TEXT("1", "chat", "{}")), OK);
    CHECK_INT(grant->uses, 0); /* had it anyway */
    CHECK_INT(post(&gate, TEXT("1", "x/y", "{}")), ERR_DUPLICATE_ID);
    CHECK_INT(grant->uses, 0);
    CHECK_INT(post(&gate, TEXT("2", "y/x", "{}")), ERR_CAPABILITY_VIOLATION);
    CHECK_INT(post(&gate, TEXT("2", "x/y", "{}")), OK);
    CHECK_INT(grant->uses, 1);
    gate.wall_ms = NOW_MS + 10;
    CHECK_INT(post(&gate, TEXT("3", "x/y", "{}")), ERR_CAPABILITY_VIOLATION);
    gate.wall_ms = NOW_MS + 9;
    CHECK_INT(post(&gate, TEXT("3", "x/y", "{}")), OK);
    CHECK_INT(post(&gate, TEXT("4", "x/y", "{}")), ERR_CAPABILITY_VIOLATION);
    CHECK_INT(grant->uses, 2);
    gate_done(&gate);
}

/* Only pauses are allowed, and kicks, which are not forwarded. */
static enum err judge(struct admission *a, struct refusal *r)
{
    a->is_executed = a->command->verb == COMMAND_KICK;
    if (a->command->verb == COMMAND_KICK || a->command->verb == COMMAND_PAUSE)
        return OK;
    r->err = ERR_FORBIDDEN;
    return ERR_FORBIDDEN;
}

static enum err can_record(struct admission *a [[maybe_unused]],
                           struct refusal *r [[maybe_unused]])
{
    return OK;
}

static uint64_t record(struct admission *a [[maybe_unused]],
                       struct str text [[maybe_unused]])
{
    return 0;
}

TEST(commands_are_read_and_judged_after_all_other_checks)
{
    static const struct room_ops ops = { judge, can_record, record, NULL };
    struct gate gate;

    gate_init(&gate);
    CHECK_INT(post(&gate, TEXT("1", "participant/pause", "{}")), OK); /* nobody judges */
    gate.room.ops = &ops;
    CHECK_INT(post(&gate, TEXT("2", "participant/pause", "{}")), ERR_MALFORMED_ENVELOPE);
    CHECK_STR(gate.refusal.field, S("payload.participant"));
    CHECK(gate.refusal.at > 60);
    CHECK_INT(post(&gate, TEXT("1", "participant/pause", "{}")), ERR_DUPLICATE_ID);
    CHECK_INT(post(&gate, TEXT("2", "capability/grant", "{}")), ERR_CAPABILITY_VIOLATION);
    CHECK_INT(post(&gate, TEXT("2", "participant/pause", "{\"participant\":\"b\"}")), OK);
    CHECK_INT(post(&gate, TEXT("3", "participant/resume", "{\"participant\":\"b\"}")),
              ERR_FORBIDDEN);
    CHECK_INT(post(&gate, TEXT("3", "participant/kick", "{\"participant\":\"b\"}")), OK);
    CHECK(gate.is_executed);
    gate.a->is_paused = true;
    CHECK_INT(post(&gate, TEXT("4", "participant/kick", "{\"participant\":\"b\"}")),
              ERR_PAUSED);
    gate_done(&gate);
}
