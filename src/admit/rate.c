/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/rate.h"

enum { THOUSANDTHS = 1000, FILLED_MS = 3600 * 1000 };

/* The most a bucket holds; a burst that was rounded down to nothing is one. */
static uint64_t capacity(const struct rate *rate)
{
    return rate->burst ? rate->burst : 1;
}

/* Per millisecond a bucket gains per_second thousandths. Of a longer time than counts
 * only the first part is used, lest the product overflow: no division on this way. */
static void refill(struct bucket *bucket, const struct rate *rate, uint64_t now_ms)
{
    uint64_t full = capacity(rate) * THOUSANDTHS;
    uint64_t elapsed = now_ms - bucket->filled_ms;

    if (elapsed > FILLED_MS)
        elapsed = FILLED_MS;
    bucket->level += elapsed * rate->per_second;
    if (bucket->level > full || bucket->filled_ms == 0)
        bucket->level = full;
    bucket->filled_ms = now_ms ? now_ms : 1;
}

static uint64_t cost_of(const struct rate *rate, uint64_t amount)
{
    return (amount < capacity(rate) ? amount : capacity(rate)) * THOUSANDTHS;
}

bool rate_fits(struct bucket *bucket, const struct rate *rate, uint64_t amount,
               uint64_t now_ms, uint64_t *ret_wait_ms)
{
    uint64_t cost;

    if (rate->per_second == 0)
        return true;
    refill(bucket, rate, now_ms);
    cost = cost_of(rate, amount);
    if (cost <= bucket->level)
        return true;
    *ret_wait_ms = (cost - bucket->level + rate->per_second - 1) / rate->per_second;
    return false;
}

void rate_take(struct bucket *bucket, const struct rate *rate, uint64_t amount)
{
    if (rate->per_second)
        bucket->level -= cost_of(rate, amount);
}
