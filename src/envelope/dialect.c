/* SPDX-License-Identifier: Apache-2.0 */
#include "envelope/dialect.h"

#include <stddef.h>
#include <string.h>

#include "base/cleanup.h"
#include "envelope/envelope_priv.h"

/* clang-format off */
static const struct {
    struct str name, protocol, subprotocol;
    char separator;
} dialects[DIALECT_COUNT] = {
    [DIALECT_SLASH]  = { S("slash"),  S("mcpx/v0.1"),  S("mcpx.v0.1"),  '/' },
    [DIALECT_DOTTED] = { S("dotted"), S("mcpx/draft"), S("mcpx.draft"), '.' },
};

/* Forms of ADR-m3p and of earlier drafts that the migration list does not have. */
static const struct {
    struct str text, meant;
} refused[] = {
    { S("chat.message.text"),          S("chat") },
    { S("system.welcome.participant"), S("system/welcome") },
    { S("system.presence.join"),       S("system/presence") },
    { S("system.presence.leave"),      S("system/presence") },
    { S("system.error.capability"),    S("system/error") },
    { S("proposal/withdraw"),          S("mcp/withdraw") },
    { S("proposal/reject"),            S("mcp/reject") },
    { S("proposal.withdraw"),          S("mcp/withdraw") },
    { S("proposal.reject"),            S("mcp/reject") },
};

/* First words whose kinds are all rows of the table. */
static const struct str row_words[] = { S("mcp"), S("mcpx"), S("chat") };
/* clang-format on */

struct str dialect_name(enum dialect dialect)
{
    return dialects[dialect].name;
}

bool dialect_parse(struct str name, enum dialect *ret)
{
    for (size_t i = 0; i < DIALECT_COUNT; i++)
        if (str_eq(dialects[i].name, name)) {
            *ret = (enum dialect)i;
            return true;
        }
    return false;
}

struct str dialect_protocol(enum dialect dialect)
{
    return dialects[dialect].protocol;
}

struct str dialect_subprotocol(enum dialect dialect)
{
    return dialects[dialect].subprotocol;
}

struct str kind_refused(struct str text)
{
    for (size_t i = 0; i < COUNT(refused); i++)
        if (str_eq(text, refused[i].text))
            return refused[i].meant;
    return S("");
}

static struct str spelling(const struct kind_row *row, enum dialect dialect)
{
    return dialect == DIALECT_SLASH ? row->slash : row->dotted;
}

static struct str joined(struct str a, struct str b, char *space)
{
    memcpy(space, a.ptr, a.len);
    if (b.len)
        memcpy(space + a.len, b.ptr, b.len);
    return (struct str){ space, a.len + b.len };
}

/* Words with one separator instead of the other; neither may stand in a word. */
static enum err respell_words(struct str text, enum dialect from, char *space,
                              struct str *ret)
{
    char old = dialects[from].separator;
    char new = dialects[dialect_other(from)].separator;
    struct str rest = text;
    struct str first = str_cut(&rest, old);

    for (size_t i = 0; i < COUNT(row_words); i++)
        if (str_eq(first, row_words[i]))
            return ERR_MALFORMED_KIND;
    if (str_find(text, new, 0) < text.len || str_find(text, ':', 0) < text.len ||
        kind_refused(text).len)
        return ERR_MALFORMED_KIND;
    if (!rest.ptr) {
        *ret = text;
        return OK;
    }
    for (size_t i = 0; i < text.len; i++)
        space[i] = (char)(text.ptr[i] == old ? new : text.ptr[i]);
    *ret = (struct str){ space, text.len };
    return OK;
}

/* The beginnings have the same length in both spellings, so nothing outgrows the space.
 */
static enum err respell(struct str text, enum dialect from, char *space, struct str *ret)
{
    enum dialect to = dialect_other(from);

    if (text.len > KIND_MAX_BYTES)
        return ERR_MALFORMED_KIND;
    for (size_t i = 0; i < METHOD_KINDS; i++) {
        struct str prefix = spelling(&method_kinds[i], from);

        if (!str_starts(text, prefix))
            continue;
        *ret = joined(spelling(&method_kinds[i], to),
                      str_slice(text, prefix.len, text.len), space);
        return OK;
    }
    for (size_t i = 0; i < PLAIN_KINDS; i++)
        if (str_eq(text, spelling(&plain_kinds[i], from))) {
            *ret = spelling(&plain_kinds[i], to);
            return OK;
        }
    return respell_words(text, from, space, ret);
}

enum err kind_to_dotted(struct str slash, char *space, struct str *ret)
{
    return respell(slash, DIALECT_SLASH, space, ret);
}

enum err kind_to_slash(struct str dotted, char *space, struct str *ret)
{
    return respell(dotted, DIALECT_DOTTED, space, ret);
}

struct str kind_in(struct str slash, enum dialect dialect, char *space)
{
    struct str ret = slash;

    if (dialect == DIALECT_DOTTED)
        (void)kind_to_dotted(slash, space, &ret);
    return ret;
}

struct str kind_meant(struct str text, enum dialect dialect, char *space)
{
    struct str meant = kind_refused(text);
    struct str slash = text;
    struct kind kind;

    if (meant.len)
        return kind_in(meant, dialect, space);
    if (dialect == DIALECT_SLASH && kind_to_slash(text, space, &slash))
        return S("");
    if (kind_parse(slash, &kind))
        return S("");
    return kind_in(slash, dialect, space);
}
