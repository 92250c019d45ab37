/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers as other programs write them down:
 *
 *     {"mcpServers":{"NAME":{"command":"npx","args":[…],"env":{…}},
 *                    "NAME":{"type":"http","url":"https://…","headers":{…}}}}
 *
 * Values of the form ${NAME} or ${env:NAME} are read from our environment when the server
 * starts. What those programs alone can mean (inputs to be asked for, files of variables)
 * is refused; what only concerns their windows is passed over.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/spec.h"
#include "json/json.h"

enum { FILE_BYTES = 1 << 20 };

CLEANUP_FOR(struct server_spec, server_spec_unref)

/* Where it stands, for what is said about it. */
struct reading {
    struct server_spec *spec;
    const struct json *server;
    char **ret_why;
};

static enum err refuse(const struct reading *r, struct str key, const char *what)
{
    char text[384];

    (void)snprintf(text, sizeof(text), "server \"" STR_FMT "\": \"" STR_FMT "\" %s",
                   STR_ARG(str_slice(r->server->key, 0, 80)),
                   STR_ARG(str_slice(key, 0, 80)), what);
    *r->ret_why = xstrdup(text);
    return ERR_INVALID;
}

static bool is_variable(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];

        if (!(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
            c != '_')
            return false;
    }
    return name.len > 0;
}

/* ${NAME} or ${env:NAME} at the end: read from our environment, behind what stands before
 * it. False: there is none, or more than that. */
static bool split_reference(struct str value, struct str *ret_before,
                            struct str *ret_name)
{
    size_t at = str_find(value, '$', 0);
    struct str name;

    if (at + 1 >= value.len || value.ptr[at + 1] != '{' || !str_ends(value, S("}")))
        return false;
    name = str_slice(value, at + 2, value.len - 1);
    if (str_starts(name, S("env:")))
        name = str_slice(name, 4, name.len);
    if (!is_variable(name))
        return false;
    *ret_before = str_slice(value, 0, at);
    *ret_name = name;
    return true;
}

static bool has_reference(struct str value)
{
    for (size_t i = 0; i + 1 < value.len; i++)
        if (value.ptr[i] == '$' && value.ptr[i + 1] == '{')
            return true;
    return false;
}

static enum err read_value(const struct reading *r, const struct json *json,
                           struct server_variable *ret)
{
    struct arena *arena = &r->spec->arena;
    struct str before = S(""), from = json->text;

    if (json->type != JSON_STRING)
        return refuse(r, json->key, "must be a text");
    if (split_reference(json->text, &before, &from))
        ret->source = SECRET_ENVIRONMENT;
    else if (has_reference(json->text))
        return refuse(r, json->key, "refers to what only the other program knows");
    ret->name = arena_str(arena, json->key);
    ret->from = arena_str(arena, from);
    ret->before = arena_str(arena, before);
    return ret->name.ptr && ret->from.ptr && ret->before.ptr
               ? OK
               : refuse(r, json->key, "is too long");
}

static enum err read_values(const struct reading *r, const struct json *json,
                            const struct server_variable **ret, size_t *ret_count)
{
    struct server_variable *items;
    size_t count = 0;
    enum err err = OK;

    if (json->type != JSON_OBJECT)
        return refuse(r, json->key, "must be an object");
    items = arena_alloc(&r->spec->arena, (json->count + 1) * sizeof(*items));
    if (!items)
        return refuse(r, json->key, "is too long");
    JSON_FOREACH(value, json) {
        err = read_value(r, value, &items[count++]);
        if (err)
            return err;
    }
    *ret = items;
    *ret_count = count;
    return OK;
}

/* --- members --- */

static enum err read_text(const struct reading *r, const struct json *json,
                          struct str *ret)
{
    if (json->type != JSON_STRING || json->text.len == 0)
        return refuse(r, json->key, "must be a text");
    if (has_reference(json->text))
        return refuse(r, json->key, "refers to what only the other program knows");
    *ret = arena_str(&r->spec->arena, json->text);
    return ret->ptr ? OK : refuse(r, json->key, "is too long");
}

static enum err on_command(const struct reading *r, const struct json *json)
{
    const struct json *args = json_find(r->server, S("args"));
    size_t count = 1 + (args ? args->count : 0);
    struct str *words = arena_alloc(&r->spec->arena, count * sizeof(*words));
    size_t i = 1;
    enum err err;

    if (args && args->type != JSON_ARRAY)
        return refuse(r, args->key, "must be a list of texts");
    if (!words)
        return refuse(r, json->key, "is too long");
    err = read_text(r, json, &words[0]);
    if (err)
        return err;
    for (const struct json *arg = args ? args->first : NULL; arg; arg = arg->next) {
        if (arg->type != JSON_STRING || has_reference(arg->text))
            return refuse(r, args->key, "must be texts without ${…}");
        words[i] = arena_str(&r->spec->arena, arg->text);
        if (!words[i++].ptr)
            return refuse(r, args->key, "is too long");
    }
    r->spec->command.words = words;
    r->spec->command.count = count;
    return OK;
}

static enum err on_env(const struct reading *r, const struct json *json)
{
    return read_values(r, json, &r->spec->variables, &r->spec->variable_count);
}

static enum err on_headers(const struct reading *r, const struct json *json)
{
    return read_values(r, json, &r->spec->headers, &r->spec->header_count);
}

static enum err on_url(const struct reading *r, const struct json *json)
{
    return read_text(r, json, &r->spec->url);
}

static enum err on_cwd(const struct reading *r, const struct json *json)
{
    return read_text(r, json, &r->spec->command.folder);
}

static enum err on_type(const struct reading *r, const struct json *json)
{
    static const struct str types[] = { S("stdio"), S("http"), S("streamable-http"),
                                        S("streamableHttp"), S("sse") };

    for (size_t i = 0; i < COUNT(types); i++)
        if (json->type == JSON_STRING && str_eq(json->text, types[i]))
            return OK;
    return refuse(r, json->key, "is none of stdio, http, sse");
}

static enum err on_nothing(const struct reading *, const struct json *)
{
    return OK;
}

/* clang-format off */
static const struct {
    struct str key;
    enum err (*read)(const struct reading *r, const struct json *json);
} members[] = {
    { S("command"),       on_command },
    { S("args"),          on_nothing }, /* with the command */
    { S("env"),           on_env },
    { S("cwd"),           on_cwd },
    { S("url"),           on_url },
    { S("serverUrl"),     on_url },
    { S("headers"),       on_headers },
    { S("type"),          on_type },
    { S("transport"),     on_type },
    { S("disabled"),      on_nothing }, /* looked at before */
    { S("enabled"),       on_nothing },
    { S("name"),          on_nothing },
    { S("description"),   on_nothing },
    { S("autoApprove"),   on_nothing },
    { S("alwaysAllow"),   on_nothing },
    { S("autoStart"),     on_nothing },
    { S("timeout"),       on_nothing },
    { S("gallery"),       on_nothing },
    { S("version"),       on_nothing },
    { S("icon"),          on_nothing },
};
/* clang-format on */

static enum err read_member(const struct reading *r, const struct json *json)
{
    for (size_t i = 0; i < COUNT(members); i++)
        if (str_eq(json->key, members[i].key))
            return members[i].read(r, json);
    return refuse(r, json->key, "is not understood");
}

static bool is_switched_off(const struct json *server)
{
    const struct json *disabled = json_find(server, S("disabled"));
    const struct json *enabled = json_find(server, S("enabled"));

    return (disabled && disabled->type == JSON_TRUE) ||
           (enabled && enabled->type == JSON_FALSE);
}

static enum err read_server(const struct json *json, struct str topic,
                            struct server_spec **ret, char **ret_why)
{
    CLEANUP(server_spec_unrefp) struct server_spec *spec = server_spec_new(json->key);
    struct reading r = { .spec = spec, .server = json, .ret_why = ret_why };
    CLEANUP(xfreep) char *fault = NULL;
    enum err err = OK;

    if (json->type != JSON_OBJECT)
        return refuse(&r, json->key, "must be an object");
    spec->topic = arena_str(&spec->arena, topic);
    JSON_FOREACH(member, json) {
        err = read_member(&r, member);
        if (err)
            return err;
    }
    fault = server_spec_fault(spec);
    if (fault)
        return refuse(&r, json->key, fault);
    *ret = TAKE(spec);
    return OK;
}

static const struct json *servers_of(const struct json *root)
{
    const struct json *servers = json_find(root, S("mcpServers"));

    if (!servers)
        servers = json_find(root, S("servers"));
    if (!servers) /* settings.json of VS Code has it one level deeper */
        servers = json_find(json_find(root, S("mcp")), S("servers"));
    return servers;
}

/* All of them are good, or none is told of. */
static enum err read_all(const struct json *servers, struct str topic,
                         struct server_spec **specs, size_t *ret_count, char **ret_why)
{
    enum err err = OK;

    JSON_FOREACH(server, servers) {
        if (is_switched_off(server))
            continue;
        err = read_server(server, topic, &specs[*ret_count], ret_why);
        if (err)
            return err;
        (*ret_count)++;
    }
    return OK;
}

enum err server_specs_read(struct str json, struct str topic,
                           void (*on_spec)(void *user, struct server_spec *spec),
                           void *user, char **ret_why)
{
    struct server_spec *specs[SERVER_SPECS_MAX];
    CLEANUP(arena_done) struct arena arena;
    const struct json *root, *servers;
    size_t count = 0;
    enum err err;

    arena_init(&arena, (size_t)16 * FILE_BYTES);
    if (json_parse(json, &arena, &root, NULL)) {
        *ret_why = xstrdup("it is no JSON, or has a name twice");
        return ERR_INVALID;
    }
    servers = servers_of(root);
    if (!servers || servers->type != JSON_OBJECT || servers->count > SERVER_SPECS_MAX) {
        *ret_why = xstrdup("it has no object \"mcpServers\" of at most 256 servers");
        return ERR_INVALID;
    }
    err = read_all(servers, topic, specs, &count, ret_why);
    for (size_t i = 0; i < count; i++) {
        if (!err)
            on_spec(user, specs[i]);
        server_spec_unref(specs[i]);
    }
    return err;
}
