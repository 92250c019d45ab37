/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a worker has to say to the store. Records and changes of state are collected in
 * one batch, which goes to the writer when the work of the turn is done in which somebody
 * began to wait for it; if nobody does, a moment later or when it is large. A ticket
 * names the batch: what carries it (an entry of a topic, the answer to a request) is held
 * until the batch is durable.
 *
 * With audit *async* nothing waits, and what finds the queue full is dropped, counted and
 * announced. With *required*, and for every change of state, things wait; while the store
 * fails, such envelopes are refused as unavailable.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/record.h"
#include "base/list.h"
#include "loop/loop.h"
#include "store/store.h"
#include "topic/participant.h"

struct live_room;
struct worker;

enum audit_mode { AUDIT_OFF, AUDIT_ASYNC, AUDIT_REQUIRED };

struct recorder {
    struct recorder_batch *open;  /* NULL: nothing so far */
    struct recorder_batch *spare; /* to be used again, a few */
    size_t spare_count;
    uint64_t ticket;                /* of the open batch, or of the next */
    uint64_t durable;               /* the last ticket that is */
    struct link waiters;            /* recorder_wait(), the earliest ticket first */
    struct link held_rooms;         /* with entries that wait */
    struct loop_task handover;      /* of the open batch, when the turn's work is done, */
    struct loop_timer gather_timer; /* or at the latest then */
    struct link gap_rooms;          /* of which records were dropped */
    uint64_t dropped;               /* records of no room, not yet told */
    struct bucket strays;
    struct loop_timer gap_timer;
    bool is_wanted; /* some topic is, or was, recorded: then the gateway is as well */
    bool is_closed;
};

void recorder_init(struct worker *worker);
void recorder_done(struct worker *worker);

/* The worker's settings are new. */
void recorder_apply(struct worker *worker);

/* Notes a record: at_ms and what the writer fills in are left empty. Returns the ticket
 * to wait for; 0: there is nothing to wait for. Only what is AUDIT_ASYNC may be dropped.
 */
uint64_t recorder_note(struct worker *worker, enum audit_mode mode,
                       const struct audit_record *record);

/* The same in two steps, for the many: whether a record of this room is taken (that it
 * was dropped is noted), and only then the record, which has to be made up. */
bool recorder_takes(struct live_room *room);
uint64_t recorder_keep(struct worker *worker, enum audit_mode mode,
                       const struct audit_record *record);

/* The same, in passing, for what no limit of its own holds back, such as envelopes that
 * come too fast: so many a second, by whomever. The others count as dropped. */
void recorder_note_stray(struct worker *worker, const struct audit_record *record);

/* Keeps or forgets a thing; returns the ticket. */
uint64_t recorder_put(struct worker *worker, const struct store_item *item);
uint64_t recorder_remove(struct worker *worker, const struct store_item *item);

/* The ticket of what is noted, put and removed until the caller returns to the loop,
 * before anything is. */
uint64_t recorder_ticket(struct worker *worker);

/* The ticket of the changes of state made since the last turn; 0: there are none. */
uint64_t recorder_changes(const struct worker *worker);

/* The ticket of all that was put and removed so far. */
uint64_t recorder_last(const struct worker *worker);

/* What is said when it cannot. */
extern const char recorder_problem[];

/* Can what must be durable be taken on? Not while the store fails, nor while far too much
 * waits for it. */
bool recorder_is_able(const struct worker *worker);

/* Hands over what is open, before the turn's work is done. */
void recorder_hand_over(struct worker *worker);

/* The same, and takes nothing more: before the store is closed. */
void recorder_close(struct worker *worker);

/* A room ends: nothing of it waits any more. */
void recorder_forget_room(struct live_room *room);

/* Someone who goes on when a ticket is durable: at once if it is. ERR_UNAVAILABLE: the
 * gateway stops, and nobody will know whether it became so. */
struct recorder_waiter {
    struct link link;
    uint64_t ticket;
    void (*on_end)(struct recorder_waiter *self, enum err err);
};

void recorder_wait(struct worker *worker, struct recorder_waiter *waiter);
void recorder_cancel(struct recorder_waiter *waiter);

/* Whoever waits is told that it is in vain. */
void recorder_give_up(struct worker *worker);
