/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <string.h>

#include "base/xalloc.h"

struct str str_of(const char *text)
{
    return (struct str){ text, text ? strlen(text) : 0 };
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
}

bool str_ieq(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (lower(a.ptr[i]) != lower(b.ptr[i]))
            return false;
    return true;
}

bool str_starts(struct str s, struct str prefix)
{
    return s.len >= prefix.len && str_eq((struct str){ s.ptr, prefix.len }, prefix);
}

bool str_ends(struct str s, struct str suffix)
{
    return s.len >= suffix.len &&
           str_eq((struct str){ s.ptr + (s.len - suffix.len), suffix.len }, suffix);
}

int str_cmp(struct str a, struct str b)
{
    size_t shorter = a.len < b.len ? a.len : b.len;
    int order = shorter ? memcmp(a.ptr, b.ptr, shorter) : 0;

    if (order)
        return order;
    return (a.len > b.len) - (a.len < b.len);
}

size_t str_find(struct str s, char c, size_t from)
{
    const char *hit;

    if (from >= s.len)
        return s.len;
    hit = memchr(s.ptr + from, c, s.len - from);
    return hit ? (size_t)(hit - s.ptr) : s.len;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

struct str str_trim(struct str s)
{
    while (s.len && is_blank(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len && is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

struct str str_cut(struct str *rest, char c)
{
    size_t at = str_find(*rest, c, 0);
    struct str head = { rest->ptr, at };

    if (at == rest->len)
        *rest = (struct str){};
    else
        *rest = (struct str){ rest->ptr + at + 1, rest->len - at - 1 };
    return head;
}

enum err str_to_u64(struct str s, uint64_t max, uint64_t *ret)
{
    uint64_t value = 0;

    if (s.len == 0)
        return ERR_INVALID;
    for (size_t i = 0; i < s.len; i++) {
        uint64_t digit = (uint64_t)(unsigned char)s.ptr[i] - '0';

        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return ERR_INVALID;
    }
    if (value > max)
        return ERR_INVALID;
    *ret = value;
    return OK;
}

int str_hex_digit(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

char *str_dup(struct str s)
{
    char *copy = xmalloc(s.len + 1);

    if (s.len)
        memcpy(copy, s.ptr, s.len);
    copy[s.len] = '\0';
    return copy;
}

bool str_eq_secret(struct str a, struct str b)
{
    unsigned char difference = 0;

    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        difference |= (unsigned char)(a.ptr[i] ^ b.ptr[i]);
    return difference == 0;
}
