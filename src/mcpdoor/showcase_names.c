/* SPDX-License-Identifier: Apache-2.0 */
/* What things are called here, and what is meant by a name. */
#include "base/cleanup.h"
#include "base/str.h"
#include "crypto/crypto.h"
#include "mcp/template.h"
#include "mcpdoor/showcase_priv.h"

enum {
    DIGITS = 6, /* of the hash of a name that was cut, behind a '_' */
    CUT = SHOWCASE_NAME - DIGITS - 1,
    NAMED = 1U << OFFER_TOOL | 1U << OFFER_PROMPT, /* the others have URIs */
};

static bool has_uri(enum offer_type type)
{
    return !(NAMED >> type & 1);
}

/* --- writing them --- */

static bool is_plain(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           c == '_' || c == '-';
}

void show_write_tag(struct str id, char *ret)
{
    memset(ret, '_', id.len);
    for (size_t i = 0; i < id.len; i++)
        if (is_plain(id.ptr[i]))
            ret[i] = id.ptr[i];
}

/* So many bytes at most, and no half characters. */
static struct str cut_text(struct str text, size_t max)
{
    while (max && ((unsigned char)text.ptr[max] & 0xc0) == 0x80)
        max--;
    return str_slice(text, 0, max);
}

void show_write_long_name(struct buf *out, const struct show_owner *owner,
                          enum offer_type type, struct str key)
{
    size_t start = out->len;
    uint8_t sum[SHA256_BYTES];

    buf_put(out, owner->tag);
    buf_putc(out, has_uri(type) ? '+' : '.');
    buf_put(out, key);
    if (has_uri(type) || out->len - start <= SHOWCASE_NAME)
        return;
    out->len = start + cut_text(str_slice(buf_str(out), start, out->len), CUT).len;
    crypto_sha256_parts((const struct str[]){ owner->id, S("."), key }, 3, sum);
    buf_putc(out, '_');
    hex_write(out, (struct str){ (const char *)sum, DIGITS / 2 });
}

/* --- giving them --- */

/* Counted at the first that has the key or name. */
static void index_item(struct showcase *s, struct show_item *item)
{
    struct show_index *index = &s->index[item->shown.type];
    struct show_item *of_key = map_find(&index->by_key, item->shown.key);
    struct show_item *of_long = map_find(&index->by_long, item->long_name);

    item->key_count = 0;
    item->long_count = 0;
    if (!of_key)
        map_set(&index->by_key, item->shown.key, item);
    (of_key ? of_key : item)->key_count++;
    if (!of_long)
        map_set(&index->by_long, item->long_name, item);
    (of_long ? of_long : item)->long_count++;
}

static const struct show_item *first_of_key(const struct showcase *s,
                                            enum offer_type type, struct str key)
{
    return map_find(&s->index[type].by_key, key);
}

static const struct show_item *first_of_long(const struct showcase *s,
                                             enum offer_type type, struct str name)
{
    return map_find(&s->index[type].by_long, name);
}

static void name_item(struct showcase *s, struct show_item *item)
{
    enum offer_type type = item->shown.type;
    bool is_long = has_uri(type) ? first_of_key(s, type, item->shown.key)->key_count > 1
                                 : s->is_prefixed;

    item->shown.name = is_long ? item->long_name : item->shown.key;
    item->shown.is_hidden =
        is_long && first_of_long(s, type, item->long_name)->long_count > 1;
}

static void for_shelf(struct showcase *s, struct show_shelf *shelf,
                      void (*act)(struct showcase *s, struct show_item *item))
{
    struct show_item *item;

    LIST_FOREACH(item, &shelf->items, link)
        act(s, item);
}

static void name_type(struct showcase *s, enum offer_type type)
{
    struct show_index *index = &s->index[type];
    struct show_owner *owner;

    map_done(&index->by_key);
    map_done(&index->by_long);
    map_init(&index->by_key);
    map_init(&index->by_long);
    LIST_FOREACH(owner, &s->owners, link)
        for_shelf(s, &owner->shelves[type], index_item);
    LIST_FOREACH(owner, &s->owners, link)
        for_shelf(s, &owner->shelves[type], name_item);
}

unsigned show_name_all(struct showcase *s, unsigned types)
{
    bool was_prefixed = s->is_prefixed;

    s->is_prefixed = s->is_always_prefixed || showcase_owners(s) > 1;
    for (size_t i = 0; i < OFFER_TYPES; i++) {
        bool flips = was_prefixed != s->is_prefixed && !has_uri((enum offer_type)i);

        if (flips && show_next(s, (enum offer_type)i, NULL))
            types |= 1U << i;
        if (types >> i & 1)
            name_type(s, (enum offer_type)i);
    }
    return types;
}

/* --- finding by them --- */

/* As it stands in lists comes first: nobody takes the name of another's tool by calling
 * his own so. */
static const struct show_item *find_named(const struct showcase *s, enum offer_type type,
                                          struct str name)
{
    bool is_long_first = s->is_prefixed && !has_uri(type);
    const struct show_item *by_key = first_of_key(s, type, name);
    const struct show_item *by_long = first_of_long(s, type, name);

    if (by_long && (is_long_first || !by_key))
        return by_long->long_count == 1 ? by_long : NULL;
    return by_key && by_key->key_count == 1 ? by_key : NULL;
}

const struct exhibit *showcase_find(const struct showcase *s, enum offer_type type,
                                    struct str name)
{
    const struct show_item *item = find_named(s, type, name);

    return item && !item->shown.is_hidden ? &item->shown : NULL;
}

const struct exhibit *showcase_find_of(const struct showcase *s, enum offer_type type,
                                       struct str owner, struct str name)
{
    const struct exhibit *found = showcase_find(s, type, name);

    if (!owner.len || (found && str_eq(found->owner, owner)))
        return found;
    for (found = NULL; (found = showcase_next(s, type, found)) != NULL;)
        if (str_eq(found->owner, owner) && str_eq(found->key, name) && !found->is_hidden)
            return found;
    return NULL;
}

/* Templates of higher levels (RFC 6570) are taken by what stands before and behind their
 * variables: their owner decides. */
static bool matches_loosely(struct str template, struct str uri)
{
    size_t open = str_find(template, '{', 0), close = template.len;

    while (close > 0 && template.ptr[close - 1] != '}')
        close--;
    if (open == 0 || open >= close)
        return false;
    return uri.len >= open + (template.len - close) &&
           str_starts(uri, str_slice(template, 0, open)) &&
           str_ends(uri, str_slice(template, close, template.len));
}

enum looseness { STRICTLY, LOOSELY };

static bool matches(const struct show_item *item, struct str uri, enum looseness how)
{
    struct str template = item->shown.key;

    if (!template_fault(template))
        return how == STRICTLY && template_matches(template, uri);
    return how == LOOSELY && matches_loosely(template, uri);
}

/* The first template that it matches, of this owner, or (NULL) of the only one who has
 * such. */
static const struct show_item *find_template(const struct showcase *s,
                                             const struct show_owner *owner,
                                             struct str uri, enum looseness how)
{
    const struct show_item *item = NULL, *found = NULL;

    while ((item = show_next(s, OFFER_TEMPLATE, item)) != NULL) {
        if ((owner && item->owner != owner) || !matches(item, uri, how))
            continue;
        if (found && found->owner != item->owner)
            return NULL;
        if (!found)
            found = item;
    }
    return found;
}

static const struct show_item *match(const struct showcase *s,
                                     const struct show_owner *owner, struct str uri)
{
    const struct show_item *found = find_template(s, owner, uri, STRICTLY);

    return found ? found : find_template(s, owner, uri, LOOSELY);
}

static const struct show_item *
find_of_owner(const struct showcase *s, const struct show_owner *owner, struct str uri)
{
    const struct show_item *item;

    LIST_FOREACH(item, &owner->shelves[OFFER_RESOURCE].items, link)
        if (str_eq(item->shown.key, uri))
            return item;
    return match(s, owner, uri);
}

/* OWNER+URI, whoever else has it. */
static const struct show_item *find_tagged(const struct showcase *s, struct str uri,
                                           struct str *ret_uri)
{
    const struct show_item *found = NULL;
    const struct show_owner *owner;

    LIST_FOREACH(owner, &s->owners, link) {
        size_t len = owner->tag.len;
        const struct show_item *item;

        if (uri.len <= len || uri.ptr[len] != '+' || !str_starts(uri, owner->tag))
            continue;
        item = find_of_owner(s, owner, str_slice(uri, len + 1, uri.len));
        if (item && found)
            return NULL;
        if (item)
            found = item;
    }
    if (found)
        *ret_uri = str_slice(uri, found->owner->tag.len + 1, uri.len);
    return found;
}

const struct exhibit *showcase_find_uri(const struct showcase *s, struct str uri,
                                        struct buf *out, struct str *ret_uri)
{
    const struct show_item *item = find_named(s, OFFER_RESOURCE, uri);
    struct str own = item ? item->shown.key : uri;
    size_t start = out->len;

    if (!item && !first_of_key(s, OFFER_RESOURCE, uri))
        item = match(s, NULL, uri);
    if (!item)
        item = find_tagged(s, uri, &own);
    if (!item || item->shown.is_hidden)
        return NULL;
    buf_put(out, own);
    *ret_uri = str_slice(buf_str(out), start, out->len);
    return &item->shown;
}

/* --- what an owner says of its own --- */

static const struct show_owner *find_owner(const struct showcase *s, struct str id)
{
    const struct show_owner *owner;

    LIST_FOREACH(owner, &s->owners, link)
        if (str_eq(owner->id, id))
            return owner;
    return NULL;
}

static bool is_renamed(const struct show_item *item)
{
    return !str_eq(item->shown.name, item->shown.key);
}

struct str showcase_uri(const struct showcase *s, struct str owner, struct str uri,
                        struct buf *out)
{
    const struct show_owner *of = find_owner(s, owner);
    const struct show_item *item = of ? find_of_owner(s, of, uri) : NULL;
    size_t start = out->len;

    if (!item || !is_renamed(item))
        return uri;
    buf_put(out, of->tag);
    buf_putc(out, '+');
    buf_put(out, uri);
    return str_slice(buf_str(out), start, out->len);
}

static bool shelf_renames(const struct show_shelf *shelf)
{
    const struct show_item *item;

    LIST_FOREACH(item, &shelf->items, link)
        if (is_renamed(item))
            return true;
    return false;
}

bool showcase_renames(const struct showcase *s, struct str owner)
{
    const struct show_owner *of = find_owner(s, owner);

    return of && (shelf_renames(&of->shelves[OFFER_RESOURCE]) ||
                  shelf_renames(&of->shelves[OFFER_TEMPLATE]));
}
