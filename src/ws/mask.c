/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Masks (RFC 6455 5.3): byte i of a payload is turned with byte i modulo 4 of the mask.
 * All wide steps are multiples of four bytes, so the mask keeps its phase. A step loads
 * all it will store, since both may be the same memory.
 */
#include <string.h>

#include "ws/ws.h"
#include "ws/ws_priv.h"

#ifdef SIMD_X86
#include <immintrin.h>
#endif

uint32_t ws_mask_at(uint32_t mask, uint64_t offset)
{
    uint8_t bytes[8];
    uint32_t turned;

    memcpy(bytes, &mask, 4);
    memcpy(bytes + 4, &mask, 4);
    memcpy(&turned, bytes + (offset & 3), 4);
    return turned;
}

static void unmask_words(uint8_t *dst, const uint8_t *src, size_t len, uint32_t mask)
{
    uint64_t masks = (uint64_t)mask << 32 | mask;
    uint8_t bytes[4];
    size_t at = 0;

    for (; len - at >= sizeof(masks); at += sizeof(masks)) {
        uint64_t word;

        memcpy(&word, src + at, sizeof(word));
        word ^= masks;
        memcpy(dst + at, &word, sizeof(word));
    }
    memcpy(bytes, &mask, sizeof(bytes));
    for (; at < len; at++)
        dst[at] = src[at] ^ bytes[at & 3];
}

#ifdef SIMD_X86
static void unmask_ssse3(uint8_t *dst, const uint8_t *src, size_t len, uint32_t mask)
{
    const __m128i masks = _mm_set1_epi32((int)mask);
    size_t at = 0;

    for (; len - at >= 64; at += 64) {
        __m128i a = _mm_loadu_si128((const __m128i_u *)(src + at));
        __m128i b = _mm_loadu_si128((const __m128i_u *)(src + at + 16));
        __m128i c = _mm_loadu_si128((const __m128i_u *)(src + at + 32));
        __m128i d = _mm_loadu_si128((const __m128i_u *)(src + at + 48));

        _mm_storeu_si128((__m128i_u *)(dst + at), _mm_xor_si128(a, masks));
        _mm_storeu_si128((__m128i_u *)(dst + at + 16), _mm_xor_si128(b, masks));
        _mm_storeu_si128((__m128i_u *)(dst + at + 32), _mm_xor_si128(c, masks));
        _mm_storeu_si128((__m128i_u *)(dst + at + 48), _mm_xor_si128(d, masks));
    }
    unmask_words(dst + at, src + at, len - at, mask);
}

__attribute__((target("avx2"))) static void unmask_avx2(uint8_t *dst, const uint8_t *src,
                                                        size_t len, uint32_t mask)
{
    const __m256i masks = _mm256_set1_epi32((int)mask);
    size_t at = 0;

    for (; len - at >= 128; at += 128) {
        __m256i a = _mm256_loadu_si256((const __m256i_u *)(src + at));
        __m256i b = _mm256_loadu_si256((const __m256i_u *)(src + at + 32));
        __m256i c = _mm256_loadu_si256((const __m256i_u *)(src + at + 64));
        __m256i d = _mm256_loadu_si256((const __m256i_u *)(src + at + 96));

        _mm256_storeu_si256((__m256i_u *)(dst + at), _mm256_xor_si256(a, masks));
        _mm256_storeu_si256((__m256i_u *)(dst + at + 32), _mm256_xor_si256(b, masks));
        _mm256_storeu_si256((__m256i_u *)(dst + at + 64), _mm256_xor_si256(c, masks));
        _mm256_storeu_si256((__m256i_u *)(dst + at + 96), _mm256_xor_si256(d, masks));
    }
    for (; len - at >= 32; at += 32) {
        __m256i a = _mm256_loadu_si256((const __m256i_u *)(src + at));

        _mm256_storeu_si256((__m256i_u *)(dst + at), _mm256_xor_si256(a, masks));
    }
    unmask_words(dst + at, src + at, len - at, mask);
}
#endif

static void (*const unmasks[SIMD_LEVELS])(uint8_t *dst, const uint8_t *src, size_t len,
                                          uint32_t mask) = {
    [SIMD_NONE] = unmask_words,
#ifdef SIMD_X86
    [SIMD_SSSE3] = unmask_ssse3,
    [SIMD_AVX2] = unmask_avx2,
#endif
};

void ws_unmask_at(enum simd level, void *dst, const void *src, size_t len, uint32_t mask)
{
    unmasks[level](dst, src, len, mask);
}

void ws_unmask(void *dst, const void *src, size_t len, uint32_t mask)
{
    enum { LONG = 64 }; /* bytes from which on vectors pay */

    if (len < LONG)
        unmask_words(dst, src, len, mask);
    else
        unmasks[simd_best()](dst, src, len, mask);
}
