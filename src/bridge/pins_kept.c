/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is kept of a listing, and what is shown of it to people. A pin whose text is that
 * of what is listed is kept without it:
 *
 *     {"v":1,"trusted":true,"tools":[…],…,"pins":[{"type":"tools","key":"read","by":"…",
 *      "at":1700000000000,"text":"…"}]}
 */
#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/pins_priv.h"

enum { KEPT_VERSION = 1 };

static const char *text_of(const struct listing *listing, enum offer_type type,
                           struct str key)
{
    const struct listing_items *items = &listing->lists[type];

    for (size_t i = 0; i < items->count; i++)
        if (str_eq(items->items[i]->listed.key, key))
            return items->items[i]->text;
    return NULL;
}

static void write_pin(const struct listing *listing, const struct pin *pin,
                      struct json_writer *w)
{
    const char *listed = text_of(listing, pin->type, str_of(pin->key));

    json_object_open(w);
    json_put_str(w, S("type"), listing_name(pin->type));
    json_put_str(w, S("key"), str_of(pin->key));
    json_put_str(w, S("by"), str_of(pin->by));
    json_put_uint(w, S("at"), pin->wall_ms);
    if (!listed || !str_eq(str_of(listed), str_of(pin->text)))
        json_put_str(w, S("text"), str_of(pin->text));
    json_object_close(w);
}

static void write_list(const struct listing_items *items, struct str name,
                       struct json_writer *w)
{
    json_key(w, name);
    json_array_open(w);
    for (size_t i = 0; i < items->count; i++)
        json_raw(w, items->items[i]->listed.json);
    json_array_close(w);
}

void listing_write(const struct listing *listing, struct buf *out)
{
    struct json_writer w;
    const struct pin *pin;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_uint(&w, S("v"), KEPT_VERSION);
    json_put_bool(&w, S("trusted"), listing->is_trusted);
    for (enum offer_type type = 0; type <= OFFER_PROMPT; type++)
        write_list(&listing->lists[type], listing_name(type), &w);
    json_key(&w, S("pins"));
    json_array_open(&w);
    for (size_t type = 0; type < OFFER_TYPES; type++)
        MAP_FOREACH(pin, &listing->pins[type])
            write_pin(listing, pin, &w);
    json_array_close(&w);
    json_object_close(&w);
}

/* --- reading it again --- */

static bool type_of(struct str name, enum offer_type *ret)
{
    for (enum offer_type type = 0; type <= OFFER_PROMPT; type++)
        if (str_eq(name, listing_name(type))) {
            *ret = type;
            return true;
        }
    return false;
}

static enum err restore_pin(struct listing *listing, const struct json *json)
{
    struct str key = json_text(json_find(json, S("key")));
    const struct json *at = json_find(json, S("at")), *text = json_find(json, S("text"));
    CLEANUP(xfreep) char *by = str_dup(json_text(json_find(json, S("by"))));
    CLEANUP(xfreep) char *name = str_dup(key);
    CLEANUP(xfreep) char *kept = NULL;
    struct pin pin = { .key = name, .by = by };
    const char *listed;

    if (!type_of(json_text(json_find(json, S("type"))), &pin.type) || key.len == 0 ||
        !at || str_to_u64(at->text, INT64_MAX, &pin.wall_ms))
        return ERR_INVALID;
    listed = text_of(listing, pin.type, key);
    if (text)
        kept = str_dup(json_text(text));
    else if (listed)
        kept = xstrdup(listed);
    else
        return ERR_INVALID;
    pin.text = kept;
    listing_pin_set(listing, &pin);
    return OK;
}

static enum err restore_lists(struct listing *listing, struct str json)
{
    for (enum offer_type type = 0; type <= OFFER_PROMPT; type++) {
        enum err err;

        listing_begin(listing, type);
        err = listing_add_page(listing, json);
        if (err)
            return err;
        (void)listing_restore_list(listing);
    }
    return OK;
}

enum err listing_restore(struct listing *listing, struct str json)
{
    CLEANUP(arena_done) struct arena arena;
    const struct json *root, *version, *trusted, *pins;
    enum err err;

    arena_init(&arena, (size_t)8 * LISTING_KEPT_BYTES);
    if (json_parse(json, &arena, &root, NULL))
        return ERR_INVALID;
    version = json_find(root, S("v"));
    trusted = json_find(root, S("trusted"));
    pins = json_find(root, S("pins"));
    if (!version || !str_eq(version->text, S("1")) || !trusted || !pins)
        return ERR_INVALID;
    err = restore_lists(listing, json);
    if (err)
        return ERR_INVALID;
    JSON_FOREACH(pin, pins) {
        err = restore_pin(listing, pin);
        if (err)
            return err;
    }
    listing->is_trusted = trusted->type == JSON_TRUE;
    listing_judge(listing);
    return OK;
}

/* --- for people --- */

static const struct str verdicts[] = {
    [PIN_SEEN] = S("seen"),
    [PIN_IS_NEW] = S("new"),
    [PIN_HAS_CHANGED] = S("changed"),
    [PIN_DROPPED] = S("dropped"),
};

/* One behind the other, each with what came before: an order is seen as well. */
static void digest_all(const struct listing *listing, uint8_t ret[static SHA256_BYTES])
{
    const struct listed *listed;

    crypto_sha256(S(""), ret);
    for (enum offer_type type = 0; type <= OFFER_PROMPT; type++)
        for (size_t at = 0; (listed = listing_next(listing, type, &at)) != NULL;) {
            uint8_t of_one[SHA256_BYTES];
            struct str parts[] = { { (const char *)ret, SHA256_BYTES },
                                   { (const char *)of_one, SHA256_BYTES } };

            crypto_sha256(listed->said, of_one);
            crypto_sha256_parts(parts, COUNT(parts), ret);
        }
}

void listing_put_digest(const struct listing *listing, const struct listed *listed,
                        struct buf *out)
{
    uint8_t digest[SHA256_BYTES];

    if (listed)
        crypto_sha256(listed->said, digest);
    else
        digest_all(listing, digest);
    hex_write(out, (struct str){ (const char *)digest, sizeof(digest) });
}

static void put_digest(const struct listing *listing, const struct listed *listed,
                       struct json_writer *w)
{
    CLEANUP(buf_done) struct buf digest;

    buf_init(&digest, (size_t)2 * SHA256_BYTES);
    listing_put_digest(listing, listed, &digest);
    json_put_str(w, S("digest"), buf_str(&digest));
}

static void put_item(const struct listing *listing, const struct listed *listed,
                     struct json_writer *w)
{
    CLEANUP(buf_done) struct buf difference;
    const struct pin *pin = listing_pin_find(listing, listed->type, listed->key);

    buf_init(&difference, LISTING_BYTES);
    listing_put_difference(listing, listed, &difference);
    json_object_open(w);
    json_put_str(w, S("key"), listed->key);
    json_put_str(w, S("verdict"), verdicts[listed->verdict]);
    json_put_bool(w, S("held"), listed->is_held);
    put_digest(listing, listed, w);
    if (listed->why)
        json_put_str(w, S("why"), str_of(listed->why));
    if (pin) {
        json_put_str(w, S("approved_by"), str_of(pin->by));
        json_put_time(w, S("approved_at"), pin->wall_ms);
    }
    if (difference.len > 0)
        json_put_str(w, S("difference"), buf_str(&difference));
    json_key(w, S("item"));
    json_raw(w, listed->json);
    json_object_close(w);
}

void listing_put_json(const struct listing *listing, struct buf *out)
{
    static const struct str modes[] = { S("hold"), S("warn"), S("off") };
    struct json_writer w;

    json_write_init(&w, out);
    json_object_open(&w);
    json_put_str(&w, S("pin"), modes[listing->mode]);
    json_put_bool(&w, S("trusted"), listing->is_trusted);
    put_digest(listing, NULL, &w);
    for (enum offer_type type = 0; type <= OFFER_PROMPT; type++) {
        const struct listed *listed;
        size_t at = 0;

        json_key(&w, listing_name(type));
        json_array_open(&w);
        while ((listed = listing_next(listing, type, &at)) != NULL)
            put_item(listing, listed, &w);
        json_array_close(&w);
    }
    json_object_close(&w);
}
