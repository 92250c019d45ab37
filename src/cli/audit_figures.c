/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/audit_figures.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/xalloc.h"
#include "cli/audit_figures_priv.h"
#include "envelope/kind.h"
#include "json/json.h"

enum { MINUTE_MS = 60'000, ARENA_BYTES = 1 << 20 };

/* --- names --- */

static void tally_add(struct tally *tally, struct str name)
{
    struct tally_entry *entry = map_find(&tally->names, name);

    tally->total++;
    if (!entry && tally->names.count >= FIGURES_NAMES) {
        tally->others++;
        return;
    }
    if (!entry) {
        entry = xcalloc(1, sizeof(*entry) + name.len);
        if (name.len)
            memcpy(entry->name, name.ptr, name.len);
        entry->len = name.len;
        map_set(&tally->names, (struct str){ entry->name, name.len }, entry);
    }
    entry->count++;
}

static void map_free_all(struct map *map)
{
    void *entry;

    MAP_FOREACH(entry, map)
        free(entry);
    map_done(map);
}

void audit_figures_init(struct audit_figures *f)
{
    *f = (struct audit_figures){ .slot_ms = MINUTE_MS };
    map_init(&f->reasons.names);
    map_init(&f->people.names);
    map_init(&f->kinds.names);
    map_init(&f->topics.names);
    map_init(&f->proposals);
}

void audit_figures_done(struct audit_figures *f)
{
    map_free_all(&f->reasons.names);
    map_free_all(&f->people.names);
    map_free_all(&f->kinds.names);
    map_free_all(&f->topics.names);
    map_free_all(&f->proposals);
}

/* --- when --- */

/* Two become one, from the beginning. */
static void widen_slots(struct audit_figures *f)
{
    for (size_t i = 0; i < FIGURES_SLOTS / 2; i++)
        f->slots[i] = f->slots[2 * i] + f->slots[2 * i + 1];
    for (size_t i = FIGURES_SLOTS / 2; i < FIGURES_SLOTS; i++)
        f->slots[i] = 0;
    f->slot_ms *= 2;
}

static void count_moment(struct audit_figures *f, uint64_t at_ms, uint64_t messages)
{
    size_t slot;

    if (!f->start_ms)
        f->start_ms = at_ms - at_ms % MINUTE_MS;
    if (at_ms < f->start_ms)
        at_ms = f->start_ms;
    while ((at_ms - f->start_ms) / f->slot_ms >= FIGURES_SLOTS)
        widen_slots(f);
    slot = (size_t)((at_ms - f->start_ms) / f->slot_ms);
    f->slots[slot] += messages;
    f->slot_count = slot + 1;
}

/* --- proposals --- */

struct open_proposal {
    uint64_t at_ms;
    size_t len;
    char id[];
};

static void propose(struct audit_figures *f, const struct audit_record *r)
{
    struct open_proposal *p;

    f->proposed++;
    if (!r->id.len || f->proposals.count >= FIGURES_PROPOSALS ||
        map_find(&f->proposals, r->id))
        return;
    p = xcalloc(1, sizeof(*p) + r->id.len);
    p->at_ms = r->at_ms;
    p->len = r->id.len;
    memcpy(p->id, r->id.ptr, r->id.len);
    map_set(&f->proposals, (struct str){ p->id, p->len }, p);
}

/* The first that decides; NULL for the histogram: it was taken back. */
static void decide(struct audit_figures *f, const struct audit_record *r,
                   uint64_t *counter, struct histogram *waits)
{
    struct open_proposal *p =
        r->correlation.len ? map_remove(&f->proposals, r->correlation) : NULL;

    if (!p)
        return;
    (*counter)++;
    if (waits)
        histogram_add(waits, r->at_ms > p->at_ms ? r->at_ms - p->at_ms : 0);
    free(p);
}

static void follow_proposal(struct audit_figures *f, const struct audit_record *r)
{
    struct kind kind;

    if (kind_parse(r->kind, &kind))
        return;
    if (kind.type == KIND_PROPOSAL)
        propose(f, r);
    else if (kind.type == KIND_REQUEST)
        decide(f, r, &f->fulfilled, &f->waits);
    else if (kind.type == KIND_REJECT)
        decide(f, r, &f->rejected, &f->waits);
    else if (kind.type == KIND_WITHDRAW)
        decide(f, r, &f->withdrawn, NULL);
}

/* --- all --- */

/* {"topic":"room","dropped":12} or the like: a number is one. */
static uint64_t dropped_of(const struct audit_record *r)
{
    static const struct str names[] = { S("dropped"), S("count") };
    const struct json *root;
    struct arena arena;
    uint64_t count = 0;

    arena_init(&arena, ARENA_BYTES);
    if (r->body.len && json_parse(r->body, &arena, &root, NULL) == OK)
        for (size_t i = 0; i < COUNT(names) && !count; i++) {
            const struct json *n = json_find(root, names[i]);

            if (n && n->type == JSON_NUMBER)
                (void)str_to_u64(n->text, UINT64_MAX, &count);
        }
    arena_done(&arena);
    return count;
}

static void count_message(struct audit_figures *f, const struct audit_record *r)
{
    f->messages++;
    tally_add(&f->people, r->participant);
    tally_add(&f->kinds, r->kind);
    tally_add(&f->topics, r->topic);
    follow_proposal(f, r);
}

void audit_figures_add(struct audit_figures *f, const struct audit_record *r)
{
    if (!f->records)
        f->first_ms = r->at_ms;
    f->last_ms = r->at_ms;
    f->records++;
    count_moment(f, r->at_ms, r->event == AUDIT_ENVELOPE);
    switch (r->event) {
    case AUDIT_ENVELOPE: count_message(f, r); break;
    case AUDIT_REFUSAL:
        f->refusals++;
        tally_add(&f->reasons, r->verdict);
        break;
    case AUDIT_DROP: f->dropped += dropped_of(r); break;
    default: break;
    }
}

/* --- the most frequent --- */

static int compare(const void *a, const void *b)
{
    const struct tally_entry *left = *(const struct tally_entry *const *)a;
    const struct tally_entry *right = *(const struct tally_entry *const *)b;

    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return str_cmp((struct str){ left->name, left->len },
                   (struct str){ right->name, right->len });
}

const struct tally_entry **tally_sort(const struct tally *tally)
{
    const struct tally_entry **entries =
        xcalloc(tally->names.count + 1, sizeof(struct tally_entry *));
    const struct tally_entry *entry;
    size_t count = 0;

    MAP_FOREACH(entry, &tally->names)
        entries[count++] = entry;
    qsort(entries, count, sizeof(struct tally_entry *), compare);
    return entries;
}
