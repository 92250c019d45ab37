/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How commands ask a gateway about its MCP servers: /admin/servers, over its local socket
 * or, with --server, from elsewhere.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/client.h"

struct servers_options {
    const char *data, *server, *token_file, *ca;
    const char *lines;
    bool follow, json;
};

/* Where the gateway is; `data` is filled in. */
struct cli_server servers_place(const struct servers_options *options, struct buf *data);

/* /admin/servers/NAME or, with `what`, what stands below. */
void servers_path(struct buf *out, const char *name, const char *what);

/* Asks, and reports on stderr what failed; `name`, or NULL, is the server that is not
 * there where nothing is found. The caller frees answer->body in any case. */
int servers_ask(const struct cli_server *server, const char *name, const char *method,
                struct str path, struct str body, struct cli_answer *answer);

/* Has the server of that name do `what`: "/start", "/stop", "/restart"; "": go. */
int servers_act(const struct cli_server *server, const char *name, const char *what);

/* moot tools --server NAME. */
struct servers_tools_options {
    const char *name;    /* of the MCP server */
    const char *approve; /* a tool, or "" for all; NULL: nothing */
    bool is_sure, json;
};

/* What it offers, and what is held. What is approved is what was shown before. */
int servers_show_tools(const struct cli_server *server,
                       const struct servers_tools_options *options);
