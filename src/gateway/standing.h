/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was decided about somebody: paused, or kept out after a kick. Each room has a
 * table of its own, and each worker one of what holds everywhere, in topics that come
 * into being later, too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"

struct standing {
    struct str id;            /* in `text` */
    uint64_t barred_until_ms; /* on the loop's clock */
    bool is_paused;
    bool is_held; /* paused by an administrator: others do not resume it */
    char text[];
};

struct standings {
    struct map by_id;
    /* It has changed, or (the last time) means nothing any more; NULL: nobody cares. */
    void (*changed)(struct standings *self, const struct standing *standing);
};

void standings_init(struct standings *standings);
void standings_done(struct standings *standings);

/* One table becomes the other, which was not in use; who hears of changes stays. */
void standings_move(struct standings *to, struct standings *from);

void standing_bar(struct standings *standings, struct str id, uint64_t until_ms);
void standing_pause(struct standings *standings, struct str id, bool is_by_admin);
void standing_resume(struct standings *standings, struct str id);

/* NULL: nothing was decided. */
const struct standing *standing_find(const struct standings *standings, struct str id);

bool standing_is_barred(const struct standings *standings, struct str id,
                        uint64_t now_ms);
bool standing_is_paused(const struct standings *standings, struct str id);

/* Does it mean anything now? */
static inline bool standing_is_over(const struct standing *standing, uint64_t now_ms)
{
    return !standing->is_paused && standing->barred_until_ms <= now_ms;
}

/* Forgets what no longer means anything; or all of it. */
void standings_sweep(struct standings *standings, uint64_t now_ms);
void standings_clear(struct standings *standings);
