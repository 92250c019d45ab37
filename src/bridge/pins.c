/* SPDX-License-Identifier: Apache-2.0 */
#include "bridge/pins.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "bridge/pins_priv.h"

static const struct str list_names[OFFER_TYPES] = {
    [OFFER_TOOL] = S("tools"),
    [OFFER_RESOURCE] = S("resources"),
    [OFFER_TEMPLATE] = S("resourceTemplates"),
    [OFFER_PROMPT] = S("prompts"),
};

struct str listing_name(enum offer_type type)
{
    return list_names[type];
}

/* --- items and pins --- */

static void item_free(struct listing_item *item)
{
    if (!item)
        return;
    free(item->text);
    free(item->key);
    free(item->json);
    free(item);
}

static void items_clear(struct listing_items *items)
{
    for (size_t i = 0; i < items->count; i++)
        item_free(items->items[i]);
    free(items->items);
    *items = (struct listing_items){};
}

static void items_add(struct listing_items *items, struct listing_item *item)
{
    if (items->count == items->size) {
        items->size = items->size ? 2 * items->size : 16;
        items->items =
            xrealloc(items->items, items->size * sizeof(struct listing_item *));
    }
    items->items[items->count++] = item;
    items->bytes += item->listed.json.len;
}

static void pin_free(struct pin *pin)
{
    if (!pin)
        return;
    free(pin->key);
    free(pin->text);
    free(pin->by);
    free(pin);
}

struct pin *listing_pin_find(const struct listing *listing, enum offer_type type,
                             struct str key)
{
    return map_find(&listing->pins[type], key);
}

void listing_pin_set(struct listing *listing, const struct pin *what)
{
    struct pin *pin = xcalloc(1, sizeof(*pin));

    *pin = (struct pin){ .type = what->type,
                         .key = xstrdup(what->key),
                         .text = xstrdup(what->text),
                         .by = xstrdup(what->by),
                         .wall_ms = what->wall_ms };
    pin_free(map_remove(&listing->pins[pin->type], str_of(pin->key)));
    map_set(&listing->pins[pin->type], str_of(pin->key), pin);
}

/* --- the listing --- */

struct listing *listing_new(enum pin_mode mode, void (*keep)(void *user, struct str json),
                            void *user)
{
    struct listing *listing = xcalloc(1, sizeof(*listing));

    listing->mode = mode;
    listing->keep = keep;
    listing->user = user;
    for (size_t type = 0; type < OFFER_TYPES; type++)
        map_init(&listing->pins[type]);
    return listing;
}

void listing_free(struct listing *listing)
{
    struct pin *pin;

    if (!listing)
        return;
    for (size_t type = 0; type < OFFER_TYPES; type++) {
        MAP_FOREACH(pin, &listing->pins[type])
            pin_free(pin);
        map_done(&listing->pins[type]);
        items_clear(&listing->lists[type]);
    }
    items_clear(&listing->next);
    free(listing);
}

void listing_keep(struct listing *listing)
{
    CLEANUP(buf_done) struct buf json = {};

    if (!listing->keep)
        return;
    buf_init(&json, LISTING_KEPT_BYTES);
    listing_write(listing, &json);
    if (!json.is_full)
        listing->keep(listing->user, buf_str(&json));
}

/* --- a new list --- */

void listing_begin(struct listing *listing, enum offer_type type)
{
    items_clear(&listing->next);
    listing->next_type = type;
}

static size_t count_others(const struct listing *listing, size_t *ret_bytes)
{
    size_t count = 0;

    *ret_bytes = 0;
    for (size_t type = 0; type < OFFER_TYPES; type++) {
        if (type == listing->next_type)
            continue;
        count += listing->lists[type].count;
        *ret_bytes += listing->lists[type].bytes;
    }
    return count;
}

enum err listing_add_page(struct listing *listing, struct str result)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root, *list;
    size_t bytes, count = count_others(listing, &bytes);

    arena_init(&arena, (size_t)16 * LISTING_BYTES);
    if (json_parse(result, &arena, &root, NULL))
        return ERR_INVALID;
    list = json_find(root, list_names[listing->next_type]);
    if (!list || list->type != JSON_ARRAY)
        return ERR_INVALID;
    if (count + listing->next.count + list->count > LISTING_ITEMS)
        return ERR_TOO_BIG;
    JSON_FOREACH(json, list) {
        if (bytes + listing->next.bytes + json->raw.len > LISTING_BYTES)
            return ERR_TOO_BIG;
        items_add(&listing->next, listing_item_make(listing->next_type, json));
    }
    return OK;
}

/* What a reader takes them for: names without their case, prompts also without what
 * Unicode has twice. URIs mean what they are. */
static bool fold_key(const struct listing_item *item, char out[static LISTING_FOLD],
                     struct str *ret)
{
    struct str key = item->listed.key;
    struct lookalike_fold fold = {};

    if (item->listed.type == OFFER_RESOURCE || item->listed.type == OFFER_TEMPLATE)
        return false;
    if (item->listed.type == OFFER_PROMPT && lookalike_fold(&key, &fold) && !key.ptr) {
        memcpy(out, fold.text, fold.len);
        *ret = (struct str){ out, fold.len };
        return true;
    }
    if (item->listed.key.len > LISTING_FOLD)
        return false;
    for (size_t i = 0; i < item->listed.key.len; i++) {
        char c = item->listed.key.ptr[i];

        out[i] = c;
        if (c >= 'A' && c <= 'Z')
            out[i] = (char)(c | 0x20);
    }
    *ret = (struct str){ out, item->listed.key.len };
    return true;
}

static void drop(struct listing_item *item, const char *why)
{
    item->listed.verdict = PIN_DROPPED;
    item->listed.why = why;
}

/* One look at all of them, by their keys as they are or as they look. */
static void drop_doubles(struct listing_items *items, struct arena *arena, bool folded,
                         const char *why)
{
    struct map seen;

    map_init(&seen);
    for (size_t i = 0; i < items->count; i++) {
        struct listing_item *item = items->items[i], *other;
        char *fold = arena_alloc(arena, LISTING_FOLD);
        struct str key = item->listed.key;

        if (item->is_nameless || !fold || (folded && !fold_key(item, fold, &key)))
            continue;
        other = map_find(&seen, key);
        if (other) {
            drop(other, why);
            drop(item, why);
        }
        map_set(&seen, key, other ? other : item);
    }
    map_done(&seen);
}

static void drop_ambiguous(struct listing_items *items)
{
    CLEANUP(arena_done) struct arena arena;

    arena_init(&arena, (size_t)4 * LISTING_ITEMS * (LISTING_FOLD + 32));
    drop_doubles(items, &arena, true, "another one has a name that looks the same");
    drop_doubles(items, &arena, false, "another one has the same name");
}

/* What people have seen of it. */
static void judge(const struct listing *listing, struct listing_item *item)
{
    const struct pin *pin;
    struct listed *listed = &item->listed;

    if (listed->verdict != PIN_DROPPED) {
        pin = listing_pin_find(listing, listed->type, listed->key);
        listed->verdict = PIN_SEEN;
        if (listing->is_trusted && listing->mode != PIN_OFF && !pin)
            listed->verdict = PIN_IS_NEW;
        else if (listing->is_trusted && listing->mode != PIN_OFF &&
                 !str_eq(str_of(pin->text), str_of(item->text)))
            listed->verdict = PIN_HAS_CHANGED;
    }
    listed->is_held = listed->verdict == PIN_DROPPED ||
                      (listed->verdict != PIN_SEEN && listing->mode == PIN_HOLD);
}

static void digest_shown(const struct listing_items *items,
                         uint8_t ret[static SHA256_BYTES])
{
    struct str *parts = xcalloc(2 * items->count + 1, sizeof(*parts));
    size_t count = 0;

    for (size_t i = 0; i < items->count; i++) {
        if (items->items[i]->listed.is_held)
            continue;
        parts[count++] = items->items[i]->listed.json;
        parts[count++] = S("\n");
    }
    crypto_sha256_parts(parts, count, ret);
    free(parts);
}

/* Judges all of a type anew. Returns whether what is shown has changed. */
static bool judge_all(struct listing *listing, enum offer_type type)
{
    struct listing_items *items = &listing->lists[type];
    uint8_t digest[SHA256_BYTES];
    bool has_changed;

    for (size_t i = 0; i < items->count; i++)
        judge(listing, items->items[i]);
    digest_shown(items, digest);
    has_changed = memcmp(digest, listing->shown[type], sizeof(digest)) != 0 &&
                  (listing->was_shown[type] || items->count > 0);
    memcpy(listing->shown[type], digest, sizeof(digest));
    listing->was_shown[type] = true;
    return has_changed;
}

static bool is_same_list(const struct listing_items *a, const struct listing_items *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (!str_eq(a->items[i]->listed.json, b->items[i]->listed.json))
            return false;
    return true;
}

/* Without a word to `keep`. */
static bool take_next(struct listing *listing, bool *ret_shown)
{
    enum offer_type type = listing->next_type;
    bool is_same = is_same_list(&listing->lists[type], &listing->next);

    drop_ambiguous(&listing->next);
    items_clear(&listing->lists[type]);
    listing->lists[type] = listing->next;
    listing->next = (struct listing_items){};
    *ret_shown = judge_all(listing, type);
    return !is_same;
}

bool listing_end(struct listing *listing, uint64_t)
{
    bool has_shown;

    if (take_next(listing, &has_shown))
        listing_keep(listing);
    return has_shown;
}

bool listing_restore_list(struct listing *listing)
{
    bool has_shown;

    (void)take_next(listing, &has_shown);
    return has_shown;
}

void listing_judge(struct listing *listing)
{
    for (enum offer_type type = 0; type <= OFFER_PROMPT; type++)
        (void)judge_all(listing, type);
}

/* --- trust --- */

static void pin_item(struct listing *listing, const struct listing_item *item,
                     struct str by, uint64_t wall_ms)
{
    CLEANUP(xfreep) char *who = str_dup(by);

    listing_pin_set(listing, &(struct pin){ .type = item->listed.type,
                                            .key = item->key,
                                            .text = item->text,
                                            .by = who,
                                            .wall_ms = wall_ms });
}

/* So many are kept; those of what is no longer listed go first. */
static void bound_pins(struct listing *listing, enum offer_type type)
{
    struct map *pins = &listing->pins[type];
    bool has_found = true;
    struct pin *pin;

    while (pins->count > LISTING_PINS && has_found) {
        has_found = false;
        MAP_FOREACH(pin, pins) {
            if (listing_find(listing, type, str_of(pin->key)))
                continue;
            pin_free(map_remove(pins, str_of(pin->key)));
            has_found = true;
            break;
        }
    }
}

static size_t pin_all(struct listing *listing, enum offer_type type, struct str by,
                      uint64_t wall_ms)
{
    const struct listing_items *items = &listing->lists[type];
    size_t count = 0;

    for (size_t i = 0; i < items->count; i++) {
        if (items->items[i]->listed.verdict == PIN_DROPPED)
            continue;
        pin_item(listing, items->items[i], by, wall_ms);
        count++;
    }
    bound_pins(listing, type);
    return count;
}

void listing_trust(struct listing *listing, struct str by, uint64_t wall_ms)
{
    if (listing->is_trusted)
        return;
    listing->is_trusted = true;
    for (enum offer_type type = 0; type <= OFFER_PROMPT; type++)
        (void)pin_all(listing, type, by, wall_ms);
    listing_judge(listing);
    listing_keep(listing);
}

bool listing_is_trusted(const struct listing *listing)
{
    return listing->is_trusted;
}

static struct listing_item *item_find(const struct listing *listing, enum offer_type type,
                                      struct str key)
{
    const struct listing_items *items = &listing->lists[type];

    for (size_t i = 0; i < items->count; i++)
        if (str_eq(items->items[i]->listed.key, key))
            return items->items[i];
    return NULL;
}

enum err listing_approve(struct listing *listing, enum offer_type type, struct str key,
                         struct str by, uint64_t wall_ms)
{
    const struct listing_item *item;

    if (key.len == 0) {
        for (enum offer_type each = 0; each <= OFFER_PROMPT; each++)
            (void)pin_all(listing, each, by, wall_ms);
        listing->is_trusted = true;
    } else {
        item = item_find(listing, type, key);
        if (!item || item->listed.verdict == PIN_DROPPED)
            return ERR_NOT_FOUND;
        pin_item(listing, item, by, wall_ms);
        bound_pins(listing, type);
    }
    listing_judge(listing);
    listing_keep(listing);
    return OK;
}

/* --- looking --- */

const struct listed *listing_find(const struct listing *listing, enum offer_type type,
                                  struct str key)
{
    const struct listing_item *item = item_find(listing, type, key);

    return item ? &item->listed : NULL;
}

const struct listed *listing_next(const struct listing *listing, enum offer_type type,
                                  size_t *at)
{
    const struct listing_items *items = &listing->lists[type];

    return *at < items->count ? &items->items[(*at)++]->listed : NULL;
}

/* Cursors are places in the list. */
enum err listing_put_page(const struct listing *listing, enum offer_type type,
                          struct str cursor, size_t page_bytes, struct buf *out)
{
    const struct listing_items *items = &listing->lists[type];
    uint64_t at = 0;
    size_t bytes = 0;
    struct json_writer w;

    if (cursor.len > 0 && (str_to_u64(cursor, items->count, &at) || at == 0))
        return ERR_INVALID;
    json_write_init(&w, out);
    json_object_open(&w);
    json_key(&w, list_names[type]);
    json_array_open(&w);
    for (; at < items->count; at++) {
        const struct listed *listed = &items->items[at]->listed;

        if (listed->is_held)
            continue;
        if (bytes > 0 && bytes + listed->json.len > page_bytes)
            break;
        json_raw(&w, listed->json);
        bytes += listed->json.len;
    }
    json_array_close(&w);
    if (at < items->count) {
        char text[24];

        (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)at);
        json_put_str(&w, S("nextCursor"), str_of(text));
    }
    json_object_close(&w);
    return OK;
}

void listing_put_difference(const struct listing *listing, const struct listed *listed,
                            struct buf *out)
{
    const struct listing_item *item = item_find(listing, listed->type, listed->key);
    const struct pin *pin = listing_pin_find(listing, listed->type, listed->key);

    if (item && listed->verdict != PIN_SEEN && listed->verdict != PIN_DROPPED)
        canonical_put_difference(out, str_of(pin ? pin->text : ""), str_of(item->text));
}
