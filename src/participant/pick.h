/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of a JSON object by name, as spans of its text: for payloads, which were
 * scanned before. Allocates nothing.
 *
 *     struct json_span id = {}, type = {};
 *     if (!PICK(object, { S("id"), &id }, { S("type"), &type }))
 *         … no object, or a name stands twice
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "json/scan.h"

struct pick {
    struct str name;
    struct json_span *ret; /* stays as it is where there is none */
};

/* False: it is no object, or one of the names stands twice. `ret` may be half filled. */
bool pick_members(struct json_span object, const struct pick *picks, size_t count);

#define PICK(object, ...)                                      \
    pick_members(object, (const struct pick[]){ __VA_ARGS__ }, \
                 COUNT(((const struct pick[]){ __VA_ARGS__ })))

static inline bool pick_is_there(struct json_span span)
{
    return span.text.ptr;
}

static inline bool pick_is(struct json_span span, enum json_type type)
{
    return span.text.ptr && span.type == type;
}

/* The text of a string; "" for whatever else, and where the arena is full. */
static inline struct str pick_text(struct json_span span, struct arena *arena)
{
    struct str text;

    if (!pick_is(span, JSON_STRING) || json_unescape(span, arena, &text))
        return S("");
    return text;
}
