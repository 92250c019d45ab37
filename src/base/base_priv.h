/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share and nobody else needs. */
#pragma once

#include <stddef.h>

#include "base/simd.h"

enum { UTF8_LONG = 64 }; /* bytes from which on vectors pay */

/*
 * The check of UTF-8 in steps of a vector, once for each width. `len` is UTF8_LONG or
 * more; `at` lies between two characters, 3 or more bytes behind `text`, and all before
 * it is valid. So does the return value: where nothing is wrong, only the beginning of a
 * character can follow it; else the first mistake does, after less than UTF8_LONG bytes.
 */
size_t utf8_skip_ssse3(const char *text, size_t at, size_t len);
size_t utf8_skip_avx2(const char *text, size_t at, size_t len);

/* The one of `level`; without vectors it is the final judge and goes to the first
 * mistake. */
size_t utf8_skip_at(enum simd level, const char *text, size_t at, size_t len);
