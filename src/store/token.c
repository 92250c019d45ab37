/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens: kept by name, found by whoever loads them all; only the hash of the secret. */
#include <string.h>

#include "store/store_priv.h"

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
    struct str hash = store_column(row, HASH);

    if (hash.len != sizeof(ret->hash))
        return false;
    *ret = (struct store_token){
        .name = store_column(row, NAME),
        .id = store_column(row, ID),
        .topics = store_column(row, TOPICS),
        .capabilities = store_column(row, CAPABILITIES),
        .profile = store_column(row, PROFILE),
        .type = store_column(row, TYPE),
        .is_admin = sqlite3_column_int(row, ADMIN) == 1,
        .created_ms = (uint64_t)sqlite3_column_int64(row, CREATED),
        .expires_ms = (uint64_t)sqlite3_column_int64(row, EXPIRES),
    };
    memcpy(ret->hash, hash.ptr, sizeof(ret->hash));
    return true;
}

enum err store_token_each(struct store *store,
                          void (*on_token)(void *user, const struct store_token *token),
                          void *user)
{
    sqlite3_stmt *select = store_statement(store, TOKEN_EACH);
    struct store_token token;
    int result;

    while ((result = sqlite3_step(select)) == SQLITE_ROW)
        if (read_token(select, &token))
            on_token(user, &token);
    return store_finish(store, select, result);
}

enum err store_token_add(struct store *store, const struct store_token *token)
{
    sqlite3_stmt *insert = store_statement(store, TOKEN_ADD);

    if (token->name.len == 0 || token->created_ms > INT64_MAX ||
        token->expires_ms > INT64_MAX)
        return ERR_INVALID;
    store_bind(insert, NAME + 1, token->name);
    (void)sqlite3_bind_blob(insert, HASH + 1, token->hash, sizeof(token->hash),
                            SQLITE_STATIC);
    store_bind(insert, ID + 1, token->id);
    store_bind(insert, TOPICS + 1, token->topics);
    store_bind(insert, CAPABILITIES + 1, token->capabilities);
    store_bind(insert, PROFILE + 1, token->profile);
    store_bind(insert, TYPE + 1, token->type);
    (void)sqlite3_bind_int(insert, ADMIN + 1, token->is_admin);
    (void)sqlite3_bind_int64(insert, CREATED + 1, (sqlite3_int64)token->created_ms);
    (void)sqlite3_bind_int64(insert, EXPIRES + 1, (sqlite3_int64)token->expires_ms);
    return store_finish(store, insert, sqlite3_step(insert));
}

enum err store_token_remove(struct store *store, struct str name, bool *ret_found)
{
    sqlite3_stmt *delete = store_statement(store, TOKEN_REMOVE);
    enum err err;
    int result;

    store_bind(delete, NAME + 1, name);
    result = sqlite3_step(delete);
    err = store_finish(store, delete, result);
    if (err)
        return err;
    *ret_found = sqlite3_changes(store->db) > 0;
    return OK;
}
