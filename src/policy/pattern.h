/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capability patterns (D14), compiled once and matched without backtracking.
 *
 *     mcp/proposal:*        `*` at the end: one or more characters of any sort
 *     mcp/r*:tools/call     elsewhere: one or more characters other than ':'
 *
 * All else is literal and case counts. A pattern that names a METHOD covers the same
 * METHOD with any CONTEXT; one that names a CONTEXT never covers the bare METHOD.
 *
 * A pattern belongs to the spelling it was written in (D20) and is matched with kinds in
 * that spelling: `mcp.*` covers mcp.request.ping and never mcpx.approve.proposal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"
#include "envelope/dialect.h"

struct pattern;

enum { PATTERN_MAX_BYTES = 2048 };

/* Owns a copy of the text. ERR_INVALID (empty, control characters, too long) with a
 * static text in *ret_why, which may be NULL. */
enum err pattern_new(struct str text, struct pattern **ret, const char **ret_why);
void pattern_free(struct pattern *pattern);

struct str pattern_text(const struct pattern *pattern);

/* Dotted if a '.' follows the first word, else slash. */
enum dialect pattern_dialect(struct str text);

/* `kind` is in its slash spelling, whatever the pattern's. Linear in its length. */
bool pattern_matches(const struct pattern *pattern, struct str kind);
