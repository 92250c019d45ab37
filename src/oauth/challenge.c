/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A field is a list in which commas separate both challenges and their parameters:
 *
 *     Basic realm="a, b", Bearer scope="x y", error=invalid_token, Negotiate dGVzdA==
 *
 * A token that "=" follows is a parameter of the scheme before it; any other begins a
 * challenge, perhaps with one bare value (token68) behind it.
 */
#include "oauth/challenge.h"

#include <stdbool.h>

#include "base/cleanup.h"

struct reader {
    struct str text;
    size_t at;
    struct arena *arena;
};

static bool is_token(char c)
{
    bool is_alnum = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');

    return is_alnum || (c && str_find(S("!#$%&'*+-.^_`|~"), c, 0) < 15);
}

static bool is_at_end(const struct reader *r)
{
    return r->at >= r->text.len;
}

static char peek(const struct reader *r)
{
    if (is_at_end(r))
        return '\0';
    return r->text.ptr[r->at];
}

static void skip(struct reader *r, struct str what)
{
    while (!is_at_end(r) && str_find(what, peek(r), 0) < what.len)
        r->at++;
}

static struct str read_token(struct reader *r)
{
    size_t from = r->at;

    while (is_token(peek(r)))
        r->at++;
    return str_slice(r->text, from, r->at);
}

static enum err unescape(struct reader *r, struct str raw, struct str *ret)
{
    char *out = arena_alloc(r->arena, raw.len + 1);
    size_t len = 0;

    if (!out)
        return ERR_TOO_BIG;
    for (size_t i = 0; i < raw.len; i++) {
        if (raw.ptr[i] == '\\')
            i++;
        out[len++] = raw.ptr[i];
    }
    *ret = (struct str){ out, len };
    return OK;
}

static enum err read_quoted(struct reader *r, struct str *ret)
{
    size_t from = ++r->at;
    bool has_escape = false;

    for (; !is_at_end(r) && peek(r) != '"'; r->at++) {
        if (peek(r) == '\\') {
            has_escape = true;
            r->at++;
        }
    }
    if (is_at_end(r))
        return ERR_INVALID;
    *ret = str_slice(r->text, from, r->at++);
    return has_escape ? unescape(r, *ret, ret) : OK;
}

/* Behind a name: the value, if "=" follows. ERR_NOT_FOUND: it is no parameter. */
static enum err read_value(struct reader *r, struct str *ret)
{
    size_t back = r->at;

    skip(r, S(" \t"));
    if (peek(r) != '=') {
        r->at = back;
        return ERR_NOT_FOUND;
    }
    r->at++;
    skip(r, S(" \t"));
    if (peek(r) == '"')
        return read_quoted(r, ret);
    *ret = read_token(r);
    return ret->len ? OK : ERR_INVALID;
}

static void take(struct bearer_challenge *challenge, struct str name, struct str value)
{
    const struct {
        struct str name;
        struct str *place;
    } wanted[] = {
        { S("resource_metadata"), &challenge->resource_metadata },
        { S("scope"), &challenge->scope },
        { S("error"), &challenge->error },
    };

    for (size_t i = 0; i < COUNT(wanted); i++)
        if (str_ieq(name, wanted[i].name) && wanted[i].place->len == 0)
            *wanted[i].place = value;
}

/* A bare value behind a scheme, of which nothing is wanted. */
static void skip_bare(struct reader *r)
{
    skip(r, S(" \t"));
    for (size_t at = r->at; at <= r->text.len; at++) {
        if (at == r->text.len || r->text.ptr[at] == ',') {
            r->at = at;
            return;
        }
        if (!is_token(r->text.ptr[at]) && r->text.ptr[at] != '/' &&
            r->text.ptr[at] != '=')
            return;
    }
}

/* The parameters of one challenge; stops where the next one begins. */
static enum err read_parameters(struct reader *r, struct bearer_challenge *into)
{
    for (;;) {
        size_t back;
        struct str name, value;
        enum err err;

        skip(r, S(" \t,"));
        back = r->at;
        name = read_token(r);
        if (name.len == 0)
            return is_at_end(r) ? OK : ERR_INVALID;
        err = read_value(r, &value);
        if (err == ERR_NOT_FOUND) {
            r->at = back;
            return OK;
        }
        if (err)
            return err;
        take(into, name, value);
    }
}

/* ERR_NOT_FOUND: the field is over. */
static enum err read_challenge(struct reader *r, struct str *ret_scheme,
                               struct bearer_challenge *ret)
{
    skip(r, S(" \t,"));
    if (is_at_end(r))
        return ERR_NOT_FOUND;
    *ret_scheme = read_token(r);
    if (ret_scheme->len == 0)
        return ERR_INVALID;
    if (!str_ieq(*ret_scheme, S("Bearer"))) {
        size_t back = r->at;

        skip_bare(r);
        if (str_find(str_slice(r->text, back, r->at), '=', 0) < r->at - back &&
            r->text.ptr[r->at - 1] != '=')
            r->at = back; /* these were parameters */
    }
    return read_parameters(r, ret);
}

static enum err read_field(struct reader *r, struct bearer_challenge *ret)
{
    for (;;) {
        struct bearer_challenge challenge = {};
        struct str scheme;
        enum err err = read_challenge(r, &scheme, &challenge);

        if (err)
            return err;
        if (str_ieq(scheme, S("Bearer"))) {
            *ret = challenge;
            return OK;
        }
    }
}

enum err bearer_challenge_read(struct str fields, struct arena *arena,
                               struct bearer_challenge *ret)
{
    enum err err = ERR_NOT_FOUND;

    while (fields.ptr && err == ERR_NOT_FOUND) {
        struct reader r = { .text = str_cut(&fields, '\n'), .arena = arena };

        err = read_field(&r, ret);
    }
    return err;
}
