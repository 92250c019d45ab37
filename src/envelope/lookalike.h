/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names that are not a known name and that some reader takes for one (D8): other case,
 * other code points with the same NFKC case fold, invisible characters in between, and a
 * NUL where a reader of C strings stops.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum { LOOKALIKE_MAX = 16 }; /* the longest known name that can be asked for */

/* True if the name, escapes resolved, folds to one of the known ones, which are
 * lower-case ASCII; a known name folds to itself. Control characters and
 * default-ignorable code points are dropped; what stands before a NUL is judged by itself
 * as well. */
bool lookalike_is_any(struct str name, const struct str *known, size_t count);

/* The same for one name of any length in ASCII, whose case does not matter. */
bool lookalike_is(struct str name, struct str known);
