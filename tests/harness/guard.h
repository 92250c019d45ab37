/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory between two pages that cannot be touched: whoever reads a byte before or behind
 * it ends the test. And numbers that are random enough, the same in every run.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { GUARD_SIZE = 65536 }; /* a multiple of every page size */

struct guard {
    char *ptr;
};

void guard_init(struct guard *guard);
void guard_done(struct guard *guard);

/* Place for `len` bytes whose last one is the last that may be touched. */
static inline char *guard_last(const struct guard *guard, size_t len)
{
    return guard->ptr + GUARD_SIZE - len;
}

/* The next number below `limit`; a state of 0 never changes. */
size_t random_below(uint64_t *state, size_t limit);
