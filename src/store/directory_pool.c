/* SPDX-License-Identifier: Apache-2.0 */
/* The threads of the directory: started with the first job, each with a connection. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "store/directory_priv.h"
#include "store/store_priv.h"

enum { LANES = 2, READERS = 2, THREADS = READERS + 1 };

struct lane {
    struct store_directory_job *first, **end;
    pthread_cond_t wake;
};

struct worker {
    struct directory_pool *pool;
    struct lane *lane;
    pthread_t thread;
    struct store_directory *directory; /* the thread's; NULL: not yet, or it failed */
};

struct directory_pool {
    const struct store_setup *setup;
    atomic_bool is_closing;
    pthread_mutex_t mutex; /* guards all below */
    struct lane lanes[LANES];
    bool is_started;
    struct worker workers[THREADS];
};

/* --- the threads --- */

static bool is_reader(const struct worker *worker)
{
    return worker->lane == &worker->pool->lanes[DIRECTORY_READS];
}

static void open_directory(struct worker *worker)
{
    CLEANUP(xfreep) char *why = NULL;

    if (worker->directory)
        return;
    if (store_directory_open(worker->pool->setup, &worker->directory, &why))
        log_warn("directory.open", "reason=%s", LOG_TEXT(str_of(why ? why : "")));
    else if (is_reader(worker))
        worker->directory->is_cancelled = &worker->pool->is_closing;
    else
        worker->directory->is_closing = &worker->pool->is_closing;
}

static void close_directory(struct worker *worker)
{
    store_directory_close(worker->directory);
    worker->directory = NULL;
}

/* NULL: it closes, and nothing is left. */
static struct store_directory_job *take(struct worker *worker)
{
    struct directory_pool *pool = worker->pool;
    struct lane *lane = worker->lane;
    struct store_directory_job *job;

    (void)pthread_mutex_lock(&pool->mutex);
    while (!lane->first && !atomic_load(&pool->is_closing))
        (void)pthread_cond_wait(&lane->wake, &pool->mutex);
    job = lane->first;
    if (job)
        lane->first = job->next;
    if (!lane->first)
        lane->end = &lane->first;
    (void)pthread_mutex_unlock(&pool->mutex);
    return job;
}

static void deliver(struct loop_mail *mail)
{
    struct store_directory_job *job =
        CONTAINER_OF(mail, struct store_directory_job, mail);

    job->done(job);
}

static void work(struct worker *worker, struct store_directory_job *job)
{
    if (is_reader(worker) && atomic_load(&worker->pool->is_closing))
        close_directory(worker);
    else
        open_directory(worker);
    job->work(job, worker->directory);
    if (worker->directory && worker->directory->is_begun)
        store_directory_rollback(worker->directory);
    if (worker->directory && worker->directory->is_lost) {
        log_warn("directory.fail", "reason=%s",
                 LOG_TEXT(str_of(worker->directory->problem)));
        close_directory(worker); /* the next job tries anew */
    }
    job->mail = (struct loop_mail){ .deliver = deliver };
    loop_post(job->loop, &job->mail);
}

static void *run(void *user)
{
    struct worker *worker = user;
    struct store_directory_job *job;

    while ((job = take(worker)))
        work(worker, job);
    close_directory(worker);
    return NULL;
}

/* Signals are the main thread's. */
static void start(struct directory_pool *pool)
{
    sigset_t all, old;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    for (size_t i = 0; i < THREADS; i++) {
        struct worker *worker = &pool->workers[i];
        int failure;

        worker->pool = pool;
        worker->lane = &pool->lanes[i < READERS ? DIRECTORY_READS : DIRECTORY_WRITES];
        failure = pthread_create(&worker->thread, NULL, run, worker);
        if (failure) {
            log_error("directory.thread", "errno=%d", failure);
            abort(); /* like being out of memory */
        }
        (void)pthread_setname_np(worker->thread, "directory");
    }
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    pool->is_started = true;
}

/* --- from other threads --- */

struct directory_pool *directory_pool_new(const struct store_setup *setup)
{
    struct directory_pool *pool = xcalloc(1, sizeof(*pool));

    pool->setup = setup;
    (void)pthread_mutex_init(&pool->mutex, NULL);
    for (size_t i = 0; i < LANES; i++) {
        pool->lanes[i].end = &pool->lanes[i].first;
        (void)pthread_cond_init(&pool->lanes[i].wake, NULL);
    }
    return pool;
}

void directory_pool_free(struct directory_pool *pool)
{
    if (!pool)
        return;
    (void)pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->is_closing, true);
    for (size_t i = 0; i < LANES; i++)
        (void)pthread_cond_broadcast(&pool->lanes[i].wake);
    (void)pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; pool->is_started && i < THREADS; i++)
        (void)pthread_join(pool->workers[i].thread, NULL);
    for (size_t i = 0; i < LANES; i++)
        (void)pthread_cond_destroy(&pool->lanes[i].wake);
    (void)pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

void directory_pool_submit(struct directory_pool *pool, struct store_directory_job *job)
{
    struct lane *lane = &pool->lanes[job->lane];

    job->next = NULL;
    (void)pthread_mutex_lock(&pool->mutex);
    if (!pool->is_started)
        start(pool);
    *lane->end = job;
    lane->end = &job->next;
    (void)pthread_cond_signal(&lane->wake);
    (void)pthread_mutex_unlock(&pool->mutex);
}
