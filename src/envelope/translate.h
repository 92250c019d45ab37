/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An envelope in the other dialect (D20): the values of `protocol` and `kind` are
 * respelt, every other byte stays what and where it was.
 *
 *     {"id":"1","protocol":"mcpx/draft","kind":"chat.message","from":…}
 *     └─ before ─────────┘└ protocol ┘└ between ┘└── kind ──┘└ after …
 *
 * There and back gives the same bytes, unless one of the two values was written with
 * escapes: then it comes back without those it does not need.
 */
#pragma once

#include <stddef.h>

#include "base/str.h"
#include "envelope/dialect.h"
#include "envelope/envelope.h"

enum { TRANSLATION_PARTS = 5 };

struct translation {
    struct str parts[TRANSLATION_PARTS]; /* borrowed from the text, or in `kind` */
    size_t len;                          /* of all */
    char kind[2 * KIND_MAX_BYTES];       /* in JSON: each byte may need an escape */
};

/* Of a scanned envelope whose kind.text, in slash spelling, is known to be a kind. Stays
 * where it was made, and no longer than the text. */
void translation_init(struct translation *t, const struct envelope *env, enum dialect to);

/* Writes t->len bytes. */
void translation_write(const struct translation *t, char *out);
