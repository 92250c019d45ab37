/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/table.h"

#include <unistd.h>

#include "base/cleanup.h"
#include "cli/cell.h"
#include "cli/progress.h"

enum {
    CELL_BYTES = 16 << 20,
    ROOM = 240, /* where there is no terminal */
    WIDEST = 40,
    NARROWEST = 8,
    GAP = 2, /* between columns */
};

size_t table_room(void)
{
    size_t columns = progress_columns(STDOUT_FILENO);

    return columns ? columns : ROOM;
}

static size_t put_text(const struct table *table, size_t column, struct str text,
                       size_t width, struct buf *out)
{
    return table->columns[column].is_whole ? cell_put(out, text, 0)
                                           : cell_put_cut(out, text, width);
}

/* How wide the widest cell is. */
static size_t natural_width(const struct table *table, const struct json *rows,
                            size_t column)
{
    size_t width = table->columns[column].title.len;
    CLEANUP(buf_done) struct buf cell;

    buf_init(&cell, CELL_BYTES);
    JSON_FOREACH(row, rows) {
        size_t count = put_text(table, column, table->cell(row, column), WIDEST, &cell);

        width = count > width ? count : width;
        buf_clear(&cell);
    }
    return width;
}

/* The widest of those that can shrink, and still should; NULL: none. */
static size_t *find_widest(struct table *table)
{
    size_t *widest = NULL;

    for (size_t i = 0; i < table->count; i++)
        if (!table->columns[i].is_whole &&
            table->widths[i] > (widest ? *widest : NARROWEST))
            widest = &table->widths[i];
    return widest;
}

void table_fit(struct table *table, const struct json *rows)
{
    size_t total = 0;
    size_t *widest;

    for (size_t i = 0; i < table->count; i++) {
        table->widths[i] = natural_width(table, rows, i);
        total += table->widths[i] + (i ? GAP : 0);
    }
    while (total > table->room && (widest = find_widest(table)) != NULL) {
        (*widest)--;
        total--;
    }
}

static void put_cell(const struct table *table, size_t column, struct str text,
                     struct buf *out)
{
    size_t width = table->widths[column];
    size_t count = put_text(table, column, text, width, out);

    (void)cell_put(out, S(""), (count < width ? width - count : 0) + GAP);
}

static void end_line(struct buf *out)
{
    while (out->len && out->ptr[out->len - 1] == ' ')
        out->len--;
    buf_putc(out, '\n');
}

void table_put_head(const struct table *table, struct buf *out)
{
    for (size_t i = 0; i < table->count; i++)
        put_cell(table, i, table->columns[i].title, out);
    end_line(out);
}

void table_put_row(const struct table *table, const struct json *row, struct buf *out)
{
    for (size_t i = 0; i < table->count; i++)
        put_cell(table, i, table->cell(row, i), out);
    end_line(out);
}
