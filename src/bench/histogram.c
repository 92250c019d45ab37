/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/histogram.h"

#include <stddef.h>

enum { STEP_BITS = 6 };
_Static_assert(HISTOGRAM_STEPS == 1 << STEP_BITS);

/* Values below 64 have a bucket each; above, the top seven bits choose it. */
static size_t bucket_of(uint64_t value)
{
    size_t shift;

    if (value < HISTOGRAM_STEPS)
        return (size_t)value;
    shift = 63 - STEP_BITS - (size_t)__builtin_clzll(value);
    return shift * HISTOGRAM_STEPS + (size_t)(value >> shift);
}

static uint64_t bucket_end(size_t bucket)
{
    uint64_t top;
    size_t shift;

    if (bucket < HISTOGRAM_STEPS)
        return bucket;
    shift = bucket / HISTOGRAM_STEPS - 1;
    top = HISTOGRAM_STEPS + bucket % HISTOGRAM_STEPS;
    return ((top + 1) << shift) - 1;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
    histogram->buckets[bucket_of(value)]++;
    histogram->count++;
    if (value > histogram->max)
        histogram->max = value;
}

uint64_t histogram_at(const struct histogram *histogram, double percent)
{
    double wanted = (double)histogram->count * percent / 100;
    uint64_t seen = 0;

    for (size_t i = 0; i < HISTOGRAM_BUCKETS && histogram->count; i++) {
        seen += histogram->buckets[i];
        if (seen && (double)seen >= wanted)
            return bucket_end(i) < histogram->max ? bucket_end(i) : histogram->max;
    }
    return histogram->max;
}

uint64_t histogram_up_to(const struct histogram *histogram, uint64_t value)
{
    uint64_t count = 0;

    for (size_t i = 0; i < HISTOGRAM_BUCKETS && bucket_end(i) <= value; i++)
        count += histogram->buckets[i];
    return count;
}
