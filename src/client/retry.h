/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When a connection that ended is tried again, if ever. Pauses double from `min_ms` up to
 * `max_ms`, and each is cut at random so that many who lost the same gateway do not come
 * back together.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct retry {
    uint32_t min_ms, max_ms;
    bool tries_once;    /* every end is the end */
    bool has_succeeded; /* at least one upgrade */
    unsigned failures;  /* since it last held */
};

enum ending_type {
    ENDING_LOST,      /* the network, a timeout, a broken protocol */
    ENDING_UNTRUSTED, /* the server's certificate */
    ENDING_REFUSED,   /* `number` is the HTTP status of the upgrade */
    ENDING_CLOSED,    /* `number` is the code of the close frame */
    ENDING_WANTED,    /* we left */
};

struct ending {
    enum ending_type type;
    int number;
    uint64_t wait_ms; /* at least: what Retry-After asked for */
};

/* For good: a second attempt is of no use. */
bool retry_is_over(const struct retry *retry, const struct ending *ending);

/* How long to wait for the next attempt; counts the failure. `random`: any 64 bits. */
uint64_t retry_pause_ms(struct retry *retry, const struct ending *ending,
                        uint64_t random);

/* The upgrade succeeded. */
void retry_succeeded(struct retry *retry);

/* The connection has held for long enough: pauses begin anew. */
void retry_held(struct retry *retry);
