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
