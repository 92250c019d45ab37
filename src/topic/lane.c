/* SPDX-License-Identifier: Apache-2.0 */
#include "topic/lane.h"

#include <stdlib.h>

#include "base/xalloc.h"

enum {
    FIRST_BLOCK = 1024 - sizeof(struct block), /* an idle topic stays small */
    FULL_BLOCK = 65536 - sizeof(struct block),
};

struct block *block_new(size_t size, uint64_t base)
{
    struct block *block = xmalloc(sizeof(*block) + size);

    *block = (struct block){ .base = base, .refs = 1, .size = (uint32_t)size };
    return block;
}

struct block *block_ref(struct block *block)
{
    block->refs++;
    return block;
}

void block_unref(struct block *block)
{
    while (block && --block->refs == 0) {
        struct block *next = block->next;

        free(block);
        block = next;
    }
}

void lane_init(struct lane *lane, const struct encoding *encoding)
{
    *lane = (struct lane){ .encoding = encoding, .tail = block_new(FIRST_BLOCK, 0) };
    list_init(&lane->readers);
    lane->next = &lane->readers;
    list_init(&lane->directed);
    list_init(&lane->ready);
}

void lane_done(struct lane *lane)
{
    block_unref(lane->tail);
    block_unref(lane->spare);
    lane->tail = NULL;
    lane->spare = NULL;
}

/* Blocks grow with what the lane has seen, so that a quiet topic, which keeps the last
 * one alone, keeps a sixteenth of it, and a busy one soon has full-sized ones; a larger
 * frame gets its own. */
static size_t next_size(const struct lane *lane, size_t need)
{
    size_t size = lane->end / 16 < FULL_BLOCK ? (size_t)lane->end / 16 : FULL_BLOCK;

    if (size < FIRST_BLOCK)
        size = FIRST_BLOCK;
    return need > size ? need : size;
}

static bool fits(const struct block *block, size_t size)
{
    return block->size - block->used >= size;
}

char *lane_reserve(struct lane *lane, size_t size)
{
    struct block *tail = lane->tail;

    if (fits(tail, size))
        return tail->bytes + tail->used;
    if (!lane->spare || !fits(lane->spare, size)) {
        block_unref(lane->spare);
        lane->spare = block_new(next_size(lane, size), 0);
    }
    return lane->spare->bytes;
}

static void add_spare(struct lane *lane)
{
    struct block *tail = lane->tail;

    lane->tail = lane->spare;
    lane->spare = NULL;
    lane->tail->base = lane->end;
    tail->next = block_ref(lane->tail);
    block_unref(tail);
}

void lane_commit(struct lane *lane, size_t size)
{
    if (!fits(lane->tail, size))
        add_spare(lane);
    lane->tail->used += (uint32_t)size; // NOLINT(clang-analyzer-unix.Malloc): still held
    lane->end += size;
}

/* --- rounds --- */

void lane_seat(struct lane *lane, struct link *reader)
{
    list_append(lane->next, reader); /* the last one of the round under way */
    lane->reader_count++;
}

void lane_unseat(struct lane *lane, struct link *reader)
{
    if (lane->next == reader)
        lane->next = reader->next;
    list_remove(reader);
    lane->reader_count--;
    if (lane->untold > lane->reader_count)
        lane->untold = lane->reader_count;
}

void lane_put_first(struct lane *lane, struct link *reader)
{
    if (lane->next == reader)
        return;
    list_remove(reader);
    list_append(lane->next, reader);
    lane->next = reader;
}

struct link *lane_next_untold(struct lane *lane)
{
    struct link *reader;

    if (lane->untold == 0)
        return NULL;
    if (lane->next == &lane->readers)
        lane->next = lane->readers.next;
    reader = lane->next;
    lane->next = reader->next;
    lane->untold--;
    return reader;
}
