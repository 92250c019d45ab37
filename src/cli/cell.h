/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for people: foreign text in columns. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

/* The text, made plain, and spaces up to `width` characters. Returns how many characters
 * the text has itself. */
size_t cell_put(struct buf *out, struct str text, size_t width);

/* A text that is plain already, from column `at` on: at a terminal that is so many
 * `columns` wide it is broken at spaces and goes on below itself. 0, or little room: on
 * one line. Its own line breaks count as well; there is none at the end. */
void cell_put_wrapped(struct buf *out, struct str plain, size_t at, size_t columns);

/* The text, made plain, of at most `max` characters: what is cut ends with "..". Returns
 * how many there are. */
size_t cell_put_cut(struct buf *out, struct str text, size_t max);
