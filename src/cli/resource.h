/* SPDX-License-Identifier: Apache-2.0 */
/* How the commands of the directory ask a gateway: /admin/resources, over its local
 * socket or, with --server, from elsewhere. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/client.h"

enum { RESOURCE_PATH = 64 << 10 };

/* What all of them know. */
struct resource_place {
    const char *data, *server, *token_file, *ca;
};

/* Rows of an option table, for a struct with a `place`. */
/* clang-format off */
#define CLI_RESOURCE_PLACE(type)                                                                          \
    { "--data",       "DIR",  "data directory of the server",                   CLI_AT(type, place.data) },  \
    { "--server",     "URL",  "another server, https://HOST:PORT, with its own token", CLI_AT(type, place.server) }, \
    { "--token-file", "FILE", "the token for --server; else $MOOT_TOKEN",       CLI_AT(type, place.token_file) }, \
    { "--ca",         "FILE", "https: trust these certificates, not the system's", CLI_AT(type, place.ca) }
/* clang-format on */

/* Where the gateway is; `data` is filled in. */
struct cli_server resource_server(const struct resource_place *place, struct buf *data);

/* Asks, and reports on stderr what failed; `id`, or NULL, is the resource that is not
 * there where nothing is found. The caller frees answer->body in any case. */
int resource_ask(const struct resource_place *place, const struct cli_request *request,
                 const char *id, struct cli_answer *answer);

/* /admin/resources/ID. An id that no path can hold is reported: CLI_FAILED. */
int resource_path(struct buf *out, const char *id);

/* By --format, else by the name of the file; NULL of either: not given. CLI_USAGE. */
enum resource_rows { RESOURCE_ROWS_JSONL, RESOURCE_ROWS_CSV };
int resource_format(const char *format, const char *file, enum resource_rows *ret);
struct str resource_media_type(enum resource_rows rows);
