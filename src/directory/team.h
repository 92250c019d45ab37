/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A team as it is kept: who is in it, who was asked, who has gone. Its id is "t-" and 16
 * hexadecimal digits, its topic "team-" and the id; topics that look so belong to teams.
 *
 *     {"name":"Falcon","creator":"scout","created":1794719167000,
 *      "members":[{"resource":"r-1","name":"Ann","participant":"ann","state":"member",
 *                  "capabilities":["chat"]}]}
 *
 * Pure. A record borrows from the text and the arena that it was read with; whoever
 * changes one copies it whole, so nothing is ever half changed.
 */
#pragma once

#include "json/json.h"

enum {
    TEAM_NAME = 256, /* bytes, as the others */
    TEAM_ID = 256,   /* of any text that is asked for; ours are shorter */
    TEAM_CONTRACT = 256,
    TEAM_MEMBERS = 256,     /* in one team, those who have gone included */
    TEAM_CAPABILITIES = 64, /* that a member is granted */
    TEAM_OWN_ID = 18,       /* characters of ours */
    TEAM_TOPIC = 5 + TEAM_OWN_ID,
    TEAM_TEXT = 4 << 20,   /* a record as JSON */
    TEAM_ARENA = 16 << 20, /* enough to read one */
};

enum team_state {
    TEAM_INVITED, /* must accept first */
    TEAM_MEMBER,
    TEAM_DECLINED,
    TEAM_LEFT,
    TEAM_REMOVED,
};
struct str team_state_name(enum team_state state);

struct team_member {
    struct str resource;    /* its id */
    struct str name;        /* as it was called when it was added */
    struct str participant; /* "": it has no contact, and cannot come */
    enum team_state state;
    struct str_list capabilities; /* granted in the topic, or to be */
    uint64_t until_ms;            /* when they end; wall clock, 0: never */
    bool was_granted;             /* not kept: for a while, to whoever looks */
};

struct team_record {
    struct str id;
    struct str name;
    struct str contract_id; /* "": none */
    struct str creator;
    struct str_list capabilities; /* the most that anybody is granted */
    struct team_member *members;
    size_t member_count;
    uint64_t created_ms;   /* wall clock, as all below */
    uint64_t active_ms;    /* something was last said; 0: never */
    uint64_t dissolved_ms; /* 0: it is not */
};

/* Is it one of our ids? And the one of a topic; "": it is no team's. */
bool team_id_is_valid(struct str id);
struct str team_of_topic(struct str topic);
struct str team_topic(struct str id, char out[static TEAM_TOPIC + 1]);

/* NULL: it can be the name of one; else what is wrong with it, without its subject. */
const char *team_name_problem(struct str name);

/* In the team now, or asked to be. */
static inline bool team_member_counts(const struct team_member *member)
{
    return member->state == TEAM_INVITED || member->state == TEAM_MEMBER;
}

/* NULL: there is none. The second looks at those who count alone. */
struct team_member *team_find(const struct team_record *team, struct str resource);
struct team_member *team_find_participant(const struct team_record *team,
                                          struct str participant);

/* May see it: the creator, and whose contacts count. */
bool team_concerns(const struct team_record *team, struct str participant);

/* Adds a member, or takes back one that has gone; where there is no place, one goes that
 * does not count. The record has place for TEAM_MEMBERS. ERR_CONFLICT: it is in it;
 * ERR_OVERLOAD: there are too many. */
enum err team_put(struct team_record *team, const struct team_member *member);

/* Whole, in the arena, to be kept as it is, or with place for TEAM_MEMBERS. ERR_TOO_BIG
 */
enum team_place { TEAM_AS_IT_IS, TEAM_TO_CHANGE };
enum err team_copy(const struct team_record *team, enum team_place place,
                   struct arena *arena, struct team_record *ret);

/* Without the id, which is the key. ERR_INVALID: it was not written by team_write(). */
void team_write(const struct team_record *team, struct buf *out);
enum err team_read(struct str id, struct str text, struct arena *arena,
                   struct team_record *ret);
