/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directory on SQLite: directory.db, with a full-text table of marks by rank. That
 * table keeps no copy of what it has indexed, so whoever removes a resource tells it the
 * marks again, which are those of the JSON that is kept.
 */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/xalloc.h"
#include "store/directory_priv.h"
#include "store/sqlite_priv.h"
#include "store/store_priv.h"

enum {
    BUSY_MS = 10 * 1000,
    PROGRESS_STEPS = 10000,
    MATCH_MAX = 512 << 10,
    WORDS_KNOWN = 1 << 16, /* a power of two: hashes of words that are in the table */
    MEANINGS = 512,        /* words that a beginning is replaced by */
    LOG_MAX = 64 << 20,    /* bytes: a longer log does not stay */
};

/* Every beginning of a question with all its words, and what stands between them. */
_Static_assert((DIRECTORY_PLACES + 1) * MEANINGS * (DIRECTORY_MARK + 6) < MATCH_MAX);

/* clang-format off */
#define STATEMENTS(X)                                                                     \
    X(BEGIN,        "BEGIN IMMEDIATE")                                                    \
    X(READ_BEGIN,   "BEGIN")                                                              \
    X(COMMIT,       "COMMIT")                                                             \
    X(ROLLBACK,     "ROLLBACK")                                                           \
    X(GET,          "SELECT rank, json FROM resource WHERE id = ?1")                      \
    X(ADD,          "INSERT INTO resource (id, rank, updated_ms, json)"                   \
                    " VALUES (?1, ?2, ?3, ?4)")                                           \
    X(REMOVE,       "DELETE FROM resource WHERE id = ?1")                                 \
    X(PLACE_ADD,    "INSERT INTO place (rank, seq, hourly) VALUES (?1, ?2, ?3)")          \
    X(PLACE_REMOVE, "DELETE FROM place WHERE rank = ?1")                                  \
    X(PLACE_TAKEN,  "SELECT 1 FROM place WHERE rank = ?1")                                \
    X(MARKS_ADD,    "INSERT INTO found (rowid, marks) VALUES (?1, ?2)")                   \
    X(MARKS_REMOVE, "INSERT INTO found (found, rowid, marks) VALUES ('delete', ?1, ?2)")  \
    X(WORD_ADD,     "INSERT OR IGNORE INTO word VALUES (?1)")                             \
    X(WORDS,        "SELECT word FROM word WHERE word >= ?1 AND word < ?2 LIMIT ?3")      \
    X(LOAD,         "SELECT resource.json FROM place JOIN resource USING (seq)"           \
                    " WHERE place.rank = ?1")                                             \
    X(EACH,         "SELECT rank, json FROM resource WHERE id > ?1 ORDER BY id LIMIT ?2") \
    X(COUNT,        "SELECT count(*) FROM place")                                         \
    X(LIST,         "SELECT rank FROM place WHERE rank >= ?2 AND rank < ?5"              \
                    " ORDER BY rank LIMIT ?3")                                            \
    X(LIST_RATED,   "SELECT rank FROM place WHERE rank >= ?2 AND rank < ?5"              \
                    " AND hourly <= ?4"                                                   \
                    " ORDER BY rank LIMIT ?3")                                            \
    X(FIND,         "SELECT rowid FROM found WHERE found MATCH ?1 AND rowid >= ?2"        \
                    " AND rowid < ?5"                                                     \
                    " ORDER BY rowid LIMIT ?3")                                           \
    X(FIND_RATED,   "SELECT found.rowid FROM found CROSS JOIN place"                      \
                    " ON place.rank = found.rowid WHERE found MATCH ?1"                   \
                    " AND found.rowid >= ?2 AND found.rowid < ?5 AND place.hourly <= ?4"  \
                    " ORDER BY found.rowid LIMIT ?3")
/* clang-format on */

enum statement {
#define X(name, text) name,
    STATEMENTS(X)
#undef X
        STATEMENT_COUNT
};

static const char *const texts[] = {
#define X(name, text) [name] = text,
    STATEMENTS(X)
#undef X
};

static const char *const pragmas = "PRAGMA synchronous = FULL;"
                                   "PRAGMA trusted_schema = OFF;"
                                   "PRAGMA cell_size_check = ON;"
                                   "PRAGMA temp_store = MEMORY;"
                                   "PRAGMA cache_size = -32768;"
                                   "PRAGMA wal_autocheckpoint = 8192;";

struct sqlite_directory {
    struct store_directory directory;
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    struct buf match;
    struct buf marks;
    struct arena arena;
    uint64_t *words; /* those that need not be added again, by their hash; 0: free */
    struct hash_key key;
    bool is_writing; /* a transaction that began so is open */
};

static struct sqlite_directory *sqlite_dir(struct store_directory *directory)
{
    return CONTAINER_OF(directory, struct sqlite_directory, directory);
}

/* --- statements --- */

static enum err note(struct sqlite_directory *d)
{
    d->directory.is_lost = true;
    return directory_fail(&d->directory, d->db ? sqlite3_errmsg(d->db) : "out of memory");
}

static sqlite3_stmt *statement(struct sqlite_directory *d, enum statement which)
{
    if (!d->statements[which] &&
        sqlite3_prepare_v3(d->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT,
                           &d->statements[which], NULL) != SQLITE_OK)
        (void)note(d);
    return d->statements[which];
}

static enum err finish(struct sqlite_directory *d, sqlite3_stmt *s, int result)
{
    enum err err = OK;

    if (!s)
        return ERR_IO;
    if ((result & 0xff) == SQLITE_INTERRUPT)
        err = ERR_CLOSED;
    else if (result != SQLITE_DONE && result != SQLITE_ROW)
        err = note(d);
    (void)sqlite3_reset(s);
    return err;
}

static enum err step(struct sqlite_directory *d, sqlite3_stmt *s)
{
    return finish(d, s, sqlite3_step(s));
}

/* --- opening --- */

static int is_cancelled(void *user)
{
    return directory_is_cancelled(user);
}

static void dir_close(struct store_directory *directory)
{
    struct sqlite_directory *d = sqlite_dir(directory);

    for (size_t i = 0; i < STATEMENT_COUNT; i++)
        (void)sqlite3_finalize(d->statements[i]);
    (void)sqlite3_close(d->db);
    buf_done(&d->match);
    buf_done(&d->marks);
    arena_done(&d->arena);
    free(d->words);
    free(d);
}

static enum err open_db(struct sqlite_directory *d, const char *path)
{
    if (sqlite3_open_v2(path, &d->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
        return note(d);
    (void)sqlite3_extended_result_codes(d->db, 1);
    (void)sqlite3_busy_timeout(d->db, BUSY_MS);
    (void)sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_progress_handler(d->db, PROGRESS_STEPS, is_cancelled, &d->directory);
    return sqlite3_exec(d->db, pragmas, NULL, NULL, NULL) ? note(d) : OK;
}

static enum err dir_open(const struct store_setup *setup, struct store_directory **ret,
                         char **ret_why)
{
    struct sqlite_directory *d;
    char path[4096];
    enum err err;

    (void)snprintf(path, sizeof(path), "%s/directory.db", setup->data);
    err = sqlite_migrate(FILE_DIRECTORY, path, ret_why);
    if (err)
        return err;
    d = xcalloc(1, sizeof(*d));
    d->directory.ops = &sqlite_directory;
    buf_init(&d->match, MATCH_MAX);
    buf_init(&d->marks, SIZE_MAX / 2);
    arena_init(&d->arena, RESOURCE_ARENA);
    hash_key_random(&d->key);
    err = open_db(d, path);
    if (err) {
        (void)store_fail(err, ret_why, "%s: %s", path, d->directory.problem);
        dir_close(&d->directory);
        return err;
    }
    *ret = &d->directory;
    return OK;
}

/* --- transactions --- */

static enum err run(struct store_directory *directory, enum statement which)
{
    struct sqlite_directory *d = sqlite_dir(directory);

    return step(d, statement(d, which));
}

static enum err dir_begin(struct store_directory *directory)
{
    enum err err = run(directory, BEGIN);

    sqlite_dir(directory)->is_writing = !err;
    return err;
}

static enum err dir_read_begin(struct store_directory *directory)
{
    return run(directory, READ_BEGIN);
}

/* An import makes the log as long as what it changes: all of it is one transaction. What
 * was written there is moved to its place, and the space goes back. Searches that are
 * under way are waited for; if they take too long, the next change tries again. */
static void cut_log(struct sqlite_directory *d)
{
    sqlite3_file *log = NULL;
    sqlite3_int64 bytes = 0;

    if (!d->is_writing)
        return;
    d->is_writing = false;
    if (sqlite3_file_control(d->db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) ||
        !log->pMethods || log->pMethods->xFileSize(log, &bytes) || bytes <= LOG_MAX)
        return;
    (void)sqlite3_wal_checkpoint_v2(d->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL,
                                    NULL);
}

static enum err dir_commit(struct store_directory *directory)
{
    enum err err = run(directory, COMMIT);

    if (!err)
        cut_log(sqlite_dir(directory));
    return err;
}

static void dir_rollback(struct store_directory *directory)
{
    struct sqlite_directory *d = sqlite_dir(directory);

    if (sqlite3_get_autocommit(d->db))
        return;
    (void)run(directory, ROLLBACK);
    cut_log(d);
    if (d->words) /* they are gone */
        memset(d->words, 0, WORDS_KNOWN * sizeof(d->words[0]));
}

/* --- removing --- */

static enum err remove_marks(struct sqlite_directory *d, uint64_t rank, struct str json)
{
    sqlite3_stmt *forget = statement(d, MARKS_REMOVE);
    struct resource resource;

    arena_reset(&d->arena);
    if (directory_read(json, &d->arena, &resource))
        return directory_fail(&d->directory, "a resource is damaged");
    buf_clear(&d->marks);
    directory_marks(&resource, &d->marks);
    sqlite_bind_u64(forget, 1, rank);
    sqlite_bind(forget, 2, buf_str(&d->marks));
    return step(d, forget);
}

static enum err remove_row(struct sqlite_directory *d, struct str id, uint64_t rank)
{
    sqlite3_stmt *place = statement(d, PLACE_REMOVE), *row = statement(d, REMOVE);
    enum err err;

    sqlite_bind_u64(place, 1, rank);
    err = step(d, place);
    if (err)
        return err;
    sqlite_bind(row, 1, id);
    return step(d, row);
}

static enum err dir_remove(struct store_directory *directory, struct str id,
                           bool *ret_found)
{
    struct sqlite_directory *d = sqlite_dir(directory);
    sqlite3_stmt *get = statement(d, GET);
    enum err err = OK;
    uint64_t rank = 0;
    int result;

    sqlite_bind(get, 1, id);
    result = sqlite3_step(get);
    *ret_found = result == SQLITE_ROW;
    if (*ret_found) {
        rank = (uint64_t)sqlite3_column_int64(get, 0);
        err = remove_marks(d, rank, sqlite_text(get, 1));
    }
    if (err)
        (void)sqlite3_reset(get);
    else
        err = finish(d, get, result);
    return err || !*ret_found ? err : remove_row(d, id, rank);
}

/* --- putting --- */

/* True: it is in the table. Of two with the same place the later one is kept. */
static bool is_known(struct sqlite_directory *d, struct str word)
{
    uint64_t hash = hash_of(&d->key, word) | 1;
    uint64_t *slot;

    if (!d->words)
        d->words = xcalloc(WORDS_KNOWN, sizeof(d->words[0]));
    slot = &d->words[hash >> 1 & (WORDS_KNOWN - 1)];
    if (*slot == hash)
        return true;
    *slot = hash;
    return false;
}

/* Every word has a mark of the lowest class. */
static enum err add_words(struct sqlite_directory *d, struct str marks)
{
    sqlite3_stmt *add = statement(d, WORD_ADD);
    enum err err = OK;

    while (marks.len && !err) {
        struct str mark = str_cut(&marks, ' ');
        struct str word = str_slice(mark, 1, mark.len);

        if (!word.len || mark.ptr[0] != directory_letter(DIRECTORY_PROFILE) ||
            is_known(d, word))
            continue;
        sqlite_bind(add, 1, word);
        err = step(d, add);
    }
    return err;
}

/* Two ids may have the same rank by chance: the later one comes right behind. */
static enum err free_rank(struct sqlite_directory *d, uint64_t *rank)
{
    sqlite3_stmt *taken = statement(d, PLACE_TAKEN);
    bool is_taken = true;
    enum err err = OK;

    while (!err && is_taken) {
        int result;

        sqlite_bind_u64(taken, 1, *rank);
        result = sqlite3_step(taken);
        is_taken = result == SQLITE_ROW;
        *rank += is_taken;
        err = finish(d, taken, result);
    }
    return err;
}

static enum err insert_place(struct sqlite_directory *d, const struct directory_row *row,
                             uint64_t rank, sqlite3_int64 seq)
{
    sqlite3_stmt *place = statement(d, PLACE_ADD);

    sqlite_bind_u64(place, 1, rank);
    (void)sqlite3_bind_int64(place, 2, seq);
    if (row->has_rate)
        sqlite_bind_u64(place, 3, row->hourly);
    else
        (void)sqlite3_bind_null(place, 3);
    return step(d, place);
}

static enum err add_row(struct sqlite_directory *d, const struct directory_row *row)
{
    sqlite3_stmt *add = statement(d, ADD), *marks = statement(d, MARKS_ADD);
    uint64_t rank = row->rank;
    sqlite3_int64 seq;
    enum err err = free_rank(d, &rank);

    if (err)
        return err;
    sqlite_bind(add, 1, row->id);
    sqlite_bind_u64(add, 2, rank);
    sqlite_bind_u64(add, 3, row->updated_ms);
    sqlite_bind(add, 4, row->json);
    err = step(d, add);
    seq = sqlite3_last_insert_rowid(d->db);
    if (!err)
        err = add_words(d, row->marks);
    if (!err)
        err = insert_place(d, row, rank, seq);
    if (err)
        return err;
    sqlite_bind_u64(marks, 1, rank);
    sqlite_bind(marks, 2, row->marks);
    return step(d, marks);
}

/* The full-text table gathers what comes in ascending order, and writes it out whenever
 * something smaller comes: so all goes out first, and then all goes in. */
static enum err dir_put_all(struct store_directory *directory,
                            const struct directory_row *rows, size_t count)
{
    enum err err = OK;
    bool unused;

    for (size_t i = 0; i < count && !err; i++)
        err = dir_remove(directory, rows[i].id, &unused);
    for (size_t i = 0; i < count && !err; i++)
        err = add_row(sqlite_dir(directory), &rows[i]);
    return err;
}

/* --- finding --- */

/* What a beginning means, where that is not much: each word by itself can be followed
 * from the lowest rank on, while all that begin so would be gathered first. Returns how
 * many there are; more than MEANINGS: too many. */
static size_t write_meanings(struct sqlite_directory *d,
                             const struct directory_need *need)
{
    char last[DIRECTORY_MARK];
    sqlite3_stmt *words = statement(d, WORDS);
    size_t count = 0;
    int result;

    memcpy(last, need->mark + 1, need->len - 1);
    last[need->len - 1] = (char)0xff; /* behind every character */
    sqlite_bind(words, 1, (struct str){ need->mark + 1, need->len - 1 });
    sqlite_bind(words, 2, (struct str){ last, need->len });
    sqlite_bind_u64(words, 3, MEANINGS + 1);
    while ((result = sqlite3_step(words)) == SQLITE_ROW)
        buf_putf(&d->match, "%s\"%c" STR_FMT "\"", count++ ? " OR " : "", need->mark[0],
                 STR_ARG(sqlite_text(words, 0)));
    return finish(d, words, result) ? MEANINGS + 1 : count;
}

/* A mark holds no quotes. */
static void write_need(struct sqlite_directory *d, const struct directory_need *need)
{
    struct buf *out = &d->match;
    size_t begin, count = 0;

    if (out->len)
        buf_put(out, S(" AND "));
    buf_putc(out, '(');
    begin = out->len;
    if (need->is_beginning)
        count = write_meanings(d, need);
    if (!count || count > MEANINGS) {
        out->len = begin;
        buf_putf(out, "\"%.*s\"%s", (int)need->len, need->mark,
                 need->is_beginning ? " *" : "");
    }
    buf_putc(out, ')');
}

static sqlite3_stmt *prepare_find(struct sqlite_directory *d,
                                  const struct directory_find *find)
{
    sqlite3_stmt *select;

    if (find->need_count)
        select = statement(d, find->has_max_rate ? FIND_RATED : FIND);
    else
        select = statement(d, find->has_max_rate ? LIST_RATED : LIST);
    buf_clear(&d->match);
    for (size_t i = 0; i < find->need_count; i++)
        write_need(d, &find->needs[i]);
    if (find->need_count)
        sqlite_bind(select, 1, buf_str(&d->match));
    sqlite_bind_u64(select, 2, find->first);
    sqlite_bind_u64(select, 5, find->end);
    sqlite_bind_u64(select, 3, find->limit);
    if (find->has_max_rate)
        sqlite_bind_u64(select, 4, find->max_hourly);
    return select;
}

static enum err dir_find(struct store_directory *directory,
                         const struct directory_find *find, uint64_t *ret,
                         size_t *ret_count)
{
    struct sqlite_directory *d = sqlite_dir(directory);
    sqlite3_stmt *select = prepare_find(d, find);
    size_t count = 0;
    int result;
    enum err err;

    while ((result = sqlite3_step(select)) == SQLITE_ROW && count < find->limit)
        ret[count++] = (uint64_t)sqlite3_column_int64(select, 0);
    err = finish(d, select, result);
    if (!err)
        *ret_count = count;
    return err;
}

/* --- reading --- */

static enum err dir_load(struct store_directory *directory, const uint64_t *ranks,
                         size_t count,
                         void (*on_json)(void *user, uint64_t rank, struct str json),
                         void *user)
{
    struct sqlite_directory *d = sqlite_dir(directory);
    sqlite3_stmt *select = statement(d, LOAD);
    enum err err = OK;

    for (size_t i = 0; i < count && !err; i++) {
        int result;

        sqlite_bind_u64(select, 1, ranks[i]);
        result = sqlite3_step(select);
        if (result == SQLITE_ROW)
            on_json(user, ranks[i], sqlite_text(select, 0));
        err = finish(d, select, result);
    }
    return err;
}

static enum err dir_get(struct store_directory *directory, struct str id,
                        void (*on_json)(void *user, uint64_t rank, struct str json),
                        void *user)
{
    struct sqlite_directory *d = sqlite_dir(directory);
    sqlite3_stmt *get = statement(d, GET);
    int result;
    enum err err;

    sqlite_bind(get, 1, id);
    result = sqlite3_step(get);
    if (result == SQLITE_ROW)
        on_json(user, (uint64_t)sqlite3_column_int64(get, 0), sqlite_text(get, 1));
    err = finish(d, get, result);
    return err || result == SQLITE_ROW ? err : ERR_NOT_FOUND;
}

static enum err dir_each(struct store_directory *directory, struct str after,
                         size_t limit,
                         void (*on_json)(void *user, uint64_t rank, struct str json),
                         void *user)
{
    struct sqlite_directory *d = sqlite_dir(directory);
    sqlite3_stmt *each = statement(d, EACH);
    int result;

    sqlite_bind(each, 1, after);
    sqlite_bind_u64(each, 2, limit);
    while ((result = sqlite3_step(each)) == SQLITE_ROW)
        on_json(user, (uint64_t)sqlite3_column_int64(each, 0), sqlite_text(each, 1));
    return finish(d, each, result);
}

static enum err dir_count(struct store_directory *directory, uint64_t *ret)
{
    struct sqlite_directory *d = sqlite_dir(directory);
    sqlite3_stmt *count = statement(d, COUNT);
    int result = sqlite3_step(count);

    if (result == SQLITE_ROW)
        *ret = (uint64_t)sqlite3_column_int64(count, 0);
    return finish(d, count, result);
}

const struct directory_ops sqlite_directory = {
    .open = dir_open,
    .close = dir_close,
    .begin = dir_begin,
    .read_begin = dir_read_begin,
    .commit = dir_commit,
    .rollback = dir_rollback,
    .put_all = dir_put_all,
    .remove = dir_remove,
    .find = dir_find,
    .load = dir_load,
    .get = dir_get,
    .each = dir_each,
    .count = dir_count,
};
