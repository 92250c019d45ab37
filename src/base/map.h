/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table from text to pointer. Keys are borrowed from the values, which must
 * outlive their entry. Hashing is keyed with random bytes per table, so that nobody
 * outside can choose keys that collide.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/str.h"

struct map_slot {
    const char *key; /* NULL: free */
    void *value;
    uint32_t key_len;
    uint32_t hash; /* the low half */
};

/* A topic has at least one for every participant. */
_Static_assert(sizeof(struct map_slot) == 24, "a slot of the map has grown");

struct map {
    struct map_slot *slots;
    size_t size; /* a power of two, or 0 */
    size_t count;
    struct hash_key seed;
};

void map_init(struct map *map);
void map_done(struct map *map);

void *map_find(const struct map *map, struct str key);

/* Adds or replaces; `key`, of less than 4 GiB, must stay valid as long as the entry. */
void map_set(struct map *map, struct str key, void *value);

/* Returns the value that was removed, or NULL. */
void *map_remove(struct map *map, struct str key);

/* Walks the entries: start with *at = 0; NULL at the end. The table must not change. */
void *map_next(const struct map *map, size_t *at);

#define MAP_FOREACH(var, map) \
    for (size_t _slot = 0; ((var) = map_next((map), &_slot)) != NULL;)
