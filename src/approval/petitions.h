/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a topic that their owners want authorized first, as far as they are announced
 * in the room, so that whoever comes later can be shown them. Between participants the
 * gateway only forwards; nothing is decided here, and what is not entered is still heard.
 *
 *     owner ── notifications/authorization/request (id n) ──► open
 *     owner ── the same again, to somebody else ─────────────► in place of the former
 *     somebody who may ── authorization/respond ─────────────► over
 *     owner ── the final response to the call ───────────────► over
 *
 * Pure, bounded, and in memory alone.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/str.h"
#include "envelope/envelope.h"

enum {
    PETITIONS_MAX = 256,              /* open at once; what comes then is not entered, */
    PETITIONS_EACH = 64,              /* … so many of one owner; */
    PETITIONS_BYTES = 512 << 10,      /* so much of all with their arguments, */
    PETITIONS_EACH_BYTES = 128 << 10, /* … and of one owner; then those are left out, */
    PETITIONS_ARGUMENTS = 64 << 10,   /* … as longer ones are */
    PETITIONS_TEXT = 1024,            /* of a reason; the rest is cut */
    PETITIONS_EXPIRY_MS = 300'000,    /* where nothing is said */
    PETITIONS_MAX_EXPIRY_MS = 86'400'000,
};

struct petitions {
    struct link by_age;
    size_t count; /* with those that have expired since the last was announced */
    size_t bytes;
    size_t missed; /* that were not entered, as long as one of them may be open: */
    uint64_t missed_until_ms;
};

struct petition {
    struct str id;               /* of the announcement; the texts stand behind it all */
    struct str owner;            /* who asks */
    struct str authorization_id; /* as the owner calls it */
    struct str request_id;       /* the call that it is about */
    struct str tool;
    struct str requester;
    struct str proposer;  /* who has it made; "": nobody but the requester */
    struct str reason;    /* or "" */
    struct str asked;     /* whose word alone counts; "": whoever may */
    struct str arguments; /* JSON; "": there are none, or they are too long */
    uint64_t created_ms;  /* wall clock */
    uint64_t expires_ms;
    struct link link; /* oldest first */
    size_t bytes;
};

/* Does the word of this participant count, said of the announcement `about` (NULL: of
 * none)? As owners judge it. */
bool petition_heeds(const struct petition *petition, struct str from, struct str about);

void petitions_init(struct petitions *petitions);
void petitions_done(struct petitions *petitions);

/* Might the petitions have to know? Cheap: asked of every envelope that is admitted. */
static inline bool petitions_is_concerned(const struct petitions *petitions,
                                          const struct kind *kind)
{
    if (kind->type == KIND_REQUEST)
        return str_starts(kind->method, S("notifications/authorization/")) ||
               (petitions->count && str_starts(kind->method, S("authorization/")));
    return kind->type == KIND_RESPONSE && petitions->count;
}

/* An envelope was admitted whose kind is parsed. */
void petitions_hear(struct petitions *petitions, const struct envelope *env,
                    uint64_t wall_ms);

/* The oldest that has not expired, and those behind it; NULL: the first. */
const struct petition *petitions_next(const struct petitions *petitions,
                                      const struct petition *after, uint64_t wall_ms);

/* How many may be open besides, for which there was no room. */
size_t petitions_missed(const struct petitions *petitions, uint64_t wall_ms);

/* How many have not. */
size_t petitions_open(const struct petitions *petitions, uint64_t wall_ms);
