/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite: the record as it is read. */
#include "store/sqlite_priv.h"

enum err sqlite_record(struct sqlite_engine *sqlite, sqlite3_stmt *row,
                       struct audit_record *ret)
{
    int64_t event = sqlite3_column_int64(row, COLUMN_EVENT);
    int64_t body_bytes = sqlite3_column_int64(row, COLUMN_BODY_BYTES);
    bool has_body = sqlite3_column_type(row, COLUMN_BODY) != SQLITE_NULL;

    *ret = (struct audit_record){
        .seq = (uint64_t)sqlite3_column_int64(row, COLUMN_SEQ),
        .at_ms = (uint64_t)sqlite3_column_int64(row, COLUMN_AT),
        .event = (enum audit_event)event,
        .topic = sqlite_text(row, COLUMN_TOPIC),
        .participant = sqlite_text(row, COLUMN_PARTICIPANT),
        .kind = sqlite_text(row, COLUMN_KIND),
        .id = sqlite_text(row, COLUMN_ID),
        .correlation = sqlite_text(row, COLUMN_CORRELATION),
        .verdict = sqlite_text(row, COLUMN_VERDICT),
        .by = sqlite_text(row, COLUMN_BY),
        .body_bytes = (size_t)body_bytes,
    };
    if (has_body)
        ret->body = sqlite_text(row, COLUMN_BODY);
    if (event < 0 || event >= AUDIT_EVENT_COUNT || body_bytes < 0 ||
        !sqlite_bytes(row, COLUMN_BODY_HASH, ret->body_hash, sizeof(ret->body_hash)) ||
        !sqlite_bytes(row, COLUMN_HASH, ret->hash, sizeof(ret->hash)))
        return sqlite_damaged(sqlite, "record", ret->seq);
    return OK;
}

enum err sqlite_checkpoints(struct engine *engine, uint64_t after_seq,
                            bool (*on_checkpoint)(void *user,
                                                  const struct audit_checkpoint *),
                            void *user)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    sqlite3_stmt *select = sqlite_statement(sqlite, SQL_CHECKPOINTS);
    struct audit_checkpoint checkpoint;
    enum err err = OK;
    int result;

    sqlite_bind_u64(select, 1, after_seq);
    while ((result = sqlite3_step(select)) == SQLITE_ROW) {
        checkpoint.head.seq = (uint64_t)sqlite3_column_int64(select, 0);
        checkpoint.head.at_ms = (uint64_t)sqlite3_column_int64(select, 1);
        if (!sqlite_bytes(select, 2, checkpoint.head.hash, SHA256_BYTES) ||
            !sqlite_bytes(select, 3, checkpoint.signature, ED25519_SIGNATURE))
            err = sqlite_damaged(sqlite, "checkpoint", checkpoint.head.seq);
        if (err || !on_checkpoint(user, &checkpoint))
            break;
    }
    return err ? (void)sqlite3_reset(select), err : sqlite_finish(sqlite, select, result);
}
