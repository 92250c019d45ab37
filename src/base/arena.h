/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is freed as a whole. Scratch arenas belong to the loop and are reset
 * after each message; nothing keeps a pointer into them.
 */
#pragma once

#include <stddef.h>

#include "base/str.h"

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks; /* the newest first */
    size_t used;                /* in the newest */
    size_t total;               /* handed out since the last reset */
    size_t max;
};

/* At most `max` bytes are handed out between two resets. */
void arena_init(struct arena *arena, size_t max);
void arena_done(struct arena *arena);

/* Forgets everything; keeps one chunk for next time. */
void arena_reset(struct arena *arena);

/* Zeroed memory aligned for any type, or NULL above the maximum. */
void *arena_alloc(struct arena *arena, size_t size);

/* A copy in the arena, with a NUL behind it; ptr is NULL above the maximum. */
struct str arena_str(struct arena *arena, struct str s);
