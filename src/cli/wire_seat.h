/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seat over WebSocket in a loop: what `moot bridge` and `moot mcp` sit on. The wire
 * (client/wire.h) reconnects and resumes by itself.
 */
#pragma once

#include "base/err.h"
#include "cli/session.h"
#include "client/wire.h"
#include "loop/loop.h"
#include "participant/seat.h"

struct wire_seat;

enum { WIRE_SEAT_MESSAGE = 4 << 20 }; /* bytes of what is heard */

/* Where the options lead to, and with the patience of whoever stays. Borrows from both.
 */
struct wire_settings wire_seat_settings(const struct session_options *options,
                                        const struct session_target *target);

/* `settings` is only read; resuming goes behind seat_ops.on_after(). ERR_INVALID:
 * *ret_why (owned by the caller). */
enum err wire_seat_open(struct loop *loop, const struct wire_settings *settings,
                        const struct seat_ops *ops, void *user, struct wire_seat **ret,
                        char **ret_why);
struct seat *wire_seat_of(struct wire_seat *seat);

/* Sends what waits, says goodbye; on_lost (is_final) comes. */
void wire_seat_leave(struct wire_seat *seat);
void wire_seat_free(struct wire_seat *seat);
