/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State as the store keeps it (store.h: items), one JSON object each. Grants, strikes and
 * proposals have their place in the order of their kind as their key, so that they come
 * back in that order; what is known of a participant's standing has its id.
 *
 * Files are not trusted more than the network: whatever is read is checked, and what
 * cannot have been written here is ERR_INVALID.
 */
#pragma once

#include <stdint.h>

#include "approval/ledger.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/rights.h"

#define KEPT_LAST_MS 253402300799999 /* the end of the year 9999 */

enum { KEPT_KEY = 17 }; /* sixteen hexadecimal digits and a NUL */

struct str kept_key(uint64_t order, char out[static KEPT_KEY]);

void kept_write_grant(const struct grant *grant, struct buf *out);
void kept_write_strike(struct rights_key holder, const struct strike *strike,
                       struct buf *out);
void kept_write_proposal(const struct proposal *proposal, struct buf *out);

/* Times are of the wall clock here. */
struct kept_standing {
    uint64_t barred_until_ms;
    bool is_paused;
    bool is_held;
};
void kept_write_standing(const struct kept_standing *standing, struct buf *out);

/* --- reading: an item's topic, key and value; what is read lives in the arena --- */

struct kept_text {
    struct str topic;
    struct str key;
    struct str value;
};

struct kept_grant {
    struct rights_key holder;
    struct grant_terms terms;
    uint64_t uses;
};
enum err kept_read_grant(const struct kept_text *text, struct arena *arena,
                         struct kept_grant *ret);

struct kept_strike {
    struct rights_key holder;
    struct strike_terms terms; /* with one capability */
    struct str capability;     /* this */
};
enum err kept_read_strike(const struct kept_text *text, struct arena *arena,
                          struct kept_strike *ret);

struct kept_proposal {
    struct proposal_past past;
    struct envelope env; /* of an open one */
};
enum err kept_read_proposal(const struct kept_text *text, struct arena *arena,
                            struct kept_proposal *ret);

/* The key is the participant's id. */
enum err kept_read_standing(const struct kept_text *text, struct arena *arena,
                            struct kept_standing *ret);
