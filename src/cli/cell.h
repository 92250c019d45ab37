/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for people: foreign text in columns. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

/* The text, made plain, and spaces up to `width` characters. Returns how many characters
 * the text has itself. */
size_t cell_put(struct buf *out, struct str text, size_t width);

/* The text, made plain, of at most `max` characters: what is cut ends with "..". Returns
 * how many there are. */
size_t cell_put_cut(struct buf *out, struct str text, size_t max);
