/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seat: how a participant is connected to a topic. A client gives one over WebSocket,
 * the gateway one over a member; whoever sits on it (occupant.h) cannot tell which.
 *
 *     seat->send ──► the topic           what is heard ──► occupant_hear()
 *     seat->fence ─► …                   judged so far ──► occupant_judged()
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct seat {
    /* Copies one whole envelope. ERR_AGAIN: there is no connection now. ERR_TOO_BIG:
     * it is longer than the gateway takes. ERR_OVERLOAD: too much waits already. */
    enum err (*send)(struct seat *seat, struct str text);
    /* occupant_judged(number) comes when everything sent before has been judged, and
     * every refusal of it was heard. Not at all where the connection breaks before. */
    void (*fence)(struct seat *seat, uint64_t number);
};
