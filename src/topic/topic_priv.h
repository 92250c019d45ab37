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

/* Puts it into the lanes and the ring: topic_append() of what need not wait. */
void topic_enter(struct topic *topic, const struct topic_entry *entry);

/* The lane for who joins so, made with its first user and dropped with its last. */
struct lane *topic_lane_use(struct topic *topic, const struct join *join);
void topic_lane_leave(struct topic *topic, struct lane *lane);

/* Does anybody read presence in this mode and dialect? */
bool topic_has_lane(const struct topic *topic, enum presence_mode presence,
                    enum dialect dialect);

/* Puts a text that is no entry of the log into the lanes of this mode and dialect: what
 * it says stands in the log in another form. */
void topic_append_to(struct topic *topic, enum presence_mode presence,
                     enum dialect dialect, struct str text);

/* A text of the log in dots, behind what is in `out`; of a participant's envelope, or of
 * whatever stands there. */
void spell_dotted(const struct envelope *env, struct buf *out);
void spell_text(struct str text, struct buf *out);

/* Only what passes the strict check is told in dots (D21). */
bool entry_may_be_dotted(const struct entry *entry);

/* The text of a presence entry, in `out`, which is emptied; the same note gives the same
 * text every time. Returns what it says of the participant, a part of `out`. */
struct str presence_write(const struct topic *topic, const struct presence_note *note,
                          enum dialect dialect, struct buf *out);

/* Many presence entries in the form of one. */
struct presence_batch {
    struct buf
        head; /* of the last one: its id is the batch's, so it can be replayed after */
    struct buf elements;
};
void presence_batch_init(struct presence_batch *batch);
void presence_batch_done(struct presence_batch *batch);

/* Adds what the entry of this text says. */
void presence_batch_add(struct presence_batch *batch, struct str entry_text);

/* Writes the text of the batch behind what is in `out`, and empties it. */
void presence_batch_write(struct presence_batch *batch, struct buf *out);
static inline bool presence_batch_is_empty(const struct presence_batch *batch)
{
    return batch->elements.len == 0;
}

/* Presence that enters the log in a row, in one batch for those that want batches. */
struct presence_run {
    struct topic *topic;
    struct presence_batch batches[DIALECT_COUNT];
    struct buf text;
};
void presence_run_begin(struct presence_run *run, struct topic *topic);
void presence_enter(struct presence_run *run, const struct presence_note *note);
void presence_run_end(struct presence_run *run); /* more may follow */
void presence_run_done(struct presence_run *run);

/* The participant's presence may have changed: it is announced with the next flush. */
void presence_changed(struct participant *participant);

/* The roster (see roster.c). Call roster_changed() before the type or the capabilities of
 * a participant change, roster_add() when it was announced, in slashes with this element,
 * and roster_drop() when it has left. */
void roster_changed(struct participant *participant);
void roster_add(const struct participant *participant, struct str element);
void roster_drop(struct topic *topic);

/* A participant gets its first member, or has lost its last. */
void participant_appears(struct participant *participant);
void participant_rest(struct participant *participant, uint64_t now_ms);
