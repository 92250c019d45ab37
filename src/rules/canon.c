/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/canon.h"

#include <stdlib.h>

enum {
    EXPONENT_MAX = 99'999,
    PLAIN_PLACES = 24, /* zeros that are written out; beyond, there is an exponent */
    TEXT_BYTES = 1 << 20,
};

/* --- numbers --- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "e-12" at the end of a number; nothing is 0. */
static enum err parse_exponent(struct str text, int32_t *ret)
{
    bool is_negative = false;
    uint64_t value;

    *ret = 0;
    if (text.len == 0)
        return OK;
    text = str_slice(text, 1, text.len);
    if (text.len && (text.ptr[0] == '-' || text.ptr[0] == '+')) {
        is_negative = text.ptr[0] == '-';
        text = str_slice(text, 1, text.len);
    }
    if (str_to_u64(text, EXPONENT_MAX, &value))
        return ERR_TOO_BIG;
    *ret = is_negative ? -(int32_t)value : (int32_t)value;
    return OK;
}

static void drop_zeros(struct canon_number *n)
{
    size_t zeros = 0;

    while (n->count && n->digits[n->count - 1] == '0')
        n->count--;
    while (zeros < n->count && n->digits[zeros] == '0')
        zeros++;
    memmove(n->digits, n->digits + zeros, n->count - zeros);
    n->count -= zeros;
    n->point -= (int32_t)zeros;
    if (n->count == 0) {
        n->point = 0;
        n->is_negative = false; /* -0 is 0 */
    }
}

enum err canon_number_parse(struct str text, struct canon_number *ret)
{
    struct canon_number n = {};
    bool has_point = false;
    int32_t exponent;
    size_t i = 0;
    enum err err;

    if (text.len > CANON_DIGITS)
        return ERR_TOO_BIG;
    if (text.len && text.ptr[0] == '-') {
        n.is_negative = true;
        i = 1;
    }
    for (; i < text.len && (is_digit(text.ptr[i]) || (text.ptr[i] == '.' && !has_point));
         i++) {
        if (text.ptr[i] == '.') {
            has_point = true;
            continue;
        }
        n.digits[n.count++] = text.ptr[i];
        if (!has_point)
            n.point++;
    }
    if (n.count == 0 || (i < text.len && (text.ptr[i] | 0x20) != 'e'))
        return ERR_INVALID;
    err = parse_exponent(str_slice(text, i, text.len), &exponent);
    if (err)
        return err;
    n.point += exponent;
    drop_zeros(&n);
    *ret = n;
    return OK;
}

static void put_zeros(struct buf *out, int32_t count)
{
    for (; count > 0; count--)
        buf_putc(out, '0');
}

void canon_number_put(struct buf *out, const struct canon_number *n)
{
    struct str digits = { n->digits, n->count };
    int32_t count = (int32_t)n->count;

    if (n->is_negative)
        buf_putc(out, '-');
    if (count == 0) {
        buf_putc(out, '0');
    } else if (n->point > 0 && n->point - count <= PLAIN_PLACES && n->point >= count) {
        buf_put(out, digits);
        put_zeros(out, n->point - count);
    } else if (n->point > 0 && n->point < count) {
        buf_put(out, str_slice(digits, 0, (size_t)n->point));
        buf_putc(out, '.');
        buf_put(out, str_slice(digits, (size_t)n->point, digits.len));
    } else if (n->point <= 0 && n->point > -PLAIN_PLACES) {
        buf_put(out, S("0."));
        put_zeros(out, -n->point);
        buf_put(out, digits);
    } else {
        buf_put(out, digits);
        buf_putf(out, "e%d", n->point - count);
    }
}

static int compare_sizes(const struct canon_number *a, const struct canon_number *b)
{
    if (a->count == 0 || b->count == 0)
        return (a->count != 0) - (b->count != 0);
    if (a->point != b->point)
        return a->point < b->point ? -1 : 1;
    return str_cmp((struct str){ a->digits, a->count },
                   (struct str){ b->digits, b->count });
}

int canon_number_compare(const struct canon_number *a, const struct canon_number *b)
{
    if (a->is_negative != b->is_negative)
        return a->is_negative ? -1 : 1;
    return a->is_negative ? compare_sizes(b, a) : compare_sizes(a, b);
}

bool canon_number_is_whole(const struct canon_number *n)
{
    return n->count == 0 || n->point >= (int32_t)n->count;
}

/* --- values --- */

static int compare_keys(const void *a, const void *b)
{
    return str_cmp((*(const struct json *const *)a)->key,
                   (*(const struct json *const *)b)->key);
}

static enum err put_value(struct buf *out, const struct json *value, size_t depth);

static enum err put_object(struct buf *out, const struct json *object, size_t depth)
{
    const struct json *members[CANON_MEMBERS];
    struct json_writer w;
    size_t count = 0;
    enum err err = OK;

    if (object->count > CANON_MEMBERS)
        return ERR_TOO_BIG;
    JSON_FOREACH(member, object)
        members[count++] = member;
    if (count)
        qsort(members, count, sizeof(members[0]), compare_keys);
    buf_putc(out, '{');
    for (size_t i = 0; i < count && !err; i++) {
        if (i)
            buf_putc(out, ',');
        json_write_init(&w, out);
        json_key(&w, members[i]->key);
        err = put_value(out, members[i], depth + 1);
    }
    buf_putc(out, '}');
    return err;
}

static enum err put_array(struct buf *out, const struct json *array, size_t depth)
{
    enum err err = OK;

    buf_putc(out, '[');
    for (const struct json *at = array->first; at && !err; at = at->next) {
        if (at != array->first)
            buf_putc(out, ',');
        err = put_value(out, at, depth + 1);
    }
    buf_putc(out, ']');
    return err;
}

/* Goes no deeper than CANON_DEPTH. */
static enum err put_value(struct buf *out, const struct json *value, size_t depth)
{
    struct canon_number number;
    struct json_writer w;
    enum err err;

    if (depth > CANON_DEPTH)
        return ERR_TOO_DEEP;
    switch (value->type) {
    case JSON_NULL: buf_put(out, S("null")); return OK;
    case JSON_FALSE: buf_put(out, S("false")); return OK;
    case JSON_TRUE: buf_put(out, S("true")); return OK;
    case JSON_STRING:
        json_write_init(&w, out);
        json_str(&w, value->text);
        return OK;
    case JSON_NUMBER:
        err = canon_number_parse(value->text, &number);
        if (!err)
            canon_number_put(out, &number);
        return err ? ERR_TOO_BIG : OK;
    case JSON_ARRAY: return put_array(out, value, depth);
    case JSON_OBJECT: return put_object(out, value, depth);
    }
    return ERR_INVALID;
}

enum err canon_put(struct buf *out, const struct json *value)
{
    enum err err = put_value(out, value, 1);

    return !err && out->is_full ? ERR_TOO_BIG : err;
}

enum err canon_text(const struct json *value, struct arena *arena, struct str *ret)
{
    struct str text = {};
    struct buf out;
    enum err err;

    buf_init(&out, TEXT_BYTES);
    err = canon_put(&out, value);
    if (!err)
        text = arena_str(arena, buf_str(&out));
    buf_done(&out);
    if (err)
        return err;
    if (!text.ptr)
        return ERR_TOO_BIG;
    *ret = text;
    return OK;
}
