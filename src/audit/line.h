/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as lines of JSON: what GET /admin/audit streams, `moot audit export` writes and
 * `moot audit verify` reads. There is exactly one way to write a record:
 *
 *     {"moot_audit":1,"installation":"…","public_key":"…"}                 the first line
 *     {"seq":1,"at":"2026-11-15T18:00:00.000Z","event":"envelope","topic":"room",
 *      "participant":"ann","kind":"chat","id":"1","correlation_id":"…","verdict":"allowed",
 *      "by":"chat","body":{…},"body_bytes":99,"body_hash":"…","hash":"…"}
 *     {"checkpoint":{"seq":1,"at":"…","hash":"…","signature":"…"}}
 *
 * Members that are empty are left out, and so is a body that was removed. Hashes are hex,
 * keys and signatures base64. A line that was not written exactly so is refused.
 */
#pragma once

#include "audit/chain.h"
#include "base/arena.h"
#include "base/buf.h"

struct audit_origin {
    struct str installation;
    uint8_t public_key[ED25519_PUBLIC];
};

enum audit_line_type { AUDIT_LINE_ORIGIN, AUDIT_LINE_RECORD, AUDIT_LINE_CHECKPOINT };

struct audit_line {
    enum audit_line_type type;
    union {
        struct audit_origin origin;
        struct audit_record record; /* views into the text and the arena */
        struct audit_checkpoint checkpoint;
    };
};

/* Each appends a line with its newline. */
void audit_origin_write(const struct audit_origin *origin, struct buf *out);
void audit_record_write(const struct audit_record *record, struct buf *out);
void audit_checkpoint_write(const struct audit_checkpoint *checkpoint, struct buf *out);

/* A line without its newline. ERR_INVALID: *ret_what (static) says what is wrong. */
enum err audit_line_parse(struct str text, struct arena *arena, struct audit_line *ret,
                          const char **ret_what);

/* CSV (RFC 4180) of records: the names, then a row each; the body as JSON text. */
void audit_csv_head(struct buf *out);
void audit_csv_write(const struct audit_record *record, struct buf *out);
