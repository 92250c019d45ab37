/* SPDX-License-Identifier: Apache-2.0 */
/* Linear probing with backward-shift deletion; at most four fifths full. */
#include "base/map.h"

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

/* The slot that holds the key, or the free one where it belongs. */
static struct map_slot *slot_of(const struct map *map, struct str key, uint64_t hash)
{
    size_t mask = map->size - 1;
    size_t i = hash & mask;

    while (map->slots[i].key.ptr) {
        if (map->slots[i].hash == hash && str_eq(map->slots[i].key, key))
            break;
        i = (i + 1) & mask;
    }
    return &map->slots[i];
}

void *map_find(const struct map *map, struct str key)
{
    const struct map_slot *slot;

    if (map->count == 0)
        return NULL;
    slot = slot_of(map, key, hash_of(&map->seed, key));
    return slot->key.ptr ? slot->value : NULL;
}

static void grow(struct map *map)
{
    struct map old = *map;

    map->size = old.size ? old.size * 2 : FIRST_SLOTS;
    map->slots = xcalloc(map->size, sizeof(*map->slots));
    for (size_t i = 0; i < old.size; i++)
        if (old.slots[i].key.ptr)
            *slot_of(map, old.slots[i].key, old.slots[i].hash) = old.slots[i];
    free(old.slots);
}

void map_set(struct map *map, struct str key, void *value)
{
    uint64_t hash = hash_of(&map->seed, key);
    struct map_slot *slot;

    if (!key.ptr)
        key.ptr = "";
    if (map->count * 5 >= map->size * 4)
        grow(map);
    slot = slot_of(map, key, hash);
    if (!slot->key.ptr)
        map->count++;
    *slot = (struct map_slot){ key, value, hash };
}

/* Moves later entries of the same run back, so that no probe ends too early. */
static void close_hole(struct map *map, size_t hole)
{
    size_t mask = map->size - 1;

    for (size_t i = (hole + 1) & mask; map->slots[i].key.ptr; i = (i + 1) & mask) {
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
    struct map_slot *slot;
    void *value;

    if (map->count == 0)
        return NULL;
    slot = slot_of(map, key, hash_of(&map->seed, key));
    if (!slot->key.ptr)
        return NULL;
    value = slot->value;
    map->count--;
    close_hole(map, (size_t)(slot - map->slots));
    return value;
}

void *map_next(const struct map *map, size_t *at)
{
    while (*at < map->size) {
        const struct map_slot *slot = &map->slots[(*at)++];

        if (slot->key.ptr)
            return slot->value;
    }
    return NULL;
}
