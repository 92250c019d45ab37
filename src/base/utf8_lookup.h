/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of UTF-8 by table, written once for vectors of any width: utf8_ssse3.c and
 * utf8_avx2.c define the vector, `TARGET`, `WIDTH` and the operations on it, then include
 * this.
 *
 * Whether two neighbours may follow each other is told by three half bytes: both of the
 * first byte and the upper one of the second. Each selects a set of mistakes from a table
 * of sixteen; a mistake found in all three sets is made.
 *
 *     first byte   second byte   mistake
 *     C0..FF       00..7F C0..FF CUT        a character ends too early
 *     00..7F       80..BF        STRAY      a tail without a head
 *     C0 C1        80..BF        LONG_2     two bytes where one would do
 *     E0           80..9F        LONG_3     three where two would do
 *     ED           A0..BF        SURROGATE
 *     F4..FF       90..BF        HIGH       above U+10FFFF
 *     F0 F5..FF    80..8F        LONG_4     four where three would do, or above U+10FFFF
 *     80..BF       80..BF        TAILS      right if two or three before it is a head
 * that wants it, and then it must be so
 *
 * The bytes one, two and three before are loaded from where they stand, so that a step
 * keeps nothing for the next one and may be done anywhere.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { BLOCK = 64 }; /* checked together; a multiple of every width */

enum {
    CUT = 1 << 0,
    STRAY = 1 << 1,
    LONG_2 = 1 << 2,
    LONG_3 = 1 << 3,
    SURROGATE = 1 << 4,
    HIGH = 1 << 5,
    LONG_4 = 1 << 6,
    TAILS = 1 << 7,
    ANY = CUT | STRAY | TAILS,     /* whatever the lower half of the first byte is */
    TAIL = STRAY | LONG_2 | TAILS, /* whatever tail the second byte is */
    FAR = ANY | HIGH | LONG_4      /* F5 to FF */
};

/* clang-format off */
static const uint8_t first_upper[16] = {
    STRAY, STRAY, STRAY, STRAY, STRAY, STRAY, STRAY, STRAY, /* ASCII */
    TAILS, TAILS, TAILS, TAILS,                             /* tails */
    CUT | LONG_2,                                           /* Cx */
    CUT,                                                    /* Dx */
    CUT | LONG_3 | SURROGATE,                               /* Ex */
    CUT | HIGH | LONG_4,                                    /* Fx */
};

static const uint8_t first_lower[16] = {
    ANY | LONG_2 | LONG_3 | LONG_4, /* C0 E0 F0 */
    ANY | LONG_2,                   /* C1 */
    ANY, ANY,
    ANY | HIGH,                     /* F4 */
    FAR, FAR, FAR, FAR, FAR, FAR, FAR, FAR,
    FAR | SURROGATE,                /* ED */
    FAR, FAR,
};

static const uint8_t second_upper[16] = {
    CUT, CUT, CUT, CUT, CUT, CUT, CUT, CUT,
    TAIL | LONG_3 | LONG_4,         /* 8x */
    TAIL | LONG_3 | HIGH,           /* 9x */
    TAIL | SURROGATE | HIGH,        /* Ax */
    TAIL | SURROGATE | HIGH,        /* Bx */
    CUT, CUT, CUT, CUT,
};
/* clang-format on */

/* The mistakes in the bytes at `p`; three before it are readable. */
TARGET static inline vec mistakes(const char *p)
{
    vec first = load(p - 1);
    vec pairs =
        both(both(look_up(first_upper, upper(first)), look_up(first_lower, lower(first))),
             look_up(second_upper, upper(load(p))));
    vec wanted =
        either(above(load(p - 2), 0xe0 - TAILS), above(load(p - 3), 0xf0 - TAILS));

    return differ(pairs, both(wanted, all(TAILS)));
}

/* A step over ASCII that no character reaches into needs no tables. */
TARGET static inline bool is_right(const char *p, size_t size)
{
    vec bytes = load(p - 3);
    vec found = all(0);

    for (size_t at = 0; at < size; at += WIDTH)
        bytes = either(bytes, load(p + at));
    if (!has_upper_bit(bytes))
        return true;
    for (size_t at = 0; at < size; at += WIDTH)
        found = either(found, mistakes(p + at));
    return is_zero(found);
}

/* Back to before a character that is not whole at `at`. */
static inline size_t whole(const char *text, size_t at)
{
    const uint8_t *end = (const uint8_t *)text + at;

    if (end[-1] >= 0xc0)
        return at - 1;
    if (end[-2] >= 0xe0)
        return at - 2;
    return end[-3] >= 0xf0 ? at - 3 : at;
}

TARGET static inline size_t skip(const char *text, size_t at, size_t len)
{
    for (; len - at >= BLOCK; at += BLOCK)
        if (!is_right(text + at, BLOCK))
            return whole(text, at);
    for (; len - at >= WIDTH; at += WIDTH)
        if (!is_right(text + at, WIDTH))
            return whole(text, at);
    /* The rest together with bytes before it, which are right. */
    if (at < len && !is_right(text + len - WIDTH, WIDTH))
        return whole(text, at);
    return whole(text, len);
}
