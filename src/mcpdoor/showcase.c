/* SPDX-License-Identifier: Apache-2.0 */
#include "mcpdoor/showcase.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "crypto/crypto.h"
#include "envelope/envelope.h"
#include "json/json.h"
#include "json/scan.h"
#include "mcpdoor/showcase_priv.h"
#include "participant/keep.h"

enum {
    /* Nobody leaves the others less than half. */
    OWNER_ITEMS = SHOWCASE_ITEMS / 2,
    OWNER_BYTES = SHOWCASE_BYTES / 2,
    /* Each may have to be compared with every URI that is asked for. */
    OWNER_TEMPLATES = 256,
    KEY_SCRATCH = 8 * OFFER_MAX_URI,
    MARK_DIGITS = 16,
};

/* clang-format off */
static const struct {
    struct str list; /* as the member of a result */
    struct str key;  /* the member that names one */
    size_t max_key;
    size_t max_items; /* of one owner */
} kinds[OFFER_TYPES] = {
    [OFFER_TOOL]     = { S("tools"),             S("name"),        OFFER_MAX_NAME, OWNER_ITEMS },
    [OFFER_RESOURCE] = { S("resources"),         S("uri"),         OFFER_MAX_URI,  OWNER_ITEMS },
    [OFFER_TEMPLATE] = { S("resourceTemplates"), S("uriTemplate"), OFFER_MAX_URI,  OWNER_TEMPLATES },
    [OFFER_PROMPT]   = { S("prompts"),           S("name"),        OFFER_MAX_NAME, OWNER_ITEMS },
};
/* clang-format on */

struct showcase *showcase_new(bool is_always_prefixed)
{
    struct showcase *s = xcalloc(1, sizeof(*s));

    list_init(&s->owners);
    list_init(&s->incoming.shelf.items);
    map_init(&s->incoming.keys);
    for (size_t i = 0; i < OFFER_TYPES; i++) {
        map_init(&s->index[i].by_key);
        map_init(&s->index[i].by_long);
    }
    s->is_always_prefixed = is_always_prefixed;
    s->is_prefixed = is_always_prefixed;
    return s;
}

/* --- shelves --- */

static void shelf_clear(struct show_shelf *shelf)
{
    struct show_item *item;

    LIST_FOREACH(item, &shelf->items, link) {
        list_remove(&item->link);
        free(item);
    }
    shelf->count = 0;
    shelf->bytes = 0;
}

/* What stands on the one takes the place of what stood on the other. */
static void shelf_replace(struct show_shelf *shelf, struct show_shelf *with)
{
    shelf_clear(shelf);
    list_splice(&shelf->items, &with->items);
    shelf->count = with->count;
    shelf->bytes = with->bytes;
    with->count = 0;
    with->bytes = 0;
}

static bool shelf_equals(const struct show_shelf *a, const struct show_shelf *b)
{
    struct link *at = a->items.next, *other = b->items.next;

    if (a->count != b->count || a->bytes != b->bytes)
        return false;
    for (; at != &a->items; at = at->next, other = other->next) {
        const struct show_item *one = CONTAINER_OF(at, const struct show_item, link);
        const struct show_item *two = CONTAINER_OF(other, const struct show_item, link);

        if (!str_eq(one->shown.json, two->shown.json))
            return false;
    }
    return true;
}

/* --- owners --- */

static size_t owner_items(const struct show_owner *owner)
{
    size_t count = 0;

    for (size_t i = 0; i < OFFER_TYPES; i++)
        count += owner->shelves[i].count;
    return count;
}

static size_t owner_bytes(const struct show_owner *owner)
{
    size_t bytes = 0;

    for (size_t i = 0; i < OFFER_TYPES; i++)
        bytes += owner->shelves[i].bytes;
    return bytes;
}

static struct show_owner *owner_find(const struct showcase *s, struct str id)
{
    struct show_owner *owner;

    LIST_FOREACH(owner, &s->owners, link)
        if (str_eq(owner->id, id))
            return owner;
    return NULL;
}

static struct show_owner *owner_add(struct showcase *s, struct str id)
{
    struct show_owner *owner, *other;
    struct link *before = &s->owners;

    if (s->owner_count == SHOWCASE_OWNERS || !id.len || id.len > SHOW_TAG)
        return NULL;
    owner = xcalloc(1, sizeof(*owner) + 2 * id.len);
    memcpy(owner->texts, id.ptr, id.len);
    owner->id = (struct str){ owner->texts, id.len };
    show_write_tag(id, owner->texts + id.len);
    owner->tag = (struct str){ owner->texts + id.len, id.len };
    for (size_t i = 0; i < OFFER_TYPES; i++)
        list_init(&owner->shelves[i].items);
    LIST_FOREACH(other, &s->owners, link)
        if (str_cmp(other->id, id) > 0) {
            before = &other->link;
            break;
        }
    list_append(before, &owner->link);
    s->owner_count++;
    return owner;
}

static void owner_free(struct showcase *s, struct show_owner *owner)
{
    s->count -= owner_items(owner);
    s->bytes -= owner_bytes(owner);
    for (size_t i = 0; i < OFFER_TYPES; i++)
        shelf_clear(&owner->shelves[i]);
    list_remove(&owner->link);
    s->owner_count--;
    free(owner);
}

/* --- a list that comes in --- */

/* Who never offered anything is not kept. */
static void incoming_clear(struct showcase *s)
{
    struct show_incoming *in = &s->incoming;

    shelf_clear(&in->shelf);
    map_done(&in->keys);
    map_init(&in->keys);
    if (in->owner && owner_items(in->owner) == 0)
        owner_free(s, in->owner);
    in->owner = NULL;
}

void showcase_free(struct showcase *s)
{
    struct show_owner *owner;

    if (!s)
        return;
    incoming_clear(s);
    map_done(&s->incoming.keys);
    LIST_FOREACH(owner, &s->owners, link)
        owner_free(s, owner);
    for (size_t i = 0; i < OFFER_TYPES; i++) {
        map_done(&s->index[i].by_key);
        map_done(&s->index[i].by_long);
    }
    free(s);
}

void showcase_begin(struct showcase *s, struct str owner, enum offer_type type)
{
    incoming_clear(s);
    s->incoming.type = type;
    s->incoming.owner = owner_find(s, owner);
    if (!s->incoming.owner)
        s->incoming.owner = owner_add(s, owner);
}

/* What the item is called. False: it has no name, more than one, or none that could be
 * asked for. */
static bool read_key(enum offer_type type, struct json_span item, struct arena *scratch,
                     struct str *ret)
{
    struct json_scan scan;
    struct json_member m;
    struct json_span key = {};
    enum err err;

    if (item.type != JSON_OBJECT || item.text.len > OFFER_MAX_BYTES)
        return false;
    json_scan_init(&scan, item.text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err)) {
        if (!json_string_is(m.key, kinds[type].key))
            continue;
        if (key.text.ptr || m.value.type != JSON_STRING)
            return false;
        key = m.value;
    }
    if (err || !key.text.len || json_unescape(key, scratch, ret))
        return false;
    return ret->len <= kinds[type].max_key && !envelope_has_control(*ret);
}

static uint64_t mark_of(const struct show_owner *owner, enum offer_type type,
                        struct str key)
{
    char which = (char)('0' + (int)type);
    uint8_t sum[SHA256_BYTES];
    uint64_t mark = 0;

    crypto_sha256_parts((const struct str[]){ { &which, 1 }, owner->id, { "", 1 }, key },
                        4, sum);
    for (size_t i = 0; i < sizeof(mark); i++)
        mark = mark << 8 | sum[i];
    return mark;
}

static struct show_item *item_new(struct show_owner *owner, enum offer_type type,
                                  struct str key, struct str json)
{
    CLEANUP(buf_done) struct buf name;
    struct show_item *item;
    char *at;

    buf_init(&name, SHOW_TAG + 1 + OFFER_MAX_URI);
    show_write_long_name(&name, owner, type, key);
    item = xcalloc(1, sizeof(*item) + key.len + name.len + json.len);
    at = (char *)(item + 1);
    item->owner = owner;
    item->mark = mark_of(owner, type, key);
    item->long_name = keep_str(&at, buf_str(&name));
    item->shown = (struct exhibit){
        .type = type,
        .owner = owner->id,
        .key = keep_str(&at, key),
        .json = keep_str(&at, json),
    };
    item->shown.name = item->shown.key;
    return item;
}

/* Would there be room, once the list has replaced the one that is there? */
static bool fits(const struct showcase *s, struct str json)
{
    const struct show_incoming *in = &s->incoming;
    const struct show_shelf *old = &in->owner->shelves[in->type];
    size_t count = in->shelf.count + 1, bytes = in->shelf.bytes + json.len;

    return count <= kinds[in->type].max_items &&
           s->count - old->count + count <= SHOWCASE_ITEMS &&
           s->bytes - old->bytes + bytes <= SHOWCASE_BYTES &&
           owner_items(in->owner) - old->count + count <= OWNER_ITEMS &&
           owner_bytes(in->owner) - old->bytes + bytes <= OWNER_BYTES;
}

static enum err add_item(struct showcase *s, struct json_span json, struct arena *scratch)
{
    struct show_incoming *in = &s->incoming;
    struct show_item *item;
    struct str key;

    arena_reset(scratch);
    if (!read_key(in->type, json, scratch, &key) || map_find(&in->keys, key))
        return OK;
    if (!fits(s, json.text))
        return ERR_OVERLOAD;
    item = item_new(in->owner, in->type, key, json.text);
    list_append(&in->shelf.items, &item->link);
    map_set(&in->keys, item->shown.key, item);
    in->shelf.count++;
    in->shelf.bytes += json.text.len;
    return OK;
}

enum err showcase_add(struct showcase *s, struct str items)
{
    CLEANUP(arena_done) struct arena scratch;
    struct json_scan scan;
    struct json_span item;
    enum err err;

    arena_init(&scratch, KEY_SCRATCH);
    if (!s->incoming.owner)
        return ERR_OVERLOAD;
    json_scan_init(&scan, items, JSON_MAX_DEPTH);
    err = json_array_begin(&scan);
    while (!err && json_array_next(&scan, &item, &err)) {
        enum err full = add_item(s, item, &scratch);

        if (full)
            return full;
    }
    return err;
}

unsigned showcase_end(struct showcase *s)
{
    struct show_incoming *in = &s->incoming;
    struct show_shelf *shelf;
    unsigned changed = 0;

    if (!in->owner)
        return 0;
    shelf = &in->owner->shelves[in->type];
    if (!shelf_equals(shelf, &in->shelf)) {
        s->count += in->shelf.count - shelf->count;
        s->bytes += in->shelf.bytes - shelf->bytes;
        shelf_replace(shelf, &in->shelf);
        changed = 1U << in->type;
    }
    incoming_clear(s);
    return changed ? show_name_all(s, changed) : 0;
}

unsigned showcase_drop(struct showcase *s, struct str owner)
{
    struct show_owner *who;
    unsigned changed = 0;

    incoming_clear(s);
    who = owner_find(s, owner);
    if (!who)
        return 0;
    for (size_t i = 0; i < OFFER_TYPES; i++)
        if (who->shelves[i].count)
            changed |= 1U << i;
    owner_free(s, who);
    return show_name_all(s, changed);
}

unsigned showcase_prefix(struct showcase *s, bool is_always_prefixed)
{
    s->is_always_prefixed = is_always_prefixed;
    return show_name_all(s, 0);
}

/* --- looking --- */

/* One whose list comes in has offered nothing yet. */
static bool is_only_coming(const struct showcase *s, const struct show_owner *owner)
{
    return s->incoming.owner == owner && owner_items(owner) == 0;
}

size_t showcase_owners(const struct showcase *s)
{
    return s->owner_count -
           (s->incoming.owner && is_only_coming(s, s->incoming.owner) ? 1 : 0);
}

struct str showcase_only_owner(const struct showcase *s)
{
    const struct show_owner *owner;

    if (showcase_owners(s) != 1)
        return S("");
    LIST_FOREACH(owner, &s->owners, link)
        if (!is_only_coming(s, owner))
            return owner->id;
    return S("");
}

const struct show_item *show_next(const struct showcase *s, enum offer_type type,
                                  const struct show_item *after)
{
    struct link *at = after ? after->owner->link.next : s->owners.next;

    if (after && after->link.next != &after->owner->shelves[type].items)
        return CONTAINER_OF(after->link.next, const struct show_item, link);
    for (; at != &s->owners; at = at->next) {
        const struct show_owner *owner = CONTAINER_OF(at, const struct show_owner, link);
        const struct link *items = &owner->shelves[type].items;

        if (items->next != items)
            return CONTAINER_OF(items->next, const struct show_item, link);
    }
    return NULL;
}

const struct exhibit *showcase_next(const struct showcase *s, enum offer_type type,
                                    const struct exhibit *after)
{
    const struct show_item *item = NULL;

    if (after)
        item = (const struct show_item *)after; /* its first member */
    item = show_next(s, type, item);
    return item ? &item->shown : NULL;
}

bool show_may(const struct showcase_view *view, const struct show_item *item)
{
    if (item->shown.is_hidden)
        return false;
    return !view->may || view->may(view->user, &item->shown);
}

void show_put_item(struct buf *out, const struct show_item *item)
{
    struct str json = item->shown.json;
    struct json_scan scan;
    struct json_member m;
    struct json_writer w;
    enum err err;

    if (str_eq(item->shown.name, item->shown.key)) {
        buf_put(out, json);
        return;
    }
    json_scan_init(&scan, json, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &m, &err)) {
        size_t at = (size_t)(m.value.text.ptr - json.ptr);

        if (!json_string_is(m.key, kinds[item->shown.type].key))
            continue;
        buf_put(out, str_slice(json, 0, at - 1));
        json_write_init(&w, out);
        json_str(&w, item->shown.name);
        buf_put(out, str_slice(json, at + m.value.text.len + 1, json.len));
        return;
    }
}

/* --- pages --- */

static void put_mark(struct buf *out, uint64_t mark)
{
    buf_putf(out, "%016llx", (unsigned long long)mark);
}

/* The item that the cursor names, so long as it is here and may be seen: whoever may not
 * see it must not learn that it is there. */
static enum err find_mark(const struct showcase *s, enum offer_type type,
                          const struct showcase_view *view, struct str cursor,
                          const struct show_item **ret)
{
    const struct show_item *item = NULL;
    uint8_t bytes[MARK_DIGITS / 2];
    uint64_t mark = 0;

    if (hex_parse(cursor, bytes, sizeof(bytes)))
        return ERR_INVALID;
    for (size_t i = 0; i < sizeof(bytes); i++)
        mark = mark << 8 | bytes[i];
    while ((item = show_next(s, type, item)) != NULL)
        if (item->mark == mark && show_may(view, item)) {
            *ret = item;
            return OK;
        }
    return ERR_INVALID;
}

/* Up to so many bytes, but at least one. The last of them, where others follow; NULL:
 * that was all. */
static const struct show_item *put_items(const struct showcase *s, enum offer_type type,
                                         const struct showcase_view *view,
                                         const struct show_item *after, size_t until,
                                         struct buf *out)
{
    const struct show_item *item = after, *last = NULL;

    while ((item = show_next(s, type, item)) != NULL) {
        if (!show_may(view, item))
            continue;
        if (last && out->len + item->shown.json.len + item->shown.name.len > until)
            return last;
        if (last)
            buf_putc(out, ',');
        show_put_item(out, item);
        last = item;
    }
    if (view->more.len) {
        if (last)
            buf_putc(out, ',');
        buf_put(out, view->more);
    }
    return NULL;
}

enum err showcase_put_page(const struct showcase *s, enum offer_type type,
                           const struct showcase_view *view, struct str cursor,
                           size_t page_bytes, struct buf *out)
{
    const struct show_item *after = NULL, *last;

    if (cursor.len && find_mark(s, type, view, cursor, &after))
        return ERR_INVALID;
    page_bytes += out->len;
    buf_put(out, S("{\""));
    buf_put(out, kinds[type].list);
    buf_put(out, S("\":["));
    last = put_items(s, type, view, after, page_bytes, out);
    buf_putc(out, ']');
    if (last) {
        buf_put(out, S(",\"nextCursor\":\""));
        put_mark(out, last->mark);
        buf_putc(out, '"');
    }
    buf_putc(out, '}');
    return out->is_full ? ERR_TOO_BIG : OK;
}
