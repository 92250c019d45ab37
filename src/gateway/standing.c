/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/standing.h"

#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void standings_init(struct standings *standings)
{
    *standings = (struct standings){};
    map_init(&standings->by_id);
}

void standings_done(struct standings *standings)
{
    struct standing *standing;

    MAP_FOREACH(standing, &standings->by_id)
        free(standing);
    map_done(&standings->by_id);
}

void standings_move(struct standings *to, struct standings *from)
{
    map_done(&to->by_id);
    to->by_id = from->by_id;
    map_init(&from->by_id);
}

/* The record, made where there is none. */
static struct standing *record_of(struct standings *standings, struct str id)
{
    struct standing *standing = map_find(&standings->by_id, id);

    if (standing)
        return standing;
    standing = xcalloc(1, sizeof(*standing) + id.len);
    memcpy(standing->text, id.ptr, id.len);
    standing->id = (struct str){ standing->text, id.len };
    map_set(&standings->by_id, standing->id, standing);
    return standing;
}

static void tell(struct standings *standings, const struct standing *standing)
{
    if (standings->changed)
        standings->changed(standings, standing);
}

void standing_bar(struct standings *standings, struct str id, uint64_t until_ms)
{
    struct standing *standing = record_of(standings, id);

    standing->barred_until_ms = until_ms;
    tell(standings, standing);
}

void standing_pause(struct standings *standings, struct str id, bool is_by_admin)
{
    struct standing *standing = record_of(standings, id);

    standing->is_paused = true;
    standing->is_held |= is_by_admin;
    tell(standings, standing);
}

void standing_resume(struct standings *standings, struct str id)
{
    struct standing *standing = map_find(&standings->by_id, id);

    if (!standing)
        return;
    standing->is_paused = false;
    standing->is_held = false;
    tell(standings, standing);
}

const struct standing *standing_find(const struct standings *standings, struct str id)
{
    return map_find(&standings->by_id, id);
}

bool standing_is_barred(const struct standings *standings, struct str id, uint64_t now_ms)
{
    const struct standing *standing = standing_find(standings, id);

    return standing && standing->barred_until_ms > now_ms;
}

bool standing_is_paused(const struct standings *standings, struct str id)
{
    const struct standing *standing = standing_find(standings, id);

    return standing && standing->is_paused;
}

static void forget(struct standings *standings, struct standing *standing)
{
    standing->is_paused = false;
    standing->barred_until_ms = 0;
    tell(standings, standing);
    free(map_remove(&standings->by_id, standing->id));
}

static struct standing *find_over(const struct standings *standings, uint64_t now_ms)
{
    struct standing *standing;

    MAP_FOREACH(standing, &standings->by_id)
        if (standing_is_over(standing, now_ms))
            return standing;
    return NULL;
}

void standings_sweep(struct standings *standings, uint64_t now_ms)
{
    struct standing *standing;

    while ((standing = find_over(standings, now_ms)))
        forget(standings, standing);
}

void standings_clear(struct standings *standings)
{
    struct standing *standing;
    size_t at = 0;

    while ((standing = map_next(&standings->by_id, &at))) {
        forget(standings, standing);
        at = 0;
    }
}
