/* SPDX-License-Identifier: Apache-2.0 */
/* What a configuration says of MCP servers, and who they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gateway/server_list.h"
#include "gateway/settings.h"
#include "harness.h"

/* The settings of this text, or NULL with the problem. */
static struct settings *load(struct str yaml, struct config_problem *problem)
{
    struct settings *settings = NULL;
    struct config *config = NULL;

    if (config_parse(yaml, "moot.yaml", "/", &config, problem))
        return NULL;
    if (settings_new(config, &settings, problem))
        config_free(config);
    return settings;
}

TEST(what_is_said_of_a_server_becomes_its_spec)
{
    struct config_problem problem = {};
    struct settings *settings =
        load(S("servers:\n"
               "  one:\n"
               "    topic: lobby\n"
               "    as: files\n"
               "    command: [/bin/true, a b]\n"
               "    folder: /tmp\n"
               "    env: { COLOUR: 'file:red' }\n"
               "    secrets: { KEY: 'file:/k', OTHER: 'env:MINE' }\n"
               "    read: [/srv]\n"
               "    write: [/var/x, /var/y]\n"
               "    hosts: [example.org]\n"
               "    roots: ['file:///srv']\n"
               "    memory: 64MiB\n"
               "    processes: 7\n"
               "    files: 99\n"
               "    cpu: 50\n"
               "    mode: pooled\n"
               "    instances: 3\n"
               "    era: legacy\n"
               "    pin: warn\n"
               "    start: true\n"
               "    idle: 1m\n"
               "    timeout: 2m\n"
               "    open_timeout: 3s\n"
               "    capabilities: [chat]\n"
               "  two:\n"
               "    topic: hall\n"
               "    url: https://example.org/mcp\n"
               "    headers: { X-A: plain, Authorization: 'env:TOKEN' }\n"),
             &problem);
    const struct wanted_server *wanted;
    const struct server_spec *spec;

    CHECK_STR(str_of(problem.message), S(""));
    if (!settings)
        return;
    CHECK_INT(settings->servers->count, 2);
    wanted = server_list_find(settings->servers, S("one"));
    spec = wanted->spec;
    CHECK_STR(spec->topic, S("lobby"));
    CHECK_STR(spec->id, S("files"));
    CHECK_INT(spec->command.count, 2);
    CHECK_STR(spec->command.words[1], S("a b"));
    CHECK_STR(spec->command.folder, S("/tmp"));
    CHECK_INT(spec->variable_count, 3);
    CHECK_INT(spec->variables[0].source, SECRET_PLAIN);
    CHECK_STR(spec->variables[0].from, S("file:red"));
    CHECK_INT(spec->variables[1].source, SECRET_FILE);
    CHECK_STR(spec->variables[1].from, S("/k"));
    CHECK_INT(spec->variables[2].source, SECRET_ENVIRONMENT);
    CHECK_STR(spec->variables[2].from, S("MINE"));
    CHECK_INT(spec->permit.level, SANDBOX_STRICT);
    CHECK_INT(spec->permit.network, NETWORK_HOSTS);
    CHECK_INT(spec->permit.read_count, 1);
    CHECK_STR(spec->permit.write[1], S("/var/y"));
    CHECK_STR(spec->permit.hosts[0], S("example.org"));
    CHECK_STR(spec->roots[0], S("file:///srv"));
    CHECK_INT(spec->permit.memory, 64 << 20);
    CHECK_INT(spec->permit.processes, 7);
    CHECK_INT(spec->permit.files, 99);
    CHECK_INT(spec->permit.cpu_percent, 50);
    CHECK_INT(spec->permit.uid, 0); /* which one it gets is not said here */
    CHECK_INT(spec->mode, SERVER_POOLED);
    CHECK_INT(spec->instances, 3);
    CHECK_INT(spec->era, ERA_LEGACY);
    CHECK_INT(spec->pin, PIN_WARN);
    CHECK(spec->starts_now);
    CHECK_INT(spec->idle_ms, 60'000);
    CHECK_INT(spec->call_ms, 120'000);
    CHECK_INT(spec->open_ms, 3000);
    CHECK_STR(wanted->identity->id, S("files"));
    CHECK_INT(wanted->identity->type, TYPE_SERVICE);
    CHECK(!wanted->identity->is_admin);
    spec = server_list_find(settings->servers, S("two"))->spec;
    CHECK_STR(spec->url, S("https://example.org/mcp"));
    CHECK_STR(spec->id, S("two"));
    CHECK_INT(spec->header_count, 2);
    CHECK_INT(spec->permit.uid, 0);
    CHECK(server_list_find(settings->servers, S("three")) == NULL);
    settings_unref(settings);
}

static bool has(struct str_list list, struct str text)
{
    for (size_t i = 0; i < list.count; i++)
        if (str_eq(list.items[i], text))
            return true;
    return false;
}

TEST(a_server_is_somebody_whom_no_token_can_be)
{
    static const uint8_t zeros[SHA256_BYTES / 2];
    struct config_problem problem = {};
    struct str yaml = S("servers: { s: { topic: lobby, command: [x], sandbox: off, "
                        "capabilities: [chat] } }");
    struct settings *a = load(yaml, &problem);
    struct settings *b = load(yaml, &problem);
    const struct identity *identity = a->servers->items[0].identity;

    CHECK_INT(identity->source, FROM_SERVER);
    CHECK_STR(identity->token_name, S("server:s"));
    CHECK(identity_may_enter(identity, S("lobby")));
    CHECK(identity_names_topic(identity, S("lobby")));
    CHECK(!identity_may_enter(identity, S("hall")));
    CHECK(has(identity->capabilities, S("mcp/response:*")));
    CHECK(has(identity->capabilities, S("chat")));
    CHECK(!has(identity->capabilities, S("mcp/*")));
    CHECK(memcmp(identity->token_hash, zeros, sizeof(zeros)) == 0);
    CHECK(memcmp(identity->token_hash, b->servers->items[0].identity->token_hash,
                 SHA256_BYTES) == 0); /* the same after a reload */
    CHECK_INT(a->servers->items[0].spec->permit.uid, 0);
    CHECK(identity_is_from(identity, SOURCES_TOKENS)); /* guests give way */
    settings_unref(a);
    settings_unref(b);
}

TEST(what_cannot_be_is_refused_with_its_place)
{
    static const struct {
        struct str yaml, message;
        unsigned line;
    } cases[] = {
        { S("servers:\n  s: { topic: a/b, command: [x] }"),
          S("server \"s\": its topic has no name that a topic can have"), 2 },
        { S("servers:\n  s: { topic: a, command: [x], as: 'system:x' }"),
          S("server \"s\": participant ids that begin with system: belong to the gateway"),
          2 },
        { S("topics: { open: false }\nservers:\n  s: { topic: a, command: [x] }"),
          S("topics are closed, and \"a\" is not named"), 3 },
        { S("mcp_servers: [{ file: /nowhere/at/all, topic: a }]"),
          S("/nowhere/at/all: No such file or directory"), 1 },
    };

    FOR_EACH_CASE(c, cases) {
        struct config_problem problem = {};

        CHECK(load(c->yaml, &problem) == NULL);
        CHECK_STR(str_of(problem.message), c->message);
        CHECK_INT(problem.mark.line, c->line);
    }
}

TEST(the_servers_of_another_program_join_those_of_the_file)
{
    char path[] = "/tmp/moot-servers-XXXXXX";
    static const char text[] = "{\"mcpServers\":{\"theirs\":{\"command\":\"x\"}}}";
    struct config_problem problem = {};
    struct settings *settings;
    int fd = mkstemp(path);
    char yaml[512];

    CHECK_INT(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    (void)close(fd);
    (void)snprintf(yaml, sizeof(yaml),
                   "servers: { ours: { topic: a, command: [x] } }\n"
                   "mcp_servers: [{ file: %s, topic: b }]\n",
                   path);
    settings = load(str_of(yaml), &problem);
    CHECK_STR(str_of(problem.message), S(""));
    CHECK_INT(settings->servers->count, 2);
    CHECK_STR(server_list_find(settings->servers, S("theirs"))->spec->topic, S("b"));
    settings_unref(settings);
    (void)snprintf(yaml, sizeof(yaml),
                   "servers: { theirs: { topic: a, command: [x] } }\n"
                   "mcp_servers: [{ file: %s, topic: b }]\n",
                   path);
    CHECK(load(str_of(yaml), &problem) == NULL);
    CHECK(strstr(problem.message, "there is a server of that name") != NULL);
    (void)unlink(path);
}

static struct server_spec *make(struct str name)
{
    struct server_spec *spec = server_spec_new(name);

    spec->topic = S("lobby");
    spec->url = S("http://localhost/");
    return spec;
}

TEST(a_list_has_every_name_once_and_a_copy_can_do_without)
{
    struct server_list *list = server_list_new();
    struct server_spec *a = make(S("a")), *b = make(S("b"));
    struct server_list *less;
    char *why = NULL;

    CHECK_INT(server_list_add(list, a, (struct str_list){}, &why), OK);
    CHECK_INT(server_list_add(list, b, (struct str_list){}, &why), OK);
    CHECK_INT(server_list_add(list, a, (struct str_list){}, &why), ERR_CONFLICT);
    free(why);
    CHECK_INT(list->count, 2);
    less = server_list_without(list, S("a"));
    CHECK_INT(less->count, 1);
    CHECK(server_list_find(less, S("b"))->spec == b);
    CHECK_INT(list->count, 2);
    server_list_unref(less);
    server_list_unref(list);
    server_spec_unref(a);
    server_spec_unref(b);
}
