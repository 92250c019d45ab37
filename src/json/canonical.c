/* SPDX-License-Identifier: Apache-2.0 */
#include "json/canonical.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json/json_priv.h"

/* --- numbers --- */

/* A number taken apart: its digits without the point, and the power of ten of the last
 * one that is not zero. */
struct number {
    struct str digits; /* from the first that is not zero to the last; may hold a point */
    int64_t shift;     /* what the place of the last one adds to the exponent */
    struct str exponent; /* as it was given, without sign and leading zeros */
    bool is_negative;
    bool has_negative_exponent;
};

static struct str skip_zeros(struct str digits)
{
    size_t at = 0;

    while (at < digits.len && digits.ptr[at] == '0')
        at++;
    return str_slice(digits, at, digits.len);
}

static void read_exponent(struct str text, struct number *n)
{
    bool has_sign = text.len && (text.ptr[0] == '-' || text.ptr[0] == '+');

    n->has_negative_exponent = text.len && text.ptr[0] == '-';
    n->exponent = skip_zeros(str_slice(text, has_sign ? 1 : 0, text.len));
}

/* Digits of "0012.3400" that count, "12.34", and what is behind them. */
static void read_digits(struct str mantissa, struct number *n)
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
    n->shift = last < point ? (int64_t)(point - last - 1) : -(int64_t)(last - point);
}

static struct number take_apart(struct str text)
{
    struct number n = { .is_negative = text.len && text.ptr[0] == '-' };
    size_t end = 0;

    while (end < text.len && (text.ptr[end] | 0x20) != 'e')
        end++;
    read_digits(str_slice(text, n.is_negative ? 1 : 0, end), &n);
    if (end < text.len)
        read_exponent(str_slice(text, end + 1, text.len), &n);
    return n;
}

enum { SMALL_DIGITS = 18 }; /* of which an int64_t holds any number */

static int64_t small_exponent(const struct number *n)
{
    int64_t value = 0;

    for (size_t i = 0; i < n->exponent.len; i++)
        value = value * 10 + (n->exponent.ptr[i] - '0');
    return n->has_negative_exponent ? -value : value;
}

/* An exponent of more digits than any text has places: the shift is added where it
 * stands, and the sign stays. */
static void put_large_exponent(struct buf *out, const struct number *n)
{
    int64_t carry = n->has_negative_exponent ? -n->shift : n->shift;
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

static void put_exponent(struct buf *out, const struct number *n)
{
    int64_t small;

    if (n->exponent.len > SMALL_DIGITS) {
        buf_putc(out, 'e');
        put_large_exponent(out, n);
        return;
    }
    small = small_exponent(n) + n->shift;
    if (small)
        buf_putf(out, "e%lld", (long long)small);
}

void json_number_put(struct buf *out, struct str number)
{
    struct number n = take_apart(number);

    if (n.digits.len == 0) {
        buf_putc(out, '0');
        return;
    }
    if (n.is_negative)
        buf_putc(out, '-');
    for (size_t i = 0; i < n.digits.len; i++)
        if (n.digits.ptr[i] != '.')
            buf_putc(out, n.digits.ptr[i]);
    put_exponent(out, &n);
}

/* --- trees --- */

static int by_key(const void *a, const void *b)
{
    return str_cmp((*(const struct json *const *)a)->key,
                   (*(const struct json *const *)b)->key);
}

const struct json **json_members(const struct json *object, struct arena *arena)
{
    const struct json **members =
        arena_alloc(arena, (object->count + 1) * sizeof(*members));
    size_t count = 0;

    if (!members)
        return NULL;
    JSON_FOREACH(member, object)
        members[count++] = member;
    if (count > 1)
        qsort(members, count, sizeof(*members), by_key);
    return members;
}

/* An object or array that is being written. */
struct level {
    const struct json *value;
    const struct json **members; /* an object's */
    const struct json *item;     /* an array's next */
    size_t at;
};

struct canon {
    struct arena *arena;
    struct json_writer w;
    struct level levels[JSON_TREE_DEPTH + 1];
    size_t depth;
};

static enum err open_level(struct canon *c, const struct json *value)
{
    struct level *level = &c->levels[c->depth];

    if (c->depth == JSON_TREE_DEPTH + 1)
        return ERR_TOO_BIG;
    *level = (struct level){ .value = value, .item = value->first };
    if (value->type == JSON_OBJECT) {
        level->members = json_members(value, c->arena);
        if (!level->members)
            return ERR_TOO_BIG;
        json_object_open(&c->w);
    } else {
        json_array_open(&c->w);
    }
    c->depth++;
    return OK;
}

static enum err put_value(struct canon *c, const struct json *value)
{
    switch (value->type) {
    case JSON_OBJECT:
    case JSON_ARRAY: return open_level(c, value);
    case JSON_STRING: json_str(&c->w, value->text); return OK;
    case JSON_NUMBER:
        json_raw(&c->w, S(""));
        json_number_put(c->w.out, value->text);
        return OK;
    case JSON_NULL: json_null(&c->w); return OK;
    case JSON_FALSE:
    case JSON_TRUE: json_bool(&c->w, value->type == JSON_TRUE); return OK;
    }
    return OK;
}

static void close_level(struct canon *c)
{
    if (c->levels[--c->depth].value->type == JSON_OBJECT)
        json_object_close(&c->w);
    else
        json_array_close(&c->w);
}

/* The next of the innermost level; NULL: it has ended. */
static const struct json *next_of(struct canon *c)
{
    struct level *level = &c->levels[c->depth - 1];
    const struct json *next = level->item;

    if (level->at == level->value->count)
        return NULL;
    if (level->members) {
        next = level->members[level->at];
        json_key(&c->w, next->key);
    } else {
        level->item = next->next;
    }
    level->at++;
    return next;
}

enum err json_canonical_put(struct buf *out, const struct json *value,
                            struct arena *arena)
{
    struct canon c = { .arena = arena };
    enum err err;

    json_write_init(&c.w, out);
    err = put_value(&c, value);
    while (!err && c.depth > 0) {
        const struct json *next = next_of(&c);

        if (next)
            err = put_value(&c, next);
        else
            close_level(&c);
    }
    return err || out->is_full ? ERR_TOO_BIG : OK;
}
