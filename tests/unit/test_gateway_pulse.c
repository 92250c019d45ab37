/* SPDX-License-Identifier: Apache-2.0 */
/* Counters become stretches of time, as many as there is room for. */
#include <string.h>

#include "base/buf.h"
#include "gateway/pulse.h"
#include "harness.h"

enum { START = 1'000'000'000, MINUTE = 60'000 };

/* Everything but the times. */
static struct pulse_totals totals(uint64_t messages, uint64_t waiting)
{
    return (struct pulse_totals){ .messages = messages,
                                  .refused = messages / 10,
                                  .waiting = waiting };
}

static const struct pulse_beat *beat(const struct pulse_series *series, size_t back)
{
    return &series->beats[(series->next + series->max - 1 - back) % series->max];
}

TEST(classes_rise_and_hold_what_they_say)
{
    size_t last = 0;

    for (uint64_t ms = 0; ms < 1'000'000; ms += 1 + ms / 50) {
        size_t class = pulse_class(ms);

        CHECK(class >= last && class <= last + 1 + (ms < 16));
        last = class;
    }
    CHECK(pulse_class(24 * 3600 * 1000) < PULSE_CLASSES - 1);
    CHECK_INT(pulse_class(UINT64_MAX), PULSE_CLASSES - 1);
}

TEST(a_stretch_is_what_came_in_it)
{
    static struct pulse pulse;
    struct pulse_totals now = totals(100, 3);

    pulse_init(&pulse, START, &now);
    now = totals(160, 5);
    pulse_note(&pulse, START + MINUTE / 2, &now);
    CHECK_INT(pulse.minutes.count, 0);
    now = totals(200, 7);
    pulse_note(&pulse, START + MINUTE, &now);
    CHECK_INT(pulse.minutes.count, 1);
    CHECK_INT(pulse.fives.count, 0);
    CHECK_INT(beat(&pulse.minutes, 0)->at_ms, START);
    CHECK_INT(beat(&pulse.minutes, 0)->messages, 100);
    CHECK_INT(beat(&pulse.minutes, 0)->refused, 10);
    CHECK_INT(beat(&pulse.minutes, 0)->waiting, 7);
    for (uint64_t i = 2; i <= 5; i++) {
        now = totals(200 + i, i);
        pulse_note(&pulse, START + i * MINUTE, &now);
    }
    CHECK_INT(pulse.minutes.count, 5);
    CHECK_INT(beat(&pulse.minutes, 0)->messages, 1);
    CHECK_INT(pulse.fives.count, 1);
    CHECK_INT(beat(&pulse.fives, 0)->messages, 105);
}

TEST(the_oldest_make_room)
{
    static struct pulse pulse;
    struct pulse_totals now = totals(0, 0);

    pulse_init(&pulse, START, &now);
    for (uint64_t i = 1; i <= 2000; i++) {
        now = totals(i * i, i);
        pulse_note(&pulse, START + i * MINUTE, &now);
    }
    CHECK_INT(pulse.minutes.count, PULSE_MINUTES);
    CHECK_INT(pulse.fives.count, PULSE_FIVES);
    CHECK_INT(beat(&pulse.minutes, 0)->waiting, 2000);
    CHECK_INT(beat(&pulse.minutes, PULSE_MINUTES - 1)->waiting, 2000 - 59);
}

TEST(a_clock_that_is_set_back_begins_anew)
{
    static struct pulse pulse;
    struct pulse_totals now = totals(0, 0);

    pulse_init(&pulse, START, &now);
    now = totals(10, 0);
    pulse_note(&pulse, START - 10 * MINUTE, &now);
    CHECK_INT(pulse.minutes.count, 1);
    CHECK_INT(pulse.minutes.since_ms, START - 10 * MINUTE);
    pulse_note(&pulse, START - 9 * MINUTE, &now);
    CHECK_INT(pulse.minutes.count, 2);
}

static bool has(const struct buf *out, const char *text)
{
    return memmem(out->ptr, out->len, text, strlen(text)) != NULL;
}

TEST(quantiles_are_those_of_the_stretch)
{
    static struct pulse pulse;
    struct pulse_totals now = {};
    struct json_writer w;
    struct buf out;

    for (size_t i = 0; i < 1000; i++)
        now.times[pulse_class(5'000'000)]++; /* before */
    pulse_init(&pulse, START, &now);
    for (size_t i = 0; i < 90; i++)
        now.times[pulse_class(1000)]++;
    for (size_t i = 0; i < 10; i++)
        now.times[pulse_class(60'000)]++;
    now.decided = 120; /* some of them by rules */
    pulse_note(&pulse, START + MINUTE, &now);
    CHECK(beat(&pulse.minutes, 0)->p50_ms > 850 &&
          beat(&pulse.minutes, 0)->p50_ms < 1150);
    CHECK(beat(&pulse.minutes, 0)->p95_ms > 52'000 &&
          beat(&pulse.minutes, 0)->p95_ms < 68'000);
    buf_init(&out, 1 << 20);
    json_write_init(&w, &out);
    json_object_open(&w);
    pulse_write(&pulse, &now, &w);
    json_object_close(&w);
    CHECK(has(&out, "\"decided\":120,\"p50_ms\":"));
    CHECK(has(&out, "\"decided\":0,\"waiting\":0"));
    buf_clear(&out);
    now.decided++; /* by a rule alone */
    json_write_init(&w, &out);
    json_object_open(&w);
    pulse_write(&pulse, &now, &w);
    json_object_close(&w);
    CHECK(has(&out, "\"decided\":1,\"waiting\":0"));
    buf_done(&out);
}
