/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records for people, a line each:
 *
 *     2026-11-15 18:03:44.120  room  alice  chat  allowed  hello
 *
 * Columns grow with what has come, so that lines can be printed as they come. Pure:
 * everything that stands in a record goes through base/plain.h.
 */
#pragma once

#include "audit/record.h"
#include "base/buf.h"
#include "cli/palette.h"

struct audit_look {
    const struct palette *ink;
    size_t columns; /* of a terminal: lines are cut to it, and kinds made short; else 0 */
    bool has_ids;   /* seq, id and correlation_id, whole, at the end */
    size_t topic, who, kind, verdict; /* widths so far */
};

/* Ends with a line break. */
void audit_look_put(struct buf *out, struct audit_look *look,
                    const struct audit_record *record);

/* What the body says, in short and at most `max` characters; returns how many. */
size_t audit_look_put_body(struct buf *out, const struct audit_record *record,
                           size_t max);

/* "2026-11-15 18:03:44.120" by the clock of where we are. */
void audit_look_put_time(struct buf *out, uint64_t at_ms);
