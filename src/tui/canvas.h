/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A screen in memory: cells with a cluster and a style each. Views draw here, screen.c
 * brings it to the terminal, tests read it. Whatever is drawn, nothing leaves its cells:
 * what does not fit is left out, and half a wide character is a space.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "base/buf.h"
#include "base/str.h"
#include "tui/wrap.h"

enum { STYLE_NAMES = 6 };

/* What a thing is; how that looks is decided by the terminal's colours (screen.c). */
enum style {
    STYLE_PLAIN,
    STYLE_DIM,    /* beside the point: times, presence, hints */
    STYLE_STRONG, /* headings, what matters */
    STYLE_BAR,    /* the line at the top */
    STYLE_CALL,   /* in it: something waits for this person */
    STYLE_ALARM,  /* the same, when not all is well */
    STYLE_CHOSEN, /* the row the cursor is on */
    STYLE_WAIT,   /* waits for somebody */
    STYLE_GOOD,
    STYLE_BAD,
    STYLE_ME,
    STYLE_NAME, /* STYLE_NAMES of them: participants are told apart by them */
    STYLES = STYLE_NAME + STYLE_NAMES,
};

struct cell {
    wchar_t text[CLUSTER_WIDE];
    unsigned char columns; /* 1, 2; 0: the right half of the one before */
    unsigned char style;
};

struct canvas {
    struct cell *cells;
    unsigned rows, columns;
    unsigned cursor_row, cursor_column;
    bool shows_cursor;
};

void canvas_init(struct canvas *canvas);
void canvas_done(struct canvas *canvas);

/* Another size, or the same again: everything is empty. */
void canvas_reset(struct canvas *canvas, unsigned rows, unsigned columns);

/* Where text goes: from `column` up to, not including, `end`. */
struct span {
    unsigned row, column, end;
};

/* Draws what fits and returns the column behind it. */
unsigned canvas_put(struct canvas *canvas, struct span at, struct str text,
                    enum style style);

/* The same, with an ellipsis where it does not fit. */
unsigned canvas_put_cut(struct canvas *canvas, struct span at, struct str text,
                        enum style style);

/* So that it ends where the span ends. Returns the column where it begins. */
unsigned canvas_put_right(struct canvas *canvas, struct span at, struct str text,
                          enum style style);

/* Spaces of a style. */
void canvas_fill(struct canvas *canvas, struct span at, enum style style);

void canvas_set_cursor(struct canvas *canvas, unsigned row, unsigned column);

/* The text of a row without the spaces at its end, in UTF-8: for tests. */
void canvas_read(const struct canvas *canvas, unsigned row, struct buf *out);

/* Which style a participant's name has. */
enum style style_of_name(struct str name);

/* Signs that are drawn, in the characters that the locale has. */
struct signs {
    struct str across, down;        /* lines */
    struct str branch, last, trunk; /* of a tree */
    struct str again, arrow, more;  /* a thread goes on; to whom; there is more below */
    struct str dot, prompt, choose; /* between words; before what is typed; keys */
};
const struct signs *signs(void);
