/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files: which version they have and how they get to ours. Version N of a file is the
 * result of its first N migrations; a migration that was released never changes. Each
 * file is migrated through a connection of its own, where it is the main one.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/sqlite_priv.h"
#include "store/store_priv.h"

enum { BUSY_MS = 5000 };

static const char *const state_migrations[] = {
    "PRAGMA application_id = 1297043284;" /* MOOT */
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

    "CREATE TABLE item ("
    "  section TEXT NOT NULL,"
    "  topic TEXT NOT NULL,"
    "  key TEXT NOT NULL,"
    "  value TEXT NOT NULL,"
    "  PRIMARY KEY (section, topic, key)"
    ") STRICT, WITHOUT ROWID;",
};

/* Bodies stand apart, so that removing them gives whole pages back. Both tables grow at
 * their end only; there is no further index to keep. */
static const char *const record_migrations[] = {
    "PRAGMA application_id = 1297043265;" /* MOOA */
    "CREATE TABLE origin ("
    "  id INTEGER PRIMARY KEY CHECK (id = 1),"
    "  installation TEXT NOT NULL,"
    "  public_key BLOB NOT NULL"
    ") STRICT;"
    "CREATE TABLE record ("
    "  seq INTEGER PRIMARY KEY,"
    "  at_ms INTEGER NOT NULL,"
    "  event INTEGER NOT NULL,"
    "  topic TEXT NOT NULL,"
    "  participant TEXT NOT NULL,"
    "  kind TEXT NOT NULL,"
    "  id TEXT NOT NULL,"
    "  correlation TEXT NOT NULL,"
    "  verdict TEXT NOT NULL,"
    "  decided_by TEXT NOT NULL,"
    "  body_bytes INTEGER NOT NULL,"
    "  body_hash BLOB NOT NULL,"
    "  hash BLOB NOT NULL"
    ") STRICT;"
    "CREATE TABLE body ("
    "  seq INTEGER PRIMARY KEY,"
    "  text TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE tally (" /* see sqlite_strip.c */
    "  rule TEXT NOT NULL PRIMARY KEY,"
    "  done_seq INTEGER NOT NULL,"
    "  counted_seq INTEGER NOT NULL,"
    "  bytes INTEGER NOT NULL"
    ") STRICT, WITHOUT ROWID;"
    "CREATE TABLE checkpoint ("
    "  seq INTEGER PRIMARY KEY,"
    "  at_ms INTEGER NOT NULL,"
    "  hash BLOB NOT NULL,"
    "  signature BLOB NOT NULL"
    ") STRICT;",
};

/* The places are apart from the resources, whose order is that of their coming: ranks are
 * scattered, and with them the pages that a batch would touch. `found` has the marks of
 * directory/match.h, by rank, and no copy of them; `word` has the words that were ever in
 * them, to tell what a beginning may mean. */
static const char *const directory_migrations[] = {
    "PRAGMA application_id = 1297043268;" /* MOOD */
    "CREATE TABLE resource ("
    "  seq INTEGER PRIMARY KEY,"
    "  id TEXT NOT NULL UNIQUE,"
    "  rank INTEGER NOT NULL,"
    "  updated_ms INTEGER NOT NULL,"
    "  json TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE place ("
    "  rank INTEGER PRIMARY KEY,"
    "  seq INTEGER NOT NULL,"
    "  hourly INTEGER"
    ") STRICT;"
    "CREATE TABLE word (word TEXT NOT NULL PRIMARY KEY) STRICT, WITHOUT ROWID;"
    "CREATE VIRTUAL TABLE found USING fts5(marks, content='', detail=none, columnsize=0,"
    " tokenize=\"ascii tokenchars '+#'\");"
    "INSERT INTO found(found, rank) VALUES ('hashsize', 16777216);",
};

static const struct format {
    const char *what;
    const char *const *migrations;
    int64_t version; /* so many migrations */
    int64_t application_id;
} formats[FILE_COUNT] = {
    [FILE_STATE] = { "store", state_migrations, COUNT(state_migrations), 0x4d4f4f54 },
    [FILE_RECORD] = { "record", record_migrations, COUNT(record_migrations), 0x4d4f4f41 },
    [FILE_DIRECTORY] = { "directory", directory_migrations, COUNT(directory_migrations),
                         0x4d4f4f44 },
};

static enum err fail_db(sqlite3 *db, const char *path, char **ret_why)
{
    return store_fail(ERR_IO, ret_why, "%s: %s", path,
                      db ? sqlite3_errmsg(db) : "out of memory");
}

/* A single number that a query answers, or -1. */
static int64_t ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int64_t answer = -1;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        answer = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return answer;
}

static enum err run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? OK : ERR_IO;
}

/* A file of ours that we understand, or an empty one. Views and triggers, which would run
 * when the file is read or written, are not ours. */
static enum err check_version(sqlite3 *db, const struct format *format, const char *path,
                              char **ret_why)
{
    int64_t version = ask(db, "PRAGMA user_version");
    int64_t application = ask(db, "PRAGMA application_id");
    int64_t objects = ask(db, "SELECT count(*) FROM sqlite_schema");
    int64_t active = ask(db, "SELECT count(*) FROM sqlite_schema"
                             " WHERE type NOT IN ('table', 'index')");

    if (version < 0 || application < 0 || objects < 0 || active < 0)
        return fail_db(db, path, ret_why);
    if (active ||
        (application != format->application_id && (application || version || objects)))
        return store_fail(ERR_CONFLICT, ret_why, "%s: not a %s of this program", path,
                          format->what);
    if (version > format->version)
        return store_fail(ERR_CONFLICT, ret_why,
                          "%s: made by a newer version of this program (format %lld, "
                          "known are formats up to %lld)",
                          path, (long long)version, (long long)format->version);
    return OK;
}

enum err sqlite_check(sqlite3 *db, enum sqlite_file file, const char *path,
                      char **ret_why)
{
    const struct format *format = &formats[file];
    enum err err = check_version(db, format, path, ret_why);
    int64_t version = err ? 0 : ask(db, "PRAGMA user_version");

    if (!err && version == 0)
        return store_fail(ERR_CONFLICT, ret_why, "%s: not a %s of this program", path,
                          format->what);
    if (!err && version < format->version)
        return store_fail(ERR_CONFLICT, ret_why,
                          "%s: made by an older version of this program (format %lld, "
                          "wanted is %lld); the server migrates it when it starts",
                          path, (long long)version, (long long)format->version);
    return err;
}

static enum err migrate_from(sqlite3 *db, const struct format *format, int64_t version)
{
    char sql[64];
    enum err err = OK;

    for (int64_t i = version; i < format->version && !err; i++)
        err = run(db, format->migrations[i]);
    if (err)
        return err;
    (void)snprintf(sql, sizeof(sql), "PRAGMA user_version = %lld",
                   (long long)format->version);
    return run(db, sql);
}

/* All or nothing; the version is read inside, since another process may be at it too. */
static enum err migrate(sqlite3 *db, const struct format *format, const char *path,
                        char **ret_why)
{
    enum err err;

    if (ask(db, "PRAGMA user_version") == format->version)
        return OK;
    if (run(db, "BEGIN IMMEDIATE"))
        return fail_db(db, path, ret_why);
    err = check_version(db, format, path, ret_why);
    if (!err &&
        (migrate_from(db, format, ask(db, "PRAGMA user_version")) || run(db, "COMMIT")))
        err = fail_db(db, path, ret_why);
    if (err)
        (void)run(db, "ROLLBACK");
    return err;
}

/* SQLite gives its -wal and -shm files the mode of the database. A file that is there is
 * not opened: closing it would drop the locks of other connections in this process. */
static enum err create_file(const char *path)
{
    CLEANUP(fd_closep)
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    return fd < 0 && errno != EEXIST ? ERR_IO : OK;
}

static enum err migrate_open(sqlite3 *db, const struct format *format, const char *path,
                             char **ret_why)
{
    enum err err;

    (void)sqlite3_busy_timeout(db, BUSY_MS);
    (void)sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    /* Before the first pragma, which would turn a foreign file to WAL. */
    err = check_version(db, format, path, ret_why);
    if (err)
        return err;
    if (run(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"))
        return fail_db(db, path, ret_why);
    return migrate(db, format, path, ret_why);
}

static enum err migrate_file(const struct format *format, const char *path,
                             char **ret_why)
{
    sqlite3 *db = NULL;
    enum err err;

    if (create_file(path))
        return store_fail(ERR_IO, ret_why, "%s: %s", path, strerrordesc_np(errno));
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
        err = fail_db(db, path, ret_why);
    else
        err = migrate_open(db, format, path, ret_why);
    (void)sqlite3_close(db);
    return err;
}

/* One at a time: nobody may see half of what another thread makes of a new file, and
 * turning it to WAL does not wait for others. Other processes are kept off by the lock of
 * the data directory. */
enum err sqlite_migrate(enum sqlite_file file, const char *path, char **ret_why)
{
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    enum err err;

    (void)pthread_mutex_lock(&turn);
    err = migrate_file(&formats[file], path, ret_why);
    (void)pthread_mutex_unlock(&turn);
    return err;
}
