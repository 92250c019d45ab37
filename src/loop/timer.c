/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timers in a binary heap, the soonest at slot 1. Every timer knows its slot, so that
 * moving and clearing one costs no search.
 *
 *              1
 *          2       3       parent of i: i / 2
 *        4   5   6   7     children: 2i, 2i + 1
 */
#include "base/xalloc.h"
#include "loop/loop.h"
#include "loop/loop_priv.h"

enum { FIRST_HEAP = 64 };

static void put(struct loop *loop, size_t slot, struct loop_timer *timer)
{
    loop->heap[slot] = timer;
    timer->slot = slot;
}

static void sift_up(struct loop *loop, struct loop_timer *timer)
{
    size_t slot = timer->slot;

    while (slot > 1 && loop->heap[slot / 2]->due_ms > timer->due_ms) {
        put(loop, slot, loop->heap[slot / 2]);
        slot /= 2;
    }
    put(loop, slot, timer);
}

static void sift_down(struct loop *loop, struct loop_timer *timer)
{
    size_t slot = timer->slot;

    for (;;) {
        size_t child = 2 * slot;

        if (child > loop->timer_count)
            break;
        if (child < loop->timer_count &&
            loop->heap[child + 1]->due_ms < loop->heap[child]->due_ms)
            child++;
        if (loop->heap[child]->due_ms >= timer->due_ms)
            break;
        put(loop, slot, loop->heap[child]);
        slot = child;
    }
    put(loop, slot, timer);
}

/* Puts a timer whose time has changed where it belongs. */
static void settle(struct loop *loop, struct loop_timer *timer)
{
    sift_up(loop, timer);
    sift_down(loop, timer);
}

void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t delay_ms)
{
    timer->due_ms = loop->mono_ms + delay_ms;
    if (!loop_timer_is_set(timer)) {
        if (loop->timer_count + 1 >= loop->heap_size) {
            loop->heap_size = loop->heap_size ? 2 * loop->heap_size : FIRST_HEAP;
            loop->heap =
                xrealloc(loop->heap, loop->heap_size * sizeof(struct loop_timer *));
        }
        put(loop, ++loop->timer_count, timer);
    }
    settle(loop, timer);
}

void loop_timer_clear(struct loop *loop, struct loop_timer *timer)
{
    size_t slot = timer->slot;
    struct loop_timer *last;

    if (!loop_timer_is_set(timer))
        return;
    timer->slot = 0;
    last = loop->heap[loop->timer_count--];
    if (last == timer)
        return;
    put(loop, slot, last);
    settle(loop, last);
}

void loop_fire_timers(struct loop *loop)
{
    /* A timer that sets itself again with no delay waits for the next turn. */
    for (size_t left = loop->timer_count; left && loop->timer_count; left--) {
        struct loop_timer *timer = loop->heap[1];

        if (timer->due_ms > loop->mono_ms)
            return;
        loop_timer_clear(loop, timer);
        timer->on_fire(timer);
    }
}
