/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/epoll.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "harness.h"
#include "loop/loop.h"

/* A watched pipe that counts its events, and removes another when it gets one. */
struct watch {
    struct loop_fd io;
    struct loop *loop;
    struct watch *victim;
    int other_end;
    int count;
    uint32_t events;
};

static void on_ready(struct loop_fd *io, uint32_t events)
{
    struct watch *watch = CONTAINER_OF(io, struct watch, io);

    watch->count++;
    watch->events = events;
    if (watch->victim)
        loop_fd_remove(watch->loop, &watch->victim->io);
}

static int watch_open(struct watch *watch, struct loop *loop)
{
    int ends[2];

    if (pipe(ends))
        return -1;
    *watch = (struct watch){
        .io = { .fd = ends[0], .events = EPOLLIN, .on_ready = on_ready },
        .loop = loop,
        .other_end = ends[1],
    };
    CHECK_INT(loop_fd_add(loop, &watch->io), OK);
    return ends[0];
}

static void watch_close(struct watch *watch, int fd)
{
    loop_fd_remove(watch->loop, &watch->io);
    (void)close(watch->other_end);
    (void)close(fd);
}

TEST(a_ready_descriptor_is_reported_until_it_is_read)
{
    struct loop *loop = loop_new();
    struct watch watch;
    int fd = watch_open(&watch, loop);
    char c;

    loop_turn(loop, 0);
    CHECK_INT(watch.count, 0);
    CHECK_INT(write(watch.other_end, "x", 1), 1);
    loop_turn(loop, 0);
    loop_turn(loop, 0);
    CHECK_INT(watch.count, 2);
    CHECK_INT(watch.events, EPOLLIN);
    CHECK_INT(read(fd, &c, 1), 1);
    loop_turn(loop, 0);
    CHECK_INT(watch.count, 2);
    watch_close(&watch, fd);
    loop_free(loop);
}

TEST(what_is_watched_can_change)
{
    struct loop *loop = loop_new();
    struct watch watch;
    int fd = watch_open(&watch, loop);

    CHECK_INT(write(watch.other_end, "x", 1), 1);
    loop_fd_watch(loop, &watch.io, 0);
    loop_turn(loop, 0);
    CHECK_INT(watch.count, 0);
    loop_fd_watch(loop, &watch.io, EPOLLIN);
    loop_turn(loop, 0);
    CHECK_INT(watch.count, 1);
    watch_close(&watch, fd);
    loop_free(loop);
}

TEST(a_removed_descriptor_gets_no_event_that_was_already_fetched)
{
    struct loop *loop = loop_new();
    struct watch a, b;
    int fd_a = watch_open(&a, loop);
    int fd_b = watch_open(&b, loop);

    a.victim = &b;
    b.victim = &a;
    CHECK_INT(write(a.other_end, "x", 1), 1);
    CHECK_INT(write(b.other_end, "x", 1), 1);
    loop_turn(loop, 0);
    CHECK_INT(a.count + b.count, 1);
    loop_turn(loop, 0);
    CHECK_INT(a.count + b.count, 2);
    watch_close(&a, fd_a);
    watch_close(&b, fd_b);
    loop_free(loop);
}

/* A descriptor added again under the same structure is a new one. */
static void on_ready_swap(struct loop_fd *io, uint32_t)
{
    struct watch *watch = CONTAINER_OF(io, struct watch, io);
    struct loop_fd *other = &watch->victim->io;
    int fd = other->fd;

    watch->count++;
    loop_fd_remove(watch->loop, other);
    other->fd = fd;
    CHECK_INT(loop_fd_add(watch->loop, other), OK);
}

TEST(an_event_of_a_former_life_is_not_delivered_to_the_next)
{
    struct loop *loop = loop_new();
    struct watch a, b;
    int fd_a = watch_open(&a, loop);
    int fd_b = watch_open(&b, loop);

    a.victim = &b;
    b.victim = &a;
    a.io.on_ready = on_ready_swap;
    b.io.on_ready = on_ready_swap;
    CHECK_INT(write(a.other_end, "x", 1), 1);
    CHECK_INT(write(b.other_end, "x", 1), 1);
    loop_turn(loop, 0);
    CHECK_INT(a.count + b.count, 1);
    watch_close(&a, fd_a);
    watch_close(&b, fd_b);
    loop_free(loop);
}

/* A task that counts its runs and may defer itself or another. */
struct errand {
    struct loop_task task;
    struct loop *loop;
    struct errand *next;
    int rounds;
    int count;
};

static void run_errand(struct loop_task *task)
{
    struct errand *errand = CONTAINER_OF(task, struct errand, task);

    if (++errand->count < errand->rounds)
        loop_defer(errand->loop, task);
    if (errand->next)
        loop_defer(errand->loop, &errand->next->task);
}

static struct errand errand_of(struct loop *loop)
{
    return (struct errand){ .task.run = run_errand, .loop = loop };
}

TEST(a_task_deferred_twice_runs_once)
{
    struct loop *loop = loop_new();
    struct errand errand = errand_of(loop);

    loop_defer(loop, &errand.task);
    loop_defer(loop, &errand.task);
    CHECK_INT(errand.count, 0);
    loop_turn(loop, -1);
    loop_turn(loop, 0);
    CHECK_INT(errand.count, 1);
    loop_free(loop);
}

TEST(a_task_deferred_by_a_task_runs_in_the_same_turn)
{
    struct loop *loop = loop_new();
    struct errand first = errand_of(loop);
    struct errand second = errand_of(loop);

    first.next = &second;
    loop_defer(loop, &first.task);
    loop_turn(loop, -1);
    CHECK_INT(first.count, 1);
    CHECK_INT(second.count, 1);
    loop_free(loop);
}

TEST(a_task_that_defers_itself_forever_does_not_stop_the_loop)
{
    struct loop *loop = loop_new();
    struct errand errand = errand_of(loop);
    struct watch watch;
    int fd = watch_open(&watch, loop);

    errand.rounds = 1'000'000;
    loop_defer(loop, &errand.task);
    loop_turn(loop, -1);
    CHECK_INT(write(watch.other_end, "x", 1), 1);
    loop_turn(loop, -1);
    CHECK_INT(watch.count, 1);
    CHECK(errand.count < 1'000'000);
    watch_close(&watch, fd);
    loop_free(loop);
}

struct ending {
    struct loop_hook hook;
    struct errand *errand;
    int count;
    int busy; /* so many turns leave work */
    int errands_seen;
};

static bool on_turn_end(struct loop_hook *hook)
{
    struct ending *ending = CONTAINER_OF(hook, struct ending, hook);

    ending->count++;
    ending->errands_seen = ending->errand ? ending->errand->count : 0;
    return ending->count <= ending->busy;
}

TEST(hooks_run_after_the_tasks_and_keep_the_loop_awake_while_work_is_left)
{
    struct loop *loop = loop_new();
    struct errand errand = errand_of(loop);
    struct ending ending = { .hook.on_turn_end = on_turn_end,
                             .errand = &errand,
                             .busy = 3 };

    loop_hook_add(loop, &ending.hook);
    loop_defer(loop, &errand.task);
    for (int i = 0; i < 4; i++)
        loop_turn(loop, -1); /* would sleep forever without work */
    CHECK_INT(ending.count, 4);
    CHECK_INT(ending.errands_seen, 1);
    loop_hook_remove(&ending.hook);
    loop_turn(loop, 0);
    CHECK_INT(ending.count, 4);
    loop_free(loop);
}

static void run_stop(struct loop_task *task)
{
    loop_stop(CONTAINER_OF(task, struct errand, task)->loop);
}

TEST(a_stopped_loop_returns)
{
    struct loop *loop = loop_new();
    struct errand errand = { .task.run = run_stop, .loop = loop };

    loop_defer(loop, &errand.task);
    loop_run(loop);
    loop_defer(loop, &errand.task);
    loop_run(loop);
    loop_free(loop);
}

TEST(the_clock_can_be_set_by_hand)
{
    struct loop *loop = loop_new();

    loop_set_now(loop, 1000, 5000);
    loop_turn(loop, 0);
    CHECK_INT(loop_now_ms(loop), 1000);
    CHECK_INT(loop_wall_ms(loop), 5000);
    loop_free(loop);
}

TEST(the_loop_has_memory_for_everyone)
{
    struct loop *loop = loop_new();

    loop_buffer(loop)[LOOP_BUFFER - 1] = 'x';
    CHECK(arena_alloc(loop_scratch(loop), 1000) != NULL);
    arena_reset(loop_scratch(loop));
    loop_free(loop);
}
