/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets are found again by their key: the texts of their capabilities as a JSON array of
 * strings, which is also what is shown where all of them are patterns in slash spelling.
 * The memo is direct-mapped and holds short kinds whole, so a collision costs a
 * comparison and never gives a wrong verdict; it is made when a set has been asked a few
 * times, because most sets of idle members are asked little or nothing.
 */
#include "policy/capset.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "policy/capability.h"
#include "policy/outline.h"
#include "policy/pattern.h"
#include "policy/policy_priv.h"
#include "policy/respell.h"

enum { MEMO_SLOTS = 64, MEMO_MAX_BYTES = 116, MEMO_AFTER = 16 };

struct memo_slot {
    uint8_t len; /* 0: free */
    uint8_t verdict;
    uint16_t by; /* of the items, what allows it */
    char kind[MEMO_MAX_BYTES];
};

struct capsets {
    struct map by_key;
};

struct capset {
    struct capsets *owner; /* NULL when the table has gone before the set */
    size_t refs;
    struct memo_slot *memo;
    unsigned asked; /* without a memo */
    struct buf key;
    struct buf respelt[DIALECT_COUNT]; /* made when it is first asked for */
    struct buf objects[DIALECT_COUNT]; /* likewise */
    bool is_mixed;                     /* not only patterns in slash spelling */
    size_t object_count;
    struct outline *outline; /* of all objects; NULL where there are none */
    size_t **places;         /* per capability: those of its conditions */
    struct str *texts;       /* borrowed from the capabilities */
    size_t count;
    struct capability *items[];
};

struct capsets *capsets_new(void)
{
    struct capsets *capsets = xcalloc(1, sizeof(*capsets));

    map_init(&capsets->by_key);
    return capsets;
}

void capsets_free(struct capsets *capsets)
{
    struct capset *set;

    if (!capsets)
        return;
    MAP_FOREACH(set, &capsets->by_key)
        set->owner = NULL;
    map_done(&capsets->by_key);
    free(capsets);
}

static void capset_free(struct capset *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++) {
        capability_free(set->items[i]);
        if (set->places)
            free(set->places[i]);
    }
    free(set->places);
    outline_free(set->outline);
    buf_done(&set->key);
    for (size_t i = 0; i < DIALECT_COUNT; i++) {
        buf_done(&set->respelt[i]);
        buf_done(&set->objects[i]);
    }
    free(set->texts);
    free(set->memo);
    free(set);
}

CLEANUP_FOR(struct capset, capset_free)

static bool list_has(struct str_list list, struct str text)
{
    for (size_t i = 0; i < list.count; i++)
        if (str_eq(list.items[i], text))
            return true;
    return false;
}

static void write_key(struct capset *set)
{
    struct json_writer w;
    size_t most = sizeof("[]");

    for (size_t i = 0; i < set->count; i++)
        most += sizeof("\"\",") + sizeof("\\u0000") * set->texts[i].len;
    buf_init(&set->key, most);
    json_write_init(&w, &set->key);
    json_array_open(&w);
    for (size_t i = 0; i < set->count; i++)
        json_str(&w, set->texts[i]);
    json_array_close(&w);
}

CLEANUP_FOR(struct capability, capability_free)

/* Adds a capability that is not yet there; its text may be of the same in another form.
 */
static enum err add(struct capset *set, struct str text, const char **ret_why)
{
    CLEANUP(capability_freep) struct capability *cap = NULL;
    bool is_object;
    enum err err;

    if (list_has(capset_patterns(set), text))
        return OK;
    err = capability_new(text, &cap, ret_why);
    if (err)
        return err;
    if (list_has(capset_patterns(set), capability_text(cap)))
        return OK;
    is_object = capability_is_object(cap);
    set->object_count += is_object;
    if (set->object_count > CAPSET_MAX_OBJECTS)
        return refuse("too many capabilities with `payload`", ret_why);
    set->is_mixed = set->is_mixed || is_object ||
                    pattern_dialect(capability_pattern(cap)) == DIALECT_DOTTED;
    set->texts[set->count] = capability_text(cap);
    set->items[set->count++] = TAKE(cap);
    return OK;
}

static enum err build(struct str_list list, struct capset **ret, struct str *ret_bad,
                      const char **ret_why)
{
    CLEANUP(capset_freep)
    struct capset *set =
        xcalloc(1, sizeof(*set) + list.count * sizeof(struct capability *));
    enum err err = OK;

    set->refs = 1;
    set->texts = xcalloc(list.count + 1, sizeof(*set->texts));
    for (size_t i = 0; i < list.count; i++) {
        err = i < CAPSET_MAX_PATTERNS ? add(set, list.items[i], ret_why)
                                      : refuse("too many capabilities", ret_why);
        if (err && ret_bad)
            *ret_bad = list.items[i];
        if (err)
            return err;
    }
    *ret = TAKE(set);
    return OK;
}

static void draw_outline(struct capset *set)
{
    if (set->object_count == 0)
        return;
    set->outline = outline_new();
    set->places = xcalloc(set->count, sizeof(*set->places));
    for (size_t i = 0; i < set->count; i++) {
        set->places[i] = xcalloc(capability_count(set->items[i]) + 1, sizeof(size_t));
        capability_outline(set->items[i], set->outline, set->places[i]);
    }
    outline_sort(set->outline);
}

enum err capset_intern(struct capsets *capsets, struct str_list patterns,
                       struct capset **ret, struct str *ret_bad)
{
    struct capset *known;
    struct capset *set;
    enum err err;

    err = build(patterns, &set, ret_bad, NULL);
    if (err)
        return err;
    write_key(set);
    known = map_find(&capsets->by_key, buf_str(&set->key));
    if (known) {
        capset_free(set);
        *ret = capset_ref(known);
        return OK;
    }
    draw_outline(set);
    set->owner = capsets;
    map_set(&capsets->by_key, buf_str(&set->key), set);
    *ret = set;
    return OK;
}

struct capset *capset_ref(struct capset *set)
{
    set->refs++;
    return set;
}

void capset_unref(struct capset *set)
{
    if (!set || --set->refs > 0)
        return;
    if (set->owner)
        (void)map_remove(&set->owner->by_key, buf_str(&set->key));
    capset_free(set);
}

/* The first pattern that covers it, or `count`. */
static size_t find_pattern(const struct capset *set, struct str kind)
{
    size_t i = 0;

    while (i < set->count && (capability_is_object(set->items[i]) ||
                              !capability_matches_kind(set->items[i], kind)))
        i++;
    return i;
}

static enum verdict judge(const struct capset *set, struct str kind, size_t *ret_by)
{
    *ret_by = find_pattern(set, kind);
    if (*ret_by < set->count)
        return VERDICT_ALLOW;
    for (size_t i = 0; set->object_count > 0 && i < set->count; i++)
        if (capability_matches_kind(set->items[i], kind))
            return VERDICT_INSPECT;
    return VERDICT_DENY;
}

const struct capability *capset_inspect(const struct capset *set, struct str kind,
                                        struct json_span payload, struct arena *scratch)
{
    const struct outline_sighting *sightings = NULL;

    if (set->outline)
        sightings = outline_walk(set->outline, payload, scratch);
    for (size_t i = 0; sightings && i < set->count; i++)
        if (capability_is_object(set->items[i]) &&
            capability_matches_kind(set->items[i], kind) &&
            capability_fits(set->items[i], sightings, set->places[i], scratch))
            return set->items[i];
    return NULL;
}

/* Up to eight bytes as a number. */
static uint64_t word_of(const char *at, size_t len)
{
    uint64_t word = 0;

    if (len == sizeof(word))
        memcpy(&word, at, sizeof(word));
    else
        memcpy(&word, at, len);
    return word;
}

/* From the length and both ends, which tell the kinds of a protocol apart. Not keyed:
 * whoever finds kinds that share a slot gains that his own verdicts are worked out anew.
 */
static size_t memo_index(struct str kind)
{
    size_t len = kind.len < sizeof(uint64_t) ? kind.len : sizeof(uint64_t);
    uint64_t hash = (word_of(kind.ptr, len) + kind.len) * 0x9e3779b97f4a7c15;

    if (kind.len > len)
        hash ^= word_of(kind.ptr + kind.len - len, len);
    return (hash * 0x9e3779b97f4a7c15 >> 32) % MEMO_SLOTS;
}

/* The slot of this kind, filled; NULL: it is too long for one, or there is none yet. */
static inline const struct memo_slot *recall(struct capset *set, struct str kind)
{
    struct memo_slot *slot;
    size_t by;

    if (kind.len == 0 || kind.len > MEMO_MAX_BYTES)
        return NULL;
    if (!set->memo && set->asked++ < MEMO_AFTER)
        return NULL;
    if (!set->memo)
        set->memo = xcalloc(MEMO_SLOTS, sizeof(*set->memo));
    slot = &set->memo[memo_index(kind)];
    if (slot->len == kind.len && memcmp(slot->kind, kind.ptr, kind.len) == 0)
        return slot;
    slot->len = (uint8_t)kind.len;
    slot->verdict = (uint8_t)judge(set, kind, &by);
    slot->by = (uint16_t)by;
    memcpy(slot->kind, kind.ptr, kind.len);
    return slot;
}

enum verdict capset_may(struct capset *set, struct str kind)
{
    const struct memo_slot *slot = recall(set, kind);
    size_t by;

    return slot ? slot->verdict : judge(set, kind, &by);
}

struct str capset_by(struct capset *set, struct str kind)
{
    const struct memo_slot *slot = recall(set, kind);
    size_t by;

    if (slot)
        by = slot->by;
    else
        (void)judge(set, kind, &by);
    return by < set->count ? set->texts[by] : S("");
}

struct str_list capset_patterns(const struct capset *set)
{
    return (struct str_list){ set->texts, set->count };
}

/* What the set also holds as it is written here is not said twice. */
static void put_respelt(const struct capset *set, struct str text, enum dialect dialect,
                        struct json_writer *w)
{
    char space[KIND_MAX_BYTES];
    struct str equal[RESPELL_MAX];
    size_t count = respell_pattern(text, dialect, space, equal);

    for (size_t i = 0; i < count; i++)
        if (str_eq(equal[i], text) || !list_has(capset_patterns(set), equal[i]))
            json_str(w, equal[i]);
}

struct str capset_json(struct capset *set, enum dialect dialect)
{
    struct buf *json = &set->respelt[dialect];
    struct json_writer w;

    if (!set->is_mixed && dialect == DIALECT_SLASH)
        return buf_str(&set->key);
    if (json->len)
        return buf_str(json);
    buf_init(json, SIZE_MAX / 2);
    json_write_init(&w, json);
    json_array_open(&w);
    for (size_t i = 0; i < set->count; i++)
        if (!capability_is_object(set->items[i]))
            put_respelt(set, set->texts[i], dialect, &w);
    json_array_close(&w);
    return buf_str(json);
}

struct str capset_objects_json(struct capset *set, enum dialect dialect)
{
    struct buf *json = &set->objects[dialect];
    struct json_writer w;

    if (set->object_count == 0 || json->len)
        return buf_str(json);
    buf_init(json, SIZE_MAX / 2);
    json_write_init(&w, json);
    json_array_open(&w);
    for (size_t i = 0; i < set->count; i++)
        if (capability_is_object(set->items[i]))
            capability_write(set->items[i], dialect, &w);
    json_array_close(&w);
    return buf_str(json);
}

struct system_capabilities capset_shown(struct capset *set, enum dialect dialect)
{
    return (struct system_capabilities){
        .patterns = capset_json(set, dialect),
        .objects = capset_objects_json(set, dialect),
    };
}

enum err capset_check(struct str_list patterns, struct str *ret_bad, const char **ret_why)
{
    CLEANUP(capset_freep) struct capset *set = NULL;

    return build(patterns, &set, ret_bad, ret_why);
}

static void insert_at(struct str *items, size_t count, size_t at, struct str item)
{
    memmove(items + at + 1, items + at, (count - at) * sizeof(*items));
    items[at] = item;
}

/* Where a pattern is added: see capset_edit in the header. */
static size_t place_for(struct str_list list, struct str text)
{
    size_t at = 0;

    if (!str_starts(text, S("mcp")))
        return list.count;
    while (at < list.count && str_starts(list.items[at], S("mcp")))
        at++;
    return at;
}

enum err capset_edit(struct str_list old, struct str_list add, struct str_list remove,
                     struct arena *arena, struct str_list *ret)
{
    struct str *items = arena_alloc(arena, (old.count + add.count + 1) * sizeof(*items));
    struct str_list list = { items, 0 };

    if (!items)
        return ERR_TOO_BIG;
    for (size_t i = 0; i < old.count; i++)
        if (!list_has(remove, old.items[i]) && !list_has(list, old.items[i]))
            items[list.count++] = old.items[i];
    for (size_t i = 0; i < add.count; i++) {
        if (list_has(list, add.items[i]))
            continue;
        insert_at(items, list.count, place_for(list, add.items[i]), add.items[i]);
        list.count++;
    }
    *ret = list;
    return OK;
}
