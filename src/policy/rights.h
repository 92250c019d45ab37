/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rights that changed at run time: grants and strikes of a participant, in one topic or
 * in all. The admin endpoint and capability/grant and capability/revoke in a room work on
 * the same records.
 *
 * All changes of a table have one order. A strike takes what it names from the credential
 * and from whatever was granted before it; what is granted later is not struck:
 *
 *     in force = (the credential's own − strikes) + (grants − later strikes)
 *
 * Grants that may be used only so often are no part of that: they are asked when nothing
 * else allows. Pure: the time, wall clock, is an argument. Each worker has its own table.
 * keeping.h has what outlives it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "policy/capability.h"

enum {
    RIGHTS_MAX_GRANTS = 256, /* in a record, as the next */
    RIGHTS_MAX_STRIKES = 1024,
    RIGHTS_MAX_CAPABILITIES = 1024,  /* in all its grants together */
    RIGHTS_MAX_OBJECTS = 64,         /* of these: each may look through a payload */
    RIGHTS_RECORD_BYTES = 256 << 10, /* welcomes repeat the texts */
    RIGHTS_TOPICS_BYTES = 64 << 20,  /* in the records of single topics */
};

/* Who said it. Each has room of its own, so that what participants say to each other
 * never stands in an administrator's way. */
enum rights_origin { RIGHTS_IN_ROOM, RIGHTS_BY_ADMIN, RIGHTS_ORIGINS };

struct rights;
struct rights_record;

/* Whose, and where: topic "" stands for all topics. */
struct rights_key {
    struct str topic;
    struct str id;
};

struct grant {
    struct link link;         /* in its record, the oldest first */
    struct link expiry_link;  /* among those that expire, the next first */
    struct rights_key holder; /* texts live as long as the grant */
    struct rights_record *record;
    struct str id;
    struct str granter;
    struct str reason;
    struct str_list capabilities; /* shrinks as they are struck */
    struct capability **compiled; /* the same */
    uint64_t order;               /* no other change has the same */
    uint64_t created_ms;
    uint64_t expires_ms; /* 0: never */
    uint64_t max_uses;   /* 0: any number */
    uint64_t uses;
    bool is_told; /* the room heard of it, and hears of its end */
    enum rights_origin origin;
    size_t bytes;
    struct str *texts;
};

enum strike_reach {
    STRIKE_SAME,    /* the same text */
    STRIKE_COVERED, /* everything that it covers */
};

struct strike {
    struct link link; /* in its record, the oldest first */
    struct capability *capability;
    struct str text;
    struct str by;
    struct str reason;
    enum strike_reach reach;
    enum rights_origin origin;
    uint64_t order;
    uint64_t created_ms;
    size_t bytes;
};

struct rights *rights_new(void);
void rights_free(struct rights *rights);

/* The credentials there are, so that strikes which take nothing from any can make room.
 * Gives those of a participant one by one: start with *at = 0; false at the end. */
struct rights_credentials {
    bool (*next)(const struct rights_credentials *self, struct str id, size_t *at,
                 struct str_list *ret_own);
};
void rights_set_credentials(struct rights *rights,
                            const struct rights_credentials *credentials);

/* --- changing --- */

/* So many places in the order, behind all changes of this table so far and behind what
 * other tables did before that time; the first of them. For a change that several tables
 * make: they must agree about what came first. */
uint64_t rights_reserve(struct rights *rights, uint64_t now_ms, size_t count);

struct grant_terms {
    struct str id; /* unique among those of the same holder */
    struct str granter;
    struct str reason;
    struct str_list capabilities; /* checked before */
    uint64_t order;               /* 0: behind all others */
    uint64_t created_ms;
    uint64_t expires_ms;
    uint64_t max_uses;
    bool is_told;
    enum rights_origin origin;
};

/* Copies the terms. ERR_CONFLICT: there is such an id; ERR_OVERLOAD: too many grants or
 * capabilities; ERR_INVALID: a bad capability. The first only asks, and does not look for
 * bad ones. */
enum err rights_may_grant(const struct rights *rights, struct rights_key holder,
                          const struct grant_terms *terms);
enum err rights_grant(struct rights *rights, struct rights_key holder,
                      const struct grant_terms *terms);

struct strike_terms {
    struct str by;
    struct str reason;
    struct str_list capabilities;
    enum strike_reach reach;
    uint64_t order; /* of the first, the others follow; 0: behind all others */
    uint64_t created_ms;
    enum rights_origin origin;
};

/* Takes them away: here, or (topic "") everywhere. A record always has room for what
 * takes something: where it is full, strikes go that take nothing, or nothing more than
 * others do, from the credentials there are now. ERR_OVERLOAD: all topics together have
 * too much; others may still strike when somebody may no longer strike himself. */
enum err rights_may_strike(const struct rights *rights, struct rights_key holder,
                           const struct strike_terms *terms);
enum err rights_strike(struct rights *rights, struct rights_key holder,
                       const struct strike_terms *terms);

/* The grant of that id with exactly this holder, or NULL. */
struct grant *rights_find(const struct rights *rights, struct rights_key holder,
                          struct str grant_id);

/* Counts a use. */
void rights_use(struct rights *rights, struct grant *grant);

/* Ends a grant and frees it. */
void rights_end(struct rights *rights, struct grant *grant);

/* Forgets all that was said about a participant, in all topics. */
void rights_forget(struct rights *rights, struct str id);

/* Forgets all that was said about anybody whose id is not in the map. Returns whether
 * there was something. */
bool rights_retain(struct rights *rights, const struct map *ids);

/* --- looking --- */

/* Was anything said about anybody? */
bool rights_has_any(const struct rights *rights);

static inline bool grant_is_used_up(const struct grant *grant)
{
    return grant->max_uses && grant->uses >= grant->max_uses;
}

/* Used up, or expired: it has no effect any more. */
static inline bool grant_is_over(const struct grant *grant, uint64_t now_ms)
{
    return grant_is_used_up(grant) || (grant->expires_ms && grant->expires_ms <= now_ms);
}

/* Walks the grants and strikes with exactly this holder: NULL gives the first. */
struct grant *rights_next_grant(const struct rights *rights, struct rights_key holder,
                                const struct grant *after);
const struct strike *rights_next_strike(const struct rights *rights,
                                        struct rights_key holder,
                                        const struct strike *after);

/* Walks the topics in which something was said about a participant, all of them ("")
 * included: start with *at = 0; false at the end. */
bool rights_next_topic(const struct rights *rights, struct str id, size_t *at,
                       struct str *ret_topic);

/* --- time --- */

/* When the next grant expires; UINT64_MAX: none does. */
uint64_t rights_next_expiry(const struct rights *rights);

/* A grant that has expired by now, or NULL. It has no effect any more; the caller tells
 * whom it concerns and ends it. */
struct grant *rights_expired(const struct rights *rights, uint64_t now_ms);
