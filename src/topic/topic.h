/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topic is a room: one append-only log with one order, the participants known in it and
 * their members. It knows no transport and reads no clock; everything about it happens on
 * one thread.
 *
 *     append ─► native lane (text behind its frame head) ─► ring (index) ─► cursors
 *            └► other lanes (encoding × presence mode × dialect), encoded once each
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "envelope/envelope.h"
#include "topic/hold.h"
#include "topic/member.h"
#include "topic/owner.h"
#include "topic/participant.h"
#include "topic/ring.h"

struct topic;

/* Someone who waits for the next entry (long polls). */
struct waiter {
    struct link link;
    void (*on_entry)(struct waiter *self);
};

struct topic {
    struct str name; /* owned by the creator, outlives the topic */
    const struct topic_ops *ops;
    const struct topic_settings *settings;
    struct lane native;
    struct link lanes; /* all others */
    struct ring ring;
    struct hold *hold; /* what is not in the log yet; NULL: nothing ever was */
    struct map participants;
    struct link absent;  /* absences, the longest first */
    struct link pending; /* participants whose change is to be announced */
    struct link waiters;
    struct link due; /* waiters for whom something has come */
    size_t member_count;
    size_t present_count;
    size_t dotted_count;                  /* members that read dots */
    struct block *rosters[DIALECT_COUNT]; /* see roster.c; NULL: not written since it last
                                           * changed */
    uint64_t routing_number;              /* of the last delivery to named participants */
    uint64_t system_count;                /* numbers the gateway's own envelopes */
    char system_prefix[20];               /* "sys-" and random: makes their ids unique */
    unsigned told;                        /* members, while waiters were due */
    bool is_lanes_turn;                   /* to be told, not that of the native one */
    bool is_dirty;
    bool roster_was_used; /* since the last sweep */
};

struct topic_setup {
    struct str name;
    const struct encoding *native;
    const struct topic_settings *settings;
    const struct topic_ops *ops;
};

void topic_init(struct topic *topic, const struct topic_setup *setup);
void topic_done(struct topic *topic); /* without members */

/* --- who is here --- */

/* Forgets participants absent since before `before_ms` of whom nothing must be kept. */
void topic_forget_absent(struct topic *topic, uint64_t before_ms);

struct join {
    struct participant *participant;
    const struct member_ops *ops;
    const struct encoding *encoding; /* NULL: the native one */
    enum routing routing;
    enum presence_mode presence;
    enum dialect dialect;
    bool wants_echo;
    uint64_t now_wall_ms;
    uint64_t number;
};

/* Could this participant get one more member? ERR_CONFLICT (D5 refuse), ERR_OVERLOAD. */
enum err topic_may_join(const struct topic *topic, struct str id);

/* Adds a member at the end of the log. Its participant is at first present only for
 * itself: send the welcome, then the next topic_flush_presence() tells the room. */
void topic_join(struct topic *topic, struct member *member, const struct join *join);

/* Everything after this entry comes first, from the ring. Returns false if the id is not
 * there (any more): a gap, after which all that is left comes. Call after the welcome. */
bool member_replay_after(struct member *member, struct str id);

void member_leave(struct member *member, uint64_t now_ms);

/* NULL after member_leave(). */
static inline struct topic *member_topic(const struct member *member)
{
    return member->participant ? member->participant->topic : NULL;
}

/* The rights of this connection alone: two tokens of one id may differ. */
void member_set_capabilities(struct member *member, struct capset *caps);

void member_set_routing(struct member *member, enum routing routing);

/* A frame for this member alone that says who else is here: the others that have been
 * announced, as {"id":…},…, stand at `at` in the text. Who is pending comes as an entry.
 * The list is shared by all that get it, does not count towards the marks, and the frame
 * is always of the native encoding. */
void member_send_roster(struct member *member, struct str text, size_t at);

/* Drops the shared list if nobody has needed it since this was last called. */
void topic_sweep_roster(struct topic *topic);

/* --- what is said --- */

/* Where the text of the next envelope should be put; valid until something is appended.
 * Flush presence before. */
char *topic_reserve(struct topic *topic, size_t text_len);

struct topic_entry {
    struct str text; /* in slash spelling; in the reserved place, or anywhere else */
    const struct envelope *env; /* as it came, in slashes or in dots; or NULL */
    uint64_t id_hash;           /* ring_hash() of its id */
    const struct str *to;
    size_t to_count;
    struct str also;       /* a participant reached besides, D17; "" for none */
    struct member *sender; /* NULL: the gateway, or a poster */
    const struct presence_note *presence; /* what the text was made from; NULL: no such */
    enum dialect dialect;                 /* of env */
    bool was_checked;                     /* the payload says what the kind says (D21) */
    uint64_t ticket; /* it is held until this is released; 0: it need not wait */
};

/* The only way into the log; admission has been decided. What has a ticket, or comes
 * behind what has one, is held until then. */
void topic_append(struct topic *topic, const struct topic_entry *entry);

/* Does anything wait for its ticket (hold.h), and how much? */
static inline bool topic_is_holding(const struct topic *topic)
{
    return topic->hold && topic->hold->count;
}
static inline size_t topic_held_bytes(const struct topic *topic)
{
    return topic->hold ? topic->hold->bytes : 0;
}

/* Announces what changed since the last time, as system/presence envelopes; returns how
 * many. */
size_t topic_flush_presence(struct topic *topic);
static inline bool topic_has_pending_presence(const struct topic *topic)
{
    return !list_is_empty(&topic->pending);
}

/* A fresh id for an envelope of the gateway, in `out`; borrowed from it. And the one that
 * presence of this number has. */
enum { SYSTEM_ID = 44 };
struct str topic_system_id(struct topic *topic, char out[static SYSTEM_ID]);
struct str topic_presence_id(const struct topic *topic, const struct presence_note *note,
                             char out[static SYSTEM_ID]);

/* Tells up to *budget members that there is something to pull, judges the slow ones, and
 * takes those told off the budget. Where it runs out the round goes on next time. Returns
 * whether everyone knows. */
bool topic_wake(struct topic *topic, size_t *budget);

/* Nobody is here, nobody waits. */
static inline bool topic_is_deserted(const struct topic *topic)
{
    return topic->member_count == 0 && list_is_empty(&topic->waiters) &&
           list_is_empty(&topic->due);
}

void topic_wait(struct topic *topic, struct waiter *waiter);
void waiter_cancel(struct waiter *waiter);
