/* SPDX-License-Identifier: Apache-2.0 */
/*
 * D15 written down as plainly as possible, on trees, to compare the compiled capabilities
 * with. The payload has no name twice (json_parse() refuses that).
 */
#pragma once

#include <stdbool.h>

#include "envelope/lookalike.h"
#include "json/json.h"
#include "pattern_model.h"

/* A star takes one or more characters of any sort. */
static inline bool model_glob(struct str pattern, struct str value)
{
    if (pattern.len == 0)
        return value.len == 0;
    if (pattern.ptr[0] == '*') {
        for (size_t at = 0; at < value.len;) {
            at += model_character(value, at);
            if (model_glob(str_slice(pattern, 1, pattern.len),
                           str_slice(value, at, value.len)))
                return true;
        }
        return false;
    }
    return value.len > 0 && value.ptr[0] == pattern.ptr[0] &&
           model_glob(str_slice(pattern, 1, pattern.len), str_slice(value, 1, value.len));
}

static inline bool model_looks_like(struct str name, struct str known)
{
    struct lookalike_fold fold = {};

    while (name.ptr && lookalike_fold(&name, &fold))
        if (str_ieq((struct str){ fold.text, fold.len }, known))
            return true;
    return false;
}

static inline bool model_is_negation(const struct json *wanted)
{
    return wanted->type == JSON_STRING && str_starts(wanted->text, S("!"));
}

static inline bool model_item(const struct json *wanted, const struct json *value)
{
    if (model_is_negation(wanted))
        return value->type == JSON_STRING &&
               !model_glob(str_slice(wanted->text, 1, wanted->text.len), value->text);
    if (wanted->type != value->type)
        return false;
    if (wanted->type == JSON_STRING)
        return model_glob(wanted->text, value->text);
    return wanted->type != JSON_NUMBER || str_eq(wanted->text, value->text);
}

static inline bool model_one_of(const struct json *list, const struct json *value)
{
    bool has_positive = false;
    bool has_match = false;

    JSON_FOREACH(item, list) {
        bool holds = model_item(item, value);

        if (model_is_negation(item) && !holds)
            return false;
        has_positive = has_positive || !model_is_negation(item);
        has_match = has_match || (!model_is_negation(item) && holds);
    }
    return has_match || !has_positive;
}

static inline bool model_holds(const struct json *wanted, const struct json *value)
{
    if (!value)
        return false;
    if (wanted->type == JSON_ARRAY)
        return model_one_of(wanted, value);
    if (wanted->type != JSON_OBJECT)
        return model_item(wanted, value);
    if (value->type != JSON_OBJECT)
        return false;
    JSON_FOREACH(below, wanted) {
        JSON_FOREACH(member, value)
            if (!str_eq(member->key, below->key) &&
                model_looks_like(member->key, below->key))
                return false;
        if (!model_holds(below, json_find(value, below->key)))
            return false;
    }
    return true;
}

/* `cap`: a string or an object. */
static inline bool model_allows(const struct json *cap, struct str kind,
                                const struct json *payload)
{
    if (cap->type == JSON_STRING)
        return model_matches(cap->text, kind);
    return model_matches(json_find(cap, S("kind"))->text, kind) &&
           model_holds(json_find(cap, S("payload")), payload);
}
