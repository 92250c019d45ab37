/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MCP clients whose settings we know: where these are, and what one of their servers
 * looks like in them. Tokens never stand there: the command that is started reads a file,
 * a client that goes to a URL takes them out of its environment.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/json.h"

enum mcp_client_format { CLIENT_JSON, CLIENT_TOML };

struct mcp_client {
    struct str name;  /* "claude-code" */
    struct str title; /* for people */
    struct str path;  /* of the file: "~/…", or relative: of the project */
    enum mcp_client_format format;
    struct str holder;     /* the member, or the table, that all servers are in */
    struct str stdio_type; /* `type` of a command, or "" */
    struct str url_member; /* "": it takes commands alone */
    struct str url_type;   /* `type` of a URL, or "" */
    struct str token;      /* how it says that a token is in $MOOT_TOKEN; "": it cannot */
};

/* What is to stand there. */
struct mcp_entry {
    struct str name;
    struct str command;
    struct str_list arguments;
    struct str url; /* in place of the two; "": none */
    bool has_token; /* … which wants one */
};

const struct mcp_client *mcp_client_find(struct str name); /* or NULL */
const struct mcp_client *mcp_client_next(const struct mcp_client *after);
/* "claude-desktop, claude-code, …" */
void mcp_client_put_names(struct buf *out);

/* NULL, or why it cannot have this: goes on from its title. */
const char *mcp_client_fault(const struct mcp_client *client,
                             const struct mcp_entry *entry);

/* The value of one server, JSON, whose first line stands after `margin` blanks. */
void mcp_client_put_entry(struct buf *out, const struct mcp_client *client,
                          const struct mcp_entry *entry, size_t margin);
/* What stands before it, in a file that has other members. */
void mcp_client_put_margin(struct buf *out, size_t margin);
void mcp_client_put_key(struct buf *out, struct str key);
/* A whole file that has nothing else. */
void mcp_client_put_file(struct buf *out, const struct mcp_client *client,
                         const struct mcp_entry *entry);
