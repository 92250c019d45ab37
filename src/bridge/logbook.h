/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last lines that a server wrote to standard error, and what happened to it, bounded
 * in bytes; and those who follow it. Control characters do not survive, secrets of its
 * environment neither.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"
#include "base/str.h"

struct logbook;

struct logbook *logbook_new(size_t max_bytes);
void logbook_free(struct logbook *logbook);

/* A value that never appears: it is copied, wiped at the end. Short ones are ignored. */
void logbook_hide(struct logbook *logbook, struct str secret);

/* `by`: "server", or "moot" for what happened to it. */
void logbook_add(struct logbook *logbook, struct str by, struct str line,
                 uint64_t wall_ms);

/* The last `lines` (0: all), one JSON object each: {"ts","by","line"}. */
void logbook_put(const struct logbook *logbook, size_t lines, struct buf *out);

struct log_follower {
    struct link link;
    void (*on_line)(struct log_follower *self, struct str json);
};
void logbook_follow(struct logbook *logbook, struct log_follower *follower);
void log_follower_stop(struct log_follower *follower);
