/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

static uint64_t read_clock(clockid_t id, uint64_t per_second)
{
    struct timespec ts;

    (void)clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * per_second +
           (uint64_t)ts.tv_nsec / (1'000'000'000 / per_second);
}

uint64_t clock_mono_ms(void)
{
    return read_clock(CLOCK_MONOTONIC, 1000);
}

uint64_t clock_mono_ns(void)
{
    return read_clock(CLOCK_MONOTONIC, 1'000'000'000);
}

uint64_t clock_wall_ms(void)
{
    return read_clock(CLOCK_REALTIME, 1000);
}

/* Without snprintf(): every envelope that is said has a time. */
static void put_digits(char *at, size_t count, unsigned value)
{
    for (size_t i = count; i-- > 0; value /= 10)
        at[i] = (char)('0' + value % 10);
}

struct str clock_write(uint64_t wall_ms, char text[static CLOCK_TEXT])
{
    static const char form[] = "0000-00-00T00:00:00.000Z";
    _Static_assert(sizeof(form) == CLOCK_TEXT);
    time_t seconds = (time_t)(wall_ms / 1000);
    struct tm tm;

    (void)gmtime_r(&seconds, &tm);
    memcpy(text, form, sizeof(form));
    put_digits(text, 4, (unsigned)tm.tm_year + 1900);
    put_digits(text + 5, 2, (unsigned)tm.tm_mon + 1);
    put_digits(text + 8, 2, (unsigned)tm.tm_mday);
    put_digits(text + 11, 2, (unsigned)tm.tm_hour);
    put_digits(text + 14, 2, (unsigned)tm.tm_min);
    put_digits(text + 17, 2, (unsigned)tm.tm_sec);
    put_digits(text + 20, 3, (unsigned)(wall_ms % 1000));
    return (struct str){ text, CLOCK_TEXT - 1 };
}

/* A cursor over the text of a date; the first failure sticks. */
struct reader {
    struct str text;
    size_t at;
    bool failed;
};

static unsigned read_digits(struct reader *r, size_t count, unsigned low, unsigned high)
{
    uint64_t value = 0;

    if (r->failed || r->at + count > r->text.len ||
        str_to_u64((struct str){ r->text.ptr + r->at, count }, high, &value) ||
        value < low) {
        r->failed = true;
        return low;
    }
    r->at += count;
    return (unsigned)value;
}

static char read_one_of(struct reader *r, const char *set)
{
    if (!r->failed && r->at < r->text.len)
        for (const char *c = set; *c; c++)
            if (*c == r->text.ptr[r->at]) {
                r->at++;
                return *c;
            }
    r->failed = true;
    return '\0';
}

static bool peek(const struct reader *r, char c)
{
    return r->at < r->text.len && r->text.ptr[r->at] == c;
}

/* The fraction of a second in ms; digits beyond the third are read and dropped. */
static unsigned read_fraction(struct reader *r)
{
    unsigned ms = 0;
    unsigned weight = 100;
    size_t digits = 0;

    if (!peek(r, '.'))
        return 0;
    r->at++;
    for (; r->at < r->text.len; r->at++, digits++) {
        char c = r->text.ptr[r->at];

        if (c < '0' || c > '9')
            break;
        ms += (unsigned)(c - '0') * weight;
        weight /= 10;
    }
    if (digits == 0)
        r->failed = true;
    return ms;
}

static int read_offset_minutes(struct reader *r)
{
    char sign = read_one_of(r, "Zz+-");
    unsigned minutes;

    if (sign == 'Z' || sign == 'z' || r->failed)
        return 0;
    minutes = read_digits(r, 2, 0, 23) * 60;
    (void)read_one_of(r, ":");
    minutes += read_digits(r, 2, 0, 59);
    return sign == '-' ? -(int)minutes : (int)minutes;
}

static unsigned days_in(unsigned year, unsigned month)
{
    static const unsigned char days[] = {
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && is_leap);
}

/* Days from 1970-01-01 in the Gregorian calendar. Years begin in March here, so that the
 * leap day is the last of its year. timegm() does the same behind a lock, and a date is
 * read with every envelope. */
static int64_t days_from_1970(unsigned year, unsigned month, unsigned day)
{
    int64_t y = (int64_t)year - (month <= 2);
    int64_t since_march = (month + 9) % 12;
    int64_t leap_days = y / 4 - y / 100 + y / 400;

    return y * 365 + leap_days + (153 * since_march + 2) / 5 + day - 1 - 719468;
}

enum err clock_parse(struct str text, uint64_t *ret_wall_ms)
{
    struct reader r = { .text = text };
    unsigned year, month, day, hour, minute, second, ms;
    int64_t seconds;
    int offset;

    year = read_digits(&r, 4, 0, 9999);
    (void)read_one_of(&r, "-");
    month = read_digits(&r, 2, 1, 12);
    (void)read_one_of(&r, "-");
    day = read_digits(&r, 2, 1, days_in(year, month));
    (void)read_one_of(&r, "Tt ");
    hour = read_digits(&r, 2, 0, 23);
    (void)read_one_of(&r, ":");
    minute = read_digits(&r, 2, 0, 59);
    (void)read_one_of(&r, ":");
    second = read_digits(&r, 2, 0, 60);
    if (second == 60)
        second = 59;
    ms = read_fraction(&r);
    offset = read_offset_minutes(&r);
    if (r.failed || r.at != text.len)
        return ERR_INVALID;
    seconds = days_from_1970(year, month, day) * 86400 + (int64_t)hour * 3600 +
              (int64_t)minute * 60 + second - (int64_t)offset * 60;
    *ret_wall_ms = seconds < 0 ? 0 : (uint64_t)seconds * 1000 + ms;
    return OK;
}
