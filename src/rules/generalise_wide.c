/* SPDX-License-Identifier: Apache-2.0 */
/* What is wider than values: ranges, directories, prefixes, texts, arrays. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/decimal.h"
#include "rules/generalise.h"
#include "rules/value.h"

enum {
    LONERS = 3, /* directories of one file each: so many are a habit */
    TEXT_DISTINCT = 10,
    TEXT_PER_CENT = 80,
    ARRAY_ITEMS = 4096,
};

/* Rows with this value go. */
static void drop_value(const struct column *column, struct str text)
{
    for (size_t i = 0; i < column->count; i++)
        if (column->values[i]->type == JSON_STRING &&
            str_eq(column->values[i]->text, text))
            column->drops[i] = true;
}

static bool are_all(const struct run *runs, size_t count, enum json_type type)
{
    for (size_t i = 0; i < count; i++)
        if (runs[i].value->type != type)
            return false;
    return true;
}

/* --- numbers --- */

struct point {
    struct json_number number;
    struct str text;
    double about;
};

static int compare_points(const void *a, const void *b)
{
    return json_number_compare(&((const struct point *)a)->number,
                               &((const struct point *)b)->number);
}

static struct point *sort_points(const struct column *column, const struct run *runs,
                                 size_t count)
{
    struct point *points = arena_alloc(column->scratch, count * sizeof(*points));

    for (size_t i = 0; i < count && points; i++) {
        points[i].text = runs[i].text;
        if (value_number(runs[i].text, &points[i].number) ||
            decimal_parse(runs[i].text, &points[i].about))
            return NULL;
    }
    if (points)
        qsort(points, count, sizeof(*points), compare_points);
    return points;
}

/* Where more than half of the span is empty: what stands behind the gap. 0: nowhere. */
static size_t find_gap(const struct point *points, size_t count)
{
    double span = points[count - 1].about - points[0].about;

    for (size_t i = 1; i < count; i++)
        if (points[i].about - points[i - 1].about > span / 2)
            return i;
    return 0;
}

static enum widened drop_side(const struct column *column, const struct point *points,
                              size_t count, size_t gap)
{
    const struct point *border = &points[gap];
    bool drops_upper = gap > count - gap;

    if (!column->drops || 2 * gap == count)
        return WIDENED_NOT;
    for (size_t i = 0; i < column->count; i++) {
        struct json_number number;
        bool is_upper;

        if (value_number(column->values[i]->text, &number))
            return WIDENED_NOT;
        is_upper = json_number_compare(&number, &border->number) >= 0;
        if (is_upper == drops_upper)
            column->drops[i] = true;
    }
    return WIDENED_DROPPED;
}

static enum widened widen_numbers(const struct column *column, const struct run *runs,
                                  size_t count, struct shape *ret)
{
    const struct point *points = sort_points(column, runs, count);
    struct shape shape = { .kind = SHAPE_BETWEEN, .is_whole = true };
    size_t gap;

    if (!points)
        return WIDENED_NOT;
    gap = find_gap(points, count);
    if (gap)
        return drop_side(column, points, count, gap);
    for (size_t i = 0; i < count; i++)
        shape.is_whole = shape.is_whole && json_number_is_whole(&points[i].number);
    shape.min = arena_str(column->arena, points[0].text);
    shape.max = arena_str(column->arena, points[count - 1].text);
    if (!shape.min.ptr || !shape.max.ptr)
        return WIDENED_NOT;
    *ret = shape;
    return WIDENED;
}

/* --- strings: what they have in common --- */

static size_t common_bytes(const struct run *runs, size_t count)
{
    struct str first = runs[0].value->text;
    size_t len = first.len;

    for (size_t i = 1; i < count; i++) {
        struct str other = runs[i].value->text;
        size_t same = 0;

        while (same < len && same < other.len && first.ptr[same] == other.ptr[same])
            same++;
        len = same;
    }
    return len;
}

/* Back to behind the last of these bytes. */
static size_t cut_behind(struct str text, size_t len, const char *bytes)
{
    while (len > 0 && !(text.ptr[len - 1] && strchr(bytes, text.ptr[len - 1])))
        len--;
    return len;
}

/* What follows the first `begin` bytes of each is plain; the shape gets its bounds. */
static bool bound_tails(const struct run *runs, size_t count, size_t begin,
                        struct shape *shape)
{
    for (size_t i = 0; i < count; i++) {
        struct str text = runs[i].value->text;
        struct str tail = str_slice(text, begin, text.len);
        bool has_other = false;
        size_t parts;

        if (!shape_parts_are_plain(tail, 0, &parts) || parts > SHAPE_PARTS ||
            text.len > SHAPE_VALUE)
            return false;
        shape->characters |= shape_characters_of(tail, &has_other);
        shape->depth = parts > shape->depth ? parts : shape->depth;
        shape->max_bytes = text.len > shape->max_bytes ? text.len : shape->max_bytes;
    }
    return true;
}

static bool is_url(struct str text)
{
    return str_starts(str_slice(text, str_find(text, ':', 0), text.len), S("://"));
}

static bool is_path(struct str text)
{
    size_t parts;

    if (is_url(text) || str_find(text, '/', 0) == text.len)
        return false;
    if (text.ptr[0] == '/')
        text = str_slice(text, 1, text.len);
    return shape_parts_are_plain(text, 0, &parts);
}

static bool are_paths(const struct run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_path(runs[i].value->text) ||
            (runs[i].value->text.ptr[0] == '/') != (runs[0].value->text.ptr[0] == '/'))
            return false;
    return true;
}

static bool have_slash(const struct run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_find(runs[i].value->text, '/', 0) < runs[i].value->text.len &&
            !is_url(runs[i].value->text))
            return true;
    return false;
}

/* --- directories --- */

/* Where everything of a system stands: nobody approved all of that. */
static bool is_system(struct str root)
{
    static const struct str places[] = {
        S("/etc"),   S("/usr"),  S("/bin"), S("/sbin"), S("/lib"),
        S("/lib64"), S("/boot"), S("/dev"), S("/proc"), S("/sys"),
        S("/var"),   S("/opt"),  S("/run"), S("/mnt"),  S("/media"),
    };

    for (size_t i = 0; i < COUNT(places); i++)
        if (str_eq(root, places[i]))
            return true;
    return false;
}

/* The first part beneath the root, with its slash where it is a directory. */
static struct str subtree_of(const struct run *run, size_t begin)
{
    struct str tail = str_slice(run->value->text, begin, run->value->text.len);

    return str_slice(tail, 0, str_find(tail, '/', 0) + 1);
}

/* Sorted by text, so those of one directory stand together. */
static bool is_loner(const struct run *runs, size_t count, size_t i, size_t begin)
{
    struct str own = subtree_of(&runs[i], begin);

    if (!str_ends(own, S("/")))
        return false;
    return (i == 0 || !str_eq(own, subtree_of(&runs[i - 1], begin))) &&
           (i + 1 == count || !str_eq(own, subtree_of(&runs[i + 1], begin)));
}

/* Few files that stand alone in a directory of their own would widen the root for all. */
static enum widened drop_loners(const struct column *column, const struct run *runs,
                                size_t count, size_t begin)
{
    size_t loners = 0;

    for (size_t i = 0; i < count; i++)
        loners += is_loner(runs, count, i, begin);
    if (loners == 0 || loners >= LONERS)
        return WIDENED;
    if (!column->drops)
        return WIDENED_NOT;
    for (size_t i = 0; i < count; i++)
        if (is_loner(runs, count, i, begin))
            drop_value(column, runs[i].value->text);
    return WIDENED_DROPPED;
}

static bool add_endings(const struct run *runs, size_t count, struct arena *arena,
                        struct shape *shape)
{
    struct str *endings = arena_alloc(arena, SHAPE_ENDINGS * sizeof(*endings));

    for (size_t i = 0; i < count && endings; i++) {
        struct str ending = shape_ending(runs[i].value->text);
        size_t at = 0;

        while (at < shape->value_count && !str_eq(endings[at], ending))
            at++;
        if (at < shape->value_count)
            continue;
        if (at == SHAPE_ENDINGS)
            return false;
        endings[at] = arena_str(arena, ending);
        shape->value_count++;
    }
    shape->values = endings;
    return endings != NULL;
}

static int compare_endings(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static enum widened widen_paths(const struct column *column, const struct run *runs,
                                size_t count, struct shape *ret)
{
    struct str first = runs[0].value->text;
    size_t begin = cut_behind(first, common_bytes(runs, count), "/");
    struct shape shape = { .kind = SHAPE_UNDER };
    struct str root = str_slice(first, 0, begin ? begin - 1 : 0);
    enum widened widened;

    if (!shape_is_root(root) || is_system(root)) {
        /* Perhaps a few are to blame. */
        return begin ? drop_loners(column, runs, count, begin) == WIDENED_DROPPED
                           ? WIDENED_DROPPED
                           : WIDENED_NOT
                     : WIDENED_NOT;
    }
    widened = drop_loners(column, runs, count, begin);
    if (widened != WIDENED)
        return widened;
    shape.text = arena_str(column->arena, root);
    if (!shape.text.ptr || !bound_tails(runs, count, begin, &shape) ||
        !add_endings(runs, count, column->arena, &shape))
        return WIDENED_NOT;
    qsort((void *)(uintptr_t)shape.values, shape.value_count, sizeof(struct str),
          compare_endings);
    *ret = shape;
    return WIDENED;
}

/* --- prefixes and texts --- */

static enum widened widen_prefix(const struct column *column, const struct run *runs,
                                 size_t count, struct shape *ret)
{
    struct str first = runs[0].value->text;
    size_t begin = cut_behind(first, common_bytes(runs, count), "._-+,=:@/");
    struct shape shape = { .kind = SHAPE_PREFIXED };

    if (is_url(first))
        begin = cut_behind(first, begin, "/");
    if (!shape_is_prefix(str_slice(first, 0, begin)) ||
        !bound_tails(runs, count, begin, &shape))
        return WIDENED_NOT;
    shape.text = arena_str(column->arena, str_slice(first, 0, begin));
    if (!shape.text.ptr)
        return WIDENED_NOT;
    *ret = shape;
    return WIDENED;
}

/* Members that are for people to read. What others hold is done, not read. */
static bool is_prose(struct str key)
{
    static const struct str names[] = {
        S("message"), S("text"),    S("title"), S("description"), S("comment"),
        S("summary"), S("subject"), S("note"),  S("reason"),      S("caption"),
    };

    for (size_t i = 0; i < COUNT(names); i++)
        if (str_eq(key, names[i]))
            return true;
    return false;
}

static enum widened widen_text(const struct column *column, const struct run *runs,
                               size_t count, struct shape *ret)
{
    struct shape shape = { .kind = SHAPE_FREE_TEXT, .depth = 1 };

    if (!is_prose(column->key) || count < TEXT_DISTINCT ||
        100 * count < TEXT_PER_CENT * column->count)
        return WIDENED_NOT;
    for (size_t i = 0; i < count; i++) {
        struct str text = runs[i].value->text;

        if (text.len > SHAPE_TEXT || str_find(text, ' ', 0) == text.len ||
            !shape_is_readable(text, SHAPE_MANY_LINES))
            return WIDENED_NOT; /* words have spaces between them */
        shape.has_lines = shape.has_lines || !shape_is_readable(text, SHAPE_ONE_LINE);
        shape.max_bytes = text.len > shape.max_bytes ? text.len : shape.max_bytes;
    }
    *ret = shape;
    return WIDENED;
}

static enum widened widen_strings(const struct column *column, const struct run *runs,
                                  size_t count, struct shape *ret)
{
    enum widened widened = WIDENED_NOT;

    if (are_paths(runs, count))
        return widen_paths(column, runs, count, ret);
    if (!have_slash(runs, count))
        widened = widen_prefix(column, runs, count, ret);
    return widened == WIDENED_NOT ? widen_text(column, runs, count, ret) : widened;
}

/* --- arrays --- */

struct pool {
    const struct json **items;
    struct str *texts;
    size_t count;
};

static bool pool_items(const struct column *column, struct pool *pool)
{
    size_t total = 0;

    for (size_t i = 0; i < column->count; i++)
        total += column->values[i]->count;
    if (total == 0 || total > ARRAY_ITEMS)
        return false;
    pool->items = arena_alloc(column->scratch, total * sizeof(const void *));
    pool->texts = arena_alloc(column->scratch, total * sizeof(struct str));
    if (!pool->items || !pool->texts)
        return false;
    for (size_t i = 0; i < column->count; i++)
        JSON_FOREACH(item, column->values[i]) {
            if (item->type == JSON_OBJECT || item->type == JSON_ARRAY ||
                value_text(item, column->scratch, &pool->texts[pool->count]))
                return false;
            pool->items[pool->count++] = item;
        }
    return true;
}

static bool have_support(const struct run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (runs[i].count < GENERALISE_SUPPORT)
            return false;
    return count <= GENERALISE_VALUES;
}

static enum widened widen_scalars(const struct column *column, const struct run *runs,
                                  size_t count, struct shape *ret)
{
    if (are_all(runs, count, JSON_NUMBER))
        return widen_numbers(column, runs, count, ret);
    if (are_all(runs, count, JSON_STRING))
        return widen_strings(column, runs, count, ret);
    return WIDENED_NOT;
}

static bool shape_items(const struct column *column, const struct pool *pool,
                        struct shape *ret)
{
    const struct column items = { .values = pool->items,
                                  .count = pool->count,
                                  .arena = column->arena,
                                  .scratch = column->scratch };
    size_t count = 0;
    const struct run *runs =
        runs_of(pool->texts, pool->items, pool->count, column->scratch, &count);

    if (!runs)
        return false;
    if (have_support(runs, count) && list_values(runs, count, column->arena, ret))
        return true;
    return count >= GENERALISE_DISTINCT &&
           widen_scalars(&items, runs, count, ret) == WIDENED;
}

static enum widened widen_arrays(const struct column *column, struct shape *ret)
{
    struct shape *item = arena_alloc(column->arena, sizeof(*item));
    struct shape shape = { .kind = SHAPE_ARRAY, .first = item, .count = 1 };
    struct pool pool = {};

    if (!item || !pool_items(column, &pool) || !shape_items(column, &pool, item))
        return WIDENED_NOT;
    shape.min_items = SHAPE_ITEMS;
    for (size_t i = 0; i < column->count; i++) {
        size_t count = column->values[i]->count;

        shape.min_items = count < shape.min_items ? count : shape.min_items;
        shape.max_items = count > shape.max_items ? count : shape.max_items;
    }
    if (shape.max_items > SHAPE_ITEMS)
        return WIDENED_NOT;
    *ret = shape;
    return WIDENED;
}

enum widened widen(const struct column *column, const struct run *runs, size_t run_count,
                   struct shape *ret)
{
    if (are_all(runs, run_count, JSON_ARRAY))
        return widen_arrays(column, ret);
    return widen_scalars(column, runs, run_count, ret);
}
