/* SPDX-License-Identifier: Apache-2.0 */
/* How a bridge learns what its server offers. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/offer.h"

struct bridge;
struct server_order;

/* Lists that are asked for, one after the other. */
struct bridge_lists {
    unsigned wanted;  /* bits of enum offer_type */
    bool is_underway; /* `type` is being asked for */
    enum offer_type type;
    struct server_order *order;
    char *cursor; /* of the next page, or NULL */
    size_t pages;
    unsigned changed;              /* bits: the room is to be told */
    uint64_t tell_ms[OFFER_TYPES]; /* … not before */
    bool has_failed;               /* one of them, this time */
    bool is_known;     /* they were asked for once, now or in an earlier life */
    uint64_t trust_ms; /* when it is; 0: not begun */
    uint64_t trust_max_ms;
    uint64_t ttl_ms;                /* of the pages so far; UINT64_MAX: none says */
    uint64_t stale_ms[OFFER_TYPES]; /* from when on; 0: until it is said to change */
};

void relist_begin(struct bridge *b, unsigned types); /* bits of enum offer_type */
/* Somebody asks for this list: where the server said for how long it holds (ttlMs), and
 * that is over, it is asked again. What is known is shown meanwhile; nothing is started.
 */
void relist_if_stale(struct bridge *b, enum offer_type type);
void relist_lost(struct bridge *b); /* the server is gone */
void relist_tick(struct bridge *b);
uint64_t relist_due_ms(const struct bridge *b);
enum { RELIST_ALL = (1U << OFFER_TYPES) - 1 };
