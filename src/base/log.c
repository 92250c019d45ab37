/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

static _Atomic enum log_level max_level = LOG_INFO;

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&max_level, level, memory_order_relaxed);
}

void log_line(enum log_level level, const char *event, const char *format, ...)
{
    static const char *const names[] = { "error", "warn", "info", "debug" };
    char line[2048];
    char now[CLOCK_TEXT];
    size_t len;
    va_list args;
    int n;

    if (level > atomic_load_explicit(&max_level, memory_order_relaxed))
        return;
    n = snprintf(line, sizeof(line), "ts=%s level=%s event=%s ",
                 clock_write(clock_wall_ms(), now).ptr, names[level], event);
    len = (size_t)n;
    va_start(args, format);
    n = vsnprintf(line + len, sizeof(line) - len - 1, format, args);
    va_end(args);
    if (n > 0)
        len += (size_t)n;
    if (len > sizeof(line) - 2)
        len = sizeof(line) - 2;
    line[len++] = '\n';
    /* One write per line keeps the lines of several threads whole. */
    if (write(STDERR_FILENO, line, len) < 0)
        return;
}

static bool is_plain(unsigned char c)
{
    return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
}

struct log_quoted log_quote(struct str s)
{
    static const char hex[] = "0123456789abcdef";
    struct log_quoted q;
    size_t at = 0;
    bool plain = s.len > 0 && s.len < sizeof(q.text);

    for (size_t i = 0; plain && i < s.len; i++)
        plain = is_plain((unsigned char)s.ptr[i]);
    if (plain) {
        (void)snprintf(q.text, sizeof(q.text), STR_FMT, STR_ARG(s));
        return q;
    }
    q.text[at++] = '"';
    for (size_t i = 0; i < s.len && at + 8 < sizeof(q.text); i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (c == ' ' || c == '=' || is_plain(c)) {
            q.text[at++] = (char)c;
            continue;
        }
        q.text[at++] = '\\';
        q.text[at++] = 'x';
        q.text[at++] = hex[c >> 4];
        q.text[at++] = hex[c & 15];
    }
    q.text[at++] = '"';
    q.text[at] = '\0';
    return q;
}
