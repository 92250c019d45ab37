/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that a topic has, as its gateway lists them (GET /topics/T/rules), and how
 * they are shown: in a table, as a file, in words. Asked of the local server or, with
 * --server, of another; what is changed goes through a session (rules_change.c).
 */
#pragma once

#include "cli/rules.h"
#include "cli/session.h"
#include "rules/listing.h"

struct room_rules {
    struct arena arena; /* everything below is in it */
    struct str topic;
    bool has_automation; /* rules may act at all */
    struct listed_rule *items;
    size_t count;
};

/* Asks for them. CLI_FAILED, and what is wrong has been reported. To be freed in any
 * case. */
int room_rules_fetch(const struct session_options *options, struct room_rules *ret);
void room_rules_done(struct room_rules *rules);

/* From what a gateway says; copies it. ERR_INVALID: `problem` says what is wrong. */
enum err room_rules_read(struct str body, struct room_rules *ret,
                         struct rule_problem *problem);

/* The rule of this id, or the only one whose id begins so; NULL has been reported. */
const struct listed_rule *room_rules_find(const struct room_rules *rules, const char *id);

/* The beginning of its id that is nobody else's, eight characters or more. */
struct str room_rules_short(const struct room_rules *rules,
                            const struct listed_rule *one);

/* --- shown (rules_look.c); pure --- */

/* A line for each and one above, none wider than `columns`. */
void rules_put_table(struct buf *out, const struct room_rules *rules, uint64_t now_ms,
                     size_t columns);

/* An entry of a file of rules; remarks say what became of it. Those are broken where the
 * terminal ends; 0: nowhere. */
void rules_put_entry(struct buf *out, const struct listed_rule *one, uint64_t now_ms,
                     size_t columns);

/* In words: what it covers, and whether it acts now, and why. Lines are broken where the
 * terminal ends; 0: nowhere. */
void rules_put_words(struct buf *out, const struct room_rules *rules,
                     const struct listed_rule *one, uint64_t now_ms, size_t columns);

/* What it covers, what for, and whose word that is: some lines. */
void rules_put_cover(struct buf *out, const struct rule *rule);

/* Does it act now? If not, *ret_why is what keeps it from that: "suspended", "expired",
 * "used up", "automation is off", …. */
bool rules_acts(const struct room_rules *rules, const struct listed_rule *one,
                uint64_t now_ms, const char **ret_why);

/* "write at files: mode=\"w\" path=/srv/app/.." in one line, plain. */
void rules_put_what(struct buf *out, const struct rule *rule);

/* Plain text of several lines, each of which goes on below itself, further in. */
void rules_put_wrapped(struct buf *out, struct str plain, size_t columns);
