/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate before the log: what must be durable before anybody hears of it is held here,
 * in the order in which it was said, and so is everything said behind it. It enters the
 * lanes and the ring when its ticket is released, so that whoever reads those (cursors,
 * replays, polls, the roster) sees only what may be seen.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/map.h"
#include "base/str.h"

struct member;
struct participant;
struct presence_note;
struct topic;
struct topic_entry;

struct hold {
    struct link items; /* in their order */
    struct map ids;    /* of entries, by their hash */
    size_t count;
    size_t presence_count; /* of these */
    size_t private_count;
    size_t bytes;
};

/* At the end of the line, copied; the ticket is 0 for what only keeps its place. */
void hold_entry(struct topic *topic, const struct topic_entry *entry);
void hold_presence(struct topic *topic, const struct presence_note *note,
                   uint64_t ticket);

/* Lets in what waits for no later ticket. True: nothing is held any more. */
bool topic_release(struct topic *topic, uint64_t ticket);

/* When all that is held now has entered the log, and the ticket is released, ops->on_turn
 * is called for the participant of this id; false: nothing need be waited for. */
bool topic_hold_turn(struct topic *topic, struct str id, uint64_t ticket);

/* What is said to one connection alone. An error was judged by all that is held; a pong
 * says that what came before it was judged, so it stays behind errors. What goes out at
 * once takes along what is private and held: that has one order. */
enum private_turn { BEHIND_ALL, BEHIND_PRIVATE, AT_ONCE };
enum private_form { PRIVATE_TEXT, PRIVATE_FRAME };
struct private_note {
    struct str bytes;
    enum private_form form;
    enum private_turn turn;
};
void topic_tell(struct member *member, const struct private_note *note);

/* The text of a held entry, by ring_hash() of its id, and its ticket; ptr NULL: there is
 * no such. */
struct str topic_find_held(const struct topic *topic, uint64_t id_hash,
                           uint64_t *ret_ticket);

/* Is the participant named by presence that is held? */
bool hold_names(const struct topic *topic, const struct participant *participant);

void hold_free(struct hold *hold);
