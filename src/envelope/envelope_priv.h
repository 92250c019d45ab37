/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of kinds, for the grammar (kind.c) and the spellings (dialect.c). */
#pragma once

#include "envelope/kind.h"

struct kind_row {
    struct str slash;
    struct str dotted;
    enum kind_type type;
};

enum { PLAIN_KINDS = 19, METHOD_KINDS = 3 };

/* Kinds that are one fixed text. */
extern const struct kind_row plain_kinds[PLAIN_KINDS];

/* The beginnings of kinds that name a METHOD and perhaps a CONTEXT. */
extern const struct kind_row method_kinds[METHOD_KINDS];

/* Forms that other documents have: in either spelling, what is meant in slash; else
 * empty. */
struct str kind_refused(struct str text);
