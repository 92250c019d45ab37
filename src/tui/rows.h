/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An entry of the timeline as rows of a screen: when, who (below a tree where it answers
 * something), what, and the state of it.
 *
 *     14:02 bot        proposes read_file → files (path: "/etc/motd")  fulfilled by human
 * #3 14:02 ├ human    calls read_file → files (path: "/etc/motd")  answered #4 14:02 └
 * files    answers: welcome to this machine
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "tui/canvas.h"
#include "tui/timeline.h"

struct piece {
    struct str text;
    enum style style;
};

enum { ROW_PIECES = 6 };

struct row {
    struct str time; /* "" but in the first row of an entry */
    struct str tree;
    struct piece name;
    struct piece pieces[ROW_PIECES];
    size_t count;
};

struct rows {
    struct row *list;
    size_t count, size;
    struct arena arena; /* of texts that the entry does not have so */
};

/* How a width is divided. */
struct shape {
    unsigned name, text; /* the columns where they begin … */
    unsigned end;        /* … and where the row ends */
};
struct shape shape_of(unsigned columns);

void rows_init(struct rows *rows);
void rows_done(struct rows *rows);

/* Replaces what was there. Borrows from the entry. */
void rows_lay_out(struct rows *rows, const struct timeline *t, const struct entry *entry,
                  struct shape shape);

/* Draws one at this row, from this column on. */
void row_draw(const struct row *row, struct canvas *canvas, unsigned at, unsigned left,
              struct shape shape);
