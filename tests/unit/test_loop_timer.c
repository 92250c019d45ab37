/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "harness.h"
#include "loop/loop.h"

enum { MANY = 300 };

/* A timer that notes when it fired, and what it does to another one. */
struct alarm {
    struct loop_timer timer;
    struct loop *loop;
    struct alarm *victim; /* cleared when this one fires */
    uint64_t again_ms;    /* set again after that, while `count` is below `rounds` */
    int rounds;
    int count;
    uint64_t fired_ms;
    int order;
};

static int fired;

static void on_fire(struct loop_timer *timer)
{
    struct alarm *alarm = CONTAINER_OF(timer, struct alarm, timer);

    alarm->fired_ms = loop_now_ms(alarm->loop);
    alarm->order = fired++;
    if (++alarm->count < alarm->rounds)
        loop_timer_set(alarm->loop, timer, alarm->again_ms);
    if (alarm->victim)
        loop_timer_clear(alarm->loop, &alarm->victim->timer);
}

static void alarm_set(struct alarm *alarm, struct loop *loop, uint64_t delay_ms)
{
    alarm->loop = loop;
    alarm->timer.on_fire = on_fire;
    loop_timer_set(loop, &alarm->timer, delay_ms);
}

static struct loop *loop_at_zero(void)
{
    struct loop *loop = loop_new();

    fired = 0;
    loop_set_now(loop, 0, 0);
    return loop;
}

/* Turns the loop once at each millisecond up to and including `end_ms`. */
static void pass(struct loop *loop, uint64_t end_ms)
{
    for (uint64_t now = loop_now_ms(loop) + 1; now <= end_ms; now++) {
        loop_set_now(loop, now, now);
        loop_turn(loop, 0);
    }
}

TEST(timers_fire_in_the_order_of_their_times)
{
    struct loop *loop = loop_at_zero();
    struct alarm alarms[MANY] = {};

    for (size_t i = 0; i < MANY; i++)
        alarm_set(&alarms[i], loop, 1 + i * 7919 % MANY);
    pass(loop, MANY);
    for (size_t i = 0; i < MANY; i++) {
        CHECK_INT(alarms[i].count, 1);
        CHECK_INT(alarms[i].fired_ms, 1 + i * 7919 % MANY);
        CHECK(!loop_timer_is_set(&alarms[i].timer));
    }
    loop_free(loop);
}

TEST(timers_that_are_all_late_still_fire_in_order)
{
    struct loop *loop = loop_at_zero();
    struct alarm alarms[MANY] = {};

    for (size_t i = 0; i < MANY; i++)
        alarm_set(&alarms[i], loop, 1 + i * 7919 % MANY);
    loop_set_now(loop, 1000, 0);
    loop_turn(loop, -1);
    for (size_t i = 0; i < MANY; i++)
        CHECK_INT(alarms[i].order, i * 7919 % MANY);
    loop_free(loop);
}

TEST(setting_a_set_timer_moves_it)
{
    struct loop *loop = loop_at_zero();
    struct alarm sooner = {}, later = {}, other = {};

    alarm_set(&other, loop, 20);
    alarm_set(&sooner, loop, 50);
    alarm_set(&later, loop, 10);
    alarm_set(&sooner, loop, 5);
    alarm_set(&later, loop, 60);
    pass(loop, 100);
    CHECK_INT(sooner.fired_ms, 5);
    CHECK_INT(other.fired_ms, 20);
    CHECK_INT(later.fired_ms, 60);
    CHECK_INT(sooner.count + other.count + later.count, 3);
    loop_free(loop);
}

TEST(a_cleared_timer_does_not_fire_wherever_it_stood)
{
    struct loop *loop = loop_at_zero();
    struct alarm alarms[MANY] = {};

    for (size_t i = 0; i < MANY; i++)
        alarm_set(&alarms[i], loop, 1 + i * 7919 % MANY);
    for (size_t i = 0; i < MANY; i += 3) {
        loop_timer_clear(loop, &alarms[i].timer);
        loop_timer_clear(loop, &alarms[i].timer);
    }
    pass(loop, MANY);
    for (size_t i = 0; i < MANY; i++)
        CHECK_INT(alarms[i].fired_ms, i % 3 == 0 ? 0 : 1 + i * 7919 % MANY);
    loop_free(loop);
}

TEST(a_timer_may_clear_another_that_is_due_in_the_same_turn)
{
    struct loop *loop = loop_at_zero();
    struct alarm first = {}, second = {};

    first.victim = &second;
    alarm_set(&first, loop, 1);
    alarm_set(&second, loop, 2);
    loop_set_now(loop, 10, 0);
    loop_turn(loop, -1);
    CHECK_INT(first.count, 1);
    CHECK_INT(second.count, 0);
    loop_free(loop);
}

TEST(a_timer_may_set_and_clear_itself)
{
    struct loop *loop = loop_at_zero();
    struct alarm repeating = { .rounds = 3, .again_ms = 10 };
    struct alarm undecided = { .rounds = 3, .again_ms = 10 };

    undecided.victim = &undecided;
    alarm_set(&repeating, loop, 10);
    alarm_set(&undecided, loop, 10);
    pass(loop, 100);
    CHECK_INT(repeating.count, 3);
    CHECK_INT(repeating.fired_ms, 30);
    CHECK_INT(undecided.count, 1);
    CHECK(!loop_timer_is_set(&undecided.timer));
    loop_free(loop);
}

TEST(a_timer_that_never_waits_fires_once_a_turn)
{
    struct loop *loop = loop_at_zero();
    struct alarm eager = { .rounds = 1000 };

    alarm_set(&eager, loop, 0);
    loop_turn(loop, -1);
    loop_turn(loop, -1);
    CHECK_INT(eager.count, 2);
    loop_free(loop);
}

TEST(the_loop_sleeps_until_the_next_timer)
{
    struct loop *loop = loop_new();
    struct alarm alarm = {};
    uint64_t begin_ms = loop_now_ms(loop);

    alarm_set(&alarm, loop, 5);
    while (!alarm.count)
        loop_turn(loop, -1);
    CHECK(alarm.fired_ms >= begin_ms + 5);
    loop_free(loop);
}
