/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seat: how a participant is connected to a topic. A client gives one over WebSocket,
 * the gateway one over a member; whoever sits on it (occupant.h) cannot tell which.
 *
 *     seat->send ──► the topic           what is heard ──► occupant_hear()
 *     seat->fence ─► …                   judged so far ──► occupant_judged()
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct envelope;

struct seat {
    /* Copies one whole envelope. ERR_AGAIN: there is no connection now. ERR_TOO_BIG:
     * it is longer than the gateway takes. ERR_OVERLOAD: too much waits already. */
    enum err (*send)(struct seat *seat, struct str text);
    /* The same, for a gateway in this process: the text, in slash spelling, is what the
     * view shows (envelope_scan() with that depth), so it need not be scanned again. May
     * be NULL. */
    enum err (*send_scanned)(struct seat *seat, const struct envelope *env, size_t depth);
    /* occupant_judged(number) comes when everything sent before has been judged, and
     * every refusal of it was heard. Not at all where the connection breaks before. */
    void (*fence)(struct seat *seat, uint64_t number);
    /* The welcome has come: the place counts as taken, and the gateway takes and sends
     * envelopes of this size (0: it does not say). May be NULL. */
    void (*welcome)(struct seat *seat, size_t envelope_bytes);
};

/* What a seat tells whoever made it to sit there, never from inside `send` or `fence`. */
struct seat_ops {
    /* A place was found: occupant_begin(). The welcome comes next. */
    void (*on_begin)(void *user, bool resumes);
    void (*on_text)(void *user, struct str text); /* occupant_hear() */
    void (*on_judged)(void *user, uint64_t number);
    /* It was lost: occupant_lost(). `is_final`: for good; else on_begin comes again. */
    void (*on_lost)(void *user, bool is_final, const char *why);
    /* Behind which envelope to go on: occupant_last(), or "". */
    struct str (*on_after)(void *user);
};
