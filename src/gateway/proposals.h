/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The open proposals of a room, as whoever comes later is shown them: in the welcome and
 * by GET /topics/T/proposals. With each comes its envelope, as far as there is room.
 */
#pragma once

#include "gateway/room.h"

struct proposals_showing {
    size_t envelope_bytes; /* longer ones are listed without their envelope */
    size_t all_bytes;      /* of all envelopes; the rest likewise */
    struct str id;         /* this one alone; ptr NULL: all */
};

/* "proposals": oldest first, in the reader's dialect. */
void proposals_show(struct live_room *room, enum dialect dialect,
                    const struct proposals_showing *showing, struct json_writer *w);
