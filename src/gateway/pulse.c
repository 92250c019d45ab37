/* SPDX-License-Identifier: Apache-2.0 */
#include "gateway/pulse.h"

enum { MINUTE_MS = 60'000, FIVE_MS = 300'000, SLACK_MS = 1000 };

/* --- how long it took --- */

size_t pulse_class(uint64_t ms)
{
    size_t power, class;

    if (ms < 4)
        return ms;
    power = 63 - (size_t)__builtin_clzll(ms);
    class = 4 * (power - 1) + (ms >> (power - 2) & 3);
    return class < PULSE_CLASSES ? class : PULSE_CLASSES - 1;
}

/* The middle of a class. */
static uint64_t class_ms(size_t class)
{
    size_t power;
    uint64_t from;

    if (class < 4)
        return class;
    power = class / 4 + 1;
    from = (UINT64_C(4) | class % 4) << (power - 2);
    return from + (UINT64_C(1) << (power - 2)) / 2;
}

static uint64_t timed(const struct pulse_totals *since, const struct pulse_totals *now)
{
    uint64_t total = 0;

    for (size_t i = 0; i < PULSE_CLASSES; i++)
        total += now->times[i] - since->times[i];
    return total;
}

/* The class in which the one of this rank is, of those counted between both; 0: none. */
static uint64_t quantile(const struct pulse_totals *since, const struct pulse_totals *now,
                         uint64_t percent)
{
    uint64_t rank = (timed(since, now) * percent + 99) / 100, seen = 0;

    for (size_t i = 0; i < PULSE_CLASSES; i++) {
        seen += now->times[i] - since->times[i];
        if (rank && seen >= rank)
            return class_ms(i);
    }
    return 0;
}

/* --- beats --- */

static struct pulse_beat beat_of(const struct pulse_series *series,
                                 const struct pulse_totals *now)
{
    const struct pulse_totals *since = &series->since;

    return (struct pulse_beat){
        .at_ms = series->since_ms,
        .messages = now->messages - since->messages,
        .refused = now->refused - since->refused,
        .opened = now->opened - since->opened,
        .decided = now->decided - since->decided,
        .timed = timed(since, now),
        .p50_ms = quantile(since, now, 50),
        .p95_ms = quantile(since, now, 95),
        .waiting = now->waiting,
        .queued_bytes = now->queued_bytes,
        .members = now->members,
        .connections = now->connections,
        .memory_bytes = now->memory_bytes,
    };
}

static void series_init(struct pulse_series *series, uint64_t wall_ms,
                        const struct pulse_totals *now)
{
    series->since_ms = wall_ms;
    series->since = *now;
}

void pulse_init(struct pulse *pulse, uint64_t wall_ms, const struct pulse_totals *now)
{
    /* The beats are written before they are read: until then they cost no memory. */
    pulse->minutes = (struct pulse_series){ .beats = pulse->minute_beats,
                                            .max = PULSE_MINUTES,
                                            .span_ms = MINUTE_MS };
    pulse->fives = (struct pulse_series){ .beats = pulse->five_beats,
                                          .max = PULSE_FIVES,
                                          .span_ms = FIVE_MS };
    series_init(&pulse->minutes, wall_ms, now);
    series_init(&pulse->fives, wall_ms, now);
}

/* Where the clock was set back a stretch lasts until it has caught up, or begins anew. */
static void series_note(struct pulse_series *series, uint64_t wall_ms,
                        const struct pulse_totals *now)
{
    if (wall_ms + SLACK_MS < series->since_ms + series->span_ms &&
        wall_ms + SLACK_MS >= series->since_ms)
        return;
    series->beats[series->next] = beat_of(series, now);
    series->next = (series->next + 1) % series->max;
    if (series->count < series->max)
        series->count++;
    series_init(series, wall_ms, now);
}

void pulse_note(struct pulse *pulse, uint64_t wall_ms, const struct pulse_totals *now)
{
    series_note(&pulse->minutes, wall_ms, now);
    series_note(&pulse->fives, wall_ms, now);
}

/* --- writing --- */

static void write_beat(const struct pulse_beat *beat, struct json_writer *w)
{
    json_object_open(w);
    json_put_time(w, S("at"), beat->at_ms);
    json_put_uint(w, S("messages"), beat->messages);
    json_put_uint(w, S("refused"), beat->refused);
    json_put_uint(w, S("opened"), beat->opened);
    json_put_uint(w, S("decided"), beat->decided);
    if (beat->timed) {
        json_put_uint(w, S("p50_ms"), beat->p50_ms);
        json_put_uint(w, S("p95_ms"), beat->p95_ms);
    }
    json_put_uint(w, S("waiting"), beat->waiting);
    json_put_uint(w, S("queued_bytes"), beat->queued_bytes);
    json_put_uint(w, S("members"), beat->members);
    json_put_uint(w, S("connections"), beat->connections);
    json_put_uint(w, S("memory_bytes"), beat->memory_bytes);
    json_object_close(w);
}

static void write_series(const struct pulse_series *series, struct str name,
                         const struct pulse_totals *now, struct json_writer *w)
{
    struct pulse_beat running = beat_of(series, now);
    size_t first = (series->next + series->max - series->count) % series->max;

    json_key(w, name);
    json_array_open(w);
    for (size_t i = 0; i < series->count; i++)
        write_beat(&series->beats[(first + i) % series->max], w);
    write_beat(&running, w);
    json_array_close(w);
}

void pulse_write(const struct pulse *pulse, const struct pulse_totals *now,
                 struct json_writer *w)
{
    write_series(&pulse->minutes, S("minutes"), now, w);
    write_series(&pulse->fives, S("five_minutes"), now, w);
}
