/* SPDX-License-Identifier: Apache-2.0 */
/* The index as it is read: a connection of its own, one part at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/xalloc.h"
#include "store/search.h"

enum { BUSY_MS = 1000, PROGRESS_STEPS = 10000, STATEMENT = 160 };

struct search_reader {
    sqlite3 *db;
    struct engine *engine; /* who may be cancelled */
    char *path;
    dev_t device; /* of the file that is open */
    ino_t inode;
};

static int is_cancelled(void *user)
{
    return engine_is_cancelled(user);
}

static enum err open_db(struct search_reader *reader)
{
    struct stat file;

    if (stat(reader->path, &file) ||
        sqlite3_open_v2(reader->path, &reader->db,
                        SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL))
        return ERR_IO;
    reader->device = file.st_dev;
    reader->inode = file.st_ino;
    (void)sqlite3_busy_timeout(reader->db, BUSY_MS);
    (void)sqlite3_db_config(reader->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_progress_handler(reader->db, PROGRESS_STEPS, is_cancelled, reader->engine);
    return OK;
}

struct search_reader *search_reader_open(const char *path, struct engine *engine)
{
    struct search_reader *reader = xcalloc(1, sizeof(*reader));

    reader->path = str_dup(str_of(path));
    reader->engine = engine;
    if (open_db(reader)) {
        search_reader_close(reader);
        return NULL;
    }
    return reader;
}

void search_reader_close(struct search_reader *reader)
{
    if (!reader)
        return;
    (void)sqlite3_close(reader->db);
    free(reader->path);
    free(reader);
}

bool search_reader_is_old(const struct search_reader *reader)
{
    struct stat file;

    return stat(reader->path, &file) || file.st_dev != reader->device ||
           file.st_ino != reader->inode;
}

enum err search_begin(struct search_reader *reader, struct search_state *ret)
{
    enum err err;

    if (sqlite3_exec(reader->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return ERR_IO;
    err = search_state_read(reader->db, ret);
    if (err)
        search_end(reader);
    return err;
}

void search_end(struct search_reader *reader)
{
    if (!sqlite3_get_autocommit(reader->db))
        (void)sqlite3_exec(reader->db, "COMMIT", NULL, NULL, NULL);
}

static sqlite3_stmt *prepare(struct search_reader *reader,
                             const struct search_range *range)
{
    unsigned long long part = range->part;
    sqlite3_stmt *select = NULL;
    char sql[STATEMENT];

    (void)snprintf(sql, sizeof(sql),
                   "SELECT rowid FROM w%llu WHERE w%llu MATCH ?1 AND rowid > ?2"
                   " AND rowid < ?3 ORDER BY rowid %s",
                   part, part, range->order == AUDIT_OLDEST_FIRST ? "" : "DESC");
    if (sqlite3_prepare_v2(reader->db, sql, -1, &select, NULL) != SQLITE_OK)
        return NULL;
    (void)sqlite3_bind_text64(select, 1, range->match.ptr, range->match.len,
                              SQLITE_STATIC, SQLITE_UTF8);
    (void)sqlite3_bind_int64(select, 2, (sqlite3_int64)range->above);
    (void)sqlite3_bind_int64(select, 3, (sqlite3_int64)range->below);
    return select;
}

enum err search_find(struct search_reader *reader, const struct search_range *range,
                     bool (*on_seq)(void *user, uint64_t seq), void *user)
{
    sqlite3_stmt *select = prepare(reader, range);
    int result = SQLITE_ERROR;

    while (select && (result = sqlite3_step(select)) == SQLITE_ROW)
        if (!on_seq(user, (uint64_t)sqlite3_column_int64(select, 0)))
            break;
    (void)sqlite3_finalize(select);
    if (result == SQLITE_INTERRUPT)
        return ERR_CLOSED;
    return result == SQLITE_DONE || result == SQLITE_ROW ? OK : ERR_IO;
}
