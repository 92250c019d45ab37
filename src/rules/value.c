/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/value.h"

#include "base/cleanup.h"
#include "json/canonical.h"

enum {
    TEXT_BYTES = 1 << 20,
    ORDER_BYTES = 16 << 20, /* members of objects that are put into order */
};

enum err value_number(struct str text, struct json_number *ret)
{
    struct json_number number;
    enum err err;

    if (text.len > VALUE_DIGITS)
        return ERR_TOO_BIG;
    err = json_number_parse(text, &number);
    if (!err && number.exponent.len > VALUE_EXPONENT)
        err = ERR_TOO_BIG;
    if (!err)
        *ret = number;
    return err;
}

// NOLINTNEXTLINE(misc-no-recursion): VALUE_DEPTH
static enum err check(const struct json *value, size_t depth)
{
    struct json_number number;
    enum err err = OK;

    if (depth > VALUE_DEPTH)
        return ERR_TOO_DEEP;
    if (value->type == JSON_NUMBER)
        return value_number(value->text, &number);
    if (value->type == JSON_OBJECT && value->count > VALUE_MEMBERS)
        return ERR_TOO_BIG;
    for (const struct json *at = value->first; at && !err; at = at->next)
        err = check(at, depth + 1);
    return err;
}

enum err value_put(struct buf *out, const struct json *value)
{
    CLEANUP(arena_done) struct arena order;
    enum err err;

    arena_init(&order, ORDER_BYTES);
    err = check(value, 1);
    return err ? err : json_canonical_put(out, value, &order);
}

enum err value_text(const struct json *value, struct arena *arena, struct str *ret)
{
    CLEANUP(buf_done) struct buf out;
    struct str text;
    enum err err;

    buf_init(&out, TEXT_BYTES);
    err = value_put(&out, value);
    if (err)
        return err;
    text = arena_str(arena, buf_str(&out));
    if (!text.ptr)
        return ERR_TOO_BIG;
    *ret = text;
    return OK;
}
