/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a writer does in its turn: it makes one transaction of what is queued, and tells
 * the loops when that is durable. The slower the disk, the more is committed at once.
 *
 *     queue ─► taken ─► group: redact, seal, chain, sign ─► engine ─► done
 *                              (once)                       (until it is durable)
 */
#include <stdlib.h>
#include <string.h>

#include "audit/redact.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "store/store_priv.h"

enum {
    GROUP_BYTES = 4 << 20,    /* then it is enough for one transaction, */
    PATIENT_BYTES = 64 << 10, /* all the more if somebody could come to wait behind it */
    SIGN_RECORDS = 1000,
    SIGN_MS = 1000,
    FIRST_BACKOFF_MS = 100,
    MAX_BACKOFF_MS = 2000,
};

static bool has_unsigned(const struct store *store)
{
    return store->head.seq > store->checkpoint_seq;
}

/* --- jobs --- */

static void deliver_job(struct loop_mail *mail)
{
    struct store_job *job = CONTAINER_OF(mail, struct store_job, mail);

    job->done(job);
}

static void run_job(struct store *store, struct store_entry *entry)
{
    struct store_job *job = CONTAINER_OF(entry, struct store_job, entry);

    job->work(job, store);
    job->mail = (struct loop_mail){ .deliver = deliver_job };
    loop_post(job->loop, &job->mail);
}

static void hand_over(struct store *store, struct store_entry *entry)
{
    (void)pthread_mutex_lock(&store->mutex);
    store_enqueue(store, entry);
    (void)pthread_mutex_unlock(&store->mutex);
}

void store_submit(struct store *store, struct store_job *job)
{
    job->entry = (struct store_entry){ .take = run_job };
    hand_over(store, &job->entry);
}

/* --- connecting again --- */

/* Runs the jobs among these and appends the rest at *end, in its order; returns the new
 * end. */
static struct store_entry **set_aside(struct store *store, struct store_entry *entries,
                                      struct store_entry **end)
{
    struct store_entry *entry, *next;

    for (entry = entries; entry; entry = next) {
        next = entry->next;
        if (entry->take == run_job) {
            run_job(store, entry);
        } else {
            *end = entry;
            end = &entry->next;
        }
    }
    *end = NULL;
    return end;
}

static uint64_t next_backoff(struct store *store)
{
    store->backoff_ms = store->backoff_ms ? 2 * store->backoff_ms : FIRST_BACKOFF_MS;
    if (store->backoff_ms > MAX_BACKOFF_MS)
        store->backoff_ms = MAX_BACKOFF_MS;
    return store->backoff_ms;
}

/* Waits before the next attempt; jobs do not wait. False: the store closes. */
static bool back_off(struct store *store)
{
    uint64_t due_ms = clock_mono_ms() + next_backoff(store);
    struct store_entry **end = set_aside(store, TAKE(store->taken), &store->taken);
    struct store_entry *fresh;
    bool goes_on = true;

    while (clock_mono_ms() < due_ms && goes_on) {
        goes_on = store_queue_wait(store, due_ms, &fresh);
        end = set_aside(store, fresh, end);
    }
    return goes_on;
}

/* One attempt, behind the wait where one has failed before. False: it is the last one,
 * since the store closes. */
static bool reconnect(struct store *store)
{
    bool goes_on = back_off(store);

    (void)store_connect(store, NULL);
    return goes_on;
}

/* Without anything to write, the connection tells whether the store is well. */
static void recover_idle(struct store *store)
{
    bool goes_on = true;

    while (!store->engine && goes_on)
        goes_on = reconnect(store);
    if (store->engine)
        store_recovered(store);
}

/* --- a group --- */

static void deliver_batch(struct loop_mail *mail)
{
    struct store_batch *batch = CONTAINER_OF(mail, struct store_batch, mail);

    batch->done(batch);
}

static void join_group(struct store *store, struct store_entry *entry)
{
    struct store_batch *batch = CONTAINER_OF(entry, struct store_batch, entry);
    struct store_group *group = &store->group;

    entry->next = NULL;
    *group->end = entry;
    group->end = &entry->next;
    group->bytes += batch->bytes;
}

void store_commit(struct store *store, struct store_batch *batch)
{
    batch->entry =
        (struct store_entry){ .take = join_group, .can_wait = batch->can_wait };
    batch->bytes = sizeof(*batch) + batch->changes.len + batch->records.bytes.len;
    atomic_fetch_add(&store->queued, batch->bytes);
    hand_over(store, &batch->entry);
}

void store_group_init(struct store_group *group)
{
    group->end = &group->first;
    arena_init(&group->bodies, SIZE_MAX);
    buf_init(&group->body, SIZE_MAX / 2);
}

void store_group_done(struct store_group *group)
{
    free(group->records);
    arena_done(&group->bodies);
    buf_done(&group->body);
}

#define FOR_EACH_BATCH(batch, group)                                               \
    for (struct store_entry *_entry = (group)->first;                              \
         _entry && ((batch) = CONTAINER_OF(_entry, struct store_batch, entry), 1); \
         _entry = _entry->next)

static struct audit_record *add_record(struct store_group *group)
{
    if (group->count == group->size) {
        group->size = group->size ? 2 * group->size : 64;
        group->records =
            xrealloc(group->records, group->size * sizeof(group->records[0]));
    }
    return &group->records[group->count++];
}

static struct str redact(struct store *store, struct str body)
{
    const struct audit_redactor *redactor = store->plain;
    struct store_group *group = &store->group;

    if (store->audit && store->audit->redactor)
        redactor = store->audit->redactor;
    buf_clear(&group->body);
    audit_redact(redactor, body, &group->body);
    return arena_str(&group->bodies, buf_str(&group->body));
}

/* The record as it is kept, the next in the chain. What retention says of itself must be
 * read by whoever verifies. */
static void chain_record(struct store *store, const struct audit_record *noted)
{
    struct audit_record *record = add_record(&store->group);

    *record = *noted;
    if (!record->at_ms)
        record->at_ms = clock_wall_ms();
    if (record->body.ptr && record->event != AUDIT_RETENTION)
        record->body = redact(store, record->body);
    audit_seal_body(record);
    audit_chain(&store->group.head, record);
}

static void chain_records(struct store *store)
{
    struct store_group *group = &store->group;
    struct store_batch *batch;
    struct audit_record record;

    FOR_EACH_BATCH(batch, group)
    {
        size_t at = 0;

        while (audit_batch_next(&batch->records, &at, &record))
            chain_record(store, &record);
    }
}

static void sign_when_due(struct store *store, bool is_closing)
{
    struct store_group *group = &store->group;
    uint64_t count = group->head.seq - store->checkpoint_seq;

    if (!count)
        return;
    if (count < SIGN_RECORDS && clock_mono_ms() - store->signed_ms < SIGN_MS &&
        !is_closing)
        return;
    audit_checkpoint_sign(&group->head,
                          (struct str){ store->installation, AUDIT_INSTALLATION },
                          &store->keys.signing, &group->checkpoint);
    group->has_checkpoint = true;
}

static enum err write_changes(struct engine *engine, const struct store_group *group)
{
    struct store_batch *batch;
    struct store_item item;
    enum err err = OK;
    bool is_put;

    FOR_EACH_BATCH(batch, group)
    {
        size_t at = 0;

        while (!err && store_batch_next(batch, &at, &is_put, &item))
            err = is_put ? engine->ops->item_put(engine, &item)
                         : engine->ops->item_remove(engine, &item);
    }
    return err;
}

/* What a commit that failed has left behind is seen by the head: such records are there,
 * and all else may be written twice. */
static enum err write_group(struct store *store)
{
    const struct store_group *group = &store->group;
    struct engine *engine = store->engine;
    size_t written = group->count - (size_t)(group->head.seq - store->head.seq);
    enum err err = engine->ops->begin(engine);

    if (!err)
        err = write_changes(engine, group);
    if (!err && written < group->count)
        err =
            engine->ops->append(engine, group->records + written, group->count - written);
    if (!err && group->has_checkpoint)
        err = engine->ops->checkpoint(engine, &group->checkpoint);
    return store_end(store, err ? ERR_IO : OK);
}

/* Tells everybody and empties the group. */
static void end_group(struct store *store, enum err err)
{
    struct store_group *group = &store->group;
    struct store_entry *entry = group->first, *next;

    for (; entry; entry = next) {
        struct store_batch *batch = CONTAINER_OF(entry, struct store_batch, entry);

        next = entry->next;
        atomic_fetch_sub(&store->queued, batch->bytes);
        batch->err = err;
        batch->mail = (struct loop_mail){ .deliver = deliver_batch };
        loop_post(batch->loop, &batch->mail);
    }
    group->first = NULL;
    group->end = &group->first;
    group->bytes = 0;
    group->count = 0;
    group->has_checkpoint = false;
    arena_reset(&group->bodies);
}

static void note_commit(struct store *store)
{
    struct store_group *group = &store->group;

    store->head = group->head;
    store->backoff_ms = 0;
    if (group->has_checkpoint) {
        store->checkpoint_seq = group->head.seq;
        store->signed_ms = clock_mono_ms();
    }
    store_recovered(store);
    (void)pthread_mutex_lock(&store->mutex);
    store->health.commits++;
    store->health.records += group->count;
    store->health.head = store->head;
    store->health.checkpoint_seq = store->checkpoint_seq;
    (void)pthread_mutex_unlock(&store->mutex);
    if (group->count)
        store_index(store);
}

/* Writes what has joined the group, however long that takes. */
static void commit_group(struct store *store, bool is_closing)
{
    struct store_group *group = &store->group;
    bool is_durable = false, goes_on = true;

    group->head = store->head;
    chain_records(store);
    sign_when_due(store, is_closing);
    if (!group->first && !group->has_checkpoint)
        return;
    while (!is_durable && goes_on) {
        if (!store->engine)
            goes_on = reconnect(store);
        if (store->engine)
            is_durable = !write_group(store);
    }
    if (is_durable)
        note_commit(store);
    end_group(store, is_durable ? OK : ERR_IO);
}

/* --- retention --- */

static enum err retain_step(struct store *store)
{
    struct store_group *group = &store->group;
    struct audit_record record;
    enum err err = store_retention_step(store, &record, &group->body);

    if (err || record.event != AUDIT_RETENTION)
        return err;
    group->head = store->head;
    chain_record(store, &record);
    return store->engine->ops->append(store->engine, group->records, group->count);
}

/* A step when it is due, in a transaction of its own. Where nobody knows whether that was
 * committed, the head tells, and the group is what it may be. */
static void retain(struct store *store)
{
    enum err err;

    if (!store->engine || clock_mono_ms() < store->retaining.due_ms)
        return;
    err = store->engine->ops->begin(store->engine);
    if (!err)
        err = retain_step(store);
    err = store_end(store, err ? ERR_IO : OK);
    if (!err && store->group.count) {
        note_commit(store);
        store_retention_tell(store);
    }
    if (err) {
        store_retention_postpone(store);
        recover_idle(store);
    }
    end_group(store, OK);
}

/* --- the thread --- */

/* Batches for one transaction; or what is no batch, by itself. */
static void take_entries(struct store *store, size_t max_bytes)
{
    const struct store_group *group = &store->group;
    struct store_entry *entry;

    while ((entry = store->taken) && group->bytes < max_bytes) {
        if (group->first && entry->take != join_group)
            return;
        store->taken = entry->next;
        entry->take(store, entry);
    }
}

/* When there is something to do without anybody's asking. */
static uint64_t next_due(const struct store *store)
{
    uint64_t due_ms = store->retaining.due_ms;

    if (has_unsigned(store) && store->signed_ms + SIGN_MS < due_ms)
        due_ms = store->signed_ms + SIGN_MS;
    return due_ms;
}

void store_write_all(struct store_writer *self)
{
    struct store *store = self->store;
    bool is_patient = self == &store->patient;

    while (store_turn_begin(store, self)) {
        take_entries(store, is_patient ? PATIENT_BYTES : GROUP_BYTES);
        commit_group(store, false);
        recover_idle(store);
        retain(store);
        store_turn_end(store, next_due(store));
    }
    if (!is_patient)
        commit_group(store, true);
}
