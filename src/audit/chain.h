/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes the record tamper-evident. A record's hash is SHA-256 over its canonical
 * form, which begins with the hash of the record before:
 *
 *     hash before (32) | seq (8) | at_ms (8) | event (1)
 *     | topic, participant, kind, id, correlation, verdict, by: length (4) and bytes each
 *     | body_bytes (4) | body_hash (32)                     numbers are big-endian
 *
 * The first one stands behind SHA-256("moot audit 1\n" + installation). The body itself
 * is covered by its hash, so it can be removed. A checkpoint signs, with the Ed25519 key
 * of the installation, how far the chain had come and when:
 *
 *     "moot checkpoint 1\n" + installation + "\n" | seq (8) | at_ms (8) | hash (32)
 */
#pragma once

#include "audit/record.h"

enum { AUDIT_INSTALLATION = 32 }; /* characters of its name: random, hex */

/* Where a chain has got to. seq 0: it is empty, and the hash is that of its beginning. */
struct audit_head {
    uint64_t seq;
    uint64_t at_ms;
    uint8_t hash[SHA256_BYTES];
};

struct audit_checkpoint {
    struct audit_head head;
    uint8_t signature[ED25519_SIGNATURE];
};

void audit_chain_begin(struct str installation, struct audit_head *ret);

/* Length and hash of the body, before the record is chained; no body: zeros. */
void audit_seal_body(struct audit_record *record);

/* What the record's hash must be behind this head. */
void audit_hash(const struct audit_head *before, const struct audit_record *record,
                uint8_t ret[static SHA256_BYTES]);

/* Makes it the next one: sets seq, at_ms where the clock has gone back, and hash; moves
 * the head. */
void audit_chain(struct audit_head *head, struct audit_record *record);

void audit_checkpoint_sign(const struct audit_head *head, struct str installation,
                           const struct ed25519_key *key, struct audit_checkpoint *ret);
bool audit_checkpoint_holds(const struct audit_checkpoint *checkpoint,
                            struct str installation,
                            const uint8_t public_key[static ED25519_PUBLIC]);

/* A head as people keep it elsewhere: SEQ:HASH in decimal and hex. ERR_INVALID. */
enum { AUDIT_HEAD_TEXT = 20 + 1 + 2 * SHA256_BYTES };
struct str audit_head_text(const struct audit_head *head,
                           char out[static AUDIT_HEAD_TEXT]);
enum err audit_head_parse(struct str text, struct audit_head *ret);
