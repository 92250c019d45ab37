/* SPDX-License-Identifier: Apache-2.0 */
#include "directory/idset.h"

#include <stdlib.h>

#include "base/xalloc.h"

enum { FIRST_SLOTS = 1024 };

void idset_init(struct idset *set, const struct hash_key *key)
{
    *set = (struct idset){ .key = *key };
}

void idset_done(struct idset *set)
{
    free(set->slots);
    *set = (struct idset){};
}

/* The slot of this hash, or the free one where it belongs. The size is a power of two,
 * and there is always a free one. */
static uint64_t *find(uint64_t *slots, size_t size, uint64_t hash)
{
    size_t at = (size_t)hash & (size - 1);

    while (slots[at] && slots[at] != hash)
        at = (at + 1) & (size - 1);
    return &slots[at];
}

static void grow(struct idset *set)
{
    size_t size = set->size ? set->size * 2 : FIRST_SLOTS;
    uint64_t *slots = xcalloc(size, sizeof(*slots));

    for (size_t i = 0; i < set->size; i++)
        if (set->slots[i])
            *find(slots, size, set->slots[i]) = set->slots[i];
    free(set->slots);
    set->slots = slots;
    set->size = size;
}

bool idset_add(struct idset *set, struct str id)
{
    uint64_t hash = hash_of(&set->key, id);
    uint64_t *slot;

    hash = hash ? hash : 1;
    if (set->count * 8 >= set->size * 7)
        grow(set);
    slot = find(set->slots, set->size, hash);
    if (*slot)
        return false;
    *slot = hash;
    set->count++;
    return true;
}
