/* SPDX-License-Identifier: Apache-2.0 */
/* The turn: wait, mail, descriptors, timers, tasks, hooks. */
#include "loop/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/prefetch.h"
#include "base/xalloc.h"
#include "loop/loop_priv.h"

/* A task that defers itself forever must not starve the descriptors. */
enum { MAX_TASK_ROUNDS = 64 };

static void read_clocks(struct loop *loop)
{
    if (loop->has_own_clock)
        return;
    loop->mono_ms = clock_mono_ms();
    loop->wall_ms = clock_wall_ms();
}

struct loop *loop_new(void)
{
    struct loop *loop = xcalloc(1, sizeof(*loop));

    loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    list_init(&loop->tasks);
    list_init(&loop->hooks);
    arena_init(&loop->scratch, LOOP_SCRATCH);
    loop->buffer = xmalloc(LOOP_BUFFER);
    read_clocks(loop);
    if (loop->epoll_fd < 0 || loop_mail_open(loop)) {
        log_error("loop.fail", "errno=%d", errno);
        abort(); /* No program can go on without its loop. */
    }
    return loop;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    (void)close(loop->wake.fd);
    (void)close(loop->epoll_fd);
    arena_done(&loop->scratch);
    free(loop->buffer);
    free(loop->heap);
    free(loop);
}

uint64_t loop_now_ms(const struct loop *loop)
{
    return loop->mono_ms;
}

uint64_t loop_wall_ms(const struct loop *loop)
{
    return loop->wall_ms;
}

void loop_set_now(struct loop *loop, uint64_t mono_ms, uint64_t wall_ms)
{
    loop->has_own_clock = true;
    loop->mono_ms = mono_ms;
    loop->wall_ms = wall_ms;
}

char *loop_buffer(struct loop *loop)
{
    return loop->buffer;
}

struct arena *loop_scratch(struct loop *loop)
{
    return &loop->scratch;
}

enum err loop_fd_add(struct loop *loop, struct loop_fd *fd)
{
    struct epoll_event event = { .events = fd->events, .data.ptr = fd };

    return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd->fd, &event) ? ERR_IO : OK;
}

void loop_fd_watch(struct loop *loop, struct loop_fd *fd, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.ptr = fd };

    if (fd->fd < 0 || fd->events == events)
        return;
    fd->events = events;
    (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_MOD, fd->fd, &event);
}

void loop_fd_remove(struct loop *loop, struct loop_fd *fd)
{
    if (fd->fd < 0)
        return;
    (void)epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd->fd, NULL);
    fd->fd = -1;
    /* An event already fetched would otherwise reach whoever lives there next. */
    for (int i = loop->event_at; i < loop->event_count; i++)
        if (loop->events[i].data.ptr == fd)
            loop->events[i].data.ptr = NULL;
}

void loop_defer(struct loop *loop, struct loop_task *task)
{
    if (!link_is_set(&task->link))
        list_append(&loop->tasks, &task->link);
}

void loop_hook_add(struct loop *loop, struct loop_hook *hook)
{
    list_append(&loop->hooks, &hook->link);
}

void loop_hook_remove(struct loop_hook *hook)
{
    list_remove(&hook->link);
}

/* How long the loop may sleep: not past the next timer, not at all with work left. */
static int sleep_ms(const struct loop *loop, int timeout_ms)
{
    uint64_t now, due;

    if (loop->has_work || !list_is_empty(&loop->tasks))
        return 0;
    if (loop->timer_count == 0)
        return timeout_ms;
    now = loop->has_own_clock ? loop->mono_ms : clock_mono_ms();
    due = loop->heap[1]->due_ms;
    if (due <= now)
        return 0;
    if (loop->has_own_clock)
        return timeout_ms;
    due -= now;
    if (timeout_ms >= 0 && due > (uint64_t)timeout_ms)
        return timeout_ms;
    return due > INT32_MAX ? INT32_MAX : (int)due;
}

static void dispatch(struct loop *loop)
{
    while (loop->event_at < loop->event_count) {
        const struct epoll_event *event = &loop->events[loop->event_at++];
        struct loop_fd *fd = event->data.ptr;

        if (loop->event_at < loop->event_count)
            prefetch(loop->events[loop->event_at].data.ptr, PREFETCH_OWNER);
        if (fd)
            fd->on_ready(fd, event->events);
    }
}

/* Tasks deferred by tasks run in this turn, too. */
static void run_tasks(struct loop *loop)
{
    struct link last = {};

    for (int round = 0; round < MAX_TASK_ROUNDS; round++) {
        if (list_is_empty(&loop->tasks))
            return;
        list_append(&loop->tasks, &last);
        while (loop->tasks.next != &last) {
            struct loop_task *task =
                CONTAINER_OF(loop->tasks.next, struct loop_task, link);

            list_remove(&task->link);
            task->run(task);
        }
        list_remove(&last);
    }
}

static bool run_hooks(struct loop *loop)
{
    struct loop_hook *hook;
    bool has_work = false;

    LIST_FOREACH(hook, &loop->hooks, link)
        if (hook->on_turn_end(hook))
            has_work = true;
    return has_work;
}

void loop_turn(struct loop *loop, int timeout_ms)
{
    int count =
        epoll_wait(loop->epoll_fd, loop->events, LOOP_EVENTS, sleep_ms(loop, timeout_ms));

    assert(count >= 0 || errno == EINTR);
    loop->event_at = 0;
    loop->event_count = count < 0 ? 0 : count;
    read_clocks(loop);
    loop_mail_deliver(loop);
    dispatch(loop);
    loop_fire_timers(loop);
    run_tasks(loop);
    loop->has_work = run_hooks(loop);
}

void loop_run(struct loop *loop)
{
    while (!loop->is_stopping)
        loop_turn(loop, -1);
    loop->is_stopping = false;
}

void loop_stop(struct loop *loop)
{
    loop->is_stopping = true;
}
