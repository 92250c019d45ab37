/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of `servers`, `mcp_servers` and `packages`. */
#include "base/cleanup.h"
#include "config/config_priv.h"

static const char *const sandboxes[] = { "strict", "basic", "off", NULL };
static const char *const networks[] = { "none", "loopback", "hosts", "any", NULL };
static const char *const modes[] = { "shared", "per-caller", "pooled", NULL };
static const char *const eras[] = { "auto", "legacy", "modern", NULL };
static const char *const pins[] = { "hold", "warn", "off", NULL };

static const char *const gates[] = { "always-allow", "always-prompt", "selective",
                                     "delegated", NULL };
static const char *const thens[] = { "allow", "prompt", "delegate", "deny", NULL };

/* clang-format off */
#define T(member, sort) ROW(struct config_gate_rule, member, sort)
static const struct option gate_rule_options[] = {
    { T(tool,      OPTION_TEXT),                                                  .help = "pattern over the names of tools; any when not given" },
    { T(caller,    OPTION_TEXT),                                                  .help = "pattern over the ids of callers; any when not given" },
    { T(arguments, OPTION_OBJECT),                                                .help = "conditions on the arguments, as those on a payload in a capability" },
    { T(then,      OPTION_CHOICE), .is_required = true, .choices = thens,         .help = "what becomes of such a call" },
};
#undef T
static const struct schema gate_rule_schema = SCHEMA(struct config_gate_rule, gate_rule_options, "rule", NULL);

#define T(member, sort) ROW(struct config_authorization, member, sort)
static const struct option authorization_options[] = {
    { T(mode,     OPTION_CHOICE), .preset = "always-allow", .choices = gates,     .help = "which calls of its tools somebody must authorize first: none but what tools ask for themselves, all, what the rules say, or all by the delegate" },
    { T(delegate, OPTION_TEXT),                                                   .help = "participant who alone decides on what is delegated, as long as he is in the room" },
    { ROW_MS(struct config_authorization, timeout), .preset = "5m", .min = "1s", .max = "24h", .help = "time for a decision; a tool may ask for less" },
    { T(rules,    OPTION_LIST), .schema = &gate_rule_schema,                      .help = "for mode: selective; the first that fits counts, and what none fits is allowed" },
};
#undef T
static const struct schema authorization_schema = SCHEMA(struct config_authorization, authorization_options, "authorization", NULL);

#define T(member, sort) ROW(struct config_server, member, sort)
#define MS(member)      ROW_MS(struct config_server, member)
static const struct option server_options[] = {
    { T(topic,        OPTION_TEXT),   .is_required = true, .mark = offsetof(struct config_server, topic_mark), .help = "room in which it sits" },
    { T(as,           OPTION_TEXT),                                                          .help = "participant id; its name when not given" },
    { T(command,      OPTION_TEXTS),                                                         .help = "words that start it: an MCP server that talks over its standard input and output" },
    { T(url,          OPTION_TEXT),   .mark = offsetof(struct config_server, url_mark),      .help = "http:// or https:// of one that is reached, instead of command" },
    { T(folder,       OPTION_PATH),                                                          .help = "folder in which the command starts; a fresh empty one when not given" },
    { T(env,          OPTION_PAIRS),                                                         .help = "variables of its environment, which has no others but PATH, HOME, LANG and TMPDIR" },
    { T(secrets,      OPTION_PAIRS),                                                         .help = "the same from elsewhere, read when it starts: NAME: file:PATH or NAME: env:NAME" },
    { T(headers,      OPTION_PAIRS),                                                         .help = "header fields for url: a text, file:PATH or env:NAME; Authorization not as text" },
    { T(oauth_client_id,          OPTION_TEXT),                                              .help = "client id at its authorization server; registered when not given" },
    { T(oauth_client_secret_file, OPTION_PATH),                                              .help = "file with the secret that belongs to that id" },
    { T(oauth_metadata_url,       OPTION_TEXT),                                              .help = "https:// of a client metadata document, used as client id" },
    { T(oauth_scopes,             OPTION_TEXT),                                              .help = "scopes to ask for, separated by spaces; what the server names when not given" },
    { T(sandbox,      OPTION_CHOICE), .preset = "strict", .choices = sandboxes,              .help = "confinement of the command: bubblewrap; Landlock and a filter without network; or none" },
    { T(profile,      OPTION_TEXT),                                                          .help = "ready permissions of a well-known server, such as filesystem; found by its package when not given" },
    { T(network,      OPTION_CHOICE), .preset = "none",   .choices = networks,               .help = "what it reaches: nothing, itself, the named hosts through a proxy, or anything (sandbox: off alone, and then the default)" },
    { T(hosts,        OPTION_TEXTS),                                                         .help = "hosts that it may reach: HOST, HOST:PORT or *.DOMAIN; implies network: hosts" },
    { T(read,         OPTION_PATHS),                                                         .help = "files and folders that it may read, besides programs and libraries" },
    { T(write,        OPTION_PATHS),                                                         .help = "files and folders that it may change, besides a folder of its own" },
    { T(roots,        OPTION_TEXTS),                                                         .help = "file:// URIs told to it as roots; what it may read and write when not given" },
    { T(memory,       OPTION_SIZE),   .preset = "512MiB", .min = "16MiB", .max = "1048576GiB", .help = "memory of it and all that it starts" },
    { T(processes,    OPTION_COUNT),  .preset = "64",     .min = "1",     .max = "65536",    .help = "processes and threads" },
    { T(files,        OPTION_COUNT),  .preset = "256",    .min = "16",    .max = "65536",    .help = "open files of one process" },
    { T(cpu,          OPTION_COUNT),  .preset = "100",    .min = "1",     .max = "100000",   .help = "per cent of one core, where there are control groups" },
    { T(uid,          OPTION_COUNT),  .preset = "auto",   .min = "1",     .max = "4294967294", .word = "auto", .help = "user that it becomes when the gateway is started by root; auto is one of its own from 64001 on" },
    { T(mode,         OPTION_CHOICE), .preset = "shared", .choices = modes,                  .help = "one process for all; one for each caller; or several, each with one call at a time" },
    { T(instances,    OPTION_COUNT),  .preset = "auto",   .min = "1",     .max = "64", .word = "auto", .help = "how many: per-caller at most (auto is 16), pooled (auto is 4)" },
    { T(era,          OPTION_CHOICE), .preset = "auto",   .choices = eras,                   .help = "revision of MCP: found out, 2025-11-25 and older, or 2026-07-28" },
    { T(pin,          OPTION_CHOICE), .preset = "hold",   .choices = pins,                   .help = "what it offers and nobody has seen, new or changed: held until approved, shown and told, or shown" },
    { T(authorization, OPTION_SECTION), .schema = &authorization_schema,                     .help = "who authorizes calls of its tools" },
    { T(start,        OPTION_BOOL),   .preset = "false",                                     .help = "start with the gateway, not with the first call" },
    { MS(idle),                       .preset = "10m",    .min = "0",     .max = "876000h",  .help = "time without a call before it is stopped; 0 is never" },
    { MS(timeout),                    .preset = "60s",    .min = "100ms", .max = "24h",      .help = "time for a call; progress begins it anew" },
    { MS(open_timeout),               .preset = "30s",    .min = "100ms", .max = "1h",       .help = "time to become ready" },
    { T(capabilities, OPTION_RIGHTS),                                                        .help = "what it may send besides the profile bridge; as in tokens" },
};
#undef MS
#undef T

#define T(member, sort) ROW(struct config_mcp_file, member, sort)
static const struct option mcp_file_options[] = {
    { T(file,  OPTION_PATH), .is_required = true, .help = "JSON with mcpServers (or servers), as other programs write it; env and headers stay in it" },
    { T(topic, OPTION_TEXT), .is_required = true, .help = "room in which its servers sit" },
};
#undef T

#define T(member, sort) ROW(struct config_packages, member, sort)
#define MARK(member)    .mark = offsetof(struct config_packages, member)
static const struct option package_options[] = {
    { T(npm_registry, OPTION_TEXT), MARK(npm_registry_mark), .help = "registry for npx: https://HOST/…, which may have a private address; what npm is set to, or the public one, when not given" },
    { T(pypi_index,   OPTION_TEXT), MARK(pypi_index_mark),   .help = "the same for uvx: https://HOST/simple/; what pip is set to, or the public one, when not given" },
    { T(ca,           OPTION_PATH), MARK(ca_mark),           .help = "file of certificates that are trusted while packages are installed; NODE_EXTRA_CA_CERTS, cafile of npm or PIP_CERT when not given" },
};
#undef MARK
#undef T
/* clang-format on */

const struct schema server_schema =
    SCHEMA(struct config_server, server_options, "server", check_server);
const struct schema mcp_file_schema =
    SCHEMA(struct config_mcp_file, mcp_file_options, "entry of mcp_servers", NULL);
const struct schema package_schema =
    SCHEMA(struct config_packages, package_options, "packages", NULL);
