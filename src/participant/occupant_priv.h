/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The occupant from inside: its parts, and what they ask of each other.
 *
 *     occupant.c   life, time, questions
 *     hear.c       hears: checks, dispatches         roster, recent, offenders
 *     ask.c        says and asks                     calls, proposals
 *
 * An entry point from outside (occupant.h, ask.h) sets `now`, where it is given one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "envelope/envelope.h"
#include "participant/occupant.h"
#include "participant/offenders.h"
#include "participant/recent.h"
#include "participant/roster.h"
#include "policy/capset.h"

struct calls;     /* calls.h */
struct proposals; /* proposals_priv.h */

enum occupant_state {
    OCCUPANT_AWAY,    /* no connection */
    OCCUPANT_WAITING, /* for the welcome */
    OCCUPANT_WELCOME,
};

enum {
    OCCUPANT_PREFIX = 24,       /* bytes of id_prefix, at most */
    OCCUPANT_SCRATCH = 4 << 20, /* bytes that may have to be unescaped */
};

struct occupant {
    struct seat *seat;
    struct occupant_ops ops;
    void *user;
    struct occupant_settings settings;
    char prefix[OCCUPANT_PREFIX]; /* settings.id_prefix points here */
    struct hash_key id_key;       /* settings.id_key, too */

    enum occupant_state state;
    struct moment now;     /* of the call that is under way, or the last one */
    uint64_t ids;          /* made so far */
    uint64_t fences;       /* sent so far: their numbers */
    uint64_t replay_fence; /* until it is judged, what is heard is a replay; 0: none */
    uint64_t
        welcome_ms;   /* of the last welcome, by the gateway's clock; 0: it says none */
    uint64_t past_ms; /* news of the gateway before it are older than the welcome */
    bool resumes;     /* this connection */
    bool was_welcome; /* ever */

    char id_bytes[ENVELOPE_MAX_ID];
    struct str id; /* ours */
    char last_bytes[ENVELOPE_MAX_ID];
    struct str last;
    size_t envelope_bytes; /* what the gateway takes; 0: not known */

    struct arena scratch; /* of what is heard: only occupant_hear() resets it */
    struct arena names;   /* of one participant at a time, in a list that is heard */

    struct capsets *capsets;
    struct capset *capset;   /* ours; NULL before the first welcome */
    struct buf capabilities; /* the same as JSON */

    struct roster roster;
    struct recent recent;
    struct offenders offenders;
    struct calls *calls;         /* calls_new(limits.calls) */
    struct proposals *proposals; /* proposals_new(limits.proposals) */
};

/* hear.c: everything below occupant_hear(), which sets `now` and the arena. */
void hear_text(struct occupant *o, struct str text);

/* Sends a fence; its number comes back through occupant_judged(). */
uint64_t occupant_fence(struct occupant *o);

/* Counts and tells an offence. `what` is a static name. */
void occupant_offend(struct occupant *o, const struct heard *heard, struct str what,
                     struct str field);
