/* SPDX-License-Identifier: Apache-2.0 */
#include "store/bounds.h"

/* The first seq of that time or later; behind the last: INT64_MAX. */
static enum err seq_from(struct engine *engine, uint64_t ms, bounds_time_from *time_from,
                         uint64_t *ret)
{
    struct audit_head head = {};
    uint64_t low = 1, high, at_ms, unused;
    enum err err = engine->ops->head(engine, &head, &unused);

    high = head.seq + 1;
    while (!err && low < high) {
        uint64_t middle = low + (high - low) / 2;

        err = time_from(engine, middle, &at_ms);
        if (!err && at_ms < ms)
            low = middle + 1;
        else
            high = middle;
    }
    if (!err)
        *ret = low > head.seq ? INT64_MAX : low;
    return err;
}

enum err bounds_find(struct engine *engine, const struct audit_query *query,
                     bounds_time_from *time_from, struct bounds *ret)
{
    bool is_up = query->order == AUDIT_OLDEST_FIRST;
    struct bounds found = { is_up ? query->after_seq : 0,
                            !is_up && query->after_seq ? query->after_seq : INT64_MAX };
    uint64_t seq = 0;
    enum err err = OK;

    if (query->since_ms) {
        err = seq_from(engine, query->since_ms, time_from, &seq);
        if (!err && seq - 1 > found.above)
            found.above = seq - 1;
    }
    if (!err && query->until_ms) {
        err = seq_from(engine, query->until_ms, time_from, &seq);
        if (!err && seq < found.below)
            found.below = seq;
    }
    if (!err)
        *ret = found;
    return err;
}
