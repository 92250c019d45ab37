/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/question.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "mcp/question_priv.h"

enum { FIELD_SHOWN = 64, WHAT_SHOWN = 256 };

/* --- what all of them need --- */

static void put_place(const struct check *c)
{
    struct str field = str_slice(c->field, 0, FIELD_SHOWN);

    if (c->list)
        buf_putf(c->why, "%s[%zu]", c->list, c->index);
    if (c->list && field.len)
        buf_putc(c->why, '.');
    buf_put(c->why, field);
    if (c->why->len)
        buf_put(c->why, S(": "));
}

bool check_fails(struct check *c, const char *format, ...)
{
    char what[WHAT_SHOWN];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    buf_clear(c->why);
    put_place(c);
    buf_put(c->why, str_of(what));
    return false;
}

/* From 2^53 on every double is one. */
bool shape_is_integer(const struct json *value, double *ret)
{
    const double whole = 9007199254740992.0;

    if (value->type != JSON_NUMBER || decimal_parse(value->text, ret))
        return false;
    return *ret >= whole || *ret <= -whole || *ret == (double)(int64_t)*ret;
}

static bool is_share(const struct json *value)
{
    double number;

    return value->type == JSON_NUMBER && !decimal_parse(value->text, &number) &&
           number >= 0 && number <= 1;
}

static bool is_texts(const struct json *value)
{
    if (value->type != JSON_ARRAY)
        return false;
    JSON_FOREACH(item, value)
        if (item->type != JSON_STRING)
            return false;
    return true;
}

bool shape_fits(enum shape shape, const struct json *value)
{
    double number;

    switch (shape) {
    case SHAPE_TEXT: return value->type == JSON_STRING;
    case SHAPE_NUMBER:
        return value->type == JSON_NUMBER && !decimal_parse(value->text, &number);
    case SHAPE_COUNT: return shape_is_integer(value, &number) && number >= 0;
    case SHAPE_SHARE: return is_share(value);
    case SHAPE_BOOL: return value->type == JSON_TRUE || value->type == JSON_FALSE;
    case SHAPE_LIST: return value->type == JSON_ARRAY;
    case SHAPE_TEXTS: return is_texts(value);
    case SHAPE_OBJECT: return value->type == JSON_OBJECT;
    }
    return false;
}

bool members_fit(struct check *c, const struct json *object,
                 const struct member_rule *rules, size_t count)
{
    static const char *const names[] = {
        [SHAPE_TEXT] = "a text",
        [SHAPE_NUMBER] = "a number",
        [SHAPE_COUNT] = "an integer from 0 on",
        [SHAPE_SHARE] = "a number from 0 to 1",
        [SHAPE_BOOL] = "true or false",
        [SHAPE_LIST] = "a list",
        [SHAPE_TEXTS] = "a list of texts",
        [SHAPE_OBJECT] = "an object",
    };

    for (size_t i = 0; i < count; i++) {
        const struct json *member = json_find(object, rules[i].name);

        if (!member && rules[i].is_needed)
            return check_fails(c, STR_FMT " is missing", STR_ARG(rules[i].name));
        if (member && !shape_fits(rules[i].shape, member))
            return check_fails(c, STR_FMT " is not %s", STR_ARG(rules[i].name),
                               names[rules[i].shape]);
    }
    return true;
}

/* --- elicitation --- */

static bool is_url_mode(const struct json *params)
{
    return str_eq(json_text(json_find(params, S("mode"))), S("url"));
}

static bool url_question_fits(struct check *c, const struct json *params)
{
    static const struct member_rule rules[] = {
        { S("url"), SHAPE_TEXT, true },
        { S("elicitationId"), SHAPE_TEXT, true },
    };
    const char *fault;

    if (!MEMBERS_FIT(c, params, rules))
        return false;
    if (!json_text(json_find(params, S("elicitationId"))).len)
        return check_fails(c, "elicitationId is empty");
    fault = text_url_fault(json_text(json_find(params, S("url"))));
    return !fault || check_fails(c, "url %s", fault);
}

/* ELIC-03, ELIC-04. */
static bool elicitation_fits(struct check *c, const struct json *params)
{
    static const struct member_rule rules[] = {
        { S("mode"), SHAPE_TEXT, false },
        { S("message"), SHAPE_TEXT, true },
        { S("requestedSchema"), SHAPE_OBJECT, false },
    };
    const struct json *mode = json_find(params, S("mode"));
    const struct json *schema = json_find(params, S("requestedSchema"));

    if (!MEMBERS_FIT(c, params, rules))
        return false;
    if (is_url_mode(params))
        return url_question_fits(c, params);
    if (mode && !str_eq(mode->text, S("form")))
        return check_fails(c, "mode is neither form nor url");
    if (!schema)
        return check_fails(c, "requestedSchema is missing");
    return form_fits(c, schema);
}

/* ELIC-05. */
static bool elicitation_answer_fits(struct check *c, const struct json *params,
                                    const struct json *result)
{
    static const struct str actions[] = { S("accept"), S("decline"), S("cancel") };
    const struct json *content = json_find(result, S("content"));
    struct str action = json_text(json_find(result, S("action")));

    if (!text_is_among(action, actions, COUNT(actions)))
        return check_fails(c, "action is none of accept, decline, cancel");
    if (!str_eq(action, S("accept")) || is_url_mode(params))
        return true;
    if (content && content->type != JSON_OBJECT)
        return check_fails(c, "content is not an object");
    return form_content_fits(c, json_find(params, S("requestedSchema")), content);
}

static void put_elicitation_answer(struct json_writer *w, const struct json *params,
                                   const struct json *result)
{
    static const struct str ours[] = { S("content") };
    bool is_accepted = str_eq(json_text(json_find(result, S("action"))), S("accept"));

    json_object_open(w);
    json_put_members(w, result->raw, (struct str_list){ ours, COUNT(ours) });
    if (is_accepted && !is_url_mode(params)) {
        json_key(w, S("content"));
        form_put_content(w, json_find(params, S("requestedSchema")),
                         json_find(result, S("content")));
    }
    json_object_close(w);
}

/* --- roots --- */

/* Whatever else it says, it asks for the same. */
static bool roots_fit(struct check *, const struct json *)
{
    return true;
}

/* ROOT-02. */
static bool root_fits(struct check *c, const struct json *root)
{
    static const struct member_rule rules[] = {
        { S("uri"), SHAPE_TEXT, true },
        { S("name"), SHAPE_TEXT, false },
    };
    const char *fault;

    if (root->type != JSON_OBJECT)
        return check_fails(c, "it is not an object");
    if (!MEMBERS_FIT(c, root, rules))
        return false;
    fault = question_root_fault(json_text(json_find(root, S("uri"))));
    return !fault || check_fails(c, "uri %s", fault);
}

static bool roots_answer_fits(struct check *c, const struct json *,
                              const struct json *result)
{
    const struct json *roots = json_find(result, S("roots"));

    if (!roots || roots->type != JSON_ARRAY)
        return check_fails(c, "roots is not a list");
    c->list = "roots";
    JSON_FOREACH(root, roots) {
        if (!root_fits(c, root))
            return false;
        c->index++;
    }
    return true;
}

static void put_as_it_stands(struct json_writer *w, const struct json *,
                             const struct json *result)
{
    json_raw(w, result->raw);
}

/* --- which --- */

/* clang-format off */
static const struct question_kind {
    struct str method;
    bool (*fits)(struct check *c, const struct json *params);
    bool (*answer_fits)(struct check *c, const struct json *params, const struct json *result);
    void (*put)(struct json_writer *w, const struct json *params, const struct json *result);
} kinds[] = {
    { S("sampling/createMessage"), sample_fits,      sample_answer_fits,      put_as_it_stands },
    { S("elicitation/create"),     elicitation_fits, elicitation_answer_fits, put_elicitation_answer },
    { S("roots/list"),             roots_fit,        roots_answer_fits,       put_as_it_stands },
};
/* clang-format on */

static const struct question_kind *find_kind(struct str method)
{
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (str_eq(kinds[i].method, method))
            return &kinds[i];
    return NULL;
}

/* NULL: it cannot be read, which is said. */
static const struct json *read_object(struct check *c, struct str text,
                                      struct arena *scratch)
{
    struct json_problem problem = {};
    const struct json *json;
    enum err err = json_parse(text.len ? text : S("{}"), scratch, &json, &problem);

    if (err) {
        (void)check_fails(c, "it cannot be read: %s",
                          err == ERR_TOO_BIG ? "it is too large"
                          : problem.what     ? problem.what
                                             : err_name(err));
        return NULL;
    }
    if (json->type != JSON_OBJECT) {
        (void)check_fails(c, "it is not an object");
        return NULL;
    }
    return json;
}

enum err question_check(struct str method, struct str params, struct arena *scratch,
                        struct buf *why)
{
    const struct question_kind *kind = find_kind(method);
    struct check c = { .why = why };
    const struct json *json;

    if (!kind)
        return OK;
    json = read_object(&c, params, scratch);
    return json && kind->fits(&c, json) ? OK : ERR_INVALID;
}

enum err question_put_answer(struct buf *out, const struct question_asked *asked,
                             struct str result, struct arena *scratch, struct buf *why)
{
    const struct question_kind *kind = find_kind(asked->method);
    struct check c = { .why = why };
    const struct json *params, *answer;
    struct json_writer w;

    if (!kind) {
        buf_put(out, result);
        return OK;
    }
    params = read_object(&c, asked->params, scratch);
    answer = params ? read_object(&c, result, scratch) : NULL;
    if (!answer || !kind->answer_fits(&c, params, answer))
        return ERR_INVALID;
    json_write_init(&w, out);
    kind->put(&w, params, answer);
    if (!out->is_full)
        return OK;
    (void)check_fails(&c, "it is too large");
    return ERR_INVALID;
}
