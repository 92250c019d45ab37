/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where `moot audit` reads the record, whichever it is: the running server, its data
 * directory while no server runs, a copy of audit.db, or an export (a file, or standard
 * input). The commands see records, and never ask where from.
 *
 * What fails is kept; audit_source_fail() reports it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/line.h"
#include "audit/query.h"
#include "cli/client.h"

struct audit_place {
    const char *server, *token_file, *ca, *data;
    const char *config; /* settings of the gateway: they may name a database */
    const char *file;   /* NULL: the server, else the data directory */
};

/* Rows of an option table, for a struct with a `struct audit_place place`, or with one
 * that is called otherwise. */
/* clang-format off */
#define CLI_AUDIT_PLACE(type) CLI_AUDIT_PLACE_OF(type, place)
#define CLI_AUDIT_PLACE_OF(type, at)                                                                              \
    { "--file",       "FILE", "read a copy of audit.db or an export; - for standard input", CLI_AT(type, at.file) }, \
    { "--data",       "DIR",  "data directory of the server",               CLI_AT(type, at.data) },              \
    { "--config",     "FILE", "settings of the server, where its store is PostgreSQL", CLI_AT(type, at.config) },        \
    { "--server",     "URL",  "another server, https://HOST:PORT, with its own token", CLI_AT(type, at.server) }, \
    { "--token-file", "FILE", "the token for --server; else $MOOT_TOKEN",   CLI_AT(type, at.token_file) },        \
    { "--ca",         "FILE", "https: trust these certificates, not the system's", CLI_AT(type, at.ca) }
/* clang-format on */

struct audit_source;

/* Exit codes; what is wrong has been reported. */
int audit_source_open(const struct audit_place *place, struct audit_source **ret);

/* The same, without asking a server: what is there, be it in use or not. */
int audit_source_open_offline(const struct audit_place *place, struct audit_source **ret);
void audit_source_close(struct audit_source *source);

/* Called for each until it says false. ERR_INVALID: what came is not what it should be.
 * ERR_IO. What came before is good. */
enum err audit_source_records(struct audit_source *source,
                              const struct audit_query *query,
                              bool (*on_record)(void *user, const struct audit_record *),
                              void *user);

/* All there is, as an export has it: the origin, then records with the checkpoints behind
 * them. */
struct audit_sink {
    bool (*on_origin)(void *user, const struct audit_origin *origin);
    bool (*on_record)(void *user, const struct audit_record *record);
    bool (*on_checkpoint)(void *user, const struct audit_checkpoint *checkpoint);
    void *user;
};
enum err audit_source_all(struct audit_source *source, const struct audit_sink *sink);

/* How far the chain goes. */
enum err audit_source_head(struct audit_source *source, struct audit_head *ret);

/* Of what is being read: bytes or records; 0: nobody knows. */
void audit_source_progress(struct audit_source *source, uint64_t *ret_done,
                           uint64_t *ret_total);

/* "/var/lib/moot/audit.db", "https://…", "standard input": for people. */
const char *audit_source_name(const struct audit_source *source);

/* What went wrong last; "": it has been reported already. */
const char *audit_source_problem(const struct audit_source *source);
int audit_source_fail(const struct audit_source *source);
