/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/standing.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

struct standing {
    struct str id; /* in `text` */
    uint64_t barred_until_ms;
    bool is_paused;
    char text[];
};

/* The record, made where there is none. */
static struct standing *record_of(struct map *standings, struct str id)
{
    struct standing *standing = map_find(standings, id);

    if (standing)
        return standing;
    standing = xcalloc(1, sizeof(*standing) + id.len);
    memcpy(standing->text, id.ptr, id.len);
    standing->id = (struct str){ standing->text, id.len };
    map_set(standings, standing->id, standing);
    return standing;
}

void standing_bar(struct map *standings, struct str id, uint64_t until_ms)
{
    record_of(standings, id)->barred_until_ms = until_ms;
}

void standing_pause(struct map *standings, struct str id, bool is_paused)
{
    record_of(standings, id)->is_paused = is_paused;
}

bool standing_is_barred(const struct map *standings, struct str id, uint64_t now_ms)
{
    const struct standing *standing = map_find(standings, id);

    return standing && standing->barred_until_ms > now_ms;
}

bool standing_is_paused(const struct map *standings, struct str id)
{
    const struct standing *standing = map_find(standings, id);

    return standing && standing->is_paused;
}

static struct standing *find_over(const struct map *standings, uint64_t now_ms)
{
    struct standing *standing;

    MAP_FOREACH(standing, standings)
        if (!standing->is_paused && standing->barred_until_ms <= now_ms)
            return standing;
    return NULL;
}

void standings_sweep(struct map *standings, uint64_t now_ms)
{
    struct standing *standing;

    while ((standing = find_over(standings, now_ms)))
        free(map_remove(standings, standing->id));
}

void standings_done(struct map *standings)
{
    struct standing *standing;

    MAP_FOREACH(standing, standings)
        free(standing);
    map_done(standings);
}
