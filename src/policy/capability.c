/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conditions of an object stand in one array, level by level, so that what stands
 * below one of them is a range behind it:
 *
 *     {"payload":{"params":{"name":"read_*","uri":"x"},"method":"tools/call"}}
 *
 *     0 payload (1..3)   1 method   2 params (3..5)   3 name   4 uri
 *
 * Where they look is told to an outline (outline.h), which finds what stands there in one
 * walk, for one capability or for all of a set.
 */
#include "policy/capability.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/xalloc.h"
#include "policy/leaf.h"
#include "policy/outline.h"
#include "policy/pattern.h"
#include "policy/policy_priv.h"
#include "policy/respell.h"

enum {
    TREE_MAX_BYTES = 1024 * 1024,
    MAX_CONDITIONS = CAPABILITY_MAX_LEAVES * CAPABILITY_MAX_DEPTH, /* each above a leaf */
};

struct condition {
    struct str name;
    const struct json *wanted;
    struct leaf *leaf; /* NULL: an object with conditions below */
    size_t parent;
    size_t first, end; /* those below */
};

struct capability {
    struct str text;
    struct pattern *pattern;
    struct respelt spelt; /* the same and its equals */
    struct arena arena;   /* what an object was read from, and its text */
    struct condition *conditions;
    size_t count; /* 0: a pattern */
};

/* The normal form. */

struct normal {
    struct json_writer to;
    bool is_too_deep;
};

static int by_key(const void *a, const void *b)
{
    const struct json *const *left = a;
    const struct json *const *right = b;

    return str_cmp((*left)->key, (*right)->key);
}

static void write_value(struct normal *n, const struct json *value, size_t depth);

static void write_object(struct normal *n, const struct json *object, size_t depth)
{
    CLEANUP(xfreep)
    const struct json **sorted = xcalloc(object->count + 1, sizeof(struct json *));
    size_t count = 0;

    JSON_FOREACH(member, object)
        sorted[count++] = member;
    qsort(sorted, count, sizeof(struct json *), by_key);
    json_object_open(&n->to);
    for (size_t i = 0; i < count; i++) {
        json_key(&n->to, sorted[i]->key);
        write_value(n, sorted[i], depth);
    }
    json_object_close(&n->to);
}

static void write_array(struct normal *n, const struct json *array, size_t depth)
{
    json_array_open(&n->to);
    JSON_FOREACH(item, array)
        write_value(n, item, depth);
    json_array_close(&n->to);
}

/* `depth`: how many brackets are open. The limit bounds the recursion. */
static void write_value(struct normal *n, const struct json *value, size_t depth)
{
    bool is_nested = value->type == JSON_ARRAY || value->type == JSON_OBJECT;

    if (is_nested && depth == CAPABILITY_MAX_DEPTH) {
        n->is_too_deep = true;
        return;
    }
    switch (value->type) {
    case JSON_NULL: json_null(&n->to); break;
    case JSON_FALSE: json_bool(&n->to, false); break;
    case JSON_TRUE: json_bool(&n->to, true); break;
    case JSON_NUMBER: json_raw(&n->to, value->text); break;
    case JSON_STRING: json_str(&n->to, value->text); break;
    case JSON_ARRAY: write_array(n, value, depth + 1); break;
    case JSON_OBJECT: write_object(n, value, depth + 1); break;
    }
}

/* Writes the normal form into the arena. Returns why not, or NULL. */
static const char *write_normal(const struct json *object, struct arena *arena,
                                struct str *ret)
{
    struct normal n = {};
    struct buf out;

    buf_init(&out, CAPABILITY_MAX_BYTES);
    json_write_init(&n.to, &out);
    write_value(&n, object, 0);
    if (!out.is_full)
        *ret = arena_str(arena, buf_str(&out));
    buf_done(&out);
    if (n.is_too_deep)
        return "an object is at most 8 levels deep";
    return ret->ptr ? NULL : "an object has at most 4096 bytes";
}

/* From the tree to conditions. Each step returns why it cannot be done, or NULL. */

static const char *check_name(struct str name)
{
    if (name.len == 0 || name.len > CAPABILITY_MAX_NAME)
        return "a name in `payload` has 1 to 64 characters";
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] < ' ' || name.ptr[i] > '~')
            return "a name in `payload` is ASCII, so that look-alikes can be told";
    return NULL;
}

static void add_condition(struct capability *cap, struct condition condition)
{
    size_t size = (cap->count + 1) * sizeof(condition);

    cap->conditions = xrealloc(cap->conditions, size);
    cap->conditions[cap->count++] = condition;
}

static const char *add_below(struct capability *cap, size_t i)
{
    const struct json *object = cap->conditions[i].wanted;

    if (object->count == 0)
        return "an empty object in `payload` says nothing";
    cap->conditions[i].first = cap->count;
    JSON_FOREACH(member, object) {
        const char *why = check_name(member->key);

        if (why)
            return why;
        add_condition(cap, (struct condition){
                               .name = member->key,
                               .wanted = member,
                               .parent = i,
                           });
    }
    cap->conditions[i].end = cap->count;
    return NULL;
}

static const char *add_conditions(struct capability *cap, const struct json *payload)
{
    size_t leaves = 0;

    add_condition(cap, (struct condition){ .name = S("payload"), .wanted = payload });
    for (size_t i = 0; i < cap->count; i++) {
        struct condition *c = &cap->conditions[i];
        const char *why = NULL;

        if (c->wanted->type == JSON_OBJECT)
            why = add_below(cap, i);
        else if (!leaf_new(c->wanted, &c->leaf, &why))
            leaves += leaf_count(c->leaf);
        if (why)
            return why;
    }
    return leaves > CAPABILITY_MAX_LEAVES ? "an object names at most 64 values" : NULL;
}

static const char *read_pattern(struct capability *cap, struct str text)
{
    const char *why = NULL;

    if (pattern_new(text, &cap->pattern, &why))
        return why;
    cap->text = pattern_text(cap->pattern);
    return NULL;
}

static const char *read_object(struct capability *cap, const struct json *object)
{
    const struct json *kind = json_find(object, S("kind"));
    const struct json *payload = json_find(object, S("payload"));
    const char *why = write_normal(object, &cap->arena, &cap->text);

    if (why)
        return why;
    if (!kind || kind->type != JSON_STRING)
        return "an object has `kind`, a pattern";
    if (object->count != 1 + (size_t)(payload != NULL))
        return "an object has `kind` and `payload` and nothing else";
    if (payload && payload->type != JSON_OBJECT)
        return "`payload` is an object";
    if (!payload || payload->count == 0)
        return read_pattern(cap, kind->text);
    if (pattern_new(kind->text, &cap->pattern, &why))
        return why;
    return add_conditions(cap, payload);
}

static struct capability *new_empty(void)
{
    struct capability *cap = xcalloc(1, sizeof(*cap));

    arena_init(&cap->arena, TREE_MAX_BYTES);
    return cap;
}

void capability_free(struct capability *cap)
{
    if (!cap)
        return;
    for (size_t i = 0; i < cap->count; i++)
        leaf_free(cap->conditions[i].leaf);
    free(cap->conditions);
    respelt_done(&cap->spelt);
    pattern_free(cap->pattern);
    arena_done(&cap->arena);
    free(cap);
}

CLEANUP_FOR(struct capability, capability_free)

static const char *read_text(struct capability *cap, struct str text)
{
    struct json_problem problem = {};
    const struct json *tree;

    if (!capability_text_is_object(text))
        return read_pattern(cap, text);
    if (text.len > CAPABILITY_MAX_BYTES)
        return "an object has at most 4096 bytes";
    text = arena_str(&cap->arena, text); /* the tree borrows from it */
    if (json_parse(text, &cap->arena, &tree, &problem))
        return problem.what;
    return read_object(cap, tree);
}

enum err capability_new(struct str text, struct capability **ret, const char **ret_why)
{
    CLEANUP(capability_freep) struct capability *cap = new_empty();
    const char *why = read_text(cap, text);

    if (why)
        return refuse(why, ret_why);
    respelt_init(&cap->spelt, cap->pattern);
    *ret = TAKE(cap);
    return OK;
}

enum err capability_normal(const struct json *value, struct arena *arena, struct str *ret,
                           const char **ret_why)
{
    CLEANUP(capability_freep) struct capability *cap = new_empty();
    const char *why = "a capability is a pattern or an object";
    struct str text;

    if (value->type == JSON_STRING)
        why = read_pattern(cap, value->text);
    else if (value->type == JSON_OBJECT)
        why = read_object(cap, value);
    if (why)
        return refuse(why, ret_why);
    text = arena_str(arena, cap->text);
    if (!text.ptr)
        return ERR_TOO_BIG;
    *ret = text;
    return OK;
}

enum err capability_list(const struct json *array, struct arena *arena,
                         struct str_list *ret, const char **ret_why)
{
    struct str *items;
    size_t count = 0;

    if (array->type != JSON_ARRAY)
        return refuse("capabilities are a list", ret_why);
    items = arena_alloc(arena, (array->count + 1) * sizeof(*items));
    if (!items)
        return ERR_TOO_BIG;
    JSON_FOREACH(value, array) {
        enum err err = capability_normal(value, arena, &items[count], ret_why);

        if (err)
            return err;
        count++;
    }
    *ret = (struct str_list){ items, count };
    return OK;
}

enum err capability_list_normal(struct str_list texts, struct arena *arena,
                                struct str_list *ret)
{
    struct str *items = arena_alloc(arena, (texts.count + 1) * sizeof(*items));

    if (!items)
        return ERR_TOO_BIG;
    for (size_t i = 0; i < texts.count; i++) {
        CLEANUP(capability_freep) struct capability *cap = NULL;

        items[i] = texts.items[i];
        if (!capability_text_is_object(items[i]) || capability_new(items[i], &cap, NULL))
            continue;
        items[i] = arena_str(arena, cap->text);
        if (!items[i].ptr)
            return ERR_TOO_BIG;
    }
    *ret = (struct str_list){ items, texts.count };
    return OK;
}

void capability_text_write(struct str text, struct json_writer *w)
{
    if (capability_text_is_object(text))
        json_raw(w, text);
    else
        json_str(w, text);
}

void capability_list_write(struct str_list texts, struct json_writer *w)
{
    json_array_open(w);
    for (size_t i = 0; i < texts.count; i++)
        capability_text_write(texts.items[i], w);
    json_array_close(w);
}

bool capability_list_has_objects(struct str_list texts)
{
    for (size_t i = 0; i < texts.count; i++)
        if (capability_text_is_object(texts.items[i]))
            return true;
    return false;
}

void capability_list_put_patterns(struct json_writer *w, struct str key,
                                  struct str_list texts)
{
    json_key(w, key);
    json_array_open(w);
    for (size_t i = 0; i < texts.count; i++)
        if (!capability_text_is_object(texts.items[i]))
            json_str(w, texts.items[i]);
    json_array_close(w);
}

void capability_list_put_objects(struct json_writer *w, struct str key,
                                 struct str_list texts)
{
    json_key(w, key);
    json_array_open(w);
    for (size_t i = 0; i < texts.count; i++)
        if (capability_text_is_object(texts.items[i]))
            json_raw(w, texts.items[i]);
    json_array_close(w);
}

static void open_moot(struct json_writer *w)
{
    json_key(w, S("moot"));
    json_object_open(w);
}

void capability_list_put_moot(struct json_writer *w, struct str_list texts)
{
    if (!capability_list_has_objects(texts))
        return;
    open_moot(w);
    capability_list_put_objects(w, S("capabilities"), texts);
    json_object_close(w);
}

void capability_put_moot(struct json_writer *w, struct str objects)
{
    if (objects.len == 0)
        return;
    open_moot(w);
    json_key(w, S("capabilities"));
    json_raw(w, objects);
    json_object_close(w);
}

struct str capability_text(const struct capability *cap)
{
    return cap->text;
}

struct str capability_pattern(const struct capability *cap)
{
    return pattern_text(cap->pattern);
}

/* The conditions as finished JSON: {"params":{"name":"read_*"}}. */
static void put_payload(const struct capability *cap, struct buf *out)
{
    capability_put_wanted(cap, 0, out);
}

void capability_write(const struct capability *cap, enum dialect dialect,
                      struct json_writer *w)
{
    char space[KIND_MAX_BYTES];
    struct str equal[RESPELL_MAX];
    size_t count = respell_pattern(capability_pattern(cap), dialect, space, equal);

    for (size_t i = 0; i < count; i++) {
        if (!capability_is_object(cap)) {
            json_str(w, equal[i]);
            continue;
        }
        json_object_open(w);
        json_put_str(w, S("kind"), equal[i]);
        json_key(w, S("payload"));
        put_payload(cap, w->out);
        json_object_close(w);
    }
}

bool capability_is_object(const struct capability *cap)
{
    return cap->count > 0;
}

bool capability_matches_kind(const struct capability *cap, struct str kind)
{
    return pattern_matches(cap->pattern, kind);
}

/* Looking into a payload. */

void capability_outline(const struct capability *cap, struct outline *outline,
                        size_t *places)
{
    for (size_t i = 0; i < cap->count; i++)
        places[i] = i == 0 ? 0
                           : outline_add(outline, places[cap->conditions[i].parent],
                                         cap->conditions[i].name);
}

static enum finding judge_value(const struct condition *c, struct json_span value,
                                struct arena *scratch)
{
    if (!c->leaf)
        return value.type == JSON_OBJECT ? FOUND_FITTING : FOUND_OTHER_TYPE;
    switch (leaf_judge(c->leaf, value, scratch)) {
    case LEAF_HOLDS: return FOUND_FITTING;
    case LEAF_DIFFERS: return FOUND_OTHER;
    case LEAF_OTHER_TYPE: return FOUND_OTHER_TYPE;
    }
    return FOUND_OTHER;
}

static enum finding judge(const struct condition *c,
                          const struct outline_sighting *sighting, struct arena *scratch)
{
    switch (sighting->state) {
    case SEEN_NOTHING: return FOUND_NOTHING;
    case SEEN_ONCE: return judge_value(c, sighting->value, scratch);
    case SEEN_TWICE: return FOUND_TWICE;
    case SEEN_LOOKALIKE: return FOUND_LOOKALIKE;
    }
    return FOUND_NOTHING;
}

bool capability_fits(const struct capability *cap,
                     const struct outline_sighting *sightings, const size_t *places,
                     struct arena *scratch)
{
    for (size_t i = 0; i < cap->count; i++)
        if (judge(&cap->conditions[i], &sightings[places[i]], scratch) != FOUND_FITTING)
            return false;
    return true;
}

/* 1, 1.0 and 1e0 are the same number, and not the same text. */
static bool is_near(const struct json *wanted, double value)
{
    double other;

    return wanted->type == JSON_NUMBER &&
           (decimal_parse(wanted->text, &other) || other == value);
}

static bool may_be_number(const struct json *wanted, struct str text)
{
    double value;

    if (decimal_parse(text, &value) || is_near(wanted, value))
        return true;
    if (wanted->type != JSON_ARRAY)
        return false;
    for (const struct json *item = wanted->first; item; item = item->next)
        if (is_near(item, value))
            return true;
    return false;
}

/* A value that the leaf does not accept: is it another one, for whoever reads it? */
static enum fit weigh_other(const struct condition *c, struct json_span value,
                            struct arena *scratch)
{
    struct str text;

    if (value.type == JSON_NUMBER)
        return may_be_number(c->wanted, value.text) ? FIT_UNSURE : FIT_NO;
    if (value.type == JSON_STRING &&
        (value.text.len > LEAF_MAX_BYTES || json_unescape(value, scratch, &text)))
        return FIT_UNSURE;
    return FIT_NO;
}

static enum fit weigh(const struct condition *c, const struct outline_sighting *sighting,
                      struct arena *scratch)
{
    switch (judge(c, sighting, scratch)) {
    case FOUND_FITTING: return FIT_YES;
    case FOUND_TWICE:
    case FOUND_LOOKALIKE: return FIT_UNSURE;
    case FOUND_OTHER: return weigh_other(c, sighting->value, scratch);
    case FOUND_OTHER_TYPE: /* servers take "1" for 1, and a text for the JSON in it */
        return sighting->value.type == JSON_NULL ? FIT_NO : FIT_UNSURE;
    case FOUND_NOTHING: break;
    }
    return FIT_NO;
}

enum fit capability_weigh(const struct capability *cap,
                          const struct outline_sighting *sightings, const size_t *places,
                          struct arena *scratch)
{
    enum fit fits[MAX_CONDITIONS];
    enum fit all = FIT_YES;

    for (size_t i = 0; i < cap->count; i++) {
        const struct condition *c = &cap->conditions[i];

        fits[i] = i > 0 && fits[c->parent] == FIT_UNSURE
                      ? FIT_UNSURE /* nobody knows below what it stands */
                      : weigh(c, &sightings[places[i]], scratch);
        if (fits[i] == FIT_NO)
            return FIT_NO;
        if (fits[i] == FIT_UNSURE)
            all = FIT_UNSURE;
    }
    return all;
}

/* What stands at the places of this capability alone; NULL if the arena is full. */
static const struct outline_sighting *walk(const struct capability *cap,
                                           struct json_span payload,
                                           struct arena *scratch, size_t **ret_places)
{
    struct outline *outline = outline_new();
    const struct outline_sighting *sightings = NULL;
    size_t *places = arena_alloc(scratch, (cap->count + 1) * sizeof(*places));

    if (places) {
        capability_outline(cap, outline, places);
        outline_sort(outline);
        sightings = outline_walk(outline, payload, scratch);
    }
    outline_free(outline);
    *ret_places = places;
    return sightings;
}

const struct capability_finding *capability_examine(const struct capability *cap,
                                                    struct json_span payload,
                                                    struct arena *scratch)
{
    struct capability_finding *findings =
        arena_alloc(scratch, (cap->count + 1) * sizeof(*findings));
    const struct outline_sighting *sightings;
    size_t *places;

    if (!findings || cap->count == 0)
        return findings;
    sightings = walk(cap, payload, scratch, &places);
    if (!sightings)
        return NULL;
    for (size_t i = 0; i < cap->count; i++)
        findings[i] = (struct capability_finding){
            .state = judge(&cap->conditions[i], &sightings[places[i]], scratch),
            .value = sightings[places[i]].value,
        };
    return findings;
}

enum fit capability_weigh_alone(const struct capability *cap, struct json_span payload,
                                struct arena *scratch)
{
    const struct outline_sighting *sightings;
    size_t *places;

    if (cap->count == 0)
        return FIT_YES;
    sightings = walk(cap, payload, scratch, &places);
    return sightings ? capability_weigh(cap, sightings, places, scratch) : FIT_UNSURE;
}

bool capability_allows(const struct capability *cap, struct str kind,
                       struct json_span payload, struct arena *scratch)
{
    const struct outline_sighting *sightings;
    size_t *places;

    if (!capability_matches_kind(cap, kind))
        return false;
    if (cap->count == 0)
        return true;
    sightings = walk(cap, payload, scratch, &places);
    return sightings && capability_fits(cap, sightings, places, scratch);
}

size_t capability_count(const struct capability *cap)
{
    return cap->count;
}

bool capability_is_leaf(const struct capability *cap, size_t i)
{
    return cap->conditions[i].leaf != NULL;
}

size_t capability_parent(const struct capability *cap, size_t i)
{
    return cap->conditions[i].parent;
}

void capability_put_path(const struct capability *cap, size_t i, struct buf *out)
{
    size_t chain[CAPABILITY_MAX_DEPTH + 1];
    size_t count = 0;

    for (; i > 0; i = cap->conditions[i].parent)
        chain[count++] = i;
    buf_put(out, cap->conditions[0].name);
    for (; count > 0; count--) {
        buf_putc(out, '.');
        buf_put(out, cap->conditions[chain[count - 1]].name);
    }
}

void capability_put_wanted(const struct capability *cap, size_t i, struct buf *out)
{
    struct normal n = {};

    json_write_init(&n.to, out);
    write_value(&n, cap->conditions[i].wanted, 0);
}

/* Coverage. */

/* The condition of that name below condition `i`, or the payload, which is 0 and below
 * nothing. */
static size_t find_below(const struct capability *cap, size_t i, struct str name)
{
    for (size_t k = cap->conditions[i].first; k < cap->conditions[i].end; k++)
        if (str_eq(cap->conditions[k].name, name))
            return k;
    return 0;
}

/* Does the condition of `wanted` at the same place ask for no less? Those at the places
 * above it have been found: `places` says where. */
static bool is_implied(const struct capability *held, size_t i,
                       const struct capability *wanted, size_t *places)
{
    const struct condition *h = &held->conditions[i];
    const struct condition *w;

    if (i > 0)
        places[i] = find_below(wanted, places[h->parent], h->name);
    if (i > 0 && places[i] == 0)
        return false;
    w = &wanted->conditions[places[i]];
    if (!h->leaf || !w->leaf)
        return !h->leaf && !w->leaf;
    return leaf_covers(h->leaf, w->leaf);
}

bool capability_covers(const struct capability *held, const struct capability *wanted)
{
    size_t places[MAX_CONDITIONS];

    if (!respelt_covers(&held->spelt, &wanted->spelt))
        return false;
    if (held->count > 0 && wanted->count == 0)
        return false;
    places[0] = 0;
    for (size_t i = 0; i < held->count; i++)
        if (!is_implied(held, i, wanted, places))
            return false;
    return true;
}

bool capability_covers_all_of(const struct capability *held,
                              const struct capability *wanted)
{
    if (held->count > 0 && !str_eq(held->text, wanted->text))
        return false;
    return respelt_covers_all_of(&held->spelt, &wanted->spelt);
}
