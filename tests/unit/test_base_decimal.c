/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "base/decimal.h"
#include "harness.h"

TEST(what_json_calls_a_number_is_read)
{
    static const struct {
        struct str text;
        double value;
    } cases[] = {
        { S("0"), 0 },      { S("-0"), 0 },     { S("1.5"), 1.5 },
        { S("-12"), -12 },  { S("1e3"), 1000 }, { S("2.5E-1"), 0.25 },
        { S("1E+2"), 100 }, { S("0.1"), 0.1 },  { S("9007199254740993"), 0x1p53 },
        { S("1e-999"), 0 },
    };

    FOR_EACH_CASE(c, cases) {
        double got = -1;

        CHECK_INT(decimal_parse(c->text, &got), OK);
        CHECK(got == c->value);
    }
}

TEST(everything_else_is_no_number)
{
    static const struct str cases[] = {
        S(""),   S("-"),   S("+1"),    S("01"),  S("1."),  S(".5"),
        S("1e"), S("1e+"), S("0x10"),  S("inf"), S("nan"), S(" 1"),
        S("1 "), S("1,5"), S("1e999"), S("1\0"), S("--1"), S("1e1.5"),
    };
    static char longest[600];

    FOR_EACH_CASE(c, cases) {
        double got = 7;

        CHECK_INT(decimal_parse(*c, &got), ERR_INVALID);
        CHECK(got == 7);
    }
    CHECK_INT(decimal_parse((struct str){}, &(double){ 0 }), ERR_INVALID);
    memset(longest, '1', sizeof(longest));
    CHECK_INT(decimal_parse((struct str){ longest, sizeof(longest) }, &(double){ 0 }),
              ERR_INVALID);
}

TEST(a_number_is_written_as_short_as_it_reads_back)
{
    static const struct {
        double value;
        struct str text;
    } cases[] = {
        { 0, S("0") },
        { 0.1, S("0.1") },
        { -2, S("-2") },
        { 1e300, S("1e+300") },
        { 1.0 / 3, S("0.33333333333333331") },
        { INFINITY, S("0") },
        { NAN, S("0") },
        { -1.7976931348623157e308, S("-1.7976931348623157e+308") },
    };

    FOR_EACH_CASE(c, cases) {
        char text[DECIMAL_TEXT];

        CHECK_STR(decimal_write(c->value, text), c->text);
    }
}

TEST(the_locale_of_the_process_changes_nothing)
{
    static const char *const commas[] = { "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8" };
    char text[DECIMAL_TEXT];
    double got = 0;

    for (size_t i = 0; i < 3; i++)
        if (setlocale(LC_ALL, commas[i]))
            break;
    CHECK_INT(decimal_parse(S("1.5"), &got), OK);
    CHECK(got == 1.5);
    CHECK_STR(decimal_write(1.5, text), S("1.5"));
    (void)setlocale(LC_ALL, "C");
}
