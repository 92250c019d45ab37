/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms: the part of JSON Schema in which a server may ask (MCP 2025-11-25,
 * client/elicitation), and whether what was filled in fits.
 */
#include "base/cleanup.h"
#include "base/decimal.h"
#include "base/utf8.h"
#include "mcp/question_priv.h"

/* A field of a form, as its `type` has it. */
struct field_kind {
    struct str type;
    bool (*asks)(struct check *c, const struct json *field);
    bool (*fits)(struct check *c, const struct json *field, const struct json *value);
};

static const struct field_kind *kind_of(const struct json *field);

/* --- bounds and choices --- */

static bool is_bounded(const struct json *field, struct str name, double value, int sign)
{
    const struct json *bound = json_find(field, name);
    double number;

    if (!bound || decimal_parse(bound->text, &number))
        return false;
    return sign > 0 ? value > number : value < number;
}

static bool bounds_are_in_order(struct check *c, const struct json *field, struct str min,
                                struct str max)
{
    const struct json *low = json_find(field, min);
    double number;

    if (!low || decimal_parse(low->text, &number) || !is_bounded(field, max, number, 1))
        return true;
    return check_fails(c, STR_FMT " is above " STR_FMT, STR_ARG(min), STR_ARG(max));
}

/* What may be chosen: texts, or objects with a text and its title. */
struct choices {
    const struct json *list; /* NULL: anything */
    bool are_titled;
};

static bool choices_fit(struct check *c, const struct choices *choices)
{
    static const struct member_rule rules[] = {
        { S("const"), SHAPE_TEXT, true },
        { S("title"), SHAPE_TEXT, true },
    };

    if (!choices->list)
        return true;
    if (choices->list->type != JSON_ARRAY || !choices->list->count)
        return check_fails(c, "its choices are not a list of some");
    if (!choices->are_titled)
        return shape_fits(SHAPE_TEXTS, choices->list) ||
               check_fails(c, "its choices are not texts");
    JSON_FOREACH(choice, choices->list) {
        if (choice->type != JSON_OBJECT)
            return check_fails(c, "a choice is not an object");
        if (!MEMBERS_FIT(c, choice, rules))
            return false;
    }
    return true;
}

static bool is_chosen(const struct choices *choices, struct str text)
{
    if (!choices->list)
        return true;
    JSON_FOREACH(choice, choices->list) {
        const struct json *one =
            choices->are_titled ? json_find(choice, S("const")) : choice;

        if (str_eq(json_text(one), text))
            return true;
    }
    return false;
}

static struct choices choices_of(const struct json *schema, struct str titled)
{
    const struct json *list = json_find(schema, S("enum"));

    if (list)
        return (struct choices){ list, false };
    return (struct choices){ json_find(schema, titled), true };
}

/* --- texts --- */

/* clang-format off */
static const struct {
    struct str name;
    bool (*fits)(struct str text);
} formats[] = {
    { S("email"),     text_is_email },
    { S("uri"),       text_is_uri },
    { S("date"),      text_is_date },
    { S("date-time"), text_is_date_time },
};
/* clang-format on */

static bool text_asks(struct check *c, const struct json *field)
{
    static const struct member_rule rules[] = {
        { S("minLength"), SHAPE_COUNT, false }, { S("maxLength"), SHAPE_COUNT, false },
        { S("format"), SHAPE_TEXT, false },     { S("pattern"), SHAPE_TEXT, false },
        { S("enumNames"), SHAPE_TEXTS, false },
    };
    struct choices choices = choices_of(field, S("oneOf"));
    const struct json *format = json_find(field, S("format"));
    bool is_known = !format;

    if (!MEMBERS_FIT(c, field, rules))
        return false;
    for (size_t i = 0; i < COUNT(formats); i++)
        is_known |= format && str_eq(format->text, formats[i].name);
    if (!is_known)
        return check_fails(c, "format is none of email, uri, date, date-time");
    return bounds_are_in_order(c, field, S("minLength"), S("maxLength")) &&
           choices_fit(c, &choices);
}

static bool format_fits(const struct json *field, struct str text)
{
    struct str format = json_text(json_find(field, S("format")));

    for (size_t i = 0; i < COUNT(formats); i++)
        if (str_eq(format, formats[i].name))
            return formats[i].fits(text);
    return true;
}

static bool text_fits(struct check *c, const struct json *field, const struct json *value)
{
    struct choices choices = choices_of(field, S("oneOf"));
    double length = (double)utf8_count(value->text);

    if (value->type != JSON_STRING)
        return check_fails(c, "it is not a text");
    if (is_bounded(field, S("minLength"), length, -1))
        return check_fails(c, "it is too short");
    if (is_bounded(field, S("maxLength"), length, 1))
        return check_fails(c, "it is too long");
    if (!is_chosen(&choices, value->text))
        return check_fails(c, "it is none of the choices");
    return format_fits(field, value->text) ||
           check_fails(c, "it is not of the format " STR_FMT,
                       STR_ARG(json_text(json_find(field, S("format")))));
}

/* --- numbers --- */

static bool number_asks(struct check *c, const struct json *field)
{
    static const struct member_rule rules[] = {
        { S("minimum"), SHAPE_NUMBER, false },
        { S("maximum"), SHAPE_NUMBER, false },
    };

    return MEMBERS_FIT(c, field, rules) &&
           bounds_are_in_order(c, field, S("minimum"), S("maximum"));
}

static bool number_fits(struct check *c, const struct json *field,
                        const struct json *value)
{
    double number;

    if (value->type != JSON_NUMBER || decimal_parse(value->text, &number))
        return check_fails(c, "it is not a number");
    if (is_bounded(field, S("minimum"), number, -1))
        return check_fails(c, "it is below the minimum");
    return !is_bounded(field, S("maximum"), number, 1) ||
           check_fails(c, "it is above the maximum");
}

static bool integer_fits(struct check *c, const struct json *field,
                         const struct json *value)
{
    double number;

    if (!shape_is_integer(value, &number))
        return check_fails(c, "it is not an integer");
    return number_fits(c, field, value);
}

/* --- yes or no --- */

static bool boolean_asks(struct check *, const struct json *)
{
    return true;
}

static bool boolean_fits(struct check *c, const struct json *, const struct json *value)
{
    return shape_fits(SHAPE_BOOL, value) || check_fails(c, "it is not true or false");
}

/* --- several choices --- */

static bool several_ask(struct check *c, const struct json *field)
{
    static const struct member_rule rules[] = {
        { S("items"), SHAPE_OBJECT, true },
        { S("minItems"), SHAPE_COUNT, false },
        { S("maxItems"), SHAPE_COUNT, false },
    };
    const struct json *items = json_find(field, S("items"));
    struct choices choices = choices_of(items, S("anyOf"));

    if (!MEMBERS_FIT(c, field, rules))
        return false;
    if (!choices.list)
        return check_fails(c, "items name no choices");
    return bounds_are_in_order(c, field, S("minItems"), S("maxItems")) &&
           choices_fit(c, &choices);
}

static bool several_fit(struct check *c, const struct json *field,
                        const struct json *value)
{
    struct choices choices = choices_of(json_find(field, S("items")), S("anyOf"));

    if (!shape_fits(SHAPE_TEXTS, value))
        return check_fails(c, "it is not a list of texts");
    JSON_FOREACH(item, value)
        if (!is_chosen(&choices, item->text))
            return check_fails(c, "one is none of the choices");
    if (is_bounded(field, S("minItems"), (double)value->count, -1))
        return check_fails(c, "too few are chosen");
    return !is_bounded(field, S("maxItems"), (double)value->count, 1) ||
           check_fails(c, "too many are chosen");
}

/* --- fields --- */

/* clang-format off */
static const struct field_kind field_kinds[] = {
    { S("string"),  text_asks,    text_fits },
    { S("number"),  number_asks,  number_fits },
    { S("integer"), number_asks,  integer_fits },
    { S("boolean"), boolean_asks, boolean_fits },
    { S("array"),   several_ask,  several_fit },
};
/* clang-format on */

static const struct field_kind *kind_of(const struct json *field)
{
    struct str type = json_text(json_find(field, S("type")));

    for (size_t i = 0; i < COUNT(field_kinds); i++)
        if (str_eq(field_kinds[i].type, type))
            return &field_kinds[i];
    return NULL;
}

/* Keywords that lead deeper, or elsewhere: a form is flat, and stands by itself. */
static bool is_flat(struct check *c, const struct json *schema, const struct str *allowed,
                    size_t count)
{
    static const struct str deep[] = {
        S("$ref"),
        S("$dynamicRef"),
        S("allOf"),
        S("anyOf"),
        S("oneOf"),
        S("not"),
        S("if"),
        S("properties"),
        S("patternProperties"),
        S("items"),
        S("prefixItems"),
        S("contains"),
        S("dependentSchemas"),
        S("dependentRequired"),
    };

    JSON_FOREACH(member, schema)
        if (text_is_among(member->key, deep, COUNT(deep)) &&
            !text_is_among(member->key, allowed, count))
            return check_fails(c, "a form has no " STR_FMT " here", STR_ARG(member->key));
    return true;
}

static bool field_fits(struct check *c, const struct json *field)
{
    static const struct member_rule rules[] = {
        { S("title"), SHAPE_TEXT, false },
        { S("description"), SHAPE_TEXT, false },
    };
    const struct field_kind *kind = kind_of(field);
    const struct json *preset = json_find(field, S("default"));
    struct str allowed = S("");

    if (field->type != JSON_OBJECT || !kind)
        return check_fails(c, "its type is none that a form has");
    if (str_eq(kind->type, S("string")))
        allowed = S("oneOf");
    else if (str_eq(kind->type, S("array")))
        allowed = S("items");
    if (!is_flat(c, field, &allowed, 1) || !MEMBERS_FIT(c, field, rules) ||
        !kind->asks(c, field))
        return false;
    return !preset || kind->fits(c, field, preset) ||
           check_fails(c, "default does not fit");
}

/* --- the form --- */

/* BASE-08: another dialect might mean something else. */
static bool dialect_fits(struct check *c, const struct json *schema)
{
    static const struct str known[] = {
        S("https://json-schema.org/draft/2020-12/schema"),
        S("https://json-schema.org/draft/2020-12/schema#"),
        S("http://json-schema.org/draft-07/schema#"),
        S("http://json-schema.org/draft-07/schema"),
    };
    const struct json *dialect = json_find(schema, S("$schema"));

    return !dialect || text_is_among(json_text(dialect), known, COUNT(known)) ||
           check_fails(c, "its $schema is neither 2020-12 nor draft-07");
}

static bool required_fits(struct check *c, const struct json *schema)
{
    const struct json *required = json_find(schema, S("required"));
    const struct json *fields = json_find(schema, S("properties"));

    if (required)
        JSON_FOREACH(name, required)
            if (!json_find(fields, name->text))
                return check_fails(c, "required names what is no field");
    return true;
}

bool form_fits(struct check *c, const struct json *schema)
{
    static const struct str allowed[] = { S("properties") };
    static const struct member_rule rules[] = {
        { S("properties"), SHAPE_OBJECT, true },
        { S("required"), SHAPE_TEXTS, false },
    };

    c->field = S("requestedSchema");
    if (!str_eq(json_text(json_find(schema, S("type"))), S("object")))
        return check_fails(c, "its type is not object");
    if (!dialect_fits(c, schema) || !is_flat(c, schema, allowed, COUNT(allowed)) ||
        !MEMBERS_FIT(c, schema, rules) || !required_fits(c, schema))
        return false;
    JSON_FOREACH(field, json_find(schema, S("properties"))) {
        c->field = field->key;
        if (!field_fits(c, field))
            return false;
    }
    return true;
}

/* --- what was filled in --- */

/* What nobody asked for is one of the things that a form can have. */
static bool is_plain(const struct json *value)
{
    return shape_fits(SHAPE_TEXT, value) || shape_fits(SHAPE_NUMBER, value) ||
           shape_fits(SHAPE_BOOL, value) || shape_fits(SHAPE_TEXTS, value);
}

static bool value_fits(struct check *c, const struct json *fields,
                       const struct json *value)
{
    const struct json *field = json_find(fields, value->key);

    c->field = value->key;
    if (field)
        return kind_of(field)->fits(c, field, value);
    return is_plain(value) || check_fails(c, "it is nothing that a form has");
}

bool form_content_fits(struct check *c, const struct json *schema,
                       const struct json *content)
{
    const struct json *fields = json_find(schema, S("properties"));
    const struct json *required = json_find(schema, S("required"));

    if (content)
        JSON_FOREACH(value, content)
            if (!value_fits(c, fields, value))
                return false;
    if (!required)
        return true;
    JSON_FOREACH(name, required) {
        const struct json *field = json_find(fields, name->text);

        c->field = name->text;
        if (!json_find(content, name->text) && !json_find(field, S("default")))
            return check_fails(c, "it is missing");
    }
    return true;
}

/* ELIC-12. */
void form_put_content(struct json_writer *w, const struct json *schema,
                      const struct json *content)
{
    json_object_open(w);
    if (content)
        json_put_members(w, content->raw, (struct str_list){});
    JSON_FOREACH(field, json_find(schema, S("properties"))) {
        const struct json *preset = json_find(field, S("default"));

        if (!preset || json_find(content, field->key))
            continue;
        json_key(w, field->key);
        json_raw(w, preset->raw);
    }
    json_object_close(w);
}
