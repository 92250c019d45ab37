/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "harness.h"
#include "identity/throttle.h"

static const struct throttle_limits three_in_a_minute = {
    .max_addresses = 4,
    .max_failures = 3,
    .window_ms = 60'000,
    .refuse_ms = 30'000,
};

TEST(an_address_that_fails_too_often_is_refused_for_a_while)
{
    struct throttle t;
    struct str here = S("127.0.0.1");

    throttle_init(&t, three_in_a_minute);
    CHECK(throttle_allows(&t, here, 0));
    throttle_failed(&t, here, 0);
    throttle_failed(&t, here, 1000);
    CHECK(throttle_allows(&t, here, 1000));
    throttle_failed(&t, here, 2000);
    CHECK(!throttle_allows(&t, here, 2000));
    CHECK_INT(throttle_wait_ms(&t, here, 3000), 29'000);
    CHECK(throttle_allows(&t, S("127.0.0.2"), 3000));
    CHECK(!throttle_allows(&t, here, 31'999));
    CHECK(throttle_allows(&t, here, 32'000));
    throttle_failed(&t, here, 32'000); /* the count began anew */
    throttle_failed(&t, here, 32'000);
    CHECK(throttle_allows(&t, here, 32'000));
    throttle_failed(&t, here, 32'000);
    CHECK(!throttle_allows(&t, here, 32'000));
    throttle_done(&t);
}

TEST(the_window_slides)
{
    /* clang-format off */
    static const struct { uint64_t times_ms[4]; bool is_allowed; } cases[] = {
        { {      0,  20'000,  60'000,  60'000 }, false },
        { {      0,  60'001, 120'002, 180'003 }, true  },
        { {      0,  59'000,  61'000,  62'000 }, false },
        { {      0,  30'000,  60'001,  90'001 }, true  },
        { {      0,  30'000,  60'001,  90'000 }, false },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct throttle t;

        throttle_init(&t, three_in_a_minute);
        for (size_t i = 0; i < 4; i++)
            throttle_failed(&t, S("::1"), c->times_ms[i]);
        CHECK_INT(throttle_allows(&t, S("::1"), c->times_ms[3]), c->is_allowed);
        throttle_done(&t);
    }
}

TEST(a_good_credential_makes_its_address_forgiven)
{
    struct throttle t;

    throttle_init(&t, three_in_a_minute);
    throttle_passed(&t, S("a"));
    throttle_failed(&t, S("a"), 0);
    throttle_failed(&t, S("a"), 0);
    throttle_passed(&t, S("a"));
    throttle_failed(&t, S("a"), 0);
    throttle_failed(&t, S("a"), 0);
    CHECK(throttle_allows(&t, S("a"), 0));
    CHECK_INT(t.by_address.count, 1);
    throttle_done(&t);
}

TEST(the_address_that_failed_longest_ago_makes_room)
{
    static const struct str order[] = { S("a"), S("b"), S("c"), S("d"), S("a"), S("e") };
    struct throttle t;

    throttle_init(&t, three_in_a_minute);
    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
        throttle_failed(&t, order[i], i);
    CHECK_INT(t.by_address.count, 4);
    throttle_failed(&t, S("a"), 10); /* the third of a */
    CHECK(!throttle_allows(&t, S("a"), 10));
    throttle_failed(&t, S("b"), 10); /* b had made room for e: these are its first two */
    throttle_failed(&t, S("b"), 10);
    CHECK(throttle_allows(&t, S("b"), 10));
    CHECK_INT(t.by_address.count, 4);
    throttle_done(&t);
}

TEST(the_table_stays_bounded_whoever_calls)
{
    struct throttle t;
    char text[32];

    throttle_init(&t, throttle_default_limits());
    for (unsigned i = 0; i < 10'000; i++) {
        (void)snprintf(text, sizeof(text), "10.0.%u.%u", i / 256, i % 256);
        throttle_failed(&t, str_of(text), i);
    }
    CHECK_INT(t.by_address.count, 4096);
    throttle_failed(&t, (struct str){}, 1);
    throttle_failed(&t, S("a\0b"), 1);
    throttle_failed(&t, S("a\0c"), 1);
    CHECK_INT(t.by_address.count, 4096);
    throttle_done(&t);
}

TEST(one_failure_refuses_at_once_where_the_limit_is_one)
{
    struct throttle_limits limits = three_in_a_minute;
    struct throttle t;

    limits.max_failures = 1;
    throttle_init(&t, limits);
    throttle_failed(&t, S("a"), 5);
    CHECK(!throttle_allows(&t, S("a"), 5));
    CHECK(throttle_allows(&t, S("a"), 30'005));
    throttle_done(&t);
}

TEST(no_limit_is_no_limit)
{
    struct throttle_limits unlimited = three_in_a_minute;
    struct throttle t;

    unlimited.max_failures = 0;
    throttle_init(&t, unlimited);
    for (uint64_t i = 0; i < 100; i++)
        throttle_failed(&t, S("127.0.0.1"), i);
    CHECK(throttle_allows(&t, S("127.0.0.1"), 100));
    throttle_done(&t);
}

TEST(a_limit_that_grows_counts_anew)
{
    struct throttle_limits more = three_in_a_minute;
    struct throttle t;

    throttle_init(&t, three_in_a_minute);
    throttle_failed(&t, S("127.0.0.1"), 0);
    throttle_failed(&t, S("127.0.0.1"), 0);
    more.max_failures = 100;
    throttle_set_limits(&t, more);
    for (uint64_t i = 1; i < 100; i++)
        throttle_failed(&t, S("127.0.0.1"), i);
    CHECK(throttle_allows(&t, S("127.0.0.1"), 100));
    throttle_failed(&t, S("127.0.0.1"), 100);
    CHECK(!throttle_allows(&t, S("127.0.0.1"), 100));
    throttle_done(&t);
}
