/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which ids an import has seen: 8 to 16 bytes for each, whatever their length. Ids are
 * known by a hash of 64 bits under a key that nobody can guess: among a million of them
 * the chance that two different ones are taken for one is below 1 in 10 million.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/hash.h"

struct idset {
    struct hash_key key;
    uint64_t *slots; /* 0: free */
    size_t size, count;
};

void idset_init(struct idset *set, const struct hash_key *key);
void idset_done(struct idset *set);

/* False: it is there already. */
bool idset_add(struct idset *set, struct str id);
