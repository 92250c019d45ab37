/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite: tokens, of which only the hash of the secret is kept, and the state of rooms.
 */
#include <string.h>

#include "store/sqlite_priv.h"
#include "store/store_priv.h"

/* --- tokens --- */

/* The columns, in the order of TOKEN_ADD and TOKEN_EACH; parameters count from 1. */
enum column {
    NAME,
    HASH,
    ID,
    TOPICS,
    CAPABILITIES,
    PROFILE,
    TYPE,
    ADMIN,
    CREATED,
    EXPIRES
};

static bool read_token(sqlite3_stmt *row, struct store_token *ret)
{
    struct str hash = sqlite_text(row, HASH);

    if (hash.len != sizeof(ret->hash))
        return false;
    *ret = (struct store_token){
        .name = sqlite_text(row, NAME),
        .id = sqlite_text(row, ID),
        .topics = sqlite_text(row, TOPICS),
        .capabilities = sqlite_text(row, CAPABILITIES),
        .profile = sqlite_text(row, PROFILE),
        .type = sqlite_text(row, TYPE),
        .is_admin = sqlite3_column_int(row, ADMIN) == 1,
        .created_ms = (uint64_t)sqlite3_column_int64(row, CREATED),
        .expires_ms = (uint64_t)sqlite3_column_int64(row, EXPIRES),
    };
    memcpy(ret->hash, hash.ptr, sizeof(ret->hash));
    return true;
}

enum err sqlite_token_each(struct engine *engine,
                           void (*on_token)(void *user, const struct store_token *),
                           void *user)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    sqlite3_stmt *select = sqlite_statement(sqlite, SQL_TOKEN_EACH);
    struct store_token token;
    int result;

    while ((result = sqlite3_step(select)) == SQLITE_ROW)
        if (read_token(select, &token))
            on_token(user, &token);
    return sqlite_finish(sqlite, select, result);
}

enum err sqlite_token_add(struct engine *engine, const struct store_token *token)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    sqlite3_stmt *insert = sqlite_statement(sqlite, SQL_TOKEN_ADD);

    sqlite_bind(insert, NAME + 1, token->name);
    sqlite_bind_bytes(insert, HASH + 1, token->hash, sizeof(token->hash));
    sqlite_bind(insert, ID + 1, token->id);
    sqlite_bind(insert, TOPICS + 1, token->topics);
    sqlite_bind(insert, CAPABILITIES + 1, token->capabilities);
    sqlite_bind(insert, PROFILE + 1, token->profile);
    sqlite_bind(insert, TYPE + 1, token->type);
    (void)sqlite3_bind_int(insert, ADMIN + 1, token->is_admin);
    sqlite_bind_u64(insert, CREATED + 1, token->created_ms);
    sqlite_bind_u64(insert, EXPIRES + 1, token->expires_ms);
    return sqlite_finish(sqlite, insert, sqlite3_step(insert));
}

enum err sqlite_token_remove(struct engine *engine, struct str name, bool *ret_found)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    sqlite3_stmt *delete = sqlite_statement(sqlite, SQL_TOKEN_REMOVE);
    enum err err;

    sqlite_bind(delete, NAME + 1, name);
    err = sqlite_finish(sqlite, delete, sqlite3_step(delete));
    if (err)
        return err;
    *ret_found = sqlite3_changes(sqlite->db) > 0;
    return OK;
}

/* --- items --- */

enum err sqlite_item_each(struct engine *engine, enum store_section section,
                          void (*on_item)(void *user, const struct store_item *),
                          void *user)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    sqlite3_stmt *select = sqlite_statement(sqlite, SQL_ITEM_EACH);
    int result;

    sqlite_bind(select, 1, store_section_name(section));
    while ((result = sqlite3_step(select)) == SQLITE_ROW)
        on_item(user, &(struct store_item){ .section = section,
                                            .topic = sqlite_text(select, 0),
                                            .key = sqlite_text(select, 1),
                                            .value = sqlite_text(select, 2) });
    return sqlite_finish(sqlite, select, result);
}

static void bind_name(sqlite3_stmt *statement, const struct store_item *item)
{
    sqlite_bind(statement, 1, store_section_name(item->section));
    sqlite_bind(statement, 2, item->topic);
    sqlite_bind(statement, 3, item->key);
}

enum err sqlite_item_put(struct engine *engine, const struct store_item *item)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    sqlite3_stmt *put = sqlite_statement(sqlite, SQL_ITEM_PUT);

    bind_name(put, item);
    sqlite_bind(put, 4, item->value);
    return sqlite_finish(sqlite, put, sqlite3_step(put));
}

enum err sqlite_item_remove(struct engine *engine, const struct store_item *item)
{
    struct sqlite_engine *sqlite = sqlite_of(engine);
    sqlite3_stmt *delete = sqlite_statement(sqlite, SQL_ITEM_REMOVE);

    bind_name(delete, item);
    return sqlite_finish(sqlite, delete, sqlite3_step(delete));
}
