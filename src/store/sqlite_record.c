/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite: the record as it is written. */
#include <string.h>

#include "store/sqlite_priv.h"

/* --- whose it is --- */

enum err sqlite_origin(struct engine *engine, struct audit_origin *ret,
                       char installation[static AUDIT_INSTALLATION])
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    sqlite3_stmt *select = sqlite_statement(sqlite, SQL_ORIGIN);
    int result = sqlite3_step(select);
    enum err err = OK;

    if (result == SQLITE_DONE)
        err = ERR_NOT_FOUND;
    else if (result == SQLITE_ROW &&
             (!sqlite_bytes(select, 0, installation, AUDIT_INSTALLATION) ||
              !sqlite_bytes(select, 1, ret->public_key, sizeof(ret->public_key))))
        err = sqlite_damaged(sqlite, "origin", 1);
    ret->installation = (struct str){ installation, AUDIT_INSTALLATION };
    return err ? (void)sqlite3_reset(select), err : sqlite_finish(sqlite, select, result);
}

enum err sqlite_origin_set(struct engine *engine, const struct audit_origin *origin)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    sqlite3_stmt *insert = sqlite_statement(sqlite, SQL_ORIGIN_SET);

    sqlite_bind(insert, 1, origin->installation);
    sqlite_bind_bytes(insert, 2, origin->public_key, sizeof(origin->public_key));
    return sqlite_finish(sqlite, insert, sqlite3_step(insert));
}

/* --- records --- */

static enum err add_record(struct sqlite_engine *sqlite,
                           const struct audit_record *record)
{
    sqlite3_stmt *insert = sqlite_statement(sqlite, SQL_RECORD_ADD);

    sqlite_bind_u64(insert, COLUMN_SEQ + 1, record->seq);
    sqlite_bind_u64(insert, COLUMN_AT + 1, record->at_ms);
    sqlite_bind_u64(insert, COLUMN_EVENT + 1, record->event);
    sqlite_bind(insert, COLUMN_TOPIC + 1, record->topic);
    sqlite_bind(insert, COLUMN_PARTICIPANT + 1, record->participant);
    sqlite_bind(insert, COLUMN_KIND + 1, record->kind);
    sqlite_bind(insert, COLUMN_ID + 1, record->id);
    sqlite_bind(insert, COLUMN_CORRELATION + 1, record->correlation);
    sqlite_bind(insert, COLUMN_VERDICT + 1, record->verdict);
    sqlite_bind(insert, COLUMN_BY + 1, record->by);
    sqlite_bind_u64(insert, COLUMN_BODY_BYTES + 1, record->body_bytes);
    sqlite_bind_bytes(insert, COLUMN_BODY_HASH + 1, record->body_hash, SHA256_BYTES);
    sqlite_bind_bytes(insert, COLUMN_HASH + 1, record->hash, SHA256_BYTES);
    return sqlite_finish(sqlite, insert, sqlite3_step(insert));
}

static enum err add_body(struct sqlite_engine *sqlite, const struct audit_record *record)
{
    sqlite3_stmt *insert = sqlite_statement(sqlite, SQL_BODY_ADD);

    sqlite_bind_u64(insert, 1, record->seq);
    sqlite_bind(insert, 2, record->body);
    return sqlite_finish(sqlite, insert, sqlite3_step(insert));
}

enum err sqlite_append(struct engine *engine, const struct audit_record *records,
                       size_t count)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    enum err err = OK;

    for (size_t i = 0; i < count && !err; i++) {
        err = add_record(sqlite, &records[i]);
        if (!err && records[i].body.ptr)
            err = add_body(sqlite, &records[i]);
    }
    return err;
}

/* --- how far it has come --- */

enum err sqlite_checkpoint(struct engine *engine,
                           const struct audit_checkpoint *checkpoint)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    sqlite3_stmt *insert = sqlite_statement(sqlite, SQL_CHECKPOINT);

    sqlite_bind_u64(insert, 1, checkpoint->head.seq);
    sqlite_bind_u64(insert, 2, checkpoint->head.at_ms);
    sqlite_bind_bytes(insert, 3, checkpoint->head.hash, SHA256_BYTES);
    sqlite_bind_bytes(insert, 4, checkpoint->signature, ED25519_SIGNATURE);
    return sqlite_finish(sqlite, insert, sqlite3_step(insert));
}

static enum err last_record(struct sqlite_engine *sqlite, struct audit_head *ret)
{
    sqlite3_stmt *select = sqlite_statement(sqlite, SQL_HEAD);
    int result = sqlite3_step(select);
    enum err err = OK;

    *ret = (struct audit_head){};
    if (result == SQLITE_ROW) {
        ret->seq = (uint64_t)sqlite3_column_int64(select, 0);
        ret->at_ms = (uint64_t)sqlite3_column_int64(select, 1);
        if (!sqlite_bytes(select, 2, ret->hash, sizeof(ret->hash)))
            err = sqlite_damaged(sqlite, "record", ret->seq);
    }
    return err ? (void)sqlite3_reset(select), err : sqlite_finish(sqlite, select, result);
}

enum err sqlite_head(struct engine *engine, struct audit_head *ret,
                     uint64_t *ret_checkpoint_seq)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    struct audit_head head;
    enum err err = last_record(sqlite, &head);
    sqlite3_stmt *select;
    int result;

    if (err)
        return err;
    select = sqlite_statement(sqlite, SQL_HEAD_SIGNED);
    result = sqlite3_step(select);
    if (result == SQLITE_ROW) {
        *ret = head;
        *ret_checkpoint_seq = (uint64_t)sqlite3_column_int64(select, 0);
    }
    return sqlite_finish(sqlite, select, result);
}
