/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A resource of the directory: a person or an agent that can be found and asked to join a
 * team. It is a flat JSON object, read strictly: names that are not known are refused.
 *
 *     {"id":"r-1","kind":"human","name":"Ann","role":"developer",
 *      "skills":["Python","FastAPI"],"availability":"full-time","location":"Zürich",
 *      "rate":{"amount":120.50,"currency":"CHF","per":"hour"},"languages":["de","en"],
 *      "time_zone":"Europe/Zurich","profile":"Ten years of …","participant":"ann",
 *      "invite":"ask"}
 *
 * Pure. A resource borrows from the text and the arena that it was read with.
 */
#pragma once

#include "json/json.h"

enum {
    RESOURCE_ID = 256, /* bytes, as the others */
    RESOURCE_NAME = 256,
    RESOURCE_WORD = 64, /* a skill, a language, an availability, a time zone */
    RESOURCE_SKILLS = 64,
    RESOURCE_LANGUAGES = 32,
    RESOURCE_AMOUNT = 32, /* characters of the number */
    RESOURCE_PROFILE = 16 << 10,
    RESOURCE_MAX = 64 << 10, /* all of it, as JSON: twice what the bounds above allow */
    RESOURCE_TEXT = RESOURCE_MAX,
    RESOURCE_ARENA = 256 << 10, /* enough to read one */
};

enum resource_kind { RESOURCE_HUMAN, RESOURCE_AGENT };
enum resource_per { RESOURCE_HOUR, RESOURCE_DAY, RESOURCE_MONTH };
enum resource_invite { RESOURCE_AUTO, RESOURCE_ASK };

/* Every field of the object, in the order in which it is written. */
/* clang-format off */
#define RESOURCE_FIELDS(X) \
    X(id) X(kind) X(name) X(role) X(skills) X(availability) X(location) X(rate) \
    X(languages) X(time_zone) X(profile) X(participant) X(invite) X(updated_at)
/* clang-format on */

struct resource_rate {
    struct str amount;   /* a decimal number as it was written; "": no rate is given */
    struct str currency; /* three letters; "": not given */
    enum resource_per per;
};

struct resource {
    struct str id; /* "": not given; whoever keeps it gives it one */
    enum resource_kind kind;
    struct str name;
    struct str role;
    struct str_list skills; /* as written; no two differ by the case of ASCII only */
    struct str availability;
    struct str location;
    struct resource_rate rate;
    struct str_list languages;
    struct str time_zone;
    struct str profile;
    struct str participant; /* the contact in rooms */
    enum resource_invite invite;
    uint64_t updated_ms; /* wall clock; 0: not given */
};

/* What is wrong. */
struct resource_problem {
    struct str field; /* "skills"; "": the whole. Static, or a name of the text */
    size_t item;      /* of a list, from 1; 0: all of it */
    const char *what; /* a sentence without its subject: "has more than …"; static */
};

/* ERR_INVALID, ERR_TOO_BIG (the arena is full). `problem` may be NULL. */
enum err resource_read(const struct json *object, struct arena *arena,
                       struct resource *ret, struct resource_problem *problem);

/* Whole, with all its texts, in the arena. ERR_TOO_BIG */
enum err resource_copy(const struct resource *resource, struct arena *arena,
                       struct resource *ret);

/* 1 to 256 bytes of UTF-8 without control characters, fit for a path (no slash, not `.`
 * or `..`) and not what the gateway goes by (`system`, `system:…`). NULL: it is fit, else
 * what is wrong with it, as in a problem. */
const char *resource_id_problem(struct str id);

/* Rate and contact are for those who may see details. */
enum resource_view { RESOURCE_PUBLIC, RESOURCE_DETAILS };

/* What is not given is left out. */
void resource_write(struct json_writer *w, const struct resource *resource,
                    enum resource_view view);

/* "skills[3] is longer than 64 bytes"; the problem as one text for people. */
void resource_problem_put(struct buf *out, const struct resource_problem *problem);

/* full-time 0, part-time 1, contract 2, others and none 3, unavailable 4. */
enum { RESOURCE_AVAILABILITIES = 5 };
unsigned resource_availability_rank(struct str availability);

struct str resource_kind_name(enum resource_kind kind);
struct str resource_per_name(enum resource_per per);
struct str resource_invite_name(enum resource_invite invite);
