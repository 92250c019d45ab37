/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/recorder.h"

#include <stdlib.h>

#include "admit/rate.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "gateway/gateway.h"
#include "gateway/room.h"

enum {
    GAP_MS = 250,            /* between looks whether there is place again */
    GATHER_MS = 20,          /* so long records gather that nobody waits for, */
    GATHER_BYTES = 96 << 10, /* unless there are so many */
    SPARE_MAX = 48,          /* batches kept to be filled again: so many come back at */
    SPARE_BYTES = 128 << 10, /* once where the writer is behind; none is larger */
};

/* Of what nobody else limits: a record each. */
static const struct rate stray_rate = { .per_second = 100, .burst = 1000 };

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

/* Those whose ticket is not behind this one. */
static void tell_waiters(struct recorder *recorder, uint64_t ticket, enum err err)
{
    struct recorder_waiter *waiter;

    while ((waiter = LIST_FIRST(&recorder->waiters, struct recorder_waiter, link)) &&
           waiter->ticket <= ticket) {
        list_remove(&waiter->link);
        waiter->on_end(waiter, err);
    }
}

void recorder_give_up(struct worker *worker)
{
    tell_waiters(&worker->recorder, UINT64_MAX, ERR_UNAVAILABLE);
}

/* Batches become durable in the order of their tickets. Without being so they come back
 * only when the store closes. */
static void on_done(struct store_batch *self)
{
    struct recorder_batch *batch = CONTAINER_OF(self, struct recorder_batch, batch);
    struct recorder *recorder = &batch->worker->recorder;

    if (self->err == OK) {
        recorder->durable = batch->ticket;
        release_rooms(recorder);
        tell_waiters(recorder, recorder->durable, OK);
    } else {
        recorder_give_up(batch->worker);
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
        recorder->open->batch.can_wait = true;
        recorder->open->ticket = recorder->ticket;
    }
    return &recorder->open->batch;
}

/* Someone waits for the open batch: it goes when the turn's work is done. */
static struct store_batch *open_awaited(struct worker *worker)
{
    struct store_batch *batch = open_batch(worker);

    batch->can_wait = false;
    loop_defer(worker->loop, &worker->recorder.handover);
    return batch;
}

/* Nobody does: the fewer commits there are, the less they take from the rooms. */
static struct store_batch *open_unawaited(struct worker *worker)
{
    struct recorder *recorder = &worker->recorder;
    struct store_batch *batch = open_batch(worker);

    if (bytes_of(recorder->open) >= GATHER_BYTES)
        loop_defer(worker->loop, &recorder->handover);
    else if (!loop_timer_is_set(&recorder->gather_timer))
        loop_timer_set(worker->loop, &recorder->gather_timer, GATHER_MS);
    return batch;
}

void recorder_hand_over(struct worker *worker)
{
    struct recorder *recorder = &worker->recorder;
    struct recorder_batch *batch = recorder->open;

    if (!batch)
        return;
    recorder->open = NULL;
    recorder->ticket++;
    loop_timer_clear(worker->loop, &recorder->gather_timer);
    store_commit(gateway_store(worker->gateway), &batch->batch);
}

static void on_handover(struct loop_task *task)
{
    recorder_hand_over(CONTAINER_OF(task, struct worker, recorder.handover));
}

static void on_gathered(struct loop_timer *timer)
{
    recorder_hand_over(CONTAINER_OF(timer, struct worker, recorder.gather_timer));
}

void recorder_close(struct worker *worker)
{
    recorder_hand_over(worker);
    worker->recorder.is_closed = true;
    loop_timer_clear(worker->loop, &worker->recorder.gap_timer);
}

/* --- records that find no place --- */

static size_t waiting_bytes(const struct worker *worker)
{
    const struct recorder_batch *open = worker->recorder.open;

    return store_queued(gateway_store(worker->gateway)) + (open ? bytes_of(open) : 0);
}

static bool is_full(const struct worker *worker)
{
    return waiting_bytes(worker) > worker->settings->config->audit.queue;
}

/* Of a room, which hears of it; or NULL. */
[[gnu::cold]] static void drop(struct worker *worker, struct live_room *room,
                               struct str topic)
{
    struct recorder *recorder = &worker->recorder;

    worker->metrics.audit_dropped++;
    if (room)
        room->dropped++;
    else
        recorder->dropped++;
    if (room && !link_is_set(&room->gap_link))
        list_append(&recorder->gap_rooms, &room->gap_link);
    if (loop_timer_is_set(&recorder->gap_timer))
        return;
    log_warn("audit.drop", "topic=%s waiting=%zu", LOG_TEXT(topic),
             waiting_bytes(worker));
    loop_timer_set(worker->loop, &recorder->gap_timer, GAP_MS);
}

static void add_record(struct worker *worker, struct store_batch *batch,
                       const struct audit_record *record)
{
    struct audit_record full = *record;

    full.at_ms = loop_wall_ms(worker->loop);
    audit_batch_add(&batch->records, &full);
}

static void note_gap(struct worker *worker, struct str topic, uint64_t count)
{
    struct json_writer w;
    struct buf body;

    log_warn("audit.gap", "topic=%s dropped=%llu", LOG_TEXT(topic),
             (unsigned long long)count);
    buf_init(&body, 256);
    json_write_init(&w, &body);
    json_object_open(&w);
    json_put_uint(&w, S("dropped"), count);
    json_object_close(&w);
    /* What tells of drops is not dropped: no more than one for each room. */
    add_record(worker, open_unawaited(worker),
               &(struct audit_record){
                   .event = AUDIT_DROP, .topic = topic, .body = buf_str(&body) });
    buf_done(&body);
}

static void tell_gap(struct live_room *room)
{
    uint64_t count = room->dropped;
    struct announcement say;

    room->dropped = 0;
    note_gap(room->worker, room->room.topic.name, count);
    notice_begin(&say, room, S("audit_gap"),
                 S("The record was too slow: it does not hold all that was said here."));
    json_put_uint(&say.w, S("dropped"), count);
    announcement_end(&say);
}

/* There is place again, and for more than the notes of this. */
static void on_gap(struct loop_timer *timer)
{
    struct worker *worker = CONTAINER_OF(timer, struct worker, recorder.gap_timer);
    struct recorder *recorder = &worker->recorder;
    uint64_t count = recorder->dropped;
    struct live_room *room;
    struct link told;

    if (waiting_bytes(worker) > worker->settings->config->audit.queue / 2) {
        loop_timer_set(worker->loop, timer, GAP_MS);
        return;
    }
    list_init(&told);
    list_splice(&told, &recorder->gap_rooms);
    recorder->dropped = 0;
    if (count)
        note_gap(worker, S(""), count);
    LIST_FOREACH(room, &told, gap_link) {
        list_remove(&room->gap_link);
        tell_gap(room);
    }
}

void recorder_forget_room(struct live_room *room)
{
    list_remove(&room->held_link);
    list_remove(&room->gap_link);
    room->worker->recorder.dropped += room->dropped;
}

/* --- what is said --- */

const char recorder_problem[] = "The record cannot be written.";

uint64_t recorder_last(const struct worker *worker)
{
    return worker->recorder.ticket - !worker->recorder.open;
}

bool recorder_is_able(const struct worker *worker)
{
    const struct store *store = gateway_store(worker->gateway);
    size_t max = worker->settings->config->audit.queue;

    if (worker->recorder.is_closed)
        return false;
    /* Twice as much as others may fill, so that these cannot shut it. */
    return !store_is_failing(store) && store_queued(store) / 2 <= max;
}

bool recorder_takes(struct live_room *room)
{
    struct worker *worker = room->worker;
    enum audit_mode mode = room->settings->audit;

    if (mode == AUDIT_OFF || worker->recorder.is_closed)
        return false;
    if (mode == AUDIT_REQUIRED || !is_full(worker))
        return true;
    drop(worker, room, room->room.topic.name);
    return false;
}

uint64_t recorder_keep(struct worker *worker, enum audit_mode mode,
                       const struct audit_record *record)
{
    bool is_awaited = mode == AUDIT_REQUIRED;

    add_record(worker, is_awaited ? open_awaited(worker) : open_unawaited(worker),
               record);
    return is_awaited ? worker->recorder.ticket : 0;
}

uint64_t recorder_note(struct worker *worker, enum audit_mode mode,
                       const struct audit_record *record)
{
    if (mode == AUDIT_OFF || worker->recorder.is_closed)
        return 0;
    if (mode == AUDIT_ASYNC && is_full(worker)) {
        drop(worker, record->topic.len ? room_find(worker, record->topic) : NULL,
             record->topic);
        return 0;
    }
    return recorder_keep(worker, mode, record);
}

void recorder_note_stray(struct worker *worker, const struct audit_record *record)
{
    struct bucket *strays = &worker->recorder.strays;
    uint64_t unused;

    if (worker->recorder.is_closed)
        return;
    if (!rate_fits(strays, &stray_rate, 1, loop_now_ms(worker->loop), &unused)) {
        drop(worker, NULL, record->topic); /* the room has not spoken */
        return;
    }
    rate_take(strays, &stray_rate, 1);
    (void)recorder_note(worker, AUDIT_ASYNC, record);
}

uint64_t recorder_put(struct worker *worker, const struct store_item *item)
{
    if (worker->recorder.is_closed)
        return 0;
    store_batch_put(open_awaited(worker), item);
    return worker->recorder.ticket;
}

uint64_t recorder_remove(struct worker *worker, const struct store_item *item)
{
    if (worker->recorder.is_closed)
        return 0;
    store_batch_remove(open_awaited(worker), item);
    return worker->recorder.ticket;
}

uint64_t recorder_ticket(struct worker *worker)
{
    if (worker->recorder.is_closed)
        return 0;
    (void)open_awaited(worker);
    return worker->recorder.ticket;
}

uint64_t recorder_changes(const struct worker *worker)
{
    const struct recorder_batch *open = worker->recorder.open;

    return open && open->batch.changes.len ? worker->recorder.ticket : 0;
}

/* --- who waits --- */

void recorder_wait(struct worker *worker, struct recorder_waiter *waiter)
{
    struct link *behind = worker->recorder.waiters.prev;

    if (waiter->ticket <= worker->recorder.durable) {
        waiter->on_end(waiter, OK);
        return;
    }
    if (worker->recorder.open && waiter->ticket == worker->recorder.ticket)
        (void)open_awaited(worker);
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
    recorder->gather_timer.on_fire = on_gathered;
    recorder->gap_timer.on_fire = on_gap;
    recorder_apply(worker);
}

/* Who turns the record off is the last thing that it says. */
void recorder_apply(struct worker *worker)
{
    worker->recorder.is_wanted |= settings_record(worker->settings, AUDIT_ASYNC);
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
