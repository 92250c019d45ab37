/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two spellings of one vocabulary (D20). The gateway thinks in slashes; the dotted
 * spelling (ADR-m3p) appears only where a dotted member speaks or listens.
 *
 *     slash   "protocol":"mcpx/v0.1"    mcp/request:tools/call:x   chat           a/b/c
 *     dotted  "protocol":"mcpx/draft"   mcp.request.tools/call:x   chat.message   a.b.c
 *
 * The mapping is a bijection on kinds: rows of the one table of kinds (kind.c), and words
 * joined by the separator for everything else.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "envelope/kind.h"

enum dialect { DIALECT_SLASH, DIALECT_DOTTED };

enum { DIALECT_COUNT = DIALECT_DOTTED + 1 };

/* "slash", "dotted": the values of the option `dialect`. */
struct str dialect_name(enum dialect dialect);
bool dialect_parse(struct str name, enum dialect *ret);

static inline enum dialect dialect_other(enum dialect dialect)
{
    return dialect == DIALECT_SLASH ? DIALECT_DOTTED : DIALECT_SLASH;
}

/* What stands in the field `protocol`. */
struct str dialect_protocol(enum dialect dialect);

/* The name of the WebSocket subprotocol. */
struct str dialect_subprotocol(enum dialect dialect);

/*
 * A kind in its other spelling, in `space` (KIND_MAX_BYTES) unless it is the same. Goes
 * for what the gateway itself says (`system/…`) as well. ERR_MALFORMED_KIND: the text is
 * not of that dialect. What kind_parse() refuses is refused in both spellings: a slash
 * text made from dotted still has to pass it.
 */
enum err kind_to_dotted(struct str slash, char *space, struct str *ret);
enum err kind_to_slash(struct str dotted, char *space, struct str *ret);

/* From slash into the dialect given; a text that is no kind stays as it is. */
struct str kind_in(struct str slash, enum dialect dialect, char *space);

/*
 * What someone who speaks `dialect` should have written instead of `text`, which is no
 * kind there: it is one in the other spelling, or one of the forms that other documents
 * have and this protocol does not (`chat.message.text`, `proposal/withdraw`). Else empty.
 * Static or in `space`.
 */
struct str kind_meant(struct str text, enum dialect dialect, char *space);
