/* SPDX-License-Identifier: Apache-2.0 */
#include "base/plain.h"
#include "base/utf8.h"
#include "harness.h"

static void check(struct str text, enum plain how, struct str want)
{
    struct buf out;

    buf_init(&out, 4096);
    plain_put(&out, text, how);
    CHECK_STR(buf_str(&out), want);
    buf_done(&out);
}

TEST(what_a_reader_sees_stays_and_what_acts_on_the_terminal_is_seen)
{
    /* clang-format off */
    static const struct { struct str text, want; } cases[] = {
        { S(""),                             S("") },
        { S("plain ASCII, ~all\\ of it"),    S("plain ASCII, ~all\\ of it") },
        { S("Grüße, 日本語, עברית, ქართული"), S("Grüße, 日本語, עברית, ქართული") },
        { S("a\x1b[2Jb"),                    S("a\\u001b[2Jb") },
        { S("\x1b]0;title\x07"),             S("\\u001b]0;title\\u0007") },
        { S("\0\x08\x7f"),                   S("\\u0000\\u0008\\u007f") },
        { S("\xc2\x9b" "2J\xc2\x85"),        S("\\u009b2J\\u0085") },         /* CSI, NEL */
        { S("\x9b" "2J"),                    S("\xef\xbf\xbd" "2J") },        /* a bare C1 byte */
        { S("\xff\xc0\xaf\xed\xa0\x80"),     S("\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd") },
        { S("\xe2\x82"),                     S("\xef\xbf\xbd\xef\xbf\xbd") }, /* cut */
        { S("a\u202eb\u202c"),               S("a\\u202eb\\u202c") },
        { S("\u2066\u2067\u2068\u2069"),     S("\\u2066\\u2067\\u2068\\u2069") },
        { S("\u200e\u200f\u061c"),           S("\\u200e\\u200f\\u061c") },
        { S("\u2028\u2029"),                 S("\\u2028\\u2029") },
        { S("ad\u200bmin\u200d\u2060\ufeff"), S("ad\\u200bmin\\u200d\\u2060\\ufeff") },
        { S("\u00ad\u034f\u115f\u3164"),     S("\\u00ad\\u034f\\u115f\\u3164") },
        { S("\U000e0041\U000e0fff"),         S("\\udb40\\udc41\\udb43\\udfff") },
        { S("\ufffe\uffff\U0001ffff\ufdd0"), S("\\ufffe\\uffff\\ud83f\\udfff\\ufdd0") },
        { S("\ufff9\ufffb"),                 S("\\ufff9\\ufffb") },
        { S("\ufffd\ufffc\U000f0000"),       S("\ufffd\ufffc\U000f0000") },
        /* emoji: what holds them together goes, elsewhere it is seen */
        { S("❤️ 👩‍💻 🏳️‍🌈!"),                S("❤ 👩💻 🏳🌈!") },
        { S("a\ufe0f"),                      S("a\\ufe0f") },
        { S("👩\u200d\u200d\u200d"),         S("👩\\u200d") },
        { S("👩x\u200d"),                    S("👩x\\u200d") },
        { S("👩\x9b\u200d"),                 S("👩\xef\xbf\xbd\\u200d") },
        { S("👩\ufe00"),                     S("👩\\ufe00") },
        /* marks: on something, and not without end */
        { S("e\u0301e\u0301\u0301\u0301\u0301"), S("e\u0301e\u0301\u0301\u0301\u0301") },
        { S("e\u0301\u0301\u0301\u0301\u0301\u0301x\u0301"), S("e\u0301\u0301\u0301\u0301\\u0301\\u0301x\u0301") },
        { S("\u0301x"),                      S("\\u0301x") },
        { S("\x1b\u0301"),                   S("\\u001b\\u0301") },
        { S("ก\u0e47\u0e47\u0e47\u0e47\u0e47"), S("ก\u0e47\u0e47\u0e47\u0e47\\u0e47") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        check(c->text, PLAIN_LINE, c->want);
        check(c->text, PLAIN_TEXT, c->want);
    }
}

TEST(line_breaks_stay_only_where_lines_are_wanted)
{
    /* clang-format off */
    static const struct { struct str text, line, many, json; } cases[] = {
        { S("a\nb\tc"),   S("a\\nb\\tc"),   S("a\nb\tc"),      S("a b c") },
        { S("a\r\nb"),    S("a\\r\\nb"),    S("a\nb"),         S("a  b") },
        { S("a\rb"),      S("a\\rb"),       S("a\\rb"),        S("a b") },
        { S("a\r"),       S("a\\r"),        S("a\\r"),         S("a ") },
        { S("\n\u0301"),  S("\\n\\u0301"),  S("\n\\u0301"),    S(" \\u0301") },
        { S("❤️"),         S("❤"),           S("❤"),            S("❤\\ufe0f") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        check(c->text, PLAIN_LINE, c->line);
        check(c->text, PLAIN_TEXT, c->many);
        check(c->text, PLAIN_JSON, c->json);
    }
}

/* Every table row is sorted and nothing falls between them: asked of all code points. */
TEST(of_all_code_points_those_that_act_or_hide_are_escaped)
{
    size_t escaped = 0;
    struct buf out;

    buf_init(&out, 64);
    for (uint32_t cp = 0; cp <= 0x10ffff; cp++) {
        char text[8] = "x";
        size_t len = 1;

        if (cp >= 0xd800 && cp <= 0xdfff)
            continue;
        len += utf8_write(cp, text + 1);
        buf_clear(&out);
        plain_put(&out, (struct str){ text, len }, PLAIN_LINE);
        if (!str_eq(buf_str(&out), (struct str){ text, len }))
            escaped++;
    }
    /* C0 32, DEL and C1 33, bidi, separators and other ignorables 4174 + 2 + 3,
     * noncharacters 66. */
    CHECK_INT(escaped, 32 + 33 + 4174 + 2 + 3 + 66);
    buf_done(&out);
}

TEST(a_full_buffer_ends_the_text_without_holes)
{
    struct buf out;

    buf_init(&out, 8);
    plain_put(&out, S("abc\x1b\x1b...."), PLAIN_LINE);
    CHECK_STR(buf_str(&out), S("abc"));
    CHECK(out.is_full);
    buf_done(&out);
}
