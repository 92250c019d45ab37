/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record without a store: a chain of records with some of everything in it, and signed
 * checkpoints, to be damaged. The same in every run.
 */
#pragma once

#include "audit/line.h"
#include "audit/verify.h"
#include "base/arena.h"
#include "base/buf.h"

enum fake_type { FAKE_RECORD, FAKE_CHECKPOINT };

struct fake_entry {
    enum fake_type type;
    union {
        struct audit_record record;
        struct audit_checkpoint checkpoint;
    };
};

struct fake_record {
    struct arena arena;
    struct ed25519_key key;
    struct audit_origin origin;
    struct audit_head head;
    struct fake_entry *entries;
    size_t count, size;
};

void fake_record_init(struct fake_record *fake);
void fake_record_done(struct fake_record *fake);

/* Adds it to the chain; its texts stay valid or are literals. */
void fake_record_add(struct fake_record *fake, struct audit_record record);
void fake_record_sign(struct fake_record *fake);

/* Adds so many, with a checkpoint behind every tenth. */
void fake_record_fill(struct fake_record *fake, size_t count);

/* The entry of that record. */
struct fake_entry *fake_record_at(struct fake_record *fake, uint64_t seq);

/* Takes out, puts in before, swaps: of entries by their place. */
void fake_record_remove(struct fake_record *fake, size_t at);
void fake_record_insert(struct fake_record *fake, size_t at, const struct fake_entry *);

/* The removal of these bodies from the chain's point of view. */
void fake_record_strip(struct fake_record *fake, uint64_t from, uint64_t to);

struct audit_report fake_record_verify(const struct fake_record *fake,
                                       const struct audit_head *expected);

/* As an export; and what verifying one says. */
void fake_record_export(const struct fake_record *fake, struct buf *out);
struct audit_report fake_export_verify(const struct fake_record *fake, struct str text,
                                       const struct audit_head *expected);
