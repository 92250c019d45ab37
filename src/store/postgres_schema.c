/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The schema `moot`: who may write it, which version it has and how it gets to ours.
 * Version N is the result of the first N migrations; a migration that was released never
 * changes.
 *
 * The writer's lock belongs to its session: while the server still works on what a lost
 * connection has sent, nobody else gets it. So whoever has it sees how that ended.
 */
#include "base/cleanup.h"
#include "base/log.h"
#include "store/postgres_priv.h"

enum { MIGRATE_WAIT_MS = 3600 * 1000 };

/* "moot" in both halves: of the locks of this database, which others may use as well. */
enum { LOCK_CLASS = 0x6d6f6f74, LOCK_OBJECT = 0x6d6f6f74 };

/* Texts are bytea: see postgres_priv.h. They are of any length, and an index is not: it
 * has their hashes. A time range is a range of seq, by record_at. The two indexes of
 * bodies serve retention: oldest first, of one topic and of all. */
static const char *const migrations[] = {
    "CREATE SCHEMA IF NOT EXISTS moot;"
    "CREATE TABLE moot.format (program text NOT NULL, version bigint NOT NULL);"
    "INSERT INTO moot.format VALUES ('moot', 0);"
    "CREATE TABLE moot.token ("
    "  name bytea NOT NULL CHECK (length(name) > 0),"
    "  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),"
    "  id bytea NOT NULL,"
    "  topics bytea NOT NULL,"
    "  capabilities bytea NOT NULL,"
    "  profile bytea NOT NULL,"
    "  type bytea NOT NULL,"
    "  is_admin boolean NOT NULL,"
    "  created_ms bigint NOT NULL,"
    "  expires_ms bigint NOT NULL);"
    "CREATE UNIQUE INDEX token_name ON moot.token (sha256(name));"
    "CREATE TABLE moot.item ("
    "  section text NOT NULL,"
    "  topic bytea NOT NULL,"
    "  key bytea NOT NULL,"
    "  value bytea NOT NULL,"
    "  name bytea NOT NULL GENERATED ALWAYS AS (sha256(sha256(topic) || key)) STORED,"
    "  PRIMARY KEY (section, name));"
    "CREATE TABLE moot.origin ("
    "  one boolean NOT NULL PRIMARY KEY DEFAULT true CHECK (one),"
    "  installation bytea NOT NULL,"
    "  public_key bytea NOT NULL CHECK (length(public_key) = 32));"
    "CREATE TABLE moot.record ("
    "  seq bigint NOT NULL PRIMARY KEY CHECK (seq > 0),"
    "  at_ms bigint NOT NULL,"
    "  event smallint NOT NULL,"
    "  topic bytea NOT NULL,"
    "  participant bytea NOT NULL,"
    "  kind bytea NOT NULL,"
    "  id bytea NOT NULL,"
    "  correlation bytea NOT NULL,"
    "  verdict bytea NOT NULL,"
    "  by bytea NOT NULL,"
    "  body bytea,"
    "  body_bytes bigint NOT NULL,"
    "  body_hash bytea NOT NULL CHECK (length(body_hash) = 32),"
    "  hash bytea NOT NULL CHECK (length(hash) = 32),"
    "  words tsvector NOT NULL);"
    "CREATE INDEX record_at ON moot.record (at_ms, seq);"
    "CREATE INDEX record_words ON moot.record USING gin (words);"
    "CREATE INDEX record_body ON moot.record (seq) INCLUDE (at_ms, body_bytes)"
    "  WHERE body IS NOT NULL;"
    "CREATE INDEX record_topic_body ON moot.record (sha256(topic), seq)"
    "  INCLUDE (at_ms, body_bytes) WHERE body IS NOT NULL;"
    "CREATE TABLE moot.checkpoint ("
    "  seq bigint NOT NULL PRIMARY KEY CHECK (seq > 0),"
    "  at_ms bigint NOT NULL,"
    "  hash bytea NOT NULL CHECK (length(hash) = 32),"
    "  signature bytea NOT NULL CHECK (length(signature) = 64));",

    /* The directory. The marks are those of directory/match.h; searches walk along the
     * ranks past the JSON, which is kept elsewhere where it is long. */
    "CREATE TABLE moot.resource ("
    "  id bytea NOT NULL PRIMARY KEY CHECK (length(id) BETWEEN 1 AND 256),"
    "  rank bigint NOT NULL,"
    "  hourly bigint,"
    "  updated_ms bigint NOT NULL,"
    "  json bytea NOT NULL,"
    "  marks tsvector NOT NULL);"
    "ALTER TABLE moot.resource ALTER COLUMN json SET STORAGE EXTERNAL,"
    "  ALTER COLUMN marks SET STORAGE MAIN;"
    "CREATE INDEX resource_rank ON moot.resource (rank);"
    "CREATE INDEX resource_marks ON moot.resource USING gin (marks);",
};

/* --- the lock --- */

static void add_lock(struct postgres_args *args)
{
    postgres_arg_number(args, (uint64_t)LOCK_CLASS << 32 | LOCK_OBJECT);
}

/* Says who has it, as far as the server tells. */
static enum err tell_holder(struct postgres *pg)
{
    static const char *const question =
        "SELECT coalesce(host(a.client_addr), 'this machine')::text, a.pid::text"
        " FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid"
        " WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1"
        " AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        " AND (l.classid::bigint << 32 | l.objid::bigint) = $1::bigint";
    struct postgres_args args = {};
    PGresult *r = NULL;
    struct str from = S("somewhere"), pid = S("unknown");

    add_lock(&args);
    if (postgres_ask(pg, question, &args, &r) == OK && pg->pq.PQntuples(r) > 0) {
        from = postgres_bytes(pg, r, 0, 0);
        pid = postgres_bytes(pg, r, 0, 1);
    }
    (void)postgres_fail(pg, ERR_CONFLICT,
                        "another gateway uses this database (connected from " STR_FMT
                        ", server process " STR_FMT ")",
                        STR_ARG(from), STR_ARG(pid));
    postgres_clear(pg, r);
    return ERR_CONFLICT;
}

/* Waits as long as lock_timeout says: a gateway that has just died may still have it. */
static enum err take_lock(struct postgres *pg)
{
    struct postgres_args args = {};
    enum err err;

    add_lock(&args);
    err = postgres_ask(pg, "SELECT pg_advisory_lock($1::bigint)", &args, NULL);
    if (err && !pg->is_lost && strstr(pg->engine.problem, "55P03"))
        return tell_holder(pg);
    return err;
}

/* --- the version --- */

static enum err read_version(struct postgres *pg, uint64_t *ret)
{
    PGresult *r = NULL;
    enum err err =
        postgres_ask(pg, "SELECT version, program = 'moot' FROM moot.format", NULL, &r);

    if (err)
        return err;
    if (pg->pq.PQntuples(r) != 1 || !postgres_bool(pg, r, 0, 1))
        err =
            postgres_fail(pg, ERR_CONFLICT, "the schema moot belongs to another program");
    else
        *ret = postgres_number(pg, r, 0, 0);
    postgres_clear(pg, r);
    return err;
}

/* 0: there is nothing yet, or an empty schema that an administrator has made. */
static enum err find_version(struct postgres *pg, uint64_t *ret)
{
    static const char *const question =
        "SELECT to_regclass('moot.format') IS NOT NULL, count(*)"
        " FROM pg_class WHERE relnamespace = to_regnamespace('moot')";
    PGresult *r = NULL;
    enum err err = postgres_ask(pg, question, NULL, &r);
    bool has_format, is_empty;

    if (err)
        return err;
    has_format = postgres_bool(pg, r, 0, 0);
    is_empty = postgres_number(pg, r, 0, 1) == 0;
    postgres_clear(pg, r);
    if (has_format)
        return read_version(pg, ret);
    if (!is_empty)
        return postgres_fail(pg, ERR_CONFLICT,
                             "the schema moot belongs to another program");
    *ret = 0;
    return OK;
}

static enum err check_version(struct postgres *pg, uint64_t *ret)
{
    enum err err = find_version(pg, ret);

    if (!err && *ret > COUNT(migrations))
        err = postgres_fail(pg, ERR_CONFLICT,
                            "made by a newer version of this program (format %llu, known "
                            "are formats up to %zu)",
                            (unsigned long long)*ret, COUNT(migrations));
    return err;
}

static enum err migrate(struct postgres *pg, uint64_t version)
{
    uint64_t wait_ms = pg->wait_ms;
    enum err err = OK;

    pg->wait_ms = MIGRATE_WAIT_MS;
    for (size_t i = version; i < COUNT(migrations) && !err; i++) {
        struct postgres_args args = {};

        err = postgres_run(pg, "BEGIN");
        if (!err)
            err = postgres_run(pg, migrations[i]);
        postgres_arg_number(&args, i + 1);
        if (!err)
            err = postgres_ask(pg, "UPDATE moot.format SET version = $1", &args, NULL);
        if (!err)
            err = postgres_run(pg, "COMMIT");
    }
    pg->wait_ms = wait_ms;
    return err;
}

/* It is the administrator's choice, who should know it. */
static void warn_of_fsync(struct postgres *pg)
{
    PGresult *r = NULL;

    if (postgres_ask(pg, "SELECT current_setting('fsync') = 'off'", NULL, &r) == OK &&
        postgres_bool(pg, r, 0, 0))
        log_warn("store.unsafe", "reason=\"PostgreSQL runs with fsync=off: what it has "
                                 "acknowledged may be lost\"");
    postgres_clear(pg, r);
}

enum err postgres_schema_open(struct postgres *pg, enum engine_role role)
{
    uint64_t version = 0;
    enum err err = role == ENGINE_WRITER ? take_lock(pg) : OK;

    if (!err)
        err = check_version(pg, &version);
    if (err)
        return err;
    if (role != ENGINE_WRITER)
        return version == COUNT(migrations)
                   ? OK
                   : postgres_fail(pg, ERR_IO,
                                   version
                                       ? "made by an older version of this program; "
                                         "a gateway brings it up to date when it starts"
                                       : "it holds no store yet");
    err = migrate(pg, version);
    if (!err)
        warn_of_fsync(pg);
    return err;
}
