/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a chain, record by record from the first, wherever they come from: the store, a
 * copy of it, an export. What is damaged is found at the first record that does not fit;
 * everything before it holds.
 *
 * Somebody who can write may compute hashes anew, but not signatures: where the chain
 * does not lead to what a checkpoint, or the expected head, says, what holds is what the
 * checkpoint before has covered. Without a checkpoint in between nothing is lost: the
 * next one covers as much. What was cut off behind the last one only an expected head can
 * tell.
 */
#pragma once

#include "audit/chain.h"

struct audit_report {
    uint64_t records;       /* that hold: from the first on */
    uint64_t bytes;         /* of bodies looked at */
    uint64_t checkpoints;   /* that hold */
    uint64_t removed;       /* bodies, by retention */
    struct audit_head head; /* of the last record that holds */
    uint64_t covered;       /* the last record behind which a checkpoint stands */
    uint64_t uncovered;     /* records behind that: only an external head covers them */
    bool is_damaged;
    uint64_t bad_seq; /* the record that does not hold, or should be here; or the first
                       * whose body is missing without a reason, and the chain holds */
    char what[160];   /* is wrong with it */
};

struct audit_verifier;

/* `expected` (may be NULL) is a head that was kept elsewhere. */
struct audit_verifier *audit_verifier_new(struct str installation,
                                          const uint8_t public_key[static ED25519_PUBLIC],
                                          const struct audit_head *expected);
void audit_verifier_free(struct audit_verifier *verifier);

/* False: it does not hold, and nothing further needs to be looked at. */
bool audit_verify_record(struct audit_verifier *verifier,
                         const struct audit_record *record);

/* Directly behind the record that it is of. */
bool audit_verify_checkpoint(struct audit_verifier *verifier,
                             const struct audit_checkpoint *checkpoint);

/* What comes next could not be read at all. */
void audit_verify_unreadable(struct audit_verifier *verifier, const char *what);

/* The end has been reached: whether bodies are missing that no retention record covers,
 * and whether the expected head was passed. */
void audit_verify_end(struct audit_verifier *verifier, struct audit_report *ret);
