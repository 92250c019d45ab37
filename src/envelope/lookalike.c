/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folding goes code point by code point. That is exact where the result is ASCII: no
 * sequence of code points composes into ASCII, so whatever contributes anything else
 * cannot be part of a known name.
 */
#include "envelope/lookalike.h"

#include <stdint.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "envelope/lookalike_table.h"

struct folded {
    char text[LOOKALIKE_MAX];
    size_t len;
};

static bool is_ignored(uint32_t cp)
{
    if (cp < 0x20 || (cp >= 0x7f && cp < 0xa0))
        return true;
    for (size_t i = 0; i < COUNT(lookalike_ignored); i++)
        if (cp >= lookalike_ignored[i].first && cp <= lookalike_ignored[i].last)
            return true;
    return false;
}

static const struct lookalike *find(uint32_t cp)
{
    size_t low = 0;
    size_t high = COUNT(lookalikes);

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (lookalikes[middle].code_point < cp)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < COUNT(lookalikes) && lookalikes[low].code_point == cp)
        return &lookalikes[low];
    return NULL;
}

static bool append(struct folded *to, struct str piece)
{
    if (piece.len > sizeof(to->text) - to->len)
        return false;
    memcpy(to->text + to->len, piece.ptr, piece.len);
    to->len += piece.len;
    return true;
}

/* False: what comes out is no known name, whatever follows. */
static bool fold_one(struct folded *to, uint32_t cp)
{
    const struct lookalike *like;
    char c = (char)cp;

    if (is_ignored(cp))
        return true;
    if (cp < 0x80) {
        if (c >= 'A' && c <= 'Z')
            c = (char)(c + 'a' - 'A');
        return append(to, (struct str){ &c, 1 });
    }
    like = find(cp);
    return like &&
           append(to, (struct str){ like->to, strnlen(like->to, sizeof(like->to)) });
}

static bool is_any(struct str text, const struct str *known, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(text, known[i]))
            return true;
    return false;
}

static struct str folded_text(const struct folded *folded)
{
    return (struct str){ folded->text, folded->len };
}

/* Printable ASCII without capitals, as nearly all names are, folds to itself. */
static bool is_folded(struct str name)
{
    bool is_other = false;

    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];

        is_other |= c < ' ' || c > '~' || (c >= 'A' && c <= 'Z');
    }
    return !is_other;
}

bool lookalike_is_any(struct str name, const struct str *known, size_t count)
{
    struct folded folded = {};

    if (is_folded(name))
        return is_any(name, known, count);
    while (name.len) {
        uint32_t cp = 0;
        size_t len = utf8_read(name, &cp);

        if (len == 0)
            return false;
        if (cp == 0 && is_any(folded_text(&folded), known, count))
            return true;
        if (!fold_one(&folded, cp))
            return false;
        name = str_slice(name, len, name.len);
    }
    return is_any(folded_text(&folded), known, count);
}

bool lookalike_fold(struct str *rest, struct lookalike_fold *fold)
{
    struct str name = *rest;

    if (name.len > sizeof(fold->text) - fold->len && is_folded(name))
        return false;
    if (is_folded(name)) {
        memcpy(fold->text + fold->len, name.ptr, name.len);
        fold->len += name.len;
        *rest = (struct str){};
        return true;
    }
    while (name.len) {
        struct folded folded = {};
        uint32_t cp = 0;
        size_t len = utf8_read(name, &cp);

        name = str_slice(name, len, name.len);
        if (cp == 0 && len > 0) {
            *rest = name;
            return true;
        }
        if (len == 0 || !fold_one(&folded, cp) ||
            folded.len > sizeof(fold->text) - fold->len)
            return false;
        memcpy(fold->text + fold->len, folded.text, folded.len);
        fold->len += folded.len;
    }
    *rest = (struct str){};
    return true;
}
