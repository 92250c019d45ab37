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
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/list.h"
#include "base/str.h"
#include "json/json.h"
#include "policy/capability.h"

enum {
    RIGHTS_MAX_GRANTS = 256, /* in a record, as the next */
    RIGHTS_MAX_STRIKES = 1024,
    RIGHTS_MAX_CAPABILITIES = 1024,  /* in all its grants together */
    RIGHTS_MAX_OBJECTS = 64,         /* of these: each may look through a payload */
    RIGHTS_RECORD_BYTES = 256 << 10, /* of texts: welcomes repeat them */
    RIGHTS_TOPICS_BYTES = 64 << 20,  /* of texts, in the records of single topics */
};

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
    uint64_t order;
    uint64_t created_ms;
    uint64_t expires_ms; /* 0: never */
    uint64_t max_uses;   /* 0: any number */
    uint64_t uses;
    bool is_told; /* the room heard of it, and hears of its end */
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
    uint64_t order;
    uint64_t created_ms;
    size_t bytes;
};

struct rights *rights_new(void);
void rights_free(struct rights *rights);

/* --- changing --- */

struct grant_terms {
    struct str id; /* unique among those of the same holder */
    struct str granter;
    struct str reason;
    struct str_list capabilities; /* checked before */
    uint64_t created_ms;
    uint64_t expires_ms;
    uint64_t max_uses;
    bool is_told;
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
    uint64_t created_ms;
};

/* Takes them away: here, or (topic "") everywhere. Errors as above; the first only asks.
 */
enum err rights_may_strike(const struct rights *rights, struct rights_key holder,
                           const struct strike_terms *terms);
enum err rights_strike(struct rights *rights, struct rights_key holder,
                       const struct strike_terms *terms);

/* The grant of that id with exactly this holder, or NULL. */
struct grant *rights_find(const struct rights *rights, struct rights_key holder,
                          struct str grant_id);

/* Ends a grant and frees it. */
void rights_end(struct rights *rights, struct grant *grant);

/* Forgets all that was said about a participant, in all topics. */
void rights_forget(struct rights *rights, struct str id);

/* --- asking; a topic is meant together with what holds in all topics --- */

/* Was anything said about this participant that holds here? */
bool rights_knows(const struct rights *rights, struct rights_key who);

/* What a credential with these capabilities may do here and now. The array is in the
 * arena, texts are borrowed from `own` and from the grants. Never more than a capset may
 * have: what is over is not in force. ERR_TOO_BIG: the arena is full. */
enum err rights_in_force(const struct rights *rights, struct rights_key who,
                         struct str_list own, uint64_t now_ms, struct arena *arena,
                         struct str_list *ret);

/* A credential at work: what it has of its own, when, and how long it lasts (0: for
 * ever). */
struct rights_bearer {
    struct rights_key who;
    struct str_list own;
    uint64_t now_ms;
    uint64_t lasts_ms;
};

/* Attenuation: the first of these that the bearer may not pass on until then (0: for
 * ever), or an empty str. It may what one capability that is held covers for as long, and
 * nothing for longer than the credential lasts; those that may be used only so often do
 * not count. */
enum { RIGHTS_NOW = 1 }; /* until: whatever is held now will do */
struct str rights_not_held(const struct rights *rights,
                           const struct rights_bearer *bearer, struct str_list wanted,
                           uint64_t until_ms);

/* An envelope in search of a grant, and the capability that was found. */
struct rights_use {
    struct str kind;
    struct json_span payload;
    struct arena *scratch;
    const struct capability *by;
};

/* A grant that may be used only so often and allows this; or NULL. A use counts when the
 * caller says so: grant->uses. */
struct grant *rights_limited(const struct rights *rights, struct rights_key who,
                             struct rights_use *use, uint64_t now_ms);

/* The capabilities of all such grants that have uses left, in the order in which they are
 * asked; as rights_in_force(). */
enum err rights_limited_in_force(const struct rights *rights, struct rights_key who,
                                 uint64_t now_ms, struct arena *arena,
                                 struct str_list *ret);

static inline bool grant_is_used_up(const struct grant *grant)
{
    return grant->max_uses && grant->uses >= grant->max_uses;
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
