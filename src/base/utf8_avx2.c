/* SPDX-License-Identifier: Apache-2.0 */
/* The check of UTF-8 with AVX2, 32 bytes at a time; empty on other architectures. */
#include <stdbool.h>
#include <stdint.h>

#include "base/base_priv.h"

#ifdef SIMD_X86
#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
enum { WIDTH = 32 };
typedef __m256i vec;

TARGET static inline vec load(const char *p)
{
    return _mm256_loadu_si256((const __m256i_u *)p);
}

TARGET static inline vec all(int byte)
{
    return _mm256_set1_epi8((char)byte);
}

TARGET static inline vec both(vec a, vec b)
{
    return _mm256_and_si256(a, b);
}

TARGET static inline vec either(vec a, vec b)
{
    return _mm256_or_si256(a, b);
}

TARGET static inline vec differ(vec a, vec b)
{
    return _mm256_xor_si256(a, b);
}

/* How much each byte is above the limit; 0 where it is not. */
TARGET static inline vec above(vec v, int limit)
{
    return _mm256_subs_epu8(v, all(limit));
}

TARGET static inline vec lower(vec v)
{
    return both(v, all(0x0f));
}

TARGET static inline vec upper(vec v)
{
    return lower(_mm256_srli_epi16(v, 4));
}

TARGET static inline vec look_up(const uint8_t table[static 16], vec index)
{
    return _mm256_shuffle_epi8(
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i_u *)table)), index);
}

TARGET static inline bool has_upper_bit(vec v)
{
    return _mm256_movemask_epi8(v) != 0;
}

TARGET static inline bool is_zero(vec v)
{
    return _mm256_testz_si256(v, v) != 0;
}

#include "base/utf8_lookup.h"

TARGET size_t utf8_skip_avx2(const char *text, size_t at, size_t len)
{
    return skip(text, at, len);
}
#endif
