/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A form that an MCP server wants filled in (elicitation/create, mode "form"): fields out
 * of its schema, what each of them takes in words, and whether a line is an answer.
 * Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "json/json.h"

enum { FORM_FIELDS = 100, FORM_CHOICES = 500 };

enum form_type {
    FORM_TEXT,
    FORM_NUMBER,
    FORM_INTEGER,
    FORM_BOOLEAN,
    FORM_ONE,     /* of the choices */
    FORM_SEVERAL, /* of them */
};

struct form_choice {
    struct str value, title; /* the title may be "" */
};

struct form_field {
    struct str name, title, description; /* the last two may be "" */
    enum form_type type;
    bool is_required;
    const struct json *schema; /* limits and formats */
    const struct json *preset; /* its default, of the right type; or NULL */
    const struct form_choice *choices;
    size_t choice_count;
};

struct form {
    const struct form_field *fields;
    size_t count;
};

/* Borrows from the tree, lives in the arena. ERR_INVALID, ERR_TOO_BIG: `why` says what
 * cannot be asked for. */
enum err form_read(const struct json *schema, struct arena *arena, struct form *ret,
                   struct buf *why);

/* "text, 3 to 20 characters", "a whole number from 1 to 100", "yes or no". */
void form_put_kind(struct buf *out, const struct form_field *field);

/* What a person wrote, as JSON; ERR_INVALID: `why` says what is wrong with it. A choice
 * is given by its number from 1, its value or its title; several with commas. */
enum err form_judge(const struct form_field *field, struct str line, struct buf *json,
                    struct buf *why);
