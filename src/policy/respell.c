/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three rules, each of which keeps the meaning:
 *
 *     a whole namespace    a row of the table below
 *     mcpx.…, chat.…       those of their few kinds that it matches
 *     all else             as if it were a kind, with stars as parts of its words:
 *                          behind mcp/OP: and mcp.OP. both spellings are the same text,
 *                          and elsewhere one separator stands for the other
 *
 * The last needs the first word in full: a star in it would reach over both namespaces
 * and separators.
 */
#include "policy/respell.h"

#include "base/cleanup.h"
#include "policy/pattern.h"

_Static_assert((int)PATTERN_MAX_BYTES <= (int)KIND_MAX_BYTES);

/* clang-format off */
static const struct {
    struct str pattern;
    struct str equal[RESPELL_MAX];
} namespaces[] = {
    { S("mcp/*"), { S("mcp.*"), S("mcpx.withdraw.*"), S("mcpx.reject.*"),
                    S("mcpx.approve.*") } },
    { S("mcp.*"), { S("mcp/request:*"), S("mcp/response:*"), S("mcp/proposal:*") } },
};

/* The kinds of `mcpx.…` and `chat.…`: there are no others. */
static const struct str fixed_kinds[RESPELL_MAX] = {
    S("mcp/withdraw"), S("mcp/reject"), S("mcp/approve"), S("chat"),
};
/* clang-format on */

static size_t as_namespace(struct str pattern, struct str *ret)
{
    for (size_t i = 0; i < COUNT(namespaces); i++) {
        size_t count = 0;

        if (!str_eq(pattern, namespaces[i].pattern))
            continue;
        for (; count < RESPELL_MAX && namespaces[i].equal[count].len; count++)
            ret[count] = namespaces[i].equal[count];
        return count;
    }
    return 0;
}

static size_t as_fixed(struct str text, struct str *ret)
{
    struct pattern *pattern;
    size_t count = 0;

    if (!str_starts(text, S("mcpx.")) && !str_starts(text, S("chat.")))
        return 0;
    if (pattern_new(text, &pattern, NULL))
        return 0;
    for (size_t i = 0; i < COUNT(fixed_kinds); i++)
        if (pattern_matches(pattern, fixed_kinds[i]))
            ret[count++] = fixed_kinds[i];
    pattern_free(pattern);
    return count;
}

static size_t as_kind(struct str pattern, enum dialect to, char *space, struct str *ret)
{
    struct str kind;
    enum err err = to == DIALECT_DOTTED ? kind_to_dotted(pattern, space, &kind)
                                        : kind_to_slash(pattern, space, &kind);

    if (err || pattern_dialect(kind) != to)
        return 0;
    ret[0] = kind;
    return 1;
}

size_t respell_pattern(struct str pattern, enum dialect to, char *space,
                       struct str ret[RESPELL_MAX])
{
    size_t count = 0;

    if (pattern_dialect(pattern) != to) {
        count = as_namespace(pattern, ret);
        if (!count)
            count = as_fixed(pattern, ret);
        if (!count)
            count = as_kind(pattern, to, space, ret);
    }
    if (count)
        return count;
    ret[0] = pattern;
    return 1;
}

static enum dialect dialect_of(const struct respelt *respelt)
{
    return pattern_dialect(pattern_text(respelt->as_written));
}

static enum dialect other_dialect(enum dialect dialect)
{
    return dialect == DIALECT_SLASH ? DIALECT_DOTTED : DIALECT_SLASH;
}

void respelt_init(struct respelt *respelt, const struct pattern *pattern)
{
    char space[KIND_MAX_BYTES];
    struct str texts[RESPELL_MAX];
    enum dialect to = other_dialect(pattern_dialect(pattern_text(pattern)));
    size_t count = respell_pattern(pattern_text(pattern), to, space, texts);

    *respelt = (struct respelt){ .as_written = pattern };
    for (size_t i = 0; i < count; i++) {
        struct pattern **equal = &respelt->equals[respelt->count];

        if (pattern_dialect(texts[i]) == to && pattern_new(texts[i], equal, NULL) == OK)
            respelt->count++;
    }
    if (respelt->count == count)
        return;
    respelt_done(respelt); /* less than all of them would say less */
    *respelt = (struct respelt){ .as_written = pattern };
}

void respelt_done(struct respelt *respelt)
{
    for (size_t i = 0; i < respelt->count; i++)
        pattern_free(respelt->equals[i]);
}

/* Through the equals of `wanted` in the spelling of `held`: all of them. */
static bool covers_equals(const struct respelt *held, const struct respelt *wanted)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (!pattern_covers(held->as_written, wanted->equals[i]))
            return false;
    return wanted->count > 0;
}

/* Through the equals of `held`, in the spelling of `wanted`: one of them. */
static bool equals_cover(const struct respelt *held, const struct pattern *wanted)
{
    for (size_t i = 0; i < held->count; i++)
        if (pattern_covers(held->equals[i], wanted))
            return true;
    return false;
}

/* It needs no equal: whatever the spelling, it is all there is. */
static bool is_everything(const struct respelt *respelt)
{
    return str_eq(pattern_text(respelt->as_written), S("*"));
}

bool respelt_covers(const struct respelt *held, const struct respelt *wanted)
{
    if (is_everything(held))
        return true;
    if (dialect_of(held) == dialect_of(wanted))
        return pattern_covers(held->as_written, wanted->as_written);
    return covers_equals(held, wanted) || equals_cover(held, wanted->as_written);
}

/* In one spelling what covers is transitive. What is shown through the equals of `wanted`
 * needs equals of `held` that show it too. */
bool respelt_covers_all_of(const struct respelt *held, const struct respelt *wanted)
{
    if (is_everything(held))
        return true;
    if (dialect_of(held) != dialect_of(wanted) ||
        !pattern_covers(held->as_written, wanted->as_written))
        return false;
    for (size_t i = 0; i < wanted->count; i++)
        if (!equals_cover(held, wanted->equals[i]))
            return false;
    return true;
}
