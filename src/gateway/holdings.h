/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What credentials may do in topics, remembered: every post and every poll asks, and
 * working it out compares all that was granted and struck. Each worker has its own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "identity/identity.h"
#include "json/json.h"
#include "policy/capset.h"
#include "policy/holding.h"

enum { HOLDINGS_MAX = 1024 }; /* those asked for longest ago go */

struct holdings {
    const struct rights *rights;
    struct capsets *capsets;
    struct map by_key;
    struct link recent;  /* the one asked for longest ago first */
    uint64_t worked_out; /* how often it was not remembered */
};

/* Borrows both. */
void holdings_init(struct holdings *holdings, const struct rights *rights,
                   struct capsets *capsets);
void holdings_done(struct holdings *holdings);

/* The set in force for the identity here and now: what its credential says, without what
 * was struck, with what was granted. Valid until the next call. */
struct capset *holdings_find(struct holdings *holdings, struct str topic,
                             struct identity *identity, uint64_t wall_ms);

/* The word for a kind that the set allows, for lists of what somebody may do. */
void holdings_put_if_may(struct json_writer *w, struct capset *set, struct str kind,
                         struct str word);

/* The same as a list, worked out anew. Borrowed from the identity, the grants and the
 * arena; valid until one of them changes. */
struct str_list holdings_list(const struct rights *rights, struct str topic,
                              const struct identity *identity, uint64_t wall_ms,
                              struct arena *arena);
