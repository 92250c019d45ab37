/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tickets stand in for a token where none can be sent: a browser's WebSocket (D2), the
 * sign-in link of a start on a terminal. A ticket is random, good for one use and for a
 * short time, and kept as its hash only. Time is whatever clock the caller uses for
 * deadlines; whether the identity itself has expired is the caller's question.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/map.h"
#include "base/str.h"

struct identity;

struct ticket_table {
    struct map by_hash;
    struct link tickets; /* in the order of their issue */
    size_t max;          /* tickets in all */
    size_t max_per_id;   /* tickets of one participant, so that nobody takes them all */
};

void ticket_table_init(struct ticket_table *table, size_t max, size_t max_per_id);
void ticket_table_done(struct ticket_table *table);

/* Appends a new ticket to `out`: 43 characters of base64url. The table takes a reference
 * of its own. ERR_OVERLOAD: as many tickets as there may be wait to be used; ERR_TOO_BIG:
 * no room in `out`; nothing is issued then. */
enum err ticket_issue(struct ticket_table *table, struct identity *identity,
                      uint64_t lifetime_ms, uint64_t now_ms, struct buf *out);

/* Uses a ticket up. Its reference moves to the caller; NULL: unknown, used or expired. */
struct identity *ticket_redeem(struct ticket_table *table, struct str ticket,
                               uint64_t now_ms);

/* Drops the tickets of a participant, as when its token is revoked. */
void ticket_revoke(struct ticket_table *table, struct str id);
