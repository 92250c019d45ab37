/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seat over WebSocket in a loop: what `moot bridge` sits on. The wire (client/wire.h)
 * reconnects and resumes by itself.
 */
#pragma once

#include "base/err.h"
#include "client/wire.h"
#include "loop/loop.h"
#include "participant/seat.h"

struct wire_seat;

/* `settings` is only read; resuming goes behind seat_ops.on_after(). ERR_INVALID:
 * *ret_why (owned by the caller). */
enum err wire_seat_open(struct loop *loop, const struct wire_settings *settings,
                        const struct seat_ops *ops, void *user, struct wire_seat **ret,
                        char **ret_why);
struct seat *wire_seat_of(struct wire_seat *seat);

/* Sends what waits, says goodbye; on_lost (is_final) comes. */
void wire_seat_leave(struct wire_seat *seat);
void wire_seat_free(struct wire_seat *seat);
