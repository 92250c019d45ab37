/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue from inside: catalogue.c keeps it, method.c answers from it. */
#pragma once

#include <stdbool.h>

#include "base/map.h"
#include "mcp/catalogue.h"

struct shelf {
    struct map by_key;
    struct link items; /* by serial */
    bool was_used;     /* something stood here once: clients are told to expect it */
};

struct catalogue {
    char *name, *version;
    size_t max_items, max_bytes;
    void (*drop)(void *user);
    struct shelf shelves[OFFER_TYPES];
    size_t count, bytes; /* of all items */
    uint64_t serials;    /* given so far */
};
