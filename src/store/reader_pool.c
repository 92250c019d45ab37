/* SPDX-License-Identifier: Apache-2.0 */
#include "store/reader_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "store/engine.h"
#include "store/store_priv.h"

enum { READERS = 2, SLICE_MS = 500 };

struct reader {
    struct reader_pool *pool;
    pthread_t thread;
    struct engine *engine;   /* NULL: not yet, or it failed */
    struct store_read *read; /* at work on; guarded by the mutex */
};

struct reader_pool {
    const struct store_setup *setup;
    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t wake;
    struct store_read *first, **end;
    struct indexer *indexer;
    bool is_closing;
    bool is_started;
    struct reader readers[READERS];
};

/* --- one question --- */

struct filling {
    struct store_read *read;
    size_t limit;
};

/* One more than asked for tells that there is more. */
static bool take_record(void *user, const struct audit_record *record)
{
    struct filling *filling = user;
    struct store_read *read = filling->read;

    if (read->page.count == filling->limit || read->page.bytes.len >= STORE_PAGE_BYTES) {
        read->has_more = true;
        return false;
    }
    audit_batch_add(&read->page, record);
    read->reached_seq = record->seq;
    return true;
}

static enum err open_engine(struct reader *reader)
{
    const struct engine_ops *ops = engine_for(reader->pool->setup);
    char *why = NULL;
    enum err err = OK;

    if (!reader->engine)
        err = ops->open(reader->pool->setup, ENGINE_READER, NULL, &reader->engine, &why);
    if (err)
        log_warn("reader.open", "reason=%s", LOG_TEXT(str_of(why ? why : "")));
    free(why);
    return err ? ERR_IO : OK;
}

static void close_engine(struct reader *reader)
{
    if (reader->engine)
        reader->engine->ops->close(reader->engine);
    reader->engine = NULL;
}

static enum err fill_page(struct reader *reader, struct store_read *read)
{
    struct filling filling = { read, read->query.limit };
    struct audit_query query = read->query;
    struct engine *engine = reader->engine;
    enum err err;

    if (!filling.limit || filling.limit > AUDIT_MAX_LIMIT)
        filling.limit = AUDIT_MAX_LIMIT;
    query.limit = filling.limit + 1;
    engine->is_cancelled = &read->is_cancelled;
    engine->until_ns = clock_mono_ns() + SLICE_MS * 1000000ull;
    engine->has_damaged_index = false;
    err = engine->ops->read(engine, &query, take_record, &filling);
    engine->is_cancelled = NULL;
    if (err != ERR_AGAIN)
        return err;
    read->has_more = true;
    read->reached_seq = engine->reached_seq;
    return OK;
}

struct signing {
    struct store_read *read;
    size_t size;
};

static bool take_checkpoint(void *user, const struct audit_checkpoint *checkpoint)
{
    struct signing *signing = user;
    struct store_read *read = signing->read;

    if (checkpoint->head.seq > read->reached_seq)
        return false;
    if (read->checkpoint_count == signing->size) {
        signing->size = signing->size ? 2 * signing->size : 16;
        read->checkpoints =
            xrealloc(read->checkpoints, signing->size * sizeof(*read->checkpoints));
    }
    read->checkpoints[read->checkpoint_count++] = *checkpoint;
    return true;
}

static enum err read_checkpoints(struct reader *reader, struct store_read *read)
{
    struct signing signing = { .read = read };

    free(read->checkpoints);
    read->checkpoints = NULL;
    read->checkpoint_count = 0;
    if (!read->wants_checkpoints || read->page.count == 0)
        return OK;
    return reader->engine->ops->checkpoints(reader->engine, read->query.after_seq,
                                            take_checkpoint, &signing);
}

static enum err try_to_answer(struct reader *reader, struct store_read *read,
                              bool is_last)
{
    enum err err = atomic_load(&read->is_cancelled) ? ERR_CLOSED : open_engine(reader);

    audit_batch_clear(&read->page);
    read->has_more = false;
    read->reached_seq = read->query.after_seq;
    if (!err)
        err = fill_page(reader, read);
    if (!err)
        err = read_checkpoints(reader, read);
    if (err == ERR_IO && reader->engine) {
        if (is_last)
            log_warn("reader.fail", "reason=%s",
                     LOG_TEXT(str_of(reader->engine->problem)));
        close_engine(reader);
    }
    return err;
}

/* A connection that was kept may have died meanwhile: then a new one is tried. */
static void answer(struct reader *reader, struct store_read *read)
{
    bool was_kept = reader->engine;

    read->err = try_to_answer(reader, read, !was_kept);
    if (read->err == ERR_IO && was_kept)
        read->err = try_to_answer(reader, read, true);
}

static void deliver(struct loop_mail *mail)
{
    struct store_read *read = CONTAINER_OF(mail, struct store_read, mail);

    read->done(read);
}

static void hand_back(struct store_read *read)
{
    read->mail = (struct loop_mail){ .deliver = deliver };
    loop_post(read->loop, &read->mail);
}

/* --- the threads --- */

/* The next question; NULL: the pool closes. */
static struct store_read *take_read(struct reader *reader)
{
    struct reader_pool *pool = reader->pool;
    struct store_read *read;

    (void)pthread_mutex_lock(&pool->mutex);
    while (!pool->first && !pool->is_closing)
        (void)pthread_cond_wait(&pool->wake, &pool->mutex);
    read = pool->first;
    if (read)
        pool->first = read->next;
    if (!pool->first)
        pool->end = &pool->first;
    if (read && pool->is_closing)
        atomic_store(&read->is_cancelled, true);
    reader->read = read;
    (void)pthread_mutex_unlock(&pool->mutex);
    return read;
}

static void end_read(struct reader *reader)
{
    struct reader_pool *pool = reader->pool;
    bool is_damaged = reader->engine && reader->engine->has_damaged_index;

    (void)pthread_mutex_lock(&pool->mutex);
    reader->read = NULL;
    if (is_damaged && pool->indexer)
        indexer_discard(pool->indexer);
    (void)pthread_mutex_unlock(&pool->mutex);
}

static void *run(void *user)
{
    struct reader *reader = user;
    struct store_read *read;

    while ((read = take_read(reader))) {
        answer(reader, read);
        end_read(reader);
        hand_back(read);
    }
    close_engine(reader);
    return NULL;
}

/* Signals are the main thread's. */
static void start(struct reader_pool *pool)
{
    sigset_t all, old;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    for (size_t i = 0; i < READERS; i++) {
        struct reader *reader = &pool->readers[i];
        int failure;

        reader->pool = pool;
        failure = pthread_create(&reader->thread, NULL, run, reader);
        if (failure) {
            log_error("reader.thread", "errno=%d", failure);
            abort(); /* like being out of memory */
        }
        (void)pthread_setname_np(reader->thread, "reader");
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    pool->is_started = true;
}

/* --- from other threads --- */

struct reader_pool *reader_pool_new(const struct store_setup *setup)
{
    struct reader_pool *pool = xcalloc(1, sizeof(*pool));

    pool->setup = setup;
    pool->end = &pool->first;
    (void)pthread_mutex_init(&pool->mutex, NULL);
    (void)pthread_cond_init(&pool->wake, NULL);
    return pool;
}

void reader_pool_watch(struct reader_pool *pool, struct indexer *indexer)
{
    (void)pthread_mutex_lock(&pool->mutex);
    pool->indexer = indexer;
    (void)pthread_mutex_unlock(&pool->mutex);
}

void reader_pool_free(struct reader_pool *pool)
{
    if (!pool)
        return;
    (void)pthread_mutex_lock(&pool->mutex);
    pool->is_closing = true;
    for (size_t i = 0; i < READERS; i++)
        if (pool->readers[i].read)
            atomic_store(&pool->readers[i].read->is_cancelled, true);
    (void)pthread_cond_broadcast(&pool->wake);
    (void)pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; pool->is_started && i < READERS; i++)
        (void)pthread_join(pool->readers[i].thread, NULL);
    (void)pthread_cond_destroy(&pool->wake);
    (void)pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

void reader_pool_ask(struct reader_pool *pool, struct store_read *read)
{
    read->next = NULL;
    (void)pthread_mutex_lock(&pool->mutex);
    if (!pool->is_started)
        start(pool);
    *pool->end = read;
    pool->end = &read->next;
    (void)pthread_cond_signal(&pool->wake);
    (void)pthread_mutex_unlock(&pool->mutex);
}
