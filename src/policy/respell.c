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

CLEANUP_FOR(struct pattern, pattern_free)

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

/* Does `held` cover the pattern with this text? */
static bool covers_text(const struct pattern *held, struct str text)
{
    CLEANUP(pattern_freep) struct pattern *wanted = NULL;

    return !pattern_new(text, &wanted, NULL) && pattern_covers(held, wanted);
}

/* Does the pattern with this text cover `wanted`? */
static bool text_covers(struct str text, const struct pattern *wanted)
{
    CLEANUP(pattern_freep) struct pattern *held = NULL;

    return !pattern_new(text, &held, NULL) && pattern_covers(held, wanted);
}

/* Through the equals of `wanted` in the spelling of `held`: all of them. */
static bool covers_equals(const struct pattern *held, const struct pattern *wanted)
{
    enum dialect to = pattern_dialect(pattern_text(held));
    char space[KIND_MAX_BYTES];
    struct str equal[RESPELL_MAX];
    size_t count = respell_pattern(pattern_text(wanted), to, space, equal);

    for (size_t i = 0; i < count; i++)
        if (!covers_text(held, equal[i]))
            return false;
    return true;
}

/* Through the equals of `held` in the spelling of `wanted`: one of them. */
static bool equals_cover(const struct pattern *held, const struct pattern *wanted)
{
    enum dialect to = pattern_dialect(pattern_text(wanted));
    char space[KIND_MAX_BYTES];
    struct str equal[RESPELL_MAX];
    size_t count = respell_pattern(pattern_text(held), to, space, equal);

    for (size_t i = 0; i < count; i++)
        if (text_covers(equal[i], wanted))
            return true;
    return false;
}

bool respell_covers(const struct pattern *held, const struct pattern *wanted)
{
    return covers_equals(held, wanted) || equals_cover(held, wanted);
}
