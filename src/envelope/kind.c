/* SPDX-License-Identifier: Apache-2.0 */
#include "envelope/kind.h"

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/utf8.h"

/* Kinds that are one fixed text. */
static const struct {
    struct str text;
    enum kind_type type;
} plain_kinds[] = {
    /* clang-format off */
    { S("chat"),                KIND_CHAT },
    { S("mcp/approve"),         KIND_APPROVE },
    { S("mcp/withdraw"),        KIND_WITHDRAW },
    { S("mcp/reject"),          KIND_REJECT },
    { S("participant/routing"), KIND_ROUTING },
    /* clang-format on */
};

/* Kinds that name a METHOD and perhaps a CONTEXT. */
static const struct {
    struct str prefix;
    enum kind_type type;
} method_kinds[] = {
    /* clang-format off */
    { S("mcp/request:"),  KIND_REQUEST },
    { S("mcp/response:"), KIND_RESPONSE },
    { S("mcp/proposal:"), KIND_PROPOSAL },
    /* clang-format on */
};

/* First words that no other kind may have. */
static const struct str taken_words[] = {
    S("mcp"), S("mcpx"), S("chat"), S("system"), S("presence"),
};

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_byte(char c)
{
    return is_lower(c) || is_digit(c) || c == '-';
}

static bool begins_segment(char c)
{
    return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_segment_byte(char c)
{
    return begins_segment(c) || c == '.' || c == '-';
}

/* Parts between slashes: each a first byte, then any number of further ones. */
static bool is_path(struct str s, bool (*begins)(char), bool (*goes_on)(char))
{
    bool is_first = true;

    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];

        if (c == '/' && !is_first)
            is_first = true;
        else if (is_first ? begins(c) : goes_on(c))
            is_first = false;
        else
            return false;
    }
    return !is_first;
}

/* Control characters, white space and separators of Unicode, and the wildcard. */
static bool is_outside_context(uint32_t cp)
{
    if (cp < 0x80)
        return cp <= ' ' || cp == 0x7f || cp == '*';
    return cp <= 0xa0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200a) || cp == 0x2028 ||
           cp == 0x2029 || cp == 0x202f || cp == 0x205f || cp == 0x3000;
}

static bool is_context(struct str s)
{
    bool is_empty = s.len == 0;

    while (s.len) {
        uint32_t cp = 0;
        size_t len = utf8_read(s, &cp);

        if (len == 0 || is_outside_context(cp))
            return false;
        s = str_slice(s, len, s.len);
    }
    return !is_empty;
}

/* METHOD[:CONTEXT], the kind apart. */
static enum err parse_method(struct str rest, struct kind *ret)
{
    struct str method = str_cut(&rest, ':');

    if (!is_path(method, begins_segment, is_segment_byte))
        return ERR_MALFORMED_KIND;
    if (rest.ptr && !is_context(rest))
        return ERR_MALFORMED_KIND;
    ret->method = method;
    ret->context = rest;
    return OK;
}

static bool is_reserved(struct str text)
{
    return str_eq(text, S("system")) || str_starts(text, S("system/")) ||
           str_eq(text, S("presence"));
}

static bool is_other(struct str text)
{
    struct str rest = text;
    struct str first = str_cut(&rest, '/');

    for (size_t i = 0; i < COUNT(taken_words); i++)
        if (str_eq(first, taken_words[i]))
            return false;
    return is_path(text, is_lower, is_word_byte);
}

static enum err parse_type(struct kind *kind)
{
    for (size_t i = 0; i < COUNT(method_kinds); i++)
        if (str_starts(kind->text, method_kinds[i].prefix)) {
            kind->type = method_kinds[i].type;
            return parse_method(
                str_slice(kind->text, method_kinds[i].prefix.len, kind->text.len), kind);
        }
    for (size_t i = 0; i < COUNT(plain_kinds); i++)
        if (str_eq(kind->text, plain_kinds[i].text)) {
            kind->type = plain_kinds[i].type;
            return OK;
        }
    kind->type = KIND_OTHER;
    return is_other(kind->text) ? OK : ERR_MALFORMED_KIND;
}

enum err kind_parse(struct str text, struct kind *ret)
{
    struct kind kind = { .text = text };
    enum err err;

    if (text.len > KIND_MAX_BYTES)
        return ERR_MALFORMED_KIND;
    if (is_reserved(text))
        return ERR_RESERVED_NAMESPACE;
    err = parse_type(&kind);
    if (!err)
        *ret = kind;
    return err;
}
