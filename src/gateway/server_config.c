/* SPDX-License-Identifier: Apache-2.0 */
/* From what a configuration says of servers to what a bridge is made of. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "gateway/server_list.h"

enum { FILE_BYTES = 1 << 20 };

/* The enums of both follow the same words. */
_Static_assert((int)CONFIG_SANDBOX_OFF == (int)SANDBOX_OFF &&
                   (int)CONFIG_SANDBOX_BASIC == (int)SANDBOX_BASIC &&
                   (int)CONFIG_NETWORK_ANY == (int)NETWORK_ANY &&
                   (int)CONFIG_NETWORK_HOSTS == (int)NETWORK_HOSTS &&
                   (int)CONFIG_SERVER_POOLED == (int)SERVER_POOLED &&
                   (int)CONFIG_SERVER_PER_CALLER == (int)SERVER_PER_CALLER &&
                   (int)CONFIG_ERA_MODERN == (int)ERA_MODERN &&
                   (int)CONFIG_ERA_LEGACY == (int)ERA_LEGACY &&
                   (int)CONFIG_PIN_OFF == (int)PIN_OFF &&
                   (int)CONFIG_PIN_WARN == (int)PIN_WARN &&
                   (int)CONFIG_GATE_DELEGATED == (int)GATE_DELEGATED &&
                   (int)CONFIG_GATE_SELECTIVE == (int)GATE_SELECTIVE &&
                   (int)CONFIG_THEN_DENY == (int)GATE_DENY &&
                   (int)CONFIG_THEN_DELEGATE == (int)GATE_DELEGATE,
               "the words of servers have one order");

/* --- texts, copied: a spec outlives its configuration --- */

static struct str keep(struct server_spec *spec, struct str text)
{
    return text.len ? arena_str(&spec->arena, text) : S("");
}

static const struct str *keep_all(struct server_spec *spec,
                                  const struct config_strs *texts)
{
    struct str *kept;

    if (!texts->count)
        return NULL;
    kept = arena_alloc(&spec->arena, texts->count * sizeof(*kept));
    for (size_t i = 0; kept && i < texts->count; i++)
        kept[i] = keep(spec, texts->items[i]);
    return kept;
}

static struct server_variable keep_variable(struct server_spec *spec,
                                            const struct config_pair *pair)
{
    struct str from = pair->value;
    enum secret_source source = SECRET_PLAIN;

    if (str_starts(from, S("file:")))
        source = SECRET_FILE;
    else if (str_starts(from, S("env:")))
        source = SECRET_ENVIRONMENT;
    if (source != SECRET_PLAIN)
        (void)str_cut(&from, ':');
    return (struct server_variable){ .name = keep(spec, pair->name),
                                     .source = source,
                                     .from = keep(spec, from) };
}

/* Two maps as one list; what stands in the first is taken as it is. */
static const struct server_variable *keep_variables(struct server_spec *spec,
                                                    const struct config_pairs *plain,
                                                    const struct config_pairs *sourced,
                                                    size_t *ret_count)
{
    size_t count = plain->count + sourced->count;
    struct server_variable *kept =
        arena_alloc(&spec->arena, (count ? count : 1) * sizeof(*kept));

    if (!kept)
        return NULL;
    for (size_t i = 0; i < plain->count; i++)
        kept[i] = (struct server_variable){ .name = keep(spec, plain->items[i].name),
                                            .source = SECRET_PLAIN,
                                            .from = keep(spec, plain->items[i].value) };
    for (size_t i = 0; i < sourced->count; i++)
        kept[plain->count + i] = keep_variable(spec, &sourced->items[i]);
    *ret_count = count;
    return kept;
}

/* --- one server --- */

static void take_permit(struct server_spec *spec, const struct config_server *server)
{
    spec->permit = (struct permit){
        .level = (enum sandbox_level)server->sandbox,
        .network = (enum sandbox_network)server->network,
        .read = keep_all(spec, &server->read),
        .read_count = server->read.count,
        .write = keep_all(spec, &server->write),
        .write_count = server->write.count,
        .hosts = keep_all(spec, &server->hosts),
        .host_count = server->hosts.count,
        .memory = server->memory,
        .processes = server->processes,
        .files = server->files,
        .cpu_percent = (unsigned)server->cpu,
        .uid = (uid_t)server->uid,
        .gid = (gid_t)server->uid,
    };
    spec->profile = keep(spec, server->profile);
    spec->roots = keep_all(spec, &server->roots);
    spec->root_count = server->roots.count;
}

static void take_place(struct server_spec *spec, const struct config_server *server)
{
    static const struct config_pairs none = {};

    spec->topic = keep(spec, server->topic);
    if (server->as.len)
        spec->id = keep(spec, server->as);
    spec->url = keep(spec, server->url);
    spec->command =
        (struct sandbox_command){ keep_all(spec, &server->command), server->command.count,
                                  keep(spec, server->folder) };
    spec->variables =
        keep_variables(spec, &server->env, &server->secrets, &spec->variable_count);
    spec->headers = keep_variables(spec, &none, &server->headers, &spec->header_count);
    spec->oauth = (struct server_oauth){ keep(spec, server->oauth_client_id),
                                         keep(spec, server->oauth_client_secret_file),
                                         keep(spec, server->oauth_metadata_url),
                                         keep(spec, server->oauth_scopes) };
}

static void take_gate(struct server_spec *spec, const struct config_authorization *said)
{
    size_t count = said->rules.count;
    struct gate_rule *rules =
        arena_alloc(&spec->arena, (count ? count : 1) * sizeof(*rules));

    for (size_t i = 0; rules && i < count; i++)
        rules[i] = (struct gate_rule){
            .tool = keep(spec, said->rules.items[i].tool),
            .caller = keep(spec, said->rules.items[i].caller),
            .arguments = keep(spec, said->rules.items[i].arguments),
            .then = (enum gate_then)said->rules.items[i].then,
        };
    spec->gate = (struct gate_terms){ .mode = (enum gate_mode)said->mode,
                                      .delegate = keep(spec, said->delegate),
                                      .timeout_ms = said->timeout_ms,
                                      .rules = rules,
                                      .rule_count = rules ? count : 0 };
}

static struct server_spec *spec_of(const struct config_server *server)
{
    struct server_spec *spec = server_spec_new(server->name);

    take_place(spec, server);
    take_permit(spec, server);
    spec->mode = (enum server_mode)server->mode;
    spec->instances = server->instances;
    spec->era = (enum mcp_era)server->era;
    spec->pin = (enum pin_mode)server->pin;
    take_gate(spec, &server->authorization);
    spec->starts_now = server->start;
    spec->idle_ms = server->idle_ms;
    spec->call_ms = server->timeout_ms;
    spec->open_ms = server->open_timeout_ms;
    return spec;
}

static enum err add_server(const struct config *config,
                           const struct config_server *server, struct server_list *list,
                           struct config_problem *problem)
{
    struct server_spec *spec = spec_of(server);
    CLEANUP(xfreep) char *why = NULL;
    enum err err = server_list_add(
        list, spec,
        (struct str_list){ server->capabilities.items, server->capabilities.count },
        &why);

    server_spec_unref(spec);
    if (err)
        return config_fail(config, server->mark, problem, "server \"" STR_FMT "\": %s",
                           STR_ARG(server->name), why);
    return OK;
}

/* --- those of other programs --- */

struct reading {
    struct server_list *list;
    char *why;
};

static void on_spec(void *user, struct server_spec *spec)
{
    struct reading *reading = user;

    if (!reading->why &&
        server_list_add(reading->list, spec, (struct str_list){}, &reading->why))
        return;
}

static enum err read_text(const char *path, struct buf *text)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char part[4096];
    ssize_t len;

    if (fd < 0)
        return ERR_IO;
    while ((len = read(fd, part, sizeof(part))) > 0)
        if (buf_append(text, (struct str){ part, (size_t)len }))
            return ERR_TOO_BIG;
    return len < 0 ? ERR_IO : OK;
}

static enum err add_file(const struct config *config, const struct config_mcp_file *file,
                         struct server_list *list, struct config_problem *problem)
{
    struct reading reading = { .list = list };
    CLEANUP(xfreep) char *why = NULL;
    struct buf text;
    enum err err;

    buf_init(&text, FILE_BYTES);
    err = read_text(file->file.ptr, &text);
    if (err)
        why = xstrdup(err == ERR_IO ? strerror(errno) : "it is larger than 1 MiB");
    else
        err = server_specs_read(buf_str(&text), file->topic, on_spec, &reading, &why);
    buf_done(&text);
    if (!err && reading.why) {
        err = ERR_INVALID;
        why = TAKE(reading.why);
    }
    free(reading.why);
    if (err)
        return config_fail(config, file->mark, problem, STR_FMT ": %s",
                           STR_ARG(file->file), why ? why : err_name(err));
    return OK;
}

enum err server_list_read(const struct config *config, struct server_list **ret,
                          struct config_problem *problem)
{
    struct server_list *list = server_list_new();
    enum err err = OK;

    for (size_t i = 0; !err && i < config->servers.count; i++)
        err = add_server(config, &config->servers.items[i], list, problem);
    for (size_t i = 0; !err && i < config->mcp_servers.count; i++)
        err = add_file(config, &config->mcp_servers.items[i], list, problem);
    if (err)
        server_list_unref(list);
    else
        *ret = list;
    return err;
}
