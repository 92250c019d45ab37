/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets are found again by their finished JSON, which says the same patterns in the same
 * order and nothing else. The memo is direct-mapped and holds short kinds whole, so a
 * collision costs a comparison and never gives a wrong verdict; it is made with the first
 * question, because most sets of idle members are never asked anything.
 */
#include "policy/capset.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "policy/pattern.h"
#include "policy/respell.h"

enum { MEMO_SLOTS = 64, MEMO_MAX_BYTES = 118 };

struct memo_slot {
    uint8_t len; /* 0: free */
    uint8_t verdict;
    char kind[MEMO_MAX_BYTES];
};

struct capsets {
    struct map by_json;
};

struct capset {
    struct capsets *owner; /* NULL when the table has gone before the set */
    size_t refs;
    struct memo_slot *memo;
    struct buf json;
    struct buf respelt[DIALECT_COUNT]; /* made when it is first asked for */
    bool is_mixed;                     /* holds patterns in dotted spelling */
    struct str *texts;                 /* borrowed from the patterns */
    size_t count;
    struct pattern *patterns[];
};

struct capsets *capsets_new(void)
{
    struct capsets *capsets = xcalloc(1, sizeof(*capsets));

    map_init(&capsets->by_json);
    return capsets;
}

void capsets_free(struct capsets *capsets)
{
    struct capset *set;

    if (!capsets)
        return;
    MAP_FOREACH(set, &capsets->by_json)
        set->owner = NULL;
    map_done(&capsets->by_json);
    free(capsets);
}

static void capset_free(struct capset *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->count; i++)
        pattern_free(set->patterns[i]);
    buf_done(&set->json);
    for (size_t i = 0; i < DIALECT_COUNT; i++)
        buf_done(&set->respelt[i]);
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

static void write_json(struct capset *set)
{
    struct json_writer w;
    size_t most = sizeof("[]");

    for (size_t i = 0; i < set->count; i++)
        most += sizeof("\"\",") + sizeof("\\u0000") * set->texts[i].len;
    buf_init(&set->json, most);
    json_write_init(&w, &set->json);
    json_array_open(&w);
    for (size_t i = 0; i < set->count; i++)
        json_str(&w, set->texts[i]);
    json_array_close(&w);
}

/* Adds a pattern that is not yet there. */
static enum err add_pattern(struct capset *set, struct str text)
{
    struct pattern *pattern;
    enum err err;

    if (list_has(capset_patterns(set), text))
        return OK;
    err = pattern_new(text, &pattern, NULL);
    if (err)
        return err;
    set->patterns[set->count] = pattern;
    set->texts[set->count++] = pattern_text(pattern);
    set->is_mixed = set->is_mixed || pattern_dialect(text) == DIALECT_DOTTED;
    return OK;
}

static enum err build(struct str_list list, struct capset **ret, struct str *ret_bad)
{
    CLEANUP(capset_freep)
    struct capset *set = xcalloc(1, sizeof(*set) + list.count * sizeof(struct pattern *));
    enum err err = OK;

    set->refs = 1;
    set->texts = xcalloc(list.count + 1, sizeof(*set->texts));
    for (size_t i = 0; i < list.count; i++) {
        err = i < CAPSET_MAX_PATTERNS ? add_pattern(set, list.items[i]) : ERR_INVALID;
        if (err && ret_bad)
            *ret_bad = list.items[i];
        if (err)
            return err;
    }
    write_json(set);
    *ret = TAKE(set);
    return OK;
}

enum err capset_intern(struct capsets *capsets, struct str_list patterns,
                       struct capset **ret, struct str *ret_bad)
{
    struct capset *known;
    struct capset *set;
    enum err err;

    err = build(patterns, &set, ret_bad);
    if (err)
        return err;
    known = map_find(&capsets->by_json, buf_str(&set->json));
    if (known) {
        capset_free(set);
        *ret = capset_ref(known);
        return OK;
    }
    set->owner = capsets;
    map_set(&capsets->by_json, buf_str(&set->json), set);
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
        (void)map_remove(&set->owner->by_json, buf_str(&set->json));
    capset_free(set);
}

static const struct pattern *find_match(const struct capset *set, struct str kind)
{
    for (size_t i = 0; i < set->count; i++)
        if (pattern_matches(set->patterns[i], kind))
            return set->patterns[i];
    return NULL;
}

static enum verdict judge(const struct capset *set, struct str kind)
{
    return find_match(set, kind) ? VERDICT_ALLOW : VERDICT_DENY;
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

enum verdict capset_may(struct capset *set, struct str kind)
{
    struct memo_slot *slot;

    if (kind.len == 0 || kind.len > MEMO_MAX_BYTES)
        return judge(set, kind);
    if (!set->memo)
        set->memo = xcalloc(MEMO_SLOTS, sizeof(*set->memo));
    slot = &set->memo[memo_index(kind)];
    if (slot->len == kind.len && memcmp(slot->kind, kind.ptr, kind.len) == 0)
        return slot->verdict;
    slot->len = (uint8_t)kind.len;
    slot->verdict = (uint8_t)judge(set, kind);
    memcpy(slot->kind, kind.ptr, kind.len);
    return slot->verdict;
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
        return buf_str(&set->json);
    if (json->len)
        return buf_str(json);
    buf_init(json, SIZE_MAX / 2);
    json_write_init(&w, json);
    json_array_open(&w);
    for (size_t i = 0; i < set->count; i++)
        put_respelt(set, set->texts[i], dialect, &w);
    json_array_close(&w);
    return buf_str(json);
}

enum err capset_check(struct str_list patterns, struct str *ret_bad, const char **ret_why)
{
    for (size_t i = 0; i < patterns.count; i++) {
        const char *why = "too many capabilities";
        struct pattern *pattern = NULL;
        enum err err = ERR_INVALID;

        if (i < CAPSET_MAX_PATTERNS)
            err = pattern_new(patterns.items[i], &pattern, &why);
        pattern_free(pattern);
        if (!err)
            continue;
        if (ret_bad)
            *ret_bad = patterns.items[i];
        if (ret_why)
            *ret_why = why;
        return err;
    }
    return OK;
}

struct str capset_deciding(const struct capset *set, struct str kind)
{
    const struct pattern *pattern = find_match(set, kind);

    return pattern ? pattern_text(pattern) : S("");
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
