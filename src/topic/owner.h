/* SPDX-License-Identifier: Apache-2.0 */
/* What whoever owns a topic tells it, and is told by it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct presence_note;
struct topic;

enum duplicate { DUPLICATE_SHARE, DUPLICATE_REPLACE, DUPLICATE_REFUSE };

struct topic_settings {
    enum duplicate duplicate;
    size_t ring_messages;
    size_t ring_bytes;
    size_t outbox_soft;
    size_t outbox_hard;
    size_t max_members;
    size_t max_members_each; /* of one participant */
    bool announces_violations;
};

struct topic_ops {
    /* Something became visible: call topic_wake() until everyone knows. */
    void (*on_dirty)(struct topic *topic);
    /* Presence changes wait: call topic_flush_presence() within the delay. */
    void (*on_presence)(struct topic *topic);
    /* The time, for what the gateway itself says in the room. */
    uint64_t (*wall_ms)(const struct topic *topic);
    /* Presence is about to be announced; returns the ticket it waits for, 0: none. May be
     * NULL, like the next ones where tickets are never given. */
    uint64_t (*on_announce)(struct topic *topic, const struct presence_note *note);
    /* Something is held: call topic_release() when its ticket is due. */
    void (*on_held)(struct topic *topic);
    /* See topic_hold_turn(). */
    void (*on_turn)(struct topic *topic, struct str id);
};
