/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How text fills the cells of a terminal. A *cluster* is what is drawn in one go and
 * stepped over with one key: a character and the marks that stand on it. It fills one or
 * two columns, never none.
 *
 * How wide a character is, and whether it can be shown at all, is what the C library says
 * of the locale. What cannot be shown (everything but ASCII in the C locale, whatever
 * acts on a terminal anywhere) is drawn as one replacement of one column, so that what is
 * drawn is always as wide as it was measured.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "base/buf.h"
#include "base/str.h"

enum { CLUSTER_WIDE = 6 }; /* a character, four marks, the zero at the end */

struct cluster {
    struct str text;
    unsigned columns; /* 1 or 2 */
};

/* What the text, which is not empty, begins with. A line break is one by itself. */
struct cluster cluster_first(struct str text);

/* The last one of a text that is not empty. */
struct cluster cluster_last(struct str text);

/* What is drawn for it, ended by a zero. */
void cluster_draw(struct str cluster, wchar_t out[static CLUSTER_WIDE]);

/* All of it on one line. */
size_t wrap_columns(struct str text);

/* The longest beginning that fits. */
struct str wrap_head(struct str text, size_t columns);

/* The text if it fits; else its beginning with an ellipsis behind it. */
void wrap_put_cut(struct buf *out, struct str text, size_t columns);

/* Lines of a text, one by one: broken at its line breaks, then at spaces (which are left
 * out there), beside wide characters, and where all else fails anywhere. A line break at
 * the end adds no line.
 *
 *     struct wrap w = { .rest = text, .columns = 40 };
 *     while (wrap_next(&w, &line)) …
 */
struct wrap {
    struct str rest;
    size_t columns; /* below 2 counts as 2 */
};
bool wrap_next(struct wrap *wrap, struct str *ret);

/* How many lines. */
size_t wrap_count(struct str text, size_t columns);
