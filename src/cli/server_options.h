/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `moot bridge` and `moot run` are told about a server: where it is, what it may
 * touch, how it is kept running. The same words as `servers:` of the settings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "bridge/spec.h"
#include "cli/cli.h"

struct server_options {
    const char *as, *url, *sandbox, *profile, *network, *folder;
    struct cli_list read, write, hosts, env, secrets, headers, roots;
    const char *memory, *processes;
    const char *mode, *instances, *era, *pin, *idle, *timeout;
    const char *authorize, *delegate, *authorization;
    bool start;
    bool explain, yes;
};

/* Rows of an option table, for a struct with a `struct server_options what`. */
/* clang-format off */
#define CLI_SERVER(type) \
    { "--as",        "NAME",       "whom the server is in the topic",                        CLI_AT(type, what.as) },        \
    { "--url",       "URL",        "a server over HTTP, instead of a command",               CLI_AT(type, what.url) },       \
    { "--sandbox",   "LEVEL",      "strict (default), basic, off",                           CLI_AT(type, what.sandbox) },   \
    { "--profile",   "NAME",       "a ready permit: filesystem, memory, …",                  CLI_AT(type, what.profile) },   \
    { "--read",      "PATH",       "it may read this, and what is below; may be repeated",   CLI_AT(type, what.read) },      \
    { "--write",     "PATH",       "it may read and write this; may be repeated",            CLI_AT(type, what.write) },     \
    { "--network",   "REACH",      "none (default), loopback, hosts; any with --sandbox off", CLI_AT(type, what.network) },  \
    { "--host",      "HOST[:PORT]", "one of the hosts that it may reach; may be repeated",   CLI_AT(type, what.hosts) },     \
    { "--env",       "NAME=VALUE", "a variable of its environment; may be repeated",         CLI_AT(type, what.env) },       \
    { "--secret",    "NAME=FROM",  "a variable from file:PATH or env:NAME; may be repeated", CLI_AT(type, what.secrets) },   \
    { "--header",    "NAME=FROM",  "url: a header, file:PATH, env:NAME or a text",           CLI_AT(type, what.headers) },   \
    { "--root",      "URI",        "what roots/list says; else the permitted paths",         CLI_AT(type, what.roots) },     \
    { "--folder",    "DIR",        "where it starts; else in a folder of its own",           CLI_AT(type, what.folder) },    \
    { "--memory",    "MIB",        "at most so much; default 512",                           CLI_AT(type, what.memory) },    \
    { "--processes", "N",          "at most so many, threads included; default 64",          CLI_AT(type, what.processes) }, \
    { "--mode",      "MODE",       "shared (default), per-caller, pooled",                   CLI_AT(type, what.mode) },      \
    { "--instances", "N",          "pooled: so many; per-caller: at most",                   CLI_AT(type, what.instances) }, \
    { "--era",       "ERA",        "auto (default), legacy, modern",                         CLI_AT(type, what.era) },       \
    { "--pin",       "HOW",        "what is new or changed: hold (default), warn, off",      CLI_AT(type, what.pin) },       \
    { "--authorize", "MODE",       "calls: always-allow (default), always-prompt, delegated", CLI_AT(type, what.authorize) }, \
    { "--delegate",  "ID",         "who decides on them, with --authorize delegated",        CLI_AT(type, what.delegate) },  \
    { "--authorization", "FILE",   "JSON: mode, delegate, timeout_ms and rules of it",       CLI_AT(type, what.authorization) }, \
    { "--idle",      "TIME",       "stop it after so long without a call; 0: never",         CLI_AT(type, what.idle) },      \
    { "--timeout",   "TIME",       "for one call, until progress begins it anew",            CLI_AT(type, what.timeout) },   \
    { "--start",     NULL,         "start it now, not with the first call",                  CLI_AT(type, what.start) },     \
    { "--explain",   NULL,         "say what would be started and what it may touch",        CLI_AT(type, what.explain) },   \
    { "--yes",       NULL,         "do not ask before a command is used for the first time", CLI_AT(type, what.yes) }
/* clang-format on */

/* The words behind the options are the command. What is wrong has been reported on
 * stderr: CLI_USAGE. */
int server_options_read(const struct server_options *options, const char *topic,
                        char **words, size_t count, struct server_spec **ret);

/* Its home below the data directory, which is made where there is none. */
int server_options_settle(struct server_spec *spec, const char *data);

/* Prints what the server would be started as, and what it may touch. */
int server_options_explain(const struct server_spec *spec);

/* Whoever runs this knows the command: approved before, with --yes, or now at the
 * terminal, which is then remembered in `data`. */
int server_options_approve(const struct server_options *options,
                           const struct server_spec *spec, const char *data);
