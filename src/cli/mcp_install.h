/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry for a server goes into the settings of an MCP client. What else stands there
 * stays as it is, byte for byte; files that are not strictly JSON (comments, commas at
 * the end) are left alone. A copy of what was there is kept beside it.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/mcp_clients.h"

/* The text of the file as it is to be; "" is a file that is not there. ERR_INVALID:
 * `why`. */
enum err mcp_install_merge(struct str text, const struct mcp_client *client,
                           const struct mcp_entry *entry, struct buf *out,
                           struct buf *why);

/* The lines that differ, with what stands around them; nothing where none do. */
void mcp_install_put_diff(struct buf *out, struct str before, struct str after);

/* Shows what would change, asks (unless `is_sure`), writes. An exit code. */
int mcp_install(const struct mcp_client *client, const struct mcp_entry *entry,
                bool is_sure);
