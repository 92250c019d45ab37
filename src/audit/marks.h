/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an index finds records by besides the words of their bodies: a mark for everything
 * that a question can ask for (":t2f6b0c91d0aa" for a topic). No word holds a colon, so
 * marks and words stand side by side in one index.
 *
 * A mark is the beginning of a hash, and kinds have marks only for the beginnings that
 * end with / or : — so what an index finds are candidates, which audit_query_fits()
 * checks.
 */
#pragma once

#include "audit/query.h"
#include "base/buf.h"

enum { AUDIT_MARK = 2 + 12 };

/* Appends those of a record, each with a space behind it. */
void audit_marks(const struct audit_record *record, struct buf *out);

/* The same for those that a record must have to fit; `thread` is left out. */
void audit_query_marks(const struct audit_query *query, struct buf *out);

/* What records have whose id or correlation_id this is, written to `out`. */
struct str audit_link_mark(struct str id, char out[static AUDIT_MARK]);
