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

/* For names of up to LOOKALIKE_LONG bytes of ASCII, and for whoever compares with many of
 * them: what a name folds to. */
enum { LOOKALIKE_LONG = 64 };

struct lookalike_fold {
    char text[LOOKALIKE_LONG];
    size_t len;
};

/* Folds on, behind what is folded already, up to a NUL or the end. `*rest` is then what
 * follows the NUL; its ptr is NULL at the end. False: it cannot become such a name. */
bool lookalike_fold(struct str *rest, struct lookalike_fold *fold);
