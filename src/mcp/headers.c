/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MCP 2026-07-28, Streamable HTTP. An annotation counts where a chain of `properties`
 * leads to it, at any depth; anywhere else in a schema it makes the tool invalid. So
 * schemas are walked by the keywords that hold other schemas, and what stands in a
 * `default` or `enum` is not taken for one.
 */
#include "mcp/headers.h"

#include "base/cleanup.h"
#include "base/decimal.h"
#include "crypto/crypto.h"
#include "mcp/serve.h"

enum { MAX_ANNOTATIONS = 64, MAX_VALUE = 8192 };

/* --- values --- */

static bool is_plain(struct str value)
{
    if (value.len == 0 || value.ptr[0] == ' ' || value.ptr[value.len - 1] == ' ')
        return false;
    if (str_starts(value, S("=?base64?")) && str_ends(value, S("?=")))
        return false;
    for (size_t i = 0; i < value.len; i++)
        if (value.ptr[i] < ' ' || value.ptr[i] > '~')
            return false;
    return true;
}

void header_put_value(struct buf *out, struct str value)
{
    if (is_plain(value)) {
        buf_put(out, value);
        return;
    }
    buf_put(out, S("=?base64?"));
    base64_write(out, value);
    buf_put(out, S("?="));
}

/* What a field means. ERR_INVALID: it is no base64 but says so. */
static enum err read_value(struct str field, struct buf *out)
{
    static const struct str before = S("=?base64?"), behind = S("?=");
    struct str value = str_trim(field);

    if (value.len < before.len + behind.len || !str_starts(value, before) ||
        !str_ends(value, behind))
        return buf_append(out, value);
    return base64_parse(str_slice(value, before.len, value.len - behind.len), out);
}

bool header_says(struct str field, struct json_span string)
{
    CLEANUP(buf_done) struct buf value;

    buf_init(&value, MAX_VALUE);
    return !read_value(field, &value) && json_string_is(string, buf_str(&value));
}

/* --- annotations --- */

enum holds { HOLDS_NOTHING, HOLDS_PROPERTIES, HOLDS_SCHEMA, HOLDS_NAMED_SCHEMAS };

/* clang-format off */
static const struct {
    struct str name;
    enum holds holds;
} keywords[] = {
    { S("properties"),            HOLDS_PROPERTIES },
    { S("items"),                 HOLDS_SCHEMA }, /* these also as a list */
    { S("prefixItems"),           HOLDS_SCHEMA },
    { S("contains"),              HOLDS_SCHEMA },
    { S("additionalProperties"),  HOLDS_SCHEMA },
    { S("additionalItems"),       HOLDS_SCHEMA },
    { S("unevaluatedProperties"), HOLDS_SCHEMA },
    { S("unevaluatedItems"),      HOLDS_SCHEMA },
    { S("propertyNames"),         HOLDS_SCHEMA },
    { S("contentSchema"),         HOLDS_SCHEMA },
    { S("oneOf"),                 HOLDS_SCHEMA },
    { S("anyOf"),                 HOLDS_SCHEMA },
    { S("allOf"),                 HOLDS_SCHEMA },
    { S("not"),                   HOLDS_SCHEMA },
    { S("if"),                    HOLDS_SCHEMA },
    { S("then"),                  HOLDS_SCHEMA },
    { S("else"),                  HOLDS_SCHEMA },
    { S("patternProperties"),     HOLDS_NAMED_SCHEMAS },
    { S("dependentSchemas"),      HOLDS_NAMED_SCHEMAS },
    { S("$defs"),                 HOLDS_NAMED_SCHEMAS },
    { S("definitions"),           HOLDS_NAMED_SCHEMAS },
};
/* clang-format on */

static enum holds keyword_holds(struct str name)
{
    for (size_t i = 0; i < COUNT(keywords); i++)
        if (str_eq(name, keywords[i].name))
            return keywords[i].holds;
    return HOLDS_NOTHING;
}

/* One level of the way through a schema. */
struct level {
    const struct json *next;   /* what is looked at next here */
    const struct json *schema; /* whose members these are; NULL: they are schemas */
    const struct json *value;  /* what stands there among the arguments, or NULL */
    bool is_chain;             /* properties alone lead here */
    bool is_property;          /* … at least one of them */
};

struct walk {
    struct level levels[JSON_TREE_DEPTH];
    size_t depth;
};

struct annotation {
    const struct json *name;   /* the value of x-mcp-header */
    const struct json *schema; /* where it stands */
    const struct json *value;  /* its argument, or NULL */
    bool is_property;
};

static void enter(struct walk *walk, const struct level *level)
{
    if (level->next && walk->depth < COUNT(walk->levels))
        walk->levels[walk->depth++] = *level;
}

static void enter_schema(struct walk *walk, const struct json *schema,
                         const struct level *from)
{
    struct level level = *from;

    if (schema->type != JSON_OBJECT)
        return;
    level.next = schema->first;
    level.schema = schema;
    enter(walk, &level);
}

/* What a keyword of a schema holds. */
static void enter_keyword(struct walk *walk, const struct json *member,
                          const struct level *from)
{
    enum holds holds = keyword_holds(member->key);
    struct level level = { .next = member->first };

    if (holds == HOLDS_NOTHING)
        return;
    if (holds == HOLDS_SCHEMA && member->type == JSON_OBJECT) {
        enter_schema(walk, member, &level);
        return;
    }
    if (holds == HOLDS_PROPERTIES) {
        level.is_chain = from->is_chain;
        level.is_property = from->is_chain;
        level.value = from->value;
    }
    enter(walk, &level);
}

static void walk_begin(struct walk *walk, const struct json *tool,
                       const struct json *arguments)
{
    const struct json *schema = json_find(tool, S("inputSchema"));
    struct level root = { .value = arguments, .is_chain = true };

    walk->depth = 0;
    if (schema)
        enter_schema(walk, schema, &root);
}

static bool walk_next(struct walk *walk, struct annotation *ret)
{
    while (walk->depth > 0) {
        struct level *top = &walk->levels[walk->depth - 1];
        struct level level = *top;
        const struct json *node = level.next;

        if (!node) {
            walk->depth--;
            continue;
        }
        top->next = node->next;
        if (!level.schema) {
            level.value = json_find(level.value, node->key);
            enter_schema(walk, node, &level);
            continue;
        }
        if (!str_eq(node->key, S("x-mcp-header"))) {
            enter_keyword(walk, node, &level);
            continue;
        }
        *ret = (struct annotation){ node, level.schema, level.value, level.is_property };
        return true;
    }
    return false;
}

static bool is_token(struct str text)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!is_letter && !(c >= '0' && c <= '9') && (c == '\0' || !strchr(others, c)))
            return false;
    }
    return text.len > 0;
}

static bool is_primitive(struct str type)
{
    return str_eq(type, S("string")) || str_eq(type, S("integer")) ||
           str_eq(type, S("boolean"));
}

static const char *annotation_fault(const struct annotation *annotation)
{
    if (!annotation->is_property)
        return "x-mcp-header stands where no chain of properties leads";
    if (!is_token(json_text(annotation->name)))
        return "x-mcp-header is no token of HTTP";
    if (!is_primitive(json_text(json_find(annotation->schema, S("type")))))
        return "x-mcp-header stands on what is no string, integer or boolean";
    return NULL;
}

const char *header_tool_fault(const struct json *tool)
{
    struct str seen[MAX_ANNOTATIONS];
    size_t count = 0;
    struct walk walk;
    struct annotation annotation;

    walk_begin(&walk, tool, NULL);
    while (walk_next(&walk, &annotation)) {
        const char *fault = annotation_fault(&annotation);

        if (fault)
            return fault;
        if (count == COUNT(seen))
            return "too many x-mcp-header";
        seen[count++] = json_text(annotation.name);
        for (size_t i = 0; i + 1 < count; i++)
            if (str_ieq(seen[i], seen[count - 1]))
                return "the same x-mcp-header stands twice";
    }
    return NULL;
}

/* --- the fields of a call --- */

/* False: it has no place in a header. */
static bool value_text(const struct json *value, struct str *ret)
{
    if (!value)
        return false;
    switch (value->type) {
    case JSON_STRING:
    case JSON_NUMBER: *ret = value->text; return true;
    case JSON_TRUE: *ret = S("true"); return true;
    case JSON_FALSE: *ret = S("false"); return true;
    case JSON_NULL:
    case JSON_ARRAY:
    case JSON_OBJECT: return false;
    }
    return false;
}

static enum err put_field(struct arena *arena, struct str name, struct str value,
                          struct str *ret)
{
    CLEANUP(buf_done) struct buf field;

    buf_init(&field, MAX_VALUE);
    buf_put(&field, S("Mcp-Param-"));
    buf_put(&field, name);
    buf_put(&field, S(": "));
    header_put_value(&field, value);
    *ret = arena_str(arena, buf_str(&field));
    return field.is_full || !ret->ptr ? ERR_TOO_BIG : OK;
}

enum err header_params(const struct json *tool, const struct json *arguments,
                       struct arena *arena, struct str_list *ret)
{
    struct str *fields = arena_alloc(arena, MAX_ANNOTATIONS * sizeof(*fields));
    struct walk walk;
    struct annotation annotation;
    struct str value;
    size_t count = 0;

    if (!fields)
        return ERR_TOO_BIG;
    walk_begin(&walk, tool, arguments);
    while (count < MAX_ANNOTATIONS && walk_next(&walk, &annotation)) {
        enum err err;

        if (annotation_fault(&annotation) || !value_text(annotation.value, &value))
            continue;
        err = put_field(arena, json_text(annotation.name), value, &fields[count]);
        if (err)
            return err;
        count++;
    }
    *ret = (struct str_list){ fields, count };
    return OK;
}

/* --- and checked --- */

static bool is_whole(struct str number)
{
    return number.len && !memchr(number.ptr, '.', number.len) &&
           !memchr(number.ptr, 'e', number.len) && !memchr(number.ptr, 'E', number.len);
}

/* Whole numbers have one spelling, and may be too large for a double. */
static bool is_same_number(struct str a, struct str b)
{
    double one, other;

    if (str_eq(a, b))
        return true;
    if (is_whole(a) && is_whole(b))
        return false;
    return !decimal_parse(a, &one) && !decimal_parse(b, &other) && one == other;
}

static const struct serve_param *find_param(const struct serve_param *params,
                                            size_t count, struct str name)
{
    for (size_t i = 0; i < count; i++)
        if (str_ieq(params[i].name, name))
            return &params[i];
    return NULL;
}

static const char *param_fault(const struct serve_param *param, const struct json *value)
{
    CLEANUP(buf_done) struct buf said;
    struct str text;

    buf_init(&said, MAX_VALUE);
    if (!value_text(value, &text))
        return param ? "an Mcp-Param header has no argument" : NULL;
    if (!param)
        return "an Mcp-Param header is missing";
    if (read_value(param->value, &said))
        return "an Mcp-Param header is not the base64 that it claims to be";
    if (value->type == JSON_NUMBER ? is_same_number(buf_str(&said), text)
                                   : str_eq(buf_str(&said), text))
        return NULL;
    return "an Mcp-Param header is not what its argument says";
}

const char *header_params_fault(const struct json *tool, const struct json *arguments,
                                const struct serve_param *params, size_t count)
{
    struct walk walk;
    struct annotation annotation;

    walk_begin(&walk, tool, arguments);
    while (walk_next(&walk, &annotation)) {
        const char *fault;

        if (annotation_fault(&annotation))
            continue;
        fault = param_fault(find_param(params, count, json_text(annotation.name)),
                            annotation.value);
        if (fault)
            return fault;
    }
    return NULL;
}

struct str header_name_member(struct str method)
{
    static const struct {
        struct str method, member;
    } named[] = {
        { S("tools/call"), S("name") },     { S("prompts/get"), S("name") },
        { S("resources/read"), S("uri") },  { S("tasks/get"), S("taskId") },
        { S("tasks/update"), S("taskId") }, { S("tasks/cancel"), S("taskId") },
    };

    for (size_t i = 0; i < COUNT(named); i++)
        if (str_eq(method, named[i].method))
            return named[i].member;
    return S("");
}

struct str header_name(struct str method, const struct json *params)
{
    struct str member = header_name_member(method);

    return member.len ? json_text(json_find(params, member)) : S("");
}
