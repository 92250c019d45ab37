/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/recorder.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "gateway/gateway.h"
#include "gateway/room.h"

enum {
    SPARE_MAX = 8,           /* batches kept for the next turns, */
    SPARE_BYTES = 256 << 10, /* none of them larger */
};

/* A batch on its way, and what it is called. */
struct recorder_batch {
    struct store_batch batch;
    struct worker *worker;
    uint64_t ticket;
    struct recorder_batch *next; /* spare */
};

/* --- the batch of the turn --- */

static size_t bytes_of(const struct recorder_batch *batch)
{
    return batch->batch.changes.len + batch->batch.records.bytes.len;
}

static void batch_free(struct recorder_batch *batch)
{
    store_batch_done(&batch->batch);
    free(batch);
}

/* Keeps its memory for another turn, where that is not much. */
static void give_back(struct recorder *recorder, struct recorder_batch *batch)
{
    size_t size = batch->batch.changes.size + batch->batch.records.bytes.size;

    if (recorder->spare_count == SPARE_MAX || size > SPARE_BYTES) {
        batch_free(batch);
        return;
    }
    buf_clear(&batch->batch.changes);
    audit_batch_clear(&batch->batch.records);
    batch->next = recorder->spare;
    recorder->spare = batch;
    recorder->spare_count++;
}

static void release_rooms(struct recorder *recorder)
{
    struct live_room *room;

    LIST_FOREACH(room, &recorder->held_rooms, held_link)
        room_release(room, recorder->durable);
}

static void tell_waiters(struct recorder *recorder)
{
    struct recorder_waiter *waiter;

    while ((waiter = LIST_FIRST(&recorder->waiters, struct recorder_waiter, link)) &&
           waiter->ticket <= recorder->durable) {
        list_remove(&waiter->link);
        waiter->on_durable(waiter);
    }
}

/* Batches become durable in the order of their tickets. */
static void on_done(struct store_batch *self)
{
    struct recorder_batch *batch = CONTAINER_OF(self, struct recorder_batch, batch);
    struct recorder *recorder = &batch->worker->recorder;

    if (self->err == OK) {
        recorder->durable = batch->ticket;
        release_rooms(recorder);
        tell_waiters(recorder);
    }
    give_back(recorder, batch);
}

static struct recorder_batch *take_spare(struct worker *worker)
{
    struct recorder *recorder = &worker->recorder;
    struct recorder_batch *batch = recorder->spare;

    if (batch) {
        recorder->spare = batch->next;
        recorder->spare_count--;
        return batch;
    }
    batch = xcalloc(1, sizeof(*batch));
    store_batch_init(&batch->batch, worker->loop);
    batch->batch.done = on_done;
    batch->worker = worker;
    return batch;
}

static struct store_batch *open_batch(struct worker *worker)
{
    struct recorder *recorder = &worker->recorder;

    if (!recorder->open) {
        recorder->open = take_spare(worker);
        recorder->open->ticket = recorder->ticket;
        loop_defer(worker->loop, &recorder->handover);
    }
    return &recorder->open->batch;
}

void recorder_flush(struct worker *worker)
{
    struct recorder *recorder = &worker->recorder;
    struct recorder_batch *batch = recorder->open;

    if (!batch)
        return;
    recorder->open = NULL;
    recorder->ticket++;
    store_commit(gateway_store(worker->gateway), &batch->batch);
}

static void on_handover(struct loop_task *task)
{
    recorder_flush(CONTAINER_OF(task, struct worker, recorder.handover));
}

/* --- what is said --- */

bool recorder_is_able(const struct worker *worker)
{
    const struct store *store = gateway_store(worker->gateway);
    size_t max = worker->settings->config->audit.queue;

    /* Twice as much as others may fill, so that these cannot shut it. */
    return !store_is_failing(store) && store_queued(store) / 2 <= max;
}

static bool is_full(const struct worker *worker)
{
    const struct recorder_batch *open = worker->recorder.open;
    size_t queued = store_queued(gateway_store(worker->gateway));

    return queued + (open ? bytes_of(open) : 0) > worker->settings->config->audit.queue;
}

uint64_t recorder_note(struct worker *worker, enum audit_mode mode,
                       const struct audit_record *record)
{
    struct audit_record full = *record;
    struct store_batch *batch;

    if (mode == AUDIT_OFF || (mode == AUDIT_ASYNC && is_full(worker)))
        return 0;
    full.at_ms = loop_wall_ms(worker->loop);
    batch = open_batch(worker);
    audit_batch_add(&batch->records, &full);
    return mode == AUDIT_REQUIRED ? worker->recorder.ticket : 0;
}

uint64_t recorder_put(struct worker *worker, const struct store_item *item)
{
    store_batch_put(open_batch(worker), item);
    return worker->recorder.ticket;
}

uint64_t recorder_remove(struct worker *worker, const struct store_item *item)
{
    store_batch_remove(open_batch(worker), item);
    return worker->recorder.ticket;
}

uint64_t recorder_ticket(struct worker *worker)
{
    (void)open_batch(worker);
    return worker->recorder.ticket;
}

/* --- who waits --- */

void recorder_wait(struct worker *worker, struct recorder_waiter *waiter)
{
    struct link *behind = worker->recorder.waiters.prev;

    if (waiter->ticket <= worker->recorder.durable) {
        waiter->on_durable(waiter);
        return;
    }
    /* Nearly always it waits for the newest. */
    while (behind != &worker->recorder.waiters &&
           CONTAINER_OF(behind, struct recorder_waiter, link)->ticket > waiter->ticket)
        behind = behind->prev;
    list_append(behind->next, &waiter->link);
}

void recorder_cancel(struct recorder_waiter *waiter)
{
    list_remove(&waiter->link);
}

void recorder_init(struct worker *worker)
{
    struct recorder *recorder = &worker->recorder;

    recorder->ticket = 1;
    list_init(&recorder->waiters);
    list_init(&recorder->held_rooms);
    list_init(&recorder->gap_rooms);
    recorder->handover.run = on_handover;
}

void recorder_done(struct worker *worker)
{
    struct recorder *recorder = &worker->recorder;
    struct recorder_batch *batch;

    if (recorder->open)
        batch_free(recorder->open);
    while ((batch = recorder->spare)) {
        recorder->spare = batch->next;
        batch_free(batch);
    }
}
