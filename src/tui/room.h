/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The timeline on a part of the screen. Who reads at the end follows what comes; who has
 * scrolled up stays where he is, and is told that there is more below.
 */
#pragma once

#include "tui/canvas.h"
#include "tui/timeline.h"

struct area {
    unsigned row, column;
    unsigned rows, columns;
};

void room_draw(const struct timeline *t, struct canvas *canvas, struct area area);

/* By so many rows, up (below 0) or down. Down to the end he follows again. */
void room_scroll(struct timeline *t, struct area area, int rows);

void room_follow(struct timeline *t);
