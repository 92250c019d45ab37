/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scanner, the tree and the writer share: how the bytes of a string are passed
 * over. A plain byte is one that stands for itself inside a JSON string and is ASCII.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static inline bool json_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline bool json_is_plain(char byte)
{
    unsigned char c = (unsigned char)byte;

    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static inline const char *json_skip_plain_bytes(const char *p, const char *end)
{
    while (p < end && json_is_plain(*p))
        p++;
    return p;
}

#ifdef __SSE2__
/* Sixteen bytes at a time; compared as signed numbers, control characters and whatever
 * is not ASCII are both below the space. */
static inline const char *json_skip_plain(const char *p, const char *end)
{
    const __m128i space = _mm_set1_epi8(' ');
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');

    for (; end - p >= 16; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i_u *)p);
        __m128i stops = _mm_or_si128(
            _mm_cmplt_epi8(bytes, space),
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
        unsigned mask = (unsigned)_mm_movemask_epi8(stops);

        if (mask)
            return p + __builtin_ctz(mask);
    }
    return json_skip_plain_bytes(p, end);
}
#else
static inline const char *json_skip_plain(const char *p, const char *end)
{
    return json_skip_plain_bytes(p, end);
}
#endif
