/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/template.h"

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

/* What a variable is named with. */
static bool is_varchar(char c)
{
    return is_alnum(c) || c == '_' || c == '.';
}

const char *template_fault(struct str template)
{
    size_t names = 0;

    for (size_t i = 0; i < template.len; i++) {
        size_t start = i + 1;

        if (template.ptr[i] == '}')
            return "there is a } without its {";
        if (template.ptr[i] != '{')
            continue;
        do
            i++;
        while (i < template.len && is_varchar(template.ptr[i]));
        if (i == template.len || template.ptr[i] != '}' || i == start)
            return "between { and } stands one name of letters, digits, _ and .";
        names++;
    }
    return names ? NULL : "there is no {name} in it";
}

/* How many bytes of a URI the next character of a variable takes; 0: it is none. */
static size_t value_step(struct str uri, size_t at)
{
    char c;

    if (at == uri.len)
        return 0;
    c = uri.ptr[at];
    if (is_alnum(c) || c == '-' || c == '.' || c == '_' || c == '~')
        return 1;
    if (c == '%' && uri.len - at >= 3 && str_hex_digit(uri.ptr[at + 1]) >= 0 &&
        str_hex_digit(uri.ptr[at + 2]) >= 0)
        return 3;
    return 0;
}

/*
 * As for patterns with stars, only the last variable is ever made longer: had an earlier
 * one to be, the text behind it would consist of characters that the later one takes as
 * well.
 */
bool template_matches(struct str template, struct str uri)
{
    size_t t = 0, u = 0;
    size_t behind = 0, until = 0; /* the last variable: what follows it, where it ends */

    for (;;) {
        if (t < template.len && template.ptr[t] == '{') {
            behind = str_find(template, '}', t) + 1;
            until = u;
        } else if (t < template.len && u < uri.len && template.ptr[t] == uri.ptr[u]) {
            t++;
            u++;
            continue;
        } else if (t == template.len && u == uri.len) {
            return true;
        }
        if (behind == 0 || value_step(uri, until) == 0)
            return false;
        until += value_step(uri, until);
        t = behind;
        u = until;
    }
}

/* --- for refusing --- */

enum { MAY_STEPS = 1 << 20 }; /* who needs more is not looked at any further */

/* A character at a place, decoded: lower case. */
static int letter_at(struct str text, size_t at, size_t *ret_len)
{
    int high = -1, low = -1;
    unsigned char c = (unsigned char)text.ptr[at];

    *ret_len = 1;
    if (c == '%' && text.len - at >= 3) {
        high = str_hex_digit(text.ptr[at + 1]);
        low = str_hex_digit(text.ptr[at + 2]);
    }
    if (high >= 0 && low >= 0) {
        c = (unsigned char)(high * 16 + low);
        *ret_len = 3;
    }
    return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* An expression begins here that also ends. */
static bool is_expression(struct str template, size_t at)
{
    return at < template.len && template.ptr[at] == '{' &&
           str_find(template, '}', at) < template.len;
}

/* {+a}, {#a}, {/a}, {;a}, {?a}, {&a}, and whatever is to come. */
static bool is_wide(struct str template, size_t at)
{
    return template.ptr[at + 1] != '.' && !is_varchar(template.ptr[at + 1]) &&
           template.ptr[at + 1] != '%';
}

static bool is_same(struct str template, size_t *t, struct str uri, size_t *u)
{
    size_t t_len, u_len;

    if (*t == template.len || *u == uri.len ||
        letter_at(template, *t, &t_len) != letter_at(uri, *u, &u_len))
        return false;
    *t += t_len;
    *u += u_len;
    return true;
}

/* Where to go on when what follows an expression does not fit: one character later. */
struct retreat {
    bool is_set;
    size_t t, u;
};

static bool retreat_to(struct retreat *from, struct str uri, size_t *t, size_t *u)
{
    if (!from->is_set || from->u == uri.len)
        return false;
    *t = from->t;
    *u = ++from->u;
    return true;
}

/* The last narrow expression is made longer, up to a slash; then the last wide one. */
struct may_match {
    struct str template, uri;
    struct retreat narrow, wide;
    size_t t, u;
};

static void enter_expression(struct may_match *m)
{
    struct retreat here = { true, str_find(m->template, '}', m->t) + 1, m->u };

    if (is_wide(m->template, m->t))
        m->wide = here;
    m->narrow = here;
    m->narrow.is_set = !is_wide(m->template, m->t);
    m->t = here.t;
}

static bool fall_back(struct may_match *m)
{
    struct retreat *narrow = &m->narrow;

    if (narrow->is_set && narrow->u < m->uri.len && m->uri.ptr[narrow->u] == '/')
        narrow->is_set = false;
    if (retreat_to(narrow, m->uri, &m->t, &m->u))
        return true;
    narrow->is_set = false;
    return retreat_to(&m->wide, m->uri, &m->t, &m->u);
}

bool template_may_match(struct str template, struct str uri)
{
    struct may_match m = { .template = template, .uri = uri };

    for (size_t steps = 0; steps < MAY_STEPS; steps++) {
        if (is_expression(template, m.t))
            enter_expression(&m);
        else if (m.t == template.len && m.u == uri.len)
            return true;
        else if (!is_same(template, &m.t, uri, &m.u) && !fall_back(&m))
            return false;
    }
    return true;
}
