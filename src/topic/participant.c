/* SPDX-License-Identifier: Apache-2.0 */
#include "topic/participant.h"

/*
 * Participants of a topic: found by id, made when someone of that id first comes, kept
 * for a while after the last member has left (rates and the replay bound must not be
 * shaken off by reconnecting).
 */
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"
#include "topic/topic_priv.h"

struct participant *participant_find(const struct topic *topic, struct str id)
{
    return map_find(&topic->participants, id);
}

/* Has no member: goes to the end of those that are to be forgotten some day. */
static void note_absent(struct participant *participant, uint64_t now_ms)
{
    struct absence *absence = participant->absence;

    if (!absence)
        absence = xcalloc(1, sizeof(*absence));
    list_remove(&absence->link);
    *absence = (struct absence){ .participant = participant,
                                 .since_ms = now_ms,
                                 .seen_seq = participant->topic->ring.next_seq };
    list_append(&participant->topic->absent, &absence->link);
    participant->absence = absence;
}

void participant_appears(struct participant *participant)
{
    struct absence *absence = participant->absence;

    participant->absence = NULL;
    list_remove(&absence->link);
    free(absence);
}

static void swap(struct capset **held, struct capset *caps)
{
    struct capset *old = *held;

    *held = caps ? capset_ref(caps) : NULL;
    capset_unref(old);
}

struct participant *participant_enter(struct topic *topic, struct str id,
                                      enum participant_type type, struct capset *caps,
                                      uint64_t now_ms)
{
    struct participant *participant = participant_find(topic, id);

    if (!participant) {
        participant = xcalloc(1, offsetof(struct participant, text) + id.len);
        memcpy(participant->text, id.ptr, id.len);
        participant->id = (struct str){ participant->text, id.len };
        participant->topic = topic;
        participant->first_seq = topic->ring.next_seq;
        list_init(&participant->members);
        map_set(&topic->participants, participant->id, participant);
    }
    if (participant->member_count == 0)
        note_absent(participant, now_ms);
    if (participant->type != type || participant->capabilities != caps)
        roster_changed(participant);
    participant->type = (uint8_t)type;
    swap(&participant->capabilities, caps);
    return participant;
}

void member_set_capabilities(struct member *member, struct capset *caps)
{
    swap(&member->capabilities, caps);
}

void participant_renew_rights(struct participant *participant)
{
    struct member *member;

    LIST_FOREACH(member, &participant->members, peer_link)
        member->ops->on_rights(member);
}

struct conduct *participant_conduct(struct participant *participant)
{
    if (!participant->conduct) {
        participant->conduct = xcalloc(1, sizeof(*participant->conduct));
        participant->conduct->participant = participant;
    }
    return participant->conduct;
}

void participant_pause(struct participant *participant, bool is_by_admin)
{
    participant->is_paused = true;
    participant->is_held |= is_by_admin;
}

void participant_resume(struct participant *participant)
{
    participant->is_paused = false;
    participant->is_held = false;
}

void participant_free(struct participant *participant)
{
    capset_unref(participant->capabilities);
    if (participant->conduct)
        list_remove(&participant->conduct->offender_link);
    free(participant->conduct);
    free(participant->absence);
    free(participant);
}

void participant_end(struct participant *participant, enum member_end why)
{
    struct member *member;

    LIST_FOREACH(member, &participant->members, peer_link) {
        if (member->is_ending)
            continue;
        member->is_ending = true;
        member->ops->on_end(member, why);
    }
}

static void forget(struct participant *participant)
{
    struct topic *topic = participant->topic;

    (void)map_remove(&topic->participants, participant->id);
    list_remove(&participant->absence->link);
    list_remove(&participant->pending_link);
    participant_free(participant);
}

void participant_rest(struct participant *participant, uint64_t now_ms)
{
    note_absent(participant, now_ms);
}

/* The right to see what was said since it was last here must last, as long as the ring
 * holds any of what came before. Entries about its presence need it, too. */
static bool must_stay(const struct participant *participant)
{
    return participant->absence->seen_seq > participant->topic->ring.first_seq;
}

void topic_forget_absent(struct topic *topic, uint64_t before_ms)
{
    struct absence *absence;

    LIST_FOREACH(absence, &topic->absent, link) {
        struct participant *participant = absence->participant;

        if (absence->since_ms > before_ms)
            return;
        if (link_is_set(&participant->pending_link) || must_stay(participant) ||
            hold_names(topic, participant))
            continue;
        forget(participant);
    }
}
