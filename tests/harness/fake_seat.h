/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seat in no room: keeps what is sent, and what the one who sits on it tells, as lines.
 *
 *     fake_seat_init(&fake, &(struct occupant_settings){});
 *     fake_seat_welcome(&fake, "[\"chat\"]", "");
 *     fake_hear(&fake, "{…}");
 *     CHECK_STR(fake_told(&fake), S("heard 1 ann chat\n"));
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "participant/ask.h"
#include "participant/occupant.h"
#include "participant/seat.h"

struct fake_seat {
    struct seat seat;
    struct occupant *occupant;
    struct moment now;
    bool is_away; /* send answers ERR_AGAIN */
    struct buf sent;
    struct buf told;
    struct buf last_told; /* what fake_told() gave out */
    struct buf last_sent;
    size_t sent_count;
    uint64_t fence; /* the last number */
    uint64_t system_count;
    void (*on_proposal)(struct fake_seat *fake, const struct proposed *proposal);
};

/* Settings that are 0 are made large enough; the prefix is "me" unless it is given. */
void fake_seat_init(struct fake_seat *fake, const struct occupant_settings *settings);
void fake_seat_done(struct fake_seat *fake);

/* A text, whole. */
void fake_hear(struct fake_seat *fake, const char *text);

/* {"protocol":"mcpx/v0.1","id":…,"from":…,"kind":…,REST}, REST with its payload. */
void fake_hear_from(struct fake_seat *fake, const char *from, const char *id,
                    const char *kind, const char *rest);

/* The same of the gateway; REST is what stands in the payload. */
void fake_hear_gateway(struct fake_seat *fake, const char *kind, const char *rest);

/* A connection begins, and "bot" is welcome: our capabilities, others as JSON. Forgets
 * what was told of it. */
void fake_seat_welcome(struct fake_seat *fake, const char *capabilities,
                       const char *participants);

/* The last fence comes back. */
void fake_judge(struct fake_seat *fake);

/* What was told, or sent, since the last time: a line each, and a NUL behind them; valid
 * until the next time. */
struct str fake_told(struct fake_seat *fake);
struct str fake_sent(struct fake_seat *fake);

/* Tells what becomes of something asked, a line each, where `user` is the fake seat. */
extern const struct ask_ops fake_ask;

/* Time passes, and it is told. */
void fake_tick(struct fake_seat *fake, uint64_t ms);
