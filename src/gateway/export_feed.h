/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One destination of the record: how far it has come, what is under way, and when to try
 * again. Belongs to the exporter's loop (export.c).
 *
 *     IDLE ──► READING ──► SENDING ──► READING … IDLE
 *                 └────────────┴─ failed ─► RESTING ─► IDLE
 */
#pragma once

#include <stdatomic.h>

#include "gateway/export_sink.h"
#include "store/record.h"

enum { FEED_PAGE = 512 }; /* records */

enum feed_state { FEED_IDLE, FEED_READING, FEED_SENDING, FEED_RESTING };

struct feed_counts {
    atomic_uint_least64_t records;  /* taken */
    atomic_uint_least64_t rejected; /* not wanted, and passed over */
    atomic_uint_least64_t failures;
    atomic_uint_least64_t lag; /* records that it is behind */
};

struct feed {
    struct export_owner owner;
    const char *name; /* in the log, and as the key of the cursor */
    struct store *store;
    struct loop *loop;
    struct export_sink *sink; /* NULL: there is nothing to send to */
    enum feed_state state;
    bool has_cursor;
    uint64_t cursor;    /* the last record that was taken */
    uint64_t marked;    /* the cursor at marked_ms */
    uint64_t marked_ms; /* monotonic */
    uint64_t settled;   /* what was taken up to here is not lost */
    uint64_t kept;      /* `settled` as the store has it */
    uint64_t kept_ms;
    unsigned failures; /* in a row */
    struct loop_timer rest;
    struct store_read read;
    bool is_stale;  /* what is being read is no longer wanted */
    bool is_asking; /* the store has the read */
    struct store_batch keep;
    bool is_keeping; /* the store has the batch */
    struct feed_counts counts;
};

void feed_init(struct feed *feed, const char *name, struct store *store,
               struct loop *loop);

/* The store has been closed, and its letters have been delivered. */
void feed_done(struct feed *feed);

/* A cursor that was kept; before feed_init()'s loop runs. */
void feed_restore(struct feed *feed, struct str value);

/* From here on to this sink, which it takes; NULL: to nobody. A feed that has no cursor
 * begins behind `head_seq`. */
void feed_attach(struct feed *feed, struct export_sink *sink, uint64_t head_seq);

/* Called some times a second, with the head of the chain. */
void feed_tick(struct feed *feed, uint64_t head_seq);

/* Ends what is under way and keeps the cursor. */
void feed_stop(struct feed *feed);
