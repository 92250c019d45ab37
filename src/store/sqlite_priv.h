/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside store/, the SQLite engine. A writer's connection has audit.db as its main file
 * and moot.db attached; a reader's has audit.db alone. Names of tables are unique among
 * the two, so statements do not say which file they mean.
 *
 * The main file is committed first. With WAL a transaction over two files is atomic in
 * each of them, not in both: after a crash there may be a record of a change that was
 * not made, and never a change without its record. Nobody has been told of either.
 */
#pragma once

#include <sqlite3.h>

#include "store/engine.h"

/* clang-format off */
#define SQLITE_STATEMENTS(X)                                                             \
    X(BEGIN,         "BEGIN IMMEDIATE")                                                  \
    X(COMMIT,        "COMMIT")                                                           \
    X(ROLLBACK,      "ROLLBACK")                                                         \
    X(TOKEN_ADD,     "INSERT INTO token (name, hash, id, topics, capabilities, profile," \
                     " type, is_admin, created_ms, expires_ms)"                          \
                     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")                \
    X(TOKEN_EACH,    "SELECT name, hash, id, topics, capabilities, profile, type,"       \
                     " is_admin, created_ms, expires_ms FROM token"                      \
                     " ORDER BY created_ms, name")                                       \
    X(TOKEN_REMOVE,  "DELETE FROM token WHERE name = ?1")                                \
    X(ITEM_EACH,     "SELECT topic, key, value FROM item WHERE section = ?1"             \
                     " ORDER BY topic, key")                                             \
    X(ITEM_PUT,      "REPLACE INTO item (section, topic, key, value)"                    \
                     " VALUES (?1, ?2, ?3, ?4)")                                         \
    X(ITEM_REMOVE,   "DELETE FROM item WHERE section = ?1 AND topic = ?2 AND key = ?3")  \
    X(ORIGIN,        "SELECT installation, public_key FROM origin")                      \
    X(ORIGIN_SET,    "REPLACE INTO origin (id, installation, public_key)"                \
                     " VALUES (1, ?1, ?2)")                                              \
    X(RECORD_ADD,    "INSERT INTO record VALUES"                                         \
                     " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)")        \
    X(BODY_ADD,      "INSERT INTO body VALUES (?1, ?2)")                                 \
    X(CHECKPOINT,    "REPLACE INTO checkpoint (seq, at_ms, hash, signature)"             \
                     " VALUES (?1, ?2, ?3, ?4)")                                         \
    X(CHECKPOINTS,   "SELECT seq, at_ms, hash, signature FROM checkpoint"                \
                     " WHERE seq > ?1 ORDER BY seq")                                     \
    X(HEAD,          "SELECT seq, at_ms, hash FROM record ORDER BY seq DESC LIMIT 1")    \
    X(HEAD_SIGNED,   "SELECT max(seq) FROM checkpoint")                                  \
    X(BODIES,        "SELECT b.seq, r.at_ms, r.event, r.body_bytes, r.topic"             \
                     " FROM body b CROSS JOIN record r ON r.seq = b.seq"                 \
                     " WHERE b.seq > ?1 ORDER BY b.seq")                                 \
    X(BODY_REMOVE,   "DELETE FROM body WHERE seq = ?1")                                  \
    X(TALLY,         "SELECT done_seq, counted_seq, bytes FROM tally WHERE rule = ?1")   \
    X(TALLY_PUT,     "REPLACE INTO tally (rule, done_seq, counted_seq, bytes)"           \
                     " VALUES (?1, ?2, ?3, ?4)")                                         \
    X(TALLY_DROP,    "DELETE FROM tally WHERE rule <> ?1 AND CASE ?2"                    \
                     " WHEN '' THEN substr(rule, 1, 1) = '*'"                            \
                     " OR instr(?1, '/' || substr(rule, 2) || '/') = 0"                  \
                     " ELSE substr(rule, 1, 1) = '*'"                                    \
                     " AND instr(rule, '/' || ?2 || '/') = 0 END")                       \
    X(TIME_FROM,     "SELECT at_ms FROM record WHERE seq >= ?1 ORDER BY seq LIMIT 1")      \
    X(READ_ONE,      SQL_READ_TEXT)                                                        \
    X(READ_UP,       SQL_READ_TEXT " ORDER BY r.seq")                                      \
    X(READ_DOWN,     SQL_READ_TEXT " ORDER BY r.seq DESC")

/* In the order of enum sqlite_column. The text of a body is not looked at where nobody
 * wants it (?3). */
#define SQL_READ_TEXT                                                                      \
    "SELECT r.seq, r.at_ms, r.event, r.topic, r.participant, r.kind, r.id,"              \
    " r.correlation, r.verdict, r.decided_by, r.body_bytes, r.body_hash, r.hash, b.text" \
    " FROM record r LEFT JOIN body b ON ?3 AND b.seq = r.seq"                            \
    " WHERE r.seq > ?1 AND r.seq < ?2"
/* clang-format on */

/* The columns of a record; the parameters of RECORD_ADD count from 1 and end before the
 * body. */
enum sqlite_column {
    COLUMN_SEQ,
    COLUMN_AT,
    COLUMN_EVENT,
    COLUMN_TOPIC,
    COLUMN_PARTICIPANT,
    COLUMN_KIND,
    COLUMN_ID,
    COLUMN_CORRELATION,
    COLUMN_VERDICT,
    COLUMN_BY,
    COLUMN_BODY_BYTES,
    COLUMN_BODY_HASH,
    COLUMN_HASH,
    COLUMN_BODY,
};

enum sqlite_statement {
#define X(name, text) SQL_##name,
    SQLITE_STATEMENTS(X)
#undef X
        SQL_COUNT
};

enum sqlite_file { FILE_STATE, FILE_RECORD, FILE_DIRECTORY, FILE_COUNT };

/* How long the log of a file is, and was when it was last moved into the file. */
struct sqlite_log {
    int pages, moved;
};

struct sqlite_engine {
    struct engine engine;
    sqlite3 *db;
    sqlite3_stmt *statements[SQL_COUNT]; /* prepared when first used */
    struct sqlite_log logs[FILE_COUNT];  /* a writer's */
    char *index_path;                    /* of a reader that has an index; else NULL */
    struct search_reader *index;         /* opened when first needed */
};

static inline struct sqlite_engine *sqlite_of(struct engine *engine)
{
    return CONTAINER_OF(engine, struct sqlite_engine, engine);
}

/* --- sqlite_schema.c --- */

/* Makes the file where missing and brings it to our version. */
enum err sqlite_migrate(enum sqlite_file file, const char *path, char **ret_why);

/* Of our version, for who only reads. */
enum err sqlite_check(sqlite3 *db, enum sqlite_file file, const char *path,
                      char **ret_why);

/* --- sqlite.c --- */

/* The statement, ready to be bound. NULL where it cannot be prepared; binding, stepping
 * and finishing that is harmless and ends in ERR_IO. */
sqlite3_stmt *sqlite_statement(struct sqlite_engine *sqlite, enum sqlite_statement which);

/* Ends what sqlite_statement() began; returns what the last step means. */
enum err sqlite_finish(struct sqlite_engine *sqlite, sqlite3_stmt *statement, int result);

/* Something in the file cannot be what we wrote. */
enum err sqlite_damaged(struct sqlite_engine *sqlite, const char *what, uint64_t seq);

void sqlite_bind(sqlite3_stmt *statement, int at, struct str text);
void sqlite_bind_u64(sqlite3_stmt *statement, int at, uint64_t number);
void sqlite_bind_bytes(sqlite3_stmt *statement, int at, const void *bytes, size_t size);
struct str sqlite_text(sqlite3_stmt *statement, int at);

/* False: the column has not exactly so many bytes. */
bool sqlite_bytes(sqlite3_stmt *statement, int at, void *ret, size_t size);

/* --- sqlite_state.c --- */

enum err sqlite_token_each(struct engine *engine,
                           void (*on_token)(void *user, const struct store_token *),
                           void *user);
enum err sqlite_token_add(struct engine *engine, const struct store_token *token);
enum err sqlite_token_remove(struct engine *engine, struct str name, bool *ret_found);
enum err sqlite_item_each(struct engine *engine, enum store_section section,
                          void (*on_item)(void *user, const struct store_item *),
                          void *user);
enum err sqlite_item_put(struct engine *engine, const struct store_item *item);
enum err sqlite_item_remove(struct engine *engine, const struct store_item *item);

/* --- sqlite_record.c, sqlite_strip.c --- */

enum err sqlite_origin(struct engine *engine, struct audit_origin *ret,
                       char installation[static AUDIT_INSTALLATION]);
enum err sqlite_origin_set(struct engine *engine, const struct audit_origin *origin);
enum err sqlite_append(struct engine *engine, const struct audit_record *records,
                       size_t count);
enum err sqlite_checkpoint(struct engine *engine, const struct audit_checkpoint *);
enum err sqlite_head(struct engine *engine, struct audit_head *ret,
                     uint64_t *ret_checkpoint_seq);
enum err sqlite_strip(struct engine *engine, const struct engine_strip *strip,
                      struct engine_stripped *ret);

/* --- sqlite_read.c --- */

/* The record in this row; views are valid until the next step. */
enum err sqlite_record(struct sqlite_engine *sqlite, sqlite3_stmt *row,
                       struct audit_record *ret);
enum err sqlite_checkpoints(struct engine *engine, uint64_t after_seq,
                            bool (*on_checkpoint)(void *user,
                                                  const struct audit_checkpoint *),
                            void *user);

/* --- sqlite_search.c --- */

enum err sqlite_read(struct engine *engine, const struct audit_query *query,
                     bool (*on_record)(void *user, const struct audit_record *),
                     void *user);
