/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <stdio.h>

#include "harness.h"
#include "tui/line.h"

/* The text with a bar where the cursor stands. */
static void check_line(const struct line *line, struct str want)
{
    struct str text = line_text(line);
    struct buf out;

    buf_init(&out, 2 * LINE_MAX_BYTES);
    buf_put(&out, str_slice(text, 0, line->at));
    buf_putc(&out, '|');
    buf_put(&out, str_slice(text, line->at, text.len));
    CHECK_STR(buf_str(&out), want);
    buf_done(&out);
}

/* A text with a bar where the cursor stands becomes a line. */
static void make_line(struct line *line, struct str text)
{
    size_t bar = str_find(text, '|', 0);

    line_init(line);
    CHECK_INT(line_set(line, str_slice(text, 0, bar)), OK);
    CHECK_INT(line_insert(line, str_slice(text, bar + 1, text.len)), OK);
    line->at = bar;
}

TEST(keys_move_and_erase_by_what_is_seen_as_one_character)
{
    /* clang-format off */
    static const struct { struct str before; enum line_key key; struct str after; } cases[] = {
        { S("|"),               LINE_LEFT,        S("|") },
        { S("|"),               LINE_RIGHT,       S("|") },
        { S("|"),               LINE_ERASE_LEFT,  S("|") },
        { S("|"),               LINE_ERASE_RIGHT, S("|") },
        { S("|"),               LINE_CUT_WORD,    S("|") },
        { S("ab|"),             LINE_LEFT,        S("a|b") },
        { S("ab|"),             LINE_RIGHT,       S("ab|") },
        { S("|ab"),             LINE_RIGHT,       S("a|b") },
        { S("日|本"),           LINE_RIGHT,       S("日本|") },
        { S("日|本"),           LINE_LEFT,        S("|日本") },
        { S("xe\u0301|y"),      LINE_LEFT,        S("x|e\u0301y") },
        { S("x|e\u0301y"),      LINE_RIGHT,       S("xe\u0301|y") },
        { S("xe\u0301|y"),      LINE_ERASE_LEFT,  S("x|y") },
        { S("x|e\u0301y"),      LINE_ERASE_RIGHT, S("x|y") },
        { S("日本|語"),         LINE_ERASE_LEFT,  S("日|語") },
        { S("日本|語"),         LINE_ERASE_RIGHT, S("日本|") },
        { S("one two|"),        LINE_WORD_LEFT,   S("one |two") },
        { S("one two  |"),      LINE_WORD_LEFT,   S("one |two  ") },
        { S("|one two"),        LINE_WORD_RIGHT,  S("one| two") },
        { S("one|  two"),       LINE_WORD_RIGHT,  S("one  two|") },
        { S("one t|wo"),        LINE_HOME,        S("|one two") },
        { S("one t|wo"),        LINE_END,         S("one two|") },
        { S("one two|three"),   LINE_CUT_WORD,    S("one |three") },
        { S("grüße an  |"),     LINE_CUT_WORD,    S("grüße |") },
        { S("one t|wo"),        LINE_CUT_LEFT,    S("|wo") },
        { S("one t|wo"),        LINE_CUT_RIGHT,   S("one t|") },
        { S("one t|wo"),        LINE_PASTE,       S("one t|wo") },
    };
    /* clang-format on */

    CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    FOR_EACH_CASE(c, cases) {
        struct line line;

        make_line(&line, c->before);
        line_key(&line, c->key);
        check_line(&line, c->after);
        line_done(&line);
    }
}

TEST(what_was_cut_comes_back_and_nothing_replaces_it_but_another_cut)
{
    struct line line;

    make_line(&line, S("one two|"));
    line_key(&line, LINE_CUT_WORD);
    line_key(&line, LINE_ERASE_LEFT);
    line_key(&line, LINE_CUT_RIGHT); /* there is nothing to cut */
    line_key(&line, LINE_HOME);
    line_key(&line, LINE_PASTE);
    check_line(&line, S("two|one"));
    line_done(&line);
}

TEST(a_part_is_replaced_up_to_the_cursor)
{
    struct line line;

    make_line(&line, S("/call ca| x"));
    CHECK_INT(line_replace(&line, 6, S("calculator ")), OK);
    check_line(&line, S("/call calculator | x"));
    line_done(&line);
}

TEST(a_line_that_would_be_too_long_stays_as_it_is)
{
    static char many[LINE_MAX_BYTES + 1];
    struct line line;

    memset(many, 'x', sizeof(many));
    make_line(&line, S("ab|c"));
    CHECK_INT(line_insert(&line, (struct str){ many, LINE_MAX_BYTES - 2 }), ERR_TOO_BIG);
    CHECK_INT(line_set(&line, (struct str){ many, sizeof(many) }), ERR_TOO_BIG);
    check_line(&line, S("ab|c"));
    CHECK_INT(line_insert(&line, (struct str){ many, LINE_MAX_BYTES - 3 }), OK);
    line_key(&line, LINE_CUT_LEFT);
    line_key(&line, LINE_PASTE);
    line_key(&line, LINE_PASTE);
    CHECK_INT(line.text.len, LINE_MAX_BYTES);
    line_done(&line);
}

TEST(the_cursor_is_always_in_view)
{
    /* clang-format off */
    static const struct { struct str line; size_t columns, from, cursor; } cases[] = {
        { S("|"),             5, 0, 0 },
        { S("abcd|"),         5, 0, 4 },
        { S("abcde|"),        5, 1, 4 },
        { S("abcdef|"),       5, 2, 4 },
        { S("a|bcdefgh"),     5, 0, 1 },
        { S("日本|"),         5, 0, 4 },
        { S("日本語|"),       5, 3, 4 },
        { S("a日本語|"),      5, 4, 4 },
        { S("xe\u0301e\u0301|"), 2, 4, 1 },
        { S("ab|"),           1, 2, 0 },
        { S("ab|"),           0, 2, 0 },
    };
    /* clang-format on */

    CHECK(setlocale(LC_CTYPE, "C.UTF-8") != NULL);
    FOR_EACH_CASE(c, cases) {
        struct line_view view;
        struct line line;

        make_line(&line, c->line);
        view = line_view(&line, c->columns);
        CHECK_INT(view.from, c->from);
        CHECK_INT(view.cursor, c->cursor);
        line_done(&line);
    }
}

TEST(history_goes_back_and_returns_to_what_was_being_typed)
{
    struct history history = {};
    struct line line;

    make_line(&line, S("draft|"));
    CHECK(!history_older(&history, &line));
    history_add(&history, S("one"));
    history_add(&history, S("two"));
    history_add(&history, S("two"));
    history_add(&history, S(""));
    CHECK(history_older(&history, &line));
    check_line(&line, S("two|"));
    CHECK(history_older(&history, &line));
    check_line(&line, S("one|"));
    CHECK(!history_older(&history, &line));
    CHECK(history_newer(&history, &line));
    CHECK(history_newer(&history, &line));
    check_line(&line, S("draft|"));
    CHECK(!history_newer(&history, &line));
    line_done(&line);
    history_done(&history);
}

TEST(history_forgets_the_oldest)
{
    struct history history = {};
    struct line line;

    line_init(&line);
    for (int i = 0; i < HISTORY_LINES + 3; i++) {
        char text[16];
        int len = snprintf(text, sizeof(text), "line %d", i);

        history_add(&history, (struct str){ text, (size_t)len });
    }
    while (history_older(&history, &line))
        continue;
    check_line(&line, S("line 3|"));
    line_done(&line);
    history_done(&history);
}
