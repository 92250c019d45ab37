/* SPDX-License-Identifier: Apache-2.0 */
/* Inside store/: the database and its prepared statements (schema.c), the thread that
 * owns it (store.c), and one file per thing that is kept. */
#pragma once

#include <pthread.h>
#include <sqlite3.h>

#include "store/store.h"

enum statement { TOKEN_ADD, TOKEN_EACH, TOKEN_REMOVE, STATEMENT_COUNT };

struct store {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENT_COUNT];
    pthread_t opener;

    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t wake;
    struct store_job *first, *last;
    bool has_writer;
    bool is_closing;
    pthread_t writer;
};

/* Opens, migrates, prepares. On failure *ret_why is as in store_open(). */
enum err schema_open(struct store *store, const char *path, char **ret_why);
void schema_close(struct store *store);

/* The statement, ready to be bound; asserts that the caller is on the right thread. */
sqlite3_stmt *store_statement(struct store *store, enum statement which);

/* Ends what store_statement() began; returns what the last step means and logs failures.
 */
enum err store_finish(struct store *store, sqlite3_stmt *statement, int result);

void store_bind(sqlite3_stmt *statement, int at, struct str text);
struct str store_column(sqlite3_stmt *statement, int at);
