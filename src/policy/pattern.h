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

/* Owns a copy of the text. ERR_INVALID (empty, control characters, too long, a `{` at the
 * beginning, which would be an object: capability.h) with a static text in *ret_why,
 * which may be NULL. */
enum err pattern_new(struct str text, struct pattern **ret, const char **ret_why);

/* A pattern for strings in a payload: `*` stands for one or more characters of any sort
 * wherever it stands, nothing is said about methods, and any UTF-8 text will do, the
 * empty one as well. ERR_INVALID as above. */
enum err pattern_new_value(struct str text, struct pattern **ret, const char **ret_why);
void pattern_free(struct pattern *pattern);

struct str pattern_text(const struct pattern *pattern);

/* Dotted if a '.' follows the first word, else slash. */
enum dialect pattern_dialect(struct str text);

/* Does a pattern with this text name a METHOD, so that it covers any CONTEXT of it? */
bool pattern_covers_contexts(struct str text);

/* `kind` is in its slash spelling, whatever the pattern's. Linear in its length. */
bool pattern_matches(const struct pattern *pattern, struct str kind);

/* True only if `held` matches every kind (or value) that `wanted` matches. Both are of
 * the same sort. What cannot be shown for the patterns as they are written is false. */
bool pattern_covers(const struct pattern *held, const struct pattern *wanted);

/* True only if no value is matched by both; both are of pattern_new_value(). */
bool pattern_is_apart(const struct pattern *a, const struct pattern *b);
