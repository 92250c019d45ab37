/* SPDX-License-Identifier: Apache-2.0 */
/* Behind the headers of rules/: how what is read is refused, and how it is copied. */
#pragma once

#include "rules/rule.h"

/* The text that is read, and where its parts go. */
struct rule_reading {
    struct str base;
    struct arena *arena;
    struct rule_problem *problem; /* may be NULL */
};

/* Keeps what is wrong with this part of the text; ERR_INVALID. */
enum err rule_fail(const struct rule_reading *r, const struct json *where,
                   const char *format, ...) __attribute__((format(printf, 3, 4)));

/* json_read(), whose problems get their place. */
enum err rule_fields(const struct rule_reading *r, const struct json *object,
                     const struct json_field *fields, size_t count, void *ret);

/* A copy in the arena. ERR_TOO_BIG */
enum err rule_copy(const struct rule_reading *r, struct str text, struct str *ret);
