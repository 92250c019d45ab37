/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>

#include "harness.h"
#include "tui/canvas.h"

static void begin(struct canvas *canvas, unsigned columns)
{
    CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    canvas_init(canvas);
    canvas_reset(canvas, 2, columns);
}

static void check_row(const struct canvas *canvas, unsigned row, struct str want)
{
    struct buf out;

    buf_init(&out, 4096);
    canvas_read(canvas, row, &out);
    CHECK_STR(buf_str(&out), want);
    buf_done(&out);
}

TEST(what_does_not_fit_is_left_out)
{
    /* clang-format off */
    static const struct { struct span at; struct str text; unsigned behind; struct str want; } cases[] = {
        { { 0, 0, 10 },  S("hello"),       5, S("hello") },
        { { 0, 2, 6 },   S("hello"),       6, S("  hell") },
        { { 0, 8, 99 },  S("hello"),      10, S("        he") },
        { { 0, 12, 99 }, S("hello"),      12, S("") },
        { { 9, 0, 10 },  S("hello"),       0, S("") },
        { { 0, 0, 3 },   S("日本"),        2, S("日") },
        { { 0, 0, 10 },  S("e\u0301a"),    2, S("e\u0301a") },
        { { 0, 0, 10 },  S("\u0301a"),     2, S("◌\u0301a") },
        { { 0, 0, 10 },  S("a\x1b[2J\nb"), 7, S("a\ufffd[2J\ufffdb") },
    };
    /* clang-format on */

    FOR_EACH_CASE(c, cases) {
        struct canvas canvas;

        begin(&canvas, 10);
        CHECK_INT(canvas_put(&canvas, c->at, c->text, STYLE_PLAIN), c->behind);
        check_row(&canvas, 0, c->want);
        check_row(&canvas, 1, S(""));
        canvas_done(&canvas);
    }
}

TEST(half_a_wide_character_is_a_space)
{
    struct canvas canvas;

    begin(&canvas, 10);
    (void)canvas_put(&canvas, (struct span){ 0, 0, 10 }, S("日本語"), STYLE_PLAIN);
    (void)canvas_put(&canvas, (struct span){ 0, 1, 10 }, S("x"), STYLE_PLAIN);
    check_row(&canvas, 0, S(" x本語"));
    (void)canvas_put(&canvas, (struct span){ 0, 4, 10 }, S("y"), STYLE_PLAIN);
    check_row(&canvas, 0, S(" x本y"));
    (void)canvas_put(&canvas, (struct span){ 0, 1, 10 }, S("語"), STYLE_PLAIN);
    check_row(&canvas, 0, S(" 語 y"));
    canvas_done(&canvas);
}

TEST(text_is_cut_or_set_to_the_right)
{
    struct canvas canvas;

    begin(&canvas, 10);
    CHECK_INT(canvas_put_cut(&canvas, (struct span){ 0, 0, 4 }, S("hello"), STYLE_PLAIN),
              4);
    CHECK_INT(canvas_put_right(&canvas, (struct span){ 0, 5, 10 }, S("abc"), STYLE_PLAIN),
              7);
    CHECK_INT(
        canvas_put_right(&canvas, (struct span){ 1, 7, 10 }, S("abcd"), STYLE_PLAIN), 7);
    check_row(&canvas, 0, S("hel…   abc"));
    check_row(&canvas, 1, S("       ab…"));
    canvas_done(&canvas);
}

TEST(a_size_of_nothing_draws_nothing)
{
    struct canvas canvas;

    CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    canvas_init(&canvas);
    canvas_reset(&canvas, 0, 0);
    (void)canvas_put(&canvas, (struct span){ 0, 0, 10 }, S("hello"), STYLE_PLAIN);
    (void)canvas_put_right(&canvas, (struct span){ 0, 0, 10 }, S("hello"), STYLE_PLAIN);
    canvas_fill(&canvas, (struct span){ 0, 0, 10 }, STYLE_BAR);
    canvas_done(&canvas);
}

TEST(signs_are_as_wide_in_every_locale)
{
    CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    CHECK_STR(signs()->branch, S("├ "));
    CHECK_INT(wrap_columns(signs()->branch), 2);
    CHECK(setlocale(LC_CTYPE, "C") != NULL);
    CHECK_STR(signs()->branch, S("|-"));
    CHECK_INT(wrap_columns(signs()->branch), 2);
}
