/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/xalloc.h"
#include "bench/histogram.h"
#include "harness.h"

TEST(an_empty_histogram_answers_zero)
{
    struct histogram *h = xcalloc(1, sizeof(*h));

    CHECK_INT(histogram_at(h, 50), 0);
    CHECK_INT(histogram_at(h, 100), 0);
    CHECK_INT(histogram_up_to(h, UINT64_MAX), 0);
    free(h);
}

TEST(a_single_value_is_known_to_one_part_in_sixty_four)
{
    static const uint64_t values[] = { 0,      1,       63,      64,         65,
                                       127,    128,     1000,    4095,       4096,
                                       999999, 1 << 20, 1 << 30, 1ULL << 40, UINT64_MAX };

    FOR_EACH_CASE(value, values) {
        struct histogram *h = xcalloc(1, sizeof(*h));

        histogram_add(h, *value);
        histogram_add(h, UINT64_MAX);
        CHECK(histogram_at(h, 50) >= *value);
        CHECK(histogram_at(h, 50) - *value <= *value / 64);
        CHECK(histogram_at(h, 100) == UINT64_MAX);
        CHECK(h->max == UINT64_MAX);
        free(h);
    }
}

TEST(percentiles_of_a_ramp_are_where_they_belong)
{
    static const struct {
        double percent;
        uint64_t want;
    } cases[] = { { 1, 100 }, { 50, 5000 }, { 90, 9000 }, { 99, 9900 }, { 99.9, 9990 } };
    struct histogram *h = xcalloc(1, sizeof(*h));

    for (uint64_t i = 1; i <= 10000; i++)
        histogram_add(h, i);
    FOR_EACH_CASE(c, cases) {
        uint64_t got = histogram_at(h, c->percent);

        CHECK(got >= c->want && got <= c->want + c->want / 64 + 1);
    }
    CHECK_INT(histogram_at(h, 100), 10000);
    free(h);
}

TEST(no_percentile_exceeds_the_largest_value)
{
    struct histogram *h = xcalloc(1, sizeof(*h));

    histogram_add(h, 1000);
    CHECK_INT(histogram_at(h, 0), 1000);
    CHECK_INT(histogram_at(h, 50), 1000);
    free(h);
}

TEST(values_up_to_a_bound_are_counted)
{
    struct histogram *h = xcalloc(1, sizeof(*h));

    for (uint64_t i = 0; i < 100; i++)
        histogram_add(h, i * 1000);
    CHECK_INT(histogram_up_to(h, 0), 1);
    CHECK_INT(histogram_up_to(h, 50500), 51);
    CHECK_INT(histogram_up_to(h, UINT64_MAX), 100);
    free(h);
}
