/* SPDX-License-Identifier: Apache-2.0 */
/* CSV as RFC 4180 has it: where rows end, which cells they have, how cells are written.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Where in a row a byte stands. The beginning is 0. */
enum csv_state {
    CSV_START,    /* of a cell */
    CSV_BARE,     /* in a cell without quotes */
    CSV_QUOTED,   /* in one with quotes */
    CSV_UNQUOTED, /* behind a quote in it: its end, or the first of two */
};

/* How far the row reaches: behind its line feed, or 0 where that has not come. The state
 * goes on with the next bytes. */
size_t csv_row_end(struct str bytes, uint8_t *state);

struct csv_cell {
    struct str text; /* without quotes; in the row or the arena */
    size_t at;       /* where it begins in the row */
};

/* Takes the next cell of a row, which has no line end; start with *at = 0, *at > row.len
 * is the end. ERR_INVALID with a static text in *ret_what and the place in ret->at;
 * ERR_TOO_BIG. */
enum err csv_next(struct str row, size_t *at, struct arena *arena, struct csv_cell *ret,
                  const char **ret_what);

/* In quotes where it needs them. */
void csv_put(struct buf *out, struct str text);
