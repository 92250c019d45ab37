/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A participant is an id with capabilities in a topic. It is made when someone of that id
 * first comes and outlives its members for a while, so that rates are not shaken off by
 * reconnecting.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/str.h"
#include "policy/capset.h"
#include "policy/profile.h"
#include "topic/member.h"

struct topic;

/* A token bucket; see admit/rate.h. */
struct bucket {
    uint64_t filled_ms;
    uint64_t level; /* thousandths */
};

/* How a participant has behaved; made when it first does something. */
struct conduct {
    struct bucket messages;
    struct bucket bytes;
    uint64_t strikes_since_ms;
    uint64_t strikes; /* rate refusals in the current window */
    uint64_t violations;
    struct participant *participant;
    struct link
        offender_link; /* where those with violations stand together, if they do */
};

/* Kept as long as it has no member. */
struct absence {
    struct link link; /* in topic->absent */
    struct participant *participant;
    uint64_t since_ms;
    uint64_t seen_seq; /* what came next when it was last here, or told of */
};

/* What the others have heard about a participant. */
enum announced { ANNOUNCED_ABSENT, ANNOUNCED_PRESENT };

struct participant {
    struct topic *topic;
    struct str id;               /* in `text` */
    struct capset *capabilities; /* of who came last, for those who look */
    struct conduct *conduct;     /* NULL: it has done nothing yet */
    struct absence *absence;     /* NULL: it has members */
    struct link members;
    struct link pending_link; /* a presence change to be announced */
    uint64_t first_seq;       /* replay never reaches before it */
    uint64_t routing_number;  /* of the last delivery that named it */
    uint32_t member_count;
    uint8_t type;
    uint8_t announced;
    bool is_paused : 1;
    bool is_held : 1;   /* paused by an administrator: others do not resume it */
    bool is_kicked : 1; /* it goes as soon as that is durable, and says nothing more */
    bool is_told : 1;   /* it is here, in the order of what was said; `announced` is what
                         * has been heard of that */
    char text[];
};

/* Idle connections are often as many participants: see docs/PERFORMANCE.md. */
_Static_assert(offsetof(struct participant, text) <= 103, "a participant has grown");

struct participant *participant_find(const struct topic *topic, struct str id);

/* Finds or makes the record; it keeps its own reference on the capset and takes the
 * newest rights. Without a member it counts as absent from now on. */
struct participant *participant_enter(struct topic *topic, struct str id,
                                      enum participant_type type, struct capset *caps,
                                      uint64_t now_ms);

/* What is granted to it, or struck, has changed: every member works out its own anew. */
void participant_renew_rights(struct participant *participant);

/* Its conduct, made where there is none yet. */
struct conduct *participant_conduct(struct participant *participant);

/* An administrator's pause holds until an administrator ends it; a participant's adds
 * nothing to it. Whether somebody else may end one is the caller's question. */
void participant_pause(struct participant *participant, bool is_by_admin);
void participant_resume(struct participant *participant);

/* Ends every member of the participant. */
void participant_end(struct participant *participant, enum member_end why);

/* Frees the record alone; it stands in no list any more. */
void participant_free(struct participant *participant);
