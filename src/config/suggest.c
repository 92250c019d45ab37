/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": the nearest name to one that does not exist. */
#include <string.h>

#include "config/config_priv.h"

enum { WORD_MAX = 31 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool is_swap(struct str a, size_t i, struct str b, size_t j)
{
    return i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1];
}

/* Edits between two short words: insert, delete, replace, swap neighbours. */
static size_t distance(struct str a, struct str b)
{
    size_t rows[3][WORD_MAX + 1] = {};

    for (size_t j = 0; j <= b.len; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a.len; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3];
        const size_t *above2 = rows[(i + 1) % 3];

        row[0] = i;
        for (size_t j = 1; j <= b.len; j++) {
            row[j] = above[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);
            row[j] = least(row[j], least(above[j], row[j - 1]) + 1);
            if (is_swap(a, i, b, j))
                row[j] = least(row[j], above2[j - 2] + 1);
        }
    }
    return rows[a.len % 3][b.len];
}

const char *suggest(const struct schema *schema, struct str key)
{
    const char *best = NULL;
    size_t best_distance = least(2, key.len / 2) + 1;

    if (key.len > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < schema->count; i++) {
        struct str name = str_of(schema->options[i].name);
        size_t edits = name.len <= WORD_MAX ? distance(key, name) : best_distance;

        if (edits < best_distance) {
            best_distance = edits;
            best = schema->options[i].name;
        }
    }
    return best;
}
