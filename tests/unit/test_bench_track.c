/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "bench/track.h"
#include "harness.h"

TEST(what_arrives_is_compared_with_what_was_expected)
{
    static const struct {
        uint32_t from, count, arrives[6];
        uint64_t missing, duplicates, disorder;
    } cases[] = {
        { 0, 3, { 0, 1, 2 }, 0, 0, 0 },
        { 0, 3, { 0, 1, 3 }, 1, 0, 0 },
        { 0, 3, { 0, 1, 1 }, 0, 1, 0 },
        { 0, 3, { 1, 0, 2 }, 0, 0, 1 },
        { 0, 4, { 1, 0, 0, 2 }, 0, 1, 1 },
        { 0, 2, { 63, 0 }, 62, 0, 1 },
        { 0, 2, { 64, 0 }, 64, 1, 0 }, /* too late to be told from a double */
        { 5, 3, { 5, 6, 7 }, 0, 0, 0 },
        { 5, 2, { 5, 4 }, 0, 1, 0 }, /* it was there before */
        { 5, 1, { 8 }, 3, 0, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        struct track_faults faults = {};
        struct track track = {};

        if (c->from)
            track_begin(&track, c->from);
        for (uint32_t i = 0; i < c->count; i++)
            track_account(&track, c->arrives[i], &faults);
        CHECK_INT(faults.missing, c->missing);
        CHECK_INT(faults.duplicates, c->duplicates);
        CHECK_INT(faults.disorder, c->disorder);
    }
}
