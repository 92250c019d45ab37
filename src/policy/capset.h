/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of capabilities: immutable, shared by all members with equal rights on one
 * worker, together with a small memo of verdicts. This folder's one question: may it?
 *
 * A grant or revocation gives a member another capset; nothing is ever invalidated.
 * Single-threaded: a capset belongs to one worker's `capsets` table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "envelope/dialect.h"
#include "envelope/system.h"
#include "json/json.h"

enum {
    CAPSET_MAX_PATTERNS = 1024,
    CAPSET_MAX_OBJECTS = 64, /* of these; each may have to look through a payload */
};

struct capability;
struct capset;
struct capsets;

enum verdict {
    VERDICT_DENY,
    VERDICT_ALLOW,
    VERDICT_INSPECT, /* depends on the payload */
};

/* The table in which one worker interns its capsets. Sets that are still held when it is
 * freed live on until their last unref. */
struct capsets *capsets_new(void);
void capsets_free(struct capsets *capsets);

/* The set with exactly these capabilities (texts: capability.h) in this order,
 * repetitions dropped; shared with whoever asked for the same. ERR_INVALID: *ret_bad (may
 * be NULL) is the one at fault, or the first of too many; borrowed from the list. */
enum err capset_intern(struct capsets *capsets, struct str_list patterns,
                       struct capset **ret, struct str *ret_bad);
struct capset *capset_ref(struct capset *set);
void capset_unref(struct capset *set);

/* `kind` is in its slash spelling. ALLOW: a pattern covers it. INSPECT: only capabilities
 * that look into the payload do, and capset_inspect() decides. */
enum verdict capset_may(struct capset *set, struct str kind);

/* The pattern by which it is allowed whatever the payload, as a text; "": none. Valid as
 * long as the set. */
struct str capset_by(struct capset *set, struct str kind);

/* Does an object of the set allow the kind with this payload, which was scanned? The
 * capability that does, or NULL; valid as long as the set. */
const struct capability *capset_inspect(const struct capset *set, struct str kind,
                                        struct json_span payload, struct arena *scratch);

/* The capabilities as texts, in the order given; valid as long as the set. */
struct str_list capset_patterns(const struct capset *set);

/* The patterns among them as finished JSON, respelt for who speaks the dialect where the
 * meaning is equal: ["mcp/proposal:*","chat"]; valid as long as the set. */
struct str capset_json(struct capset *set, enum dialect dialect);

/* The objects likewise, or "" where there are none: [{"kind":…,"payload":{…}}]. */
struct str capset_objects_json(struct capset *set, enum dialect dialect);

/* Both, for system_participant(). */
struct system_capabilities capset_shown(struct capset *set, enum dialect dialect);

/* Checks a list without keeping it. ERR_INVALID as above. */
enum err capset_check(struct str_list patterns, struct str *ret_bad,
                      const char **ret_why);

/*
 * The list that a change of capabilities leads to: `old` without those in `remove` (same
 * text), then those of `add` that are not yet there. The order carries no meaning, but
 * people read it: patterns that begin with "mcp" are added before the first one that does
 * not, all others at the end (MCPx v0.1, 11.3). The array is in the arena, the texts are
 * borrowed. ERR_TOO_BIG: the arena is full.
 */
enum err capset_edit(struct str_list old, struct str_list add, struct str_list remove,
                     struct arena *arena, struct str_list *ret);
