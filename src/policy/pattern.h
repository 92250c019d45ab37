/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capability patterns (D14), compiled once and matched without backtracking.
 *
 *     mcp/proposal:*        `*` at the end: one or more characters of any sort
 *     mcp/r*:tools/call     elsewhere: one or more characters other than ':'
 *
 * All else is literal and case counts. A pattern that names a METHOD covers the same
 * METHOD with any CONTEXT; one that names a CONTEXT never covers the bare METHOD.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct pattern;

enum { PATTERN_MAX_BYTES = 2048 };

/* Owns a copy of the text. ERR_INVALID (empty, control characters, too long) with a
 * static text in *ret_why, which may be NULL. */
enum err pattern_new(struct str text, struct pattern **ret, const char **ret_why);
void pattern_free(struct pattern *pattern);

struct str pattern_text(const struct pattern *pattern);

/* Linear in the length of the kind. */
bool pattern_matches(const struct pattern *pattern, struct str kind);
