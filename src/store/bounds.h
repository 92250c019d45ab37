/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between which seqs a question looks. Times never go back along the record, so times
 * become seqs by halving; both engines do it so.
 */
#pragma once

#include "audit/query.h"
#include "base/err.h"
#include "store/engine.h"

struct bounds {
    uint64_t above, below; /* the seqs lie between */
};

/* The time of the first record from this seq on; UINT64_MAX behind the last. */
typedef enum err bounds_time_from(struct engine *engine, uint64_t seq, uint64_t *ret_ms);

enum err bounds_find(struct engine *engine, const struct audit_query *query,
                     bounds_time_from *time_from, struct bounds *ret);

static inline bool bounds_are_empty(const struct bounds *bounds)
{
    return bounds->above + 1 >= bounds->below;
}
