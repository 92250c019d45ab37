/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "harness.h"

TEST(numbers_are_decimal_digits_within_a_bound)
{
    static const struct {
        struct str text;
        uint64_t max;
        enum err err;
        uint64_t value;
    } cases[] = {
        { S("0"), 10, OK, 0 },
        { S("10"), 10, OK, 10 },
        { S("11"), 10, ERR_INVALID, 0 },
        { S(""), 10, ERR_INVALID, 0 },
        { S("-1"), 10, ERR_INVALID, 0 },
        { S("+1"), 10, ERR_INVALID, 0 },
        { S(" 1"), 10, ERR_INVALID, 0 },
        { S("1a"), 100, ERR_INVALID, 0 },
        { S("18446744073709551615"), UINT64_MAX, OK, UINT64_MAX },
        { S("18446744073709551616"), UINT64_MAX, ERR_INVALID, 0 },
        { S("99999999999999999999999"), UINT64_MAX, ERR_INVALID, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        uint64_t value = 0;

        CHECK_INT(str_to_u64(c->text, c->max, &value), c->err);
        CHECK_INT(value, c->value);
    }
}

TEST(cutting_walks_the_parts_and_ends_with_null)
{
    struct str rest = S("a,,b");

    CHECK_STR(str_cut(&rest, ','), S("a"));
    CHECK_STR(str_cut(&rest, ','), S(""));
    CHECK_STR(str_cut(&rest, ','), S("b"));
    CHECK(rest.ptr == NULL);
}

TEST(comparison_goes_by_bytes_and_length)
{
    CHECK(str_eq(S("a\0b"), S("a\0b")));
    CHECK(!str_eq(S("a\0b"), S("a\0c")));
    CHECK(!str_eq(S("a"), S("a\0")));
    CHECK(str_ieq(S("Keep-Alive"), S("keep-alive")));
    CHECK(!str_ieq(S("a["), S("a{")));
    CHECK(str_cmp(S("a"), S("ab")) < 0);
    CHECK(str_cmp(S("b"), S("ab")) > 0);
    CHECK(str_eq_secret(S("secret"), S("secret")));
    CHECK(!str_eq_secret(S("secret"), S("secreT")));
    CHECK(!str_eq_secret(S("secret"), S("secre")));
}

TEST(trimming_and_slicing_stay_inside)
{
    CHECK_STR(str_trim(S(" \ta b\t ")), S("a b"));
    CHECK_STR(str_trim(S("   ")), S(""));
    CHECK_STR(str_slice(S("hello"), 1, 3), S("el"));
    CHECK_STR(str_slice(S("hello"), 4, 99), S("o"));
    CHECK_STR(str_slice(S("hello"), 9, 99), S(""));
    CHECK(str_starts(S("hello"), S("he")) && !str_starts(S("h"), S("he")));
    CHECK(str_ends(S("hello"), S("lo")) && !str_ends(S("o"), S("lo")));
}

TEST(hexadecimal_digits_have_a_value_and_nothing_else_has)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";

    for (int i = 0; i < 32; i++)
        CHECK_INT(str_hex_digit(digits[i]), i % 16);
    for (int c = -128; c < 256; c++)
        if (c > 127 || str_find(str_of(digits), (char)c, 0) == 32)
            CHECK_INT(str_hex_digit(c), -1);
}
