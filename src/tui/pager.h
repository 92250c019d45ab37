/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long text in a part of the screen, wrapped and scrolled.
 */
#pragma once

#include "base/str.h"
#include "tui/canvas.h"
#include "tui/room.h"

struct pager {
    struct str text;
    size_t scroll;   /* the line to begin with */
    unsigned labels; /* in paragraphs before the first empty line: columns that are dim */
};

/* Returns how many lines are below. */
size_t pager_draw(struct canvas *canvas, struct area area, const struct pager *pager);

/* By so many lines, as far as there are any: the new `scroll`. */
size_t pager_scroll(struct area area, struct str text, size_t scroll, int by);
