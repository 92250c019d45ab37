/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Envelopes that ask the gateway to do something: capability/grant and /revoke,
 * participant/pause, /resume and /kick, topic/invite and /set. Here is what they say,
 * read strictly: a name that is not known might be one that was meant to limit something.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "envelope/envelope.h"
#include "json/json.h"
#include "policy/profile.h"

enum command_verb {
    COMMAND_GRANT,
    COMMAND_REVOKE,
    COMMAND_PAUSE,
    COMMAND_RESUME,
    COMMAND_KICK,
    COMMAND_INVITE,
    COMMAND_SET_TOPIC,
};

enum {
    COMMAND_MAX_REASON = 1024,
    COMMAND_MAX_CAPABILITIES = 64,
    COMMAND_MAX_OBJECTS = 8, /* of them: each is compared with all that are held */
    COMMAND_MAX_USES = 1'000'000'000,
    INVITE_DEFAULT_S = 3600,
    INVITE_MAX_S = 7 * 24 * 3600,
};

struct command {
    enum command_verb verb;
    struct str id;                /* of the envelope */
    struct str target;            /* whom it concerns; set: "" */
    struct str_list capabilities; /* normal forms; items NULL where none were given */
    struct str grant_id;          /* revoke: ptr NULL where capabilities are given */
    struct str profile;           /* invite: ptr NULL likewise */
    struct str type;              /* invite: ptr NULL: as the profile says */
    struct str reason;
    uint64_t expires_ms; /* grant: 0: never */
    uint64_t max_uses;   /* grant: 0: any number */
    uint64_t expires_in; /* invite: seconds */
    bool is_on;          /* set: the brake */
};

/* What was wrong with it. */
struct command_problem {
    struct str field; /* payload.recipient, … ; static or in the arena */
    const char *what; /* static */
};

/* Reads the payload (and `to`) of an envelope of KIND_COMMAND. The result is in the arena
 * with all its texts: those of the envelope are gone, or are others, as soon as anything
 * is said in the room. ERR_MALFORMED_ENVELOPE, or ERR_TOO_LARGE when the arena is full.
 */
enum err command_read(const struct envelope *env, uint64_t wall_ms, struct arena *arena,
                      struct command *ret, struct command_problem *problem);
