/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the ring: what replays and polls take from it. Who reads in dots gets texts
 * that are translated, and only those that pass the strict check (D20, D21).
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "envelope/dialect.h"
#include "topic/member.h"
#include "topic/ring.h"

struct topic;

/* The text of an entry: where it stands in the log, or (presence, and in dots) written
 * again into `out`, which is emptied. */
struct str topic_entry_text(const struct topic *topic, const struct entry *entry,
                            enum dialect dialect, struct buf *out);

/* What a participant said, kept in slashes elsewhere than in the log, for a reader of the
 * dialect: itself, or in `out`, which is emptied; "" where it may not be told in it. */
struct str topic_text_in(struct str text, enum dialect dialect, struct buf *out);

/* Someone who reads the ring. */
struct entry_reader {
    struct str id;
    enum routing routing;
    enum dialect dialect;
};

/* Does the entry concern this reader, and may it be told in this dialect? */
bool topic_entry_concerns(const struct topic *topic, const struct entry *entry,
                          const struct entry_reader *reader);
