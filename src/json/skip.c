/* SPDX-License-Identifier: Apache-2.0 */
/* Long strings: the bytes that stand for themselves are passed over in wide steps. */
#include "base/simd.h"
#include "json/json_priv.h"

#ifdef SIMD_X86
#include <immintrin.h>
#endif

static const char *skip_words(const char *p, const char *end, enum json_run run)
{
    return json_skip_words(p, end, run);
}

#ifdef SIMD_X86
static const char *skip_ssse3(const char *p, const char *end, enum json_run run)
{
    for (; end - p >= JSON_STEP; p += JSON_STEP) {
        unsigned hits = json_hits(p, run);

        if (hits)
            return p + __builtin_ctz(hits);
    }
    return json_skip_words(p, end, run);
}

/* As json_hits(), for the 32 bytes in `bytes`. */
__attribute__((target("avx2"))) static inline __m256i hits_of(__m256i bytes, __m256i flip)
{
    const __m256i least = _mm256_xor_si256(_mm256_set1_epi8(' '), flip);
    __m256i low = _mm256_cmpgt_epi8(least, _mm256_xor_si256(bytes, flip));
    __m256i quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
    __m256i backslashes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));

    return _mm256_or_si256(low, _mm256_or_si256(quotes, backslashes));
}

/* Two vectors a step: one test of both costs less than two. */
__attribute__((target("avx2"))) static const char *
skip_avx2(const char *p, const char *end, enum json_run run)
{
    const __m256i flip = _mm256_set1_epi8(run == JSON_PLAIN ? 0 : (char)0x80);

    for (; end - p >= 64; p += 64) {
        __m256i a = hits_of(_mm256_loadu_si256((const __m256i_u *)p), flip);
        __m256i b = hits_of(_mm256_loadu_si256((const __m256i_u *)(p + 32)), flip);

        if (!_mm256_testz_si256(_mm256_or_si256(a, b), _mm256_or_si256(a, b))) {
            uint64_t low = (uint32_t)_mm256_movemask_epi8(a);
            uint64_t high = (uint32_t)_mm256_movemask_epi8(b);

            return p + __builtin_ctzll(high << 32 | low);
        }
    }
    return skip_ssse3(p, end, run);
}
#endif

static const char *(*const skips[SIMD_LEVELS])(const char *p, const char *end,
                                               enum json_run run) = {
    [SIMD_NONE] = skip_words,
#ifdef SIMD_X86
    [SIMD_SSSE3] = skip_ssse3,
    [SIMD_AVX2] = skip_avx2,
#endif
};

const char *json_skip_at(enum simd level, const char *p, const char *end,
                         enum json_run run)
{
    return skips[level](p, end, run);
}

#ifdef SIMD_X86
const char *json_skip_long(const char *p, const char *end, enum json_run run)
{
    if (end - p < JSON_NEAR)
        return skip_ssse3(p, end, run); /* which is SSE2, so always there */
    return skips[simd_best()](p, end, run);
}
#endif
