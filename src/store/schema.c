/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file: how it is opened, which version it has and how it gets to ours. Version N is
 * the result of the first N migrations; a migration that was released never changes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "store/store_priv.h"

enum { BUSY_MS = 5000, APPLICATION_ID = 0x4d4f4f54 /* MOOT */ };

static const char *const migrations[] = {
    "PRAGMA application_id = 1297043284;"
    "CREATE TABLE token ("
    "  name TEXT NOT NULL PRIMARY KEY CHECK (length(name) > 0),"
    "  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),"
    "  id TEXT NOT NULL,"
    "  topics TEXT NOT NULL,"
    "  capabilities TEXT NOT NULL,"
    "  profile TEXT NOT NULL,"
    "  type TEXT NOT NULL,"
    "  is_admin INTEGER NOT NULL CHECK (is_admin IN (0, 1)),"
    "  created_ms INTEGER NOT NULL,"
    "  expires_ms INTEGER NOT NULL"
    ") STRICT, WITHOUT ROWID;",
};
_Static_assert(APPLICATION_ID == 1297043284);

/* clang-format off */
static const char *const statements[] = {
    [TOKEN_ADD]    = "INSERT INTO token (name, hash, id, topics, capabilities, profile, type, is_admin,"
                     " created_ms, expires_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    [TOKEN_EACH]   = "SELECT name, hash, id, topics, capabilities, profile, type, is_admin, created_ms,"
                     " expires_ms FROM token ORDER BY created_ms, name",
    [TOKEN_REMOVE] = "DELETE FROM token WHERE name = ?1",
};
/* clang-format on */
_Static_assert(COUNT(statements) == STATEMENT_COUNT);

/* What every connection gets. FULL: what was acknowledged survives a power cut. */
static const char *const pragmas = "PRAGMA journal_mode = WAL;"
                                   "PRAGMA synchronous = FULL;"
                                   "PRAGMA foreign_keys = ON;"
                                   "PRAGMA trusted_schema = OFF;";

static enum err fail(enum err err, char **ret_why, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum err fail(enum err err, char **ret_why, const char *format, ...)
{
    va_list args;

    if (!ret_why)
        return err;
    va_start(args, format);
    if (vasprintf(ret_why, format, args) < 0)
        *ret_why = NULL;
    va_end(args);
    return err;
}

static enum err fail_db(const struct store *store, const char *path, char **ret_why)
{
    return fail(ERR_IO, ret_why, "%s: %s", path,
                store->db ? sqlite3_errmsg(store->db) : "out of memory");
}

/* A single number that a query answers, or -1. */
static int64_t ask(struct store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t answer = -1;

    if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        answer = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return answer;
}

static enum err run(struct store *store, const char *sql)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? OK : ERR_IO;
}

/* A file of ours that we understand, or an empty one. */
static enum err check_version(struct store *store, const char *path, char **ret_why)
{
    int64_t version = ask(store, "PRAGMA user_version");
    int64_t application = ask(store, "PRAGMA application_id");
    int64_t objects = ask(store, "SELECT count(*) FROM sqlite_schema");

    if (version < 0 || application < 0 || objects < 0)
        return fail_db(store, path, ret_why);
    if (application != APPLICATION_ID && (application || version || objects))
        return fail(ERR_CONFLICT, ret_why, "%s: not a store of this program", path);
    if (version > (int64_t)COUNT(migrations))
        return fail(ERR_CONFLICT, ret_why,
                    "%s: made by a newer version of this program (format %lld, known "
                    "are formats up to %zu)",
                    path, (long long)version, COUNT(migrations));
    return OK;
}

static enum err migrate_from(struct store *store, size_t version)
{
    char sql[64];
    enum err err = OK;

    for (size_t i = version; i < COUNT(migrations) && !err; i++)
        err = run(store, migrations[i]);
    if (err)
        return err;
    (void)snprintf(sql, sizeof(sql), "PRAGMA user_version = %zu", COUNT(migrations));
    return run(store, sql);
}

/* All or nothing; the version is read inside, since another process may be at it too. */
static enum err migrate(struct store *store, const char *path, char **ret_why)
{
    enum err err;

    if (run(store, "BEGIN IMMEDIATE"))
        return fail_db(store, path, ret_why);
    err = check_version(store, path, ret_why);
    if (!err && (migrate_from(store, (size_t)ask(store, "PRAGMA user_version")) ||
                 run(store, "COMMIT")))
        err = fail_db(store, path, ret_why);
    if (err)
        (void)run(store, "ROLLBACK");
    return err;
}

/* SQLite gives its -wal and -shm files the mode of the database. */
static enum err create_file(const char *path)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    return fd < 0 ? ERR_IO : OK;
}

enum err schema_open(struct store *store, const char *path, char **ret_why)
{
    enum err err;

    if (create_file(path))
        return fail(ERR_IO, ret_why, "%s: %s", path, strerrordesc_np(errno));
    if (sqlite3_open_v2(path, &store->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return fail_db(store, path, ret_why);
    (void)sqlite3_extended_result_codes(store->db, 1);
    (void)sqlite3_busy_timeout(store->db, BUSY_MS);
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    /* Before the first pragma, which would turn a foreign file to WAL. */
    err = check_version(store, path, ret_why);
    if (err)
        return err;
    if (run(store, pragmas))
        return fail_db(store, path, ret_why);
    err = migrate(store, path, ret_why);
    for (size_t i = 0; i < STATEMENT_COUNT && !err; i++)
        if (sqlite3_prepare_v3(store->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &store->statements[i], NULL) != SQLITE_OK)
            err = fail_db(store, path, ret_why);
    return err;
}

void schema_close(struct store *store)
{
    for (size_t i = 0; i < STATEMENT_COUNT; i++)
        (void)sqlite3_finalize(store->statements[i]);
    (void)sqlite3_close(store->db);
}
