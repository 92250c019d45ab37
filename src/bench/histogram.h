/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram with logarithmic buckets: 64 per power of two, so that any value is known
 * to 1.6 % at the same cost, however long the tail.
 */
#pragma once

#include <stdint.h>

enum { HISTOGRAM_STEPS = 64, HISTOGRAM_BUCKETS = 60 * HISTOGRAM_STEPS };

struct histogram {
    uint64_t buckets[HISTOGRAM_BUCKETS];
    uint64_t count;
    uint64_t max;
};

void histogram_add(struct histogram *histogram, uint64_t value);

/* The smallest bucket's upper end that `percent` of all values do not exceed; 0 when
 * there are none. */
uint64_t histogram_at(const struct histogram *histogram, double percent);

/* How many values lie in buckets that end at or below `value`. */
uint64_t histogram_up_to(const struct histogram *histogram, uint64_t value);
