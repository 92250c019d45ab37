/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index over the tail of a topic's log: the last entries by sequence number and by
 * id. It is what replay, long polls and the refusal of repeated ids look at. The texts
 * themselves stand in the blocks of the native lane; the ring holds the oldest block it
 * needs, and with it all later ones. Presence is most of what a quiet room has heard and
 * is rarely asked for again: of that it keeps what the text was made from.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/str.h"
#include "topic/lane.h"

/* Half of the hash stands here, so that looking for an id, and forgetting the oldest,
 * touches no entry but its own: entries of a thousand quiet rooms are in no cache. */
struct slot {
    uint32_t place; /* in `entries`, plus one; 0: free */
    uint32_t hash;
};

struct capset;
struct participant;

#define PRESENCE_NUMBERS (UINT64_MAX >> 8) /* more than will ever be said */

/* What a system/presence envelope is made from. */
struct presence_note {
    struct participant *participant; /* stays as long as the entry */
    struct capset *capabilities;     /* of who came; NULL: it has left */
    uint64_t wall_ms;
    uint64_t number : 56; /* of the gateway's envelope */
    uint64_t type : 8;    /* enum participant_type */
};

struct entry {
    uint64_t id_hash; /* keyed, so equality of hashes is equality of ids */
    uint32_t len;     /* of the text */
    bool has_to;
    bool is_presence;
    bool was_checked; /* the payload says what the kind says (D21) */
    union {
        struct {
            struct block *block; /* borrowed: the ring's oldest block holds it */
            uint64_t also_hash;  /* of who is reached besides `to`, D17; 0: nobody */
            uint64_t sender;     /* the number of the member it came from; 0: none */
            uint32_t at;         /* of the text, in the block */
        };
        struct presence_note presence; /* with a reference on the capset */
    };
};

/* Every participant's coming is one: see docs/PERFORMANCE.md. */
_Static_assert(sizeof(struct entry) <= 48, "an entry of the ring has grown");

struct ring {
    struct entry *entries; /* circular, by sequence number */
    struct slot *slots;    /* hash table over the ids */
    size_t size;           /* of entries, a power of two; slots has twice as many */
    struct block *oldest;  /* that an entry needs; one reference, or NULL */
    uint64_t first_seq;    /* of the oldest entry held; sequence numbers start at 1 */
    uint64_t next_seq;
    size_t bytes; /* texts held */
    size_t max_entries;
    size_t max_bytes;
    struct hash_key key;
};

void ring_init(struct ring *ring, size_t max_entries, size_t max_bytes);
void ring_done(struct ring *ring);

/* The hash by which the ring knows an id. Its place is fetched from memory meanwhile: ask
 * for it some time before it is used. */
uint64_t ring_hash(const struct ring *ring, struct str id);

/* Adds the entry of sequence number next_seq and drops what exceeds the bounds. Takes
 * references of its own. */
void ring_push(struct ring *ring, uint64_t id_hash, struct entry entry);

/* The sequence number of the entry with that id, or 0. */
uint64_t ring_find(const struct ring *ring, uint64_t id_hash);

/* The entry, or NULL when it is no longer, or not yet, there. */
const struct entry *ring_at(const struct ring *ring, uint64_t seq);

/* Not of presence: see reading.h. */
static inline struct str entry_text(const struct entry *entry)
{
    return (struct str){ entry->block->bytes + entry->at, entry->len };
}
