/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answers to a batch (2025-03-26), one for each request in it, collected into one
 * array. Each request has an outlet here and a strand of its own, as if it had come
 * alone; what goes out before the answers goes on the strand of the batch at once.
 *
 *     request ─ strand ─ outlet ┐
 *     request ─ strand ─ outlet ┼─ bundle ─ strand ─ outlet ─ client
 *     request ─ strand ─ outlet ┘
 *
 * It lives until the last of its outlets is gone, and then answers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "mcpdoor/outlet.h"
#include "mcpdoor/strand.h"

struct bundle;

/* Makes the strand of the batch: `terms` but for on_lost, on_freed and user, which are
 * the bundle's. `count` > 0. `now_ms` is read when something is said, and lives longer.
 * An array above `max_bytes` is not sent: 500. */
struct bundle *bundle_new(const struct strand_terms *terms, struct outlet *outlet,
                          size_t count, size_t max_bytes, const uint64_t *now_ms);

/* For the strand of that request, which is not resumable and has no priming event: the
 * batch's is and has. All of them must be used. */
struct outlet *bundle_outlet(struct bundle *bundle, size_t index);
struct strand *bundle_strand(struct bundle *bundle);
