/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rights that outlive the process. Whoever keeps them hears of each grant and strike that
 * comes, changes or goes, and at the next start puts what he has back where it was.
 */
#pragma once

#include "base/err.h"
#include "policy/rights.h"

enum keeping { KEEP, KEEP_NO_MORE };

/* `KEEP` says it again as it is now: it is new, has lost capabilities or has been used.
 * It is valid during the call; its order and the topic of its holder name it. */
struct rights_keeper {
    void (*grant)(const struct rights_keeper *self, const struct grant *grant,
                  enum keeping what);
    void (*strike)(const struct rights_keeper *self, struct rights_key holder,
                   const struct strike *strike, enum keeping what);
};

void rights_set_keeper(struct rights *rights, const struct rights_keeper *keeper);

/* Puts one back, before there is a keeper: those of a topic in their order, with that
 * order in the terms. What all topics together may have was asked when it was said, and a
 * strike is never one too many. ERR_CONFLICT: it is there; ERR_INVALID: a bad capability,
 * none, more than one in a strike, or out of order; ERR_OVERLOAD: too many grants. */
enum err rights_restore_grant(struct rights *rights, struct rights_key holder,
                              const struct grant_terms *terms, uint64_t uses);
enum err rights_restore_strike(struct rights *rights, struct rights_key holder,
                               const struct strike_terms *terms);

/* All is back: whatever was struck in all topics goes from the topics that had not heard
 * of it yet. New changes come behind `order` and behind all that were restored; returns
 * the last of these. */
uint64_t rights_restored(struct rights *rights, uint64_t order);
