/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks of questions share: question.c, question_form.c, question_sample.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "json/json.h"
#include "mcp/question.h"

/* A check under way. */
struct check {
    struct buf *why;
    struct str field; /* of which something is said; "": of the whole */
    const char *list; /* … or the list, and which of it; NULL: none */
    size_t index;
};

/* False, always: the place and what is wrong with it are written. */
bool check_fails(struct check *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum shape {
    SHAPE_TEXT,
    SHAPE_NUMBER,
    SHAPE_COUNT, /* an integer from 0 on */
    SHAPE_SHARE, /* from 0 to 1 */
    SHAPE_BOOL,
    SHAPE_LIST,
    SHAPE_TEXTS, /* a list of texts */
    SHAPE_OBJECT,
};

bool shape_fits(enum shape shape, const struct json *value);
/* JSON Schema: 5.0 is one. */
bool shape_is_integer(const struct json *value, double *ret);

/* A member that must be there, or may. */
struct member_rule {
    struct str name;
    enum shape shape;
    bool is_needed;
};
bool members_fit(struct check *c, const struct json *object,
                 const struct member_rule *rules, size_t count);
#define MEMBERS_FIT(c, object, rules) members_fit(c, object, rules, COUNT(rules))

static inline bool text_is_among(struct str text, const struct str *texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(text, texts[i]))
            return true;
    return false;
}

/* question_form.c: a form, and what was filled in. */
bool form_fits(struct check *c, const struct json *schema);
bool form_content_fits(struct check *c, const struct json *schema,
                       const struct json *content);
void form_put_content(struct json_writer *w, const struct json *schema,
                      const struct json *content);

/* question_text.c: RFC 5321 in outline, RFC 3986, RFC 3339. */
bool text_is_email(struct str text);
bool text_is_uri(struct str text);
bool text_is_date(struct str text);
bool text_is_date_time(struct str text);
/* NULL, or why nobody is to be shown it. */
const char *text_url_fault(struct str url);

/* question_sample.c */
bool sample_fits(struct check *c, const struct json *params);
bool sample_answer_fits(struct check *c, const struct json *params,
                        const struct json *result);
