/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event stream (text/event-stream) from bytes: the caller pulls events, as from the
 * other codecs. A stream may be cut anywhere; what has no empty line behind it is no
 * event.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct events {
    struct buf line; /* one that is not complete */
    struct buf data; /* of the event that is being read, as the next two */
    struct buf type;
    struct buf id;     /* the last one, which stays */
    uint64_t retry_ms; /* UINT64_MAX: it was never said */
    size_t max;
    bool has_data, has_failed, skips_lf;
};

struct event {
    struct str type; /* "message" where none is given */
    struct str data; /* may be "": a priming event of MCP */
    struct str id;   /* the last that was given, or "" */
};

/* An event of more than `max` bytes is a failure. */
void events_init(struct events *events, size_t max);
void events_done(struct events *events);

/* Takes from `bytes` until an event is complete; false: all was taken, or has_failed. The
 * event is valid until the next call. Events without data and id are left out. */
bool events_next(struct events *events, struct str *bytes, struct event *ret);
