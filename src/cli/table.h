/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for people: columns as wide as what stands in them, cut where a line is too
 * short for all of it. */
#pragma once

#include "base/buf.h"
#include "json/json.h"

enum { TABLE_COLUMNS = 8 };

struct table_column {
    struct str title;
    bool is_whole; /* never cut: an id that is cut is good for nothing */
};

struct table {
    const struct table_column *columns;
    size_t count; /* of them, at most TABLE_COLUMNS */
    struct str (*cell)(const struct json *row, size_t column);
    size_t room; /* characters of a line */
    size_t widths[TABLE_COLUMNS];
};

/* Characters of a line on standard output, also where it is no terminal. */
size_t table_room(void);

/* Before the first row: how wide the columns are for these rows. Those of a later page
 * keep to it, but for cells that are whole. */
void table_fit(struct table *table, const struct json *rows);

void table_put_head(const struct table *table, struct buf *out);
void table_put_row(const struct table *table, const struct json *row, struct buf *out);
