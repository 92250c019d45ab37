/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Places are numbered as they come, so each stands behind the one it is below, and a walk
 * in that order has found an object before it looks into it. Below each place the names
 * are sorted as they fold (lookalike.h); whatever a member's name folds to is looked up
 * there, and those that fold to the same and are another name have met a look-alike.
 */
#include "policy/outline.h"

#include <stdlib.h>

#include "base/xalloc.h"
#include "envelope/lookalike.h"

struct place {
    struct str name;
    size_t parent;
    size_t first, end; /* those below, in `sorted` */
};

struct entry {
    struct str name;
    size_t parent;
    size_t place;
};

struct outline {
    struct place *places;
    struct entry *sorted; /* all but the first, by parent and folded name */
    size_t count;
};

struct outline *outline_new(void)
{
    struct outline *outline = xcalloc(1, sizeof(*outline));

    outline->places = xcalloc(1, sizeof(*outline->places));
    outline->places[0].name = S("payload");
    outline->count = 1;
    return outline;
}

void outline_free(struct outline *outline)
{
    if (!outline)
        return;
    free(outline->places);
    free(outline->sorted);
    free(outline);
}

size_t outline_add(struct outline *outline, size_t parent, struct str name)
{
    for (size_t i = parent + 1; i < outline->count; i++)
        if (outline->places[i].parent == parent && str_eq(outline->places[i].name, name))
            return i;
    outline->places =
        xrealloc(outline->places, (outline->count + 1) * sizeof(*outline->places));
    outline->places[outline->count] = (struct place){ .name = name, .parent = parent };
    return outline->count++;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
}

/* As str_cmp(), of names as they fold: ASCII has capitals only. */
static int compare_names(struct str a, struct str b)
{
    for (size_t i = 0; i < a.len && i < b.len; i++)
        if (lower(a.ptr[i]) != lower(b.ptr[i]))
            return lower(a.ptr[i]) < lower(b.ptr[i]) ? -1 : 1;
    return (a.len > b.len) - (a.len < b.len);
}

static int by_parent_and_name(const void *a, const void *b)
{
    const struct entry *left = a;
    const struct entry *right = b;

    if (left->parent != right->parent)
        return left->parent < right->parent ? -1 : 1;
    return compare_names(left->name, right->name);
}

void outline_sort(struct outline *outline)
{
    size_t count = outline->count - 1;

    outline->sorted = xrealloc(outline->sorted, outline->count * sizeof(struct entry));
    for (size_t i = 0; i < count; i++)
        outline->sorted[i] = (struct entry){ .name = outline->places[i + 1].name,
                                             .parent = outline->places[i + 1].parent,
                                             .place = i + 1 };
    qsort(outline->sorted, count, sizeof(struct entry), by_parent_and_name);
    for (size_t i = 0; i < count; i++) {
        struct place *parent = &outline->places[outline->sorted[i].parent];

        if (parent->end == 0)
            parent->first = i;
        parent->end = i + 1;
    }
}

/* The first below the place whose name does not fold to something smaller. */
static size_t find_first(const struct outline *outline, const struct place *above,
                         struct str folded)
{
    size_t low = above->first;
    size_t high = above->end;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (compare_names(outline->sorted[middle].name, folded) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void see(struct outline_sighting *sighting, bool is_exact, struct json_span value)
{
    if (!is_exact || sighting->state == SEEN_LOOKALIKE) {
        sighting->state = SEEN_LOOKALIKE;
    } else if (sighting->state != SEEN_NOTHING) {
        sighting->state = SEEN_TWICE;
    } else {
        sighting->state = SEEN_ONCE;
        sighting->value = value;
    }
}

/* A name with a NUL in it is judged up to there as well. */
static void meet(const struct outline *outline, const struct place *above,
                 struct str name, struct json_span value,
                 struct outline_sighting *sightings)
{
    struct lookalike_fold fold = {};
    struct str rest = name;

    while (rest.ptr && lookalike_fold(&rest, &fold)) {
        struct str folded = { fold.text, fold.len };

        for (size_t i = find_first(outline, above, folded);
             i < above->end && compare_names(outline->sorted[i].name, folded) == 0; i++) {
            const struct entry *entry = &outline->sorted[i];

            see(&sightings[entry->place], str_eq(entry->name, name), value);
        }
    }
}

static enum err look_into(const struct outline *outline, size_t i,
                          struct outline_sighting *sightings, struct arena *scratch)
{
    struct json_member member;
    struct json_scan scan;
    struct str name;
    enum err err;

    json_scan_init(&scan, sightings[i].value.text, JSON_MAX_DEPTH);
    err = json_object_begin(&scan);
    while (!err && json_object_next(&scan, &member, &err)) {
        err = json_unescape(member.key, scratch, &name);
        if (!err)
            meet(outline, &outline->places[i], name, member.value, sightings);
    }
    return err;
}

const struct outline_sighting *outline_walk(const struct outline *outline,
                                            struct json_span payload,
                                            struct arena *scratch)
{
    struct outline_sighting *sightings =
        arena_alloc(scratch, outline->count * sizeof(*sightings));

    if (!sightings)
        return NULL;
    sightings[0] = (struct outline_sighting){ SEEN_ONCE, payload };
    for (size_t i = 0; i < outline->count; i++) {
        bool has_below = outline->places[i].end > outline->places[i].first;

        if (!has_below || sightings[i].state != SEEN_ONCE ||
            sightings[i].value.type != JSON_OBJECT)
            continue;
        if (look_into(outline, i, sightings, scratch))
            return NULL;
    }
    return sightings;
}
