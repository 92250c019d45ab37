/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue, and which of the two writers empties it.
 *
 *     patient   nobody waits: it runs where nobody else wants the processor (SCHED_IDLE),
 *               so that a room is not slowed by its record
 *     prompt    somebody waits, or the patient one was left without a processor: it keeps
 *               the turn for a while, since more of that kind is likely to follow
 *
 * Who has to wait for the patient one brings it forward, which takes a privilege; without
 * it the patient one steps back less far (nice 19). That is why there are two threads.
 */
#include <assert.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "store/store_priv.h"

enum {
    PROMPT_MS = 1000,  /* so long the prompt one keeps the turn */
    STARVED_MS = 2000, /* nothing that waits has moved for so long */
    LAST_NICE = 19,
    NO_NICE = 20, /* of RLIMIT_NICE: up to a nice value of 0 */
};

/* --- whose turn it is; all with the mutex held --- */

static bool set_idle(struct store_writer *writer, bool is_idle)
{
    return sched_setscheduler(writer->thread_id, is_idle ? SCHED_IDLE : SCHED_OTHER,
                              &(struct sched_param){}) == 0;
}

/* Somebody waits behind what the patient one is writing. */
static void hurry(struct store *store)
{
    struct store_writer *patient = &store->patient;

    if (store->writing == patient && patient->is_idle)
        patient->is_idle = !set_idle(patient, false);
}

static void calm_down(struct store_writer *patient)
{
    if (patient->may_be_idle && !patient->is_idle)
        patient->is_idle = set_idle(patient, true);
}

static struct store_writer *next_writer(struct store *store)
{
    bool is_prompt = store->is_closing || clock_mono_ms() < store->prompt_until_ms;

    return is_prompt ? &store->prompt : &store->patient;
}

static bool has_entries(const struct store *store)
{
    return store->first || store->taken;
}

/* By when the patient one looks without having been called. */
static uint64_t next_look(const struct store *store, const struct store_writer *self)
{
    if (self != &store->patient || store->due_ms == UINT64_MAX)
        return UINT64_MAX;
    return store->due_ms > store->prompt_until_ms ? store->due_ms
                                                  : store->prompt_until_ms;
}

static void wait_until(struct store *store, struct store_writer *self, uint64_t until_ms)
{
    struct timespec until = { .tv_sec = (time_t)(until_ms / 1000),
                              .tv_nsec = (long)(until_ms % 1000) * 1000000 };

    self->until_ms = until_ms;
    if (until_ms == UINT64_MAX)
        (void)pthread_cond_wait(&self->wake, &store->mutex);
    else
        (void)pthread_cond_timedwait(&self->wake, &store->mutex, &until);
}

/* There is something for this one, or for the other, who is then called: the turn may
 * have passed on while nobody looked. */
static bool may_write(struct store *store, struct store_writer *self)
{
    struct store_writer *next = next_writer(store);
    bool is_due = clock_mono_ms() >= store->due_ms && self == &store->patient;

    if (store->writing || !(has_entries(store) || is_due))
        return false;
    if (next != self)
        (void)pthread_cond_signal(&next->wake);
    return next == self;
}

/* --- taking turns --- */

static bool is_over(const struct store *store, const struct store_writer *self)
{
    if (!store->is_closing)
        return false;
    return self == &store->patient || (!store->writing && !has_entries(store));
}

bool store_turn_begin(struct store *store, struct store_writer *self)
{
    bool goes_on;

    (void)pthread_mutex_lock(&store->mutex);
    while (!is_over(store, self) && !may_write(store, self))
        wait_until(store, self, next_look(store, self));
    goes_on = !is_over(store, self);
    if (goes_on || self == &store->prompt) { /* who also closes */
        store->writing = self;
        store->owner = self->thread;
    }
    if (goes_on && !store->taken)
        store->taken = store_queue_take(store);
    (void)pthread_mutex_unlock(&store->mutex);
    return goes_on;
}

void store_turn_end(struct store *store, uint64_t due_ms)
{
    struct store_writer *patient = &store->patient;

    (void)pthread_mutex_lock(&store->mutex);
    if (store->writing == patient)
        calm_down(patient);
    store->writing = NULL;
    store->moved_ms = clock_mono_ms();
    store->due_ms = due_ms;
    if (has_entries(store) || store->is_closing)
        (void)pthread_cond_signal(&next_writer(store)->wake);
    if (next_look(store, patient) < patient->until_ms)
        (void)pthread_cond_signal(&patient->wake);
    (void)pthread_mutex_unlock(&store->mutex);
}

/* --- the queue --- */

struct store_entry *store_queue_take(struct store *store)
{
    struct store_entry *first = store->first;

    store->first = NULL;
    store->end = &store->first;
    return first;
}

bool store_queue_wait(struct store *store, uint64_t until_ms, struct store_entry **ret)
{
    bool is_closing;

    (void)pthread_mutex_lock(&store->mutex);
    if (!store->first && !store->is_closing)
        wait_until(store, store->writing, until_ms);
    *ret = store_queue_take(store);
    is_closing = store->is_closing;
    (void)pthread_mutex_unlock(&store->mutex);
    return !is_closing;
}

/* --- the threads --- */

/* May we take back what SCHED_IDLE gives away? */
static bool may_come_forward(void)
{
    struct rlimit nice;

    return geteuid() == 0 ||
           (getrlimit(RLIMIT_NICE, &nice) == 0 && nice.rlim_cur >= NO_NICE);
}

/* On Linux both are the thread's own: 0 names the caller. */
static void stand_back(struct store_writer *self)
{
    self->thread_id = gettid();
    self->may_be_idle = may_come_forward() && set_idle(self, true);
    self->is_idle = self->may_be_idle;
    if (!self->is_idle)
        (void)setpriority(PRIO_PROCESS, 0, LAST_NICE);
}

static void *run(void *user)
{
    struct store_writer *self = user;
    struct store *store = self->store;

    if (self == &store->patient) {
        (void)pthread_mutex_lock(&store->mutex);
        stand_back(self);
        (void)pthread_mutex_unlock(&store->mutex);
    }
    store_write_all(self);
    return NULL;
}

static void start(struct store_writer *self, const char *name)
{
    int failure = pthread_create(&self->thread, NULL, run, self);

    if (failure) {
        log_error("store.thread", "errno=%d", failure);
        abort(); /* like being out of memory */
    }
    (void)pthread_setname_np(self->thread, name);
}

/* Signals are the main thread's. With the mutex held, as the new ones find. */
static void start_writers(struct store *store)
{
    sigset_t all, old;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    start(&store->prompt, "store");
    start(&store->patient, "store-patient");
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    store->has_writers = true;
    store->due_ms = store->retaining.due_ms;
}

/* While somebody writes, what was taken is his alone, and moves. */
static bool begins_queue(const struct store *store)
{
    return !store->first && (store->writing || !store->taken);
}

void store_enqueue(struct store *store, struct store_entry *entry)
{
    uint64_t now_ms = clock_mono_ms();

    assert(!store->is_closing);
    if (!store->has_writers)
        start_writers(store);
    if (begins_queue(store))
        store->moved_ms = now_ms;
    entry->next = NULL;
    *store->end = entry;
    store->end = &entry->next;
    if (!entry->can_wait || now_ms > store->moved_ms + STARVED_MS) {
        store->prompt_until_ms = now_ms + PROMPT_MS;
        hurry(store);
    }
    (void)pthread_cond_signal(&next_writer(store)->wake);
    if (store->writing) /* it may be waiting to try again */
        (void)pthread_cond_signal(&store->writing->wake);
}

static void init_writer(struct store *store, struct store_writer *writer)
{
    pthread_condattr_t attributes;

    writer->store = store;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&writer->wake, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

void store_turns_init(struct store *store)
{
    (void)pthread_mutex_init(&store->mutex, NULL);
    init_writer(store, &store->prompt);
    init_writer(store, &store->patient);
    store->end = &store->first;
    store->owner = pthread_self();
}

void store_turns_stop(struct store *store)
{
    bool has_writers;

    (void)pthread_mutex_lock(&store->mutex);
    store->is_closing = true;
    has_writers = store->has_writers;
    (void)pthread_cond_signal(&store->prompt.wake);
    (void)pthread_cond_signal(&store->patient.wake);
    (void)pthread_mutex_unlock(&store->mutex);
    if (!has_writers)
        return;
    (void)pthread_join(store->patient.thread, NULL);
    (void)pthread_join(store->prompt.thread, NULL);
    store->has_writers = false;
}

void store_turns_done(struct store *store)
{
    (void)pthread_cond_destroy(&store->patient.wake);
    (void)pthread_cond_destroy(&store->prompt.wake);
    (void)pthread_mutex_destroy(&store->mutex);
}
