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
    struct buf next_id;
    struct buf id;     /* of the last event that had one; it stays */
    uint64_t retry_ms; /* UINT64_MAX: it was never said */
    bool has_begun;    /* the first line was read */
    bool has_data, has_id;
    bool is_told; /* the event was handed out, and is forgotten with the next call */
    bool skips_lf;
    bool has_failed;
};

struct event {
    struct str type; /* "message" where none is given */
    struct str data; /* may be "": a priming event of MCP */
    struct str id;   /* the last that was given, or "" */
};

enum { EVENTS_MAX_ID = 4096 }; /* bytes of an id, and of a type */

/* A line or an event of more than `max` bytes is a failure, and so is an endless id or
 * type. */
void events_init(struct events *events, size_t max);
void events_done(struct events *events);

/* Takes from `bytes` until an event is complete; false: all was taken, or has_failed. The
 * event is valid until the next call. Events without data and id are left out. */
bool events_next(struct events *events, struct str *bytes, struct event *ret);
