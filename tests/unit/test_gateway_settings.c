/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "audit/redact.h"
#include "base/cleanup.h"
#include "gateway/record_rules.h"
#include "gateway/settings.h"
#include "harness.h"
#include "policy/rulings.h"

/* The settings that a file of this text gives. */
static struct settings *load(struct str yaml)
{
    struct settings *settings = NULL;
    struct config *config = NULL;
    struct config_problem problem = {};

    CHECK_INT(config_parse(yaml, "moot.yaml", NULL, &config, &problem), OK);
    CHECK_STR(str_of(problem.message), S(""));
    if (config && settings_new(config, &settings, &problem))
        config_free(config);
    CHECK_STR(str_of(problem.message), S(""));
    return settings;
}

TEST(without_a_file_everything_has_its_default)
{
    struct settings *settings = NULL;
    struct config_problem problem = {};
    const struct room_settings *room;

    CHECK_INT(settings_new(config_default(), &settings, &problem), OK);
    room = settings_room(settings, S("any"));
    CHECK(room == &settings->rooms);
    CHECK_STR(room->name, S(""));
    CHECK_INT(room->topic.duplicate, DUPLICATE_SHARE);
    CHECK_INT(room->topic.ring_messages, 1000);
    CHECK_INT(room->topic.ring_bytes, 4 << 20);
    CHECK_INT(room->topic.outbox_hard, 2 << 20);
    CHECK_INT(room->topic.outbox_soft, 1 << 20);
    CHECK_INT(room->topic.max_members, 10'000);
    CHECK_INT(room->topic.max_members_each, 10000);
    CHECK(!room->topic.announces_violations);
    CHECK_INT(room->ledger.mode, PROPOSALS_ONCE);
    CHECK_INT(room->ledger.expiry_ms, 300'000);
    CHECK_INT(room->ledger.max_expiry_ms, 86'400'000);
    CHECK_INT(room->presence_delay_ms, 50);
    CHECK_INT(settings->admit.depth, 128);
    CHECK_INT(settings->admit.messages.per_second, 1000);
    CHECK_INT(settings->admit.messages.burst, 2000);
    CHECK_INT(settings->admit.bytes.per_second, 16 << 20);
    CHECK_INT(settings->admit.bytes.burst, 32 << 20);
    CHECK_INT(settings->http.head_bytes, 16 << 10);
    CHECK_INT(settings->http.target_bytes, 8 << 10);
    CHECK_INT(settings->ws.message_bytes, 1 << 20);
    CHECK(settings->ws.refuses_binary);
    CHECK_INT(settings->identity_count, 1); /* our own, for MCP */
    CHECK(settings->identities[0] == settings->concierge);
    CHECK(settings->anonymous == NULL);
    CHECK(settings->tls == NULL);
    settings_unref(settings);
}

TEST(the_welcome_says_what_a_client_should_know)
{
    struct settings *settings =
        load(S("limits: { envelope: 4KiB, outbox: 64KiB, depth: 7, "
               "rate_messages: 0, rate_bytes: 1KiB/s }"));

    CHECK_STR(
        settings->about,
        S("\"server\":\"moot/" MOOT_VERSION "\",\"limits\":{\"envelope_bytes\":4096,"
          "\"outbox_bytes\":65536,\"depth\":7,\"messages_per_second\":0,"
          "\"bytes_per_second\":1024},\"features\":[\"replay\",\"routing\",\"echo\","
          "\"presence\",\"proposals\",\"tickets\",\"dialects\",\"validation\","
          "\"conditions\",\"grants\",\"moderation\",\"invitations\",\"loop_guard\","
          "\"approvals\",\"policy\",\"rules\",\"directory\"]"));
    settings_unref(settings);
}

static enum err admits(const struct settings *settings, struct str topic,
                       const struct identity *identity)
{
    return room_settings_admit(settings_room(settings, topic), topic, identity);
}

TEST(named_topics_have_their_own_settings_and_closed_ones_do_not_exist)
{
    struct settings *settings = load(
        S("topics:\n"
          "  open: false\n"
          "  defaults: { ring_messages: 5, duplicate: refuse }\n"
          "  named:\n"
          "    ops: { duplicate: replace, proposals: free, announce_violations: on,\n"
          "           validation: strict, loop_guard: 9 }\n"
          "    lab: {}\n"));
    const struct room_settings *ops = settings_room(settings, S("ops"));
    const struct room_settings *lab = settings_room(settings, S("lab"));

    CHECK_STR(ops->name, S("ops"));
    CHECK_INT(ops->topic.duplicate, DUPLICATE_REPLACE);
    CHECK_INT(ops->topic.ring_messages, 5);
    CHECK_INT(ops->ledger.mode, PROPOSALS_FREE);
    CHECK(ops->topic.announces_violations);
    CHECK(ops->rules.is_strict && !lab->rules.is_strict);
    CHECK_INT(ops->rules.loop_guard, 9);
    CHECK_INT(lab->rules.loop_guard, 200);
    CHECK_INT(lab->topic.duplicate, DUPLICATE_REFUSE);
    CHECK_INT(lab->ledger.mode, PROPOSALS_ONCE);
    CHECK(settings_room(settings, S("other")) == NULL);
    CHECK(settings_room(settings, S("op")) == NULL);
    CHECK(settings_room(settings, S("")) == NULL);
    settings_unref(settings);
}

TEST(a_topic_has_the_approvals_of_all_or_its_own)
{
    struct settings *settings = load(
        S("profiles: { lead: { capabilities: [chat] } }\n"
          "topics:\n"
          "  defaults: { proposals: exact, quorum: 2, approvals: [\n"
          "    { kind: 'tools/call:deploy_*', quorum: 3, profiles: [lead, admin] },\n"
          "    { kind: tools/call } ] }\n"
          "  named: { same: {}, own: { quorum: 4, approvals: [] } }\n"));
    const struct ledger_settings *same = &settings_room(settings, S("same"))->ledger;
    const struct ledger_settings *own = &settings_room(settings, S("own"))->ledger;
    struct approval_needs needs;

    CHECK_INT(same->mode, PROPOSALS_EXACT);
    needs = approval_needs_of(&same->approvals, S("tools/call:deploy_web"));
    CHECK_INT(needs.quorum, 3);
    CHECK_INT(needs.profiles.count, 2);
    CHECK_STR(needs.profiles.items[0], S("lead"));
    needs = approval_needs_of(&same->approvals, S("tools/call:deploy"));
    CHECK_INT(needs.quorum, 1);
    CHECK_INT(needs.profiles.count, 0);
    CHECK_INT(approval_needs_of(&same->approvals, S("resources/read:x")).quorum, 2);
    CHECK_INT(approval_needs_of(&own->approvals, S("tools/call:deploy_web")).quorum, 4);
    settings_unref(settings);
}

TEST(policy_is_compiled_in_its_order)
{
    struct settings *settings = load(
        S("policy:\n"
          "  - { outcome: deny, kind: 'mcp/request:tools/call:drop_*', topics: prod-*,\n"
          "      types: [agent, service], from: [a, b*], message: never }\n"
          "  - outcome: ask\n"
          "    kind: mcp/request:tools/call\n"
          "    payload: { params: { arguments: { n: 1, s: '1', t: [x, '!y'] } } }\n"));
    size_t count;
    const struct ruling_row *rows = rulings_rows(settings->rulings, &count);

    CHECK_INT(count, 2);
    CHECK_INT(rows[0].ruling, RULING_DENY);
    CHECK_STR(rows[0].kind, S("mcp/request:tools/call:drop_*"));
    CHECK_STR(rows[0].topics.items[0], S("prod-*"));
    CHECK_INT(rows[0].types, 1U << TYPE_AGENT | 1U << TYPE_SERVICE);
    CHECK_INT(rows[0].from.count, 2);
    CHECK_STR(rows[0].message, S("never"));
    CHECK_INT(rows[1].ruling, RULING_ASK);
    CHECK_STR(
        rows[1].payload,
        S("{\"params\":{\"arguments\":{\"n\":1,\"s\":\"1\",\"t\":[\"x\",\"!y\"]}}}"));
    CHECK_INT(rows[1].types, 0);
    settings_unref(settings);
    settings = load(S(""));
    CHECK(!settings->rulings);
    settings_unref(settings);
}

TEST(access_says_who_may_enter_and_who_may_know)
{
    /* clang-format off */
    static const struct { struct str id; enum err open, narrow, secret, other; } cases[] = {
        { S("any"),    OK,            ERR_FORBIDDEN, ERR_NOT_FOUND, OK },
        { S("begins"), ERR_FORBIDDEN, ERR_FORBIDDEN, ERR_NOT_FOUND, ERR_FORBIDDEN },
        { S("named"),  ERR_FORBIDDEN, OK,            OK,            ERR_FORBIDDEN },
        { S("both"),   OK,            OK,            ERR_NOT_FOUND, OK },
        { S("boss"),   OK,            OK,            OK,            OK },
        { S("clerk"),  OK,            ERR_FORBIDDEN, ERR_FORBIDDEN, ERR_FORBIDDEN },
        { S("none"),   ERR_FORBIDDEN, ERR_FORBIDDEN, ERR_FORBIDDEN, ERR_FORBIDDEN },
    };
    /* clang-format on */
    struct settings *settings = load(S(
        "topics: { named: { open: {}, narrow: { access: restricted },"
        " secret: { access: private } } }\n"
        "tokens:\n"
        "  - { token: secret-0, id: any, capabilities: [chat] }\n"
        "  - { token: secret-1, id: begins, capabilities: [chat], topics: ['secre*', 'narrow*'] }\n"
        "  - { token: secret-2, id: named, capabilities: [chat], topics: [secret, narrow] }\n"
        "  - { token: secret-3, id: both, capabilities: [chat], topics: ['*', narrow] }\n"
        "  - { token: secret-4, id: boss, capabilities: [chat], admin: true }\n"
        "  - { token: secret-5, id: clerk, capabilities: [chat], admin: true, topics: [open] }\n"
        "  - { token: secret-6, id: none, capabilities: [chat], topics: [] }\n"));

    FOR_EACH_CASE(c, cases) {
        const struct identity *who = settings->identities[c - cases];

        CHECK_STR(who->id, c->id);
        CHECK_INT(admits(settings, S("open"), who), c->open);
        CHECK_INT(admits(settings, S("narrow"), who), c->narrow);
        CHECK_INT(admits(settings, S("secret"), who), c->secret);
        CHECK_INT(admits(settings, S("other"), who), c->other);
        /* As if there were none. */
        CHECK(!admits(settings, S("secret"), who) ||
              admits(settings, S("secret"), who) ==
                  room_settings_admit(NULL, S("secret"), who));
    }
    settings_unref(settings);
}

TEST(tokens_become_identities_with_their_profiles_resolved)
{
    /* clang-format off */
    static const struct { struct str id, name, capability; size_t capabilities; enum participant_type type; bool is_admin; } cases[] = {
        { S("own"),     S("own"),   S("chat"),           1, TYPE_AGENT,   false },
        { S("plain"),   S("named"), S("mcp/proposal:*"), 3, TYPE_AGENT,   false },
        { S("person"),  S("person"), S("mcp/*"),         8, TYPE_HUMAN,   false },
        { S("root"),    S("root"),  S("mcp/*"),          7, TYPE_HUMAN,   true  },
        { S("not-root"), S("not-root"), S("mcp/*"),      7, TYPE_HUMAN,   false },
        { S("boss"),    S("boss"),  S("chat"),           1, TYPE_AGENT,   true  },
        { S("typed"),   S("typed"), S("mcp/*"),          8, TYPE_SERVICE, false },
        { S("mine"),    S("mine"),  S("notes/*"),        2, TYPE_SERVICE, true  },
        { S("mine-too"), S("mine-too"), S("notes/*"),    2, TYPE_HUMAN,   false },
        { S("shadow"),  S("shadow"), S("chat"),          1, TYPE_AGENT,   false },
        { S("object"),  S("object"), S("{\"kind\":\"x/*\",\"payload\":{\"a\":1,\"b\":\"2\"}}"), 2, TYPE_AGENT, false },
        { S("bare"),    S("bare"),  S("x/*"),            1, TYPE_AGENT,   false },
    };
    /* clang-format on */
    struct settings *settings = load(S(
        "profiles:\n"
        "  mine: { capabilities: ['notes/*', chat], type: service, admin: true }\n"
        "  full: { capabilities: [chat] }\n"
        "  looking: { capabilities: [{ payload: { b: '2', a: 1 }, kind: 'x/*' }, chat] }\n"
        "tokens:\n"
        "  - { token: secret-0, id: own, capabilities: [chat] }\n"
        "  - { token: secret-1, id: plain, name: named, profile: proposer }\n"
        "  - { token: secret-2, id: person, profile: human, topics: [a, 'b*'] }\n"
        "  - { token: secret-3, id: root, profile: admin }\n"
        "  - { token: secret-4, id: not-root, profile: admin, admin: false }\n"
        "  - { token: secret-5, id: boss, capabilities: [chat], admin: true }\n"
        "  - { token: secret-6, id: typed, profile: human, type: service }\n"
        "  - { token: secret-7, id: mine, profile: mine }\n"
        "  - { token: secret-8, id: mine-too, profile: mine, type: human, admin: false }\n"
        "  - { token: secret-9, id: shadow, profile: full }\n"
        "  - { token: secret-a, id: object, profile: looking }\n"
        "  - { token: secret-b, id: bare, capabilities: [{ kind: 'x/*', payload: {} }] }\n"));
    uint8_t hash[SHA256_BYTES];

    CHECK_INT(settings->identity_count, COUNT(cases) + 1); /* and our own */
    FOR_EACH_CASE(c, cases) {
        const struct identity *identity = settings->identities[test_case];

        CHECK_STR(identity->id, c->id);
        CHECK_STR(identity->token_name, c->name);
        CHECK_INT(identity->capabilities.count, c->capabilities);
        CHECK_STR(identity->capabilities.items[0], c->capability);
        CHECK_INT(identity->type, c->type);
        CHECK_INT(identity->is_admin, c->is_admin);
        CHECK_INT(identity->source, FROM_CONFIG);
    }
    crypto_sha256(S("secret-2"), hash);
    CHECK(crypto_equal(settings->identities[2]->token_hash, hash, SHA256_BYTES));
    CHECK(identity_may_enter(settings->identities[2], S("bee")));
    CHECK(!identity_may_enter(settings->identities[2], S("ab")));
    CHECK(identity_may_enter(settings->identities[0], S("ab")));
    settings_unref(settings);
}

TEST(what_a_file_cannot_mean_is_told_with_its_place)
{
    /* clang-format off */
    static const struct { struct str yaml, problem; } cases[] = {
        { S("tokens:\n  - { token: s, id: a, profile: nosuch }\n"),
          S("moot.yaml:2:33: there is no profile \"nosuch\"; there are: full, proposer, responder, reader, tools, human, admin, bridge, orchestrator, directory") },
        { S("packages:\n  npm_registry: npm.example.org\n"),
          S("moot.yaml:2:17: npm_registry: a registry is https://HOST/… or http://HOST/…") },
        { S("packages: { pypi_index: 'https://u:p@h/simple' }\n"),
          S("moot.yaml:1:25: pypi_index: registries that want a password are not possible") },
        { S("packages: { ca: /nowhere/ca.pem }\n"),
          S("moot.yaml:1:17: ca: No such file or directory") },
        { S("servers: { a: { topic: t, command: [x], hosts: ['http://h'] } }\n"),
          S("moot.yaml:1:12: server \"a\": the host \"http://h\": a host is no URL: HOST, HOST:PORT or *.DOMAIN") },
        { S("tokens:\n  - token: s\n    id: a\n    capabilities: [chat, 'a b']\n"),
          S("moot.yaml:4:26: capability \"a b\": a pattern cannot contain spaces or control characters") },
        { S("profiles:\n  mine:\n    capabilities:\n      - chat\n      - 'a b'\n"),
          S("moot.yaml:5:9: capability \"a b\": a pattern cannot contain spaces or control characters") },
        { S("profiles:\n  mine:\n    capabilities:\n      - chat\n      - kind: chat\n        payload: { a: [] }\n"),
          S("moot.yaml:5:9: capability: an empty list allows nothing") },
        { S("tokens:\n  - { token: s, id: a, capabilities: [{ payload: { a: 1 } }] }\n"),
          S("moot.yaml:2:39: capability: an object has `kind`, a pattern") },
        { S("tokens:\n  - { token: s, id: 'system:x', capabilities: [chat] }\n"),
          S("moot.yaml:2:5: participant ids that begin with system: belong to the gateway") },
        { S("tokens:\n  - { token: s, id: a, capabilities: [chat], topics: ['*a'] }\n"),
          S("moot.yaml:2:5: a topic pattern is a topic name, the beginning of one and *, or * alone") },
        { S("topics:\n  named:\n    'a b': {}\n"),
          S("moot.yaml:3:5: a topic name is 1 to 128 characters of A-Z a-z 0-9 . _ ~ - and does not begin with a dot") },
        { S("topics:\n  named: [ok, .hidden]\n"),
          S("moot.yaml:2:15: a topic name is 1 to 128 characters of A-Z a-z 0-9 . _ ~ - and does not begin with a dot") },
        { S("tls: { certificate: /nowhere/x.pem, key: /nowhere/x.key }\n"),
          S("moot.yaml: tls: certificate /nowhere/x.pem: cannot be used") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct config *config = NULL;
        struct settings *settings = NULL;
        struct config_problem problem = {};
        struct buf out;

        buf_init(&out, 4096);
        CHECK_INT(config_parse(c->yaml, "moot.yaml", NULL, &config, &problem), OK);
        if (config)
            CHECK_INT(settings_new(config, &settings, &problem), ERR_INVALID);
        config_problem_put(&problem, &out);
        CHECK_STR(buf_str(&out), c->problem);
        CHECK(settings == NULL);
        if (config)
            config_free(config); /* still the caller's */
        buf_done(&out);
    }
}

TEST(settings_live_as_long_as_someone_holds_them)
{
    struct settings *settings = load(S("limits: { depth: 9 }"));

    CHECK(settings_ref(settings) == settings);
    settings_unref(settings);
    CHECK_INT(settings->admit.depth, 9);
    settings_unref(settings);
    settings_unref(NULL);
}

TEST(a_profile_of_the_configuration_goes_before_a_built_in_one)
{
    struct settings *settings = load(
        S("profiles: { human: { capabilities: [chat] }, own: { capabilities: [] } }"));
    struct profile profile = {};

    CHECK(settings_profile(settings, S("human"), &profile));
    CHECK_INT(profile.capabilities.count, 1);
    CHECK_INT(profile.type, TYPE_AGENT);
    CHECK(settings_profile(settings, S("own"), &profile));
    CHECK_INT(profile.capabilities.count, 0);
    CHECK(settings_profile(settings, S("admin"), &profile));
    CHECK(profile.is_admin);
    CHECK(!settings_profile(settings, S("Admin"), &profile));
    CHECK(!settings_profile(settings, S(""), &profile));
    settings_unref(settings);
}

TEST(a_path_that_means_nothing_is_refused_where_it_stands)
{
    static const struct {
        struct str yaml, message;
        uint32_t line;
    } cases[] = {
        { S("audit:\n  redact:\n    - payload.a\n    - payload..b\n"),
          S("audit.redact: the path \"payload..b\": a name is empty"), 4 },
        { S("audit:\n  redact: [a*]\n"),
          S("audit.redact: the path \"a*\": a name with * or \" in it must stand in quotes"),
          2 },
    };

    FOR_EACH_CASE(c, cases) {
        struct settings *settings = NULL;
        struct config *config = NULL;
        struct config_problem problem = {};

        CHECK_INT(config_parse(c->yaml, "moot.yaml", NULL, &config, &problem), OK);
        CHECK_INT(settings_new(config, &settings, &problem), ERR_INVALID);
        CHECK_STR(str_of(problem.message), c->message);
        CHECK_INT(problem.mark.line, c->line);
        config_free(config);
    }
}

TEST(each_named_topic_has_its_retention_and_all_others_one)
{
    struct settings *settings =
        load(S("topics:\n  defaults: { audit_age: 1h }\n  named:\n"
               "    a: { audit_bytes: 1KiB, audit_age: 0 }\n    b: {}\n"
               "audit: { redact: [payload.token] }\n"));
    struct store_audit *audit = record_rules_new(settings->config, S("key"));

    CHECK_INT(audit->retention_count, 3);
    CHECK_STR(audit->retention[0].topic, S("a"));
    CHECK_INT(audit->retention[0].bytes, 1024);
    CHECK_INT(audit->retention[0].age_ms, 0);
    CHECK_STR(audit->retention[1].topic, S("b"));
    CHECK_INT(audit->retention[1].age_ms, 3'600'000);
    CHECK_STR(audit->retention[2].topic, S(""));
    CHECK_INT(audit->retention[2].age_ms, 3'600'000);
    CHECK(!audit_redactor_is_empty(audit->redactor));
    store_audit_free(audit);
    settings_unref(settings);
}

TEST(whoever_comes_by_mcp_without_a_token_is_who_the_configuration_says)
{
    static const uint8_t zeros[SHA256_BYTES / 2];
    struct settings *settings =
        load(S("mcp: { topic: room, id: door,\n"
               "  anonymous: { id: guest, profile: reader, topics: [room, 'a*'] } }\n"
               "topics: { named: { room: { self_approve: on } } }\n"));
    const struct identity *who = settings->anonymous;

    CHECK_STR(who->id, S("guest"));
    CHECK_STR(who->profile, S("reader"));
    CHECK_INT(who->source, FROM_CONFIG);
    CHECK(!who->is_admin);
    CHECK(identity_may_enter(who, S("room")));
    CHECK(identity_may_enter(who, S("abc")));
    CHECK(!identity_may_enter(who, S("rooms")));
    CHECK(memcmp(who->token_hash, zeros, sizeof(zeros)) == 0); /* no token has that */
    CHECK_STR(settings->concierge->id, S("door"));
    CHECK_INT(settings->concierge->source, FROM_SERVER);
    CHECK(memcmp(settings->concierge->token_hash, zeros, sizeof(zeros)) == 0);
    CHECK(memcmp(settings->concierge->token_hash, who->token_hash, SHA256_BYTES) != 0);
    CHECK_INT(settings->concierge->capabilities.count, 2);
    CHECK(settings_room(settings, S("room"))->may_self_approve);
    CHECK(!settings_room(settings, S("other"))->may_self_approve);
    settings_unref(settings);
    settings = load(S("mcp: { open: false, anonymous: { id: guest, profile: reader,"
                      " topics: [room] } }"));
    CHECK(settings->anonymous == NULL);
    CHECK(settings->concierge == NULL);
    CHECK_INT(settings->identity_count, 0);
    settings_unref(settings);
}

TEST(mcp_settings_that_mean_nothing_are_refused)
{
    static const struct {
        struct str yaml;
        const char *why;
    } cases[] = {
        { S("mcp: { anonymous: { id: g, profile: nobody, topics: [a] } }"),
          "there is no profile \"nobody\"" },
        { S("mcp: { anonymous: { id: g, profile: admin, topics: [a] } }"),
          "whoever comes without a token is no administrator" },
        { S("mcp: { anonymous: { id: system, profile: full, topics: [a] } }"), "system" },
        { S("mcp: { anonymous: { id: g, profile: full, topics: ['a*b'] } }"), "" },
        { S("mcp: { topic: '.x' }"), "a topic cannot be called \".x\"" },
        { S("mcp: { id: system }"), "system" },
    };

    FOR_EACH_CASE(c, cases) {
        struct config_problem problem = {};
        struct settings *settings = NULL;
        struct config *config = NULL;

        CHECK_INT(config_parse(c->yaml, "t.yaml", NULL, &config, &problem), OK);
        CHECK_INT(settings_new(config, &settings, &problem), ERR_INVALID);
        CHECK(strstr(problem.message, c->why) != NULL);
        CHECK_INT(problem.mark.line, 1);
        config_free(config);
    }
}
