/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/rate.h"
#include "fake_topic.h"
#include "harness.h"

/* Takes it if it fits; else how long to wait. */
static uint64_t take(struct bucket *bucket, const struct rate *rate, uint64_t amount,
                     uint64_t now_ms)
{
    uint64_t wait_ms = 0;

    if (!rate_fits(bucket, rate, amount, now_ms, &wait_ms)) {
        CHECK(wait_ms > 0);
        return wait_ms;
    }
    rate_take(bucket, rate, amount);
    return 0;
}

TEST(a_bucket_starts_full_and_refills_exactly)
{
    /* clang-format off */
    static const struct { uint64_t now_ms, amount, wait_ms; } steps[] = {
        { 1000, 7, 0 },    /* 10 saved up: 3 left */
        { 1000, 3, 0 },
        { 1000, 1, 200 },  /* empty; five per second */
        { 1100, 1, 100 },
        { 1199, 1, 1 },
        { 1200, 1, 0 },
        { 1200, 1, 200 },
        { 1900, 3, 0 },    /* 3.5 came: half a one is left */
        { 1900, 1, 100 },
        { 2000, 1, 0 },
        { 2000, 10, 2000 },
        { 4000, 10, 0 },
        { 4001, 1, 199 },
    };
    /* clang-format on */
    static const struct rate rate = { 5, 10 };
    struct bucket bucket = {};

    FOR_EACH_CASE(step, steps)
        CHECK_INT(take(&bucket, &rate, step->amount, step->now_ms), step->wait_ms);
}

TEST(no_more_than_the_burst_is_saved_up_however_long_it_takes)
{
    static const uint64_t idle_ms[] = { 2000, 2001, 1'000'000, UINT64_MAX / 2,
                                        UINT64_MAX - 1 };
    static const struct rate rate = { 5, 10 };

    FOR_EACH_CASE(idle, idle_ms) {
        struct bucket bucket = {};

        CHECK_INT(take(&bucket, &rate, 10, 1), 0);
        CHECK_INT(take(&bucket, &rate, 10, 1 + *idle), 0);
        CHECK_INT(take(&bucket, &rate, 1, 1 + *idle), 200);
    }
    for (uint64_t wait_ms = 1000; wait_ms < 2000; wait_ms += 333) { /* from half full */
        struct bucket bucket = {};

        CHECK_INT(take(&bucket, &rate, 5, 1), 0);
        CHECK_INT(take(&bucket, &rate, 10, 1 + wait_ms), 0);
        CHECK_INT(take(&bucket, &rate, 1, 1 + wait_ms), 200);
    }
}

TEST(what_is_larger_than_the_burst_fits_when_the_bucket_is_full_and_empties_it)
{
    static const struct rate rate = { 100, 200 };
    struct bucket bucket = {};

    CHECK_INT(take(&bucket, &rate, 1'000'000, 1), 0);
    CHECK_INT(take(&bucket, &rate, 1'000'000, 1), 2000);
    CHECK_INT(take(&bucket, &rate, 1'000'000, 2000), 1);
    CHECK_INT(take(&bucket, &rate, UINT64_MAX, 2001), 0);
    CHECK_INT(take(&bucket, &rate, 1, 2001), 10);
}

TEST(asking_takes_nothing)
{
    static const struct rate rate = { 1, 2 };
    struct bucket bucket = {};
    uint64_t wait_ms = 77;

    for (size_t i = 0; i < 5; i++)
        CHECK(rate_fits(&bucket, &rate, 2, 5, &wait_ms));
    CHECK_INT(wait_ms, 77); /* untouched while it fits */
    rate_take(&bucket, &rate, 2);
    CHECK(!rate_fits(&bucket, &rate, 1, 5, &wait_ms));
    CHECK_INT(wait_ms, 1000);
}

TEST(a_rate_of_zero_is_no_limit)
{
    static const struct rate rate = { 0, 0 };
    struct bucket bucket = {};

    for (uint64_t i = 0; i < 5; i++)
        CHECK_INT(take(&bucket, &rate, UINT64_MAX, 1), 0);
    CHECK_INT(bucket.filled_ms, 0);
    CHECK_INT(bucket.level, 0);
}

/* A rate of a few per second and a burst of a tenth of one round to nothing. */
TEST(a_burst_of_nothing_still_holds_the_rate)
{
    static const struct rate rate = { 2, 0 };
    struct bucket bucket = {};

    CHECK_INT(take(&bucket, &rate, 1, 1000), 0);
    CHECK_INT(take(&bucket, &rate, 1, 1000), 500);
    CHECK_INT(take(&bucket, &rate, 1, 1500), 0);
}

TEST(a_loop_that_starts_at_zero_is_no_exception)
{
    static const struct rate rate = { 1, 1 };
    struct bucket bucket = {};

    CHECK_INT(take(&bucket, &rate, 1, 0), 0);
    CHECK_INT(take(&bucket, &rate, 1, 1), 1000);
    CHECK_INT(take(&bucket, &rate, 1, 1001), 0);
}

TEST(the_largest_rates_that_can_be_configured_do_not_overflow)
{
    static const struct rate rates[] = { { 1ULL << 40, (1ULL << 40) * 60 },
                                         { 1'000'000'000, 60'000'000'000 },
                                         { 1, 1 } };

    FOR_EACH_CASE(rate, rates) {
        struct bucket bucket = {};
        uint64_t burst_ms = rate->burst / rate->per_second * 1000;

        CHECK_INT(take(&bucket, rate, rate->burst, 1), 0);
        CHECK_INT(bucket.level, 0);
        CHECK_INT(take(&bucket, rate, rate->burst, 1), burst_ms);
        CHECK_INT(take(&bucket, rate, rate->burst, burst_ms), 1);
        CHECK_INT(take(&bucket, rate, rate->burst, 1 + burst_ms), 0);
    }
}

/* In any time span no more comes through than the rate times the span and one burst. */
TEST(over_any_time_the_rate_is_kept_and_used)
{
    for (test_case = 1; test_case <= 50; test_case++) { /* the case is the seed */
        struct dice dice = dice_of(test_case);
        struct rate rate = { 1 + dice_throw(&dice, 50), 1 + dice_throw(&dice, 100) };
        struct bucket bucket = {};
        uint64_t now_ms = 1, total = 0;

        for (size_t i = 0; i < 2000; i++) {
            uint64_t amount = 1 + dice_throw(&dice, rate.burst);
            uint64_t wait_ms = take(&bucket, &rate, amount, now_ms);

            if (wait_ms) { /* exactly then, and not a millisecond earlier */
                CHECK(take(&bucket, &rate, amount, now_ms + wait_ms - 1) > 0);
                now_ms += wait_ms;
                CHECK_INT(take(&bucket, &rate, amount, now_ms), 0);
            }
            total += amount;
            CHECK(total * 1000 <= (now_ms - 1) * rate.per_second + rate.burst * 1000);
            now_ms += dice_throw(&dice, 20);
        }
    }
}
