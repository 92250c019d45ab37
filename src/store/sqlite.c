/* SPDX-License-Identifier: Apache-2.0 */
/* The SQLite engine: how its connection is opened and closed, and its transactions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "store/search.h"
#include "store/sqlite_priv.h"
#include "store/store_priv.h"

enum {
    BUSY_MS = 5000,
    WAL_PAGES = 8192,       /* 32 MiB: then the log is moved into the file, */
    WAL_STEP = 2048,        /* and again so much later where it could not begin anew */
    PROGRESS_STEPS = 10000, /* between two looks whether a question was cancelled */
};

/* FULL: what was acknowledged survives a power cut. Bodies that are removed are
 * overwritten. The log is moved into the file before
 * a transaction (begin), not behind one, where somebody waits. */
static const char *const pragmas = "PRAGMA synchronous = FULL;"
                                   "PRAGMA foreign_keys = ON;"
                                   "PRAGMA trusted_schema = OFF;"
                                   "PRAGMA cell_size_check = ON;"
                                   "PRAGMA secure_delete = ON;"
                                   "PRAGMA cache_size = -16384;"
                                   "PRAGMA journal_size_limit = 67108864;";
static const char *const attached_pragmas = "PRAGMA state.synchronous = FULL;"
                                            "PRAGMA state.journal_size_limit = 8388608;";

/* --- statements --- */

/* clang-format off */
static const char *const texts[] = {
#define X(name, text) [SQL_##name] = text,
    SQLITE_STATEMENTS(X)
#undef X
};
/* clang-format on */

static void note_problem(struct sqlite_engine *sqlite)
{
    (void)snprintf(sqlite->engine.problem, sizeof(sqlite->engine.problem), "%s",
                   sqlite->db ? sqlite3_errmsg(sqlite->db) : "out of memory");
}

sqlite3_stmt *sqlite_statement(struct sqlite_engine *sqlite, enum sqlite_statement which)
{
    if (!sqlite->statements[which] &&
        sqlite3_prepare_v3(sqlite->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT,
                           &sqlite->statements[which], NULL) != SQLITE_OK)
        note_problem(sqlite);
    return sqlite->statements[which];
}

enum err sqlite_finish(struct sqlite_engine *sqlite, sqlite3_stmt *statement, int result)
{
    enum err err = OK;

    if (!statement)
        return ERR_IO; /* the problem was noted */
    if (result == SQLITE_CONSTRAINT_UNIQUE || result == SQLITE_CONSTRAINT_PRIMARYKEY) {
        err = ERR_CONFLICT;
    } else if ((result & 0xff) == SQLITE_CONSTRAINT) {
        err = ERR_INVALID;
    } else if (result == SQLITE_INTERRUPT) {
        err = ERR_CLOSED;
    } else if (result != SQLITE_DONE && result != SQLITE_ROW && result != SQLITE_OK) {
        err = ERR_IO;
    }
    if (err)
        note_problem(sqlite);
    (void)sqlite3_reset(statement);
    return err;
}

enum err sqlite_damaged(struct sqlite_engine *sqlite, const char *what, uint64_t seq)
{
    (void)snprintf(sqlite->engine.problem, sizeof(sqlite->engine.problem),
                   "%s %llu is damaged", what, (unsigned long long)seq);
    return ERR_IO;
}

void sqlite_bind(sqlite3_stmt *statement, int at, struct str text)
{
    /* A NULL pointer would bind NULL. The text outlives the step. */
    (void)sqlite3_bind_text64(statement, at, text.ptr ? text.ptr : "", text.len,
                              SQLITE_STATIC, SQLITE_UTF8);
}

void sqlite_bind_u64(sqlite3_stmt *statement, int at, uint64_t number)
{
    (void)sqlite3_bind_int64(statement, at, (sqlite3_int64)number);
}

void sqlite_bind_bytes(sqlite3_stmt *statement, int at, const void *bytes, size_t size)
{
    (void)sqlite3_bind_blob64(statement, at, bytes, size, SQLITE_STATIC);
}

struct str sqlite_text(sqlite3_stmt *statement, int at)
{
    const void *bytes = sqlite3_column_blob(statement, at);

    return (struct str){ bytes ? bytes : "",
                         (size_t)sqlite3_column_bytes(statement, at) };
}

bool sqlite_bytes(sqlite3_stmt *statement, int at, void *ret, size_t size)
{
    struct str bytes = sqlite_text(statement, at);

    if (bytes.len != size)
        return false;
    memcpy(ret, bytes.ptr, size);
    return true;
}

static enum err step_once(struct sqlite_engine *sqlite, enum sqlite_statement which)
{
    sqlite3_stmt *statement = sqlite_statement(sqlite, which);

    return sqlite_finish(sqlite, statement, sqlite3_step(statement));
}

/* --- the connection --- */

static enum err fail_open(struct sqlite_engine *sqlite, const char *path, char **ret_why)
{
    note_problem(sqlite);
    return store_fail(ERR_IO, ret_why, "%s: %s", path, sqlite->engine.problem);
}

static enum err run(struct sqlite_engine *sqlite, const char *sql)
{
    return sqlite3_exec(sqlite->db, sql, NULL, NULL, NULL) == SQLITE_OK ? OK : ERR_IO;
}

static enum sqlite_file file_of(const char *database)
{
    return strcmp(database, "main") == 0 ? FILE_RECORD : FILE_STATE;
}

/* Instead of the automatic checkpoint. */
static int on_commit(void *user, sqlite3 *, const char *database, int pages)
{
    struct sqlite_engine *sqlite = user;
    struct sqlite_log *log = &sqlite->logs[file_of(database)];

    log->pages = pages;
    if (log->moved > pages) /* it began anew */
        log->moved = 0;
    return SQLITE_OK;
}

static enum err open_db(struct sqlite_engine *sqlite, const char *path, int flags,
                        char **ret_why)
{
    /* Each allocation would be counted, under one lock for all threads. Heard before the
     * first connection only, which nobody opens beside another. */
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (sqlite3_open_v2(path, &sqlite->db, flags | SQLITE_OPEN_NOMUTEX, NULL))
        return fail_open(sqlite, path, ret_why);
    (void)sqlite3_extended_result_codes(sqlite->db, 1);
    (void)sqlite3_busy_timeout(sqlite->db, BUSY_MS);
    (void)sqlite3_db_config(sqlite->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return OK;
}

static enum err attach(struct sqlite_engine *sqlite, const char *path)
{
    sqlite3_stmt *statement = NULL;
    enum err err = ERR_IO;

    if (sqlite3_prepare_v2(sqlite->db, "ATTACH ?1 AS state", -1, &statement, NULL) ==
        SQLITE_OK) {
        sqlite_bind(statement, 1, str_of(path));
        err = sqlite3_step(statement) == SQLITE_DONE ? OK : ERR_IO;
    }
    (void)sqlite3_finalize(statement);
    return err ? err : run(sqlite, attached_pragmas);
}

/* What lies in the logs was perhaps written before an fsync that failed, and then only
 * seems to be on the disk: it is written anew, into the file. Somebody who reads
 * meanwhile (SQLITE_BUSY) has kept the logs' index alive, in which such pages do not
 * stand. */
static enum err settle(struct sqlite_engine *sqlite)
{
    int result =
        sqlite3_wal_checkpoint_v2(sqlite->db, NULL, SQLITE_CHECKPOINT_FULL, NULL, NULL);

    return result == SQLITE_OK || (result & 0xff) == SQLITE_BUSY ? OK : ERR_IO;
}

static enum err open_writer(struct sqlite_engine *sqlite, const char *data,
                            char **ret_why)
{
    char state[4096], record[4096];
    enum err err;

    (void)snprintf(state, sizeof(state), "%s/moot.db", data);
    (void)snprintf(record, sizeof(record), "%s/audit.db", data);
    err = sqlite_migrate(FILE_STATE, state, ret_why);
    if (!err)
        err = sqlite_migrate(FILE_RECORD, record, ret_why);
    if (!err)
        err = open_db(sqlite, record, SQLITE_OPEN_READWRITE, ret_why);
    if (err)
        return err;
    if (run(sqlite, pragmas))
        return fail_open(sqlite, record, ret_why);
    if (attach(sqlite, state))
        return fail_open(sqlite, state, ret_why);
    if (settle(sqlite))
        return fail_open(sqlite, record, ret_why);
    (void)sqlite3_wal_hook(sqlite->db, on_commit, sqlite);
    return OK;
}

static int is_cancelled(void *engine)
{
    return engine_is_cancelled(engine);
}

static enum err open_reader(struct sqlite_engine *sqlite, const char *data,
                            const char *file, char **ret_why)
{
    char path[4096];
    enum err err;

    (void)snprintf(path, sizeof(path), "%s/audit.db", data);
    if (!file && asprintf(&sqlite->index_path, "%s/search.db", data) < 0)
        sqlite->index_path = NULL; /* searches look through all of it then */
    if (!file)
        file = path;
    err = open_db(sqlite, file, SQLITE_OPEN_READONLY, ret_why);
    if (!err)
        sqlite3_progress_handler(sqlite->db, PROGRESS_STEPS, is_cancelled,
                                 &sqlite->engine);
    if (!err)
        err = sqlite_check(sqlite->db, FILE_RECORD, file, ret_why);
    if (!err && run(sqlite, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON"))
        err = fail_open(sqlite, file, ret_why);
    return err;
}

static void sqlite_close(struct engine *engine)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);

    for (size_t i = 0; i < SQL_COUNT; i++)
        (void)sqlite3_finalize(sqlite->statements[i]);
    (void)sqlite3_close(sqlite->db);
    search_reader_close(sqlite->index);
    free(sqlite->index_path);
    free(sqlite);
}

static enum err sqlite_open(const struct store_setup *setup, enum engine_role role,
                            const char *file, struct engine **ret, char **ret_why)
{
    struct sqlite_engine *sqlite = xcalloc(1, sizeof(*sqlite));
    enum err err;

    sqlite->engine.ops = &sqlite_engine;
    if (role == ENGINE_WRITER)
        err = open_writer(sqlite, setup->data, ret_why);
    else
        err = open_reader(sqlite, setup->data, file, ret_why);
    if (err) {
        sqlite_close(&sqlite->engine);
        return err;
    }
    *ret = &sqlite->engine;
    return OK;
}

/* --- transactions --- */

/* Somebody who reads may keep the log from beginning anew: then it grows, and is not
 * moved with every commit. If that fails it grows on, until the disk is full and commits
 * fail. */
static void move_log(struct sqlite_engine *sqlite, enum sqlite_file file,
                     const char *database)
{
    struct sqlite_log *log = &sqlite->logs[file];

    if (log->pages < WAL_PAGES || log->pages - log->moved < WAL_STEP)
        return;
    log->moved = log->pages;
    (void)sqlite3_wal_checkpoint_v2(sqlite->db, database, SQLITE_CHECKPOINT_PASSIVE, NULL,
                                    NULL);
}

static enum err sqlite_begin(struct engine *engine)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);

    move_log(sqlite, FILE_RECORD, "main");
    move_log(sqlite, FILE_STATE, "state");
    return step_once(sqlite, SQL_BEGIN);
}

static enum err sqlite_commit(struct engine *engine)
{
    return step_once(sqlite_of(engine), SQL_COMMIT);
}

static void sqlite_rollback(struct engine *engine)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);

    if (!sqlite3_get_autocommit(sqlite->db))
        (void)step_once(sqlite, SQL_ROLLBACK);
}

static uint64_t sqlite_disk_bytes(const char *data)
{
    static const char *const names[] = {
        "moot.db",   "moot.db-wal",   "audit.db",     "audit.db-wal",
        "search.db", "search.db-wal", "directory.db", "directory.db-wal",
    };
    char path[4096];
    uint64_t bytes = 0;

    for (size_t i = 0; i < COUNT(names); i++) {
        struct stat file;

        if (snprintf(path, sizeof(path), "%s/%s", data, names[i]) < (int)sizeof(path) &&
            stat(path, &file) == 0)
            bytes += (uint64_t)file.st_size;
    }
    return bytes;
}

const struct engine_ops sqlite_engine = {
    .open = sqlite_open,
    .close = sqlite_close,
    .begin = sqlite_begin,
    .commit = sqlite_commit,
    .rollback = sqlite_rollback,
    .token_each = sqlite_token_each,
    .token_add = sqlite_token_add,
    .token_remove = sqlite_token_remove,
    .item_each = sqlite_item_each,
    .item_put = sqlite_item_put,
    .item_remove = sqlite_item_remove,
    .origin = sqlite_origin,
    .origin_set = sqlite_origin_set,
    .append = sqlite_append,
    .checkpoint = sqlite_checkpoint,
    .head = sqlite_head,
    .strip = sqlite_strip,
    .read = sqlite_read,
    .checkpoints = sqlite_checkpoints,
    .disk_bytes = sqlite_disk_bytes,
};
