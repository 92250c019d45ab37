/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failed sign-ins, counted per address: whoever fails too often within a window is
 * refused for a while, before anything is looked up for him. Only failures count, so
 * scripts with a good token are never slowed, however many connections they open.
 *
 * An address is any text; the caller decides how much of it (an IPv6 /64) is one party.
 * The table is bounded; the address whose last failure is longest ago makes room.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/str.h"

struct throttle_limits {
    size_t max_addresses;
    size_t
        max_failures; /* within the window; reaching it refuses the address; 0: never */
    uint64_t window_ms;
    uint64_t refuse_ms;
};

/* 4096 addresses; 10 failures in 60 s are refused for 30 s. */
struct throttle_limits throttle_default_limits(void);

struct throttle {
    struct throttle_limits limits;
    struct map by_address;
    struct link by_age; /* the address that failed longest ago first */
};

/* max_addresses is at least 1. */
void throttle_init(struct throttle *throttle, struct throttle_limits limits);

/* Where the number of failures changes, counting begins anew. */
void throttle_set_limits(struct throttle *throttle, struct throttle_limits limits);
void throttle_done(struct throttle *throttle);

/* May this address try now? */
bool throttle_allows(const struct throttle *throttle, struct str address,
                     uint64_t now_ms);

/* How long until it may, for Retry-After; 0: now. */
uint64_t throttle_wait_ms(const struct throttle *throttle, struct str address,
                          uint64_t now_ms);

void throttle_failed(struct throttle *throttle, struct str address, uint64_t now_ms);

/* A good credential: the failures of its address are forgotten. */
void throttle_passed(struct throttle *throttle, struct str address);
