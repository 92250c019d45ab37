/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said for a recorded envelope when it is replayed: something that looks the same
 * and does nothing. A chat stays one; every other kind gets `replay/` before it, which
 * nobody executes, and loses what stands behind its colon, which such kinds cannot have.
 * `replay_of` says whose it was: from, id, ts, and where they are lost, kind and to.
 * Ids are new, and what referred to one that was replayed refers to the new one. Pure.
 */
#pragma once

#include "audit/record.h"
#include "base/buf.h"
#include "base/map.h"

enum { REPLAY_IDS = 1'000'000 };

struct replay {
    struct map ids;  /* old id: struct replay_id */
    struct buf kind; /* of what is to be sent, as the next three */
    struct buf payload;
    struct buf members;
    const char *correlation_id; /* NULL: none */
};

void replay_init(struct replay *replay);
void replay_done(struct replay *replay);

/* ERR_NOT_FOUND: it was no envelope, or its body is gone. ERR_INVALID: it is none that
 * could be sent. */
enum err replay_prepare(struct replay *replay, const struct audit_record *record);

/* What was prepared for it has been sent as `id`. */
void replay_note(struct replay *replay, const struct audit_record *record,
                 const char *id);
