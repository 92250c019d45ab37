/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UTF-8 as RFC 3629 has it: no surrogates, no overlong forms, nothing above U+10FFFF.
 * The incremental form fails at the first byte that cannot be right, wherever the text
 * is cut.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/simd.h"
#include "base/str.h"

struct utf8 {
    uint8_t need;      /* continuation bytes still missing */
    uint8_t low, high; /* bounds of the next one */
};

/* Continues with more text; a zeroed state is the beginning. False: not UTF-8. */
bool utf8_feed(struct utf8 *state, struct str text);

/* True where the text may end. */
static inline bool utf8_is_whole(const struct utf8 *state)
{
    return state->need == 0;
}

bool utf8_is_valid(struct str text);

/* The length of the longest beginning that is UTF-8, in whole characters: the offset of
 * the first character that is not valid or not whole, or text.len. */
size_t utf8_valid(struct str text);

/* The same with the instructions of `level`, which simd_has() must grant. */
size_t utf8_valid_at(enum simd level, struct str text);

/* Writes the code point (a scalar value) and returns its length, 1 to 4. */
size_t utf8_write(uint32_t code_point, char out[static 4]);

static inline bool utf8_is_tail(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* Characters of a text that is UTF-8. */
static inline size_t utf8_count(struct str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += !utf8_is_tail((unsigned char)text.ptr[i]);
    return count;
}

/* The longest beginning of whole characters that is no longer than `max`. */
static inline struct str utf8_cut(struct str text, size_t max)
{
    if (text.len <= max)
        return text;
    while (max > 0 && utf8_is_tail((unsigned char)text.ptr[max]))
        max--;
    return str_slice(text, 0, max);
}

/* The code points of three and four bytes, for utf8_read(). */
static inline size_t utf8_read_long(struct str text, uint32_t *ret)
{
    const unsigned char *p = (const unsigned char *)text.ptr;
    size_t len = p[0] < 0xf0 ? 3 : 4;
    uint32_t cp;

    if (text.len < len || p[0] > 0xf4 || !utf8_is_tail(p[1]) || !utf8_is_tail(p[2]))
        return 0;
    if (len == 3) {
        cp = (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
        if (cp < 0x800 || (cp & 0xf800) == 0xd800)
            return 0;
    } else {
        cp = (p[0] & 0x07u) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 |
             (p[3] & 0x3fu);
        if (!utf8_is_tail(p[3]) || cp < 0x10000 || cp > 0x10ffff)
            return 0;
    }
    *ret = cp;
    return len;
}

/* Reads the code point at the beginning and returns its length, 1 to 4; 0 where the text
 * is empty or does not begin with one, and then `ret` is untouched. */
static inline size_t utf8_read(struct str text, uint32_t *ret)
{
    const unsigned char *p = (const unsigned char *)text.ptr;

    if (text.len < 1)
        return 0;
    if (p[0] < 0x80) {
        *ret = p[0];
        return 1;
    }
    if (p[0] >= 0xe0)
        return utf8_read_long(text, ret);
    if (p[0] < 0xc2 || text.len < 2 || !utf8_is_tail(p[1]))
        return 0;
    *ret = (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
    return 2;
}
