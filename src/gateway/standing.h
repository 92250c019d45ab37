/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an administrator decided about somebody everywhere: paused, or kept out after a
 * kick. It holds for topics that come into being later, too. Each worker has its own
 * copy.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/str.h"

void standing_bar(struct map *standings, struct str id, uint64_t until_ms);
void standing_pause(struct map *standings, struct str id, bool is_paused);

bool standing_is_barred(const struct map *standings, struct str id, uint64_t now_ms);
bool standing_is_paused(const struct map *standings, struct str id);

/* Forgets what no longer means anything. */
void standings_sweep(struct map *standings, uint64_t now_ms);
void standings_done(struct map *standings);
