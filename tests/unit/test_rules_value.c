/* SPDX-License-Identifier: Apache-2.0 */
#include "harness.h"
#include "rules/value.h"

/* The canonical text, or "-" where there is none. */
static struct str canon_of(struct str text, struct arena *arena)
{
    const struct json *value;
    struct str canon;

    if (json_parse(text, arena, &value, NULL) || value_text(value, arena, &canon))
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

TEST(numbers_have_bounds)
{
    char longest[VALUE_DIGITS + 1];
    struct json_number n;

    memset(longest, '1', sizeof(longest));
    CHECK_INT(value_number((struct str){ longest, VALUE_DIGITS }, &n), OK);
    CHECK_INT(value_number((struct str){ longest, VALUE_DIGITS + 1 }, &n), ERR_TOO_BIG);
    CHECK_INT(value_number(S("1e-0099999"), &n), OK);
    CHECK_INT(value_number(S("1e100000"), &n), ERR_TOO_BIG);
    CHECK_INT(value_number(S("0e-100000"), &n), ERR_TOO_BIG);
    CHECK_INT(value_number(S("1x"), &n), ERR_INVALID);
}
