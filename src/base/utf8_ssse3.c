/* SPDX-License-Identifier: Apache-2.0 */
/* The check of UTF-8 with SSSE3, 16 bytes at a time; empty on other architectures. */
#include <stdbool.h>
#include <stdint.h>

#include "base/base_priv.h"

#ifdef SIMD_X86
#include <tmmintrin.h>

#define TARGET __attribute__((target("ssse3")))
enum { WIDTH = 16 };
typedef __m128i vec;

TARGET static inline vec load(const char *p)
{
    return _mm_loadu_si128((const __m128i_u *)p);
}

TARGET static inline vec all(int byte)
{
    return _mm_set1_epi8((char)byte);
}

TARGET static inline vec both(vec a, vec b)
{
    return _mm_and_si128(a, b);
}

TARGET static inline vec either(vec a, vec b)
{
    return _mm_or_si128(a, b);
}

TARGET static inline vec differ(vec a, vec b)
{
    return _mm_xor_si128(a, b);
}

/* How much each byte is above the limit; 0 where it is not. */
TARGET static inline vec above(vec v, int limit)
{
    return _mm_subs_epu8(v, all(limit));
}

TARGET static inline vec lower(vec v)
{
    return both(v, all(0x0f));
}

TARGET static inline vec upper(vec v)
{
    return lower(_mm_srli_epi16(v, 4));
}

TARGET static inline vec look_up(const uint8_t table[static 16], vec index)
{
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i_u *)table), index);
}

TARGET static inline bool has_upper_bit(vec v)
{
    return _mm_movemask_epi8(v) != 0;
}

TARGET static inline bool is_zero(vec v)
{
    return _mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_setzero_si128())) == 0xffff;
}

#include "base/utf8_lookup.h"

TARGET size_t utf8_skip_ssse3(const char *text, size_t at, size_t len)
{
    return skip(text, at, len);
}
#endif
