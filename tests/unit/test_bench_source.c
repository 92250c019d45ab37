/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/source.h"
#include "harness.h"

TEST(a_range_of_addresses_is_read)
{
    static const struct {
        struct str text;
        uint32_t first, count;
    } cases[] = {
        { S("127.0.0.2"), 0x7f000002, 1 },
        { S("127.0.0.2-127.0.0.9"), 0x7f000002, 8 },
        { S("127.0.0.9-127.0.0.9"), 0x7f000009, 1 },
        { S("127.0.0.250-127.0.1.5"), 0x7f0000fa, 12 },
        { S("10.0.0.0-10.0.255.255"), 0x0a000000, 65'536 },
        { S("255.255.255.254-255.255.255.255"), 0xfffffffe, 2 },
    };

    FOR_EACH_CASE(c, cases) {
        struct source_range range = {};

        CHECK_INT(source_parse(c->text, &range), OK);
        CHECK_INT(range.first, c->first);
        CHECK_INT(range.count, c->count);
    }
}

TEST(what_is_no_range_is_refused_and_changes_nothing)
{
    static const struct str cases[] = {
        S(""),
        S("-"),
        S("127.0.0"),
        S("127.0.0."),
        S("127.0.0.1."),
        S("127.0.0.1.2"),
        S("127.0.0.256"),
        S("127.0.0.01"),
        S("127.0.0.+1"),
        S("127..0.1"),
        S(" 127.0.0.1"),
        S("127.0.0.2-"),
        S("-127.0.0.2"),
        S("127.0.0.2-9"),
        S("127.0.0.9-127.0.0.2"),
        S("127.0.0.2-127.0.0.9-127.0.0.12"),
        S("10.0.0.0-10.1.0.0"),
        S("0.0.0.0-255.255.255.255"),
        S("::1"),
        S("localhost"),
    };

    FOR_EACH_CASE(c, cases) {
        struct source_range range = { .first = 7, .count = 9 };

        CHECK_INT(source_parse(*c, &range), ERR_INVALID);
        CHECK_INT(range.first, 7);
        CHECK_INT(range.count, 9);
    }
}

TEST(clients_take_the_addresses_in_turn)
{
    struct source_range range = { .first = 0x7f000002, .count = 3 };

    for (uint32_t i = 0; i < 9; i++)
        CHECK_INT(source_of(&range, i), 0x7f000002 + i % 3);
}
