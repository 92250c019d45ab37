/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree. The scanner first checks the whole text, so that there is one grammar only;
 * then the tokens are hung into the tree without a question. What is open stands in an
 * array, not on the call stack.
 */
#include <stdlib.h>

#include "base/cleanup.h"
#include "json/json.h"
#include "json/json_priv.h"

enum { FEW_MEMBERS = 8 };

struct builder {
    struct arena *arena;
    const char *start, *at, *end;
    struct json
        *open[JSON_TREE_DEPTH + 1]; /* open[0] is a list whose one item is the root */
    struct json *last[JSON_TREE_DEPTH + 1]; /* the newest child of each */
    size_t depth;
    struct str key; /* ptr NULL: the next string in an object is a name */
    struct json_problem problem;
};

static enum err full(struct builder *b)
{
    b->problem.at = (size_t)(b->at - b->start);
    b->problem.what = "too large";
    return ERR_TOO_BIG;
}

/* `raw` of an object or array is completed when it closes. */
static enum err add(struct builder *b, enum json_type type, struct str text,
                    struct str raw)
{
    struct json *parent = b->open[b->depth];
    struct json *last = b->last[b->depth];
    struct json *node = arena_alloc(b->arena, sizeof(*node));

    if (!node)
        return full(b);
    *node = (struct json){ .type = type, .text = text, .key = b->key, .raw = raw };
    b->key = (struct str){};
    if (last)
        last->next = node;
    else
        parent->first = node;
    b->last[b->depth] = node;
    parent->count++;
    if (type == JSON_OBJECT || type == JSON_ARRAY) {
        b->depth++;
        b->open[b->depth] = node;
        b->last[b->depth] = NULL;
    }
    return OK;
}

/* A name given twice means different things to different readers. */
static const struct json *find_repeated_few(const struct json *object)
{
    JSON_FOREACH(member, object)
        for (const struct json *other = object->first; other != member;
             other = other->next)
            if (str_eq(member->key, other->key))
                return member;
    return NULL;
}

static int by_key(const void *a, const void *b)
{
    const struct json *const *left = a;
    const struct json *const *right = b;

    return str_cmp((*left)->key, (*right)->key);
}

static enum err find_repeated_many(struct builder *b, const struct json *object,
                                   const struct json **ret)
{
    const struct json **sorted = arena_alloc(b->arena, object->count * sizeof(*sorted));
    size_t count = 0;

    if (!sorted)
        return full(b);
    JSON_FOREACH(member, object)
        sorted[count++] = member;
    qsort(sorted, count, sizeof(*sorted), by_key);
    for (size_t i = 1; i < count; i++)
        if (str_eq(sorted[i - 1]->key, sorted[i]->key))
            *ret = sorted[i];
    return OK;
}

static enum err close_object(struct builder *b)
{
    const struct json *object = b->open[b->depth];
    const struct json *repeated = NULL;
    enum err err = OK;

    if (object->count > FEW_MEMBERS)
        err = find_repeated_many(b, object, &repeated);
    else
        repeated = find_repeated_few(object);
    if (err || !repeated)
        return err;
    b->problem = (struct json_problem){
        .at = (size_t)(b->at - b->start),
        .what = "a name is given twice",
        .field = repeated->key,
    };
    return ERR_INVALID;
}

static struct str since(const struct builder *b, const char *start)
{
    return (struct str){ start, (size_t)(b->at - start) };
}

static enum err take_string(struct builder *b)
{
    struct json_span span = { .type = JSON_STRING };
    const char *start = b->at;
    const char *p = start + 1;
    struct str text;

    for (;;) {
        p = json_skip(p, b->end, JSON_TEXT);
        if (*p == '"')
            break;
        span.has_escape = true;
        p += 2;
    }
    span.text = (struct str){ start + 1, (size_t)(p - start - 1) };
    if (json_unescape(span, b->arena, &text))
        return full(b);
    b->at = p + 1;
    if (b->open[b->depth]->type == JSON_OBJECT && !b->key.ptr) {
        b->key = text;
        return OK;
    }
    return add(b, JSON_STRING, text, since(b, start));
}

static enum err take_word(struct builder *b, enum json_type type, size_t len)
{
    const char *start = b->at;

    b->at += len;
    return add(b, type, (struct str){}, since(b, start));
}

static enum err take_number(struct builder *b)
{
    const char *start = b->at;

    while (b->at < b->end && (json_is_digit(*b->at) || *b->at == '.' || *b->at == '-' ||
                              *b->at == '+' || (*b->at | 0x20) == 'e'))
        b->at++;
    return add(b, JSON_NUMBER, since(b, start), since(b, start));
}

static enum err take_token(struct builder *b)
{
    enum err err = OK;

    switch (*b->at) {
    case ' ':
    case '\t':
    case '\n':
    case '\r':
    case ',':
    case ':': b->at++; return OK;
    case '"': return take_string(b);
    case '{': return take_word(b, JSON_OBJECT, 1);
    case '[': return take_word(b, JSON_ARRAY, 1);
    case 't': return take_word(b, JSON_TRUE, 4);
    case 'f': return take_word(b, JSON_FALSE, 5);
    case 'n': return take_word(b, JSON_NULL, 4);
    case '}': err = close_object(b); [[fallthrough]];
    case ']':
        b->at++;
        b->open[b->depth]->raw = since(b, b->open[b->depth]->raw.ptr);
        b->depth--;
        return err;
    default: return take_number(b);
    }
}

static enum err check(struct str text, struct json_problem *problem)
{
    struct json_scan scan;
    struct json_span span;
    enum err err;

    json_scan_init(&scan, text, JSON_TREE_DEPTH);
    err = json_value(&scan, &span);
    if (!err)
        err = json_scan_end(&scan);
    if (err)
        *problem = (struct json_problem){ .at = scan.at, .what = scan.what };
    return err;
}

static enum err build(struct builder *b)
{
    enum err err = OK;

    while (!err && b->at < b->end)
        err = take_token(b);
    return err;
}

enum err json_parse(struct str text, struct arena *arena, const struct json **ret,
                    struct json_problem *problem)
{
    struct json list = { .type = JSON_ARRAY };
    struct builder b = {
        .arena = arena,
        .start = text.ptr,
        .at = text.ptr,
        .open = { &list },
    };
    enum err err = check(text, &b.problem);

    if (!err) {
        b.end = text.ptr + text.len;
        err = build(&b);
    }
    if (err && problem)
        *problem = b.problem;
    if (err)
        return err;
    *ret = list.first;
    return OK;
}

const struct json *json_find(const struct json *json, struct str key)
{
    if (!json || json->type != JSON_OBJECT)
        return NULL;
    JSON_FOREACH(member, json)
        if (str_eq(member->key, key))
            return member;
    return NULL;
}

struct str json_text(const struct json *json)
{
    return json && json->type == JSON_STRING ? json->text : S("");
}

bool json_says(const struct json *json, struct str wanted)
{
    if (!json)
        return false;
    if (json->type == JSON_STRING)
        return str_eq(json->text, wanted);
    if (json->type != JSON_ARRAY)
        return false;
    JSON_FOREACH(item, json)
        if (item->type == JSON_STRING && str_eq(item->text, wanted))
            return true;
    return false;
}
