/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "harness.h"

TEST(rfc_3339_dates_are_read_and_others_refused)
{
    static const struct {
        struct str text;
        enum err err;
        uint64_t wall_ms;
    } cases[] = {
        { S("1970-01-01T00:00:00Z"), OK, 0 },
        { S("2025-08-26T14:00:00Z"), OK, 1756216800000 },
        { S("2025-08-26t14:00:00z"), OK, 1756216800000 },
        { S("2025-08-26T16:30:00+02:30"), OK, 1756216800000 },
        { S("2025-08-26T13:00:00.125-01:00"), OK, 1756216800125 },
        { S("2024-02-29T00:00:00.1234567Z"), OK, 1709164800123 },
        { S("2016-12-31T23:59:60Z"), OK, 1483228799000 },
        { S("2025-02-29T00:00:00Z"), ERR_INVALID, 0 },
        { S("2025-13-01T00:00:00Z"), ERR_INVALID, 0 },
        { S("2025-00-01T00:00:00Z"), ERR_INVALID, 0 },
        { S("2025-01-01T24:00:00Z"), ERR_INVALID, 0 },
        { S("2025-01-01T00:00:00"), ERR_INVALID, 0 },
        { S("2025-01-01T00:00:00.Z"), ERR_INVALID, 0 },
        { S("2025-01-01T00:00:00Zx"), ERR_INVALID, 0 },
        { S("2025-01-01T00:00:00+0200"), ERR_INVALID, 0 },
        { S("yesterday"), ERR_INVALID, 0 },
        { S(""), ERR_INVALID, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        uint64_t wall_ms = 0;

        CHECK_INT(clock_parse(c->text, &wall_ms), c->err);
        CHECK_INT(wall_ms, c->wall_ms);
    }
}

TEST(a_date_written_is_read_back)
{
    char text[CLOCK_TEXT];
    uint64_t wall_ms = 0;

    CHECK_STR(clock_write(1756216800125, text), S("2025-08-26T14:00:00.125Z"));
    CHECK_INT(clock_parse(clock_write(1756216800125, text), &wall_ms), OK);
    CHECK_INT(wall_ms, 1756216800125);
}
