/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/canvas.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "base/xalloc.h"

static const struct cell blank = { L" ", 1, STYLE_PLAIN };

void canvas_init(struct canvas *canvas)
{
    *canvas = (struct canvas){};
}

void canvas_done(struct canvas *canvas)
{
    free(canvas->cells);
    *canvas = (struct canvas){};
}

void canvas_reset(struct canvas *canvas, unsigned rows, unsigned columns)
{
    size_t count = (size_t)rows * columns;

    if (rows != canvas->rows || columns != canvas->columns) {
        free(canvas->cells);
        canvas->cells = xcalloc(count ? count : 1, sizeof(*canvas->cells));
        canvas->rows = rows;
        canvas->columns = columns;
    }
    for (size_t i = 0; i < count; i++)
        canvas->cells[i] = blank;
    canvas->shows_cursor = false;
}

static struct cell *cell_at(const struct canvas *canvas, unsigned row, unsigned column)
{
    return &canvas->cells[(size_t)row * canvas->columns + column];
}

/* What is overwritten by half becomes a space. */
static void clear(struct canvas *canvas, unsigned row, unsigned column)
{
    struct cell *cell = cell_at(canvas, row, column);

    if (cell->columns == 0 && column > 0)
        *cell_at(canvas, row, column - 1) = blank;
    if (cell->columns == 2)
        *cell_at(canvas, row, column + 1) = blank;
    *cell = blank;
}

static void put_cell(struct canvas *canvas, unsigned row, unsigned column,
                     struct cluster cluster, enum style style)
{
    struct cell *cell = cell_at(canvas, row, column);

    for (unsigned i = 0; i < cluster.columns; i++)
        clear(canvas, row, column + i);
    cluster_draw(cluster.text, cell->text);
    cell->columns = (unsigned char)cluster.columns;
    cell->style = (unsigned char)style;
    if (cluster.columns == 2)
        cell[1] = (struct cell){ .columns = 0, .style = (unsigned char)style };
}

static unsigned end_of(const struct canvas *canvas, struct span at)
{
    if (at.row >= canvas->rows)
        return 0;
    return at.end < canvas->columns ? at.end : canvas->columns;
}

unsigned canvas_put(struct canvas *canvas, struct span at, struct str text,
                    enum style style)
{
    unsigned end = end_of(canvas, at);
    unsigned column = at.column;

    while (text.len > 0) {
        struct cluster c = cluster_first(text);

        if (column + c.columns > end)
            break;
        put_cell(canvas, at.row, column, c, style);
        column += c.columns;
        text = str_slice(text, c.text.len, text.len);
    }
    return column;
}

unsigned canvas_put_cut(struct canvas *canvas, struct span at, struct str text,
                        enum style style)
{
    unsigned end = end_of(canvas, at);
    unsigned column = at.column;
    struct buf cut;

    if (column >= end)
        return column;
    buf_init(&cut, text.len + 8);
    wrap_put_cut(&cut, text, end - column);
    column = canvas_put(canvas, at, buf_str(&cut), style);
    buf_done(&cut);
    return column;
}

unsigned canvas_put_right(struct canvas *canvas, struct span at, struct str text,
                          enum style style)
{
    unsigned end = end_of(canvas, at);
    size_t columns = wrap_columns(text);

    if (at.column >= end)
        return end;
    if (columns < end - at.column)
        at.column = end - (unsigned)columns;
    (void)canvas_put_cut(canvas, at, text, style);
    return at.column;
}

void canvas_fill(struct canvas *canvas, struct span at, enum style style)
{
    unsigned end = end_of(canvas, at);

    for (unsigned column = at.column; column < end; column++) {
        clear(canvas, at.row, column);
        cell_at(canvas, at.row, column)->style = (unsigned char)style;
    }
}

void canvas_set_cursor(struct canvas *canvas, unsigned row, unsigned column)
{
    canvas->cursor_row = row;
    canvas->cursor_column = column < canvas->columns ? column : canvas->columns - 1;
    canvas->shows_cursor = row < canvas->rows;
}

void canvas_read(const struct canvas *canvas, unsigned row, struct buf *out)
{
    size_t begin = out->len;

    for (unsigned column = 0; column < canvas->columns; column++) {
        const struct cell *cell = cell_at(canvas, row, column);

        for (size_t i = 0; cell->columns > 0 && cell->text[i]; i++) {
            char utf8[4];
            size_t len = utf8_write((uint32_t)cell->text[i], utf8);

            buf_put(out, (struct str){ utf8, len });
        }
    }
    while (out->len > begin && out->ptr[out->len - 1] == ' ')
        out->len--;
}

/* Only to tell names apart, so it need not be a good one; and the same in every run. */
enum style style_of_name(struct str name)
{
    uint32_t hash = 2166136261;

    for (size_t i = 0; i < name.len; i++)
        hash = (hash ^ (unsigned char)name.ptr[i]) * 16777619;
    return STYLE_NAME + (hash >> 8) % STYLE_NAMES;
}

const struct signs *signs(void)
{
    static const struct signs drawn = {
        .across = S("─"),
        .down = S("│"),
        .branch = S("├ "),
        .last = S("└ "),
        .trunk = S("│"),
        .again = S("↳"),
        .arrow = S("→"),
        .more = S("↓"),
        .dot = S("·"),
        .prompt = S("› "),
        .choose = S("↑↓"),
    };
    static const struct signs ascii = {
        .across = S("-"),
        .down = S("|"),
        .branch = S("|-"),
        .last = S("`-"),
        .trunk = S("|"),
        .again = S("..."),
        .arrow = S(">"),
        .more = S("v"),
        .dot = S("-"),
        .prompt = S("> "),
        .choose = S("Up/Down"),
    };

    return wcwidth(L'─') == 1 && wcwidth(L'↳') == 1 ? &drawn : &ascii;
}
