/* SPDX-License-Identifier: Apache-2.0 */
#include "base/decimal.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_BYTES = 512 };

/* The C library keeps this locale ready: nothing is allocated, and it is never freed. */
static locale_t plain_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static const char *skip_digits(const char *p)
{
    while (*p >= '0' && *p <= '9')
        p++;
    return p;
}

/* strtod() takes more than JSON does: signs, hexadecimal digits, "inf". */
static bool is_decimal(const char *p)
{
    const char *digits = p + (*p == '-');

    p = skip_digits(digits);
    if (p == digits || (*digits == '0' && p > digits + 1))
        return false;
    if (*p == '.') {
        digits = p + 1;
        p = skip_digits(digits);
        if (p == digits)
            return false;
    }
    if (*p == 'e' || *p == 'E') {
        digits = p + 1 + (p[1] == '+' || p[1] == '-');
        p = skip_digits(digits);
        if (p == digits)
            return false;
    }
    return *p == '\0';
}

enum err decimal_parse(struct str text, double *ret)
{
    char copy[MAX_BYTES + 1];
    double value;

    if (text.len == 0 || text.len > MAX_BYTES)
        return ERR_INVALID;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (!is_decimal(copy) || strlen(copy) != text.len)
        return ERR_INVALID;
    value = strtod_l(copy, NULL, plain_locale());
    if (!isfinite(value))
        return ERR_INVALID;
    *ret = value;
    return OK;
}

struct str decimal_write(double value, char text[static DECIMAL_TEXT])
{
    locale_t before = uselocale(plain_locale());
    int len;

    if (!isfinite(value))
        value = 0;
    len = snprintf(text, DECIMAL_TEXT, "%.15g", value);
    if (strtod_l(text, NULL, plain_locale()) != value)
        len = snprintf(text, DECIMAL_TEXT, "%.17g", value);
    (void)uselocale(before);
    return (struct str){ text, (size_t)len };
}
