/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An envelope is a view into a received text: one strict pass checks JSON and UTF-8 and
 * finds the top-level fields (D6–D8, D11, D12). The view dies with the text and with the
 * scratch arena, which holds only what had to be unescaped and the `to` list.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "envelope/dialect.h"
#include "envelope/kind.h"
#include "json/scan.h"

enum {
    ENVELOPE_MAX_ID = 256,
    ENVELOPE_MAX_TO = 1024,
    ENVELOPE_MAX_NAMES = 64, /* top-level names, known and others */
    ENVELOPE_DEFAULT_DEPTH = 128,
};

struct envelope {
    struct str text; /* all of it, as received */
    struct str id;
    struct str from;
    struct str ts; /* ptr NULL when absent, like the next two */
    struct str correlation_id;
    struct str rule; /* that lets a proposal through (fulfilments) */
    struct str kind_text;
    struct kind kind; /* filled by kind_parse in admission, not by the scan; in slash
                       * spelling, whatever the dialect of the text */
    struct str raw_protocol; /* the values as they stand between their quotes */
    struct str raw_kind;
    struct json_span payload;
    struct json_span expires_at; /* text.ptr NULL when absent (proposals) */
    struct json_span edited;     /* likewise (fulfilments) */
    const struct str *to;
    size_t to_count;
};

/* What was wrong, for the error that goes back. */
struct envelope_problem {
    size_t at; /* byte offset into the text */
    struct str
        field; /* the field concerned, "" where there is none; static or borrowed */
    const char *what; /* static text */
};

/*
 * Scans a text of that dialect. OK, ERR_UTF8 (anywhere in the text, whatever else is
 * wrong with it), ERR_MALFORMED_ENVELOPE, ERR_UNSUPPORTED_PROTOCOL, ERR_TOO_LARGE (the
 * scratch arena is full). JSON that is broken anywhere comes before a foreign protocol,
 * and that before all other problems. On failure `ret` holds the text and the id only:
 * `ret->id` is set when exactly one well-formed `id` was read before the problem, so that
 * the error can name it. `problem` may be NULL.
 */
enum err envelope_scan(struct str text, size_t max_depth, enum dialect dialect,
                       struct arena *scratch, struct envelope *ret,
                       struct envelope_problem *problem);

/* Parses kind_text, which the dialect spells; from then on the kind is known in slash
 * spelling. Errors of kind_parse(). */
enum err envelope_read_dotted_kind(struct envelope *env, struct arena *scratch);
static inline enum err envelope_read_kind(struct envelope *env, enum dialect dialect,
                                          struct arena *scratch)
{
    if (dialect == DIALECT_DOTTED)
        return envelope_read_dotted_kind(env, scratch);
    env->kind.text = env->kind_text;
    return kind_parse(env->kind_text, &env->kind);
}

/* True when `to` names this participant; an envelope without `to` names nobody. */
bool envelope_names(const struct envelope *env, struct str id);

/* True where UTF-8 text holds a control character, NUL included: neither `id` nor `from`
 * does, the scan has seen to that. */
bool envelope_has_control(struct str s);
