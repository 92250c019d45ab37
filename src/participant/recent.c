/* SPDX-License-Identifier: Apache-2.0 */
#include "participant/recent.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "envelope/envelope.h"

void recent_init(struct recent *recent, size_t max)
{
    *recent = (struct recent){ .max = max };
    hash_key_random(&recent->key);
}

void recent_done(struct recent *recent)
{
    recent_end(recent);
    free(recent->ring);
    recent->ring = NULL;
}

/* Neither text holds a control character, so the NUL between them keeps them apart. Zero
 * is left for free places. */
static uint64_t hash_both(const struct recent *recent, struct str from, struct str id)
{
    char both[2 * ENVELOPE_MAX_ID + 1];
    uint64_t hash;

    memcpy(both, from.ptr, from.len);
    both[from.len] = '\0';
    memcpy(both + from.len + 1, id.ptr, id.len);
    hash = hash_of(&recent->key, (struct str){ both, from.len + 1 + id.len });
    return hash ? hash : 1;
}

/* Where it stands, or the free place where it belongs. */
static uint64_t *place_of(const struct recent *recent, uint64_t hash)
{
    size_t mask = recent->index_size - 1;
    size_t i = hash & mask;

    while (recent->index[i] && recent->index[i] != hash)
        i = (i + 1) & mask;
    return &recent->index[i];
}

void recent_begin(struct recent *recent)
{
    recent_end(recent);
    if (recent->count == 0)
        return;
    recent->index_size = 16;
    while (recent->index_size < 2 * recent->count)
        recent->index_size *= 2;
    recent->index = xcalloc(recent->index_size, sizeof(*recent->index));
    for (size_t i = 0; i < recent->count; i++)
        *place_of(recent, recent->ring[i]) = recent->ring[i];
}

void recent_end(struct recent *recent)
{
    free(recent->index);
    recent->index = NULL;
    recent->index_size = 0;
}

bool recent_note(struct recent *recent, struct str from, struct str id)
{
    uint64_t hash;

    if (recent->max == 0)
        return false;
    hash = hash_both(recent, from, id);
    if (recent->index && *place_of(recent, hash))
        return true;
    if (!recent->ring)
        recent->ring = xcalloc(recent->max, sizeof(*recent->ring));
    recent->ring[recent->next] = hash;
    recent->next = (recent->next + 1) % recent->max;
    if (recent->count < recent->max)
        recent->count++;
    return false;
}
