/* SPDX-License-Identifier: Apache-2.0 */
/*
 * D14 written down as plainly as possible, to compare the compiled matcher with. For each
 * character of the pattern it keeps the set of places in the kind that are reached after
 * it.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "base/str.h"
#include "envelope/dialect.h"

enum { MODEL_MAX_KIND = 4096 };

/* The length of the character at `at`: a byte and the UTF-8 continuation bytes behind. */
static inline size_t model_character(struct str kind, size_t at)
{
    size_t len = 1;

    while (at + len < kind.len && ((unsigned char)kind.ptr[at + len] & 0xc0) == 0x80)
        len++;
    return len;
}

/* One or more characters; only the star at the end may take a ':'. Both steps return
 * whether any place was reached. */
static inline bool model_star(struct str kind, bool is_last, const bool *before,
                              bool *after)
{
    bool reached = false;

    for (size_t at = 0; at < kind.len; at++)
        if ((before[at] || after[at]) && (is_last || kind.ptr[at] != ':'))
            reached = after[at + model_character(kind, at)] = true;
    return reached;
}

static inline bool model_literal(struct str kind, char c, const bool *before, bool *after)
{
    bool reached = false;

    for (size_t at = 0; at < kind.len; at++)
        if (before[at] && kind.ptr[at] == c)
            reached = after[at + 1] = true;
    return reached;
}

static inline bool model_matches_whole(struct str pattern, struct str kind)
{
    static bool rows[2][MODEL_MAX_KIND + 1];
    bool reached = true;

    memset(rows[0], 0, kind.len + 1);
    rows[0][0] = true;
    for (size_t i = 0; reached && i < pattern.len; i++) {
        bool *after = rows[(i + 1) % 2];

        memset(after, 0, kind.len + 1);
        if (pattern.ptr[i] == '*')
            reached = model_star(kind, i + 1 == pattern.len, rows[i % 2], after);
        else
            reached = model_literal(kind, pattern.ptr[i], rows[i % 2], after);
    }
    return reached && rows[pattern.len % 2][kind.len];
}

static inline size_t model_colons(struct str text)
{
    size_t count = 0;

    for (size_t i = 0; i < text.len; i++)
        count += text.ptr[i] == ':';
    return count;
}

static inline size_t model_word(struct str text)
{
    static const char bytes[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    size_t len = 0;

    while (len < text.len && text.ptr[len] && strchr(bytes, text.ptr[len]))
        len++;
    return len;
}

/* A '.' behind the first word. */
static inline bool model_is_dotted(struct str pattern)
{
    size_t end = model_word(pattern);

    return end < pattern.len && pattern.ptr[end] == '.';
}

/* Slash: whole, or a pattern with one ':' and the part of the kind before its second
 * ':'. */
static inline bool model_matches_slash(struct str pattern, struct str kind)
{
    size_t end;

    if (model_matches_whole(pattern, kind))
        return true;
    if (model_colons(pattern) != 1 || model_colons(kind) < 2)
        return false;
    end = str_find(kind, ':', str_find(kind, ':', 0) + 1);
    return model_matches_whole(pattern, str_slice(kind, 0, end));
}

/* Dotted: whole, or a pattern of mcp without ':' and the part before the first ':'. A
 * star at the end takes the rest in anyway. */
static inline bool model_matches_dotted(struct str pattern, struct str kind)
{
    if (model_matches_whole(pattern, kind))
        return true;
    if (model_colons(pattern) != 0 || !str_starts(pattern, S("mcp.")))
        return false;
    return model_matches_whole(pattern, str_slice(kind, 0, str_find(kind, ':', 0)));
}

/* `kind` is in slash spelling. */
static inline bool model_matches(struct str pattern, struct str kind)
{
    char space[KIND_MAX_BYTES];

    if (!model_is_dotted(pattern))
        return model_matches_slash(pattern, kind);
    return !kind_to_dotted(kind, space, &kind) && model_matches_dotted(pattern, kind);
}
