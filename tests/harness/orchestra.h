/* SPDX-License-Identifier: Apache-2.0 */
/* An orchestrator in the topic room, in which bot proposes calls of t at srv and ann, a
 * person, decides. What it does is noted, a line each. */
#pragma once

#include "orchestrate/orchestrator.h"

#define ORCHESTRA_NOW 1'800'000'000'000ULL /* 2027-01-15T08:00:00Z */
#define DAY_MS        86'400'000ULL
#define HOUR_MS       3'600'000ULL

struct orchestra {
    struct orchestrator *orchestrator;
    struct learner_options learner;
    uint64_t now_ms;
    bool is_away;   /* srv */
    bool is_replay; /* what is heard now */
    unsigned count; /* of envelopes */
    struct buf acts, given, journal;
    struct buf payload; /* of the last suggestion */
    struct buf words;   /* said last */
    struct str book;    /* answers ACT_BOOK; ptr NULL: nobody does */
    void (*on_fulfil)(struct orchestra *s, struct str rule, struct str proposal);
    void *user;
};

/* 15 approvals on one day are enough, unless `learner` says something else. */
void orchestra_open(struct orchestra *s);
void orchestra_close(struct orchestra *s);
/* Ends it, and begins anew with what is in its journal. */
void orchestra_restart(struct orchestra *s);

/* An envelope; `rest` are its other members with the payload. */
void orchestra_hear(struct orchestra *s, const char *from, const char *kind,
                    const char *id, const char *correlation, const char *rest);
void orchestra_gateway(struct orchestra *s, const char *kind, const char *payload);

/* bot proposes it; ann, or another, makes the call or says no. The gateway's word on it
 * is heard as well. */
void orchestra_propose(struct orchestra *s, const char *id, const char *arguments);
void orchestra_fulfil(struct orchestra *s, const char *who, const char *id,
                      const char *arguments);
void orchestra_reject(struct orchestra *s, const char *who, const char *id);
void orchestra_closed(struct orchestra *s, const char *id, const char *state,
                      const char *more);

/* Time passes, and everything that is due is done. */
void orchestra_pass(struct orchestra *s, uint64_t ms);

/* What it did since it was last asked, without the lines of its journal. */
struct str orchestra_acts(struct orchestra *s);
