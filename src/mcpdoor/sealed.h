/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client carries for us and cannot read, change or give away: the id of a legacy
 * session, the requestState and taskId of a call that waits. A sealed box (crypto.h) in
 * base64url, bound to the topic, to the participant and to its use; whoever has the key
 * recognises it, after a restart and on another machine as well.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "crypto/crypto.h"

enum sealed_use { SEALED_VISIT, SEALED_STATE, SEALED_TASK };

enum { SEALED_MAX = 160 }; /* characters */

/* Written as 48 bytes. */
struct sealed {
    uint64_t number;     /* of the visit or the wish, unique within `boot` */
    uint64_t boot;       /* which life of which gateway made it, random */
    uint64_t created_ms; /* wall clock */
    uint32_t can;        /* SEALED_VISIT: enum client_can */
    uint8_t version;     /* … index in mcp_versions */
    int level;           /* … of messages when it was made; -1: none */
    uint8_t digest[16];  /* SEALED_STATE: of what was asked (wish.h) */
};

struct sealer {
    uint8_t key[SEAL_KEY];
    struct str topic;
};

void sealed_put(const struct sealer *sealer, enum sealed_use use, struct str participant,
                const struct sealed *sealed, struct buf *out);

/* ERR_INVALID: forged, foreign, of another use, topic or participant. In constant time
 * but for its length. */
enum err sealed_read(const struct sealer *sealer, enum sealed_use use,
                     struct str participant, struct str text, struct sealed *ret);
