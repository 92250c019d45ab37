/* SPDX-License-Identifier: Apache-2.0 */
/* Is it alive, is it ready, how much does it do. */
#include <stdlib.h>

#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/export.h"
#include "gateway/gateway.h"
#include "gateway/offenders.h"
#include "gateway/overview.h"
#include "gateway/room.h"
#include "store/record.h"

enum { SAMPLE_BYTES = 64 << 10 }; /* of topics and ids: more than a hundred ones need */

void health_get(struct exchange *x)
{
    exchange_reply(x, 200, S("text/plain; charset=utf-8"), S("ok\n"));
}

void ready_get(struct exchange *x)
{
    struct gateway *gateway = x->worker->gateway;
    bool is_failing = store_is_failing(gateway_store(gateway));

    if (!gateway_is_ready(gateway))
        exchange_fail(x, ERR_UNAVAILABLE, "The server is stopping.");
    else if (is_failing && settings_record(x->worker->settings, AUDIT_REQUIRED))
        exchange_fail(x, ERR_UNAVAILABLE, "The record cannot be written.");
    else
        exchange_reply(x, 200, S("text/plain; charset=utf-8"),
                       is_failing ? S("ready, but the record cannot be written\n")
                                  : S("ready\n"));
}

/* What one worker has to tell. */
struct sample {
    struct metrics metrics;
    struct offenders offenders;
    struct arena texts;
};

struct scrape {
    struct gather gather;
    struct exchange *x;
    struct sample *samples; /* one for each worker */
};

/* With copies: they may be gone when all workers have been asked. */
static void sample_offenders(struct worker *worker, struct sample *sample)
{
    const struct conduct *conduct;

    LIST_FOREACH(conduct, &worker->offenders, offender_link)
        offenders_add(&sample->offenders,
                      &(struct offender){ .violations = conduct->violations,
                                          .topic = conduct->participant->topic->name,
                                          .id = conduct->participant->id });
    offenders_keep(&sample->offenders, &sample->texts);
}

static void visit_metrics(struct gather *gather, struct gather_part *part)
{
    const struct scrape *scrape = CONTAINER_OF(gather, struct scrape, gather);
    struct sample *mine = &scrape->samples[part->worker->index];

    overview_measure(part->worker, &mine->metrics);
    arena_init(&mine->texts, SAMPLE_BYTES);
    sample_offenders(part->worker, mine);
}

static void put_metric(struct buf *out, const char *name, const char *type,
                       const char *help, uint64_t value)
{
    buf_putf(out, "# HELP %s %s\n# TYPE %s %s\n%s ", name, help, name, type, name);
    buf_putu(out, value);
    buf_putc(out, '\n');
}

/* What the store has to tell is there once, whatever the number of workers. */
static void write_store(struct store *store, struct buf *out)
{
    struct store_health health;

    store_health(store, &health);
    put_metric(out, "moot_store_failing", "gauge",
               "1 while the store cannot be written, else 0.", health.is_failing);
    put_metric(out, "moot_store_failures_total", "counter",
               "Commits that failed and were made again.", health.failures);
    put_metric(out, "moot_store_commits_total", "counter", "Commits.", health.commits);
    put_metric(out, "moot_store_queued_bytes", "gauge",
               "Records and changes that wait for the disk.", health.queued_bytes);
    put_metric(out, "moot_audit_records_total", "counter",
               "Records written since the start.", health.records);
    put_metric(out, "moot_audit_head", "gauge", "Number of the last durable record.",
               health.head.seq);
}

static void write_samples(const struct scrape *scrape, struct buf *out)
{
    struct offenders worst = {};
    struct metrics total = {};

    for (size_t i = 0; i < scrape->gather.part_count; i++) {
        const struct sample *sample = &scrape->samples[i];

        metrics_add(&total, &sample->metrics);
        for (size_t k = 0; k < sample->offenders.count; k++)
            offenders_add(&worst, &sample->offenders.worst[k]);
    }
    exporter_count(gateway_exporter(scrape->x->worker->gateway), &total);
    metrics_write(&total, out);
    write_store(gateway_store(scrape->gather.origin->gateway), out);
    offenders_write(&worst, out);
}

static void answer_metrics(struct gather *gather)
{
    struct scrape *scrape = CONTAINER_OF(gather, struct scrape, gather);
    struct buf out;

    if (exchange_resume(scrape->x)) {
        buf_init(&out, 1 << 20);
        write_samples(scrape, &out);
        exchange_reply(scrape->x, 200, S("text/plain; version=0.0.4; charset=utf-8"),
                       buf_str(&out));
        buf_done(&out);
    }
    for (size_t i = 0; i < gather->part_count; i++)
        arena_done(&scrape->samples[i].texts);
    gather_done(gather);
    free(scrape->samples);
    free(scrape);
}

void metrics_get(struct exchange *x)
{
    struct scrape *scrape = xcalloc(1, sizeof(*scrape));

    scrape->x = x;
    scrape->samples =
        xcalloc(gateway_worker_count(x->worker->gateway), sizeof(*scrape->samples));
    scrape->gather.visit = visit_metrics;
    scrape->gather.done = answer_metrics;
    exchange_suspend(x);
    gather_start(&scrape->gather, x->worker);
}
