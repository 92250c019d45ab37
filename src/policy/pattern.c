/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pattern is cut at its stars into segments of literal text:
 *
 *     mcp/r*:tools/call     "mcp/r"  ":tools/call"
 *     mcp/proposal:*        "mcp/proposal:"  ""
 *
 * The first segment begins the kind, the last one ends it (or the pattern ends in a star
 * and anything may follow), and each one between them is placed as far left as it goes.
 * That needs no second try: a star stops at ':', so if a segment may also stand further
 * right, no ':' lies between the two places, and the star that follows reaches from the
 * left one to wherever it would reach from the right one.
 *
 * Places are found with borders (Knuth, Morris, Pratt), and each search begins where the
 * one before ended, so a match takes at most two steps per byte of the kind, whatever the
 * pattern; the search for ':' in the gaps looks at each byte once more.
 *
 * Whether a pattern covers another is asked of the same matcher: the other one is written
 * down with a byte that no text holds in place of each star. No segment holds that byte,
 * so where the text matches, a star lies over it; and whatever the byte stands for, the
 * star takes as well, because a star that stops at ':' lies over inner stars only, which
 * stop there too: a star at the end has nothing behind it.
 */
#include "policy/pattern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "policy/policy_priv.h"

struct segment {
    uint16_t at; /* in the text */
    uint16_t len;
};

struct pattern {
    struct str text;
    uint16_t *borders;    /* per byte of the text, within its segment */
    enum dialect dialect; /* the spelling of the kinds it is matched with */
    bool ends_in_star;    /* the last segment is empty then */
    bool crosses_colons;  /* for values: no star stops at ':' */
    bool covers_contexts; /* names a METHOD: the same with a CONTEXT is covered */
    size_t count;         /* of segments: one more than stars */
    struct segment segments[];
};

_Static_assert(PATTERN_MAX_BYTES <= UINT16_MAX);

static const char anything = '\xff'; /* in place of a star; no byte of UTF-8 */

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

/* Spaces, the ASCII control characters, and U+0080 to U+009F. */
static bool has_forbidden(struct str text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];

        if (c <= ' ' || c == 0x7f)
            return true;
        if (c == 0xc2 && i + 1 < text.len && (unsigned char)text.ptr[i + 1] < 0xa0)
            return true;
    }
    return false;
}

static const char *why_refused_value(struct str text)
{
    if (text.len > PATTERN_MAX_BYTES)
        return "a pattern has at most 2048 bytes";
    if (!utf8_is_valid(text))
        return "a pattern must be UTF-8";
    return NULL;
}

static const char *why_refused(struct str text)
{
    const char *why = why_refused_value(text);

    if (why)
        return why;
    if (text.len == 0)
        return "a pattern cannot be empty";
    if (has_forbidden(text))
        return "a pattern cannot contain spaces or control characters";
    if (text.ptr[0] == '{')
        return "a pattern cannot begin with '{'";
    return NULL;
}

static size_t count_of(struct str text, char c)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == c;
    return count;
}

/* borders[i]: how much of the segment's beginning also ends at its byte i. */
static void find_borders(const char *text, size_t len, uint16_t *borders)
{
    size_t held = 0;

    for (size_t i = 1; i < len; i++) {
        while (held > 0 && text[i] != text[held])
            held = borders[held - 1];
        held += text[i] == text[held];
        borders[i] = (uint16_t)held;
    }
}

enum dialect pattern_dialect(struct str text)
{
    size_t at = 0;

    while (at < text.len &&
           ((text.ptr[at] >= 'a' && text.ptr[at] <= 'z') ||
            (text.ptr[at] >= '0' && text.ptr[at] <= '9') || text.ptr[at] == '-'))
        at++;
    return at < text.len && text.ptr[at] == '.' ? DIALECT_DOTTED : DIALECT_SLASH;
}

/* A star at the end takes the CONTEXT in as it is. */
bool pattern_covers_contexts(struct str text)
{
    size_t colons = count_of(text, ':');

    if (str_ends(text, S("*")))
        return false;
    if (pattern_dialect(text) == DIALECT_DOTTED)
        return colons == 0 && str_starts(text, S("mcp."));
    return colons == 1;
}

static void cut_at_stars(struct pattern *pattern)
{
    size_t at = 0;

    for (size_t i = 0; i < pattern->count; i++) {
        size_t end = str_find(pattern->text, '*', at);

        pattern->segments[i] = (struct segment){ (uint16_t)at, (uint16_t)(end - at) };
        find_borders(pattern->text.ptr + at, end - at, pattern->borders + at);
        at = end + 1;
    }
    pattern->ends_in_star = str_ends(pattern->text, S("*"));
}

/* With its own copy of the text, cut into segments. */
static struct pattern *compile(struct str text)
{
    size_t count = count_of(text, '*') + 1;
    struct pattern *pattern;
    size_t size = sizeof(*pattern) + count * sizeof(pattern->segments[0]);
    char *copy;

    pattern = xcalloc(1, size + text.len * (sizeof(pattern->borders[0]) + 1));
    pattern->count = count;
    pattern->borders = (uint16_t *)(void *)&pattern->segments[count];
    copy = (char *)(pattern->borders + text.len);
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    pattern->text = (struct str){ copy, text.len };
    cut_at_stars(pattern);
    return pattern;
}

enum err pattern_new(struct str text, struct pattern **ret, const char **ret_why)
{
    const char *why = why_refused(text);
    struct pattern *pattern;

    if (why)
        return refuse(why, ret_why);
    pattern = compile(text);
    pattern->dialect = pattern_dialect(pattern->text);
    pattern->covers_contexts = pattern_covers_contexts(pattern->text);
    *ret = pattern;
    return OK;
}

enum err pattern_new_value(struct str text, struct pattern **ret, const char **ret_why)
{
    const char *why = why_refused_value(text);

    if (why)
        return refuse(why, ret_why);
    *ret = compile(text);
    (*ret)->crosses_colons = true;
    return OK;
}

void pattern_free(struct pattern *pattern)
{
    free(pattern);
}

struct str pattern_text(const struct pattern *pattern)
{
    return pattern->text;
}

static struct str segment_text(const struct pattern *pattern, size_t i)
{
    const struct segment *segment = &pattern->segments[i];

    return (struct str){ pattern->text.ptr + segment->at, segment->len };
}

/* Where the character at `at` ends; beyond the kind if there is none. */
static size_t skip_character(struct str kind, size_t at)
{
    at++;
    while (at < kind.len && is_continuation(kind.ptr[at]))
        at++;
    return at;
}

/* The first place of segment `i` at or after `from`; beyond the kind if there is none. */
static size_t find_segment(const struct pattern *pattern, size_t i, struct str kind,
                           size_t from)
{
    const uint16_t *borders = pattern->borders + pattern->segments[i].at;
    struct str want = segment_text(pattern, i);
    size_t held = 0;

    if (want.len == 0)
        return from;
    for (size_t at = from; at < kind.len; at++) {
        while (held > 0 && kind.ptr[at] != want.ptr[held])
            held = borders[held - 1];
        held += kind.ptr[at] == want.ptr[held];
        if (held == want.len)
            return at + 1 - want.len;
    }
    return kind.len + 1;
}

/* May an inner star stand for what lies between? */
static bool star_spans(const struct pattern *pattern, struct str kind, size_t from,
                       size_t to)
{
    if (skip_character(kind, from) > to)
        return false;
    return pattern->crosses_colons || str_find(str_slice(kind, 0, to), ':', from) == to;
}

static bool matches_whole(const struct pattern *pattern, struct str kind)
{
    struct str first = segment_text(pattern, 0);
    size_t last = pattern->count - 1;
    struct str end = segment_text(pattern, last);
    size_t at = first.len;

    if (!str_starts(kind, first))
        return false;
    if (last == 0)
        return at == kind.len;
    for (size_t i = 1; i < last; i++) {
        size_t found = find_segment(pattern, i, kind, skip_character(kind, at));

        if (found > kind.len || !star_spans(pattern, kind, at, found))
            return false;
        at = found + pattern->segments[i].len;
    }
    if (pattern->ends_in_star)
        return at < kind.len;
    return str_ends(kind, end) && star_spans(pattern, kind, at, kind.len - end.len);
}

/* Up to the CONTEXT: `mcp/request:METHOD`, `mcp.request.METHOD`. */
static struct str without_context(const struct pattern *pattern, struct str kind)
{
    size_t colon = str_find(kind, ':', 0);

    if (pattern->dialect == DIALECT_SLASH)
        colon = str_find(kind, ':', colon + 1);
    return str_slice(kind, 0, colon);
}

/* The kind is in the pattern's spelling. */
static bool matches_spelt(const struct pattern *pattern, struct str kind)
{
    struct str method;

    if (matches_whole(pattern, kind))
        return true;
    if (!pattern->covers_contexts)
        return false;
    method = without_context(pattern, kind);
    return method.len < kind.len && matches_whole(pattern, method);
}

bool pattern_matches(const struct pattern *pattern, struct str kind)
{
    char space[KIND_MAX_BYTES];

    if (pattern->dialect == DIALECT_DOTTED && kind_to_dotted(kind, space, &kind))
        return false;
    return matches_spelt(pattern, kind);
}

static size_t shorter(size_t a, size_t b)
{
    return a < b ? a : b;
}

bool pattern_is_apart(const struct pattern *a, const struct pattern *b)
{
    struct str first = segment_text(a, 0);
    struct str other_first = segment_text(b, 0);
    struct str last = segment_text(a, a->count - 1);
    struct str other_last = segment_text(b, b->count - 1);
    size_t start = shorter(first.len, other_first.len);
    size_t end = shorter(last.len, other_last.len);

    if (a->count == 1)
        return !pattern_matches(b, a->text);
    if (b->count == 1)
        return !pattern_matches(a, b->text);
    return !str_eq(str_slice(first, 0, start), str_slice(other_first, 0, start)) ||
           !str_eq(str_slice(last, last.len - end, last.len),
                   str_slice(other_last, other_last.len - end, other_last.len));
}

bool pattern_covers(const struct pattern *held, const struct pattern *wanted)
{
    char copy[PATTERN_MAX_BYTES + 2];
    struct str text = { copy, wanted->text.len };

    /* Most that are compared begin differently. */
    if (held->dialect != wanted->dialect ||
        !str_starts(wanted->text, segment_text(held, 0)))
        return false;
    if (text.len)
        memcpy(copy, wanted->text.ptr, text.len);
    for (size_t i = 0; i < text.len; i++)
        if (copy[i] == '*')
            copy[i] = anything;
    if (!matches_spelt(held, text))
        return false;
    if (!wanted->covers_contexts)
        return true;
    copy[text.len] = ':';
    copy[text.len + 1] = anything;
    return matches_spelt(held, (struct str){ copy, text.len + 2 });
}
