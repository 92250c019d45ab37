/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is here: a list, and of the one that is chosen everything it may do.
 */
#include "tui/pager.h"
#include "tui/tell.h"
#include "tui/tui_priv.h"

enum { NAME_COLUMNS = 24, TYPE_COLUMNS = 9 };

static void draw_row(struct tui *tui, struct area area, unsigned row, size_t index)
{
    const struct person *person = &tui->people.list[index];
    struct span at = { area.row + row, 1, area.columns };
    bool is_chosen = index == people_chosen(&tui->people);
    unsigned name = NAME_COLUMNS < area.columns / 2 ? NAME_COLUMNS : area.columns / 2;
    enum style style = STYLE_CHOSEN;
    struct buf text;

    buf_init(&text, 1024);
    tell_put_name(&text, str_of(person->id));
    if (!is_chosen)
        style = person->is_me ? STYLE_ME : style_of_name(buf_str(&text));
    if (is_chosen)
        canvas_fill(&tui->canvas, (struct span){ at.row, 0, at.end }, STYLE_CHOSEN);
    (void)canvas_put_cut(&tui->canvas, (struct span){ at.row, 1, name }, buf_str(&text),
                         style);
    buf_clear(&text);
    tell_put_name(&text, str_of(person->is_me ? "you" : person->type));
    (void)canvas_put_cut(&tui->canvas,
                         (struct span){ at.row, name + 1, name + TYPE_COLUMNS },
                         buf_str(&text), is_chosen ? STYLE_CHOSEN : STYLE_DIM);
    (void)canvas_put_cut(&tui->canvas,
                         (struct span){ at.row, name + 1 + TYPE_COLUMNS, at.end },
                         str_of(person->rights), is_chosen ? STYLE_CHOSEN : STYLE_PLAIN);
    buf_done(&text);
}

static unsigned draw_list(struct tui *tui, struct area area)
{
    unsigned fit = view_list_rows(area, 2);
    size_t chosen = people_chosen(&tui->people);
    size_t first = chosen < fit ? 0 : chosen - fit + 1;
    unsigned row = 0;

    for (; row < fit && first + row < tui->people.count; row++)
        draw_row(tui, area, row, first + row);
    return row;
}

void view_people(struct tui *tui, struct area area)
{
    unsigned rows = draw_list(tui, area);
    struct area body = { area.row + rows + 1, 1, area.rows - rows - 1, area.columns - 2 };
    struct area rule = { area.row + rows, 0, 1, area.columns };
    size_t below;
    struct buf title;

    buf_init(&title, 256);
    buf_putf(&title, "%zu of %zu",
             tui->people.count ? people_chosen(&tui->people) + 1 : 0, tui->people.total);
    view_rule(&tui->canvas, rule, 0, buf_str(&title));
    tui->area = body;
    below = pager_draw(
        &tui->canvas, body,
        &(struct pager){ .text = buf_str(&tui->person), .scroll = tui->people.scroll });
    view_more(&tui->canvas, rule, 0, below);
    buf_done(&title);
}
