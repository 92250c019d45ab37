/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many resources as a text: one JSON object a line, or CSV (RFC 4180). Bytes in, rows
 * out: no more than one row is held, however long the text is.
 *
 *     while ((row = sheet_next(&sheet, &bytes)).type != ROW_NEED_MORE)
 *         …
 *     … and once at the end of the text:
 *     row = sheet_end(&sheet);
 *
 * The first row of CSV names the fields. `skills` and `languages` are lists: items with a
 * semicolon between them, or a JSON array. A rate has three columns: rate, currency, per.
 * A cell without text is not given. Blank lines are nothing.
 *
 * A problem has its place: line and column as editors count them, in characters from 1.
 */
#pragma once

#include "directory/resource.h"

enum sheet_format { SHEET_JSON, SHEET_CSV };

enum {
    SHEET_MAX_ROW = 72 << 10, /* bytes of one; more than a resource needs, quoted */
    SHEET_COLUMNS = 16,       /* every field, each once */
};

enum row_type { ROW_NEED_MORE, ROW_RESOURCE, ROW_PROBLEM };

struct row {
    enum row_type type;
    uint64_t number;                 /* from 1; 0: the header */
    uint64_t line, column;           /* where it begins; of a problem, where that is */
    struct resource resource;        /* borrowed until the next call */
    struct resource_problem problem; /* as well */
};

struct sheet {
    enum sheet_format format;
    uint8_t state;                  /* of CSV, at the end of what was taken */
    uint8_t columns[SHEET_COLUMNS]; /* of CSV: which field each is */
    size_t column_count;            /* 0: the header has not come */
    bool is_used;                   /* `line` holds a row that was given out */
    bool is_too_long;               /* the rest of this row is passed over */
    bool is_hopeless;               /* without a header nothing can be read */
    uint64_t number, line_number;   /* of the row that is being taken */
    struct buf line;                /* a row that is not whole */
    struct arena arena;             /* of the row that was given out */
};

void sheet_init(struct sheet *sheet, enum sheet_format format);
void sheet_done(struct sheet *sheet);

/* Takes from `*bytes` what it needs for the next row. */
struct row sheet_next(struct sheet *sheet, struct str *bytes);

/* The text ends here: a last row without a line end, or ROW_NEED_MORE for none. */
struct row sheet_end(struct sheet *sheet);

/* "skills[3] stands there twice"; "the row has 3 cells …". */
void row_put_problem(struct buf *out, const struct row *row);

/* The same text from resources: a head ("" for JSON), then a line for each. */
void sheet_put_head(struct buf *out, enum sheet_format format);
void sheet_put(struct buf *out, enum sheet_format format,
               const struct resource *resource);
