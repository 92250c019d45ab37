/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the command line talks to a running server: one request, one answer, over its local
 * socket or, with --server, over HTTP or HTTPS with a token from a file or the
 * environment.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/cli.h"

struct cli_server {
    const char *url;        /* NULL: the local socket of `data` */
    const char *token_file; /* NULL: $MOOT_TOKEN */
    const char *ca;         /* NULL: what the system trusts */
    const char *data;
};

/* Rows of an option table, for a struct with `server`, `token_file`, `ca` and `data`. */
/* clang-format off */
#define CLI_WHERE(type)                                                                          \
    { "--data",       "DIR",  "data directory of the server",               CLI_AT(type, data) },   \
    { "--server",     "URL",  "another server, https://HOST:PORT, with a token of its own", CLI_AT(type, server) }, \
    { "--token-file", "FILE", "the token for --server; else $MOOT_TOKEN",   CLI_AT(type, token_file) }, \
    { "--ca",         "FILE", "https: trust these certificates, not the system's", CLI_AT(type, ca) }
/* clang-format on */

struct cli_answer {
    int status;
    struct buf body;
};

/* ERR_NOT_FOUND: no server runs there. Other failures have been reported on stderr. The
 * caller frees ret->body. */
enum err cli_call(const struct cli_server *server, const char *method, struct str path,
                  struct str body, struct cli_answer *ret);

/* A text as one segment of a path or as a value in a query. */
void cli_put_segment(struct buf *out, struct str text);

/* Reports an answer of 400 or more on stderr: its detail. Returns CLI_FAILED. */
int cli_report(const struct cli_answer *answer);
