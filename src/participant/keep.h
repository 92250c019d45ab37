/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of texts behind a struct, in one allocation: lists first, they want alignment.
 *
 *     p = xcalloc(1, sizeof(*p) + keep_strs_size(to, count) + id.len);
 *     at = (char *)(p + 1);
 *     p->to = keep_strs(&at, to, count);
 *     p->id = keep_str(&at, id);
 */
#pragma once

#include <stddef.h>
#include <string.h>

#include "base/str.h"
#include "json/scan.h"

static inline struct str keep_str(char **at, struct str s)
{
    struct str kept = { *at, s.len };

    if (s.len)
        memcpy(*at, s.ptr, s.len);
    *at += s.len;
    return kept;
}

static inline size_t keep_strs_size(const struct str *strs, size_t count)
{
    size_t size = count * sizeof(*strs);

    for (size_t i = 0; i < count; i++)
        size += strs[i].len;
    return size;
}

static inline const struct str *keep_strs(char **at, const struct str *strs, size_t count)
{
    struct str *kept = (struct str *)(void *)*at;

    *at += count * sizeof(*strs);
    for (size_t i = 0; i < count; i++)
        kept[i] = keep_str(at, strs[i]);
    return kept;
}

/* As it stands, a string with its quotes; "" of none. */
static inline struct str span_raw(struct json_span span)
{
    size_t quote = span.type == JSON_STRING ? 1 : 0;

    if (!span.text.ptr)
        return S("");
    return (struct str){ span.text.ptr - quote, span.text.len + 2 * quote };
}

/* Takes span_raw() bytes; of none nothing, and it stays none. */
static inline struct json_span keep_span(char **at, struct json_span span)
{
    size_t quote = span.type == JSON_STRING ? 1 : 0;
    struct str kept = keep_str(at, span_raw(span));

    if (span.text.ptr)
        span.text = (struct str){ kept.ptr + quote, kept.len - 2 * quote };
    return span;
}
