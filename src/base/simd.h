/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which vector instructions this machine has. What works on long runs of bytes exists
 * once for each level that gains from it, and always in plain C; the best is chosen by
 * each call, which costs a load and a test. Short runs are not worth the choice: they go
 * through code that every machine of the architecture can run.
 *
 * Functions that choose have a sibling whose name ends in _at and which is told the
 * level, so that tests and benchmarks reach every variant that the machine can run.
 *
 * Compiled with -DSIMD_PORTABLE, an x86-64 is treated as any other architecture.
 */
#pragma once

#include <stdbool.h>

#if defined(__x86_64__) && !defined(SIMD_PORTABLE)
#define SIMD_X86 1
#endif

enum simd {
    SIMD_NONE,  /* eight bytes in a word */
    SIMD_SSSE3, /* x86-64 of 2006 and later */
    SIMD_AVX2,  /* x86-64 of 2013 and later, unless a virtual machine hides it */
    SIMD_LEVELS
};

#ifdef SIMD_X86
static inline bool simd_has(enum simd level)
{
    switch (level) {
    case SIMD_NONE: return true;
    case SIMD_SSSE3: return __builtin_cpu_supports("ssse3");
    case SIMD_AVX2: return __builtin_cpu_supports("avx2");
    case SIMD_LEVELS: break;
    }
    return false;
}
#else
static inline bool simd_has(enum simd level)
{
    return level == SIMD_NONE;
}
#endif

static inline enum simd simd_best(void)
{
    if (simd_has(SIMD_AVX2))
        return SIMD_AVX2;
    return simd_has(SIMD_SSSE3) ? SIMD_SSSE3 : SIMD_NONE;
}
