/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switches of a topic. While the brake is on, what agents call there needs a
 * proposal; while automation is off, no rule is used. Usually the brake is off and
 * automation on: a switch that somebody has turned is kept in the store until somebody
 * turns it back, whether anybody is there or not. Here it also is decided whether a room
 * is governed at all: admit/govern.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

struct kept_text;
struct live_room;
struct worker;

enum topic_switch { SWITCH_BRAKE, SWITCH_AUTOMATION, SWITCH_COUNT };

enum { TURNED_MAX = 10'000 }; /* of each, on one worker */

/* One that is not as usual. */
struct turned {
    bool is_so;
    uint64_t since_ms; /* wall clock */
    char *by;          /* NULL: it is as usual */
};

struct switches {
    struct turned turned[SWITCH_COUNT];
};

void switches_done(struct switches *switches);
void switches_move(struct switches *to, struct switches *from);

/* Is one of them turned? NULL: none is. */
bool switches_are_turned(const struct switches *switches);

/* Sets one, keeps that, and tells the room if that is a change. `cause`: the envelope
 * that asked for it, or "". ERR_NOT_FOUND: there is no such topic; ERR_OVERLOAD: it is
 * turned in too many. */
struct switch_change {
    struct str topic;
    struct str by;
    struct str cause;
    enum topic_switch which;
    bool is_on;
};
enum err switch_set(struct worker *worker, const struct switch_change *change);

/* What would be wrong with it, in words; NULL: nothing. */
const char *switch_problem(const struct worker *worker,
                           const struct switch_change *change);

/* Those of a topic, with a room or parked; NULL: all are as usual, and nobody is there.
 */
const struct switches *switches_find(const struct worker *worker, struct str topic);

/* "brake":"off","automation":"on"; and by whom those that are turned, since when. */
void switches_write(const struct switches *switches, struct json_writer *w);
void switches_write_whole(const struct switches *switches, struct json_writer *w);

/* At the start: an item of STORE_TOPIC. ERR_INVALID. */
enum err switches_restore(struct worker *worker, const struct kept_text *text,
                          struct arena *arena);

/* The settings are new, or a switch: is the room governed? */
void switches_apply(struct live_room *room);
