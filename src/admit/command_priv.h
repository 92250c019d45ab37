/* SPDX-License-Identifier: Apache-2.0 */
/* Between command.c and command_rule.c: a payload whose members are known. */
#pragma once

#include "admit/command.h"

/* The members of all payloads; which of them a kind knows says its table. */
struct command_fields {
    struct str recipient;
    struct str participant;
    struct str grant_id;
    struct str profile;
    struct str type;
    struct str reason;
    struct str expires_at;
    struct str brake;
    struct str automation;
    const struct json *capabilities;
    const struct json *max_uses;
    const struct json *rule;
    const struct json *narrow;
    const struct json *budget;
    uint64_t expires_in;
    bool shadow;
};

struct command_reading {
    const struct envelope *env;
    struct str topic;
    uint64_t wall_ms;
    struct arena *arena;
    const struct command_fields *fields;
    struct command_problem *problem;
};

/* ERR_MALFORMED_ENVELOPE */
enum err command_bad(struct command_problem *problem, struct str field, const char *what);

/* ERR_TOO_LARGE: the arena is full. */
enum err command_too_much(struct command_problem *problem);

/* rule/…: ret->verb says which; the expiry that was given, or 0. */
enum err command_read_rule(const struct command_reading *r, uint64_t expires_ms,
                           struct rule_change *ret);
