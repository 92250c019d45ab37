/* SPDX-License-Identifier: Apache-2.0 */
/* Behind sheet.h: the rows of CSV. */
#pragma once

#include "directory/sheet.h"

/* What is wrong with a row, and at which of its bytes. */
struct row_fault {
    size_t at;
    struct resource_problem problem;
};

/* Keeps it; false. */
bool row_fail(struct row_fault *fault, size_t at, struct str field, const char *what);

/* Which field each column is. The row has no line end. */
bool csv_read_head(struct sheet *sheet, struct str row, struct row_fault *fault);
bool csv_read_row(struct sheet *sheet, struct str row, struct resource *ret,
                  struct row_fault *fault);

void csv_put_head(struct buf *out);
void csv_put_row(struct buf *out, const struct resource *resource);
