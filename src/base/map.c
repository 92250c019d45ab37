/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear probing with backward-shift deletion; at most four fifths full. In a table of
 * the first size the slots are simply looked through: comparing a few lengths costs less
 * than hashing a key. Entries there have no place of their own, and no hash yet.
 */
#include "base/map.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xalloc.h"

enum { FIRST_SLOTS = 8 };

void map_init(struct map *map)
{
    *map = (struct map){};
    hash_key_random(&map->seed);
}

void map_done(struct map *map)
{
    free(map->slots);
    map->slots = NULL;
    map->size = 0;
    map->count = 0;
}

static uint32_t short_hash(const struct map *map, struct str key)
{
    return (uint32_t)hash_of(&map->seed, key);
}

static struct str key_of(const struct map_slot *slot)
{
    return (struct str){ slot->key, slot->key_len };
}

static bool is_small(const struct map *map)
{
    return map->size == FIRST_SLOTS;
}

/* The slot that holds the key, or a free one. */
static struct map_slot *small_slot_of(const struct map *map, struct str key)
{
    struct map_slot *free_slot = NULL;

    for (struct map_slot *slot = map->slots; slot < map->slots + FIRST_SLOTS; slot++) {
        if (!slot->key)
            free_slot = slot;
        else if (slot->key_len == key.len && str_eq(key_of(slot), key))
            return slot;
    }
    return free_slot;
}

/* The slot that holds the key, or the free one where it belongs. */
static struct map_slot *slot_of(const struct map *map, struct str key, uint32_t hash)
{
    size_t mask = map->size - 1;
    size_t i = hash & mask;

    while (map->slots[i].key) {
        if (map->slots[i].hash == hash && str_eq(key_of(&map->slots[i]), key))
            break;
        i = (i + 1) & mask;
    }
    return &map->slots[i];
}

/* The slot that holds the key, or NULL. */
static struct map_slot *find(const struct map *map, struct str key)
{
    struct map_slot *slot;

    if (map->count == 0)
        return NULL;
    slot =
        is_small(map) ? small_slot_of(map, key) : slot_of(map, key, short_hash(map, key));
    return slot && slot->key ? slot : NULL;
}

void *map_find(const struct map *map, struct str key)
{
    const struct map_slot *slot = find(map, key);

    return slot ? slot->value : NULL;
}

static void grow(struct map *map)
{
    struct map old = *map;

    map->size = old.size ? old.size * 2 : FIRST_SLOTS;
    map->slots = xcalloc(map->size, sizeof(*map->slots));
    for (size_t i = 0; i < old.size; i++) {
        struct map_slot moved = old.slots[i];

        if (!moved.key)
            continue;
        if (is_small(&old))
            moved.hash = short_hash(map, key_of(&moved));
        *slot_of(map, key_of(&moved), moved.hash) = moved;
    }
    free(old.slots);
}

void map_set(struct map *map, struct str key, void *value)
{
    uint32_t hash = 0;
    struct map_slot *slot;

    assert(key.len <= UINT32_MAX);
    if (!key.ptr)
        key.ptr = "";
    if (map->count * 5 >= map->size * 4)
        grow(map);
    if (!is_small(map))
        hash = short_hash(map, key);
    slot = is_small(map) ? small_slot_of(map, key) : slot_of(map, key, hash);
    if (!slot->key)
        map->count++;
    *slot = (struct map_slot){ key.ptr, value, (uint32_t)key.len, hash };
}

/* Moves later entries of the same run back, so that no probe ends too early. */
static void close_hole(struct map *map, size_t hole)
{
    size_t mask = map->size - 1;

    for (size_t i = (hole + 1) & mask; map->slots[i].key; i = (i + 1) & mask) {
        size_t home = map->slots[i].hash & mask;

        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        map->slots[hole] = map->slots[i];
        hole = i;
    }
    map->slots[hole] = (struct map_slot){};
}

void *map_remove(struct map *map, struct str key)
{
    struct map_slot *slot = find(map, key);
    void *value;

    if (!slot)
        return NULL;
    value = slot->value;
    map->count--;
    if (is_small(map))
        *slot = (struct map_slot){};
    else
        close_hole(map, (size_t)(slot - map->slots));
    return value;
}

void *map_next(const struct map *map, size_t *at)
{
    while (*at < map->size) {
        const struct map_slot *slot = &map->slots[(*at)++];

        if (slot->key)
            return slot->value;
    }
    return NULL;
}
