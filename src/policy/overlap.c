/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pattern is read as a row of elements, each a byte or a star, and the two rows are
 * walked side by side: a place (i, j) can be reached if some text matches the first i
 * elements of one and the first j of the other. A star is one character of its sort and
 * then any number more, so it is an element that one may stay on.
 *
 *     x/ and a star     x  /  any+
 *     a star and /y     other+  /  y        meet in x/y
 */
#include "policy/overlap.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/xalloc.h"
#include "envelope/kind.h"
#include "policy/pattern.h"
#include "policy/respell.h"

/* Bytes stand for themselves. */
enum { ANY = 256, NO_COLON = 257 };

struct row {
    uint16_t *items;
    size_t count;
};

static struct row row_of(struct str text)
{
    struct row row = { xcalloc(text.len + 2, sizeof(uint16_t)), text.len };

    for (size_t i = 0; i < text.len; i++) {
        row.items[i] = (unsigned char)text.ptr[i];
        if (text.ptr[i] == '*')
            row.items[i] = i + 1 == text.len ? ANY : NO_COLON;
    }
    return row;
}

static bool meet(uint16_t a, uint16_t b)
{
    if (a == ANY || b == ANY)
        return true;
    if (a == NO_COLON || b == NO_COLON)
        return a != ':' && b != ':';
    return a == b;
}

/* Is there a text that both rows match? reach[j] is for the row's element before i. */
static bool rows_meet(const struct row *a, const struct row *b, bool *reach, bool *next)
{
    for (size_t j = 0; j <= b->count; j++)
        reach[j] = j == 0;
    for (size_t i = 0; i < a->count; i++) {
        bool a_stays = a->items[i] >= ANY;

        for (size_t j = 0; j <= b->count; j++)
            next[j] = false;
        /* After a step on (i, j): on to the next of either, or staying on a star. */
        for (size_t j = 0; j < b->count; j++) {
            bool b_stays = b->items[j] >= ANY;
            bool steps = reach[j] && meet(a->items[i], b->items[j]);

            if (!steps)
                continue;
            next[j + 1] = true;
            reach[j + 1] |= a_stays; /* a's star goes on, b is one further */
            next[j] |= b_stays;      /* b's star goes on, a is one further */
        }
        for (size_t j = 0; j <= b->count; j++)
            reach[j] = next[j];
    }
    return reach[b->count];
}

static struct row with_context(struct row row)
{
    row.items[row.count++] = ':';
    row.items[row.count++] = ANY;
    return row;
}

static bool texts_meet(struct str a_text, struct str b_text)
{
    struct row a = row_of(a_text);
    struct row b = row_of(b_text);
    bool *places = xcalloc(2 * (b_text.len + 3), sizeof(*places));
    bool *next = places + b_text.len + 3;
    bool they_do = rows_meet(&a, &b, places, next);
    struct row a_more = pattern_covers_contexts(a_text) ? with_context(a) : a;

    if (!they_do && pattern_covers_contexts(a_text))
        they_do = rows_meet(&a_more, &b, places, next);
    if (!they_do && pattern_covers_contexts(b_text)) {
        b = with_context(b);
        they_do = rows_meet(&a, &b, places, next);
    }
    free(a.items);
    free(b.items);
    free(places);
    return they_do;
}

bool capability_overlaps(const struct capability *a, const struct capability *b,
                         size_t *steps)
{
    struct str b_text = capability_pattern(b);
    enum dialect dialect = pattern_dialect(b_text);
    char space[KIND_MAX_BYTES];
    struct str texts[RESPELL_MAX];
    size_t count = respell_pattern(capability_pattern(a), dialect, space, texts);

    for (size_t i = 0; i < count; i++) {
        size_t needed = (texts[i].len + 2) * (b_text.len + 2);

        if (pattern_dialect(texts[i]) != dialect || needed > *steps)
            continue;
        *steps -= needed;
        if (texts_meet(texts[i], b_text))
            return true;
    }
    return false;
}
