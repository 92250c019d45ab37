/* SPDX-License-Identifier: Apache-2.0 */
/* MCP servers that sit in topics of the gateway: what the configuration says of them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "config/mark.h"

enum config_sandbox { CONFIG_SANDBOX_STRICT, CONFIG_SANDBOX_BASIC, CONFIG_SANDBOX_OFF };
enum config_network {
    CONFIG_NETWORK_NONE,
    CONFIG_NETWORK_LOOPBACK,
    CONFIG_NETWORK_HOSTS,
    CONFIG_NETWORK_ANY
};
enum config_server_mode {
    CONFIG_SERVER_SHARED,
    CONFIG_SERVER_PER_CALLER,
    CONFIG_SERVER_POOLED
};
enum config_era { CONFIG_ERA_AUTO, CONFIG_ERA_LEGACY, CONFIG_ERA_MODERN };
enum config_pin { CONFIG_PIN_HOLD, CONFIG_PIN_WARN, CONFIG_PIN_OFF };

enum config_gate {
    CONFIG_GATE_ALWAYS_ALLOW,
    CONFIG_GATE_ALWAYS_PROMPT,
    CONFIG_GATE_SELECTIVE,
    CONFIG_GATE_DELEGATED
};
enum config_then {
    CONFIG_THEN_ALLOW,
    CONFIG_THEN_PROMPT,
    CONFIG_THEN_DELEGATE,
    CONFIG_THEN_DENY
};

/* Who authorizes calls of its tools. */
struct config_gate_rule {
    struct config_mark mark;
    struct str name; /* "" */
    struct str tool, caller;
    struct str arguments; /* JSON, or "" */
    enum config_then then;
};
struct config_gate_rules {
    const struct config_gate_rule *items;
    size_t count;
};
struct config_authorization {
    enum config_gate mode;
    struct str delegate;
    uint64_t timeout_ms;
    struct config_gate_rules rules;
};

/* NAME: VALUE, where the value is a text, file:PATH or env:NAME. */
struct config_pair {
    struct config_mark mark;
    struct str name;
    struct str value;
};
struct config_pairs {
    const struct config_pair *items;
    size_t count;
};

struct config_server {
    struct config_mark mark;
    struct str name;
    struct str topic;
    struct config_mark topic_mark;
    struct str as; /* the participant's id; "": the name */
    struct config_strs command;
    struct str url;
    struct config_mark url_mark;
    struct str folder;
    struct config_pairs env;     /* plain values */
    struct config_pairs secrets; /* file:PATH or env:NAME alone */
    struct config_pairs headers;
    struct str oauth_client_id, oauth_client_secret_file, oauth_metadata_url;
    struct str oauth_scopes;
    enum config_sandbox sandbox;
    struct str profile;
    enum config_network network;
    struct config_strs hosts, read, write, roots;
    size_t memory, processes, files;
    size_t cpu; /* per cent of one core */
    size_t uid; /* 0: one of its own, from 64001 on */
    enum config_server_mode mode;
    size_t instances;
    enum config_era era;
    enum config_pin pin;
    struct config_authorization authorization;
    bool start; /* now, not with the first call */
    uint64_t idle_ms, timeout_ms, open_timeout_ms;
    struct config_strs capabilities; /* besides the profile `bridge` */
};

struct config_servers {
    const struct config_server *items;
    size_t count;
};

/* `mcpServers` of another program, as they stand. */
struct config_mcp_file {
    struct config_mark mark;
    struct str name; /* "" */
    struct str file;
    struct str topic;
};
struct config_mcp_files {
    const struct config_mcp_file *items;
    size_t count;
};

/* Where packages of servers (npx, uvx) are installed from; "": not said. */
struct config_packages {
    struct str npm_registry, pypi_index, ca;
    struct config_mark npm_registry_mark, pypi_index_mark, ca_mark;
};
