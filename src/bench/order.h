/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one order of a topic, as its members reveal it. Whoever sees a message first gives
 * it its position; all others must see it there:
 *
 *     order        a0 b0 a1 a2 b1 …
 *     position      0  1  2  3  4
 *     a view            └─────────── came after b0: must see a1, a2, b1, … all, once
 *
 * A view is what one member sees from its join on. Its first message tells where it
 * begins. If nobody else has seen that one yet, its place is not known and what the view
 * sees is put aside until it is. What was sent after the member had come must be in it.
 *
 * All of it is pure: numbers in, faults out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "bench/track.h"

/* So many messages of a publisher keep their position, and a view may put so many aside.
 */
enum { ORDER_RING = 65'536 };

struct order {
    uint32_t publishers;
    uint32_t head;       /* positions given */
    uint32_t *next;      /* per publisher: its first message without a position */
    uint32_t *positions; /* per publisher a ring */
};

void order_init(struct order *order, uint32_t publishers);
void order_done(struct order *order);

/* The position of a message, its next one if nobody has seen it. Messages of the same
 * publisher that were left out get theirs before it. ERR_NOT_FOUND: it has been
 * forgotten; ERR_INVALID: there is no such publisher, or it is too far ahead. */
enum err order_place(struct order *order, uint32_t publisher, uint32_t seq,
                     uint32_t *ret);

struct sighting {
    uint32_t publisher;
    uint32_t seq;
};

struct view {
    struct track track; /* over positions */
    bool is_placed;
    uint32_t *due;          /* per publisher: what is surely sent after the join */
    struct sighting *aside; /* seen, but without a place */
    size_t aside_count;
    size_t aside_size;
};

void view_init(struct view *view, const struct order *order);
void view_done(struct view *view);

/* A member comes; from each publisher p everything from `due[p]` on is sent later. Who
 * comes before anything was sent must see everything, and its place is known. */
void view_begin(struct view *view, const struct order *order, const uint32_t *due);

/* The member has received a message. Errors as of order_place(), and ERR_TOO_BIG when too
 * much has been put aside. */
enum err view_see(struct view *view, struct order *order, struct sighting sighting,
                  struct track_faults *faults);

/* Places what was put aside, if its place is known by now. Errors as of view_see(). */
enum err view_settle(struct view *view, struct order *order, struct track_faults *faults);

/* How many messages it still lacks, if each publisher p has sent `sent[p]`. */
uint64_t view_lacks(const struct view *view, const struct order *order,
                    const uint32_t *sent);
