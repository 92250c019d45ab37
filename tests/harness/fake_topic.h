/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topic without a network: encodings that no transport uses, members whose connection
 * is a buffer, and a clock that stands still. Presence is announced only where a test
 * flushes it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "policy/capset.h"
#include "topic/topic.h"

/* Four bytes of length, the highest first, then the text. */
extern const struct encoding fake_plain;

/* Only by `encode`: the text with every byte inverted, then a NUL. */
extern const struct encoding fake_inverse;

/* For a room whose owner, and whose members, want to hear of nothing. */
extern const struct topic_ops fake_deaf_topic;
extern const struct member_ops fake_deaf_member;

/* A random sequence that the seed decides. */
struct dice {
    uint64_t state;
};
struct dice dice_of(long seed);
size_t dice_throw(struct dice *dice, size_t sides); /* 0 … sides - 1 */

struct fake_topic {
    struct topic topic;
    struct topic_settings settings;
    struct capsets *capsets;
    struct capset *caps; /* of everybody: chat */
    uint64_t wall_ms;
    uint64_t now_ms;
    uint64_t joined; /* numbers the members */
    size_t dirty_count;
    size_t presence_count;
    uint64_t ticket; /* of what is said and announced */
    size_t held_count;
};

/* NULL: settings that limit nothing. */
void fake_topic_init(struct fake_topic *fake, const struct topic_settings *settings);
void fake_topic_done(struct fake_topic *fake);

struct fake_member {
    struct member member;
    const uint64_t *now_ms; /* the topic's */
    struct buf received;
    struct buf texts;
    size_t ready_count;
    size_t end_count;
    enum member_end why;
    bool leaves_at_end; /* as soon as it is told to */
};

/* Fills what `join` leaves open: participant, ops, number. */
void fake_join(struct fake_topic *fake, struct fake_member *member, struct str id,
               struct join join);
void fake_leave(struct fake_member *member);

/* Tells everyone who has something to pull. */
void fake_wake(struct topic *topic);

/* Takes up to `limit` bytes, in pulls of `spans`; returns how many came. */
size_t fake_read(struct fake_member *member, size_t spans, size_t limit);

/* Takes everything; what came since it was last asked, each text with a line's end. */
struct str fake_texts(struct fake_member *member);

/* What the frames in these bytes say, each with a line's end. */
void fake_decode(const struct encoding *encoding, struct str bytes, struct buf *out);

/* Appends a text whose id is the text itself. `to` ends with an empty str or is NULL. */
void fake_say(struct fake_topic *fake, struct member *sender, struct str text,
              const struct str *to);
