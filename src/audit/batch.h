/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as one flat block of memory: what a worker hands to the writer, and a reader to
 * a worker. Adding copies; reading gives views into the block.
 */
#pragma once

#include "audit/record.h"
#include "base/buf.h"

struct audit_batch {
    struct buf bytes;
    size_t count;
};

void audit_batch_init(struct audit_batch *batch);
void audit_batch_done(struct audit_batch *batch);
void audit_batch_clear(struct audit_batch *batch);

void audit_batch_add(struct audit_batch *batch, const struct audit_record *record);

/* Walks: begin with *at = 0; false at the end. Valid as long as the batch is unchanged.
 */
bool audit_batch_next(const struct audit_batch *batch, size_t *at,
                      struct audit_record *ret);
