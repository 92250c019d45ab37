/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up worlds: somebody proposes, mostly sensible things, and a person has a rule of
 * her own for what is good, which nobody sees.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "dice.h"

struct world {
    struct dice dice;
    uint64_t bad;   /* of a hundred proposals */
    uint64_t limit; /* of the person's rule */
    uint64_t width;
};

enum { WORLD_KINDS = 8, WORLD_SLIPS = 100 /* she is wrong in one of so many */ };
extern const char *const world_names[WORLD_KINDS];

struct world world_make(size_t kind, uint64_t seed);

/* Puts the arguments of a proposal; is it good, as the person sees it? */
bool world_propose(struct world *w, size_t kind, struct buf *out);
