/* SPDX-License-Identifier: Apache-2.0 */
#include "store/indexer.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "store/search.h"

enum {
    GATHER_MS = 200,     /* so long records gather before they are looked at */
    IDLE_MS = 60 * 1000, /* parts that are to be built again announce themselves not */
    RETRY_MS = 5 * 1000,
    STALE_MS = 24 * 60 * 60 * 1000,
    PATH_BYTES = 4096,
};

struct indexer {
    const struct store_setup *setup;
    char path[PATH_BYTES];
    pthread_t thread;
    atomic_uint_fast64_t seq;
    atomic_bool is_closing; /* set with the mutex held, read without */

    pthread_mutex_t mutex; /* guards all below */
    pthread_cond_t wake;
    bool has_news;
    bool is_damaged;

    struct engine *engine; /* the thread's, as all below */
    struct search_writer *writer;
};

/* --- waiting --- */

static void set_deadline(struct timespec *at, uint64_t delay_ms)
{
    uint64_t at_ms = clock_mono_ms() + delay_ms;

    at->tv_sec = (time_t)(at_ms / 1000);
    at->tv_nsec = (long)(at_ms % 1000) * 1000000;
}

/* Until there is news, or it closes, or the time is over. */
static void wait_for_news(struct indexer *indexer, uint64_t delay_ms)
{
    struct timespec at;

    set_deadline(&at, delay_ms);
    (void)pthread_mutex_lock(&indexer->mutex);
    while (!indexer->has_news && !indexer->is_closing)
        if (pthread_cond_timedwait(&indexer->wake, &indexer->mutex, &at))
            break;
    (void)pthread_mutex_unlock(&indexer->mutex);
}

/* Whatever the news. */
static void pause_for(struct indexer *indexer, uint64_t delay_ms)
{
    struct timespec at;

    set_deadline(&at, delay_ms);
    (void)pthread_mutex_lock(&indexer->mutex);
    while (!indexer->is_closing)
        if (pthread_cond_timedwait(&indexer->wake, &indexer->mutex, &at))
            break;
    indexer->has_news = false;
    (void)pthread_mutex_unlock(&indexer->mutex);
}

/* --- the work --- */

static bool take_damage(struct indexer *indexer)
{
    bool is_damaged;

    (void)pthread_mutex_lock(&indexer->mutex);
    is_damaged = indexer->is_damaged;
    indexer->is_damaged = false;
    (void)pthread_mutex_unlock(&indexer->mutex);
    return is_damaged;
}

static void shut(struct indexer *indexer)
{
    search_writer_close(indexer->writer);
    indexer->writer = NULL;
    if (indexer->engine)
        indexer->engine->ops->close(indexer->engine);
    indexer->engine = NULL;
}

static void begin_anew(struct indexer *indexer, const char *why)
{
    log_warn("search.rebuild", "file=%s reason=\"%s\"", LOG_TEXT(str_of(indexer->path)),
             why);
    shut(indexer);
    search_discard(indexer->path);
    atomic_store(&indexer->seq, 0);
}

static enum err open_all(struct indexer *indexer)
{
    const struct engine_ops *ops = engine_for(indexer->setup);
    struct search_options options = {
        .path = indexer->path,
        .part_records = SEARCH_PART,
        .stale_ms = STALE_MS,
    };
    bool is_damaged = false;

    if (indexer->writer)
        return OK;
    if (!indexer->engine &&
        ops->open(indexer->setup, ENGINE_READER, NULL, &indexer->engine, NULL))
        return ERR_IO;
    /* Whoever closes waits for us, and we have the lowest priority. */
    indexer->engine->is_cancelled = &indexer->is_closing;
    if (search_writer_open(&options, indexer->engine, &indexer->writer, &is_damaged) ==
        OK)
        return OK;
    if (is_damaged)
        begin_anew(indexer, "it does not belong to this record, or is damaged");
    return ERR_IO;
}

/* One piece; *ret_has_more: the next one need not wait. */
static enum err work(struct indexer *indexer, bool *ret_has_more)
{
    enum err err;

    *ret_has_more = false;
    if (take_damage(indexer) && indexer->writer)
        begin_anew(indexer, "a search found it damaged");
    err = open_all(indexer);
    if (err)
        return err;
    if (access(indexer->path, F_OK)) {
        begin_anew(indexer, "it was deleted");
        return ERR_AGAIN;
    }
    err = search_write(indexer->writer, clock_wall_ms(), ret_has_more);
    if (!err)
        atomic_store(&indexer->seq, search_writer_state(indexer->writer)->seq);
    else if (search_writer_is_damaged(indexer->writer))
        begin_anew(indexer, "it is damaged");
    else
        shut(indexer);
    return err;
}

static void *run(void *user)
{
    struct indexer *indexer = user;
    bool has_failed = false;

    /* Nobody waits for it, since what is not indexed yet is looked through. On Linux this
     * is the thread's own: 0 names the caller. */
    (void)sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){});
    while (!atomic_load(&indexer->is_closing)) {
        bool has_more;
        enum err err = work(indexer, &has_more);

        if (err && has_failed)
            pause_for(indexer, RETRY_MS);
        has_failed = err != OK;
        if (err || has_more)
            continue;
        wait_for_news(indexer, IDLE_MS);
        pause_for(indexer, GATHER_MS);
    }
    shut(indexer);
    return NULL;
}

/* --- from other threads --- */

static void init_wake(pthread_cond_t *wake)
{
    pthread_condattr_t attributes;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

struct indexer *indexer_new(const struct store_setup *setup)
{
    struct indexer *indexer = xcalloc(1, sizeof(*indexer));
    sigset_t all, old;
    int failure;

    indexer->setup = setup;
    (void)snprintf(indexer->path, sizeof(indexer->path), "%s/search.db", setup->data);
    (void)pthread_mutex_init(&indexer->mutex, NULL);
    init_wake(&indexer->wake);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are the main thread's */
    failure = pthread_create(&indexer->thread, NULL, run, indexer);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (failure) {
        log_error("search.thread", "errno=%d", failure);
        abort(); /* like being out of memory */
    }
    (void)pthread_setname_np(indexer->thread, "indexer");
    return indexer;
}

void indexer_free(struct indexer *indexer)
{
    if (!indexer)
        return;
    (void)pthread_mutex_lock(&indexer->mutex);
    atomic_store(&indexer->is_closing, true);
    (void)pthread_cond_signal(&indexer->wake);
    (void)pthread_mutex_unlock(&indexer->mutex);
    (void)pthread_join(indexer->thread, NULL);
    (void)pthread_cond_destroy(&indexer->wake);
    (void)pthread_mutex_destroy(&indexer->mutex);
    free(indexer);
}

static void tell(struct indexer *indexer, bool is_damaged)
{
    (void)pthread_mutex_lock(&indexer->mutex);
    indexer->is_damaged |= is_damaged;
    if (!indexer->has_news)
        (void)pthread_cond_signal(&indexer->wake);
    indexer->has_news = true;
    (void)pthread_mutex_unlock(&indexer->mutex);
}

void indexer_wake(struct indexer *indexer)
{
    tell(indexer, false);
}

void indexer_discard(struct indexer *indexer)
{
    tell(indexer, true);
}

uint64_t indexer_seq(struct indexer *indexer)
{
    return atomic_load(&indexer->seq);
}
