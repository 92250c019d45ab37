/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

enum { ASIDE_FIRST = 64 };

void order_init(struct order *order, uint32_t publishers)
{
    *order = (struct order){
        .publishers = publishers,
        .next = xcalloc(publishers, sizeof(uint32_t)),
        .positions = xcalloc((size_t)publishers * ORDER_RING, sizeof(uint32_t)),
    };
}

void order_done(struct order *order)
{
    free(order->next);
    free(order->positions);
    *order = (struct order){};
}

static uint32_t *slot(const struct order *order, uint32_t publisher, uint32_t seq)
{
    return &order->positions[(size_t)publisher * ORDER_RING + seq % ORDER_RING];
}

enum err order_place(struct order *order, uint32_t publisher, uint32_t seq, uint32_t *ret)
{
    uint32_t *next;

    if (publisher >= order->publishers)
        return ERR_INVALID;
    next = &order->next[publisher];
    if (seq<*next && * next - seq> ORDER_RING)
        return ERR_NOT_FOUND;
    if (seq >= *next && seq - *next >= ORDER_RING)
        return ERR_INVALID;
    for (; *next <= seq; (*next)++)
        *slot(order, publisher, *next) = order->head++;
    *ret = *slot(order, publisher, seq);
    return OK;
}

void view_init(struct view *view, const struct order *order)
{
    *view = (struct view){ .due = xcalloc(order->publishers, sizeof(uint32_t)) };
}

void view_done(struct view *view)
{
    free(view->due);
    free(view->aside);
    *view = (struct view){};
}

void view_begin(struct view *view, const struct order *order, const uint32_t *due)
{
    uint64_t sent = order->head;

    for (uint32_t p = 0; p < order->publishers; p++)
        sent += due[p];
    view->is_placed = sent == 0;
    view->aside_count = 0;
    track_begin(&view->track, 0);
    memcpy(view->due, due, order->publishers * sizeof(*due));
}

/* The first message of a publisher at or after a position. */
static uint32_t first_from(const struct order *order, uint32_t publisher,
                           uint32_t position)
{
    uint32_t seq = order->next[publisher];

    while (seq > 0 && order->next[publisher] - seq < ORDER_RING &&
           *slot(order, publisher, seq - 1) >= position)
        seq--;
    return seq;
}

/* What was sent after the join and stands before the first that came is lost. */
static void place(struct view *view, const struct order *order, uint32_t position,
                  struct track_faults *faults)
{
    for (uint32_t p = 0; p < order->publishers; p++) {
        uint32_t first = first_from(order, p, position);

        if (first > view->due[p])
            faults->missing += first - view->due[p];
    }
    track_begin(&view->track, position);
    view->is_placed = true;
}

static enum err put_aside(struct view *view, struct sighting sighting)
{
    if (view->aside_count == ORDER_RING)
        return ERR_TOO_BIG;
    if (view->aside_count == view->aside_size) {
        view->aside_size = view->aside_size ? 2 * view->aside_size : ASIDE_FIRST;
        view->aside = xrealloc(view->aside, view->aside_size * sizeof(*view->aside));
    }
    view->aside[view->aside_count++] = sighting;
    return OK;
}

static enum err account(struct view *view, struct order *order, struct sighting sighting,
                        struct track_faults *faults)
{
    uint32_t position;
    enum err err = order_place(order, sighting.publisher, sighting.seq, &position);

    if (!err)
        track_account(&view->track, position, faults);
    return err;
}

enum err view_settle(struct view *view, struct order *order, struct track_faults *faults)
{
    struct sighting first;
    uint32_t position;
    enum err err;

    if (!view->aside_count)
        return OK;
    first = view->aside[0];
    if (first.seq >= order->next[first.publisher])
        return OK;
    err = order_place(order, first.publisher, first.seq, &position);
    if (err)
        return err;
    place(view, order, position, faults);
    for (size_t i = 0; i < view->aside_count && !err; i++)
        err = account(view, order, view->aside[i], faults);
    view->aside_count = 0;
    return err;
}

enum err view_see(struct view *view, struct order *order, struct sighting sighting,
                  struct track_faults *faults)
{
    enum err err;

    if (sighting.publisher >= order->publishers)
        return ERR_INVALID;
    if (view->is_placed)
        return account(view, order, sighting, faults);
    err = put_aside(view, sighting);
    return err ? err : view_settle(view, order, faults);
}

uint64_t view_lacks(const struct view *view, const struct order *order,
                    const uint32_t *sent)
{
    uint64_t lacks = view->is_placed ? order->head - view->track.next : 0;

    for (uint32_t p = 0; p < order->publishers; p++)
        lacks += sent[p] - (view->is_placed ? order->next[p] : view->due[p]);
    return lacks;
}
