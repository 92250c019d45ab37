/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "harness.h"

TEST(utf8_is_what_rfc_3629_says_however_the_text_is_cut)
{
    static const struct {
        struct str text;
        bool is_valid;
    } cases[] = {
        { S(""), true },
        { S("plain ascii that is longer than a word"), true },
        { S("\xce\xba\xe1\xbd\xb9\xcf\x83"), true },
        { S("\xc2\x80"), true },
        { S("\xdf\xbf"), true },
        { S("\xe0\xa0\x80"), true },
        { S("\xed\x9f\xbf"), true },
        { S("\xee\x80\x80"), true },
        { S("\xef\xbf\xbf"), true },
        { S("\xf0\x90\x80\x80"), true },
        { S("\xf4\x8f\xbf\xbf"), true },
        { S("a\0b"), true },
        { S("\x80"), false },
        { S("\xc0\x80"), false },
        { S("\xc1\xbf"), false },
        { S("\xe0\x9f\xbf"), false },
        { S("\xed\xa0\x80"), false },
        { S("\xed\xbf\xbf"), false },
        { S("\xf0\x8f\xbf\xbf"), false },
        { S("\xf4\x90\x80\x80"), false },
        { S("\xf5\x80\x80\x80"), false },
        { S("\xff"), false },
        { S("\xce"), false },
        { S("abcdefgh\xe1\xbd"), false },
        { S("\xe1\xbdx"), false },
    };

    FOR_EACH_CASE(c, cases) {
        CHECK_INT(utf8_is_valid(c->text), c->is_valid);
        for (size_t cut = 0; cut <= c->text.len; cut++) {
            struct utf8 state = {};
            bool ok = utf8_feed(&state, str_slice(c->text, 0, cut)) &&
                      utf8_feed(&state, str_slice(c->text, cut, c->text.len)) &&
                      utf8_is_whole(&state);

            CHECK_INT(ok, c->is_valid);
        }
    }
}

TEST(every_scalar_value_written_is_valid_and_no_surrogate_is)
{
    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        char out[4];
        size_t len = utf8_write(cp, out);
        bool is_surrogate = cp >= 0xd800 && cp <= 0xdfff;

        if (utf8_is_valid((struct str){ out, len }) == is_surrogate)
            CHECK_INT(cp, -1);
    }
}
