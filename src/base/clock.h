/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time. Code inside a loop asks loop_now_ms(); pure code takes `now` as an argument.
 * Wall-clock times are milliseconds since 1970 in UTC.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Monotonic, for deadlines. */
uint64_t clock_mono_ms(void);
uint64_t clock_mono_ns(void);

/* Wall clock, for people. */
uint64_t clock_wall_ms(void);

enum { CLOCK_TEXT = 25 };

/* Writes "2026-11-15T05:06:07.089Z" with its NUL and borrows it. */
struct str clock_write(uint64_t wall_ms, char text[static CLOCK_TEXT]);

/* Reads an RFC 3339 date-time with any offset; leap seconds read as :59. ERR_INVALID. */
enum err clock_parse(struct str text, uint64_t *ret_wall_ms);
