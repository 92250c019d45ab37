/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was said in the room, for reading: entries in the order in which they came, but
 * for threads. What answers an entry (correlation_id) belongs to its thread and stands
 * with it, while that is near the end; else the thread goes on at the end, so that
 * whoever looks there misses nothing.
 *
 *     bot    proposes read_file → files     fulfilled by human
 *     ├ human  calls read_file → files      answered
 *     └ files  answers
 *
 * Calls and proposals have a state. An answer counts only from somebody who was asked;
 * what becomes of a proposal is told by timeline_mark().
 *
 * Bounded: the oldest entries go when there are too many, or too many bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "tui/tell.h"

enum {
    TIMELINE_ENTRIES = 10'000,
    TIMELINE_BYTES = 64 << 20,
    TIMELINE_RAW = 64 << 10, /* of one envelope */
    TIMELINE_NEAR = 8,       /* entries at the end, among which a thread is continued */
};

enum entry_state {
    STATE_NONE,
    STATE_WAITING, /* a call */
    STATE_AUTHORIZING,
    STATE_ANSWERED,
    STATE_FAILED,
    STATE_DENIED,
    STATE_ENDED, /* without an answer: the note says why */
    STATE_OPEN,  /* a proposal */
    STATE_FULFILLED,
    STATE_ALLOWED,
    STATE_REJECTED,
    STATE_WITHDRAWN,
    STATE_EXPIRED,
};

enum entry_type {
    ENTRY_SAID,
    ENTRY_NOTE,     /* of our own: told to this person alone */
    ENTRY_WARNING,  /* the same, and it matters */
    ENTRY_PRESENCE, /* who came and went */
};

struct entry;

struct thread {
    char *root_id;
    struct entry *root; /* NULL: it has gone, or never came */
    size_t count;       /* of its entries */
    uint64_t number;    /* of the first one that came */
    char *title;        /* of that one */
};

struct entry {
    struct thread *thread; /* or NULL */
    struct link link;
    uint64_t number;  /* from 1 on, never given twice */
    uint64_t when_ms; /* since 1970 */
    enum entry_type type;
    enum tell_type told;
    enum entry_state state;
    char *note; /* of the state: "by human"; or NULL */
    bool is_mine;
    bool is_cut;            /* the envelope holds more than is shown */
    struct str from;        /* plain, and cut */
    struct str title, body; /* the same */
    struct str id, to;      /* as they came; several `to` are lines */
    struct str raw;         /* the envelope, or its beginning … */
    size_t raw_len;         /* … of so many bytes */
    size_t bytes;           /* all it takes */
};

struct timeline {
    struct link entries;
    struct map by_id;
    struct map threads; /* by root_id */
    size_t count, max_count;
    size_t bytes, max_bytes;
    uint64_t last_number;
    struct {
        struct entry *entry; /* the last one, if it tells of presence */
        struct str verb;     /* static */
        struct buf names;
        size_t count;
    } presence;
    /* Where the reader is: the last line that he sees. NULL: the end, wherever it is. */
    struct entry *pin;
    size_t pin_line;
    size_t unseen; /* entries that came since */
};

void timeline_init(struct timeline *t, size_t max_count, size_t max_bytes);
void timeline_done(struct timeline *t);

struct said {
    struct str id, from, correlation_id, raw;
    const struct str *to;
    size_t to_count;
    uint64_t when_ms;
    bool is_mine;
};

/* NULL: it only changed another entry (progress). The entry is valid until it goes. */
struct entry *timeline_say(struct timeline *t, const struct said *said,
                           const struct telling *telling);

/* Something of our own; `about` is the id of an entry whose thread it belongs to, or "".
 * The text is plain. */
struct entry *timeline_note(struct timeline *t, enum entry_type type, struct str about,
                            struct str text, uint64_t when_ms);

/* Who came or went (`verb`: static text). Several in a row become one entry. */
void timeline_presence(struct timeline *t, struct str verb, struct str name,
                       uint64_t when_ms);

/* What became of a call or proposal. `note` is plain. Unknown ids are harmless. */
void timeline_mark(struct timeline *t, struct str id, enum entry_state state,
                   struct str note);

struct entry *timeline_find(const struct timeline *t, struct str id);
struct entry *timeline_find_number(const struct timeline *t, uint64_t number);

/* In the order in which they are read; NULL: there is none. */
struct entry *timeline_first(const struct timeline *t);
struct entry *timeline_last(const struct timeline *t);
struct entry *timeline_before(const struct timeline *t, const struct entry *entry);
struct entry *timeline_behind(const struct timeline *t, const struct entry *entry);

/* Where an entry stands among those of its thread beside it. */
bool entry_begins(const struct timeline *t, const struct entry *entry);
bool entry_ends(const struct timeline *t, const struct entry *entry);
/* It answers something, and is drawn below it. */
bool entry_is_reply(const struct entry *entry);

/* "answered", "open": nothing for STATE_NONE. */
struct str state_word(enum entry_state state);
