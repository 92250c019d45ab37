/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/form.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/decimal.h"
#include "base/plain.h"
#include "base/utf8.h"

/* --- the fields of a schema --- */

static enum err refuse(struct buf *why, struct str name, const char *what)
{
    buf_put(why, S("the field \""));
    plain_put(why, name, PLAIN_LINE);
    buf_putf(why, "\" %s", what);
    return ERR_INVALID;
}

/* Choices stand in `enum`, with titles in `enumNames`, or in `oneOf` and `anyOf`. */
static const struct json *find_choices(const struct json *schema)
{
    static const struct str keys[] = { S("enum"), S("oneOf"), S("anyOf") };

    for (size_t i = 0; i < COUNT(keys); i++) {
        const struct json *list = json_find(schema, keys[i]);

        if (list && list->type == JSON_ARRAY)
            return list;
    }
    return NULL;
}

static enum err read_choices(struct form_field *field, const struct json *schema,
                             struct arena *arena, struct buf *why)
{
    const struct json *list = find_choices(schema);
    const struct json *names = json_find(schema, S("enumNames"));
    const struct json *name = names && names->type == JSON_ARRAY ? names->first : NULL;
    struct form_choice *choices;

    if (!list || list->count == 0 || list->count > FORM_CHOICES)
        return refuse(why, field->name, "has no choices, or too many");
    choices = arena_alloc(arena, list->count * sizeof(*choices));
    if (!choices)
        return ERR_TOO_BIG;
    field->choices = choices;
    JSON_FOREACH(item, list) {
        const struct json *value =
            item->type == JSON_OBJECT ? json_find(item, S("const")) : item;

        if (!value || value->type != JSON_STRING)
            return refuse(why, field->name, "has a choice that is no text");
        choices[field->choice_count++] = (struct form_choice){
            .value = value->text,
            .title = item->type == JSON_OBJECT ? json_text(json_find(item, S("title")))
                                               : json_text(name),
        };
        name = name ? name->next : NULL;
    }
    return OK;
}

static bool is_choice(const struct form_field *field, const struct json *value)
{
    for (size_t i = 0; i < field->choice_count; i++)
        if (value->type == JSON_STRING && str_eq(field->choices[i].value, value->text))
            return true;
    return false;
}

/* What is offered as the answer of somebody who says nothing must be one. */
static bool is_preset(const struct form_field *field, const struct json *value)
{
    bool fits = true;

    switch (field->type) {
    case FORM_TEXT: return value->type == JSON_STRING;
    case FORM_NUMBER:
    case FORM_INTEGER: return value->type == JSON_NUMBER;
    case FORM_BOOLEAN: return value->type == JSON_TRUE || value->type == JSON_FALSE;
    case FORM_ONE: return is_choice(field, value);
    case FORM_SEVERAL:
        if (value->type != JSON_ARRAY)
            return false;
        JSON_FOREACH(item, value)
            fits = fits && is_choice(field, item);
        return fits;
    }
    return false;
}

static enum err read_type(struct form_field *field, struct arena *arena, struct buf *why)
{
    struct str type = json_text(json_find(field->schema, S("type")));

    if (str_eq(type, S("array"))) {
        field->type = FORM_SEVERAL;
        return read_choices(field, json_find(field->schema, S("items")), arena, why);
    }
    if (str_eq(type, S("string")) && find_choices(field->schema)) {
        field->type = FORM_ONE;
        return read_choices(field, field->schema, arena, why);
    }
    if (str_eq(type, S("string")))
        field->type = FORM_TEXT;
    else if (str_eq(type, S("number")))
        field->type = FORM_NUMBER;
    else if (str_eq(type, S("integer")))
        field->type = FORM_INTEGER;
    else if (str_eq(type, S("boolean")))
        field->type = FORM_BOOLEAN;
    else
        return refuse(why, field->name, "is of a type that no form has");
    return OK;
}

static bool is_required(const struct json *schema, struct str name)
{
    const struct json *required = json_find(schema, S("required"));

    if (!required || required->type != JSON_ARRAY)
        return false;
    JSON_FOREACH(item, required)
        if (item->type == JSON_STRING && str_eq(item->text, name))
            return true;
    return false;
}

static enum err read_field(const struct json *schema, const struct json *property,
                           struct arena *arena, struct form_field *ret, struct buf *why)
{
    const struct json *preset = json_find(property, S("default"));
    enum err err;

    *ret = (struct form_field){
        .name = property->key,
        .title = json_text(json_find(property, S("title"))),
        .description = json_text(json_find(property, S("description"))),
        .is_required = is_required(schema, property->key),
        .schema = property,
    };
    err = read_type(ret, arena, why);
    if (!err && preset && is_preset(ret, preset))
        ret->preset = preset;
    return err;
}

enum err form_read(const struct json *schema, struct arena *arena, struct form *ret,
                   struct buf *why)
{
    const struct json *properties = json_find(schema, S("properties"));
    struct form_field *fields;
    size_t count = 0;
    enum err err = OK;

    if (!properties || properties->type != JSON_OBJECT) {
        buf_put(why, S("there are no fields in it"));
        return ERR_INVALID;
    }
    if (properties->count > FORM_FIELDS) {
        buf_put(why, S("there are too many fields in it"));
        return ERR_TOO_BIG;
    }
    fields = arena_alloc(arena, (properties->count + 1) * sizeof(*fields));
    if (!fields)
        return ERR_TOO_BIG;
    JSON_FOREACH(property, properties) {
        err = read_field(schema, property, arena, &fields[count++], why);
        if (err)
            return err;
    }
    *ret = (struct form){ .fields = fields, .count = count };
    return OK;
}

/* --- what a field takes --- */

static struct str limit(const struct form_field *field, struct str key)
{
    const struct json *value = json_find(field->schema, key);

    return value && value->type == JSON_NUMBER ? value->text : S("");
}

/* "from 1 to 5", "1 or more", "at most 5"; nothing where there is neither. */
static void put_range(struct buf *out, struct str least, struct str most)
{
    if (least.len && most.len)
        buf_putf(out, STR_FMT " to " STR_FMT, STR_ARG(least), STR_ARG(most));
    else if (least.len)
        buf_putf(out, "at least " STR_FMT, STR_ARG(least));
    else if (most.len)
        buf_putf(out, "at most " STR_FMT, STR_ARG(most));
}

static void put_limits(struct buf *out, const struct form_field *field, struct str least,
                       struct str most, const char *things)
{
    struct str from = limit(field, least), to = limit(field, most);

    if (!from.len && !to.len)
        return;
    buf_put(out, S(", "));
    put_range(out, from, to);
    buf_put(out, str_of(things));
}

static const struct {
    struct str name;
    const char *kind;
} formats[] = {
    { S("email"), "an e-mail address" },
    { S("uri"), "a URI, such as https://example.com/" },
    { S("date"), "a date, YYYY-MM-DD" },
    { S("date-time"), "a date and time, YYYY-MM-DDThh:mm:ssZ" },
};

static const char *text_kind(const struct form_field *field)
{
    struct str format = json_text(json_find(field->schema, S("format")));

    for (size_t i = 0; i < COUNT(formats); i++)
        if (str_eq(format, formats[i].name))
            return formats[i].kind;
    return "text";
}

void form_put_kind(struct buf *out, const struct form_field *field)
{
    switch (field->type) {
    case FORM_TEXT:
        buf_put(out, str_of(text_kind(field)));
        put_limits(out, field, S("minLength"), S("maxLength"), " characters");
        break;
    case FORM_NUMBER:
    case FORM_INTEGER:
        buf_put(out, field->type == FORM_NUMBER ? S("a number") : S("a whole number"));
        put_limits(out, field, S("minimum"), S("maximum"), "");
        break;
    case FORM_BOOLEAN: buf_put(out, S("yes or no")); break;
    case FORM_ONE: buf_put(out, S("one of these")); break;
    case FORM_SEVERAL:
        buf_put(out, S("some of these, with commas between them"));
        put_limits(out, field, S("minItems"), S("maxItems"), " of them");
        break;
    }
}

/* --- whether a line is an answer --- */

static enum err say(struct buf *why, const char *what)
{
    buf_put(why, str_of(what));
    return ERR_INVALID;
}

/* Below or above what the schema says: the limit is told. */
static enum err check_range(const struct form_field *field, double value,
                            const struct str keys[static 2], struct buf *why)
{
    struct str from = limit(field, keys[0]), to = limit(field, keys[1]);
    double least, most;

    if (from.len && !decimal_parse(from, &least) && value < least) {
        buf_putf(why, "it must be at least " STR_FMT, STR_ARG(from));
        return ERR_INVALID;
    }
    if (to.len && !decimal_parse(to, &most) && value > most) {
        buf_putf(why, "it must be at most " STR_FMT, STR_ARG(to));
        return ERR_INVALID;
    }
    return OK;
}

static bool is_email(struct str text)
{
    size_t at = str_find(text, '@', 0);

    return at > 0 && at + 1 < text.len && str_find(text, '@', at + 1) == text.len &&
           str_find(text, ' ', 0) == text.len;
}

static bool is_uri(struct str text)
{
    size_t colon = str_find(text, ':', 0);

    for (size_t i = 0; i < colon; i++) {
        int c = text.ptr[i] | 0x20;
        bool is_letter = c >= 'a' && c <= 'z';
        bool is_later =
            i && ((text.ptr[i] >= '0' && text.ptr[i] <= '9') || text.ptr[i] == '+' ||
                  text.ptr[i] == '-' || text.ptr[i] == '.');

        if (!is_letter && !is_later)
            return false;
    }
    return colon > 0 && colon + 1 < text.len && str_find(text, ' ', 0) == text.len;
}

static unsigned days_of(unsigned year, unsigned month)
{
    static const unsigned char days[] = {
        31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31
    };
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && is_leap);
}

static bool is_date(struct str text)
{
    uint64_t year, month, day;

    return text.len == sizeof("YYYY-MM-DD") - 1 && text.ptr[4] == '-' &&
           text.ptr[7] == '-' && !str_to_u64(str_slice(text, 0, 4), 9999, &year) &&
           !str_to_u64(str_slice(text, 5, 7), 12, &month) && month > 0 &&
           !str_to_u64(str_slice(text, 8, 10), 31, &day) && day > 0 &&
           day <= days_of((unsigned)year, (unsigned)month);
}

/* The clock knows no day before 1970: it is asked for the time of another one. */
static bool is_date_time(struct str text)
{
    char later[] = "2000-01-01T00:00:00.000000000+00:00";
    const size_t date = sizeof("YYYY-MM-DD") - 1;
    uint64_t ms;

    if (text.len < date || text.len >= sizeof(later) ||
        !is_date(str_slice(text, 0, date)))
        return false;
    for (size_t i = date; i < text.len; i++)
        later[i] = text.ptr[i];
    return clock_parse((struct str){ later, text.len }, &ms) == OK;
}

static bool has_format(const struct form_field *field, struct str text)
{
    struct str format = json_text(json_find(field->schema, S("format")));

    if (str_eq(format, S("email")))
        return is_email(text);
    if (str_eq(format, S("uri")))
        return is_uri(text);
    if (str_eq(format, S("date")))
        return is_date(text);
    return !str_eq(format, S("date-time")) || is_date_time(text);
}

static enum err judge_text(const struct form_field *field, struct str line,
                           struct json_writer *w, struct buf *why)
{
    static const struct str limits[] = { S("minLength"), S("maxLength") };
    struct str text = str_eq(line, S("\"\"")) ? S("") : line;
    size_t count = utf8_count(text);

    if (!utf8_is_valid(text))
        return say(why, "it is no text in UTF-8");
    if (check_range(field, (double)count, limits, why)) {
        buf_putf(why, " characters; it has %zu", count);
        return ERR_INVALID;
    }
    if (!has_format(field, text)) {
        buf_putf(why, "it must be %s", text_kind(field));
        return ERR_INVALID;
    }
    json_str(w, text);
    return OK;
}

static bool is_whole(struct str number)
{
    for (size_t i = 0; i < number.len; i++)
        if (number.ptr[i] != '-' && (number.ptr[i] < '0' || number.ptr[i] > '9'))
            return false;
    return true;
}

static enum err judge_number(const struct form_field *field, struct str line,
                             struct json_writer *w, struct buf *why)
{
    static const struct str limits[] = { S("minimum"), S("maximum") };
    struct str number = str_trim(line);
    double value;
    enum err err;

    if (decimal_parse(number, &value))
        return say(why, "it must be a number, such as 3 or -2.5");
    if (field->type == FORM_INTEGER && !is_whole(number))
        return say(why, "it must be a whole number");
    err = check_range(field, value, limits, why);
    if (!err)
        json_raw(w, number);
    return err;
}

static enum err judge_boolean(struct str line, struct json_writer *w, struct buf *why)
{
    static const struct {
        struct str word;
        bool is_true;
    } words[] = { { S("y"), true },  { S("yes"), true }, { S("true"), true },
                  { S("n"), false }, { S("no"), false }, { S("false"), false } };

    for (size_t i = 0; i < COUNT(words); i++)
        if (str_ieq(str_trim(line), words[i].word)) {
            json_bool(w, words[i].is_true);
            return OK;
        }
    return say(why, "it must be yes or no");
}

/* A value counts before a title, and a title before a number. */
static const struct form_choice *choose(const struct form_field *field, struct str word)
{
    uint64_t number;

    for (size_t i = 0; i < field->choice_count; i++)
        if (str_eq(field->choices[i].value, word))
            return &field->choices[i];
    for (size_t i = 0; i < field->choice_count; i++)
        if (str_ieq(field->choices[i].value, word) ||
            (word.len && str_ieq(field->choices[i].title, word)))
            return &field->choices[i];
    if (str_to_u64(word, field->choice_count, &number) || number == 0)
        return NULL;
    return &field->choices[number - 1];
}

static enum err no_choice(const struct form_field *field, struct str word,
                          struct buf *why)
{
    buf_putc(why, '"');
    plain_put(why, word, PLAIN_LINE);
    buf_putf(why, "\" is none of them: a number from 1 to %zu, or a name",
             field->choice_count);
    return ERR_INVALID;
}

static enum err judge_one(const struct form_field *field, struct str line,
                          struct json_writer *w, struct buf *why)
{
    const struct form_choice *choice = choose(field, str_trim(line));

    if (!choice)
        return no_choice(field, str_trim(line), why);
    json_str(w, choice->value);
    return OK;
}

static enum err judge_several(const struct form_field *field, struct str line,
                              struct json_writer *w, struct buf *why)
{
    static const struct str limits[] = { S("minItems"), S("maxItems") };
    bool is_chosen[FORM_CHOICES] = {};
    size_t count = 0;

    json_array_open(w);
    while (line.ptr) {
        struct str word = str_trim(str_cut(&line, ','));
        const struct form_choice *choice = choose(field, word);

        if (!word.len)
            continue;
        if (!choice)
            return no_choice(field, word, why);
        if (is_chosen[choice - field->choices])
            continue;
        is_chosen[choice - field->choices] = true;
        json_str(w, choice->value);
        count++;
    }
    json_array_close(w);
    if (check_range(field, (double)count, limits, why)) {
        buf_putf(why, " of them, not %zu", count);
        return ERR_INVALID;
    }
    return OK;
}

enum err form_judge(const struct form_field *field, struct str line, struct buf *json,
                    struct buf *why)
{
    struct json_writer w;

    json_write_init(&w, json);
    switch (field->type) {
    case FORM_TEXT: return judge_text(field, line, &w, why);
    case FORM_NUMBER:
    case FORM_INTEGER: return judge_number(field, line, &w, why);
    case FORM_BOOLEAN: return judge_boolean(line, &w, why);
    case FORM_ONE: return judge_one(field, line, &w, why);
    case FORM_SEVERAL: return judge_several(field, line, &w, why);
    }
    return ERR_INVALID;
}
