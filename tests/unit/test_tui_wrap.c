/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>

#include "harness.h"
#include "tui/wrap.h"

static void use_locale(const char *name)
{
    CHECK(setlocale(LC_CTYPE, name) != NULL);
}

/* The lines, each with a bar behind it. */
static void put_lines(struct buf *out, struct str text, size_t columns)
{
    struct wrap wrap = { .rest = text, .columns = columns };
    struct str line;

    while (wrap_next(&wrap, &line)) {
        CHECK(wrap_columns(line) <= columns);
        buf_put(out, line);
        buf_putc(out, '|');
    }
}

TEST(lines_are_broken_where_a_reader_expects_it)
{
    /* clang-format off */
    static const struct { struct str text; size_t columns; struct str want; } cases[] = {
        { S(""),                        10, S("") },
        { S("one"),                     10, S("one|") },
        { S("one two three"),           20, S("one two three|") },
        { S("one two three"),            8, S("one two|three|") },
        { S("one two three"),            7, S("one two|three|") },
        { S("one two three"),            6, S("one|two|three|") },
        { S("one   two"),                5, S("one|two|") },
        { S("one   "),                   3, S("one|") },
        { S("one   \ntwo"),              3, S("one|two|") },
        { S("one\ntwo"),                 9, S("one|two|") },
        { S("one\n\ntwo\n"),             9, S("one||two|") },
        { S("\n"),                       9, S("|") },
        { S("abcdefgh"),                 3, S("abc|def|gh|") },
        { S("ab abcdefgh"),              4, S("ab|abcd|efgh|") },
        { S("  code {\n    x\n  }"),    10, S("  code {|    x|  }|") },
        { S("        deep"),             4, S("    |    |deep|") },
        { S("日本語テキスト"),            6, S("日本語|テキス|ト|") },
        { S("日本語テキスト"),            7, S("日本語|テキス|ト|") },
        { S("a日本b"),                    4, S("a日|本b|") },
        { S("see 日本語"),                8, S("see 日本|語|") },
        { S("e\u0301e\u0301e\u0301"),    2, S("e\u0301e\u0301|e\u0301|") },
        { S("👍👍👍"),                    5, S("👍👍|👍|") },
    };
    /* clang-format on */

    use_locale("C.UTF-8");
    FOR_EACH_CASE(c, cases) {
        struct buf out;

        buf_init(&out, 4096);
        put_lines(&out, c->text, c->columns);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
    }
    CHECK_INT(wrap_count(S("日本"), 1), 2);
    CHECK_INT(wrap_count(S("one two three"), 7), 2);
}

TEST(a_cluster_is_a_character_with_its_marks)
{
    static const struct {
        struct str text;
        size_t first, last;
        unsigned columns;
    } cases[] = {
        { S("abc"), 1, 1, 1 },      { S("e\u0301x"), 3, 1, 1 },
        { S("xe\u0301"), 1, 3, 1 }, { S("日本"), 3, 3, 2 },
        { S("\u0301x"), 2, 1, 1 },  /* a mark on nothing */
        { S("\n\u0301"), 1, 2, 1 }, /* a break carries no marks */
        { S("👍🏽"), 4, 4, 2 }, { S("\xff\xfe"), 1, 1, 1 },
        { S("\0a"), 1, 1, 1 },
    };

    use_locale("C.UTF-8");
    FOR_EACH_CASE(c, cases) {
        CHECK_INT(cluster_first(c->text).text.len, c->first);
        CHECK_INT(cluster_first(c->text).columns, c->columns);
        CHECK_INT(cluster_last(c->text).text.len, c->last);
    }
}

TEST(what_is_drawn_is_as_wide_as_it_was_measured)
{
    static const struct {
        struct str text;
        wchar_t want[CLUSTER_WIDE];
    } cases[] = {
        { S("a"), L"a" },
        { S("e\u0301\u0302"), L"e\u0301\u0302" },
        { S("e\u0301\u0301\u0301\u0301\u0301\u0301"), L"e\u0301\u0301\u0301\u0301" },
        { S("\u0301"), L"\u25cc\u0301" },
        { S("e\u202e\u200d\u0301"), L"e\u0301" },
        { S("\u202e"), L"\u25cc" },
        { S("\x1b"), L"\ufffd" },
        { S("\n"), L"\ufffd" },
        { S("\0"), L"\ufffd" },
        { S("\xff"), L"\ufffd" },
        { S("\xc2\x9b"), L"\ufffd" },
        { S("\ue000"), L"\ue000" },
        { S("\u0378"), L"\ufffd" }, /* not assigned */
    };

    use_locale("C.UTF-8");
    FOR_EACH_CASE(c, cases) {
        wchar_t out[CLUSTER_WIDE];

        cluster_draw(c->text, out);
        CHECK(wcscmp(out, c->want) == 0);
    }
}

TEST(a_text_that_is_too_long_ends_with_an_ellipsis)
{
    static const struct {
        const char *locale;
        struct str text;
        size_t columns;
        struct str want;
    } cases[] = {
        { "C.UTF-8", S("name"), 4, S("name") }, { "C.UTF-8", S("name"), 3, S("na…") },
        { "C.UTF-8", S("日本"), 3, S("日…") },  { "C.UTF-8", S("日本"), 2, S("…") },
        { "C.UTF-8", S("name"), 0, S("") },     { "C", S("name"), 3, S("na~") },
        { "C", S("äöü"), 3, S("äöü") },
    };

    FOR_EACH_CASE(c, cases) {
        struct buf out;

        use_locale(c->locale);
        buf_init(&out, 64);
        wrap_put_cut(&out, c->text, c->columns);
        CHECK_STR(buf_str(&out), c->want);
        buf_done(&out);
    }
}

TEST(in_the_c_locale_everything_but_ascii_is_a_question_mark)
{
    wchar_t out[CLUSTER_WIDE];

    use_locale("C");
    CHECK_INT(wrap_columns(S("日本 ä")), 4);
    cluster_draw(S("日"), out);
    CHECK(wcscmp(out, L"?") == 0);
    cluster_draw(S("a"), out);
    CHECK(wcscmp(out, L"a") == 0);
}
