/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places in a payload that conditions ask for, and one walk that finds what stands at
 * all of them, however many conditions there are and whoever made them. A place is a name
 * below another place; the first is the payload itself.
 *
 *     0 payload   1 payload.method   2 payload.params   3 payload.params.name
 *
 * A walk looks at each byte once per level at most, and at each name once, so what it
 * costs depends on the payload and hardly on the conditions.
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "json/scan.h"

struct outline;

enum sighting {
    SEEN_NOTHING,
    SEEN_ONCE,
    SEEN_TWICE,
    SEEN_LOOKALIKE, /* beside it or in its place: lookalike.h */
};

struct outline_sighting {
    enum sighting state;
    struct json_span value; /* what stood there first */
};

struct outline *outline_new(void);
void outline_free(struct outline *outline);

/* The place of that name below another one, made if it is not there. The name is ASCII
 * and borrowed. */
size_t outline_add(struct outline *outline, size_t parent, struct str name);

/* Call when all are added and before the first walk. */
void outline_sort(struct outline *outline);

/* What stands at each place, in the arena; NULL if that is full. The payload was scanned.
 */
const struct outline_sighting *outline_walk(const struct outline *outline,
                                            struct json_span payload,
                                            struct arena *scratch);
