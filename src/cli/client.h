/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the command line talks to a running server: one request, one answer, over its local
 * socket or, with --server, over HTTP or HTTPS with a token from a file or the
 * environment. An answer is taken whole, or piece by piece as it comes.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/cli.h"

struct cli_server {
    const char *url;        /* NULL: the local socket of `data` */
    const char *token_file; /* NULL: $MOOT_TOKEN */
    struct str token;       /* "": one of these two */
    const char *ca;         /* NULL: what the system trusts */
    const char *data;
};

/* Rows of an option table, for a struct with `server`, `token_file`, `ca` and `data`. */
/* clang-format off */
#define CLI_WHERE(type)                                                                          \
    { "--data",       "DIR",  "data directory of the server",               CLI_AT(type, data) },   \
    { "--server",     "URL",  "another server, https://HOST:PORT, with its own token", CLI_AT(type, server) }, \
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

/* What is asked, and who takes what comes back. */
struct cli_request {
    const char *method;
    struct str path;
    struct str body;
    struct str type;   /* of the body; "": JSON */
    struct str accept; /* "": anything */
    int patience_ms;   /* with a silent server; 0: the usual */
    /* Pieces of the body of an answer below 300; false: that was enough. NULL: they are
     * kept in the answer, as those of all other answers are. */
    bool (*on_bytes)(void *user, struct str piece);
    /* A body that is too long to be kept: puts the next piece, up to CLI_PIECE bytes, or
     * none at the end. False: there will be no end, and the request is broken off. NULL:
     * `body` is all of it. */
    bool (*on_upload)(void *user, struct buf *piece);
    void *user;
};

enum { CLI_PIECE = 64 << 10 };

/* As cli_call(). That on_bytes had enough is no failure. */
enum err cli_stream(const struct cli_server *server, const struct cli_request *request,
                    struct cli_answer *ret);

/* A text as one segment of a path or as a value in a query. */
void cli_put_segment(struct buf *out, struct str text);

/* Reports an answer of 400 or more on stderr: its detail. Returns CLI_FAILED. */
int cli_report(const struct cli_answer *answer);
