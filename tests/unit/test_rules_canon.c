/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "rules/canon.h"

/* The canonical text, or "-" where there is none. */
static struct str canon_of(struct str text, struct arena *arena)
{
    const struct json *value;
    struct str canon;

    if (json_parse(text, arena, &value, NULL) || canon_text(value, arena, &canon))
        return S("-");
    return canon;
}

TEST(a_value_has_one_canonical_text)
{
    static const struct {
        struct str text, canon;
    } cases[] = {
        { S("1"), S("1") },
        { S("1.0"), S("1") },
        { S("1e0"), S("1") },
        { S("10e-1"), S("1") },
        { S("100"), S("100") },
        { S("1E2"), S("100") },
        { S("0.1"), S("0.1") },
        { S("1e-1"), S("0.1") },
        { S("12.50"), S("12.5") },
        { S("-0"), S("0") },
        { S("0e99999"), S("0") },
        { S("-1.5e1"), S("-15") },
        { S("9007199254740993"), S("9007199254740993") },
        { S("1e400"), S("1e400") },
        { S("10e399"), S("1e400") },
        { S("1e-400"), S("1e-400") },
        { S("1e99999"), S("1e99999") },
        { S("1e100000"), S("-") },
        { S("1e-100000"), S("-") },
        { S("0.00000000000000000000001"), S("0.00000000000000000000001") },
        { S("{\"b\":1,\"a\":[true,null,\"x\"]}"),
          S("{\"a\":[true,null,\"x\"],\"b\":1}") },
        { S("\"\\u0061\\/\""), S("\"a/\"") },
        { S("{\"a\":1,\"a\":1}"), S("-") },
        { S("[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]"), S("-") },
        { S("{}"), S("{}") },
        { S(" [ ] "), S("[]") },
    };

    FOR_EACH_CASE(c, cases) {
        struct arena arena;

        arena_init(&arena, 1 << 20);
        CHECK_STR(canon_of(c->text, &arena), c->canon);
        CHECK_STR(canon_of(canon_of(c->text, &arena), &arena), c->canon);
        arena_done(&arena);
    }
}

TEST(numbers_are_compared_without_rounding)
{
    static const struct {
        struct str a, b;
        int order;
        bool is_whole; /* the first */
    } cases[] = {
        { S("1"), S("2"), -1, true },
        { S("2"), S("10"), -1, true },
        { S("-2"), S("-10"), 1, true },
        { S("-1"), S("1"), -1, true },
        { S("0"), S("-0.0"), 0, true },
        { S("0"), S("1e-300"), -1, true },
        { S("0"), S("-1e-300"), 1, true },
        { S("9007199254740993"), S("9007199254740992"), 1, true },
        { S("0.1"), S("0.10000000000000000000000001"), -1, false },
        { S("1e400"), S("2e400"), -1, true },
        { S("1e400"), S("1e401"), -1, true },
        { S("1.5e1"), S("15"), 0, true },
        { S("1.55e1"), S("15.5"), 0, false },
        { S("123e-2"), S("1.23"), 0, false },
        { S("99"), S("100"), -1, true },
        { S("5"), S("49"), -1, true },
    };

    FOR_EACH_CASE(c, cases) {
        struct canon_number a, b;
        int order;

        CHECK_INT(canon_number_parse(c->a, &a), OK);
        CHECK_INT(canon_number_parse(c->b, &b), OK);
        order = canon_number_compare(&a, &b);
        CHECK_INT((order > 0) - (order < 0), c->order);
        order = canon_number_compare(&b, &a);
        CHECK_INT((order < 0) - (order > 0), c->order);
        CHECK_INT(canon_number_is_whole(&a), c->is_whole);
    }
}

TEST(what_is_no_number_is_refused)
{
    static const struct str cases[] = { S(""), S("-"), S("x"), S("1x"), S("e5"), S(".") };

    FOR_EACH_CASE(c, cases) {
        struct canon_number n;

        CHECK(canon_number_parse(*c, &n) != OK);
    }
}
