/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the record says of a room: which envelopes were admitted and by which capability,
 * and what they changed. The recorder (recorder.h) brings it to the store.
 */
#pragma once

#include "gateway/room.h"

/* The settings of a room are new: what of it is recorded. */
void recording_set(struct live_room *room);

/* See struct room_ops. */
enum err recording_judge(struct admission *a, struct refusal *refusal);
uint64_t recording_admitted(struct admission *a, struct str text);
