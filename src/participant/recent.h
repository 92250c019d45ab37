/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last envelopes heard, as keyed hashes of sender and id in a ring. A connection does
 * not repeat itself, so nothing is looked up while it lasts; when the next one begins,
 * what it replays is compared with an index of the ring.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/str.h"

struct recent {
    uint64_t *ring;
    size_t max; /* 0: nothing is remembered */
    size_t count;
    size_t next;
    uint64_t *index; /* open addressing, 0: free; of what was heard before `begin` */
    size_t index_size;
    struct hash_key key;
};

void recent_init(struct recent *recent, size_t max);
void recent_done(struct recent *recent);

/* From here on repeats may come: of what is remembered now. */
void recent_begin(struct recent *recent);

/* There will be none. */
void recent_end(struct recent *recent);

/* Remembers it. True: it was heard before recent_begin(). */
bool recent_note(struct recent *recent, struct str from, struct str id);
