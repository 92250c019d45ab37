/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: the loop itself. */
#pragma once

#include <stdatomic.h>
#include <sys/epoll.h>

#include "loop/loop.h"

enum {
    LOOP_EVENTS = 64,                /* fetched per turn */
    LOOP_SCRATCH = 64 * 1024 * 1024, /* largest scratch of one message */
};

struct loop {
    int epoll_fd;
    struct loop_fd wake; /* an eventfd that loop_post() writes */
    bool is_stopping;
    bool has_own_clock; /* set by loop_set_now() */
    bool has_work;      /* a hook left some */
    uint64_t mono_ms;
    uint64_t wall_ms;
    struct loop_timer **heap; /* slots 1 to timer_count; slot 0 stays empty */
    size_t timer_count;
    size_t heap_size;
    struct link tasks;
    struct link hooks;
    _Atomic(struct loop_mail *) mail; /* a stack: the newest first */
    int event_count;                  /* of this turn's batch */
    int event_at;                     /* the next to dispatch */
    struct epoll_event events[LOOP_EVENTS];
    struct arena scratch;
    char *buffer;
};

/* Fires what was due when the turn began. */
void loop_fire_timers(struct loop *loop);

/* Opens the mailbox's eventfd and watches it. */
enum err loop_mail_open(struct loop *loop);
void loop_mail_deliver(struct loop *loop);
