/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/plot.h"

#include <stdbool.h>

#include "base/cleanup.h"

enum { ROWS_MAX = 14, EIGHTHS = 8, STEPS_MAX = 12 };
enum { DECADE = 100 }; /* times a step: the smallest row ends at 1000 ns */

#define LONGEST UINT64_C(1'000'000'000'000'000) /* no row ends later: eleven days */

/* Steps of a decade, in tenths; the finest series that gives few enough rows is used. */
struct series {
    uint8_t count;
    uint8_t steps[STEPS_MAX];
};

/* clang-format off */
static const struct series all_series[] = {
    { 12, { 10, 12, 15, 18, 22, 27, 33, 39, 47, 56, 68, 82 } },
    {  6, { 10, 15, 22, 33, 47, 68 } },
    {  3, { 10, 20, 50 } },
    {  1, { 10 } },
};
/* clang-format on */

/* An index into a series that goes on through all decades. */
static uint64_t step_at(const struct series *series, size_t index)
{
    uint64_t decade = DECADE;

    for (size_t i = index / series->count; i; i--)
        decade *= 10;
    return series->steps[index % series->count] * decade;
}

/* The first step that is not below `value`. */
static size_t step_for(const struct series *series, uint64_t value)
{
    size_t index = 0;

    while (step_at(series, index) < value)
        index++;
    return index;
}

struct rows {
    const struct series *series;
    size_t first;
    size_t last;
};

/* A thousandth at either end may lie outside, so that one straggler adds no rows. */
static struct rows choose_rows(const struct histogram *histogram)
{
    uint64_t low = histogram_at(histogram, 0.1);
    uint64_t high = histogram_at(histogram, 99.9);
    struct rows rows = {};

    low = low < LONGEST ? low : LONGEST;
    high = high < LONGEST ? high : LONGEST;
    for (size_t i = 0; i < COUNT(all_series); i++) {
        rows.series = &all_series[i];
        rows.first = step_for(rows.series, low);
        rows.last = step_for(rows.series, high);
        if (rows.last - rows.first < ROWS_MAX)
            break;
    }
    return rows;
}

static void put_bar(uint64_t eighths, size_t width, enum plot_style style,
                    struct buf *out)
{
    static const char *const parts[EIGHTHS] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    bool is_ascii = style == PLOT_ASCII;
    size_t full = (size_t)(eighths / EIGHTHS);
    size_t part = (size_t)(eighths % EIGHTHS);

    for (size_t i = 0; i < full; i++)
        buf_put(out, is_ascii ? S("#") : S("█"));
    if (part)
        buf_put(out, is_ascii ? S(":") : str_of(parts[part]));
    for (size_t i = full + (part != 0); i < width; i++)
        buf_putc(out, ' ');
}

struct row {
    uint64_t end;
    uint64_t count;
    bool is_tail; /* above `end` instead of up to it */
};

struct amount {
    double value;
    const char *unit;
};

static struct amount amount_of(uint64_t ns, enum plot_style style)
{
    static const struct {
        double size;
        const char *names[2];
    } units[] = {
        { 1e9, { "s", "s" } },
        { 1e6, { "ms", "ms" } },
        { 1e3, { "µs", "us" } },
    };
    size_t unit = 0;

    while (unit + 1 < COUNT(units) && (double)ns < units[unit].size)
        unit++;
    return (struct amount){ (double)ns / units[unit].size,
                            units[unit].names[style == PLOT_ASCII] };
}

static void put_row(const struct row *row, const struct histogram *histogram,
                    uint64_t eighths, size_t width, enum plot_style style,
                    struct buf *out)
{
    static const char *const signs[2][2] = { { "≤", ">" }, { "<=", "> " } };
    struct amount end = amount_of(row->end, style);

    buf_putf(out, "  %s %4.3g %s ", signs[style == PLOT_ASCII][row->is_tail], end.value,
             end.unit);
    put_bar(eighths, width, style, out);
    buf_putf(out, " %5.1f %%\n", 100 * (double)row->count / (double)histogram->count);
}

/* The lengths of the bars go by the longest; what is there at all is seen. */
static uint64_t bar_length(uint64_t count, uint64_t longest, size_t width)
{
    uint64_t eighths = count * width * EIGHTHS / longest;

    return count && !eighths ? 1 : eighths;
}

void plot_write(const struct histogram *histogram, enum plot_style style, size_t width,
                struct buf *out)
{
    struct rows rows = choose_rows(histogram);
    struct row all[ROWS_MAX + 1];
    uint64_t longest = 1;
    uint64_t seen = 0;
    size_t count = 0;

    if (!histogram->count)
        return;
    for (size_t i = rows.first; i <= rows.last && count < ROWS_MAX; i++) {
        uint64_t end = step_at(rows.series, i);
        uint64_t up_to = histogram_up_to(histogram, end);

        all[count++] = (struct row){ .end = end, .count = up_to - seen };
        seen = up_to;
    }
    if (seen < histogram->count)
        all[count] = (struct row){ all[count - 1].end, histogram->count - seen, true };
    count += seen < histogram->count;
    for (size_t i = 0; i < count; i++)
        longest = all[i].count > longest ? all[i].count : longest;
    for (size_t i = 0; i < count; i++)
        put_row(&all[i], histogram, bar_length(all[i].count, longest, width), width,
                style, out);
}

void plot_time(uint64_t ns, enum plot_style style, struct buf *out)
{
    struct amount amount = amount_of(ns, style);
    int digits = amount.value < 9.995 ? 2 : (int)(amount.value < 99.95);

    buf_putf(out, "%.*f %s", digits, amount.value, amount.unit);
}
