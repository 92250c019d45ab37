/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check that comes after capabilities: what policy (policy/rulings.h) and the brake
 * of a room say. Only asked where there is one of them: room->is_governed.
 *
 * `ask` and the brake refuse a request, and the refusal names the proposal that may be
 * sent instead. What fulfils a proposal passes if a person stands behind it: its sender,
 * somebody who approved, or who has accepted the rule that lets it through.
 */
#pragma once

#include <stdbool.h>

#include "admit/admit.h"

/* The ledger has judged it. ERR_CAPABILITY_VIOLATION; ERR_KIND_PAYLOAD_MISMATCH and
 * ERR_TOO_LARGE of the strict check, which requests pass here. */
enum err govern(struct admission *admission, struct refusal *refusal);

/* A proposal for which its sender has no capability: may he send the request itself, but
 * for policy or the brake, which ask for a proposal? */
bool govern_may_propose(struct admission *admission);

/* admit.c: D21, whether the topic is strict or not. */
enum err admission_compare_payload(struct admission *admission, struct refusal *refusal);
