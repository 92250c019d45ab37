/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/leaf.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "policy/pattern.h"

struct item {
    enum json_type type;
    bool is_negated;
    struct str text;         /* of numbers */
    struct pattern *pattern; /* of strings */
};

struct leaf {
    size_t count;
    bool has_negated;
    bool has_positive;
    struct item items[];
};

void leaf_free(struct leaf *leaf)
{
    if (!leaf)
        return;
    for (size_t i = 0; i < leaf->count; i++)
        pattern_free(leaf->items[i].pattern);
    free(leaf);
}

CLEANUP_FOR(struct leaf, leaf_free)

static enum err add_item(struct leaf *leaf, const struct json *value, const char **why)
{
    struct item *item = &leaf->items[leaf->count];
    struct str text = value->text;

    *why = "a condition is a string, a number, true, false, null, or a list of those";
    if (value->type == JSON_OBJECT || value->type == JSON_ARRAY)
        return ERR_INVALID;
    leaf->count++;
    item->type = value->type;
    item->text = text;
    item->is_negated = value->type == JSON_STRING && str_starts(text, S("!"));
    leaf->has_negated = leaf->has_negated || item->is_negated;
    leaf->has_positive = leaf->has_positive || !item->is_negated;
    if (value->type != JSON_STRING)
        return OK;
    return pattern_new_value(str_slice(text, item->is_negated, text.len), &item->pattern,
                             why);
}

enum err leaf_new(const struct json *value, struct leaf **ret, const char **ret_why)
{
    bool is_list = value->type == JSON_ARRAY;
    CLEANUP(leaf_freep)
    struct leaf *leaf =
        xcalloc(1, sizeof(*leaf) + (is_list ? value->count : 1) * sizeof(leaf->items[0]));
    const char *why = "an empty list allows nothing";
    enum err err = is_list && value->count == 0 ? ERR_INVALID : OK;

    if (!is_list)
        err = add_item(leaf, value, &why);
    for (const struct json *v = is_list ? value->first : NULL; v && !err; v = v->next)
        err = add_item(leaf, v, &why);
    if (err && ret_why)
        *ret_why = why;
    if (err)
        return err;
    *ret = TAKE(leaf);
    return OK;
}

size_t leaf_count(const struct leaf *leaf)
{
    return leaf->count;
}

/* `text`: of a string, its escapes resolved; of all others as it stands. */
static bool item_matches(const struct item *item, enum json_type type, struct str text)
{
    if (item->type != type)
        return false;
    if (type == JSON_STRING)
        return pattern_matches(item->pattern, text);
    return type != JSON_NUMBER || str_eq(item->text, text);
}

/* The type is one that the leaf names. */
static bool accepts(const struct leaf *leaf, enum json_type type, struct str text)
{
    bool is_named = !leaf->has_positive;

    for (size_t i = 0; i < leaf->count; i++) {
        bool matches = item_matches(&leaf->items[i], type, text);

        if (matches && leaf->items[i].is_negated)
            return false;
        is_named = is_named || matches;
    }
    return is_named;
}

static bool names_type(const struct leaf *leaf, enum json_type type)
{
    if (leaf->has_negated)
        return type == JSON_STRING;
    for (size_t i = 0; i < leaf->count; i++)
        if (leaf->items[i].type == type)
            return true;
    return false;
}

enum leaf_verdict leaf_judge(const struct leaf *leaf, struct json_span value,
                             struct arena *scratch)
{
    struct str text = value.text;

    if (!names_type(leaf, value.type))
        return LEAF_OTHER_TYPE;
    if (value.type == JSON_STRING &&
        (value.text.len > LEAF_MAX_BYTES || json_unescape(value, scratch, &text)))
        return LEAF_DIFFERS;
    return accepts(leaf, value.type, text) ? LEAF_HOLDS : LEAF_DIFFERS;
}

/* Is everything that matches `item` also named by `held` without a `!`? */
static bool names_all_of(const struct leaf *held, const struct item *item)
{
    for (size_t i = 0; i < held->count; i++) {
        const struct item *h = &held->items[i];

        if (h->is_negated || h->type != item->type)
            continue;
        if (item->type == JSON_STRING ? pattern_covers(h->pattern, item->pattern)
                                      : item_matches(h, item->type, item->text))
            return true;
    }
    return false;
}

/* Does `wanted` refuse everything that the negated pattern refuses? */
static bool refuses_all_of(const struct leaf *wanted, const struct pattern *refused)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (wanted->items[i].is_negated &&
            pattern_covers(wanted->items[i].pattern, refused))
            return true;
    return false;
}

/* Is nothing that `wanted` names without a `!` refused by the pattern? */
static bool names_none_of(const struct leaf *wanted, const struct pattern *refused)
{
    if (!wanted->has_positive)
        return false;
    for (size_t i = 0; i < wanted->count; i++) {
        const struct item *item = &wanted->items[i];

        if (item->is_negated)
            continue;
        if (item->type != JSON_STRING || !pattern_is_apart(item->pattern, refused))
            return false;
    }
    return true;
}

bool leaf_covers(const struct leaf *held, const struct leaf *wanted)
{
    if (held->has_positive && !wanted->has_positive)
        return false;
    for (size_t i = 0; held->has_positive && i < wanted->count; i++)
        if (!wanted->items[i].is_negated && !names_all_of(held, &wanted->items[i]))
            return false;
    for (size_t i = 0; i < held->count; i++)
        if (held->items[i].is_negated &&
            !refuses_all_of(wanted, held->items[i].pattern) &&
            !names_none_of(wanted, held->items[i].pattern))
            return false;
    return true;
}
