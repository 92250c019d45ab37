/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who sits on a seat: everything a participant does (MCPx v0.1, 4.3 and 8.2). It checks
 * what is heard, knows who is here and what they may do, matches answers with calls
 * (ask.h), keeps the open proposals (proposals.h), and counts who misbehaves.
 *
 * Pure: time and texts are arguments, envelopes leave through the seat. Callbacks come
 * from inside occupant_hear(), occupant_judged(), occupant_tick(), occupant_lost() and
 * occupant_left() alone, and may call everything but those and occupant_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/str.h"
#include "envelope/envelope.h"
#include "participant/seat.h"
#include "policy/capset.h"

struct occupant;
struct proposed;     /* proposals.h */
struct roster_entry; /* roster.h */

/* Both clocks: deadlines go by the first, expiry by the second. */
struct moment {
    uint64_t mono_ms;
    uint64_t wall_ms;
};

/* An envelope that has passed all checks; the view is valid during the callback. */
struct heard {
    struct envelope env; /* kind.text in slash spelling; of the gateway's own as well */
    bool is_system;      /* from the gateway: kind.type says nothing then */
    bool is_replay;      /* said while we were away, as far as that is known: the end of
                          * a long replay is not marked */
    bool is_mine;        /* sent on this seat */
    bool names_me;       /* in `to` */
};

enum presence_change { PRESENCE_HERE, PRESENCE_JOINS, PRESENCE_LEAVES, PRESENCE_CHANGES };

/* What was dropped, and how often this sender was at fault. */
struct offence {
    struct str from; /* "" where it could not be read */
    struct str what; /* a name: "kind_payload_mismatch", "foreign_response", … */
    struct str field;
    uint64_t count;
    struct str text;
};

/* A system/error that answers what we sent (or "": nothing in particular). */
struct refused {
    struct str id;
    struct str error, message;
    struct str propose_instead; /* the kind of a proposal that would be taken; "": none */
    struct json_span details;   /* the payload */
};

struct occupant_ops {
    void (*on_welcome)(void *user, bool is_resumed);
    void (*on_presence)(void *user, enum presence_change change,
                        const struct roster_entry *who);
    /* With KNOWS_CALLERS, or NULL: is that one's coming of interest as well? */
    bool (*is_awaited)(void *user, struct str id);
    void (*on_gap)(void *user, uint64_t missed);
    void (*on_heard)(void *user, const struct heard *heard);
    /* A request that is ours to answer or to ignore: it names us, or asks everybody for a
     * list or a ping. `reply_to` are the caller and, if it fulfils a proposal that we
     * know, the proposer. */
    void (*on_request)(void *user, const struct heard *heard, const struct str *reply_to,
                       size_t reply_count);
    /* A call that was handed out by on_request is no longer wanted. `request_id` is the
     * id of its envelope; where the cancellation does not name that, the text of its
     * JSON-RPC id. */
    void (*on_cancelled)(void *user, struct str request_id, struct str from,
                         struct str reason);
    void (*on_proposal)(void *user, const struct proposed *proposal);
    void (*on_refusal)(void *user, const struct refused *refused);
    void (*on_offence)(void *user, const struct offence *offence);
};

struct occupant_limits {
    size_t depth;
    size_t calls;
    size_t proposals;
    size_t participants;
    size_t offenders;
    size_t recent;
    size_t envelope_bytes; /* of all but the gateway, unless it allows more; 0: of any */
};

/* Whom it keeps in mind of those that are here. */
enum acquaintance {
    KNOWS_ALL,
    KNOWS_CALLERS, /* whoever made a request of it: on_presence tells of them alone, and
                    * of their coming only where they are awaited */
};

struct occupant_settings {
    struct str id_prefix; /* random, at most 24 bytes: our ids begin with it */
    /* So that nobody uses our next ids before us, which the gateway would then refuse:
     * each ends with what only this key makes. NULL: they are counted, and that is all.
     */
    const struct hash_key *id_key;
    bool hears_itself;
    bool reports;
    enum acquaintance knows;
    uint64_t call_timeout_ms;
    struct occupant_limits limits; /* all given: defaults are the caller's */
};

struct occupant *occupant_new(struct seat *seat, const struct occupant_settings *settings,
                              const struct occupant_ops *ops, void *user);
void occupant_free(struct occupant *o);

/* A connection begins: the welcome comes next. `resumes`: it was asked to go on behind
 * occupant_last(). */
void occupant_begin(struct occupant *o, bool resumes);

/* One text, as it came. */
void occupant_hear(struct occupant *o, struct str text, struct moment now);

/* Of a fence: whatever was sent before it and not refused was taken. */
void occupant_judged(struct occupant *o, uint64_t fence, struct moment now);

/* The connection broke. Calls wait for the next one, where their answers are replayed;
 * after a gap they end (ASK_LOST). `is_final`: there will be none, and they end now. */
void occupant_lost(struct occupant *o, bool is_final, struct moment now);

/* Timeouts, expiry, reports. When it is due next: UINT64_MAX, nothing waits. */
void occupant_tick(struct occupant *o, struct moment now);
uint64_t occupant_due_ms(const struct occupant *o); /* monotonic */

/* Nothing is expected for a while: what is kept for the next text goes. Not from inside a
 * callback. */
void occupant_rest(struct occupant *o);

/* Who else is here (roster.h): start with *at = 0; NULL at the end. Valid until something
 * is heard. */
const struct roster_entry *occupant_next_participant(const struct occupant *o,
                                                     size_t *at);
const struct roster_entry *occupant_find_participant(const struct occupant *o,
                                                     struct str id);

bool occupant_is_welcome(const struct occupant *o); /* online, and the welcome has come */
struct str occupant_id(const struct occupant *o);   /* "" before the first welcome */
struct str occupant_last(const struct occupant *o); /* the last entry of the log heard */

/* May we send this kind? A payload of type JSON_NULL: whatever depends on it is a no. */
bool occupant_may(struct occupant *o, struct str kind, struct json_span payload);

/* The same before there is a payload: INSPECT, it depends on that. */
enum verdict occupant_verdict(const struct occupant *o, struct str kind);

/* Somebody has left, as another seat of ours heard: for one that hears no presence. What
 * was asked of him ends, ASK_GONE. */
void occupant_left(struct occupant *o, struct str id, struct moment now);

/* What we may do, as a JSON array: patterns, then objects. */
struct str occupant_capabilities(const struct occupant *o);
size_t occupant_envelope_bytes(const struct occupant *o); /* the gateway's limit, or 0 */
