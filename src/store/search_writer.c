/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index as it is written. It follows the record in batches, each in one transaction
 * together with how far it came, so that it can go on after any end of the process. It is
 * not synced: an index that was not closed is thrown away after the machine went down.
 *
 * A part that lost bodies is noted in `stale` when the RETENTION record comes by, and
 * when its time has come it is built again beside the old one (table `again`), batch by
 * batch, and takes its place at the end.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "audit/batch.h"
#include "audit/marks.h"
#include "audit/removal.h"
#include "audit/words.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "store/search.h"

enum {
    BATCH_RECORDS = 5000,
    BATCH_BYTES = 8 << 20, /* of records, and of words */
    STATEMENT = 256,
    RETENTION_BYTES = 1 << 20,
};

/* A table that is being filled. */
struct filling {
    sqlite3_stmt *insert;
    uint64_t part;
    uint64_t seq; /* the last record in it */
    uint64_t stale_seq;
};

struct search_writer {
    sqlite3 *db;
    struct engine *engine;
    struct search_options options;
    struct search_state state;
    struct filling live;
    struct filling again;    /* insert NULL: nothing is built again */
    struct audit_batch read; /* the records of a batch, before they are looked at */
    struct buf text;
    size_t taken; /* in this batch: records, and bytes of their words */
    size_t bytes;
    uint64_t now_ms;
    enum err err;
    int result; /* what SQLite said last */
};

/* The page size comes first: it holds from the first table on. */
static const char setup[] = "PRAGMA page_size = 8192;"
                            "PRAGMA journal_mode = WAL;"
                            "PRAGMA synchronous = OFF;"
                            "PRAGMA cache_size = -16000;"
                            "PRAGMA temp_store = MEMORY;"
                            "CREATE TABLE IF NOT EXISTS state ("
                            "  id INTEGER PRIMARY KEY CHECK (id = 1),"
                            "  version INTEGER NOT NULL,"
                            "  installation TEXT NOT NULL,"
                            "  part_records INTEGER NOT NULL,"
                            "  seq INTEGER NOT NULL,"
                            "  hash BLOB NOT NULL,"
                            "  boot TEXT NOT NULL,"
                            "  is_closed INTEGER NOT NULL"
                            ") STRICT;"
                            "CREATE TABLE IF NOT EXISTS stale ("
                            "  part INTEGER PRIMARY KEY,"
                            "  since_ms INTEGER NOT NULL,"
                            "  seq INTEGER NOT NULL"
                            ") STRICT;"
                            "DROP TABLE IF EXISTS again;";

/* --- talking to SQLite --- */

static enum err note(struct search_writer *w, int result)
{
    w->result = result;
    if (result == SQLITE_OK || result == SQLITE_DONE || result == SQLITE_ROW)
        return OK;
    w->err = ERR_IO;
    return ERR_IO;
}

static enum err run(struct search_writer *w, const char *sql)
{
    return note(w, sqlite3_exec(w->db, sql, NULL, NULL, NULL));
}

static sqlite3_stmt *prepare(struct search_writer *w, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    (void)note(w, sqlite3_prepare_v2(w->db, sql, -1, &statement, NULL));
    return statement;
}

static enum err step(struct search_writer *w, sqlite3_stmt *statement)
{
    return note(w, statement ? sqlite3_step(statement) : w->result);
}

static void bind_u64(sqlite3_stmt *statement, int at, uint64_t number)
{
    (void)sqlite3_bind_int64(statement, at, (sqlite3_int64)number);
}

bool search_writer_is_damaged(const struct search_writer *w)
{
    int code = w->result & 0xff;

    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR ||
           code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH;
}

const struct search_state *search_writer_state(const struct search_writer *w)
{
    return &w->state;
}

/* --- what it knows of itself --- */

enum closing { IS_OPEN, IS_CLOSED };

static enum err save_state(struct search_writer *w, enum closing closing)
{
    sqlite3_stmt *save = prepare(
        w, "REPLACE INTO state (id, version, installation, part_records, seq, hash, boot,"
           " is_closed) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    char boot[SEARCH_BOOT];
    enum err err;

    search_boot(boot);
    bind_u64(save, 1, SEARCH_VERSION);
    (void)sqlite3_bind_text(save, 2, w->state.installation, AUDIT_INSTALLATION,
                            SQLITE_STATIC);
    bind_u64(save, 3, w->state.part_records);
    bind_u64(save, 4, w->state.seq);
    (void)sqlite3_bind_blob(save, 5, w->state.hash, SHA256_BYTES, SQLITE_STATIC);
    (void)sqlite3_bind_text(save, 6, boot, SEARCH_BOOT, SQLITE_STATIC);
    bind_u64(save, 7, closing);
    err = step(w, save);
    (void)sqlite3_finalize(save);
    return err;
}

static bool keep_hash(void *user, const struct audit_record *record)
{
    struct search_state *at = user;

    at->seq = record->seq;
    memcpy(at->hash, record->hash, SHA256_BYTES);
    return false;
}

/* Is the last record that it knows still what it was? */
static bool is_of_record(struct search_writer *w, const struct search_state *state)
{
    struct search_state found = {};
    struct audit_query query = {
        .order = AUDIT_OLDEST_FIRST,
        .after_seq = state->seq - 1,
        .limit = 1,
        .without_bodies = true,
    };

    if (state->seq == 0)
        return true;
    return w->engine->ops->read(w->engine, &query, keep_hash, &found) == OK &&
           found.seq == state->seq && memcmp(found.hash, state->hash, SHA256_BYTES) == 0;
}

/* The state of an index that is ours, or the beginning of a new one. */
static enum err load_state(struct search_writer *w)
{
    char installation[AUDIT_INSTALLATION];
    struct audit_origin origin = {};
    enum err err = w->engine->ops->origin(w->engine, &origin, installation);

    if (err)
        return err;
    err = search_state_read(w->db, &w->state);
    if (err == ERR_NOT_FOUND) {
        w->state = (struct search_state){ .part_records = w->options.part_records };
        memcpy(w->state.installation, installation, AUDIT_INSTALLATION);
        return OK;
    }
    if (err || memcmp(w->state.installation, installation, AUDIT_INSTALLATION) != 0 ||
        !is_of_record(w, &w->state))
        return note(w, SQLITE_CORRUPT);
    return OK;
}

/* --- filling a table --- */

static enum err create(struct search_writer *w, const char *name)
{
    char sql[STATEMENT];

    (void)snprintf(sql, sizeof(sql),
                   "CREATE VIRTUAL TABLE IF NOT EXISTS %s USING fts5(words, content='',"
                   " detail=none, columnsize=0, tokenize=\"ascii tokenchars ':'\")",
                   name);
    if (run(w, sql))
        return ERR_IO;
    (void)snprintf(sql, sizeof(sql),
                   "INSERT INTO %s(%s, rank) VALUES ('hashsize', 8388608)", name, name);
    return run(w, sql);
}

static enum err prepare_filling(struct search_writer *w, struct filling *filling,
                                const char *name)
{
    char sql[STATEMENT];

    if (create(w, name))
        return ERR_IO;
    (void)snprintf(sql, sizeof(sql), "INSERT INTO %s(rowid, words) VALUES (?1, ?2)",
                   name);
    filling->insert = prepare(w, sql);
    return filling->insert ? OK : ERR_IO;
}

static void end_filling(struct filling *filling)
{
    (void)sqlite3_finalize(filling->insert);
    filling->insert = NULL;
}

static enum err fill(struct search_writer *w, struct filling *filling,
                     const struct audit_record *record)
{
    enum err err;

    buf_clear(&w->text);
    audit_marks(record, &w->text);
    if (record->body.ptr)
        audit_words(record->body, &w->text);
    bind_u64(filling->insert, 1, record->seq);
    (void)sqlite3_bind_text64(filling->insert, 2, w->text.ptr, w->text.len, SQLITE_STATIC,
                              SQLITE_UTF8);
    err = step(w, filling->insert);
    (void)sqlite3_reset(filling->insert);
    filling->seq = record->seq;
    w->taken++;
    w->bytes += w->text.len;
    return err;
}

static bool keep_record(void *user, const struct audit_record *record)
{
    struct search_writer *w = user;

    audit_batch_add(&w->read, record);
    return w->read.bytes.len < BATCH_BYTES;
}

/* They are read first and looked at then: whoever reads keeps the log of the record from
 * beginning anew, and looking at them takes a while, more so at this thread's priority.
 */
static enum err each_record(struct search_writer *w, const struct audit_query *query,
                            bool (*take)(struct search_writer *w,
                                         const struct audit_record *record))
{
    struct audit_record record;
    enum err err;
    size_t at = 0;

    audit_batch_clear(&w->read);
    err = w->engine->ops->read(w->engine, query, keep_record, w);
    while (!err && !engine_is_cancelled(w->engine) &&
           audit_batch_next(&w->read, &at, &record) && take(w, &record))
        ;
    return err == ERR_CLOSED ? OK : err; /* it ends here for now */
}

/* --- parts that lost bodies --- */

/* What it was stale for before stays: its time does not begin anew. */
static enum err note_stale(struct search_writer *w, const struct audit_record *record,
                           const struct audit_removal *gone)
{
    sqlite3_stmt *insert =
        prepare(w, "INSERT INTO stale (part, since_ms, seq) VALUES (?1, ?2, ?3)"
                   " ON CONFLICT (part) DO UPDATE SET seq = excluded.seq");
    uint64_t last = search_part_of(&w->state, gone->last_seq);
    enum err err = insert ? OK : ERR_IO;

    for (uint64_t part = search_part_of(&w->state, gone->first_seq); !err && part <= last;
         part++) {
        bind_u64(insert, 1, part);
        bind_u64(insert, 2, w->now_ms);
        bind_u64(insert, 3, record->seq);
        err = step(w, insert);
        (void)sqlite3_reset(insert);
    }
    (void)sqlite3_finalize(insert);
    return err;
}

static enum err look_at_retention(struct search_writer *w,
                                  const struct audit_record *record)
{
    struct audit_removal gone;
    struct arena arena;
    enum err err = OK;

    arena_init(&arena, RETENTION_BYTES);
    if (audit_removal_parse(record->body, &arena, &gone) == OK && gone.first_seq &&
        gone.first_seq <= gone.last_seq && gone.last_seq < record->seq)
        err = note_stale(w, record, &gone);
    arena_done(&arena);
    return err;
}

static bool take_again(struct search_writer *w, const struct audit_record *record)
{
    return fill(w, &w->again, record) == OK && w->bytes < BATCH_BYTES;
}

/* The earliest part whose time has come, if any. */
static enum err begin_again(struct search_writer *w, bool *ret_has_begun)
{
    sqlite3_stmt *select = prepare(w, "SELECT part, seq FROM stale WHERE since_ms <= ?1"
                                      " ORDER BY part LIMIT 1");
    uint64_t stale_ms = w->options.stale_ms;
    enum err err;

    *ret_has_begun = false;
    bind_u64(select, 1, w->now_ms > stale_ms ? w->now_ms - stale_ms : 0);
    err = step(w, select);
    if (!err && w->result == SQLITE_ROW) {
        w->again.part = (uint64_t)sqlite3_column_int64(select, 0);
        w->again.stale_seq = (uint64_t)sqlite3_column_int64(select, 1);
        w->again.seq = search_part_first(&w->state, w->again.part) - 1;
        *ret_has_begun = true;
    }
    (void)sqlite3_finalize(select);
    return err || !*ret_has_begun ? err : prepare_filling(w, &w->again, "again");
}

static enum err replace_part(struct search_writer *w)
{
    char sql[STATEMENT];
    uint64_t part = w->again.part;

    end_filling(&w->again);
    if (w->live.insert && w->live.part == part)
        end_filling(&w->live);
    (void)snprintf(sql, sizeof(sql),
                   "DROP TABLE w%" PRIu64 "; ALTER TABLE again RENAME TO w%" PRIu64
                   "; DELETE FROM stale WHERE part = %" PRIu64 " AND seq <= %" PRIu64,
                   part, part, part, w->again.stale_seq);
    return run(w, sql);
}

/* Goes on with the part that is built again, or begins one. */
static enum err write_again(struct search_writer *w, bool *ret_has_more)
{
    struct audit_query query = { .order = AUDIT_OLDEST_FIRST };
    uint64_t last;
    enum err err;

    *ret_has_more = true;
    if (!w->again.insert) {
        err = begin_again(w, ret_has_more);
        if (err || !*ret_has_more)
            return err;
    }
    last = search_part_first(&w->state, w->again.part + 1) - 1;
    if (last > w->state.seq)
        last = w->state.seq;
    if (w->again.seq >= last)
        return replace_part(w);
    query.after_seq = w->again.seq;
    query.limit =
        last - w->again.seq < BATCH_RECORDS ? last - w->again.seq : BATCH_RECORDS;
    err = each_record(w, &query, take_again);
    return err ? err : w->err;
}

/* --- following the record --- */

static enum err open_part(struct search_writer *w, uint64_t part)
{
    char name[32];

    if (w->live.insert && w->live.part == part)
        return OK;
    end_filling(&w->live);
    w->live.part = part;
    (void)snprintf(name, sizeof(name), "w%" PRIu64, part);
    return prepare_filling(w, &w->live, name);
}

static bool take_live(struct search_writer *w, const struct audit_record *record)
{
    if (open_part(w, search_part_of(&w->state, record->seq)) ||
        fill(w, &w->live, record) ||
        (record->event == AUDIT_RETENTION && look_at_retention(w, record)))
        return false;
    w->state.seq = record->seq;
    memcpy(w->state.hash, record->hash, SHA256_BYTES);
    return w->bytes < BATCH_BYTES;
}

static enum err write_live(struct search_writer *w, bool *ret_has_more)
{
    struct audit_query query = { .order = AUDIT_OLDEST_FIRST,
                                 .after_seq = w->state.seq,
                                 .limit = BATCH_RECORDS };
    enum err err = each_record(w, &query, take_live);

    *ret_has_more = w->taken == BATCH_RECORDS || w->bytes >= BATCH_BYTES ||
                    w->read.bytes.len >= BATCH_BYTES;
    if (err || w->err)
        return err ? err : w->err;
    return w->taken ? save_state(w, IS_OPEN) : OK;
}

enum err search_write(struct search_writer *w, uint64_t now_ms, bool *ret_has_more)
{
    enum err err;

    w->err = OK;
    w->taken = 0;
    w->bytes = 0;
    w->now_ms = now_ms;
    *ret_has_more = false;
    if (run(w, "BEGIN IMMEDIATE"))
        return ERR_IO;
    err = write_live(w, ret_has_more);
    if (!err && !*ret_has_more) {
        w->bytes = 0;
        err = write_again(w, ret_has_more);
    }
    if (!err && !w->err)
        err = run(w, "COMMIT");
    if (!err)
        err = w->err;
    return err;
}

/* --- opening and closing --- */

/* Its words are those of bodies: nobody else may read them. */
static void make_private(const char *path)
{
    /* Only if it is missing: closing a file that somebody has locked would unlock it. */
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0)
        (void)close(fd);
}

static enum err open_db(struct search_writer *w)
{
    make_private(w->options.path);
    if (note(w, sqlite3_open_v2(w->options.path, &w->db,
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL)))
        return ERR_IO;
    (void)sqlite3_busy_timeout(w->db, 5000);
    if (run(w, setup))
        return ERR_IO;
    if (load_state(w) || save_state(w, IS_OPEN))
        return ERR_IO;
    return OK;
}

static void free_writer(struct search_writer *w)
{
    end_filling(&w->live);
    end_filling(&w->again);
    (void)sqlite3_close(w->db);
    buf_done(&w->text);
    audit_batch_done(&w->read);
    free(w);
}

enum err search_writer_open(const struct search_options *options, struct engine *engine,
                            struct search_writer **ret, bool *ret_is_damaged)
{
    struct search_writer *w = xcalloc(1, sizeof(*w));

    w->options = *options;
    w->engine = engine;
    buf_init(&w->text, SIZE_MAX / 2);
    audit_batch_init(&w->read);
    if (open_db(w)) {
        *ret_is_damaged = search_writer_is_damaged(w);
        free_writer(w);
        return ERR_IO;
    }
    *ret = w;
    return OK;
}

/* Also what was written without waiting for it is on the disk then. */
static enum err sync_file(struct search_writer *w)
{
    sqlite3_file *file = NULL;

    if (run(w, "PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)") ||
        note(w, sqlite3_file_control(w->db, NULL, SQLITE_FCNTL_FILE_POINTER, &file)))
        return ERR_IO;
    return note(w, file->pMethods->xSync(file, SQLITE_SYNC_FULL));
}

void search_writer_close(struct search_writer *w)
{
    if (!w)
        return;
    if (!sqlite3_get_autocommit(w->db))
        (void)run(w, "ROLLBACK"); /* something failed in it */
    else if (!sync_file(w))
        (void)save_state(w, IS_CLOSED);
    free_writer(w);
}

void search_discard(const char *path)
{
    static const char *const endings[] = { "", "-wal", "-shm" };
    char file[4096];

    for (size_t i = 0; i < COUNT(endings); i++) {
        (void)snprintf(file, sizeof(file), "%s%s", path, endings[i]);
        (void)unlink(file);
    }
}
