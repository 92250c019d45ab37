/* SPDX-License-Identifier: Apache-2.0 */
/* Which records: the options that search, export, stats and replay have in common. */
#pragma once

#include "audit/query.h"
#include "base/buf.h"
#include "cli/cli.h"

struct audit_filter {
    const char *since, *until, *topic, *participant, *kind, *verdict, *event, *thread,
        *text;
};

/* Rows of an option table, for a struct with a `struct audit_filter filter`: when, and
 * what else. */
/* clang-format off */
#define CLI_AUDIT_TIMES(type)                                                                                      \
    { "--since",       "TIME",        "from then on: 15m, 2h, 3d ago, or 2026-11-15[T18:00:00Z]", CLI_AT(type, filter.since) }, \
    { "--until",       "TIME",        "up to then",                                          CLI_AT(type, filter.until) }
#define CLI_AUDIT_FILTER(type)                                                                                     \
    CLI_AUDIT_TIMES(type),                                                                                         \
    { "--topic",       "TOPIC",       "of this topic",                                       CLI_AT(type, filter.topic) },       \
    { "--participant", "PARTICIPANT", "what this one did",                                   CLI_AT(type, filter.participant) }, \
    { "--kind",        "KIND",        "of this kind; mcp/* for all that begin so",           CLI_AT(type, filter.kind) },        \
    { "--verdict",     "VERDICT",     "allowed, or why it was refused: capability_violation …", CLI_AT(type, filter.verdict) },  \
    { "--event",       "EVENT",       "envelope, refusal, presence, connect, grant, admin …", CLI_AT(type, filter.event) },      \
    { "--thread",      "ID",          "what hangs together with this envelope",              CLI_AT(type, filter.thread) },      \
    { "--text",        "WORDS",       "whose body has all these words; buil* for a beginning", CLI_AT(type, filter.text) }
/* clang-format on */

/* The question, which borrows from the filter. CLI_USAGE: what is wrong has been
 * reported. */
int audit_ask(const struct audit_filter *filter, uint64_t now_ms,
              struct audit_query *ret);

/* Does it ask for everything there is? */
bool audit_asks_all(const struct audit_query *query);

/* "15m", "2h", "3d" ago, an RFC 3339 date-time, or a day where we are.
 * ERR_INVALID. */
enum err audit_moment(struct str text, uint64_t now_ms, uint64_t *ret_ms);

/* --limit: a number, 0 for all. */
int audit_limit(const char *text, size_t *ret);
