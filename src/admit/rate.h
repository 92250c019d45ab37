/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Token buckets (D19): a rate per second and a burst of what may be saved up. A bucket
 * that was never used is full.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "topic/topic.h"

struct rate {
    uint64_t per_second; /* 0: unlimited */
    uint64_t burst; /* the most a bucket holds; at least one second's worth is sane */
};

/* Would `amount` fit now? If not, *ret_wait_ms is when it will; an amount larger than the
 * burst fits when the bucket is full. Changes nothing but the bucket's clock. */
bool rate_fits(struct bucket *bucket, const struct rate *rate, uint64_t amount,
               uint64_t now_ms, uint64_t *ret_wait_ms);

/* Takes what rate_fits() allowed. */
void rate_take(struct bucket *bucket, const struct rate *rate, uint64_t amount);
