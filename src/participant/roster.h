/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who else is here, as the welcome and the presence that follows it tell. Bounded in
 * number and in bytes: who does not fit is not known, and counted. Lists of capabilities
 * that are equal are held once.
 *
 * What others may do is what it was when they came: the room does not hear of it when it
 * changes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "json/scan.h"
#include "participant/occupant.h"

struct roster_rights; /* a list of capabilities, shared */

struct roster_entry {
    struct str id;           /* followed by a NUL, as the next one is */
    struct str type;         /* "human", "agent", "service", or "" */
    struct str capabilities; /* a JSON array: patterns, then objects */

    /* The roster's own. */
    struct roster_rights *rights;
    struct link link;
    uint64_t listing; /* the last one it stood in */
    enum presence_change change;
    bool is_changed; /* …, to be told */
    char bytes[];    /* of `id`, then `type` */
};

struct roster {
    struct map entries; /* id → roster_entry */
    struct map rights;  /* text → roster_rights */
    struct link present;
    struct link gone; /* since the listing: told, then freed */
    size_t max;
    size_t bytes; /* of all texts */
    uint64_t listing;
    uint64_t left_out; /* did not fit */
};

void roster_init(struct roster *roster, size_t max);
void roster_done(struct roster *roster);

const struct roster_entry *roster_find(const struct roster *roster, struct str id);

/* What is said of a participant. The spans were scanned; `patterns` and `objects` are
 * arrays, or absent (text.ptr NULL). */
struct roster_note {
    struct str id;
    struct str type;
    struct json_span patterns, objects;
};

/* A whole list, as a welcome brings it: begin, add each, end. Who is not in it is gone.
 * Then roster_tell() hands out what has changed, once: PRESENCE_HERE who is new. */
void roster_list_begin(struct roster *roster);
void roster_list_add(struct roster *roster, const struct roster_note *note);
void roster_list_end(struct roster *roster);
void roster_tell(struct roster *roster, const struct occupant_ops *ops, void *user);

/* One change. The entry, and *ret_change, or NULL where nothing is new. */
const struct roster_entry *roster_join(struct roster *roster,
                                       const struct roster_note *note,
                                       enum presence_change *ret_change);

/* Takes it out: valid until the next call, or NULL. */
const struct roster_entry *roster_leave(struct roster *roster, struct str id);
