/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of others, made fit for a terminal: whatever they wrote, it moves no cursor,
 * changes no colour, rings no bell, turns no direction and hides nothing.
 *
 * What would do any of it is written the way JSON escapes it, so that it is seen:
 * "\u001b" for ESC, "\u202e" for the override that turns the direction. That are C0, DEL
 * and C1; the marks, embeddings, overrides and isolates of bidirectional text; the
 * separators of lines and paragraphs; everything invisible (Unicode's default ignorables,
 * among them zero-width spaces, joiners and tags); noncharacters; and combining marks
 * that stand at the beginning or are more than a few on top of each other. Bytes that are
 * no UTF-8 become U+FFFD each.
 */
#pragma once

#include "base/buf.h"
#include "base/str.h"

enum plain {
    PLAIN_LINE, /* for one line: breaks and tabs are escaped as well */
    PLAIN_TEXT, /* for many: LF, CR LF (as LF) and tabs stay */
    PLAIN_JSON, /* a JSON text, for one line: what comes out says exactly the same */
};

/* The joiners and variation selectors that belong to an emoji are left out, but for
 * PLAIN_JSON. Grows the text to six times its length at most; stops where `out` is full.
 */
void plain_put(struct buf *out, struct str text, enum plain how);
