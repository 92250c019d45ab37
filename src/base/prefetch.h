/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fetching from memory, while other work goes on, what will be looked at soon. Among
 * thousands of connections and rooms the next one is in no cache, and a system call takes
 * as long as fetching it. Any address will do: what is not there is not fetched.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
    PREFETCH_OWNER = 320, /* of a descriptor or a member: about a WebSocket client */
};

static inline void prefetch(const void *at, size_t size)
{
    enum { CACHE_LINE = 64 };
    uintptr_t line = (uintptr_t)at & ~(uintptr_t)(CACHE_LINE - 1);

    for (; line < (uintptr_t)at + size; line += CACHE_LINE)
        __builtin_prefetch(
            (const void *)line); // NOLINT(performance-no-int-to-ptr): rounded
}
