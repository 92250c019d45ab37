/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has arrived of a numbered series: everything before `next` but the gaps, and in
 * `seen` which of the last 64. A gap is a loss until something late fills it.
 */
#pragma once

#include <stdint.h>

struct track {
    uint64_t seen; /* bit k: number next - 1 - k has arrived */
    uint32_t next;
};

struct track_faults {
    uint64_t missing; /* gaps that nothing has filled yet */
    uint64_t duplicates;
    uint64_t disorder; /* arrived after a later one */
};

/* Begins at a number: whatever is before it has been there. */
void track_begin(struct track *track, uint32_t next);

void track_account(struct track *track, uint32_t number, struct track_faults *faults);
