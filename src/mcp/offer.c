/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/offer.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "json/json.h"
#include "mcp/template.h"

/* --- keys ------------------------------------------------------------------------------
 */

static bool is_name_char(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           c == '_' || c == '-' || c == '.' || c == '/';
}

/* MCP 2025-11-25, server/tools: names; a slash, which others use, besides. */
static const char *tool_fault(struct str name)
{
    if (name.len < 1 || name.len > OFFER_MAX_NAME)
        return "the name of a tool has 1 to 128 characters";
    for (size_t i = 0; i < name.len; i++)
        if (!is_name_char(name.ptr[i]))
            return "the name of a tool is made of letters, digits, _ - . and /";
    return NULL;
}

static bool has_control(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] < 0x20 || text.ptr[i] == 0x7f)
            return true;
    return false;
}

static const char *prompt_fault(struct str name)
{
    if (name.len < 1 || name.len > OFFER_MAX_NAME)
        return "the name of a prompt has 1 to 128 bytes";
    if (has_control(name) || !utf8_is_valid(name))
        return "the name of a prompt is text without control characters";
    return NULL;
}

/* RFC 3986: a scheme, and nothing that a URI cannot hold. */
static const char *uri_fault(struct str uri)
{
    size_t colon = str_find(uri, ':', 0);

    if (uri.len < 1 || uri.len > OFFER_MAX_URI)
        return "a URI has 1 to 1024 characters";
    if (colon == 0 || colon == uri.len || (uri.ptr[0] | 0x20) < 'a' ||
        (uri.ptr[0] | 0x20) > 'z')
        return "a URI begins with a scheme and a colon";
    for (size_t i = 0; i < uri.len; i++)
        if (uri.ptr[i] <= ' ' || uri.ptr[i] >= 0x7f || strchr("\"<>\\^`|", uri.ptr[i]))
            return "there is a character in the URI that none can hold";
    return NULL;
}

static const char *key_fault(const struct offer *offer)
{
    const char *why;

    switch (offer->type) {
    case OFFER_TOOL: return tool_fault(offer->key);
    case OFFER_PROMPT: return prompt_fault(offer->key);
    case OFFER_RESOURCE: return uri_fault(offer->key);
    case OFFER_TEMPLATE:
        why = uri_fault(offer->key);
        return why ? why : template_fault(offer->key);
    }
    return NULL;
}

/* --- what is said of it
 * ----------------------------------------------------------------- */

/* MCP clients refuse a schema of arguments that says anything else. */
static const char *input_schema_fault(const struct json *schema)
{
    const struct json *type = json_find(schema, S("type"));

    if (!type || type->type != JSON_STRING || !str_eq(type->text, S("object")))
        return "the input schema has no \"type\": \"object\"";
    return NULL;
}

static const char *arguments_fault(const struct json *arguments)
{
    JSON_FOREACH(argument, arguments) {
        const struct json *name = json_find(argument, S("name"));

        if (!name || name->type != JSON_STRING)
            return "each argument of a prompt is an object with a name";
    }
    return NULL;
}

#define TYPE(type)  (1U << (type))
#define OF_RESOURCE (TYPE(OFFER_RESOURCE) | TYPE(OFFER_TEMPLATE))
#define OF_ALL      (TYPE(OFFER_TYPES) - 1)

/* clang-format off */
static const struct field {
    struct str name;
    size_t offset;
    unsigned types;
    enum json_type type;
    const char *why; /* where it is not of that type */
    const char *(*fault)(const struct json *json);
} fields[] = {
#define F(name, member, types, type, why, fault) \
    { S(name), offsetof(struct offer, member), types, type, why, fault }
    F("title",        title,         OF_ALL,             JSON_STRING, NULL, NULL),
    F("description",  description,   OF_ALL,             JSON_STRING, NULL, NULL),
    F("mimeType",     mime_type,     OF_RESOURCE,        JSON_STRING, NULL, NULL),
    F("inputSchema",  input_schema,  TYPE(OFFER_TOOL),   JSON_OBJECT,
      "the input schema is not a JSON object", input_schema_fault),
    F("outputSchema", output_schema, TYPE(OFFER_TOOL),   JSON_OBJECT,
      "the output schema is not a JSON object", NULL),
    F("annotations",  annotations,   TYPE(OFFER_TOOL),   JSON_OBJECT,
      "the annotations are not a JSON object", NULL),
    F("arguments",    arguments,     TYPE(OFFER_PROMPT), JSON_ARRAY,
      "the arguments are not a JSON array", arguments_fault),
#undef F
};
/* clang-format on */

static struct str value_of(const struct offer *offer, const struct field *field)
{
    struct str value;

    memcpy(&value, (const char *)offer + field->offset, sizeof(value));
    return value;
}

static const char *field_fault(const struct field *field, struct str json,
                               struct arena *scratch)
{
    const struct json *tree;

    if (json_parse(json, scratch, &tree, NULL) || tree->type != field->type)
        return field->why;
    return field->fault ? field->fault(tree) : NULL;
}

/* In a list it would make all of it unreadable. */
static const char not_text[] = "a title, description, name or type is not UTF-8";

static const char *put_field(const struct offer *offer, const struct field *field,
                             struct arena *scratch, struct json_writer *w)
{
    struct str value = value_of(offer, field);
    const char *why = NULL;

    if (!(field->types & TYPE(offer->type)) || value.len == 0)
        return NULL;
    if (field->type == JSON_STRING) {
        json_put_str(w, field->name, value);
        return utf8_is_valid(value) ? NULL : not_text;
    }
    why = field_fault(field, value, scratch);
    json_key(w, field->name);
    json_raw(w, value);
    return why;
}

static void put_names(const struct offer *offer, struct json_writer *w)
{
    if (offer->type == OFFER_RESOURCE)
        json_put_str(w, S("uri"), offer->key);
    if (offer->type == OFFER_TEMPLATE)
        json_put_str(w, S("uriTemplate"), offer->key);
    json_put_str(w, S("name"),
                 OF_RESOURCE & TYPE(offer->type) && offer->name.len ? offer->name
                                                                    : offer->key);
    if (offer->type == OFFER_TOOL && offer->input_schema.len == 0) {
        json_key(w, S("inputSchema"));
        json_raw(w, S("{\"type\":\"object\"}"));
    }
}

enum err offer_write(const struct offer *offer, struct arena *scratch, struct buf *out,
                     const char **ret_why)
{
    const char *why = key_fault(offer);
    struct json_writer w;

    if (!why && !utf8_is_valid(offer->name))
        why = not_text;

    json_write_init(&w, out);
    json_object_open(&w);
    put_names(offer, &w);
    for (size_t i = 0; !why && i < COUNT(fields); i++)
        why = put_field(offer, &fields[i], scratch, &w);
    json_object_close(&w);
    if (why) {
        *ret_why = why;
        return ERR_INVALID;
    }
    return out->is_full ? ERR_TOO_BIG : OK;
}
