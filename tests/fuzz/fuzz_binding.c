/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two payloads, one per line: whether the one fulfils what the other proposes is decided
 * here a second time, by a comparer that is slow and has nothing in common with the other
 * but the parser. Canonical forms must agree with both.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "approval/binding.h"
#include "base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void expect(bool condition)
{
    if (!condition)
        abort();
}

/* --- numbers: digit for digit, with exponents as numbers where they are short --- */

struct digits {
    char text[4096];
    size_t count;
    long long exponent; /* of the last digit */
    bool is_negative;
};

/* False: too long for this comparer. */
static bool spread(struct str number, struct digits *ret)
{
    size_t end = 0;
    bool is_behind = false;

    *ret = (struct digits){};
    while (end < number.len && number.ptr[end] != 'e' && number.ptr[end] != 'E')
        end++;
    if (end >= sizeof(ret->text) || number.len - end > 16)
        return false;
    for (size_t i = 0; i < end; i++) {
        if (number.ptr[i] == '-') {
            ret->is_negative = true;
        } else if (number.ptr[i] == '.') {
            is_behind = true;
        } else {
            ret->text[ret->count++] = number.ptr[i];
            ret->exponent -= is_behind ? 1 : 0;
        }
    }
    if (end < number.len) {
        char text[32] = {};

        memcpy(text, number.ptr + end + 1, number.len - end - 1);
        ret->exponent += strtoll(text, NULL, 10);
    }
    return true;
}

/* The digit at a power of ten. */
static char digit_at(const struct digits *d, long long power)
{
    long long at = (long long)d->count - 1 - (power - d->exponent);

    return at >= 0 && at < (long long)d->count ? d->text[at] : '0';
}

static bool covers_same(const struct digits *a, const struct digits *b)
{
    for (size_t i = 0; i < a->count; i++)
        if (digit_at(b, a->exponent + (long long)i) != a->text[a->count - 1 - i])
            return false;
    return true;
}

static bool is_zero(const struct digits *d)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->text[i] != '0')
            return false;
    return true;
}

static bool same_number(struct str a, struct str b, bool *is_sure)
{
    static struct digits left, right;

    if (!spread(a, &left) || !spread(b, &right)) {
        *is_sure = false;
        return false;
    }
    if (is_zero(&left) && is_zero(&right))
        return true;
    return left.is_negative == right.is_negative && covers_same(&left, &right) &&
           covers_same(&right, &left);
}

/* --- trees: recursive, member by member --- */

static bool same_value(const struct json *a, const struct json *b, bool *is_sure);

static bool same_items(const struct json *a, const struct json *b, bool *is_sure)
{
    const struct json *other = b->first;

    if (a->count != b->count)
        return false;
    JSON_FOREACH(item, a) {
        if (!same_value(item, other, is_sure))
            return false;
        other = other->next;
    }
    return true;
}

static bool same_members(const struct json *a, const struct json *b, bool *is_sure)
{
    if (a->count != b->count)
        return false;
    JSON_FOREACH(member, a) {
        const struct json *other = json_find(b, member->key);

        if (!other || !same_value(member, other, is_sure))
            return false;
    }
    return true;
}

static bool same_value(const struct json *a, const struct json *b, bool *is_sure)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case JSON_NULL:
    case JSON_FALSE:
    case JSON_TRUE: return true;
    case JSON_STRING: return str_eq(a->text, b->text);
    case JSON_NUMBER: return same_number(a->text, b->text, is_sure);
    case JSON_ARRAY: return same_items(a, b, is_sure);
    case JSON_OBJECT: return same_members(a, b, is_sure);
    }
    return false;
}

static bool same_member(const struct json *a, const struct json *b, bool *is_sure)
{
    if (!a || !b)
        return a == b;
    return same_value(a, b, is_sure);
}

static const struct json *arguments_of(const struct json *params)
{
    static const struct json none = { .type = JSON_OBJECT };
    const struct json *found = json_find(params, S("arguments"));

    return found ? found : &none;
}

static bool same_call(const struct json *from, const struct json *to, bool *is_sure)
{
    static const struct json none = { .type = JSON_OBJECT };
    const struct json *a = json_find(from, S("params"));
    const struct json *b = json_find(to, S("params"));

    a = a ? a : &none;
    b = b ? b : &none;
    if (a->type != JSON_OBJECT || b->type != JSON_OBJECT)
        return same_value(a, b, is_sure);
    return same_member(json_find(a, S("name")), json_find(b, S("name")), is_sure) &&
           same_value(arguments_of(a), arguments_of(b), is_sure);
}

/* --- the whole --- */

static bool same_form(const struct json *a, const struct json *b, struct arena *arena)
{
    struct buf left, right;
    bool is_same;

    buf_init(&left, SIZE_MAX / 2);
    buf_init(&right, SIZE_MAX / 2);
    expect(json_canonical_put(&left, a, arena) == OK);
    expect(json_canonical_put(&right, b, arena) == OK);
    is_same = str_eq(buf_str(&left), buf_str(&right));
    buf_done(&left);
    buf_done(&right);
    return is_same;
}

/* The form means what its value means, and is its own form. */
static void check_form(const struct json *value, struct arena *arena)
{
    const struct json *again;
    bool is_sure = true;
    struct buf out;

    buf_init(&out, SIZE_MAX / 2);
    expect(json_canonical_put(&out, value, arena) == OK);
    expect(json_parse(buf_str(&out), arena, &again, NULL) == OK);
    expect(same_value(value, again, &is_sure) || !is_sure);
    expect(same_form(value, again, arena));
    buf_done(&out);
}

static void compare(struct str proposed, struct str asked, struct arena *arena)
{
    struct json_difference items[4];
    struct json_differences ds = { .items = items, .max = COUNT(items) };
    struct json_span left = { .type = JSON_OBJECT, .text = proposed };
    struct json_span right = { .type = JSON_OBJECT, .text = asked };
    const struct json *a, *b;
    bool is_valid =
        !json_parse(proposed, arena, &a, NULL) && !json_parse(asked, arena, &b, NULL);
    enum err err = binding_compare(S("tools/call"), left, right, arena, &ds);
    bool is_sure = true;
    bool is_same;
    struct buf out;

    expect(is_valid || err);
    expect((err == OK) == (binding_check(S("tools/call"), left) == OK &&
                           binding_check(S("tools/call"), right) == OK));
    if (err)
        return;
    check_form(a, arena);
    is_same = same_call(a, b, &is_sure);
    expect(!is_sure || is_same == (ds.count == 0));
    is_sure = true;
    is_same = same_value(a, b, &is_sure);
    expect(!is_sure || is_same == same_form(a, b, arena));
    buf_init(&out, SIZE_MAX / 2);
    binding_write(&ds, &out);
    expect(json_parse(buf_str(&out), arena, &a, NULL) == OK);
    expect(a->type == JSON_ARRAY && a->count == ds.count);
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct str text = { (const char *)bytes, size };
    struct str first = str_cut(&text, '\n');
    struct arena arena;

    if (size > 64 << 10)
        return 0;
    arena_init(&arena, 256 << 20);
    compare(first, text, &arena);
    compare(first, first, &arena);
    arena_done(&arena);
    return 0;
}
