/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much was done, minute by minute of the last hour and in five minutes of the last
 * day: what counters and gauges were, and how long decisions took. Pure; memory is fixed.
 * It begins with the process.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "json/json.h"

/* Times in milliseconds, four classes to each power of two, up to a day and more. */
enum { PULSE_CLASSES = 4 * 32 };
size_t pulse_class(uint64_t ms);

/* What is known at one moment, of all workers. */
struct pulse_totals {
    uint64_t messages, refused, opened, decided; /* counters */
    uint64_t times[PULSE_CLASSES]; /* how long people's decisions took; likewise */
    uint64_t waiting, queued_bytes, members, connections, memory_bytes; /* as they are */
};

/* A stretch of time. */
struct pulse_beat {
    uint64_t at_ms, messages, refused, opened, decided;
    uint64_t timed, p50_ms, p95_ms; /* how many decisions of people, and their times */
    uint64_t waiting, queued_bytes, members, connections, memory_bytes; /* at its end */
};

enum { PULSE_MINUTES = 60, PULSE_FIVES = 288 };

struct pulse_series {
    struct pulse_beat *beats; /* a ring */
    size_t max, count, next;
    uint64_t span_ms;
    uint64_t since_ms;         /* of the stretch that runs */
    struct pulse_totals since; /* and what was known then */
};

struct pulse {
    struct pulse_series minutes, fives;
    struct pulse_beat minute_beats[PULSE_MINUTES], five_beats[PULSE_FIVES];
};

void pulse_init(struct pulse *pulse, uint64_t wall_ms, const struct pulse_totals *now);

/* Call every minute or so: what has lasted long enough is over. */
void pulse_note(struct pulse *pulse, uint64_t wall_ms, const struct pulse_totals *now);

/* "minutes" and "five_minutes": lists of beats, the oldest first; the last is the one
 * that runs. */
void pulse_write(const struct pulse *pulse, const struct pulse_totals *now,
                 struct json_writer *w);
