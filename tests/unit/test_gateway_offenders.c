/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/offenders.h"
#include "harness.h"

enum { MANY = 3 * OFFENDERS_MAX };

static void add(struct offenders *offenders, uint64_t violations, struct str id)
{
    offenders_add(offenders, &(struct offender){ violations, S("room"), id });
}

/* 0, 1, 2, … in three orders. */
static uint64_t upward(uint64_t i)
{
    return i;
}

static uint64_t downward(uint64_t i)
{
    return MANY - 1 - i;
}

static uint64_t mixed(uint64_t i)
{
    return i * 7 % MANY;
}

TEST(the_worst_stay_in_whatever_order_they_come)
{
    static uint64_t (*const cases[])(uint64_t) = { upward, downward, mixed };

    FOR_EACH_CASE(c, cases) {
        struct offenders offenders = {};

        for (uint64_t i = 0; i < MANY; i++)
            add(&offenders, (*c)(i), S("x"));
        CHECK_INT(offenders.count, OFFENDERS_MAX);
        for (size_t i = 0; i < OFFENDERS_MAX; i++)
            CHECK_INT(offenders.worst[i].violations, MANY - 1 - i);
    }
}

TEST(of_two_that_are_as_bad_the_first_stays)
{
    struct offenders offenders = {};

    add(&offenders, 5, S("first"));
    add(&offenders, 5, S("second"));
    add(&offenders, 6, S("worst"));
    CHECK_STR(offenders.worst[0].id, S("worst"));
    CHECK_STR(offenders.worst[1].id, S("first"));
    CHECK_STR(offenders.worst[2].id, S("second"));
    for (size_t i = 0; i < OFFENDERS_MAX; i++)
        add(&offenders, 6, S("more"));
    add(&offenders, 6, S("late"));
    CHECK_STR(offenders.worst[OFFENDERS_MAX - 1].id, S("more"));
}

TEST(what_is_kept_is_a_copy_and_what_does_not_fit_is_left_out)
{
    struct offenders offenders = {};
    char id[] = "bob";
    struct arena arena;

    add(&offenders, 2, (struct str){ id, 3 });
    arena_init(&arena, 4096);
    offenders_keep(&offenders, &arena);
    id[0] = 'x';
    CHECK_STR(offenders.worst[0].id, S("bob"));
    CHECK_STR(offenders.worst[0].topic, S("room"));
    arena_done(&arena);
    arena_init(&arena, 1);
    offenders_keep(&offenders, &arena);
    CHECK_INT(offenders.count, 0);
    arena_done(&arena);
}

TEST(labels_are_escaped)
{
    struct offenders offenders = {};
    struct str line;
    struct buf out;

    add(&offenders, 3, S("a\"b\\c {d}=\xc3\xa9"));
    buf_init(&out, 4096);
    offenders_write(&offenders, &out);
    line = buf_str(&out);
    CHECK(str_starts(str_cut(&line, '\n'), S("# HELP moot_participant_violations ")));
    CHECK_STR(str_cut(&line, '\n'), S("# TYPE moot_participant_violations gauge"));
    CHECK_STR(line, S("moot_participant_violations{topic=\"room\",participant="
                      "\"a\\\"b\\\\c {d}=\xc3\xa9\"} 3\n"));
    buf_done(&out);
}
