/* SPDX-License-Identifier: Apache-2.0 */
/* What restore.c needs of state.c. */
#pragma once

#include "gateway/state.h"

/* The place of a topic without a room, made where there is none. */
struct parked *state_park(struct worker *worker, struct str topic);

/* Its proposals have changed behind their keeper's back. */
void state_settle(struct parked *parked);

/* From now on every change is kept. */
void state_attend(struct worker *worker);
