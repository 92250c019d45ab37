/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moot run: an MCP server that the gateway itself keeps in a topic, from now on. Through
 * its local socket alone: whoever may start programs is on this machine.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "cli/server_options.h"
#include "cli/servers.h"
#include "json/json.h"

enum { TEXT_BYTES = 1 << 20, PATH_BYTES = 4096 };

struct run_options {
    const char *topic, *data;
    struct server_options what;
};

/* clang-format off */
static const struct cli_option options[] = {
    CLI_SERVER(struct run_options),
    { "--topic", "TOPIC", "instead of the argument TOPIC; or $MOOT_TOPIC", CLI_AT(struct run_options, topic) },
    { "--data",  "DIR",   "data directory of the server",                  CLI_AT(struct run_options, data) },
};
/* clang-format on */

/* The gateway gives it its uid itself. */
static int add(struct server_spec *spec, const char *data)
{
    struct cli_server server = { .data = data };
    struct cli_answer answer = {};
    CLEANUP(buf_done) struct buf body;
    int code;

    buf_init(&body, TEXT_BYTES);
    spec->permit.uid = 0;
    server_spec_write(spec, &body);
    code =
        servers_ask(&server, NULL, "POST", S("/admin/servers"), buf_str(&body), &answer);
    if (code == CLI_OK)
        fprintf(stderr,
                STR_FMT " is in " STR_FMT " from now on; `moot ps` tells how it is.\n",
                STR_ARG(spec->name), STR_ARG(spec->topic));
    buf_done(&answer.body);
    return code;
}

static uid_t read_uid(struct str body)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root = NULL;
    const struct json *said;
    uint64_t uid = 0;

    arena_init(&arena, TEXT_BYTES);
    (void)json_parse(body, &arena, &root, NULL);
    said = json_find(root, S("uid"));
    if (said)
        (void)str_to_u64(said->text, UINT32_MAX, &uid);
    return (uid_t)uid;
}

/* Whom it would become, the gateway says. */
static int find_uid(struct server_spec *spec, const char *name, const char *data)
{
    struct cli_server server = { .data = data };
    struct cli_answer answer = {};
    CLEANUP(buf_done) struct buf path;
    int code = CLI_OK;
    enum err err;

    buf_init(&path, PATH_BYTES);
    if (!server_spec_lacks_uid(spec))
        return CLI_OK;
    servers_path(&path, name, "/uid");
    err = cli_call(&server, "GET", buf_str(&path), S(""), &answer);
    if (err == ERR_NOT_FOUND)
        fputs("moot: no gateway runs: the uid is one of its own, which that says\n",
              stderr);
    else if (err)
        code = CLI_FAILED;
    else if (answer.status >= 400)
        code = cli_report(&answer);
    else
        spec->permit.uid = read_uid(buf_str(&answer.body));
    buf_done(&answer.body);
    return code;
}

static int run_server(const struct run_options *o, const char *data, char **words,
                      size_t count)
{
    struct server_spec *spec;
    int code = server_options_read(&o->what, o->topic, words, count, &spec);

    if (code)
        return code;
    code = server_options_settle(spec, data);
    if (code == CLI_OK)
        code = find_uid(spec, o->what.as, data);
    if (code == CLI_OK && o->what.explain)
        code = server_options_explain(spec);
    else if (code == CLI_OK)
        code = server_options_approve(&o->what, spec, data);
    if (code == CLI_OK && !o->what.explain)
        code = add(spec, data);
    server_spec_unref(spec);
    return code;
}

/* One word and no --as is the name of a server that is there: the only argument, unless
 * the topic comes from the environment. */
static const char *name_alone(const struct run_options *o, char **words, size_t count)
{
    bool has_more = o->what.as || o->what.url || o->what.explain;

    if (has_more || count > 1)
        return NULL;
    if (count == 0)
        return o->topic;
    return o->topic == getenv("MOOT_TOPIC") ? words[0] : NULL;
}

static int run(void *fields, char **words, size_t count)
{
    const struct run_options *o = fields;
    const char *name = name_alone(o, words, count);
    CLEANUP(buf_done) struct buf data;

    buf_init(&data, PATH_BYTES);
    cli_data_directory(o->data, S(""), &data);
    if (name)
        return servers_act(&(struct cli_server){ .data = buf_cstr(&data) }, name,
                           "/start");
    return run_server(o, buf_cstr(&data), words, count);
}

const struct cli_command cli_run_server = {
    .name = "run",
    .usage = "NAME | TOPIC --as NAME [OPTIONS] -- COMMAND …",
    .summary = "seat an MCP server in a topic of the local gateway, for good",
    .more =
        "With a name alone: starts a server that was stopped. Else adds one, which the\n"
        "gateway keeps running and remembers; `moot stop --remove NAME` takes it away.\n"
        "Only the gateway of this machine takes them, through the socket in its data\n"
        "directory.\n\n"
        "  moot run lobby --as files --write ~/notes -- npx -y \\\n"
        "      @modelcontextprotocol/server-filesystem ~/notes\n"
        "  moot run lobby --as files --explain --write ~/notes -- …\n"
        "  moot run files\n",
    .options = options,
    .option_count = COUNT(options),
    .max_arguments = 256,
    .run = run,
    .options_size = sizeof(struct run_options),
    .takes_topic = true,
};
