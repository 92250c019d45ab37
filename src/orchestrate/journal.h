/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an orchestrator writes down, so that a restart forgets nothing: one JSON object a
 * line, in the order things happened. Pure: texts in, texts out; whoever has the file
 * appends lines, and has them compacted when there are too many.
 *
 *     {"at":"2026-11-16T08:07:38.106Z","what":"topic","topic":"room"}
 *     {"at":…,"after":"p1","what":"proposed","proposal":"p1","envelope":{…}}
 *     {"at":…,"after":"q1","what":"decided","proposal":"p1","proposer":"bot",…}
 *
 * `after` is the envelope that was heard last: a restart resumes behind it, so nothing is
 * counted twice. A last line without its end was torn by a crash and is no line.
 */
#pragma once

#include "rules/learner.h"

/* clang-format off */
#define JOURNAL_TYPES(X)                                                     \
    X(TOPIC,     "topic")     /* the first line: whose journal it is */      \
    X(PROPOSED,  "proposed")                                                 \
    X(ENDED,     "ended")     /* a proposal, in a way that teaches nothing */\
    X(DECIDED,   "decided")   /* by a person: it teaches */                  \
    X(SUGGESTED, "suggested")                                                \
    X(UNWANTED,  "unwanted")  /* a rule was declined or taken away */        \
    X(WOULD,     "would")     /* a rule in shadow would have acted */        \
    X(SHADOW,    "shadow")    /* … and this is what people did */            \
    X(USED,      "used")                                                     \
    X(HEARD,     "heard")     /* nothing but `after` */
/* clang-format on */

enum journal_type {
#define X(name, text) JOURNAL_##name,
    JOURNAL_TYPES(X)
#undef X
        JOURNAL_TYPE_COUNT
};

enum {
    JOURNAL_LINE = 256 << 10, /* bytes of a line */
    JOURNAL_TREE = 32 << 20,  /* of what is read of it */
    JOURNAL_BYTES = 64 << 20, /* of all of them */
    JOURNAL_ENVELOPE = 64 << 10,
};

struct journal_entry {
    enum journal_type type;
    uint64_t at_ms;
    struct str after;         /* "": not said */
    struct str topic;         /* topic */
    struct str proposal;      /* its id: proposed, ended, would, shadow, used */
    struct str rule;          /* its id: suggested, would, shadow, used */
    struct str envelope;      /* proposed: JSON */
    struct str text;          /* unwanted: the rule as JSON */
    bool is_approved;         /* shadow: what people did */
    struct decision decision; /* decided; its topic is the journal's */
};

/* With its newline; nothing where it does not fit into JOURNAL_LINE. */
void journal_put(struct buf *out, const struct journal_entry *entry);

/* Without the newline. All of it lives in the line and the arena. ERR_INVALID: it is no
 * such line. */
enum err journal_read(struct str line, struct str topic, struct arena *arena,
                      struct journal_entry *ret);

/* The lines that are whole: up to the last newline. */
struct str journal_whole(struct str text);

/* Calls `on_entry` for each of them. ERR_INVALID, *ret_line is where, from 1 on: nothing
 * is taken from a journal that cannot be read. ERR_CONFLICT: it is another topic's. */
struct journal_reading {
    struct str topic;
    void (*on_entry)(void *user, const struct journal_entry *entry);
    void *user;
};
enum err journal_replay(struct str text, const struct journal_reading *reading,
                        size_t *ret_line);

/* What is worth keeping, in at most `max` bytes: what is over goes first, then counts,
 * open proposals, approvals and what became of rules, the oldest of each. ERR_OVERLOAD:
 * rejections, which must not be forgotten, are more than that. */
struct journal_terms {
    struct str topic;
    uint64_t now_ms;
    uint64_t window_ms, rejections_ms; /* of struct learner_options */
    size_t max;
};
enum err journal_compact(struct str text, const struct journal_terms *terms,
                         struct buf *out);
