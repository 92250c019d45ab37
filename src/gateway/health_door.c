/* SPDX-License-Identifier: Apache-2.0 */
/* Is it alive, is it ready, how much does it do; and the page at the root. */
#include <stdlib.h>

#include "base/xalloc.h"
#include "gateway/doors.h"
#include "gateway/gateway.h"
#include "gateway/page.h"

void health_get(struct exchange *x)
{
    exchange_reply(x, 200, S("text/plain; charset=utf-8"), S("ok\n"));
}

void ready_get(struct exchange *x)
{
    if (gateway_is_ready(x->worker->gateway))
        exchange_reply(x, 200, S("text/plain; charset=utf-8"), S("ready\n"));
    else
        exchange_fail(x, ERR_UNAVAILABLE, "The server is stopping.");
}

void page_get(struct exchange *x)
{
    exchange_page(x, (struct str){ page_html, page_html_len });
}

struct scrape {
    struct gather gather;
    struct exchange *x;
    struct metrics *parts;
};

static void visit_metrics(struct gather *gather, struct gather_part *part)
{
    const struct scrape *scrape = CONTAINER_OF(gather, struct scrape, gather);
    struct metrics *mine = &scrape->parts[part->worker->index];

    *mine = part->worker->metrics;
    mine->topics = part->worker->rooms.count;
}

static void answer_metrics(struct gather *gather)
{
    struct scrape *scrape = CONTAINER_OF(gather, struct scrape, gather);
    struct metrics total = {};
    struct buf out;

    if (exchange_resume(scrape->x)) {
        for (size_t i = 0; i < gather->part_count; i++)
            metrics_add(&total, &scrape->parts[i]);
        buf_init(&out, 1 << 20);
        metrics_write(&total, &out);
        exchange_reply(scrape->x, 200, S("text/plain; version=0.0.4; charset=utf-8"),
                       buf_str(&out));
        buf_done(&out);
    }
    gather_done(gather);
    free(scrape->parts);
    free(scrape);
}

void metrics_get(struct exchange *x)
{
    struct scrape *scrape = xcalloc(1, sizeof(*scrape));

    scrape->x = x;
    scrape->parts =
        xcalloc(gateway_worker_count(x->worker->gateway), sizeof(*scrape->parts));
    scrape->gather.visit = visit_metrics;
    scrape->gather.done = answer_metrics;
    exchange_suspend(x);
    gather_start(&scrape->gather, x->worker);
}
