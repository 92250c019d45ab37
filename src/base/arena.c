/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct arena_chunk {
    struct arena_chunk *older;
    size_t size;
    alignas(max_align_t) char bytes[];
};

/* The first one is small, since most arenas that are kept hold a few texts; each is twice
 * as large as the one before. With their heads they are what allocators have. */
enum {
    FIRST_SIZE = 512 - sizeof(struct arena_chunk),
    LARGEST_SIZE = 4096 - sizeof(struct arena_chunk),
};

void arena_init(struct arena *arena, size_t max)
{
    *arena = (struct arena){ .max = max };
}

static void free_from(struct arena_chunk *chunk)
{
    while (chunk) {
        struct arena_chunk *older = chunk->older;

        free(chunk);
        chunk = older;
    }
}

void arena_done(struct arena *arena)
{
    free_from(arena->chunks);
    *arena = (struct arena){ .max = arena->max };
}

void arena_reset(struct arena *arena)
{
    struct arena_chunk *kept = arena->chunks;

    if (kept && kept->size > LARGEST_SIZE) {
        free_from(kept);
        kept = NULL;
    } else if (kept) {
        free_from(kept->older);
        kept->older = NULL;
    }
    *arena = (struct arena){ .chunks = kept, .max = arena->max };
}

static void add_chunk(struct arena *arena, size_t size)
{
    size_t room = arena->chunks ? 2 * arena->chunks->size + sizeof(*arena->chunks) : 0;
    struct arena_chunk *chunk;

    if (room < FIRST_SIZE)
        room = FIRST_SIZE;
    if (room > LARGEST_SIZE)
        room = LARGEST_SIZE;
    if (room < size)
        room = size;
    chunk = xmalloc(sizeof(*chunk) + room);
    chunk->older = arena->chunks;
    chunk->size = room;
    arena->chunks = chunk;
    arena->used = 0;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t rounded = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
    char *block;

    if (rounded < size || rounded > arena->max || arena->total > arena->max - rounded)
        return NULL;
    if (!arena->chunks || arena->chunks->size - arena->used < rounded)
        add_chunk(arena, rounded);
    block = arena->chunks->bytes + arena->used;
    arena->used += rounded;
    arena->total += rounded;
    return memset(block, 0, rounded);
}

struct str arena_str(struct arena *arena, struct str s)
{
    char *copy = arena_alloc(arena, s.len + 1);

    if (!copy)
        return (struct str){};
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    return (struct str){ copy, s.len };
}
