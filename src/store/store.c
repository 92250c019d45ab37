/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store and its writer. The writer starts with the first job, so that a command that
 * only looks up a token starts no thread.
 */
#include "store/store.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "store/store_priv.h"

enum err store_open(const char *path, struct store **ret, char **ret_why)
{
    struct store *store = xcalloc(1, sizeof(*store));
    enum err err;

    if (ret_why)
        *ret_why = NULL;
    (void)pthread_mutex_init(&store->mutex, NULL);
    (void)pthread_cond_init(&store->wake, NULL);
    store->opener = pthread_self();
    err = schema_open(store, path, ret_why);
    if (err) {
        store_close(store);
        return err;
    }
    *ret = store;
    return OK;
}

void store_close(struct store *store)
{
    bool has_writer;

    if (!store)
        return;
    (void)pthread_mutex_lock(&store->mutex);
    store->is_closing = true;
    has_writer = store->has_writer;
    (void)pthread_cond_signal(&store->wake);
    (void)pthread_mutex_unlock(&store->mutex);
    if (has_writer)
        (void)pthread_join(store->writer, NULL);
    schema_close(store);
    (void)pthread_cond_destroy(&store->wake);
    (void)pthread_mutex_destroy(&store->mutex);
    free(store);
}

/* The next job, or NULL when the store closes and nothing is left. */
static struct store_job *take_job(struct store *store)
{
    struct store_job *job;

    (void)pthread_mutex_lock(&store->mutex);
    while (!store->first && !store->is_closing)
        (void)pthread_cond_wait(&store->wake, &store->mutex);
    job = store->first;
    if (job)
        store->first = job->next;
    if (!store->first)
        store->last = NULL;
    (void)pthread_mutex_unlock(&store->mutex);
    return job;
}

static void deliver(struct loop_mail *mail)
{
    struct store_job *job = CONTAINER_OF(mail, struct store_job, mail);

    job->done(job);
}

static void *run_writer(void *user)
{
    struct store *store = user;
    struct store_job *job;

    while ((job = take_job(store))) {
        job->work(job, store);
        job->mail = (struct loop_mail){ .deliver = deliver };
        loop_post(job->loop, &job->mail);
    }
    return NULL;
}

/* Signals are the main thread's. */
static void start_writer(struct store *store)
{
    sigset_t all, old;
    int failure;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    failure = pthread_create(&store->writer, NULL, run_writer, store);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failure) {
        log_error("store.thread", "errno=%d", failure);
        abort(); /* like being out of memory */
    }
    (void)pthread_setname_np(store->writer, "store");
    store->has_writer = true;
}

void store_submit(struct store *store, struct store_job *job)
{
    job->next = NULL;
    (void)pthread_mutex_lock(&store->mutex);
    assert(!store->is_closing);
    if (!store->has_writer)
        start_writer(store);
    if (store->last)
        store->last->next = job;
    else
        store->first = job;
    store->last = job;
    (void)pthread_cond_signal(&store->wake);
    (void)pthread_mutex_unlock(&store->mutex);
}

static bool is_owner(struct store *store)
{
    pthread_t owner;

    (void)pthread_mutex_lock(&store->mutex);
    owner = store->has_writer ? store->writer : store->opener;
    (void)pthread_mutex_unlock(&store->mutex);
    return pthread_equal(owner, pthread_self());
}

sqlite3_stmt *store_statement(struct store *store, enum statement which)
{
    assert(is_owner(store));
    return store->statements[which];
}

enum err store_finish(struct store *store, sqlite3_stmt *statement, int result)
{
    enum err err = OK;

    if (result == SQLITE_CONSTRAINT_UNIQUE || result == SQLITE_CONSTRAINT_PRIMARYKEY) {
        err = ERR_CONFLICT;
    } else if ((result & 0xff) == SQLITE_CONSTRAINT) {
        err = ERR_INVALID;
    } else if (result != SQLITE_DONE && result != SQLITE_ROW && result != SQLITE_OK) {
        err = ERR_IO;
        log_error("store.fail", "code=%d why=%s", result,
                  LOG_TEXT(str_of(sqlite3_errmsg(store->db))));
    }
    (void)sqlite3_reset(statement);
    (void)sqlite3_clear_bindings(statement);
    return err;
}

void store_bind(sqlite3_stmt *statement, int at, struct str text)
{
    /* A NULL pointer would bind NULL. The text outlives the step. */
    (void)sqlite3_bind_text64(statement, at, text.ptr ? text.ptr : "", text.len,
                              SQLITE_STATIC, SQLITE_UTF8);
}

struct str store_column(sqlite3_stmt *statement, int at)
{
    const void *bytes = sqlite3_column_blob(statement, at);

    return (struct str){ bytes ? bytes : "",
                         (size_t)sqlite3_column_bytes(statement, at) };
}
