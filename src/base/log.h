/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structured logs: single lines of key=value on stderr.
 *
 *     log_warn("client.reject", "id=%.*s err=%s", …);
 *
 * An event name is noun.verb and unique in the tree. Tokens and payloads are never
 * logged. Text from outside goes through log_quote(), so that it cannot forge a line.
 */
#pragma once

#include <stddef.h>

#include "base/str.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Lines above this level are dropped. The default is LOG_INFO. */
void log_set_level(enum log_level level);

void log_line(enum log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(event, ...) log_line(LOG_ERROR, event, __VA_ARGS__)
#define log_warn(event, ...)  log_line(LOG_WARN, event, __VA_ARGS__)
#define log_info(event, ...)  log_line(LOG_INFO, event, __VA_ARGS__)
#define log_debug(event, ...) log_line(LOG_DEBUG, event, __VA_ARGS__)

enum { LOG_QUOTED = 200 };

/* Foreign text for a log line: cut to fit, quoted where needed, control bytes escaped. */
struct log_quoted {
    char text[LOG_QUOTED];
};
struct log_quoted log_quote(struct str s);
#define LOG_TEXT(s) log_quote(s).text
