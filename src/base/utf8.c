/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long texts are passed over in wide steps as far as they are right. What is left, or
 * wrong, is looked at character by character, so that the verdict is always that of one
 * function, skip_words().
 */
#include "base/utf8.h"

#include <endian.h>
#include <string.h>

#include "base/base_priv.h"

enum { WORD = sizeof(uint64_t) };

static const uint64_t UPPER_BITS = 0x8080808080808080;

/* The first byte is the lowest. */
static inline uint64_t word_at(const char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof(word));
    return le64toh(word);
}

/* A character of three bytes in the three lower bytes: neither overlong nor a surrogate,
 * as the five upper bits of its code point tell. */
static inline bool is_three(uint64_t word)
{
    uint64_t top = (word & 0x0f) << 1 | (word >> 13 & 1);

    return (word & 0xc0c0f0) == 0x8080e0 && top != 0 && top != 0xd800 >> 11;
}

/* The length of the characters at the beginning of a word which is not all ASCII; `rest`
 * begins with the same bytes. 0: the first is not one. */
static inline size_t length_of(uint64_t word, struct str rest)
{
    uint32_t code_point;

    if ((word & 0x80) == 0)
        return (size_t)__builtin_ctzll(word & UPPER_BITS) / 8;
    if (is_three(word))
        return is_three(word >> 24) ? 6 : 3;
    return utf8_read(rest, &code_point);
}

/* From `at`, between two characters, to the first that is not valid or the end. */
static size_t skip_words(const char *text, size_t at, size_t len)
{
    uint32_t code_point;
    size_t step = 1;

    while (step && len - at >= WORD) {
        uint64_t word = word_at(text + at);

        step = WORD;
        if (word & UPPER_BITS)
            step = length_of(word, (struct str){ text + at, len - at });
        at += step;
    }
    while (step && at < len) {
        step = utf8_read((struct str){ text + at, len - at }, &code_point);
        at += step;
    }
    return at;
}

static size_t (*const skips[SIMD_LEVELS])(const char *text, size_t at, size_t len) = {
    [SIMD_NONE] = skip_words,
#ifdef SIMD_X86
    [SIMD_SSSE3] = utf8_skip_ssse3,
    [SIMD_AVX2] = utf8_skip_avx2,
#endif
};

size_t utf8_skip_at(enum simd level, const char *text, size_t at, size_t len)
{
    return skips[level](text, at, len);
}

/* Vectors look back three bytes, so the first characters are read one by one. */
static size_t valid_long(enum simd level, struct str text)
{
    uint32_t code_point;
    size_t step, at = 0;

    do {
        step = utf8_read((struct str){ text.ptr + at, text.len - at }, &code_point);
        at += step;
    } while (step && at < 3);
    if (step)
        at = skips[level](text.ptr, at, text.len);
    return skip_words(text.ptr, at, text.len);
}

size_t utf8_valid_at(enum simd level, struct str text)
{
    if (text.len < UTF8_LONG)
        return skip_words(text.ptr, 0, text.len);
    return valid_long(level, text);
}

size_t utf8_valid(struct str text)
{
    if (text.len < UTF8_LONG)
        return skip_words(text.ptr, 0, text.len);
    return valid_long(simd_best(), text);
}

bool utf8_is_valid(struct str text)
{
    return utf8_valid(text) == text.len;
}

/* What a leading byte promises (Unicode, table 3-7). need 0: never leads. */
static bool lead(struct utf8 *state, unsigned char c)
{
    *state = (struct utf8){ .low = 0x80, .high = 0xbf };
    if (c < 0xc2 || c > 0xf4)
        return false;
    state->need = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3; /* a ladder of ranges */
    switch (c) {
    case 0xe0: state->low = 0xa0; break;
    case 0xed: state->high = 0x9f; break;
    case 0xf0: state->low = 0x90; break;
    case 0xf4: state->high = 0x8f; break;
    default: break;
    }
    return true;
}

static bool feed_byte(struct utf8 *state, unsigned char c)
{
    if (state->need == 0)
        return c < 0x80 || lead(state, c);
    if (c < state->low || c > state->high)
        return false;
    state->need--;
    state->low = 0x80;
    state->high = 0xbf;
    return true;
}

bool utf8_feed(struct utf8 *state, struct str text)
{
    size_t at = 0;

    for (; at < text.len && state->need; at++)
        if (!feed_byte(state, (unsigned char)text.ptr[at]))
            return false;
    if (at < text.len)
        at += utf8_valid((struct str){ text.ptr + at, text.len - at });
    for (; at < text.len; at++)
        if (!feed_byte(state, (unsigned char)text.ptr[at]))
            return false;
    return true;
}

size_t utf8_write(uint32_t code_point, char out[static 4])
{
    if (code_point < 0x80) {
        out[0] = (char)code_point;
        return 1;
    }
    if (code_point < 0x800) {
        out[0] = (char)(0xc0 | code_point >> 6);
        out[1] = (char)(0x80 | (code_point & 0x3f));
        return 2;
    }
    if (code_point < 0x10000) {
        out[0] = (char)(0xe0 | code_point >> 12);
        out[1] = (char)(0x80 | (code_point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code_point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code_point >> 18);
    out[1] = (char)(0x80 | (code_point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code_point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code_point & 0x3f));
    return 4;
}
