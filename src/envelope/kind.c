/* SPDX-License-Identifier: Apache-2.0 */
#include "envelope/kind.h"

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "envelope/envelope_priv.h"

/* clang-format off */
const struct kind_row plain_kinds[PLAIN_KINDS] = {
    { S("chat"),                S("chat.message"),           KIND_CHAT },
    { S("mcp/approve"),         S("mcpx.approve.proposal"),  KIND_APPROVE },
    { S("mcp/withdraw"),        S("mcpx.withdraw.proposal"), KIND_WITHDRAW },
    { S("mcp/reject"),          S("mcpx.reject.proposal"),   KIND_REJECT },
    { S("participant/routing"), S("participant.routing"),    KIND_ROUTING },
    { S("participant/pause"),   S("participant.pause"),      KIND_COMMAND },
    { S("participant/resume"),  S("participant.resume"),     KIND_COMMAND },
    { S("participant/kick"),    S("participant.kick"),       KIND_COMMAND },
    { S("capability/grant"),    S("capability.grant"),       KIND_COMMAND },
    { S("capability/revoke"),   S("capability.revoke"),      KIND_COMMAND },
    { S("topic/invite"),        S("topic.invite"),           KIND_COMMAND },
    { S("topic/set"),           S("topic.set"),              KIND_COMMAND },
    { S("rule/suggest"),        S("rule.suggest"),           KIND_COMMAND },
    { S("rule/add"),            S("rule.add"),               KIND_COMMAND },
    { S("rule/accept"),         S("rule.accept"),            KIND_COMMAND },
    { S("rule/decline"),        S("rule.decline"),           KIND_COMMAND },
    { S("rule/disable"),        S("rule.disable"),           KIND_COMMAND },
    { S("rule/enable"),         S("rule.enable"),            KIND_COMMAND },
    { S("rule/remove"),         S("rule.remove"),            KIND_COMMAND },
};

const struct kind_row method_kinds[METHOD_KINDS] = {
    { S("mcp/request:"),  S("mcp.request."),  KIND_REQUEST },
    { S("mcp/response:"), S("mcp.response."), KIND_RESPONSE },
    { S("mcp/proposal:"), S("mcp.proposal."), KIND_PROPOSAL },
};
/* clang-format on */

/* First words that no other kind may have. */
static const struct str taken_words[] = {
    S("mcp"), S("mcpx"), S("chat"), S("system"), S("presence"),
};

/* What a byte may do in the parts of a kind. */
enum {
    WORD_FIRST = 1 << 0, /* words: kinds of other protocols */
    WORD = 1 << 1,
    SEGMENT_FIRST = 1 << 2, /* segments: methods */
    SEGMENT = 1 << 3,
};

/* clang-format off */
static const uint8_t byte_uses[UINT8_MAX + 1] = {
    ['a' ... 'z'] = WORD_FIRST | WORD | SEGMENT_FIRST | SEGMENT,
    ['0' ... '9'] =              WORD | SEGMENT_FIRST | SEGMENT,
    ['A' ... 'Z'] =                     SEGMENT_FIRST | SEGMENT,
    ['_']         =                     SEGMENT_FIRST | SEGMENT,
    ['.']         =                                     SEGMENT,
    ['-']         =              WORD |                 SEGMENT,
};
/* clang-format on */

/* Parts between slashes: each a first byte, then any number of further ones. */
static bool is_path(struct str s, unsigned first, unsigned further)
{
    unsigned wanted = first;

    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.ptr[i];

        if (byte_uses[c] & wanted)
            wanted = further;
        else if (c == '/' && wanted == further)
            wanted = first;
        else
            return false;
    }
    return wanted == further;
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

    if (!is_path(method, SEGMENT_FIRST, SEGMENT))
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
    return is_path(text, WORD_FIRST, WORD) && !kind_refused(text).len;
}

static enum err parse_type(struct kind *kind)
{
    for (size_t i = 0; i < METHOD_KINDS; i++)
        if (str_starts(kind->text, method_kinds[i].slash)) {
            kind->type = method_kinds[i].type;
            return parse_method(
                str_slice(kind->text, method_kinds[i].slash.len, kind->text.len), kind);
        }
    for (size_t i = 0; i < PLAIN_KINDS; i++)
        if (str_eq(kind->text, plain_kinds[i].slash)) {
            kind->type = plain_kinds[i].type;
            return OK;
        }
    if (is_reserved(kind->text))
        return ERR_RESERVED_NAMESPACE;
    kind->type = KIND_OTHER;
    return is_other(kind->text) ? OK : ERR_MALFORMED_KIND;
}

enum err kind_parse(struct str text, struct kind *ret)
{
    struct kind kind = { .text = text };
    enum err err;

    if (text.len > KIND_MAX_BYTES)
        return ERR_MALFORMED_KIND;
    err = parse_type(&kind);
    if (!err)
        *ret = kind;
    return err;
}
