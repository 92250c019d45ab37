/* SPDX-License-Identifier: Apache-2.0 */
/* One thing that a server offers: may it be used at all? */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "bridge/pins_priv.h"
#include "mcp/headers.h"

static const struct str keys[OFFER_TYPES] = {
    [OFFER_TOOL] = S("name"),
    [OFFER_RESOURCE] = S("uri"),
    [OFFER_TEMPLATE] = S("uriTemplate"),
    [OFFER_PROMPT] = S("name"),
};

/* "" where it is not there. */
static struct str raw_of(const struct json *json, struct str key)
{
    const struct json *value = json_find(json, key);

    return value ? value->raw : S("");
}

static const char *texts_fault(const struct json *json)
{
    static const struct str texts[] = { S("name"), S("title"), S("description"),
                                        S("mimeType") };

    for (size_t i = 0; i < COUNT(texts); i++) {
        const struct json *value = json_find(json, texts[i]);

        if (value && value->type != JSON_STRING)
            return "a name, title, description or type is no text";
    }
    return NULL;
}

/* The rules are those of what we offer ourselves, but for templates: which level of RFC
 * 6570 a server reads is its own business, so that theirs are those of URIs. */
static const char *offer_fault(enum offer_type type, struct str key,
                               const struct json *json)
{
    CLEANUP(arena_done) struct arena scratch;
    CLEANUP(buf_done) struct buf out;
    const char *why = NULL;
    struct offer offer = {
        .type = type == OFFER_TEMPLATE ? OFFER_RESOURCE : type,
        .key = key,
        .title = json_text(json_find(json, S("title"))),
        .description = json_text(json_find(json, S("description"))),
        .mime_type = json_text(json_find(json, S("mimeType"))),
        .input_schema = raw_of(json, S("inputSchema")),
        .output_schema = raw_of(json, S("outputSchema")),
        .annotations = raw_of(json, S("annotations")),
        .arguments = raw_of(json, S("arguments")),
    };

    if (type == OFFER_RESOURCE || type == OFFER_TEMPLATE)
        offer.name = json_text(json_find(json, S("name")));
    arena_init(&scratch, (size_t)16 * OFFER_MAX_BYTES);
    buf_init(&out, OFFER_MAX_BYTES);
    if (offer_write(&offer, &scratch, &out, &why))
        return why ? why : "it is too large";
    if (type == OFFER_TOOL && offer.input_schema.len == 0)
        return "it has no input schema";
    return type == OFFER_TOOL ? header_tool_fault(json) : NULL;
}

static const char *fault_of(enum offer_type type, const struct json *json, struct str key)
{
    const char *why = texts_fault(json);

    return why ? why : offer_fault(type, key, json);
}

struct listing_item *listing_item_make(enum offer_type type, const struct json *json)
{
    CLEANUP(buf_done) struct buf text;
    struct listing_item *item = xcalloc(1, sizeof(*item));
    struct str key = json_text(json_find(json, keys[type]));

    buf_init(&text, LISTING_BYTES);
    item->is_nameless = key.len == 0 || memchr(key.ptr, '\0', key.len) != NULL;
    item->key = str_dup(item->is_nameless ? S("") : key);
    item->json = str_dup(json->raw);
    item->listed.type = type;
    item->listed.key = str_of(item->key);
    item->listed.json = str_of(item->json);
    if (item->is_nameless)
        item->listed.why = "it has no name";
    else
        item->listed.why = fault_of(type, json, key);
    if (!item->listed.why && canonical_put(&text, type, json))
        item->listed.why = "it is too large";
    if (item->listed.why)
        item->listed.verdict = PIN_DROPPED;
    item->text = str_dup(buf_str(&text));
    item->listed.said = str_of(item->text);
    item->listed.wants_authorization =
        type == OFFER_TOOL && json_find(json, S("authorization"));
    return item;
}
