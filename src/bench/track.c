/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/track.h"

void track_begin(struct track *track, uint32_t next)
{
    *track = (struct track){ .seen = UINT64_MAX, .next = next };
}

void track_account(struct track *track, uint32_t number, struct track_faults *faults)
{
    uint32_t ahead = number - track->next;
    uint32_t behind = track->next - 1 - number;

    if (number >= track->next) {
        faults->missing += ahead;
        track->seen = ahead >= 63 ? 1 : track->seen << (ahead + 1) | 1;
        track->next = number + 1;
    } else if (behind < 64 && !(track->seen >> behind & 1)) {
        track->seen |= UINT64_C(1) << behind;
        faults->missing--;
        faults->disorder++;
    } else {
        faults->duplicates++;
    }
}
