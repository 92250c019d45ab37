/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far something long has got, on one line of standard error that is written over:
 *
 *     verifying [##########..........]  50 %   1,234,567 records  310,000/s  4.2 s left
 *
 * Only where that is a terminal; it is gone when the work ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct progress_state {
    const char *verb, *things;
    uint64_t done, total; /* of the work; total 0: nobody knows */
    uint64_t count;       /* of the things */
    uint64_t elapsed_ms;
};

/* The line, without a line break, no wider than `columns`. Pure. */
void progress_put(struct buf *out, const struct progress_state *state, size_t columns);

struct progress {
    const char *verb, *things;
    bool is_shown, was_written;
    uint64_t began_ms, next_ms; /* monotonic */
};

void progress_begin(struct progress *progress, const char *verb, const char *things);

/* Is it time to say something? Cheap enough to be asked for each record. */
bool progress_is_due(struct progress *progress);
void progress_tell(struct progress *progress, uint64_t done, uint64_t total,
                   uint64_t count);
void progress_end(struct progress *progress);

/* "[#####.....]  50 %" of this many characters between the brackets; `part` is cut to 0
 * and 1. */
void progress_put_bar(struct buf *out, double part, size_t width);

/* "1,234,567" */
void progress_put_number(struct buf *out, uint64_t number);

/* "850 ms", "42.1 s", "3 min 20 s", "2 h 5 min", "3 d 4 h". */
void progress_put_duration(struct buf *out, uint64_t ms);

/* Of a terminal on this descriptor; 0: it is none. */
size_t progress_columns(int fd);
