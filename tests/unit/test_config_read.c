/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "harness.h"

/* The problem of a text as it is shown, or "" if there is none. */
static const char *problem_of(struct str text)
{
    static char shown[600];
    struct config_problem problem = {};
    struct config *config = NULL;
    struct buf out;

    buf_init(&out, sizeof(shown));
    if (config_parse(text, "moot.yaml", NULL, &config, &problem)) {
        CHECK(config == NULL);
        config_problem_put(&problem, &out);
    }
    (void)snprintf(shown, sizeof(shown), "%s", buf_cstr(&out));
    buf_done(&out);
    config_free(config);
    return shown;
}

/* Reads what must be right. */
static struct config *parse(struct str text)
{
    struct config_problem problem = {};
    struct config *config = NULL;

    if (config_parse(text, "moot.yaml", NULL, &config, &problem))
        CHECK_STR(str_of(problem.message), S(""));
    return config ? config : config_default();
}

TEST(an_empty_text_gives_the_defaults)
{
    static const struct str texts[] = {
        S(""),   S("# nothing\n"), S("---\n"),
        S("{}"), S("~"),           S("tokens:\nlimits:\nlisten:\n"),
    };

    FOR_EACH_CASE(text, texts) {
        struct config *config = parse(*text);
        const struct config_limits *limits = &config->limits;

        CHECK_INT(config->listen.count, 1);
        CHECK_STR(config->listen.items[0], S("127.0.0.1:8420"));
        CHECK_STR(config->data, S(""));
        CHECK_INT(config->workers, 0);
        CHECK_INT(config->log, LOG_INFO);
        CHECK_INT(config->hosts.count + config->origins.count, 0);
        CHECK_INT(config->tokens.count + config->profiles.count, 0);
        CHECK(config->topics.open && config->compression);
        CHECK_INT(config->topics.max, 100000);
        CHECK_INT(config->compression_min, 512);
        CHECK_INT(limits->envelope, 1 << 20);
        CHECK_INT(limits->outbox, 2 << 20);
        CHECK_INT(limits->outbox_soft, 1 << 20);
        CHECK_INT(limits->depth, 128);
        CHECK_INT(limits->rate_messages, 1000);
        CHECK_INT(limits->rate_bytes, 16 << 20);
        CHECK_INT(limits->burst_ms, 2000);
        CHECK_INT(limits->rate_strikes, 1000);
        CHECK_INT(limits->connections, 50000);
        CHECK_INT(limits->connections_per_participant, 10000);
        CHECK_INT(limits->head, 16 << 10);
        CHECK_INT(limits->body, 2 << 20);
        CHECK_INT(limits->uri, 8 << 10);
        CHECK_INT(limits->fragments, 1024);
        CHECK_INT(limits->head_timeout_ms, 10000);
        CHECK_INT(limits->body_timeout_ms, 30000);
        CHECK_INT(limits->keepalive_timeout_ms, 75000);
        CHECK_INT(limits->ping_interval_ms, 30000);
        CHECK_INT(limits->pong_timeout_ms, 10000);
        CHECK_INT(limits->stall_timeout_ms, 10000);
        CHECK_INT(limits->wait_max_ms, 60000);
        CHECK_INT(limits->tickets, 10000);
        CHECK_INT(limits->login_failures, 100);
        CHECK_INT(limits->kick_bar_ms, 60000);
        CHECK_INT(limits->drain_timeout_ms, 4000);
        config_free(config);
    }
}

TEST(a_topic_has_the_defaults_of_its_file)
{
    struct config *config =
        parse(S("topics:\n"
                "  open: false\n"
                "  named:\n"
                "    zoo: { ring_messages: 5, announce_violations: on,\n"
                "           validation: strict, loop_guard: off,\n"
                "           access: private }\n"
                "    bar:\n"
                "  defaults: { proposal_expiry: 1h, duplicate: refuse }\n"));
    const struct config_topic *topic;

    CHECK(!config->topics.open);
    CHECK_INT(config->topics.named.count, 2);
    topic = config_topic_find(config, S("zoo"));
    CHECK_STR(topic->name, S("zoo"));
    CHECK_INT(topic->mark.line, 4);
    CHECK_INT(topic->mark.column, 5);
    CHECK_INT(topic->ring_messages, 5);
    CHECK(topic->announce_violations);
    CHECK_INT(topic->access, CONFIG_ACCESS_PRIVATE);
    CHECK_INT(topic->validation, CONFIG_VALIDATION_STRICT);
    CHECK_INT(topic->loop_guard, 0);
    CHECK_INT(topic->proposal_expiry_ms, 3600000);
    CHECK_INT(topic->duplicate, CONFIG_DUPLICATE_REFUSE);
    topic = config_topic_find(config, S("bar"));
    CHECK_STR(topic->name, S("bar"));
    CHECK_INT(topic->ring_messages, 1000);
    CHECK_INT(topic->proposals, CONFIG_PROPOSALS_ONCE);
    CHECK_INT(topic->duplicate, CONFIG_DUPLICATE_REFUSE);
    topic = config_topic_find(config, S("none"));
    CHECK(topic == &config->topics.defaults);
    CHECK_STR(topic->name, S(""));
    CHECK_INT(topic->ring_bytes, 4 << 20);
    CHECK_INT(topic->presence_delay_ms, 50);
    CHECK_INT(topic->max_members, 10000);
    CHECK(!topic->announce_violations);
    CHECK_INT(topic->access, CONFIG_ACCESS_PUBLIC);
    CHECK_INT(topic->validation, CONFIG_VALIDATION_LAZY);
    CHECK_INT(topic->loop_guard, 200);
    config_free(config);
}

TEST(topics_can_be_named_in_a_list)
{
    struct config *config = parse(S("topics: { named: [b, a] }"));

    CHECK_INT(config->topics.named.count, 2);
    CHECK_STR(config_topic_find(config, S("a"))->name, S("a"));
    CHECK_STR(config_topic_find(config, S("b"))->name, S("b"));
    CHECK_STR(config_topic_find(config, S("c"))->name, S(""));
    config_free(config);
}

TEST(numbers_carry_units)
{
    static const struct {
        struct str text;
        size_t uri;
        uint64_t wait_ms, messages, bytes;
    } cases[] = {
        { S("{ uri: 1000, wait_max: 500ms, rate_messages: 7/s, rate_bytes: 9/s }"), 1000,
          500, 7, 9 },
        { S("{ uri: 300B, wait_max: 30s, rate_messages: 0, rate_bytes: 0 }"), 300, 30000,
          0, 0 },
        { S("{ uri: 2KiB, wait_max: 5m, rate_messages: 1/s, rate_bytes: 3KiB/s }"), 2048,
          300000, 1, 3072 },
        { S("{ uri: 16KiB, wait_max: 1h, rate_messages: 1000000000/s, rate_bytes: 2B/s }"),
          16384, 3600000, 1000000000, 2 },
        { S("{ uri: 4096, wait_max: 0, rate_bytes: 1GiB/s }"), 4096, 0, 1000, 1 << 30 },
        { S("{ uri: \"4KiB\", wait_max: '1s', rate_bytes: 5MiB/s }"), 4096, 1000, 1000,
          5 << 20 },
    };

    FOR_EACH_CASE(c, cases) {
        char text[256];
        struct config *config;

        (void)snprintf(text, sizeof(text), "limits: " STR_FMT, STR_ARG(c->text));
        config = parse(str_of(text));
        CHECK_INT(config->limits.uri, c->uri);
        CHECK_INT(config->limits.wait_max_ms, c->wait_ms);
        CHECK_INT(config->limits.rate_messages, c->messages);
        CHECK_INT(config->limits.rate_bytes, c->bytes);
        config_free(config);
    }
}

TEST(every_section_can_be_given)
{
    struct config *config = parse(
        S("listen: ['[::1]:8420', unix:/run/moot.sock]\n"
          "data: /var/lib/moot\n"
          "workers: 3\n"
          "log: debug\n"
          "tls: { certificate: /etc/c.pem, key: /etc/k.pem }\n"
          "hosts: moot.example\n"
          "origins: [https://a.example, https://b.example]\n"
          "profiles:\n"
          "  ops: { capabilities: [chat], type: human, admin: true }\n"
          "tokens:\n"
          "  - token: t1\n"
          "    id: é\n"
          "    profile: ops\n"
          "    admin: false\n"
          "    expires_at: 2030-01-02T03:04:05Z\n"
          "    name: first\n"
          "  - { token: t2, id: b, capabilities: [], type: service, topics: [x, y] }\n"
          "compression: off\n"
          "compression_min: 1KiB\n"));
    const struct config_token *token = config->tokens.items;

    CHECK_INT(config->listen.count, 2);
    CHECK_STR(config->listen.items[1], S("unix:/run/moot.sock"));
    CHECK_INT(config->listen.marks[1].column, 24);
    CHECK_STR(config->data, S("/var/lib/moot"));
    CHECK_INT(config->workers, 3);
    CHECK_INT(config->log, LOG_DEBUG);
    CHECK_STR(config->tls.key, S("/etc/k.pem"));
    CHECK_STR(config->hosts.items[0], S("moot.example"));
    CHECK_INT(config->origins.count, 2);
    CHECK_INT(config->profiles.count, 1);
    CHECK_STR(config->profiles.items[0].name, S("ops"));
    CHECK_INT(config->profiles.items[0].admin, CONFIG_ON);
    CHECK_STR(config->profiles.items[0].type, S("human"));
    CHECK_INT(config->profiles.items[0].capabilities.marks[0].column, 25);
    CHECK_INT(config->tokens.count, 2);
    CHECK_STR(token->id, S("é"));
    CHECK_INT(token->mark.line, 11);
    CHECK_INT(token->mark.column, 5);
    CHECK_INT(token->profile_mark.line, 13);
    CHECK_INT(token->admin, CONFIG_OFF);
    CHECK_INT(token->expires_ms, 1893553445000);
    CHECK_STR(token->topics.items[0], S("*"));
    CHECK(token->capabilities.items == NULL);
    CHECK_INT(token[1].admin, CONFIG_UNSET);
    CHECK(token[1].capabilities.items && token[1].capabilities.count == 0);
    CHECK_INT(token[1].topics.count, 2);
    CHECK(!config->compression);
    CHECK_INT(config->compression_min, 1024);
    config_free(config);
}

/* clang-format off */
static const struct {
    struct str text;
    const char *problem;
} wrong[] = {
    /* keys */
    { S("a: 1"),                                    "1:1: unknown key \"a\"" },
    { S("\n\n\n\n\n\nx:\n  limitz: 1"),             "7:1: unknown key \"x\"" },
    { S("limitz: {}"),                              "1:1: unknown key \"limitz\" (did you mean \"limits\"?)" },
    { S("limits:\n  evnelope: 1"),                  "2:3: unknown key \"evnelope\" (did you mean \"envelope\"?)" },
    { S("limits: { depth: 1, depth: 2 }"),          "1:21: duplicate key \"depth\" (first in line 1)" },
    { S("log: info\nlog: warn"),                    "2:1: duplicate key \"log\" (first in line 1)" },
    { S("? [a]\n: b"),                              "1:3: a key must be a text" },
    { S("topics: { named: { '': {} } }"),           "1:20: a name in named must not be empty" },
    { S("topics: { named: [a, <<] }"),              "1:22: merge keys are not supported" },
    { S("topics: { named: [ok, xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
      "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx] }"),
      "1:23: a name in named has at most 128 bytes" },
    { S("topics: { named: [a, b, a] }"),            "1:25: \"a\" is named twice in named" },
    /* what YAML could do besides */
    { S("log: &x info"),                            "1:6: anchors and aliases are not supported" },
    { S("log: *x"),                                 "1:6: anchors and aliases are not supported" },
    { S("log: !!str info"),                         "1:6: tags are not supported" },
    { S("hosts: !a [b]"),                           "1:8: tags are not supported" },
    { S("tls: &t {}"),                              "1:6: anchors and aliases are not supported" },
    { S("limits: { <<: {} }"),                      "1:11: merge keys are not supported" },
    { S("log: info\n---\nlog: warn"),               "2:1: a second document is not supported" },
    { S("a: [[[[[[[[[[[[1]]]]]]]]]]]]"),            "1:15: nested too deep" },
    { S("log: |\n  info\n  warn\n"),                "1:6: a text may not contain line breaks or control characters" },
    { S("data: \"a\\0b\""),                         "1:7: a text may not contain line breaks or control characters" },
    { S("data: \"\\u2028\""),                       "1:7: a text may not contain line breaks or control characters" },
    { S("- a"),                                     "1:1: file must be a mapping" },
    { S("hello"),                                   "1:1: file must be a mapping" },
    { S("a: [1"),                                   "2:1: not valid YAML: did not find expected ',' or ']', while parsing a flow sequence" },
    { S("a: \xff"),                                 "1:4: not valid YAML: invalid leading UTF-8 octet" },
    { S("a: \n\tb: 1"),                             "2:1: not valid YAML: found character that cannot start any token, while scanning for the next token" },
    /* types */
    { S("log: loud"),                               "1:6: log must be one of error, warn, info, debug, not \"loud\"" },
    { S("log: [info]"),                             "1:6: log must be a word" },
    { S("log: ~"),                                  "1:6: log must be a word" },
    { S("data: ''"),                                "1:7: data must not be empty" },
    { S("data: {}"),                                "1:7: data must be a path" },
    { S("workers: many"),                           "1:10: workers must be a whole number, not \"many\"" },
    { S("workers: 0"),                              "1:10: workers must be between 1 and 64, not \"0\"" },
    { S("workers: 65"),                             "1:10: workers must be between 1 and 64, not \"65\"" },
    { S("workers: 010"),                            "1:10: workers must be a whole number, not \"010\"" },
    { S("workers: -1"),                             "1:10: workers must be a whole number, not \"-1\"" },
    { S("workers: 1.5"),                            "1:10: workers must be a whole number, not \"1.5\"" },
    { S("hosts: [a, [b]]"),                         "1:12: hosts must be a list of texts" },
    { S("hosts: [a, '']"),                          "1:12: hosts must not contain empty texts" },
    { S("hosts: { a: b }"),                         "1:8: hosts must be a list of texts" },
    { S("topics: { open: yes }"),                   "1:17: open must be true or false, not \"yes\"" },
    { S("topics: { open: on }"),                    "1:17: open must be true or false, not \"on\"" },
    { S("compression: yes"),                        "1:14: compression must be one of off, on, not \"yes\"" },
    { S("topics: open"),                            "1:9: topics must be a mapping" },
    { S("topics: { named: a }"),                    "1:18: named must be a mapping, not \"a\"" },
    { S("topics: { named: [[a]] }"),                "1:19: named must be a mapping or a list of names" },
    { S("topics: { named: { a: b } }"),             "1:23: topic must be a mapping" },
    { S("topics: { defaults: { proposals: never } }"), "1:34: proposals must be one of free, once, exact, not \"never\"" },
    { S("topics: { defaults: { proposal_expiry: 25h } }"), "1:40: proposal_expiry must be between 1s and 24h, not \"25h\"" },
    { S("profiles: [a]"),                           "1:11: profiles must be a mapping" },
    { S("limits: { envelope: 1MB }"),               "1:21: envelope must be a size such as 512KiB or 4MiB, not \"1MB\"" },
    { S("limits: { envelope: 1 MiB }"),             "1:21: envelope must be a size such as 512KiB or 4MiB, not \"1 MiB\"" },
    { S("limits: { envelope: 99999999999999999999MiB }"), "1:21: envelope must be a size such as 512KiB or 4MiB, not \"99999999999999999999MiB\"" },
    { S("limits: { envelope: 17592186044416MiB }"), "1:21: envelope must be a size such as 512KiB or 4MiB, not \"17592186044416MiB\"" },
    { S("limits: { envelope: 1023 }"),              "1:21: envelope must be between 1KiB and 64MiB, not \"1023\"" },
    { S("limits: { wait_max: 30 }"),                "1:21: wait_max must be a duration such as 500ms, 30s, 5m or 24h, not \"30\"" },
    { S("limits: { wait_max: s }"),                 "1:21: wait_max must be a duration such as 500ms, 30s, 5m or 24h, not \"s\"" },
    { S("limits: { rate_messages: 1000 }"),         "1:26: rate_messages must be a rate such as 1000/s, or 0, not \"1000\"" },
    { S("limits: { rate_bytes: 1MiB }"),            "1:23: rate_bytes must be a rate such as 16MiB/s, or 0, not \"1MiB\"" },
    /* options that depend on each other */
    { S("limits: { envelope: 2MiB, outbox: 3MiB }"), "1:35: outbox (3145728 bytes) must be at least twice envelope (2097152 bytes)" },
    { S("limits: { envelope: 2MiB }"),              "1:21: outbox (2097152 bytes) must be at least twice envelope (2097152 bytes)" },
    { S("limits: { envelope: 4MiB, outbox: 8MiB }"), "1:21: body (2097152 bytes) must be at least envelope (4194304 bytes)" },
    { S("limits: { outbox_soft: 3MiB }"),           "1:24: outbox (2097152 bytes) must be at least outbox_soft (3145728 bytes)" },
    { S("limits: { head: 4KiB }"),                  "1:17: head (4096 bytes) must be at least uri (8192 bytes)" },
    { S("tls: { key: a }"),                         "1:6: tls needs both \"certificate\" and \"key\"" },
    { S("log: info\nstore: mysql://a:b@c/d"),      "2:8: store must begin with postgresql://; without it there are files in data" },
    { S("store: postgresql:x"),                     "1:8: store must begin with postgresql://; without it there are files in data" },
    { S("store: '***'"),                            "1:8: store must begin with postgresql://; without it there are files in data" },
    /* tokens */
    { S("tokens: { a: b }"),                        "1:9: tokens must be a list" },
    { S("tokens: [a]"),                             "1:10: token must be a mapping" },
    { S("tokens: [{ token: a, profile: p }]"),      "1:10: token needs \"id\"" },
    { S("tokens: [{ id: a, profile: p }]"),         "1:10: token needs \"token\" or \"token_file\"" },
    { S("tokens: [{ id: a, token: b }]"),           "1:10: token needs \"capabilities\" or \"profile\"" },
    { S("tokens:\n  - id: a\n    token: b\n    token_file: c\n    profile: p"), "4:5: token has both \"token\" and \"token_file\"" },
    { S("tokens:\n  - id: a\n    token: b\n    profile: p\n    capabilities: [c]"), "4:5: token has both \"capabilities\" and \"profile\"" },
    { S("tokens: [{ id: a, token: b c, profile: p }]"), "1:26: token may contain only letters, digits and -._~+/=" },
    { S("tokens: [{ id: a, token: '***', profile: p }]"), "1:26: token may contain only letters, digits and -._~+/=" },
    { S("tokens: [{ id: a, token: [s], profile: p }]"), "1:26: token must be a text" },
    { S("tokens: [{ id: a, token_file: b, profile: p }]"), "1:31: token_file is not possible here" },
    { S("tokens: [{ id: a, token: b, profile: p, type: robot }]"), "1:47: type must be one of human, agent, service, not \"robot\"" },
    { S("tokens: [{ id: a, token: b, profile: p, expires_at: soon }]"), "1:53: expires_at must be a time such as 2030-01-31T12:00:00Z, not \"soon\"" },
    { S("tokens: [{ id: a, token: b, profile: p, admin: 1 }]"), "1:48: admin must be true or false, not \"1\"" },
    { S("tokens:\n  - { id: a, token: b, profile: p }\n  - { id: c, token: b, profile: p }"), "3:5: token is the same as that in line 2" },
    { S("profiles: { p: { capabilities: { kind: a } } }"), "1:32: capabilities must be a list of texts and mappings" },
    { S("profiles:\n  p:\n    capabilities:\n      - '{\"kind\": \"a\"}'"), "4:9: capabilities: a mapping is written without quotes" },
    { S("profiles: { p: { capabilities: [[a]] } }"), "1:33: capabilities must be a list of texts and mappings" },
    { S("hosts: [{ kind: a }]"),                    "1:9: hosts must be a list of texts" },
    { S("profiles: { p: { type: human } }"),        "1:16: profile needs \"capabilities\"" },
};
/* clang-format on */

TEST(a_mapping_among_capabilities_is_kept_as_json)
{
    /* clang-format off */
    static const struct { struct str yaml, json; } cases[] = {
        { S("{ kind: a }"),                          S("{\"kind\":\"a\"}") },
        { S("{ payload: { }, kind: 'a' }"),          S("{\"payload\":{},\"kind\":\"a\"}") },
        { S("{ k: [1, -2.5e+3, 0, true, false, null, ~] }"), S("{\"k\":[1,-2.5e+3,0,true,false,null,null]}") },
        { S("{ k: ['1', \"true\", 'null', yes, 01, 1., .5, +1, 0x1, -, 1e, e1] }"),
          S("{\"k\":[\"1\",\"true\",\"null\",\"yes\",\"01\",\"1.\",\".5\",\"+1\",\"0x1\",\"-\",\"1e\",\"e1\"]}") },
        { S("{ k: 'a\"\\b', 'x y': { z: [], y: {} } }"), S("{\"k\":\"a\\\"\\\\b\",\"x y\":{\"z\":[],\"y\":{}}}") },
        { S("{ a: { b: { c: { d: { e: { f: { g: 1 } } } } } } }"),
          S("{\"a\":{\"b\":{\"c\":{\"d\":{\"e\":{\"f\":{\"g\":1}}}}}}}") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct config *config;
        struct buf text;

        buf_init(&text, 4096);
        buf_put(&text, S("profiles: { p: { capabilities: [chat, "));
        buf_put(&text, c->yaml);
        buf_put(&text, S("] } }"));
        config = parse(buf_str(&text));
        CHECK_INT(config->profiles.items[0].capabilities.count, 2);
        CHECK_STR(config->profiles.items[0].capabilities.items[1], c->json);
        CHECK_INT(config->profiles.items[0].capabilities.marks[1].column, 39);
        config_free(config);
        buf_done(&text);
    }
}

TEST(what_is_wrong_is_said_with_its_place)
{
    FOR_EACH_CASE(c, wrong) {
        char want[600];

        (void)snprintf(want, sizeof(want), "moot.yaml:%s", c->problem);
        CHECK_STR(str_of(problem_of(c->text)), str_of(want));
    }
}

TEST(a_long_word_is_cut_between_characters)
{
    struct buf text;

    buf_init(&text, 4096);
    buf_put(&text, S("log: a"));
    for (int i = 0; i < 100; i++)
        buf_put(&text, S("é"));
    CHECK(strstr(problem_of(buf_str(&text)), "é...\"") != NULL);
    buf_clear(&text);
    for (int i = 0; i < 300; i++)
        buf_putc(&text, 'k');
    buf_put(&text, S(": 1"));
    CHECK_STR(str_of(problem_of(buf_str(&text))),
              S("moot.yaml:1:1: a key may have at most 256 bytes"));
    buf_done(&text);
}

TEST(a_text_over_a_megabyte_is_refused)
{
    struct config_problem problem = {};
    struct config *config = NULL;
    struct buf text;

    buf_init(&text, 2 << 20);
    while (text.len <= CONFIG_FILE_MAX)
        buf_put(&text, S("# nothing to see in this line, it is only here to fill\n"));
    CHECK_INT(config_parse(buf_str(&text), "x", NULL, &config, &problem), ERR_TOO_BIG);
    CHECK_STR(str_of(problem.message), S("the file is larger than 1 MiB"));
    CHECK_INT(problem.mark.line, 0);
    buf_done(&text);
}

TEST(a_problem_can_be_ignored)
{
    struct config *config = NULL;

    CHECK_INT(config_parse(S("x: 1"), "x", NULL, &config, NULL), ERR_INVALID);
    CHECK(config == NULL);
}

TEST(others_report_with_the_marks)
{
    struct config *config = parse(S("listen: nowhere"));
    struct config_problem problem;
    struct buf out;

    CHECK_INT(config_fail(config, config->listen.marks[0], &problem, "no %s", "port"),
              ERR_INVALID);
    buf_init(&out, 100);
    config_problem_put(&problem, &out);
    CHECK_STR(buf_str(&out), S("moot.yaml:1:9: no port"));
    buf_done(&out);
    config_free(config);
}

TEST(some_changes_need_a_restart)
{
    static const struct {
        struct str a, b;
        const char *option;
    } cases[] = {
        { S(""), S("log: debug"), NULL },
        { S("data: /a"), S("data: /a"), NULL },
        { S("data: /a"), S("data: /b"), "data" },
        { S(""), S("workers: 2"), "workers" },
    };

    FOR_EACH_CASE(c, cases) {
        struct config *a = parse(c->a);
        struct config *b = parse(c->b);

        CHECK_STR(str_of(config_needs_restart(a, b)), str_of(c->option));
        config_free(a);
        config_free(b);
    }
}
