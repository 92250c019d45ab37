/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has changed, in one order, for those who follow it: a bounded memory of events.
 * Each has a number; who knows the last one that he has seen goes on behind it, or learns
 * that what followed is no longer known.
 *
 *     first … last          numbers of one epoch, which ends with the process
 *
 * Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "directory/agent_message.h"
#include "json/json.h"

struct ticker_event {
    uint64_t sequence;
    struct str event_type;
    struct str team, topic;   /* "": of none */
    struct str_list audience; /* who may hear it; empty: whoever may look at all */
    struct str text;          /* as it is sent */
    struct str details;       /* likewise to those who may see details; "": the same */
};

struct ticker {
    struct ticker_event **events; /* by their number, modulo max_events */
    size_t max_events, max_bytes;
    size_t bytes;
    uint64_t first, last; /* first > last: there is none */
    char epoch[AGENT_UUID + 1];
};

void ticker_init(struct ticker *feed, size_t max_events, size_t max_bytes,
                 const char *epoch);
void ticker_done(struct ticker *feed);

/* The number of the next event, which stands in its text. */
uint64_t ticker_next(const struct ticker *feed);

/* Copies it, with that number; the oldest make room. One that is larger than all that may
 * be kept is not kept: it is a gap. */
void ticker_add(struct ticker *feed, const struct ticker_event *event);

/* NULL: not there any more, or not yet. Valid until the next ticker_add(). */
const struct ticker_event *ticker_find(const struct ticker *feed, uint64_t sequence);

/* Where to go on for who has seen everything up to there; false: something is missing,
 * and *ret is as much as there is. */
bool ticker_resume(const struct ticker *feed, struct str epoch, uint64_t sequence,
                   uint64_t *ret);

/* Is it what he wants to hear? Topics and teams together narrow to what concerns one of
 * them, event types to these. */
bool ticker_interests(const struct ticker_event *event,
                      const struct agent_interest *interest);

/* Is he among those it was meant for? False also where it was meant for all. */
bool ticker_names(const struct ticker_event *event, struct str id);
