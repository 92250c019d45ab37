/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as text: base64 in its two forms, and hexadecimal. */
#include "crypto/crypto.h"

static const char standard[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url_safe[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void write_group(struct buf *out, struct str bytes, const char *alphabet)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < 3; i++)
        bits = bits << 8 | (i < bytes.len ? (uint8_t)bytes.ptr[i] : 0u);
    for (size_t i = 0; i <= bytes.len; i++)
        buf_putc(out, alphabet[bits >> (18 - 6 * i) & 63]);
}

static void write_base64(struct buf *out, struct str bytes, const char *alphabet)
{
    for (size_t at = 0; at < bytes.len; at += 3)
        write_group(out, str_slice(bytes, at, at + 3), alphabet);
}

void base64_write(struct buf *out, struct str bytes)
{
    write_base64(out, bytes, standard);
    for (size_t pad = (3 - bytes.len % 3) % 3; pad > 0; pad--)
        buf_putc(out, '=');
}

void base64url_write(struct buf *out, struct str bytes)
{
    write_base64(out, bytes, url_safe);
}

static int value_of(char c, const char *alphabet)
{
    size_t at = str_find((struct str){ alphabet, 64 }, c, 0);

    return at < 64 ? (int)at : -1;
}

/* Up to four characters; what is missing of them are bytes that are not there. */
static enum err parse_group(struct str group, const char *alphabet, struct buf *out)
{
    size_t missing = 4 - group.len;
    uint32_t bits = 0;
    char bytes[3];

    if (missing > 2)
        return ERR_INVALID;
    for (size_t i = 0; i < 4; i++) {
        int value = i < group.len ? value_of(group.ptr[i], alphabet) : 0;

        if (value < 0)
            return ERR_INVALID;
        bits = bits << 6 | (uint32_t)value;
    }
    if (bits & ((1u << (8 * missing)) - 1))
        return ERR_INVALID; /* unused bits must be zero */
    for (size_t i = 0; i < 3; i++)
        bytes[i] = (char)(bits >> (16 - 8 * i));
    return buf_append(out, (struct str){ bytes, 3 - missing });
}

static enum err parse_base64(struct str text, const char *alphabet, struct buf *out)
{
    for (size_t at = 0; at < text.len; at += 4) {
        enum err err = parse_group(str_slice(text, at, at + 4), alphabet, out);

        if (err)
            return err;
    }
    return OK;
}

enum err base64_parse(struct str text, struct buf *out)
{
    if (text.len % 4)
        return ERR_INVALID;
    for (int pad = 0; pad < 2 && str_ends(text, S("=")); pad++)
        text.len--;
    return parse_base64(text, standard, out);
}

enum err base64url_parse(struct str text, struct buf *out)
{
    return parse_base64(text, url_safe, out);
}

void hex_write(struct buf *out, struct str bytes)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < bytes.len; i++) {
        buf_putc(out, digits[(uint8_t)bytes.ptr[i] >> 4]);
        buf_putc(out, digits[(uint8_t)bytes.ptr[i] & 15]);
    }
}

static int small_hex_digit(char c)
{
    return c >= 'A' && c <= 'F' ? -1 : str_hex_digit((unsigned char)c);
}

enum err hex_parse(struct str text, uint8_t *ret, size_t size)
{
    if (text.len != 2 * size)
        return ERR_INVALID;
    for (size_t i = 0; i < text.len; i++)
        if (small_hex_digit(text.ptr[i]) < 0)
            return ERR_INVALID;
    for (size_t i = 0; i < size; i++)
        ret[i] = (uint8_t)((unsigned)small_hex_digit(text.ptr[2 * i]) << 4 |
                           (unsigned)small_hex_digit(text.ptr[2 * i + 1]));
    return OK;
}
