/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of an orchestrator. */
#pragma once

#include "base/list.h"
#include "base/map.h"
#include "orchestrate/orchestrator.h"

enum {
    ORCHESTRATE_OPEN = 4096,           /* open proposals that are looked at */
    ORCHESTRATE_OPEN_BYTES = 32 << 20, /* and what they weigh */
    ORCHESTRATE_MARKS = 8,             /* rules in shadow that are noted of one */
    ORCHESTRATE_TALLIES = 1024,
    ORCHESTRATE_SUGGESTIONS = 10, /* an hour; as many again for those who ask */
    ORCHESTRATE_WORDS = 4096,     /* bytes said at once */
    ORCHESTRATE_HOUR_MS = 3'600'000,
};

/* An open proposal. */
struct open_one {
    struct link link; /* the oldest first */
    struct str id, envelope;
    uint32_t needed; /* approvals; 0: the gateway has not said */
    bool is_tried;   /* with a rule; whatever came of it, it is people's now */
    bool is_taught;  /* the journal has its end */
    bool waits;      /* its owner is not here */
    bool is_fresh;   /* nobody has looked at it yet */
    char marks[ORCHESTRATE_MARKS][RULE_ID];
    size_t mark_count;
    char text[];
};

/* What is counted of a rule. */
struct tally {
    struct str id;
    uint64_t would, agreed, disagreed; /* in shadow */
    uint64_t used;
    uint64_t suggested_ms; /* by us; 0: never */
    uint64_t refusals;     /* in a row */
    uint64_t told_ms;      /* that it is used up */
    char *words;           /* to say once it is in the book; or NULL */
    char text[];
};

/* So many within an hour. */
struct allowance {
    uint64_t times[ORCHESTRATE_SUGGESTIONS];
    size_t next;
};

struct orchestrator {
    struct orchestrator_options options;
    char *topic;
    struct orchestrator_ops ops;
    struct history *history;
    struct learner *learner;
    struct known known;
    struct map open, tallies;
    struct link by_age;
    size_t open_count, open_bytes;
    struct arena scratch; /* of what is heard */
    struct buf me, after;
    bool is_after_new;   /* it is not in the journal yet */
    uint64_t gateway_ms; /* the last time that the gateway told */
    uint64_t now_ms;     /* of what is being heard or done */
    struct allowance found, asked;
    uint64_t suggested;                                         /* since it began */
    uint64_t fresh_ms, sweep_ms, suggest_ms, book_ms, write_ms; /* due; 0: not */
    uint64_t book_failures;
};

/* --- orchestrator.c --- */

void orchestrate_write(struct orchestrator *o, struct journal_entry *entry);
void orchestrate_say(struct orchestrator *o, struct str words);
struct tally *orchestrate_tally(struct orchestrator *o, struct str id);
bool allowance_take(struct allowance *allowance, uint64_t now_ms);

/* --- open.c --- */

struct open_one *open_find(const struct orchestrator *o, struct str id);
struct open_one *open_add(struct orchestrator *o, struct str id, struct str envelope);
void open_remove(struct orchestrator *o, struct open_one *one);
void open_sweep(struct orchestrator *o);
void open_sweep_fresh(struct orchestrator *o); /* those that came last */
/* Of the journal: this rule in shadow was noted of it. */
void open_load_mark(struct orchestrator *o, struct str id, struct str rule);
/* A person has decided: what rules in shadow would have done is compared. */
void open_compare(struct orchestrator *o, struct open_one *one, bool is_approved);

/* --- suggest.c --- */

void suggest_rules(struct orchestrator *o);
/* `asker` "": it was found. */
void suggest_one(struct orchestrator *o, const struct rule *rule, struct str asker);
