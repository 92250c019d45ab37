/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The brake of a topic: while it is on, what agents call there needs a proposal. It is
 * kept in the store until somebody releases it, whether anybody is there or not. Here it
 * also is decided whether a room is governed at all: admit/govern.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

struct kept_text;
struct live_room;
struct worker;

enum { BRAKES_MAX = 10'000 }; /* on one worker */

struct brake {
    bool is_on;
    uint64_t since_ms; /* wall clock */
    char *by;          /* NULL: it is off */
};

void brake_done(struct brake *brake);
void brake_move(struct brake *to, struct brake *from);

/* Puts it on or releases it, keeps that, and tells the room if that is a change. `cause`:
 * the envelope that asked for it, or "". ERR_NOT_FOUND: there is no such topic;
 * ERR_OVERLOAD: too many are on. */
struct brake_change {
    struct str topic;
    struct str by;
    struct str cause;
    bool is_on;
};
enum err brake_set(struct worker *worker, const struct brake_change *change);

/* That of a topic, with a room or parked; NULL: it is off and nobody is there. */
const struct brake *brake_find(const struct worker *worker, struct str topic);

/* "brake":"on"; and by whom since when. */
void brake_write(const struct brake *brake, struct json_writer *w);
void brake_write_whole(const struct brake *brake, struct json_writer *w);

/* At the start: an item of STORE_TOPIC. ERR_INVALID. */
enum err brake_restore(struct worker *worker, const struct kept_text *text,
                       struct arena *arena);

/* The settings are new, or the brake: is the room governed? */
void brake_apply(struct live_room *room);
