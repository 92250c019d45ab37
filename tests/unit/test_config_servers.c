/* SPDX-License-Identifier: Apache-2.0 */
/* servers: and mcp_servers: of the configuration. */
#include "base/cleanup.h"
#include "config/config.h"
#include "harness.h"

static struct config *parse(struct str text)
{
    struct config_problem problem = {};
    struct config *config = NULL;
    enum err err = config_parse(text, "t.yaml", "/base", &config, &problem);

    CHECK_STR(str_of(err ? problem.message : ""), S(""));
    return config;
}

TEST(three_lines_are_a_server)
{
    struct config *config = parse(S("servers:\n"
                                    "  files:\n"
                                    "    topic: room\n"
                                    "    command: [npx, -y, server, /srv]\n"));
    const struct config_server *server = config->servers.items;

    CHECK_INT(config->servers.count, 1);
    CHECK_STR(server->name, S("files"));
    CHECK_STR(server->as, S("files"));
    CHECK_STR(server->topic, S("room"));
    CHECK_INT(server->command.count, 4);
    CHECK_STR(server->command.items[3], S("/srv"));
    CHECK_INT(server->sandbox, CONFIG_SANDBOX_STRICT);
    CHECK_INT(server->network, CONFIG_NETWORK_NONE);
    CHECK_INT(server->mode, CONFIG_SERVER_SHARED);
    CHECK_INT(server->pin, CONFIG_PIN_HOLD);
    CHECK_INT(server->era, CONFIG_ERA_AUTO);
    CHECK_INT(server->memory, 512 << 20);
    CHECK_INT(server->processes, 64);
    CHECK_INT(server->files, 256);
    CHECK_INT(server->idle_ms, 600'000);
    CHECK_INT(server->timeout_ms, 60'000);
    CHECK_INT(server->open_timeout_ms, 30'000);
    CHECK_INT(server->uid, 0);
    CHECK(!server->start);
    config_free(config);
}

TEST(everything_can_be_said_of_a_server)
{
    struct config *config = parse(
        S("servers:\n"
          "  b:\n"
          "    { topic: room, as: tools, command: [./b], folder: work, sandbox: basic,\n"
          "      env: { A: 'x y', B: '1' }, secrets: { K: 'file:k', L: 'env:M' },\n"
          "      read: [data, /usr], write: out, roots: ['file:///usr'], memory: 1GiB,\n"
          "      processes: 8, files: 32, cpu: 50, uid: 70000, mode: pooled,\n"
          "      instances: 3, era: legacy, pin: warn, start: true, idle: 0,\n"
          "      timeout: 5s, open_timeout: 6s, profile: filesystem,\n"
          "      capabilities: [chat, { kind: 'mcp/*' }] }\n"
          "  a: { topic: q, url: 'https://h.example/mcp', oauth_client_id: c,\n"
          "       oauth_client_secret_file: s, oauth_metadata_url: 'https://m.example',\n"
          "       oauth_scopes: 'x y', headers: { X-A: b, Authorization: 'file:/t' } }\n"
          "mcp_servers:\n"
          "  - { file: mcp.json, topic: room }\n"));
    const struct config_server *a = config->servers.items, *b = a + 1;

    CHECK_INT(config->servers.count, 2);
    CHECK_STR(b->as, S("tools"));
    CHECK_STR(b->folder, S("/base/work"));
    CHECK_STR(b->env.items[0].value, S("x y"));
    CHECK_STR(b->secrets.items[0].name, S("K"));
    CHECK_STR(b->secrets.items[0].value, S("file:/base/k"));
    CHECK_STR(b->secrets.items[1].value, S("env:M"));
    CHECK_STR(b->read.items[0], S("/base/data"));
    CHECK_STR(b->read.items[1], S("/usr"));
    CHECK_STR(b->write.items[0], S("/base/out"));
    CHECK_STR(b->roots.items[0], S("file:///usr"));
    CHECK_INT(b->sandbox, CONFIG_SANDBOX_BASIC);
    CHECK_INT(b->memory, 1 << 30);
    CHECK_INT(b->processes, 8);
    CHECK_INT(b->files, 32);
    CHECK_INT(b->cpu, 50);
    CHECK_INT(b->uid, 70000);
    CHECK_INT(b->mode, CONFIG_SERVER_POOLED);
    CHECK_INT(b->instances, 3);
    CHECK_INT(b->era, CONFIG_ERA_LEGACY);
    CHECK_INT(b->pin, CONFIG_PIN_WARN);
    CHECK(b->start);
    CHECK_INT(b->idle_ms, 0);
    CHECK_INT(b->timeout_ms, 5'000);
    CHECK_INT(b->open_timeout_ms, 6'000);
    CHECK_STR(b->profile, S("filesystem"));
    CHECK_STR(b->capabilities.items[1], S("{\"kind\":\"mcp/*\"}"));
    CHECK_STR(a->url, S("https://h.example/mcp"));
    CHECK_STR(a->oauth_client_id, S("c"));
    CHECK_STR(a->oauth_client_secret_file, S("/base/s"));
    CHECK_STR(a->oauth_metadata_url, S("https://m.example"));
    CHECK_STR(a->oauth_scopes, S("x y"));
    CHECK_STR(a->headers.items[1].value, S("file:/t"));
    CHECK_STR(config->mcp_servers.items[0].file, S("/base/mcp.json"));
    CHECK_STR(config->mcp_servers.items[0].topic, S("room"));
    config_free(config);
}

TEST(who_authorizes_calls_is_said_in_rules)
{
    struct config *config =
        parse(S("servers:\n"
                "  a: { topic: r, command: [a] }\n"
                "  b:\n"
                "    topic: r\n"
                "    command: [b]\n"
                "    authorization:\n"
                "      mode: selective\n"
                "      delegate: dan\n"
                "      timeout: 90s\n"
                "      rules:\n"
                "        - { tool: 'read_*', then: allow }\n"
                "        - caller: bot\n"
                "          arguments: { path: '/srv/*', n: [1, 2], deep: { x: true } }\n"
                "          then: delegate\n"));
    const struct config_authorization *a = &config->servers.items[0].authorization;
    const struct config_authorization *b = &config->servers.items[1].authorization;

    CHECK_INT(a->mode, CONFIG_GATE_ALWAYS_ALLOW);
    CHECK_INT(a->timeout_ms, 300'000);
    CHECK_INT(a->rules.count, 0);
    CHECK_INT(b->mode, CONFIG_GATE_SELECTIVE);
    CHECK_STR(b->delegate, S("dan"));
    CHECK_INT(b->timeout_ms, 90'000);
    CHECK_INT(b->rules.count, 2);
    CHECK_STR(b->rules.items[0].tool, S("read_*"));
    CHECK_STR(b->rules.items[0].caller, S(""));
    CHECK_INT(b->rules.items[0].then, CONFIG_THEN_ALLOW);
    CHECK_STR(b->rules.items[1].arguments,
              S("{\"path\":\"/srv/*\",\"n\":[1,2],\"deep\":{\"x\":true}}"));
    CHECK_INT(b->rules.items[1].then, CONFIG_THEN_DELEGATE);
    config_free(config);
}

TEST(what_is_not_said_follows_from_what_is)
{
    /* clang-format off */
    static const struct {
        struct str yaml;
        enum config_network network;
        size_t instances;
    } cases[] = {
        { S("{ topic: r, command: [a] }"),                                 CONFIG_NETWORK_NONE,     0 },
        { S("{ topic: r, command: [a], sandbox: off }"),                   CONFIG_NETWORK_ANY,      0 },
        { S("{ topic: r, command: [a], hosts: [h] }"),                     CONFIG_NETWORK_HOSTS,    0 },
        { S("{ topic: r, command: [a], network: loopback }"),              CONFIG_NETWORK_LOOPBACK, 0 },
        { S("{ topic: r, command: [a], mode: per-caller }"),               CONFIG_NETWORK_NONE,     16 },
        { S("{ topic: r, command: [a], mode: pooled }"),                   CONFIG_NETWORK_NONE,     4 },
        { S("{ topic: r, command: [a], mode: per-caller, instances: 2 }"), CONFIG_NETWORK_NONE,     2 },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf text;
        struct config *config;

        buf_init(&text, 4096);
        buf_putf(&text, "servers: { s: " STR_FMT " }", STR_ARG(c->yaml));
        config = parse(buf_str(&text));
        CHECK_INT(config->servers.items[0].network, c->network);
        CHECK_INT(config->servers.items[0].instances, c->instances);
        config_free(config);
    }
}

TEST(what_is_wrong_with_a_server_is_said)
{
    /* clang-format off */
    static const struct {
        struct str yaml;
        const char *message;
    } cases[] = {
        { S("{ topic: r, command: [a], authorization: { mode: maybe } }"), "mode must be one of always-allow, always-prompt, selective, delegated, not \"maybe\"" },
        { S("{ topic: r, command: [a], authorization: { timeout: 25h } }"), "timeout must be between 1s and 24h, not \"25h\"" },
        { S("{ topic: r, command: [a], authorization: { rules: [{ tool: x }] } }"), "rule needs \"then\"" },
        { S("{ topic: r, command: [a], authorization: { rules: [{ then: deny, arguments: x }] } }"), "arguments must be a mapping, not \"x\"" },
        { S("{ topic: r, command: [a], authorization: { rules: [{ then: deny, tools: x }] } }"), "unknown key \"tools\" (did you mean \"tool\"?)" },
        { S("{ command: [a] }"),                       "server needs \"topic\"" },
        { S("{ topic: r }"),                           "server needs \"command\" or \"url\"" },
        { S("{ topic: r, command: [a], url: 'http://a' }"), "server has both \"command\" and \"url\"" },
        { S("{ topic: r, command: [] }"),              "server needs \"command\" or \"url\"" },
        { S("{ topic: r, url: 'http://a', env: { A: b } }"), "env is for a command, not for a url" },
        { S("{ topic: r, url: 'http://a', write: [/] }"), "write is for a command, not for a url" },
        { S("{ topic: r, command: [a], headers: { A: b } }"), "headers need a url" },
        { S("{ topic: r, command: [a], secrets: { A: b } }"), "\"A\" must be file:PATH or env:NAME" },
        { S("{ topic: r, url: 'http://a', headers: { authorization: b } }"), "\"authorization\" must be file:PATH or env:NAME" },
        { S("{ topic: r, command: [a], env: { A: [b] } }"), "env: the value of \"A\" must be a text" },
        { S("{ topic: r, command: [a], env: [A] }"),   "env must be a mapping of names to texts" },
        { S("{ topic: r, command: [a], env: { A: '***' } }"), "env: the value of \"A\" was left out" },
        { S("{ topic: r, command: [a], network: any }"), "network: any and sandbox: off go together" },
        { S("{ topic: r, command: [a], sandbox: off, network: none }"), "network: any and sandbox: off go together" },
        { S("{ topic: r, command: [a], sandbox: basic, network: loopback }"), "sandbox: basic has network: none alone" },
        { S("{ topic: r, command: [a], network: hosts }"), "hosts and network: hosts go together" },
        { S("{ topic: r, command: [a], network: none, hosts: [h] }"), "hosts and network: hosts go together" },
        { S("{ topic: r, command: [a], instances: 2 }"), "instances need mode: per-caller or pooled" },
        { S("{ topic: r, command: [a], mode: many }"), "mode must be one of shared, per-caller, pooled, not \"many\"" },
        { S("{ topic: r, command: [a], memory: 1MiB }"), "memory must be between 16MiB and 1048576GiB, not \"1MiB\"" },
        { S("{ topic: r, command: [a], commands: [b] }"), "unknown key \"commands\" (did you mean \"command\"?)" },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        CLEANUP(buf_done) struct buf text;
        struct config_problem problem = {};
        struct config *config = NULL;

        buf_init(&text, 4096);
        buf_putf(&text, "servers:\n  s: " STR_FMT, STR_ARG(c->yaml));
        CHECK_INT(config_parse(buf_str(&text), "t", NULL, &config, &problem),
                  ERR_INVALID);
        CHECK_STR(str_of(problem.message), str_of(c->message));
        CHECK_INT(problem.mark.line, 2);
        config_free(config);
    }
}

TEST(servers_are_printed_without_their_values_and_read_again)
{
    struct config *config =
        parse(S("servers:\n"
                "  a: { topic: r, command: [a], secrets: { S: 'env:T' }, mode: pooled }\n"
                "  b: { topic: r, url: 'http://b' }\n"
                "  c: { topic: r, command: [a], sandbox: off }\n"
                "mcp_servers: [{ file: f, topic: r }]\n"));
    struct config *other = parse(S("servers:\n  a: { topic: r, command: [a],"
                                   " env: { E: s3cret } }\n"
                                   "  b: { topic: r, url: 'http://b',"
                                   " headers: { X-Key: s4cret } }\n"));
    struct config *again;
    struct buf a, b;

    buf_init(&a, 1 << 20);
    buf_init(&b, 1 << 20);
    config_print(config, &a);
    again = parse(buf_str(&a));
    config_print(again, &b);
    CHECK_STR(buf_str(&b), buf_str(&a));
    buf_clear(&b);
    config_print(other, &b);
    CHECK(strstr(buf_cstr(&b), "s3cret") == NULL);
    CHECK(strstr(buf_cstr(&b), "s4cret") == NULL);
    CHECK(strstr(buf_cstr(&b), "env: {\"E\": \"***\"}") != NULL);
    buf_done(&a);
    buf_done(&b);
    config_free(config);
    config_free(again);
    config_free(other);
}
