/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop: descriptors, timers, deferred calls, and mail from other threads. One
 * loop per worker thread; everything but loop_post() is called on that thread alone.
 *
 * A turn: wait, take mail, dispatch ready descriptors, fire timers, run deferred tasks,
 * then call the turn-end hooks (which write what the turn produced), then sleep.
 *
 * Close now, free later: inside a callback nothing is freed that a caller up the stack
 * may hold. What is removed with loop_fd_remove() gets no further event, not even one
 * already fetched in this turn, provided its memory lives until a deferred task frees it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/list.h"

struct loop;

struct loop *loop_new(void);
void loop_free(struct loop *loop);

/* Runs turns until loop_stop(). */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* One turn that waits at most `timeout_ms`; for tests and foreign loops. */
void loop_turn(struct loop *loop, int timeout_ms);

/* The time at the start of this turn: monotonic, and wall clock. */
uint64_t loop_now_ms(const struct loop *loop);
uint64_t loop_wall_ms(const struct loop *loop);

/* Sets the clocks by hand, for tests; real time no longer matters then. */
void loop_set_now(struct loop *loop, uint64_t mono_ms, uint64_t wall_ms);

/* Memory shared by everything on this loop. The receive buffer is valid during one
 * callback; the scratch arena is reset by whoever begins a message. */
enum { LOOP_BUFFER = 64 * 1024 };
char *loop_buffer(struct loop *loop);
struct arena *loop_scratch(struct loop *loop);

/* Descriptors; events are EPOLLIN, EPOLLOUT, … as of epoll(7), level-triggered. */
struct loop_fd {
    int fd; /* -1: not watched */
    uint32_t events;
    void (*on_ready)(struct loop_fd *self, uint32_t events);
};

enum err loop_fd_add(struct loop *loop, struct loop_fd *fd); /* ERR_IO */
void loop_fd_watch(struct loop *loop, struct loop_fd *fd, uint32_t events);
void loop_fd_remove(struct loop *loop, struct loop_fd *fd); /* does not close */

/* Timers; setting one that is set moves it. A zeroed timer is not set. */
struct loop_timer {
    uint64_t due_ms;
    size_t slot; /* the loop's */
    void (*on_fire)(struct loop_timer *self);
};

void loop_timer_set(struct loop *loop, struct loop_timer *timer, uint64_t delay_ms);
void loop_timer_clear(struct loop *loop, struct loop_timer *timer);
static inline bool loop_timer_is_set(const struct loop_timer *timer)
{
    return timer->slot != 0;
}

/* A call that runs later in this turn, after dispatch. Deferring twice runs once. */
struct loop_task {
    struct link link;
    void (*run)(struct loop_task *self);
};

void loop_defer(struct loop *loop, struct loop_task *task);

/* Called at the end of every turn, in the order added. Returns true if work is left: the
 * loop then polls instead of sleeping. */
struct loop_hook {
    struct link link;
    bool (*on_turn_end)(struct loop_hook *self);
};

void loop_hook_add(struct loop *loop, struct loop_hook *hook);
void loop_hook_remove(struct loop_hook *hook);

/* A letter from any thread; `deliver` runs on the loop's thread and owns the letter.
 * Never blocks, never drops; letters of one sender keep their order. */
struct loop_mail {
    struct loop_mail *next; /* the loop's */
    void (*deliver)(struct loop_mail *self);
};

void loop_post(struct loop *loop, struct loop_mail *mail);
