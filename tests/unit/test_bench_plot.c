/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "bench/plot.h"
#include "harness.h"

static void add(struct histogram *h, uint64_t value, size_t times)
{
    for (size_t i = 0; i < times; i++)
        histogram_add(h, value);
}

static size_t lines(const struct buf *text)
{
    size_t count = 0;

    for (size_t i = 0; i < text->len; i++)
        count += text->ptr[i] == '\n';
    return count;
}

TEST(times_have_three_digits_and_a_unit)
{
    static const struct {
        uint64_t ns;
        struct str want, ascii;
    } cases[] = {
        { 0, S("0.00 µs"), S("0.00 us") },
        { 999, S("1.00 µs"), S("1.00 us") },
        { 12'340, S("12.3 µs"), S("12.3 us") },
        { 812'000, S("812 µs"), S("812 us") },
        { 1'250'000, S("1.25 ms"), S("1.25 ms") },
        { 99'960'000, S("100 ms"), S("100 ms") },
        { 12'000'000'000, S("12.0 s"), S("12.0 s") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 100);
        plot_time(c->ns, PLOT_UNICODE, &out);
        CHECK_STR(buf_str(&out), c->want);
        buf_clear(&out);
        plot_time(c->ns, PLOT_ASCII, &out);
        CHECK_STR(buf_str(&out), c->ascii);
        buf_done(&out);
    }
}

TEST(nothing_is_drawn_of_nothing)
{
    struct histogram *h = xcalloc(1, sizeof(*h));
    struct buf out;

    buf_init(&out, 1000);
    plot_write(h, PLOT_UNICODE, 20, &out);
    CHECK_INT(out.len, 0);
    buf_done(&out);
    free(h);
}

TEST(bars_go_by_the_longest_and_what_is_there_is_seen)
{
    struct histogram *h = xcalloc(1, sizeof(*h));
    struct buf out;

    add(h, 95'000, 500);
    add(h, 110'000, 1000);
    add(h, 140'000, 2);
    buf_init(&out, 10'000);
    plot_write(h, PLOT_UNICODE, 10, &out);
    CHECK_STR(buf_str(&out), S("  ≤  100 µs █████       33.3 %\n"
                               "  ≤  120 µs ██████████  66.6 %\n"
                               "  ≤  150 µs ▏            0.1 %\n"));
    buf_clear(&out);
    plot_write(h, PLOT_ASCII, 10, &out);
    CHECK_STR(buf_str(&out), S("  <=  100 us #####       33.3 %\n"
                               "  <=  120 us ##########  66.6 %\n"
                               "  <=  150 us :            0.1 %\n"));
    buf_done(&out);
    free(h);
}

TEST(a_straggler_is_the_tail_and_adds_no_rows)
{
    struct histogram *h = xcalloc(1, sizeof(*h));
    struct buf out;

    add(h, 90'000, 9999);
    add(h, 5'000'000'000, 1);
    buf_init(&out, 10'000);
    plot_write(h, PLOT_ASCII, 10, &out);
    CHECK_STR(buf_str(&out), S("  <=  100 us ########## 100.0 %\n"
                               "  >   100 us :            0.0 %\n"));
    buf_done(&out);
    free(h);
}

TEST(any_range_fits_on_a_screen_and_counts_everything)
{
    for (unsigned top = 0; top < 64; top++) {
        struct histogram *h = xcalloc(1, sizeof(*h));
        struct buf out;

        for (unsigned shift = 0; shift <= top; shift++)
            add(h, UINT64_C(1) << shift, 10);
        buf_init(&out, 100'000);
        plot_write(h, PLOT_UNICODE, 40, &out);
        CHECK(lines(&out) >= 1 && lines(&out) <= 15);
        CHECK(!out.is_full);
        buf_done(&out);
        free(h);
    }
}
