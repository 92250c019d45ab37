/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escapes of strings that the scanner has accepted: nothing is checked again here, so
 * these functions must never see a span from elsewhere.
 */
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "json/scan.h"

static uint32_t hex4(const char *p)
{
    uint32_t value = 0;

    for (size_t i = 0; i < 4; i++) {
        uint32_t c = (unsigned char)p[i];

        value = value << 4 | (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

/* Writes what the escape at `p` means and returns the position behind the escape. */
static const char *unescape_one(const char *p, char out[static 4], size_t *ret_len)
{
    uint32_t unit;

    *ret_len = 1;
    switch (p[1]) {
    case 'b': out[0] = '\b'; return p + 2;
    case 'f': out[0] = '\f'; return p + 2;
    case 'n': out[0] = '\n'; return p + 2;
    case 'r': out[0] = '\r'; return p + 2;
    case 't': out[0] = '\t'; return p + 2;
    case 'u': break;
    default: out[0] = p[1]; return p + 2;
    }
    unit = hex4(p + 2);
    if (unit < 0xd800 || unit > 0xdfff) {
        *ret_len = utf8_write(unit, out);
        return p + 6;
    }
    unit = 0x10000 + ((unit & 0x3ff) << 10) + (hex4(p + 8) & 0x3ff);
    *ret_len = utf8_write(unit, out);
    return p + 12;
}

/* Passes over one byte or escape and gives the bytes that it means. */
static const char *next_piece(const char *p, char out[static 4], size_t *ret_len)
{
    if (*p == '\\')
        return unescape_one(p, out, ret_len);
    out[0] = *p;
    *ret_len = 1;
    return p + 1;
}

enum err json_unescape(struct json_span string, struct arena *arena, struct str *ret)
{
    const char *p = string.text.ptr;
    const char *end = p + string.text.len;
    char *copy;
    size_t len = 0;

    if (!string.has_escape) {
        *ret = string.text;
        return OK;
    }
    /* No escape is shorter than what it means. */
    copy = arena_alloc(arena, string.text.len);
    if (!copy)
        return ERR_TOO_BIG;
    while (p < end) {
        char piece[4];
        size_t size;

        p = next_piece(p, piece, &size);
        memcpy(copy + len, piece, size);
        len += size;
    }
    *ret = (struct str){ copy, len };
    return OK;
}

bool json_string_is(struct json_span string, struct str plain)
{
    const char *p = string.text.ptr;
    const char *end = p + string.text.len;
    size_t at = 0;

    if (!string.has_escape)
        return str_eq(string.text, plain);
    while (p < end) {
        char piece[4];
        size_t size;

        p = next_piece(p, piece, &size);
        if (size > plain.len - at || memcmp(plain.ptr + at, piece, size) != 0)
            return false;
        at += size;
    }
    return at == plain.len;
}
