/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rolling hour of a rule. A use counts in its minute, and each minute that has a part
 * in the hour counts as a whole:
 *
 *     minute    m-60  m-59   …    m-1    m          61 of them, of which the hour has
 *                 └─────── the hour ──────┘         parts of the first and the last
 *
 * The newest minute is never behind one that was seen before. So long as a clock that was
 * set back has not come there again, nothing becomes free, and what is used meanwhile
 * counts in it.
 */
#include "rules/rulebook_priv.h"

enum { MINUTE_MS = 60'000 };

static uint64_t minute_of(const struct rule_hour *hour, uint64_t now_ms)
{
    uint64_t minute = now_ms / MINUTE_MS;

    return minute > hour->minute ? minute : hour->minute;
}

/* Of the minute so long before the newest. */
static uint64_t uses_before(const struct rule_hour *hour, uint64_t back)
{
    if (back > hour->minute)
        return 0;
    return hour->uses[(hour->minute - back) % RULEBOOK_MINUTES];
}

void rule_hour_use(struct rule_hour *hour, uint64_t at_ms)
{
    uint64_t minute = minute_of(hour, at_ms);
    uint16_t *uses;

    for (uint64_t i = 1; i <= minute - hour->minute && i <= RULEBOOK_MINUTES; i++)
        hour->uses[(hour->minute + i) % RULEBOOK_MINUTES] = 0;
    hour->minute = minute;
    uses = &hour->uses[minute % RULEBOOK_MINUTES];
    if (*uses < UINT16_MAX)
        ++*uses;
}

uint64_t held_rule_used(const struct held_rule *held, uint64_t now_ms)
{
    uint64_t gone = minute_of(&held->hour, now_ms) - held->hour.minute;
    uint64_t sum = 0;

    for (uint64_t back = 0; gone + back < RULEBOOK_MINUTES && gone < RULEBOOK_MINUTES;
         back++)
        sum += uses_before(&held->hour, back);
    return sum;
}

uint64_t held_rule_free_ms(const struct held_rule *held, uint64_t now_ms)
{
    const struct rule_hour *hour = &held->hour;
    uint64_t sum = 0;
    uint64_t back = 0;

    if (held_rule_used(held, now_ms) < held->rule.budget)
        return 0;
    /* The minute that has to be over is the last with which there are enough. */
    for (; back < RULEBOOK_MINUTES; back++) {
        sum += uses_before(hour, back);
        if (sum >= held->rule.budget)
            break;
    }
    return (hour->minute - back + RULEBOOK_MINUTES) * MINUTE_MS;
}

/* --- as text --- */

/* The newest first; zeros at the end are left out. */
void rule_hour_write(const struct rule_hour *hour, struct json_writer *w)
{
    size_t count = RULEBOOK_MINUTES;

    while (count && uses_before(hour, count - 1) == 0)
        count--;
    if (count == 0)
        return;
    json_put_time(w, S("minute"), hour->minute * MINUTE_MS);
    json_key(w, S("by_minute"));
    json_array_open(w);
    for (size_t i = 0; i < count; i++)
        json_uint(w, uses_before(hour, i));
    json_array_close(w);
}

enum err rule_hour_read(uint64_t newest_ms, const struct json *counts,
                        struct rule_hour *ret)
{
    struct rule_hour hour = { .minute = newest_ms / MINUTE_MS };
    uint64_t back = 0;

    if (counts->type != JSON_ARRAY || counts->count > RULEBOOK_MINUTES ||
        hour.minute < RULEBOOK_MINUTES)
        return ERR_INVALID;
    JSON_FOREACH(item, counts) {
        uint64_t uses;

        if (item->type != JSON_NUMBER || str_to_u64(item->text, UINT16_MAX, &uses))
            return ERR_INVALID;
        hour.uses[(hour.minute - back++) % RULEBOOK_MINUTES] = (uint16_t)uses;
    }
    *ret = hour;
    return OK;
}
