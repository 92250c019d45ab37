/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of a server cannot say: what needs or excludes what, and defaults that
 * follow from others. What names and addresses may be is judged by those who use them. */
#include <stdio.h>

#include "base/cleanup.h"
#include "config/config_priv.h"

enum { PER_CALLER_AUTO = 16, POOLED_AUTO = 4 };

#define FAIL(reader, where, ...) \
    config_fail((reader)->config, (where), (reader)->problem, __VA_ARGS__)

/* Exactly one of them, and nothing that belongs to the other. */
static enum err check_kind(struct reader *reader, const struct node *node,
                           const struct config_server *server)
{
    static const struct str of_command[] = { S("folder"),  S("env"),   S("secrets"),
                                             S("profile"), S("hosts"), S("read"),
                                             S("write") };
    const struct node *url = node_find(node, S("url"));

    if (!url && server->command.count == 0)
        return FAIL(reader, node->mark, "server needs \"command\" or \"url\"");
    if (url && server->command.count > 0)
        return FAIL(reader, url->key_mark, "server has both \"command\" and \"url\"");
    if (!url && server->headers.count > 0)
        return FAIL(reader, server->headers.items[0].mark, "headers need a url");
    for (size_t i = 0; url && i < COUNT(of_command); i++) {
        const struct node *at = node_find(node, of_command[i]);

        if (at)
            return FAIL(reader, at->key_mark, STR_FMT " is for a command, not for a url",
                        STR_ARG(of_command[i]));
    }
    return OK;
}

/* file:PATH starts at the folder of the file as other paths do. */
static enum err resolve_file(struct reader *reader, const struct node *node,
                             struct config_pair *pair)
{
    struct str path = {};
    char text[4096];
    enum err err =
        resolve_path(reader, node, str_slice(pair->value, 5, pair->value.len), &path);

    if (err)
        return err;
    (void)snprintf(text, sizeof(text), "file:" STR_FMT, STR_ARG(path));
    pair->value = arena_str(&reader->config->arena, str_of(text));
    return pair->value.ptr ? OK : ERR_TOO_BIG;
}

enum plain_values { NO_PLAIN, SOME_PLAIN };

/* Where values come from elsewhere; a plain Authorization would stand in backups. */
static enum err resolve_pairs(struct reader *reader, const struct node *map,
                              struct config_pairs *pairs, enum plain_values plain)
{
    const struct node *node = map ? map->first : NULL;
    struct config_pair *items =
        arena_alloc(&reader->config->arena, (pairs->count + 1) * sizeof(*items));

    if (!items)
        return ERR_TOO_BIG;
    for (size_t i = 0; i < pairs->count && node; i++, node = node->next) {
        bool is_file, is_fine;

        items[i] = pairs->items[i];
        is_file = str_starts(items[i].value, S("file:"));
        is_fine = plain == SOME_PLAIN && !str_ieq(items[i].name, S("Authorization"));
        if (!is_file && !is_fine && !str_starts(items[i].value, S("env:")))
            return FAIL(reader, node->mark, "%s must be file:PATH or env:NAME",
                        SHOWN(items[i].name));
        if (is_file && resolve_file(reader, node, &items[i]))
            return ERR_TOO_BIG;
    }
    pairs->items = items;
    return OK;
}

static void set_network(const struct node *node, struct config_server *server)
{
    if (node_find(node, S("network")))
        return;
    if (server->sandbox == CONFIG_SANDBOX_OFF)
        server->network = CONFIG_NETWORK_ANY;
    else if (server->hosts.count > 0)
        server->network = CONFIG_NETWORK_HOSTS;
}

static enum err check_network(struct reader *reader, const struct node *node,
                              const struct config_server *server)
{
    const struct node *at = node_find(node, S("network"));
    struct config_mark mark = at ? at->mark : node->mark;
    bool is_off = server->sandbox == CONFIG_SANDBOX_OFF;

    if (server->url.len > 0)
        return OK;
    if (is_off != (server->network == CONFIG_NETWORK_ANY))
        return FAIL(reader, mark, "network: any and sandbox: off go together");
    if (server->sandbox == CONFIG_SANDBOX_BASIC && server->network != CONFIG_NETWORK_NONE)
        return FAIL(reader, mark, "sandbox: basic has network: none alone");
    if ((server->network == CONFIG_NETWORK_HOSTS) != (server->hosts.count > 0))
        return FAIL(reader, mark, "hosts and network: hosts go together");
    return OK;
}

static enum err check_mode(struct reader *reader, const struct node *node,
                           struct config_server *server)
{
    const struct node *at = node_find(node, S("instances"));

    if (server->mode == CONFIG_SERVER_SHARED && server->instances > 0)
        return FAIL(reader, at->mark, "instances need mode: per-caller or pooled");
    if (server->mode == CONFIG_SERVER_PER_CALLER && server->instances == 0)
        server->instances = PER_CALLER_AUTO;
    if (server->mode == CONFIG_SERVER_POOLED && server->instances == 0)
        server->instances = POOLED_AUTO;
    return OK;
}

enum err check_server(struct reader *reader, const struct node *node, void *object)
{
    struct config_server *server = object;
    enum err err = check_kind(reader, node, server);

    if (err)
        return err;
    if (server->as.len == 0)
        server->as = server->name;
    set_network(node, server);
    err = check_network(reader, node, server);
    if (!err)
        err = check_mode(reader, node, server);
    if (!err)
        err = resolve_pairs(reader, node_find(node, S("secrets")), &server->secrets,
                            NO_PLAIN);
    if (err)
        return err;
    return resolve_pairs(reader, node_find(node, S("headers")), &server->headers,
                         SOME_PLAIN);
}
