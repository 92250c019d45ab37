/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "harness.h"

static struct config *parse(struct str text)
{
    struct config_problem problem = {};
    struct config *config = NULL;

    if (config_parse(text, "moot.yaml", "/etc/moot", &config, &problem))
        CHECK_STR(str_of(problem.message), S(""));
    return config ? config : config_default();
}

TEST(what_is_printed_reads_the_same)
{
    static const struct str texts[] = {
        S(""),
        S("listen: [a:1, 'b\"\\:2', 'é']\ndata: x\nworkers: 7\nlog: error\n"),
        S("tls: { certificate: ./a, key: b/c }\nhosts: [a]\norigins: [b, c]"),
        S("topics: { open: false, max: 7, defaults: { duplicate: replace, proposals: free,"
          " ring_messages: 0, ring_bytes: 0, proposal_expiry: 1001ms, presence_delay: 0,"
          " max_members: 1, announce_violations: true, validation: strict, loop_guard: 7, access: restricted },"
          " named: { a: {}, \"b: c\": { ring_bytes: 1GiB, duplicate: share, loop_guard: off }, '#': {} } }"),
        S("topics: { defaults: { proposals: exact, quorum: 3, approvals: [{ kind: 'a:*' },"
          " { kind: b, quorum: 16, profiles: [human, 'x y'] }] }, named: { a: {},"
          " b: { approvals: [] } } }"),
        S("mcp: { open: false, topic: a, id: b, room_tools: off, names: prefixed, idle: 1s,"
          " hold: 1m, poll: 1s, sessions: 1, calls: 1, anonymous: { id: c, profile: d,"
          " topics: [e, '*'] } }\ntopics: { defaults: { self_approve: on } }"),
        S("profiles: { z: { capabilities: [] }, a: { capabilities: ['mcp/*', chat],"
          " type: human, admin: true }, b: { capabilities: x, admin: false } }"),
        S("profiles: { z: { capabilities: [a, { kind: 'mcp/*', payload: { p: { a: [1, ~, \"1\","
          " '!x\"\\'], e: {}, f: [] } } }, { kind: é, payload: true }] } }"),
        S("servers: { a: { topic: r, command: [c], authorization: { mode: selective, delegate: d,"
          " timeout: 7s, rules: [{ tool: t, arguments: { a: [1, ~, '1'] }, then: deny },"
          " { caller: c, then: delegate }] } } }"),
        S("limits: { envelope: 1025, outbox: 2051, outbox_soft: 1KiB, depth: 1,"
          " rate_messages: 0, rate_bytes: 3/s, burst: 100ms, rate_strikes: 1,"
          " connections: 1, connections_per_participant: 1, head: 1MiB, body: 1GiB,"
          " uri: 256, fragments: 1, head_timeout: 100ms, body_timeout: 1h,"
          " keepalive_timeout: 90s, ping_interval: 0, pong_timeout: 1m,"
          " stall_timeout: 1s, wait_max: 0, tickets: 1, login_failures: 0, kick_bar: 0,"
          " drain_timeout: 0 }\ncompression: off\ncompression_min: 0"),
    };

    FOR_EACH_CASE(text, texts) {
        struct config *first = parse(*text);
        struct config *second;
        struct buf a, b;

        buf_init(&a, 1 << 20);
        buf_init(&b, 1 << 20);
        config_print(first, &a);
        second = parse(buf_str(&a));
        config_print(second, &b);
        CHECK_STR(buf_str(&b), buf_str(&a));
        CHECK(memcmp(&first->limits, &second->limits, sizeof(first->limits)) == 0);
        CHECK_INT(second->topics.named.count, first->topics.named.count);
        CHECK_INT(second->profiles.count, first->profiles.count);
        CHECK_STR(second->data, first->data);
        CHECK_STR(second->tls.key, first->tls.key);
        buf_done(&a);
        buf_done(&b);
        config_free(first);
        config_free(second);
    }
}

TEST(printed_tokens_are_masked_and_cannot_be_used)
{
    struct config *config =
        parse(S("store: postgresql://ann:w0rd5@host/base\n"
                "tokens:\n"
                "  - { token: w0rd3, id: a, profile: p, topics: [x], admin: true,\n"
                "      expires_at: 2030-01-02T03:04:05Z, type: human, name: n }\n"
                "  - { token: w0rd4, id: b, capabilities: [chat] }\n"
                "identity: { jwt: { audience: us,\n"
                "  secret: w0rd6-w0rd6-w0rd6-w0rd6-w0rd6-w0rd6 } }\n"));
    struct config *again = NULL;
    struct buf out;

    buf_init(&out, 1 << 20);
    config_print(config, &out);
    CHECK(strstr(buf_cstr(&out), "w0rd") == NULL);
    CHECK(strstr(buf_cstr(&out), "store: \"***\"") != NULL);
    CHECK(strstr(buf_cstr(&out), "secret: \"***\"") != NULL);
    CHECK(strstr(buf_cstr(&out), "tokens:\n"
                                 "  - name: \"n\"\n"
                                 "    token: \"***\"\n"
                                 "    id: \"a\"\n"
                                 "    topics: [\"x\"]\n"
                                 "    profile: \"p\"\n"
                                 "    type: \"human\"\n"
                                 "    admin: true\n"
                                 "    expires_at: \"2030-01-02T03:04:05.000Z\"\n"
                                 "  - token: \"***\"\n"
                                 "    id: \"b\"\n"
                                 "    topics: [\"*\"]\n"
                                 "    capabilities: [\"chat\"]\n") != NULL);
    CHECK_INT(config_parse(buf_str(&out), "x", NULL, &again, NULL), ERR_INVALID);
    buf_done(&out);
    config_free(config);
}

TEST(the_defaults_are_printed_with_their_help)
{
    struct config *config = config_default();
    struct buf out;

    buf_init(&out, 1 << 20);
    config_print(config, &out);
    CHECK(strstr(buf_cstr(&out), "\nworkers: auto\n") != NULL);
    CHECK(strstr(buf_cstr(&out), "\n# data: \"\"\n") != NULL);
    CHECK(strstr(buf_cstr(&out), "  # largest envelope accepted\n  envelope: 1MiB\n"));
    CHECK(strstr(buf_cstr(&out), "  rate_bytes: 16MiB/s\n") != NULL);
    CHECK(strstr(buf_cstr(&out), "\ntokens: []\n") != NULL);
    CHECK(strstr(buf_cstr(&out), "  named: {}\n") != NULL);
    buf_done(&out);
    config_free(config);
}

TEST(help_and_manual_name_every_option)
{
    static const char *const names[] = {
        "listen",          "tls.certificate", "topics.defaults.ring_bytes",
        "topics.named",    "tokens[].id",     "profiles.NAME.capabilities",
        "limits.envelope", "compression_min",
    };
    struct buf help, man;

    buf_init(&help, 1 << 20);
    buf_init(&man, 1 << 20);
    config_help(&help);
    config_man(&man);
    CHECK(strstr(buf_cstr(&help), "(a size such as 512KiB or 4MiB; 1KiB to 64MiB; "
                                  "default 1MiB)\n") != NULL);
    FOR_EACH_CASE(name, names) {
        CHECK(strstr(buf_cstr(&help), *name) != NULL);
        CHECK(strstr(buf_cstr(&man), *name) != NULL);
    }
    buf_done(&help);
    buf_done(&man);
}
