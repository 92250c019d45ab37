/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

enum { EVERY_MS = 100, FIRST_MS = 300, BAR = 30, LINE_BYTES = 4096 };
enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR };

size_t progress_columns(int fd)
{
    struct winsize size;

    if (!isatty(fd))
        return 0;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

void progress_put_number(struct buf *out, uint64_t number)
{
    if (number >= 1000) {
        progress_put_number(out, number / 1000);
        buf_putf(out, ",%03u", (unsigned)(number % 1000));
    } else {
        buf_putu(out, number);
    }
}

static void put_two(struct buf *out, uint64_t ms, uint64_t big, const char *names[2])
{
    uint64_t small = big == DAY ? HOUR : big / 60;

    buf_putf(out, "%llu %s", (unsigned long long)(ms / big), names[0]);
    if (ms % big / small)
        buf_putf(out, " %llu %s", (unsigned long long)(ms % big / small), names[1]);
}

void progress_put_duration(struct buf *out, uint64_t ms)
{
    if (ms < SECOND)
        buf_putf(out, "%llu ms", (unsigned long long)ms);
    else if (ms < MINUTE)
        buf_putf(out, "%llu.%llu s", (unsigned long long)ms / SECOND,
                 (unsigned long long)ms % SECOND / 100);
    else if (ms < HOUR)
        put_two(out, ms, MINUTE, (const char *[]){ "min", "s" });
    else if (ms < DAY)
        put_two(out, ms, HOUR, (const char *[]){ "h", "min" });
    else
        put_two(out, ms, DAY, (const char *[]){ "d", "h" });
}

void progress_put_bar(struct buf *out, double part, size_t width)
{
    size_t filled;

    part = part > 1 ? 1 : part;
    part = part > 0 ? part : 0;
    filled = (size_t)(part * (double)width);
    buf_putc(out, '[');
    for (size_t i = 0; i < width; i++)
        buf_putc(out, i < filled ? '#' : '.');
    buf_putf(out, "] %3.0f %%", part * 100);
}

static void put_pace(struct buf *out, const struct progress_state *s)
{
    progress_put_number(out, s->count);
    buf_putf(out, " %s", s->things);
    if (!s->elapsed_ms)
        return;
    buf_put(out, S("  "));
    progress_put_number(out, s->count * 1000 / s->elapsed_ms);
    buf_put(out, S("/s"));
    if (!s->done || s->done >= s->total)
        return;
    buf_put(out, S("  "));
    progress_put_duration(out, (uint64_t)((double)(s->total - s->done) / (double)s->done *
                                          (double)s->elapsed_ms));
    buf_put(out, S(" left"));
}

void progress_put(struct buf *out, const struct progress_state *s, size_t columns)
{
    size_t start = out->len;
    struct buf pace;
    size_t fixed;

    buf_init(&pace, LINE_BYTES);
    put_pace(&pace, s);
    buf_putf(out, "%s ", s->verb);
    fixed = out->len - start + sizeof("[] 100 %  ") + pace.len;
    if (s->total && fixed + 5 < columns) {
        progress_put_bar(out, (double)s->done / (double)s->total,
                         columns - fixed < BAR ? columns - fixed : BAR);
        buf_put(out, S("  "));
    }
    buf_put(out, buf_str(&pace));
    buf_done(&pace);
    if (out->len - start > columns)
        out->len = start + columns;
}

void progress_begin(struct progress *progress, const char *verb, const char *things)
{
    *progress = (struct progress){ .verb = verb,
                                   .things = things,
                                   .is_shown = isatty(STDERR_FILENO),
                                   .began_ms = clock_mono_ms() };
    progress->next_ms = progress->began_ms + FIRST_MS;
}

bool progress_is_due(struct progress *progress)
{
    return progress->is_shown && clock_mono_ms() >= progress->next_ms;
}

void progress_tell(struct progress *progress, uint64_t done, uint64_t total,
                   uint64_t count)
{
    struct progress_state state = { .verb = progress->verb,
                                    .things = progress->things,
                                    .done = done,
                                    .total = total,
                                    .count = count,
                                    .elapsed_ms = clock_mono_ms() - progress->began_ms };
    struct buf line;

    if (!progress->is_shown)
        return;
    buf_init(&line, LINE_BYTES);
    buf_put(&line, S("\r"));
    progress_put(&line, &state, progress_columns(STDERR_FILENO) - 1);
    buf_put(&line, S("\033[K"));
    fputs(buf_cstr(&line), stderr);
    fflush(stderr);
    buf_done(&line);
    progress->was_written = true;
    progress->next_ms = clock_mono_ms() + EVERY_MS;
}

void progress_end(struct progress *progress)
{
    if (progress->was_written)
        fputs("\r\033[K", stderr);
    progress->was_written = false;
}
