/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. */
#pragma once

#include "topic/topic.h"

/* Adds a part of a shared block, or extends the last slice by it. */
void member_add_slice(struct member *member, struct block *block, uint32_t from,
                      uint32_t to);

/* Closes what is visible but not yet sent into a slice: the cursor moves to the end. */
void member_close_open(struct member *member);

/* Lets the cursor jump over the entry that was just appended. */
void member_skip_last(struct member *member, size_t frame_len);

/* Takes or leaves the place among readers or directed members; replaying ones have none.
 */
void member_seat(struct member *member);
void member_unseat(struct member *member);

/* Puts the cursor at the end of the lane. */
void member_go_live(struct member *member);

/* Drops everything queued. */
void member_clear(struct member *member);

/* Fills the outbox of a replaying member from the ring, up to a block at a time. */
void member_replay_more(struct member *member);

/* Frames of the member's own that the marks of D18 do not count. */
void member_add_exempt(struct member *member, struct str frames);

/* Parts of blocks that others hold as well. */
struct shared_part {
    struct block *block;
    uint32_t from, to;
};

struct shared_parts {
    const struct shared_part *items;
    size_t count;
};

/* Sends the text as a frame of the native encoding, with the parts put in at `at`. They
 * are kept by reference even while the member is blocked, and do not count. */
void member_send_around(struct member *member, struct str text, size_t at,
                        struct shared_parts parts);

void topic_mark_dirty(struct topic *topic);

/* The lane of an encoding, made with its first user and dropped with its last. */
struct lane *topic_lane_use(struct topic *topic, const struct encoding *encoding);
void topic_lane_leave(struct topic *topic, struct lane *lane);

/* The participant's presence may have changed: it is announced with the next flush. */
void presence_changed(struct participant *participant);

/* The roster (see roster.c). Call roster_changed() before the type or the capabilities of
 * a participant change, roster_add() when it was announced with this element, and
 * roster_drop() when it has left. */
void roster_changed(struct participant *participant);
void roster_add(struct topic *topic, struct str element);
void roster_drop(struct topic *topic);

/* A participant gets its first member, or has lost its last. */
void participant_appears(struct participant *participant);
void participant_rest(struct participant *participant, uint64_t now_ms);
