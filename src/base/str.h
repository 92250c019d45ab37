/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that is borrowed: a pointer and a length, passed by value, not terminated.
 * Whoever keeps a str longer than its owner lives copies it first (arena_str, buf).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

struct str {
    const char *ptr;
    size_t len;
};

/* A literal as str; works in static tables as well. */
#define S(literal) ((struct str){ "" literal, sizeof(literal) - 1 })

/* For printf: printf(STR_FMT, STR_ARG(s)). */
#define STR_FMT    "%.*s"
#define STR_ARG(s) (int)(s).len, (s).ptr

/* Borrows a terminated string; NULL gives the empty str. */
struct str str_of(const char *text);

static inline bool str_eq(struct str a, struct str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* ASCII letters compare without case. */
bool str_ieq(struct str a, struct str b);

bool str_starts(struct str s, struct str prefix);
bool str_ends(struct str s, struct str suffix);

/* Byte order, shorter first on a tie: fit for qsort. */
int str_cmp(struct str a, struct str b);

/* Position of the first such byte at or after `from`, or s.len. */
size_t str_find(struct str s, char c, size_t from);

/* From `from` up to, not including, `to`; both are cut to the length. */
static inline struct str str_slice(struct str s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from > to)
        from = to;
    if (!s.ptr)
        return s;
    return (struct str){ s.ptr + from, to - from };
}

/* Without the leading and trailing spaces and tabs. */
struct str str_trim(struct str s);

/* Splits `*rest` at the first `c`: returns what stands before it and leaves what follows.
 * Without a `c` returns all and leaves `rest->ptr` NULL. */
struct str str_cut(struct str *rest, char c);

/* Decimal digits only, at most `max`. ERR_INVALID for anything else. */
enum err str_to_u64(struct str s, uint64_t max, uint64_t *ret);

/* The value of a hexadecimal digit in either case, or -1. */
int str_hex_digit(int c);

/* A heap copy with a terminating NUL, owned by the caller. */
char *str_dup(struct str s);

/* Equality whose time depends on the lengths alone; for secrets. */
bool str_eq_secret(struct str a, struct str b);
