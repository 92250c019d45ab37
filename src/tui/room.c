/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/room.h"

#include "tui/rows.h"

/* A row of the timeline: of an entry the one of this number. */
struct place {
    struct entry *entry; /* NULL: there is nothing */
    size_t line;
};

static size_t count_rows(const struct timeline *t, const struct entry *e,
                         struct shape shape)
{
    struct rows rows;
    size_t count;

    rows_init(&rows);
    rows_lay_out(&rows, t, e, shape);
    count = rows.count;
    rows_done(&rows);
    return count;
}

static struct place end_of(const struct timeline *t, struct shape shape)
{
    struct entry *last = timeline_last(t);

    return (struct place){ last, last ? count_rows(t, last, shape) - 1 : 0 };
}

/* Where the reader is; an entry may have got fewer rows since (another width). */
static struct place place_of(const struct timeline *t, struct shape shape)
{
    size_t count;

    if (!t->pin)
        return end_of(t, shape);
    count = count_rows(t, t->pin, shape);
    return (struct place){ t->pin, t->pin_line < count ? t->pin_line : count - 1 };
}

void room_draw(const struct timeline *t, struct canvas *canvas, struct area area)
{
    struct shape shape = shape_of(area.columns);
    struct place at = place_of(t, shape);
    unsigned left = area.rows;
    struct rows rows;

    rows_init(&rows);
    for (struct entry *e = at.entry; e && left > 0; e = timeline_before(t, e)) {
        size_t count;

        rows_lay_out(&rows, t, e, shape);
        count = e == at.entry ? at.line + 1 : rows.count;
        for (; count > 0 && left > 0; count--)
            row_draw(&rows.list[count - 1], canvas, area.row + --left, area.column,
                     shape);
    }
    rows_done(&rows);
}

/* Up by as many rows as there are; returns how many those were. */
static size_t go_up(const struct timeline *t, struct shape shape, struct place *at,
                    size_t rows)
{
    size_t done = 0;

    while (done < rows) {
        struct entry *before = timeline_before(t, at->entry);

        if (at->line >= rows - done) {
            at->line -= rows - done;
            return rows;
        }
        if (!before) {
            done += at->line;
            at->line = 0;
            return done;
        }
        done += at->line + 1;
        at->entry = before;
        at->line = count_rows(t, before, shape) - 1;
    }
    return done;
}

/* False: the end is nearer. */
static bool go_down(const struct timeline *t, struct shape shape, struct place *at,
                    size_t rows)
{
    for (;;) {
        size_t below = count_rows(t, at->entry, shape) - 1 - at->line;
        struct entry *behind = timeline_behind(t, at->entry);

        if (rows <= below) {
            at->line += rows;
            return behind || rows < below;
        }
        if (!behind)
            return false;
        rows -= below + 1;
        *at = (struct place){ behind, 0 };
    }
}

void room_follow(struct timeline *t)
{
    t->pin = NULL;
    t->unseen = 0;
}

void room_scroll(struct timeline *t, struct area area, int rows)
{
    struct shape shape = shape_of(area.columns);
    struct place at = place_of(t, shape);
    struct place top;
    size_t above;

    if (!at.entry || area.rows == 0)
        return;
    if (rows < 0) {
        (void)go_up(t, shape, &at, (size_t)-rows);
        /* Not further than to a full screen. */
        top = at;
        above = go_up(t, shape, &top, area.rows - 1);
        rows = (int)(area.rows - 1 - above);
        if (rows == 0) {
            t->pin = at.entry;
            t->pin_line = at.line;
            return;
        }
    }
    if (!go_down(t, shape, &at, (size_t)rows)) {
        room_follow(t);
        return;
    }
    t->pin = at.entry;
    t->pin_line = at.line;
}
