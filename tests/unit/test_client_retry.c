/* SPDX-License-Identifier: Apache-2.0 */
#include "client/retry.h"
#include "harness.h"

TEST(what_is_of_no_use_is_not_tried_again)
{
    static const struct {
        struct ending ending;
        bool is_over_at_first, is_over_later;
    } cases[] = {
        /* clang-format off */
        { { ENDING_LOST, 0, 0 },       false, false },
        { { ENDING_UNTRUSTED, 0, 0 },  true,  false },
        { { ENDING_WANTED, 0, 0 },     true,  true  },
        { { ENDING_REFUSED, 400, 0 },  true,  false },
        { { ENDING_REFUSED, 401, 0 },  true,  true  },
        { { ENDING_REFUSED, 403, 0 },  true,  false },
        { { ENDING_REFUSED, 404, 0 },  true,  true  },
        { { ENDING_REFUSED, 409, 0 },  false, false },
        { { ENDING_REFUSED, 421, 0 },  true,  false },
        { { ENDING_REFUSED, 426, 0 },  true,  false },
        { { ENDING_REFUSED, 429, 0 },  false, false },
        { { ENDING_REFUSED, 500, 0 },  false, false },
        { { ENDING_REFUSED, 503, 0 },  false, false },
        { { ENDING_REFUSED, 200, 0 },  false, false },
        { { ENDING_CLOSED, 1000, 0 },  false, false },
        { { ENDING_CLOSED, 1001, 0 },  false, false },
        { { ENDING_CLOSED, 1005, 0 },  false, false },
        { { ENDING_CLOSED, 1008, 0 },  true,  true  },
        { { ENDING_CLOSED, 4001, 0 },  true,  true  },
        { { ENDING_CLOSED, 4003, 0 },  false, false },
        { { ENDING_CLOSED, 4008, 0 },  false, false },
        { { ENDING_CLOSED, 4029, 0 },  false, false },
        { { ENDING_CLOSED, 401, 0 },   false, false },
        /* clang-format on */
    };

    FOR_EACH_CASE(c, cases) {
        struct retry retry = { .min_ms = 1, .max_ms = 2 };

        CHECK_INT(retry_is_over(&retry, &c->ending), c->is_over_at_first);
        retry_succeeded(&retry);
        CHECK_INT(retry_is_over(&retry, &c->ending), c->is_over_later);
        retry.tries_once = true;
        CHECK(retry_is_over(&retry, &c->ending));
    }
}

/* The bounds of the n-th pause, by the extreme random numbers. */
static void check_pause(struct retry *retry, const struct ending *ending, uint64_t least,
                        uint64_t most)
{
    struct retry same = *retry;

    CHECK_INT(retry_pause_ms(&same, ending, 0), least);
    CHECK_INT(retry_pause_ms(retry, ending, most - least), most);
    same = *retry;
    same.failures--;
    CHECK_INT(retry_pause_ms(&same, ending, most - least + 1), least);
}

TEST(pauses_double_up_to_the_longest_and_are_cut_at_random)
{
    static const struct ending lost = { ENDING_LOST, 0, 0 };
    struct retry retry = { .min_ms = 250, .max_ms = 30'000 };

    check_pause(&retry, &lost, 250, 500);
    check_pause(&retry, &lost, 250, 1000);
    check_pause(&retry, &lost, 250, 2000);
    check_pause(&retry, &lost, 250, 4000);
    for (int i = 0; i < 100; i++)
        (void)retry_pause_ms(&retry, &lost, 0);
    check_pause(&retry, &lost, 250, 30'000);
    retry_held(&retry);
    check_pause(&retry, &lost, 250, 500);
}

TEST(a_success_that_did_not_hold_does_not_shorten_the_pauses)
{
    static const struct ending lost = { ENDING_LOST, 0, 0 };
    struct retry retry = { .min_ms = 250, .max_ms = 30'000 };

    check_pause(&retry, &lost, 250, 500);
    retry_succeeded(&retry);
    check_pause(&retry, &lost, 250, 1000);
}

TEST(bounds_that_are_odd_do_no_harm)
{
    static const struct {
        uint32_t min_ms, max_ms;
        uint64_t least, most;
    } cases[] = {
        { 0, 0, 0, 0 },
        { 100, 50, 100, 100 },
        { 100, 100, 100, 100 },
        { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
    };

    FOR_EACH_CASE(c, cases) {
        static const struct ending lost = { ENDING_LOST, 0, 0 };
        struct retry retry = { .min_ms = c->min_ms, .max_ms = c->max_ms };

        for (int i = 0; i < 70; i++) {
            CHECK_INT(retry_pause_ms(&retry, &lost, 0), c->least);
            CHECK_INT(retry_pause_ms(&retry, &lost, c->most - c->least), c->most);
        }
    }
}

TEST(who_is_asked_to_wait_waits_and_the_pause_comes_on_top)
{
    static const struct {
        struct ending ending;
        uint64_t wait_ms;
    } cases[] = {
        { { ENDING_CLOSED, 4003, 0 }, 60'000 },
        { { ENDING_REFUSED, 429, 5000 }, 5000 },
        { { ENDING_REFUSED, 503, 1000 }, 1000 },
        { { ENDING_REFUSED, 503, UINT64_MAX }, 3'600'000 },
        { { ENDING_REFUSED, 4003, 0 }, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        struct retry retry = { .min_ms = 10, .max_ms = 1000 };

        check_pause(&retry, &c->ending, c->wait_ms + 10, c->wait_ms + 20);
    }
}
