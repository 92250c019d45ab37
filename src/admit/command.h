/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Envelopes that ask the gateway to do something: capability/grant and /revoke,
 * participant/pause, /resume and /kick, topic/invite and /set, and all of rule/. Here is
 * what they say, read strictly: a name that is not known might be one that was meant to
 * limit something.
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
#include "rules/rulebook.h"

enum command_verb {
    COMMAND_GRANT,
    COMMAND_REVOKE,
    COMMAND_PAUSE,
    COMMAND_RESUME,
    COMMAND_KICK,
    COMMAND_INVITE,
    COMMAND_SET_TOPIC,
    COMMAND_RULE, /* whatever is done to one: struct rule_change */
};

enum {
    COMMAND_MAX_REASON = 1024,
    COMMAND_MAX_CAPABILITIES = 64,
    COMMAND_MAX_OBJECTS = 8, /* of them: each is compared with all that are held */
    COMMAND_MAX_USES = 1'000'000'000,
    INVITE_DEFAULT_S = 3600,
    INVITE_MAX_S = 7 * 24 * 3600,
};

/* What is to become of a switch of the topic. */
enum switch_wish { SWITCH_STAYS, SWITCH_ON, SWITCH_OFF };

struct command {
    enum command_verb verb;
    struct str id;                /* of the envelope */
    struct str target;            /* whom it concerns; set, rule: "" */
    struct str_list capabilities; /* normal forms; items NULL where none were given */
    struct str grant_id;          /* revoke: ptr NULL where capabilities are given */
    struct str profile;           /* invite: ptr NULL likewise */
    struct str type;              /* invite: ptr NULL: as the profile says */
    struct str reason;
    uint64_t expires_ms;                /* grant: 0: never */
    uint64_t max_uses;                  /* grant: 0: any number */
    uint64_t expires_in;                /* invite: seconds */
    enum switch_wish brake, automation; /* set: not both stay */
    struct rule_change rule; /* rule: but for is_by_human, which no envelope says */
};

/* What was wrong with it. */
struct command_problem {
    struct str field; /* payload.recipient, … ; static or in the arena */
    const char *what; /* likewise */
    size_t at;        /* byte offset in the payload */
};

/* Reads the payload (and `to`) of an envelope of KIND_COMMAND in this topic. The result
 * is in the arena with all its texts: those of the envelope are gone, or are others, as
 * soon as anything is said in the room. ERR_MALFORMED_ENVELOPE, or ERR_TOO_LARGE when the
 * arena is full. */
enum err command_read(const struct envelope *env, struct str topic, uint64_t wall_ms,
                      struct arena *arena, struct command *ret,
                      struct command_problem *problem);
