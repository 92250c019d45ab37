/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rooms on a worker: a topic with its ledger, its timers and its place in the worker's
 * lists. Made when someone first enters, kept for a while after the last has left (so
 * that a lone member can reconnect and replay), then forgotten.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "admit/admit.h"
#include "approval/petitions.h"
#include "base/list.h"
#include "envelope/system.h"
#include "gateway/switches.h"
#include "gateway/worker.h"
#include "identity/identity.h"

struct live_room {
    struct room room;
    struct worker *worker;
    const struct room_settings *settings;
    struct link dirty_link;
    struct link linger_link;
    struct link held_link; /* among recorder.held_rooms */
    struct link gap_link;  /* among recorder.gap_rooms, while records were dropped: */
    uint64_t dropped;      /* so many, not yet told */
    size_t linger_bytes;   /* of envelopes, as counted while it lingers */
    struct loop_timer presence_timer;
    struct loop_timer proposal_timer; /* the next proposal expires, or there is news: */
    struct link proposal_news;        /* of proposals, not yet told; see proposals.h */
    uint64_t proposal_due_ms;         /* wall clock; none expires before */
    uint64_t empty_since_ms;
    uint64_t active_ms;         /* something was last said or changed here; wall clock */
    struct standings standings; /* pauses and bars here */
    struct switches switches;
    struct petitions petitions; /* calls to be authorized; they go with the room */
    size_t rule_weight;         /* of its rules, see rulebooks.h */
    size_t pledged;             /* what its open proposals weigh, see state.h */
    bool was_told_strict;       /* the room has heard that validation is strict */
    char name[];
};

static inline struct live_room *live_room_of(struct topic *topic)
{
    return CONTAINER_OF(topic, struct live_room, room.topic);
}

/* The values of the option `presence`, by enum presence_mode. */
extern const struct str presence_names[PRESENCE_OFF + 1];

struct live_room *room_find(const struct worker *worker, struct str topic);

/* The settings in force for a topic, whether anybody is there or not; NULL: topics are
 * closed and this one is not named. */
const struct room_settings *room_settings_of(const struct worker *worker,
                                             struct str topic);

/* Finds or makes the room. ERR_NOT_FOUND: topics are closed and this one is not named;
 * ERR_OVERLOAD: there are too many. */
enum err room_open(struct worker *worker, struct str topic, struct live_room **ret);

/* May this identity come in, as far as the topic is concerned? As room_settings_admit();
 * and ERR_NOT_FOUND if it is the topic of a team to which it does not belong. */
enum err room_admit(const struct worker *worker, struct str topic,
                    const struct identity *identity);

/* The same; and ERR_FORBIDDEN if it is barred after a kick. */
enum err room_may_enter(const struct worker *worker, const struct live_room *room,
                        const struct identity *identity);

/* The same of a topic that may have no room: with the standings of its room, or those
 * that are parked. */
enum err room_may_pass(const struct worker *worker, struct str topic,
                       const struct standings *standings,
                       const struct identity *identity);

/* What an identity may do in a topic now: what its credential says, without what was
 * struck, with what was granted. Borrowed from these and from the arena; valid until
 * either changes. */
struct str_list room_capabilities(const struct worker *worker, struct str topic,
                                  const struct identity *identity, struct arena *arena);

/* The participant record of an identity, with the capabilities in force now. */
struct participant *room_participant(struct live_room *room, struct identity *identity);

/* Call when a member or visitor has left: starts the linger when the room is empty. */
void room_left(struct live_room *room);

/* Someone is here, or waits for what comes: the room stays. */
void room_stay(struct live_room *room);

/* Forgets what has lingered long enough; a part of it each time, where there is much. */
void rooms_sweep(struct worker *worker);

/* Tells up to `max` members of rooms in which something was said, each room in its turn.
 * Returns how many. */
size_t rooms_wake_some(struct worker *worker, size_t max);

void room_free(struct live_room *room);

/* Announces what is pending: before anything is said, and when it has waited enough. */
void room_flush_presence(struct live_room *room);

/* What waits for no later ticket than this goes into the log. */
void room_release(struct live_room *room, uint64_t durable);

/* Sends the system/welcome to a member. */
void room_welcome(struct live_room *room, struct member *member);

/* What is done to a participant here, whether it is present or not: kept out for a while,
 * and removed as soon as that is durable; paused, until someone resumes it. */
void room_kick(struct live_room *room, struct str id);
void room_expel(struct live_room *room, struct str id); /* removed alone */
void room_pause(struct live_room *room, struct str id, bool is_by_admin);
void room_resume(struct live_room *room, struct str id);

/* A fresh welcome to every member of the participant, when what has changed is durable.
 */
void room_welcome_again(struct live_room *room, struct participant *participant);

/* Tells the room if payloads are looked into from now on, or no longer (D21). Call when
 * someone has come or left, and when the settings have changed. */
void room_tell_validation(struct live_room *room);

/*
 * What the gateway says to the whole room; it stands in the log like everything else.
 *
 *     announcement_begin(&say, room, &(struct system_head){ .kind = S("system/…") });
 *     json_put_str(&say.w, …);                      the members of the payload
 *     announcement_end(&say);
 *
 * The head's `id` and `wall_ms` are filled in. What stands in topic_reserve()'s place is
 * lost at the end, so begin after it was read.
 */
struct announcement {
    struct live_room *room;
    struct json_writer w;
    struct buf out;
    struct str kind;
    struct str id; /* in `id_text` */
    char id_text[SYSTEM_ID];
    struct str correlation; /* in the next */
    char correlation_text[ENVELOPE_MAX_ID];
};

void announcement_begin(struct announcement *say, struct live_room *room,
                        const struct system_head *head);
void announcement_end(struct announcement *say);

/* Begins a system/notice {"notice":NAME,"message":…}, which people in the room should
 * see; more members may follow before announcement_end(). */
void notice_begin(struct announcement *say, struct live_room *room, struct str name,
                  struct str message);

/* What follows from a refusal: a violation is noted, and told to the room where the topic
 * says so; and that the loop guard holds. */
void room_hear_refusal(struct live_room *room, const struct admission *admission,
                       const struct refusal *refusal);
