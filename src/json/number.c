/* SPDX-License-Identifier: Apache-2.0 */
#include "json/number.h"

#include <string.h>

enum {
    SMALL_DIGITS = 18, /* of which an int64_t holds any number, and some more */
    PLAIN_ZEROS = 24,  /* that are written out; beyond, there is an exponent */
};

/* --- reading --- */

static size_t skip_digits(struct str text, size_t at)
{
    while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9')
        at++;
    return at;
}

/* Where "12.50" ends; 0: nothing of the kind stands there. */
static size_t find_mantissa_end(struct str text, size_t start)
{
    size_t end = skip_digits(text, start);
    size_t fraction = end + 1;

    if (end == start || (text.ptr[start] == '0' && end > start + 1))
        return 0;
    if (end == text.len || text.ptr[end] != '.')
        return end;
    end = skip_digits(text, fraction);
    return end == fraction ? 0 : end;
}

/* "e-12" at the end of a number, or nothing. */
static enum err read_exponent(struct str text, struct json_number *n)
{
    size_t at = 1;

    if (text.len == 0)
        return OK;
    if ((text.ptr[0] | 0x20) != 'e')
        return ERR_INVALID;
    if (text.len > 1 && (text.ptr[1] == '-' || text.ptr[1] == '+')) {
        n->has_negative_exponent = text.ptr[1] == '-';
        at = 2;
    }
    if (at == text.len || skip_digits(text, at) != text.len)
        return ERR_INVALID;
    while (at < text.len && text.ptr[at] == '0')
        at++;
    n->exponent = str_slice(text, at, text.len);
    return OK;
}

/* The digits of "0012.3400" that count, "12.34", and where they stand. */
static void read_digits(struct str mantissa, struct json_number *n)
{
    size_t point = str_find(mantissa, '.', 0);
    size_t first = mantissa.len, last = 0;

    for (size_t i = 0; i < mantissa.len; i++) {
        if (mantissa.ptr[i] == '0' || mantissa.ptr[i] == '.')
            continue;
        first = i < first ? i : first;
        last = i;
    }
    if (first == mantissa.len)
        return;
    n->digits = str_slice(mantissa, first, last + 1);
    n->count = n->digits.len - (first < point && point < last ? 1 : 0);
    n->places = first < point ? (int64_t)(point - first) : -(int64_t)(first - point - 1);
}

enum err json_number_parse(struct str text, struct json_number *ret)
{
    struct json_number n = { .is_negative = text.len && text.ptr[0] == '-' };
    size_t start = n.is_negative ? 1 : 0;
    size_t end = find_mantissa_end(text, start);

    if (end == 0 || read_exponent(str_slice(text, end, text.len), &n))
        return ERR_INVALID;
    read_digits(str_slice(text, start, end), &n);
    if (n.count == 0)
        n.is_negative = false; /* -0 is 0 */
    *ret = n;
    return OK;
}

/* --- exponents --- */

static bool is_small(const struct json_number *n)
{
    return n->exponent.len <= SMALL_DIGITS;
}

static int64_t small_exponent(const struct json_number *n)
{
    int64_t value = 0;

    for (size_t i = 0; i < n->exponent.len; i++)
        value = value * 10 + (n->exponent.ptr[i] - '0');
    return n->has_negative_exponent ? -value : value;
}

/* An exponent of more digits than any text has places: what is added is added where it
 * stands, and the sign stays. */
static void put_large_sum(struct buf *out, const struct json_number *n, int64_t added)
{
    int64_t carry = n->has_negative_exponent ? -added : added;
    size_t start;

    if (n->has_negative_exponent)
        buf_putc(out, '-');
    start = out->len;
    buf_putc(out, '0'); /* a carry may make it longer */
    buf_put(out, n->exponent);
    if (out->is_full)
        return;
    for (size_t i = out->len; i > start && carry; i--) {
        int64_t digit = out->ptr[i - 1] - '0' + carry % 10;

        carry /= 10;
        if (digit < 0 || digit > 9)
            carry += digit < 0 ? -1 : 1;
        out->ptr[i - 1] = (char)('0' + (digit + 10) % 10);
    }
    while (out->ptr[start] == '0') {
        memmove(out->ptr + start, out->ptr + start + 1, out->len - start - 1);
        out->len--;
    }
}

static void put_sum(struct buf *out, const struct json_number *n, int64_t added)
{
    long long sum;

    if (!is_small(n)) {
        put_large_sum(out, n, added);
        return;
    }
    sum = small_exponent(n) + added;
    buf_putf(out, "%lld", sum);
}

/* --- writing --- */

static void put_zeros(struct buf *out, int64_t count)
{
    for (; count > 0; count--)
        buf_putc(out, '0');
}

/* With a point before the one at `point`, if there is such a digit. */
static void put_digits(struct buf *out, const struct json_number *n, int64_t point)
{
    int64_t at = 0;

    for (size_t i = 0; i < n->digits.len; i++) {
        if (n->digits.ptr[i] == '.')
            continue;
        if (at == point)
            buf_putc(out, '.');
        buf_putc(out, n->digits.ptr[i]);
        at++;
    }
}

/* Without an exponent; false: it would be too long. */
static bool put_plain(struct buf *out, const struct json_number *n)
{
    int64_t point, zeros;

    if (!is_small(n))
        return false;
    point = small_exponent(n) + n->places;
    zeros = point > 0 ? point - (int64_t)n->count : -point + 1;
    if (zeros > PLAIN_ZEROS)
        return false;
    if (point > 0) {
        put_digits(out, n, point);
        put_zeros(out, zeros);
    } else {
        buf_put(out, S("0."));
        put_zeros(out, -point);
        put_digits(out, n, -1);
    }
    return true;
}

void json_number_put(struct buf *out, const struct json_number *n)
{
    if (n->is_negative)
        buf_putc(out, '-');
    if (n->count == 0) {
        buf_putc(out, '0');
    } else if (!put_plain(out, n)) {
        put_digits(out, n, -1);
        buf_putc(out, 'e');
        put_sum(out, n, n->places - (int64_t)n->count);
    }
}

/* --- comparing --- */

static int compare_digits(struct str a, struct str b)
{
    size_t i = 0, j = 0;

    for (;; i++, j++) {
        i += i < a.len && a.ptr[i] == '.' ? 1 : 0;
        j += j < b.len && b.ptr[j] == '.' ? 1 : 0;
        if (i == a.len || j == b.len)
            return (i < a.len) - (j < b.len);
        if (a.ptr[i] != b.ptr[j])
            return a.ptr[i] < b.ptr[j] ? -1 : 1;
    }
}

/* Two texts like "-12" and "5". */
static int compare_whole(struct str a, struct str b)
{
    bool is_negative = a.len && a.ptr[0] == '-';
    bool is_other_negative = b.len && b.ptr[0] == '-';
    bool is_less;

    if (str_eq(a, b))
        return 0;
    if (is_negative != is_other_negative)
        return is_negative ? -1 : 1;
    is_less = a.len == b.len ? str_cmp(a, b) < 0 : a.len < b.len;
    return is_less == is_negative ? 1 : -1;
}

/* Where the first digit stands, seen from the point. */
static int compare_points(const struct json_number *a, const struct json_number *b)
{
    struct buf left, right;
    int order;

    if (is_small(a) && is_small(b)) {
        int64_t x = small_exponent(a) + a->places;
        int64_t y = small_exponent(b) + b->places;

        return (x > y) - (x < y);
    }
    buf_init(&left, SIZE_MAX / 2);
    buf_init(&right, SIZE_MAX / 2);
    put_sum(&left, a, a->places);
    put_sum(&right, b, b->places);
    order = compare_whole(buf_str(&left), buf_str(&right));
    buf_done(&left);
    buf_done(&right);
    return order;
}

static int compare_sizes(const struct json_number *a, const struct json_number *b)
{
    int order;

    if (a->count == 0 || b->count == 0)
        return (a->count != 0) - (b->count != 0);
    order = compare_points(a, b);
    return order ? order : compare_digits(a->digits, b->digits);
}

int json_number_compare(const struct json_number *a, const struct json_number *b)
{
    if (a->is_negative != b->is_negative)
        return a->is_negative ? -1 : 1;
    return a->is_negative ? compare_sizes(b, a) : compare_sizes(a, b);
}

bool json_number_is_whole(const struct json_number *n)
{
    if (n->count == 0)
        return true;
    if (!is_small(n))
        return !n->has_negative_exponent;
    return small_exponent(n) + n->places >= (int64_t)n->count;
}
