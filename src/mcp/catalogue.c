/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/catalogue.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/xalloc.h"
#include "mcp/catalogue_priv.h"
#include "mcp/template.h"

enum { SCRATCH_BYTES = 64 * OFFER_MAX_BYTES };

struct catalogue *catalogue_new(const struct catalogue_settings *settings)
{
    struct catalogue *c = xcalloc(1, sizeof(*c));

    c->name = str_dup(settings->name);
    c->version = str_dup(settings->version);
    c->max_items = settings->max_items;
    c->max_bytes = settings->max_bytes;
    c->drop = settings->drop;
    for (size_t i = 0; i < OFFER_TYPES; i++) {
        map_init(&c->shelves[i].by_key);
        list_init(&c->shelves[i].items);
    }
    return c;
}

static size_t item_bytes(const struct catalogue_item *item)
{
    return item->key.len + item->mime_type.len + item->arguments.len + item->json.len;
}

/* Off its shelf and out of memory. */
static void item_drop(struct catalogue *c, struct catalogue_item *item)
{
    struct shelf *shelf = &c->shelves[item->type];

    if (map_find(&shelf->by_key, item->key) == item)
        (void)map_remove(&shelf->by_key, item->key);
    list_remove(&item->link);
    c->count--;
    c->bytes -= item_bytes(item);
    if (c->drop)
        c->drop(item->user);
    free(item);
}

void catalogue_free(struct catalogue *c)
{
    struct catalogue_item *item;

    if (!c)
        return;
    for (size_t i = 0; i < OFFER_TYPES; i++) {
        LIST_FOREACH(item, &c->shelves[i].items, link)
            item_drop(c, item);
        map_done(&c->shelves[i].by_key);
    }
    free(c->name);
    free(c->version);
    free(c);
}

/* Copies a text behind the item and moves on. */
static struct str keep(char **at, struct str text)
{
    struct str kept = { *at, text.len };

    if (text.len)
        memcpy(*at, text.ptr, text.len);
    *at += text.len;
    return kept;
}

static struct catalogue_item *item_new(const struct offer *offer, struct str json)
{
    struct str mime_type = offer->mime_type;
    struct str arguments = offer->type == OFFER_PROMPT ? offer->arguments : S("");
    size_t bytes = offer->key.len + mime_type.len + arguments.len + json.len;
    struct catalogue_item *item = xcalloc(1, sizeof(*item) + bytes);
    char *at = (char *)(item + 1);

    item->type = offer->type;
    item->key = keep(&at, offer->key);
    item->mime_type = keep(&at, mime_type);
    item->arguments = keep(&at, arguments);
    item->json = keep(&at, json);
    return item;
}

/* Takes the place of the old one, or the last. */
static void item_put(struct catalogue *c, struct catalogue_item *item,
                     struct catalogue_item *old)
{
    struct shelf *shelf = &c->shelves[item->type];

    item->serial = old ? old->serial : ++c->serials;
    list_append(old ? &old->link : &shelf->items, &item->link);
    if (old) {
        (void)map_remove(&shelf->by_key, old->key);
        item_drop(c, old);
    }
    map_set(&shelf->by_key, item->key, item);
    shelf->was_used = true;
    c->count++;
    c->bytes += item_bytes(item);
}

/* Would it fit, once the old one is gone? */
static bool fits(const struct catalogue *c, const struct catalogue_item *item,
                 const struct catalogue_item *old)
{
    size_t bytes = c->bytes + item_bytes(item) - (old ? item_bytes(old) : 0);

    return bytes <= c->max_bytes && (old || c->count < c->max_items);
}

enum err catalogue_add(struct catalogue *c, const struct offer *offer, void *user,
                       const char **ret_why)
{
    CLEANUP(buf_done) struct buf json;
    CLEANUP(arena_done) struct arena scratch;
    struct catalogue_item *item, *old;
    enum err err;

    buf_init(&json, OFFER_MAX_BYTES);
    arena_init(&scratch, SCRATCH_BYTES);
    err = offer_write(offer, &scratch, &json, ret_why);
    if (err)
        return err;
    item = item_new(offer, buf_str(&json));
    old = map_find(&c->shelves[offer->type].by_key, offer->key);
    if (!fits(c, item, old)) {
        free(item);
        return ERR_OVERLOAD;
    }
    item->user = user;
    item_put(c, item, old);
    return OK;
}

enum err catalogue_remove(struct catalogue *c, enum offer_type type, struct str key)
{
    struct catalogue_item *item = map_find(&c->shelves[type].by_key, key);

    if (!item)
        return ERR_NOT_FOUND;
    item_drop(c, item);
    return OK;
}

size_t catalogue_count(const struct catalogue *c, enum offer_type type)
{
    return c->shelves[type].by_key.count;
}

const struct catalogue_item *catalogue_find(const struct catalogue *c,
                                            enum offer_type type, struct str key)
{
    return map_find(&c->shelves[type].by_key, key);
}

const struct catalogue_item *catalogue_find_resource(const struct catalogue *c,
                                                     struct str uri)
{
    const struct catalogue_item *item = catalogue_find(c, OFFER_RESOURCE, uri);

    if (item)
        return item;
    LIST_FOREACH(item, &c->shelves[OFFER_TEMPLATE].items, link)
        if (template_matches(item->key, uri))
            return item;
    return NULL;
}
