/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit/chain.h"
#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/gateway.h"
#include "gateway/mcp_halls.h"
#include "gateway/overview.h"
#include "gateway/pulse.h"
#include "gateway/servers.h"
#include "gateway/state.h"
#include "store/record.h"

enum { BEAT_MS = 60'000, ANSWER_BYTES = 1 << 20, STATM_BYTES = 128 };

struct overview {
    struct worker *worker;
    struct pulse pulse;
    struct loop_timer timer;
    uint64_t started_ms; /* wall clock */
};

/* One look at all workers. */
struct look {
    struct gather gather;
    struct exchange *x; /* NULL: the minute is over */
    struct metrics *metrics;
};

/* --- measuring --- */

void overview_measure(const struct worker *worker, struct metrics *ret)
{
    const struct live_room *room;
    const struct parked *parked;
    uint64_t now_ms = loop_wall_ms(worker->loop);

    *ret = worker->metrics;
    ret->topics = worker->rooms.count;
    servers_count(worker->servers, ret);
    mcp_halls_count(worker->halls, ret);
    LIST_FOREACH(room, &worker->recorder.held_rooms, held_link)
        ret->held_bytes += topic_held_bytes(&room->room.topic);
    MAP_FOREACH(room, &worker->rooms) {
        ret->proposals_open += room->room.ledger.open_count;
        ret->authorizations_open += petitions_open(&room->petitions, now_ms);
    }
    MAP_FOREACH(parked, &worker->parked)
        ret->proposals_open += parked->ledger.open_count;
}

static void visit(struct gather *gather, struct gather_part *part)
{
    const struct look *look = CONTAINER_OF(gather, struct look, gather);

    overview_measure(part->worker, &look->metrics[part->worker->index]);
}

static void sum_up(const struct look *look, struct metrics *ret)
{
    *ret = (struct metrics){};
    for (size_t i = 0; i < look->gather.part_count; i++)
        metrics_add(ret, &look->metrics[i]);
}

/* Bytes of this process in memory; 0: not known. The kernel answers from memory. */
static uint64_t resident(void)
{
    char text[STATM_BYTES];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text));
    struct str rest = { text, len > 0 ? (size_t)len : 0 };
    uint64_t pages = 0;

    if (fd >= 0)
        (void)close(fd);
    (void)str_cut(&rest, ' ');
    if (str_to_u64(str_cut(&rest, ' '), UINT32_MAX, &pages))
        return 0;
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t decided(const struct metrics *m)
{
    return m->proposals_fulfilled + m->proposals_rejected;
}

static uint64_t connections(const struct metrics *m)
{
    return m->websockets_opened - m->websockets_closed + m->http_connections;
}

static void total_up(const struct metrics *m, const struct store_health *health,
                     struct pulse_totals *ret)
{
    *ret = (struct pulse_totals){
        .messages = m->envelopes_admitted,
        .refused = m->envelopes_refused,
        .opened = m->proposals_opened,
        .decided = decided(m),
        .waiting = m->proposals_open + m->authorizations_open,
        .queued_bytes = health->queued_bytes,
        .members = m->members,
        .connections = connections(m),
        .memory_bytes = resident(),
    };
    for (size_t i = 0; i < PULSE_CLASSES; i++)
        ret->times[i] = m->decision_times[i];
}

static void look_free(struct look *look)
{
    gather_done(&look->gather);
    free(look->metrics);
    free(look);
}

static void start_look(struct worker *worker, struct exchange *x,
                       void (*done)(struct gather *))
{
    struct look *look = xcalloc(1, sizeof(*look));

    look->x = x;
    look->metrics =
        xcalloc(gateway_worker_count(worker->gateway), sizeof(*look->metrics));
    look->gather.visit = visit;
    look->gather.done = done;
    gather_start(&look->gather, worker);
}

/* --- every minute --- */

static void on_measured(struct gather *gather)
{
    struct look *look = CONTAINER_OF(gather, struct look, gather);
    struct worker *worker = gather->origin;
    struct pulse_totals totals;
    struct store_health health;
    struct metrics now;

    sum_up(look, &now);
    store_health(gateway_store(worker->gateway), &health);
    total_up(&now, &health, &totals);
    pulse_note(&worker->overview->pulse, loop_wall_ms(worker->loop), &totals);
    look_free(look);
}

static void on_minute(struct loop_timer *timer)
{
    struct overview *overview = CONTAINER_OF(timer, struct overview, timer);
    struct worker *worker = overview->worker;

    if (worker->is_draining)
        return;
    start_look(worker, NULL, on_measured);
    loop_timer_set(worker->loop, timer, BEAT_MS);
}

struct overview *overview_new(struct worker *worker)
{
    struct overview *overview = xcalloc(1, sizeof(*overview));

    overview->worker = worker;
    overview->started_ms = loop_wall_ms(worker->loop);
    overview->timer.on_fire = on_minute;
    pulse_init(&overview->pulse, overview->started_ms, &(struct pulse_totals){});
    loop_timer_set(worker->loop, &overview->timer, BEAT_MS);
    return overview;
}

void overview_free(struct overview *overview)
{
    if (!overview)
        return;
    loop_timer_clear(overview->worker->loop, &overview->timer);
    free(overview);
}

/* --- when asked --- */

static void write_refusals(const struct metrics *m, struct json_writer *w)
{
    json_key(w, S("refusals"));
    json_object_open(w);
    for (size_t i = 0; i < METRICS_ERRS; i++)
        if (m->refused_by[i])
            json_put_uint(w, str_of(err_name((enum err)i)), m->refused_by[i]);
    json_object_close(w);
}

static void write_proposals(const struct metrics *m, struct json_writer *w)
{
    json_key(w, S("proposals"));
    json_object_open(w);
    json_put_uint(w, S("open"), m->proposals_open);
    json_put_uint(w, S("opened"), m->proposals_opened);
    json_put_uint(w, S("fulfilled"), m->proposals_fulfilled);
    json_put_uint(w, S("rejected"), m->proposals_rejected);
    json_put_uint(w, S("withdrawn"), m->proposals_withdrawn);
    json_put_uint(w, S("expired"), m->proposals_expired);
    json_object_close(w);
    json_put_uint(w, S("authorizations"), m->authorizations_open);
}

static void write_servers(const struct metrics *m, struct json_writer *w)
{
    json_key(w, S("servers"));
    json_object_open(w);
    json_put_uint(w, S("all"), m->servers);
    json_put_uint(w, S("ready"), m->servers_ready);
    json_put_uint(w, S("failing"), m->servers_failing);
    json_put_uint(w, S("sign_in_needed"), m->servers_signed_out);
    json_object_close(w);
}

static void write_store(const struct worker *worker, const struct store_health *health,
                        struct json_writer *w)
{
    json_key(w, S("store"));
    json_object_open(w);
    json_put_bool(w, S("failing"), health->is_failing);
    if (health->is_failing) {
        json_put_given_time(w, S("failing_since"), health->failing_since_ms);
        json_put_given(w, S("why"), str_of(health->why));
    }
    json_put_uint(w, S("queued_bytes"), health->queued_bytes);
    json_put_uint(w, S("disk_bytes"), store_disk_bytes(gateway_store(worker->gateway)));
    json_put_uint(w, S("commits"), health->commits);
    json_put_uint(w, S("failures"), health->failures);
    json_object_close(w);
}

static void write_record(const struct store_health *health, struct json_writer *w)
{
    char text[AUDIT_HEAD_TEXT];

    json_key(w, S("record"));
    json_object_open(w);
    json_put_str(w, S("head"), audit_head_text(&health->head, text));
    json_put_given_time(w, S("at"), health->head.at_ms);
    json_put_uint(w, S("signed"), health->checkpoint_seq);
    json_put_uint(w, S("indexed"), health->indexed_seq);
    json_object_close(w);
}

static void write_now(const struct worker *worker, const struct metrics *m,
                      const struct store_health *health,
                      const struct pulse_totals *totals, struct json_writer *w)
{
    json_put_time(w, S("at"), loop_wall_ms(worker->loop));
    json_put_time(w, S("started"), worker->overview->started_ms);
    json_put_str(w, S("version"), S(MOOT_VERSION));
    json_put_uint(w, S("workers"), gateway_worker_count(worker->gateway));
    json_put_uint(w, S("connections"), totals->connections);
    json_put_uint(w, S("websockets"), m->websockets_opened - m->websockets_closed);
    json_put_uint(w, S("members"), m->members);
    json_put_uint(w, S("topics"), m->topics);
    json_put_uint(w, S("messages"), m->envelopes_admitted);
    json_put_uint(w, S("refused"), m->envelopes_refused);
    write_refusals(m, w);
    write_proposals(m, w);
    write_servers(m, w);
    json_put_uint(w, S("mcp_clients"), m->mcp_clients);
    json_put_uint(w, S("agents"), m->agents);
    json_put_uint(w, S("memory_bytes"), totals->memory_bytes);
    write_store(worker, health, w);
    write_record(health, w);
    json_key(w, S("cluster"));
    json_null(w);
}

static void reply(struct exchange *x, const struct metrics *now)
{
    const struct worker *worker = x->worker;
    struct store_health health;
    struct pulse_totals totals;
    struct json_writer w;
    struct buf out;

    store_health(gateway_store(worker->gateway), &health);
    total_up(now, &health, &totals);
    buf_init(&out, ANSWER_BYTES);
    json_write_init(&w, &out);
    json_object_open(&w);
    write_now(worker, now, &health, &totals, &w);
    json_key(&w, S("history"));
    json_object_open(&w);
    pulse_write(&worker->overview->pulse, &totals, &w);
    json_object_close(&w);
    json_object_close(&w);
    exchange_json(x, 200, &out);
    buf_done(&out);
}

static void on_looked(struct gather *gather)
{
    struct look *look = CONTAINER_OF(gather, struct look, gather);
    struct metrics now;

    sum_up(look, &now);
    if (exchange_resume(look->x))
        reply(look->x, &now);
    look_free(look);
}

void admin_overview(struct exchange *x)
{
    exchange_suspend(x);
    start_look(x->worker, x, on_looked);
}
