/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/pager.h"

#include "tui/wrap.h"

/* The last place from which the area is full. */
static size_t last_scroll(struct area area, struct str text)
{
    size_t lines = wrap_count(text, area.columns);

    return lines > area.rows ? lines - area.rows : 0;
}

static void draw_line(struct canvas *canvas, struct span at, struct str line,
                      unsigned labels)
{
    struct str label = wrap_head(line, labels);

    at.column = canvas_put(canvas, at, label, STYLE_DIM);
    (void)canvas_put(canvas, at, str_slice(line, label.len, line.len), STYLE_PLAIN);
}

static bool begins_paragraph(struct str text, struct str line)
{
    return line.ptr == text.ptr || line.ptr[-1] == '\n';
}

size_t pager_draw(struct canvas *canvas, struct area area, const struct pager *pager)
{
    struct wrap wrap = { .rest = pager->text, .columns = area.columns };
    size_t most = last_scroll(area, pager->text);
    size_t scroll = pager->scroll < most ? pager->scroll : most;
    unsigned labels = pager->labels;
    struct str line;

    for (size_t number = 0; wrap_next(&wrap, &line); number++) {
        if (line.len == 0)
            labels = 0;
        if (number < scroll || number - scroll >= area.rows)
            continue;
        draw_line(canvas,
                  (struct span){ area.row + (unsigned)(number - scroll), area.column,
                                 area.column + area.columns },
                  line, begins_paragraph(pager->text, line) ? labels : 0);
    }
    return most - scroll;
}

size_t pager_scroll(struct area area, struct str text, size_t scroll, int by)
{
    size_t most = last_scroll(area, text);

    if (scroll > most)
        scroll = most;
    if (by < 0)
        return (size_t)-by < scroll ? scroll - (size_t)-by : 0;
    return most - scroll < (size_t)by ? most : scroll + (size_t)by;
}
