/* SPDX-License-Identifier: Apache-2.0 */
#include "topic/ring.h"

#include <stdlib.h>

#include "base/prefetch.h"
#include "base/xalloc.h"
#include "policy/capset.h"

enum { FIRST_ENTRIES = 8 };

void ring_init(struct ring *ring, size_t max_entries, size_t max_bytes)
{
    *ring = (struct ring){
        .first_seq = 1, .next_seq = 1, .max_entries = max_entries, .max_bytes = max_bytes
    };
    hash_key_random(&ring->key);
}

static size_t held(const struct ring *ring)
{
    return (size_t)(ring->next_seq - ring->first_seq);
}

static struct entry *at(const struct ring *ring, uint64_t seq)
{
    return &ring->entries[seq & (ring->size - 1)];
}

/* Blocks are held through the oldest one alone. */
static void release(const struct entry *entry)
{
    if (entry->is_presence)
        capset_unref(entry->presence.capabilities);
}

void ring_done(struct ring *ring)
{
    for (uint64_t seq = ring->first_seq; seq < ring->next_seq; seq++)
        release(at(ring, seq));
    block_unref(ring->oldest);
    free(ring->entries);
    free(ring->slots);
    ring->entries = NULL;
    ring->slots = NULL;
}

static size_t slot_mask(const struct ring *ring)
{
    return ring->size * 2 - 1;
}

static void slot_add(struct ring *ring, uint64_t seq)
{
    size_t mask = slot_mask(ring);
    uint32_t hash = (uint32_t)at(ring, seq)->id_hash;
    size_t slot = hash & mask;

    while (ring->slots[slot].place)
        slot = (slot + 1) & mask;
    ring->slots[slot] =
        (struct slot){ .place = (uint32_t)(seq & (ring->size - 1)) + 1, .hash = hash };
}

/* Removes a slot and moves later ones of its run back. */
static void slot_drop(struct ring *ring, uint64_t seq)
{
    size_t mask = slot_mask(ring);
    uint32_t wanted = (uint32_t)(seq & (ring->size - 1)) + 1;
    size_t hole = at(ring, seq)->id_hash & mask;

    while (ring->slots[hole].place != wanted)
        hole = (hole + 1) & mask;
    for (size_t i = (hole + 1) & mask; ring->slots[i].place; i = (i + 1) & mask) {
        size_t home = ring->slots[i].hash & mask;

        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        ring->slots[hole] = ring->slots[i];
        hole = i;
    }
    ring->slots[hole].place = 0;
}

static void grow(struct ring *ring)
{
    struct ring old = *ring;

    ring->size = old.size ? old.size * 2 : FIRST_ENTRIES;
    ring->entries = xcalloc(ring->size, sizeof(*ring->entries));
    ring->slots = xcalloc(ring->size * 2, sizeof(*ring->slots));
    for (uint64_t seq = old.first_seq; seq < old.next_seq; seq++) {
        *at(ring, seq) = *at(&old, seq);
        slot_add(ring, seq);
    }
    free(old.entries);
    free(old.slots);
}

/* Lets go of blocks that no entry needs any more. */
static void hold_oldest(struct ring *ring)
{
    struct block *was = ring->oldest;
    uint64_t seq = ring->first_seq;

    while (seq < ring->next_seq && at(ring, seq)->is_presence)
        seq++;
    if (seq < ring->next_seq && at(ring, seq)->block == was)
        return;
    ring->oldest = seq < ring->next_seq ? block_ref(at(ring, seq)->block) : NULL;
    block_unref(was);
}

static void drop_oldest(struct ring *ring)
{
    const struct entry *oldest = at(ring, ring->first_seq);

    slot_drop(ring, ring->first_seq);
    ring->bytes -= oldest->len;
    ring->first_seq++;
    release(oldest);
    if (!oldest->is_presence)
        hold_oldest(ring);
}

uint64_t ring_hash(const struct ring *ring, struct str id)
{
    uint64_t hash = hash_of(&ring->key, id);

    if (ring->size) {
        prefetch(&ring->slots[hash & slot_mask(ring)], sizeof(struct slot));
        prefetch(at(ring, ring->next_seq), sizeof(struct entry));
    }
    return hash;
}

void ring_push(struct ring *ring, uint64_t id_hash, struct entry entry)
{
    if (held(ring) == ring->size)
        grow(ring);
    entry.id_hash = id_hash;
    if (entry.is_presence && entry.presence.capabilities)
        (void)capset_ref(entry.presence.capabilities);
    if (!entry.is_presence && !ring->oldest)
        ring->oldest = block_ref(entry.block);
    *at(ring, ring->next_seq) = entry;
    slot_add(ring, ring->next_seq);
    ring->next_seq++;
    ring->bytes += entry.len;
    while (held(ring) > ring->max_entries || ring->bytes > ring->max_bytes)
        drop_oldest(ring);
}

uint64_t ring_find(const struct ring *ring, uint64_t id_hash)
{
    size_t mask;

    if (held(ring) == 0)
        return 0;
    mask = slot_mask(ring);
    for (size_t i = id_hash & mask; ring->slots[i].place; i = (i + 1) & mask) {
        uint64_t place = ring->slots[i].place - 1;

        if (ring->slots[i].hash == (uint32_t)id_hash &&
            ring->entries[place].id_hash == id_hash)
            return ring->first_seq + ((place - ring->first_seq) & (ring->size - 1));
    }
    return 0;
}

const struct entry *ring_at(const struct ring *ring, uint64_t seq)
{
    if (seq < ring->first_seq || seq >= ring->next_seq)
        return NULL;
    return at(ring, seq);
}
