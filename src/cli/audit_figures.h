/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stretch of the record amounts to: how much was said when, by whom and of which
 * kind, what was refused and why, how long proposals waited. Pure, and of bounded size:
 * minutes become wider where there are too many, and of names those that are met first
 * are counted one by one, the others together.
 */
#pragma once

#include "audit/record.h"
#include "base/buf.h"
#include "base/map.h"
#include "bench/histogram.h"
#include "cli/palette.h"

enum { FIGURES_SLOTS = 2048, FIGURES_NAMES = 20'000, FIGURES_PROPOSALS = 100'000 };

/* Names and how often each was met. */
struct tally {
    struct map names; /* struct tally_entry */
    uint64_t others;
    uint64_t total;
};

struct audit_figures {
    uint64_t records, first_ms, last_ms;
    uint64_t messages, refusals, dropped;
    uint64_t slots[FIGURES_SLOTS]; /* messages, from start_ms on */
    uint64_t start_ms, slot_ms;
    size_t slot_count;
    struct tally reasons, people, kinds, topics;
    struct map proposals;   /* open ones: id, and when */
    struct histogram waits; /* in ms, from proposal to request or rejection */
    uint64_t proposed, fulfilled, rejected, withdrawn;
};

void audit_figures_init(struct audit_figures *f);
void audit_figures_done(struct audit_figures *f);

/* In the order of time. Bodies are not looked at, but for those of drops. */
void audit_figures_add(struct audit_figures *f, const struct audit_record *record);

struct audit_figures_look {
    const struct palette *ink;
    bool is_utf8;
    size_t columns;
    size_t rows; /* of each list */
};

void audit_figures_put(struct buf *out, const struct audit_figures *f,
                       const struct audit_figures_look *look);
void audit_figures_put_json(struct buf *out, const struct audit_figures *f);
