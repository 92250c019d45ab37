/* SPDX-License-Identifier: Apache-2.0 */
/* A text from outside inside one of ours for people: short, one line, nothing hidden. */
#pragma once

#include "base/buf.h"
#include "base/str.h"

enum { FOREIGN_BYTES = 200 };

/* At most FOREIGN_BYTES of the text, then "…". */
void foreign_put(struct buf *out, struct str text);
