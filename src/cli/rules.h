/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands about rules have in common: the file, and the record they look at. */
#pragma once

#include "cli/audit_source.h"
#include "cli/cli.h"
#include "rules/history.h"
#include "rules/rule.h"

/* Reads a file of rules into the arena; "-" is standard input. What is wrong has been
 * reported, with its line and column. */
int rules_load(const char *path, struct arena *arena, struct rule_list *ret);

/* The arguments alone, from a file that has nothing else, or from one of a rule that is
 * like this one in all the rest. */
int rules_load_shape(const char *path, struct arena *arena, const struct rule *like,
                     const struct shape **ret);

/* As a file, in YAML, and as {"rules":[…]} on one line. */
void rules_put_yaml(struct buf *out, const struct rule_list *rules);
void rules_put_json(struct buf *out, const struct rule_list *rules);

struct rules_record {
    struct audit_place place;
    const char *since, *topic; /* topic NULL: all */
    struct cli_list persons;   /* whom nothing in the record says to be one */
};

/* Rows of an option table, for a struct with a `struct rules_record record`. */
/* clang-format off */
#define CLI_RULES_RECORD(type)                                                                                   \
    { "--topic",  "TOPIC", "of this topic alone",                                 CLI_AT(type, record.topic) },   \
    { "--since",  "TIME",  "from then on: 30d unless given; or 2026-11-15",       CLI_AT(type, record.since) },   \
    { "--person", "ID",    "this participant is a person; may be given several times", CLI_AT(type, record.persons) }
/* clang-format on */

/* How much of it could not be looked at. */
struct rules_seen {
    uint64_t records;
    uint64_t removed; /* their bodies are */
};

/* Tells of all proposals in the record. */
int rules_replay(const struct rules_record *record, uint64_t now_ms,
                 const struct history_listener *listener, struct rules_seen *ret);
