/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lane is one form of a topic's log, in one encoding, with presence in one mode and in
 * one dialect: a stream of finished frames in reference-counted blocks, written once and
 * then immutable. All members that want the same form read the same bytes; a member is a
 * cursor into them.
 *
 *     block 0            block 1            block 2 (tail)
 *     [frame|frame|frame][frame|frame|frame][frame|frame|……room……]
 *            ▲ a slow member's cursor               ▲ end = visible
 *
 * A block holds a reference on the next one, so whoever holds a block holds all that
 * follows. The topic does not know how frames look: an `encoding`, supplied by the door,
 * does.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "envelope/dialect.h"

/* How a text becomes a frame. An encoding with `head_size` stands in front of the
 * untouched text, which is then stored once and for all; any other encodes into a buffer.
 */
struct encoding {
    size_t (*head_size)(size_t text_len);
    void (*head_write)(char *out, size_t text_len);
    enum err (*encode)(const struct encoding *self, struct str text, struct buf *out);
};

/* How presence appears: each change by itself, all of a flush in one frame, not at all.
 */
enum presence_mode { PRESENCE_EACH, PRESENCE_BATCH, PRESENCE_OFF };

struct block {
    struct block *next; /* one reference */
    uint64_t base;      /* offset of the first byte in the lane */
    uint32_t refs;
    uint32_t size;
    uint32_t used;
    char bytes[];
};

struct block *block_new(size_t size, uint64_t base);
struct block *block_ref(struct block *block);
void block_unref(struct block *block);

struct lane {
    const struct encoding *encoding;
    struct block *tail;   /* one reference; never NULL */
    struct block *spare;  /* follows once something in it is committed; or NULL */
    uint64_t end;         /* ordered up to here */
    uint64_t visible;     /* may be sent up to here */
    struct link readers;  /* members that read every entry */
    struct link *next;    /* the reader told next; `readers` itself: the first one */
    struct link directed; /* members that are handed what concerns them, */
    struct link ready;    /* and those of them that have something new */
    size_t reader_count;
    size_t untold; /* readers, from `next` on, who do not know of all that is visible */
    size_t user_count;    /* members of any routing */
    bool is_readers_turn; /* to be told, not that of the ready ones */
    struct link link;     /* among the topic's lanes */
    enum presence_mode presence;
    enum dialect dialect;
};

void lane_init(struct lane *lane, const struct encoding *encoding);
void lane_done(struct lane *lane);

/* Room for `size` contiguous bytes at the end; written by the caller, then committed with
 * the same size. Nothing is added before lane_commit(), so refused texts, however many
 * and large, cost one spare block; readers at the end do not get to hold it. */
char *lane_reserve(struct lane *lane, size_t size);
void lane_commit(struct lane *lane, size_t size);

/* Everything committed may now be sent, and every reader is to be told. */
static inline void lane_show(struct lane *lane)
{
    lane->visible = lane->end;
    lane->untold = lane->reader_count;
}

/* Readers are told in rounds: each time from where the last round stopped, so that one of
 * a crowd waits no longer than another, and a new entry costs no walk over all of them.
 */
void lane_seat(struct lane *lane, struct link *reader);
void lane_unseat(struct lane *lane, struct link *reader);

/* The round goes on with this one; all others keep their places. Call after lane_show().
 */
void lane_put_first(struct lane *lane, struct link *reader);

/* The next reader who has not been told, or NULL. */
struct link *lane_next_untold(struct lane *lane);
