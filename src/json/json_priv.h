/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the scanner, the tree and the writer share: how the bytes of a string are passed
 * over. Strings are mostly short, so the first bytes are looked at in place; what is
 * longer goes to json_skip_long().
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/simd.h"

#ifdef SIMD_X86
#include <emmintrin.h>
#endif

/* The bytes that end a run: the quote, the backslash, control characters (below the
 * space) and, where the run is plain, whatever is not ASCII. */
enum json_run { JSON_PLAIN, JSON_TEXT };

/* The first byte that ends the run, or the end, with the instructions of `level`, which
 * simd_has() must grant. json_skip() is the one to use. */
const char *json_skip_at(enum simd level, const char *p, const char *end,
                         enum json_run run);

static inline bool json_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static inline bool json_is_in_run(char byte, enum json_run run)
{
    unsigned char c = (unsigned char)byte;

    return c >= 0x20 && c != '"' && c != '\\' && (run == JSON_TEXT || c < 0x80);
}

/* Sets the upper bit of every byte of the word that is zero; above the lowest of them it
 * may set some more. */
static inline uint64_t json_zeros(uint64_t word)
{
    return (word - 0x0101010101010101) & ~word & 0x8080808080808080;
}

/* Which of the eight bytes end the run. As with json_zeros(), only the lowest counts. */
static inline uint64_t json_word_hits(uint64_t word, enum json_run run)
{
    const uint64_t ones = 0x0101010101010101;
    const uint64_t wide = run == JSON_PLAIN ? ones * 0x80 : 0;

    return json_zeros(word ^ ones * '"') | json_zeros(word ^ ones * '\\') |
           ((word - ones * ' ') & ~word & ones * 0x80) | (word & wide);
}

/* Eight bytes at a time, anywhere. */
static inline const char *json_skip_words(const char *p, const char *end,
                                          enum json_run run)
{
    for (; end - p >= (ptrdiff_t)sizeof(uint64_t); p += sizeof(uint64_t)) {
        uint64_t word, hits;

        memcpy(&word, p, sizeof(word));
        hits = json_word_hits(le64toh(word), run);
        if (hits)
            return p + __builtin_ctzll(hits) / 8;
    }
    while (p < end && json_is_in_run(*p, run))
        p++;
    return p;
}

#ifdef SIMD_X86
enum { JSON_STEP = 16, JSON_NEAR = 4 * JSON_STEP };

/* json_skip() where the first JSON_NEAR bytes do not end the run, or are not there. */
const char *json_skip_long(const char *p, const char *end, enum json_run run);

/* Which of the sixteen bytes at `p` end the run. Compared as signed numbers, control
 * characters and whatever is not ASCII are both below the space; with the upper bit
 * turned over, control characters are below all others. */
static inline unsigned json_hits(const char *p, enum json_run run)
{
    const __m128i flip = _mm_set1_epi8(run == JSON_PLAIN ? 0 : (char)0x80);
    const __m128i least = _mm_xor_si128(_mm_set1_epi8(' '), flip);
    __m128i bytes = _mm_loadu_si128((const __m128i_u *)p);
    __m128i hits = _mm_or_si128(_mm_cmplt_epi8(_mm_xor_si128(bytes, flip), least),
                                _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                             _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));

    return (unsigned)_mm_movemask_epi8(hits);
}

static inline const char *json_skip(const char *p, const char *end, enum json_run run)
{
    const char *far = end - p > JSON_NEAR ? p + JSON_NEAR : end;

    for (; far - p >= JSON_STEP; p += JSON_STEP) {
        unsigned hits = json_hits(p, run);

        if (hits)
            return p + __builtin_ctz(hits);
    }
    return json_skip_long(p, end, run);
}
#else
static inline const char *json_skip(const char *p, const char *end, enum json_run run)
{
    return json_skip_words(p, end, run);
}
#endif

/* Eight bytes and more, of which the last eight may be looked at twice. */
static inline bool json_is_plain_words(const char *p, size_t len)
{
    uint64_t word;
    uint64_t hits = 0;

    for (size_t at = 0; at + sizeof(word) < len; at += sizeof(word)) {
        memcpy(&word, p + at, sizeof(word));
        hits |= json_word_hits(word, JSON_PLAIN);
    }
    memcpy(&word, p + len - sizeof(word), sizeof(word));
    return (hits | json_word_hits(word, JSON_PLAIN)) == 0;
}

/* Does all of it stand for itself in a string? For short texts, such as names. */
static inline bool json_is_plain(const char *p, size_t len)
{
    uint32_t half[2];
    uint64_t word;

    if (len > 4 * sizeof(word))
        return json_skip(p, p + len, JSON_PLAIN) == p + len;
    if (len >= sizeof(word))
        return json_is_plain_words(p, len);
    if (len >= sizeof(half[0])) {
        memcpy(&half[0], p, sizeof(half[0]));
        memcpy(&half[1], p + len - sizeof(half[1]), sizeof(half[1]));
        return json_word_hits((uint64_t)half[0] << 32 | half[1], JSON_PLAIN) == 0;
    }
    for (size_t i = 0; i < len; i++)
        if (!json_is_in_run(p[i], JSON_PLAIN))
            return false;
    return true;
}
