/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/generalise.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "rules/value.h"

enum { ROUNDS = 8, SPLITS = 4, TUPLE_BYTES = SHAPE_MEMBERS * (SHAPE_VALUE + 1) };

/* --- rows --- */

static enum err add_leaves(struct sample *sample, const struct json *object, size_t depth,
                           struct arena *scratch, size_t *count)
{
    enum err err = OK;

    if (depth > SHAPE_DEPTH)
        return ERR_INVALID;
    for (const struct json *at = object->first; at && !err; at = at->next) {
        if (at->key.len == 0 || at->key.len > SHAPE_NAME || str_eq(at->key, S("<<")) ||
            !shape_is_readable(at->key, SHAPE_ONE_LINE))
            return ERR_INVALID;
        if (at->type == JSON_OBJECT && at->first) {
            err = add_leaves(sample, at, depth + 1, scratch, count);
            continue;
        }
        if (*count == SHAPE_MEMBERS)
            return ERR_INVALID;
        sample->leaves[*count] = at;
        err = value_text(at, scratch, &sample->texts[*count]);
        (*count)++;
    }
    return err;
}

enum err sample_init(struct sample *sample, const struct json *arguments,
                     struct arena *scratch, size_t *ret_columns)
{
    size_t count = 0;
    enum err err;

    sample->arguments = arguments;
    err = add_leaves(sample, arguments, 1, scratch, &count);
    if (!err)
        *ret_columns = count;
    return err;
}

/* --- values --- */

static int compare_runs(const void *a, const void *b)
{
    return str_cmp(((const struct run *)a)->text, ((const struct run *)b)->text);
}

struct run *runs_of(const struct str *texts, const struct json **values, size_t count,
                    struct arena *scratch, size_t *ret_count)
{
    struct run *runs = arena_alloc(scratch, (count + 1) * sizeof(*runs));
    size_t last = 0;

    if (!runs)
        return NULL;
    for (size_t i = 0; i < count; i++)
        runs[i] = (struct run){ texts[i], values[i], 1 };
    if (count)
        qsort(runs, count, sizeof(*runs), compare_runs);
    for (size_t i = 1; i < count; i++) {
        if (str_eq(runs[i].text, runs[last].text))
            runs[last].count++;
        else
            runs[++last] = runs[i];
    }
    *ret_count = count ? last + 1 : 0;
    return runs;
}

/* What can be read in a file: a simple value, or a list of them. */
static bool is_listable(const struct run *run)
{
    const struct json *value = run->value;

    if (run->text.len > SHAPE_VALUE || (value->type == JSON_OBJECT && value->first))
        return false;
    if (value->type == JSON_STRING)
        return shape_is_readable(value->text, SHAPE_ONE_LINE);
    JSON_FOREACH(item, value) {
        if (item->type == JSON_OBJECT || item->type == JSON_ARRAY)
            return false;
        if (item->type == JSON_STRING && !shape_is_readable(item->text, SHAPE_ONE_LINE))
            return false;
    }
    return true;
}

static bool are_booleans(const struct run *runs, size_t count)
{
    return count == 2 && runs[0].value->type == JSON_FALSE &&
           runs[1].value->type == JSON_TRUE;
}

bool list_values(const struct run *runs, size_t count, struct arena *arena,
                 struct shape *ret)
{
    struct str *values = arena_alloc(arena, count * sizeof(*values));

    if (!values || count == 0 || count > GENERALISE_VALUES)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!is_listable(&runs[i]))
            return false;
        values[i] = arena_str(arena, runs[i].text);
        if (!values[i].ptr)
            return false;
    }
    *ret = (struct shape){ .kind = count > 1 ? SHAPE_ONE_OF : SHAPE_EXACTLY,
                           .values = values,
                           .value_count = count };
    if (are_booleans(runs, count))
        *ret = (struct shape){ .kind = SHAPE_BOOLEAN };
    return true;
}

/* --- a set of rows, and what its columns become --- */

enum width { WIDE, TIGHT };

struct set {
    const struct generalise_table *table;
    const struct sample **rows;
    size_t count;
    bool *drops;
    struct shape shapes[SHAPE_MEMBERS];
};

struct search {
    const struct generalise_table *table;
    struct generalised *found;
    size_t count;
    bool is_full; /* an arena is */
};

static bool has_support(const struct run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (count > 1 && runs[i].count < GENERALISE_SUPPORT)
            return false;
    return true;
}

/* Leaves out the rows whose value is rare; false: there is nothing to leave out that
 * would help. */
static bool drop_rare(const struct set *set, size_t column, const struct run *runs,
                      size_t run_count)
{
    size_t kept = 0, dropped = 0;

    for (size_t i = 0; i < run_count; i++) {
        bool is_kept = runs[i].count >= GENERALISE_SUPPORT && is_listable(&runs[i]);

        kept += is_kept;
        for (size_t k = 0; k < set->count && !is_kept; k++)
            if (str_eq(set->rows[k]->texts[column], runs[i].text)) {
                set->drops[k] = true;
                dropped++;
            }
    }
    return kept > 0 && kept <= GENERALISE_VALUES && dropped > 0;
}

/* False: this column fits no shape. Sets drops where rows have to go first. */
static bool shape_column(struct set *set, size_t column, enum width width,
                         struct search *search)
{
    struct arena *scratch = set->table->scratch;
    struct str *texts = arena_alloc(scratch, set->count * sizeof(*texts));
    const struct json **values = arena_alloc(scratch, set->count * sizeof(const void *));
    struct shape *shape = &set->shapes[column];
    struct run *runs = NULL;
    size_t count = 0;

    if (texts && values) {
        for (size_t i = 0; i < set->count; i++) {
            texts[i] = set->rows[i]->texts[column];
            values[i] = set->rows[i]->leaves[column];
        }
        runs = runs_of(texts, values, set->count, scratch, &count);
    }
    if (!runs) {
        search->is_full = true;
        return false;
    }
    if (count <= GENERALISE_VALUES && has_support(runs, count) &&
        list_values(runs, count, set->table->arena, shape))
        return true;
    if (width == WIDE && count >= GENERALISE_DISTINCT) {
        const struct column wide = { .key = values[0]->key,
                                     .values = values,
                                     .count = set->count,
                                     .drops = set->drops,
                                     .arena = set->table->arena,
                                     .scratch = scratch };

        if (widen(&wide, runs, count, shape) != WIDENED_NOT)
            return true;
    }
    return drop_rare(set, column, runs, count);
}

/* Rows that were marked; true if there were any. */
static bool drop_rows(struct set *set)
{
    size_t kept = 0;
    bool has_dropped;

    for (size_t i = 0; i < set->count; i++)
        if (!set->drops[i])
            set->rows[kept++] = set->rows[i];
    has_dropped = kept < set->count;
    set->count = kept;
    memset(set->drops, 0, kept * sizeof(*set->drops));
    return has_dropped;
}

/* All columns, until no row has to go any more. */
static bool shape_columns(struct set *set, enum width width, struct search *search)
{
    for (size_t round = 0; round < ROUNDS && !search->is_full; round++) {
        bool is_shaped = true;

        if (set->count < set->table->min_rows)
            return false;
        for (size_t i = 0; i < set->table->columns && is_shaped; i++)
            is_shaped = shape_column(set, i, width, search);
        if (!drop_rows(set))
            return is_shaped;
    }
    return false;
}

/* --- together --- */

static bool is_choice(const struct shape *s)
{
    return s->kind == SHAPE_ONE_OF || s->kind == SHAPE_BOOLEAN;
}

static bool is_wide(const struct shape *s)
{
    return s->kind != SHAPE_EXACTLY && !is_choice(s);
}

struct counts {
    size_t choices, wides, texts;
    size_t first_choice;
    uint64_t product;
};

static struct counts count_shapes(const struct set *set)
{
    struct counts c = { .product = 1 };

    for (size_t i = 0; i < set->table->columns; i++) {
        const struct shape *s = &set->shapes[i];

        c.wides += is_wide(s);
        c.texts += s->kind == SHAPE_FREE_TEXT;
        if (!is_choice(s))
            continue;
        if (c.choices++ == 0)
            c.first_choice = i;
        if (c.product <= UINT32_MAX)
            c.product *= s->kind == SHAPE_BOOLEAN ? 2 : s->value_count;
    }
    return c;
}

static int compare_texts(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Were all combinations of the listed values seen? */
static bool is_complete(const struct set *set, const struct counts *c,
                        struct search *search)
{
    struct str *tuples =
        arena_alloc(set->table->scratch, set->count * sizeof(struct str));
    size_t distinct = 0;
    struct buf text;

    if (c->choices < 2)
        return true;
    buf_init(&text, TUPLE_BYTES);
    for (size_t i = 0; i < set->count && tuples; i++) {
        buf_clear(&text);
        for (size_t k = 0; k < set->table->columns; k++)
            if (is_choice(&set->shapes[k])) {
                buf_put(&text, set->rows[i]->texts[k]);
                buf_putc(&text, '\n');
            }
        tuples[i] = arena_str(set->table->scratch, buf_str(&text));
        if (!tuples[i].ptr)
            tuples = NULL;
    }
    buf_done(&text);
    if (!tuples) {
        search->is_full = true;
        return false;
    }
    qsort(tuples, set->count, sizeof(*tuples), compare_texts);
    for (size_t i = 0; i < set->count; i++)
        distinct += i == 0 || !str_eq(tuples[i], tuples[i - 1]);
    return distinct == c->product;
}

/* The columns back in their places; as deep as the arguments are, which is bounded. */
static struct shape *build(const struct set *set, const struct json *object, size_t *at)
{
    struct shape *shape = arena_alloc(set->table->arena, sizeof(*shape));
    struct shape *last = NULL;

    if (!shape)
        return NULL;
    shape->kind = SHAPE_OBJECT;
    JSON_FOREACH(member, object) {
        struct shape *one;

        if (member->type == JSON_OBJECT && member->first) {
            one = build(set, member, at);
        } else {
            one = arena_alloc(set->table->arena, sizeof(*one));
            if (one)
                *one = set->shapes[(*at)++];
        }
        if (!one)
            return NULL;
        one->key = arena_str(set->table->arena, member->key);
        if (!one->key.ptr)
            return NULL;
        if (last)
            last->next = one;
        else
            shape->first = one;
        last = one;
        shape->count++;
    }
    return shape;
}

static bool covers_rejected(const struct set *set, const struct shape *shape)
{
    for (size_t i = 0; i < set->table->rejected_count; i++)
        if (shape_covers(shape, set->table->rejected[i]->arguments, NULL))
            return true;
    return false;
}

/* It says what was seen, or it says nothing. */
static bool covers_rows(const struct set *set, const struct shape *shape)
{
    for (size_t i = 0; i < set->count; i++)
        if (!shape_covers(shape, set->rows[i]->arguments, NULL))
            return false;
    return true;
}

static bool set_init(struct set *set, const struct generalise_table *table,
                     const struct sample *const *rows, size_t count)
{
    *set = (struct set){ .table = table, .count = count };
    set->rows = arena_alloc(table->scratch, (count + 1) * sizeof(const void *));
    set->drops = arena_alloc(table->scratch, (count + 1) * sizeof(bool));
    if (!set->rows || !set->drops)
        return false;
    if (count)
        memcpy(set->rows, rows, count * sizeof(const void *));
    return true;
}

static void explore(struct search *search, const struct sample *const *rows, size_t count,
                    size_t splits, enum width width);

/* One set for each value of a column. */
static void split(struct search *search, const struct set *set, size_t column,
                  size_t splits, enum width width)
{
    const struct sample **part =
        arena_alloc(set->table->scratch, set->count * sizeof(const void *));
    bool *is_done = arena_alloc(set->table->scratch, set->count * sizeof(bool));

    if (!part || !is_done || splits == SPLITS) {
        search->is_full |= !part || !is_done;
        return;
    }
    for (size_t i = 0; i < set->count; i++) {
        size_t count = 0;

        for (size_t k = i; k < set->count && !is_done[i]; k++)
            if (str_eq(set->rows[k]->texts[column], set->rows[i]->texts[column])) {
                part[count++] = set->rows[k];
                is_done[k] = k != i;
            }
        if (count)
            explore(search, part, count, splits + 1, width);
    }
}

static void keep(struct search *search, const struct set *set, const struct shape *shape)
{
    if (search->count < GENERALISE_FOUND)
        search->found[search->count++] = (struct generalised){ .arguments = shape,
                                                               .rows = set->rows,
                                                               .row_count = set->count };
}

static void explore(struct search *search, const struct sample *const *rows, size_t count,
                    size_t splits, enum width width)
{
    const struct shape *shape;
    struct counts c;
    struct set set;
    size_t at = 0;

    if (count < search->table->min_rows)
        return;
    if (!set_init(&set, search->table, rows, count)) {
        search->is_full = true;
        return;
    }
    if (!shape_columns(&set, width, search))
        return;
    c = count_shapes(&set);
    if (c.texts && c.texts == set.table->columns)
        return; /* nothing would tell one call from another */
    if (c.choices && (c.wides || !is_complete(&set, &c, search))) {
        split(search, &set, c.first_choice, splits, width);
        return;
    }
    shape = build(&set, set.rows[0]->arguments, &at);
    if (!shape || !covers_rows(&set, shape)) {
        search->is_full |= !shape;
        return;
    }
    if (!covers_rejected(&set, shape))
        keep(search, &set, shape);
    else if (c.choices)
        split(search, &set, c.first_choice, splits, width);
    else if (c.wides && width == WIDE)
        explore(search, set.rows, set.count, splits, TIGHT);
}

enum err generalise(const struct generalise_table *table, struct generalised *ret,
                    size_t *ret_count)
{
    struct search search = { .table = table, .found = ret };

    explore(&search, table->approved, table->approved_count, 0, WIDE);
    if (search.is_full)
        return ERR_TOO_BIG;
    *ret_count = search.count;
    return OK;
}
