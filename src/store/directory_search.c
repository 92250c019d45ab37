/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the best are found without looking at all. An index answers who has certain marks,
 * in the order of rank, and stops early; it knows no scores. But marks bound them: a word
 * that stands in the role or better is one mark (directory/match.h). So the resources are
 * thought of as boxes, one range of weights for each word asked for:
 *
 *                 python     developer
 *                 22..22     16..22      scores 38 to 44
 *                 22..22      0..12      scores 22 to 34
 *
 * The box with the highest upper end is taken first. If few are in it, they are all
 * looked at; if many, and its range is a single score, the first by rank are the best of
 * it; if many otherwise, it is cut in two. It ends when as many as asked for are known
 * that are better than any box that is left: the answer is exact then.
 *
 * Before that, words that few have are looked up as a whole, and matter no more; a last
 * word that few have is then taken for a beginning. What is bounded: the boxes are those
 * of the four rarest words, the others count where one is looked at; and there is an end
 * to questions and to time. `is_partial` tells when that may have left out better ones.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/xalloc.h"
#include "store/directory_priv.h"

enum {
    FEW = DIRECTORY_FINISHED, /* that are all looked at: it costs less than to find out
                               * more about them */
    BRANCHES = 4,             /* words that make boxes */
    FINDS_MAX = 400,
    LOADS_MAX = 20000,
    SEARCH_MS = 1500,
    TOP = DIRECTORY_PAGE + 1, /* one more tells that there is a next page */
    HITS_ARENA = DIRECTORY_PAGE * (RESOURCE_ARENA + RESOURCE_TEXT),
};

/* A word that many have, or a beginning of words. */
struct branch {
    const struct directory_term *term;
    bool is_beginning;
    uint64_t reached; /* the rank of the last of the first few: rare words reach far */
};

/* By the classes of places, counted from 1; 0: the word is not there. */
struct box {
    uint8_t low[BRANCHES], high[BRANCHES];
    unsigned upper; /* no score in it is higher */
};

struct search {
    struct store_directory *directory;
    struct directory_ask *ask; /* our own: which word is finished is seen on the way */
    struct directory_page *page;
    struct directory_find find; /* the filters, and behind them what else is needed */
    size_t filter_count;
    uint64_t first, end; /* ranks that the filters leave */
    struct branch branches[DIRECTORY_TERMS];
    size_t branch_count;
    bool is_whole;   /* all words that many have make boxes */
    unsigned beside; /* what the others can add to a score */
    bool is_cut;     /* … and may have, for some that were not looked at */
    struct box *boxes;
    size_t box_count, box_size;
    struct directory_place top[TOP];
    size_t top_count, top_size;
    uint64_t *seen; /* a set of ranks; 0: free */
    size_t seen_count, seen_size;
    struct arena arena; /* of the resource that is looked at */
    uint64_t until_ns;
    enum err err;
};

/* --- ranks that were looked at --- */

static bool insert(uint64_t *set, size_t size, uint64_t rank)
{
    size_t at = (rank * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (size - 1);

    while (set[at] && set[at] != rank + 1)
        at = (at + 1) & (size - 1);
    if (set[at])
        return false;
    set[at] = rank + 1;
    return true;
}

static void grow_seen(struct search *s)
{
    size_t size = s->seen_size ? 2 * s->seen_size : 1024;
    uint64_t *larger = xcalloc(size, sizeof(*larger));

    for (size_t i = 0; i < s->seen_size; i++)
        if (s->seen[i])
            (void)insert(larger, size, s->seen[i] - 1);
    free(s->seen);
    s->seen = larger;
    s->seen_size = size;
}

/* False: it was seen before. */
static bool see(struct search *s, uint64_t rank)
{
    if (2 * s->seen_count >= s->seen_size)
        grow_seen(s);
    if (!insert(s->seen, s->seen_size, rank))
        return false;
    s->seen_count++;
    return true;
}

/* --- the best so far --- */

static bool is_better(const struct directory_place *a, const struct directory_place *b)
{
    return a->score != b->score ? a->score > b->score : a->rank < b->rank;
}

static void keep(struct search *s, struct directory_place place)
{
    size_t at = s->top_count;

    if (s->ask->has_cursor && !is_better(&s->ask->after, &place))
        return; /* of a page before */
    while (at > 0 && is_better(&place, &s->top[at - 1]))
        at--;
    if (at == s->top_size)
        return;
    if (s->top_count < s->top_size)
        s->top_count++;
    memmove(&s->top[at + 1], &s->top[at], (s->top_count - 1 - at) * sizeof(s->top[0]));
    s->top[at] = place;
}

enum err directory_read(struct str json, struct arena *arena, struct resource *ret)
{
    const struct json *root;
    enum err err = json_parse(json, arena, &root, NULL);

    if (!err)
        err = resource_read(root, arena, ret, NULL);
    return err == OK || err == ERR_TOO_BIG ? err : ERR_IO;
}

static void look_at(void *user, uint64_t rank, struct str json)
{
    struct search *s = user;
    struct directory_match match;
    struct resource resource;

    s->page->loads++;
    arena_reset(&s->arena);
    if (directory_read(json, &s->arena, &resource)) {
        s->err = directory_fail(s->directory, "a resource is damaged");
        return;
    }
    if (!directory_passes(s->ask, &resource))
        return;
    directory_match(s->ask, &resource, &match);
    if (match.score || !s->ask->term_count)
        keep(s, (struct directory_place){ match.score, rank });
}

static enum err look_at_all(struct search *s, const uint64_t *ranks, size_t count)
{
    uint64_t fresh[FEW + 1];
    size_t fresh_count = 0;
    enum err err;

    for (size_t i = 0; i < count; i++)
        if (see(s, ranks[i]))
            fresh[fresh_count++] = ranks[i];
    if (!fresh_count)
        return OK;
    err = s->directory->ops->load(s->directory, fresh, fresh_count, look_at, s);
    return err ? err : s->err;
}

/* --- questions --- */

static bool is_time_up(struct search *s)
{
    if (!s->page->is_partial)
        s->page->is_partial = s->page->finds >= FINDS_MAX ||
                              s->page->loads >= LOADS_MAX ||
                              clock_mono_ns() > s->until_ns;
    return s->page->is_partial;
}

static void need_mark(struct search *s, char letter, struct str word, bool is_beginning)
{
    struct directory_need *need = &s->find.needs[s->find.need_count++];

    need->mark[0] = letter;
    memcpy(need->mark + 1, word.ptr, word.len);
    need->len = word.len + 1;
    need->is_beginning = is_beginning;
}

/* In such a place or a better one. */
static void need_term(struct search *s, const struct branch *branch,
                      enum directory_class place)
{
    const struct directory_term *term = branch->term;
    struct str word = { term->stem, term->stem_len };

    if (branch->is_beginning)
        word = (struct str){ term->word, term->word_len };
    need_mark(s, directory_letter(place), word, branch->is_beginning);
}

static enum err find(struct search *s, size_t limit, uint64_t *ret, size_t *ret_count)
{
    if (directory_is_cancelled(s->directory))
        return ERR_CLOSED;
    s->page->finds++;
    s->find.limit = limit;
    return s->directory->ops->find(s->directory, &s->find, ret, ret_count);
}

static void find_anew(struct search *s)
{
    s->find.need_count = s->filter_count;
    s->find.first = s->first;
    s->find.end = s->end;
}

static void find_after(struct search *s, uint64_t rank)
{
    if (rank + 1 > s->first)
        s->find.first = rank + 1;
}

static void need_filters(struct search *s)
{
    struct buf marks;
    struct str rest;

    buf_init(&marks, (size_t)DIRECTORY_NEEDS * (DIRECTORY_MARK + 2));
    directory_filter_marks(s->ask, &marks);
    rest = str_trim(buf_str(&marks));
    while (rest.len && s->find.need_count < DIRECTORY_NEEDS - DIRECTORY_TERMS) {
        struct str mark = str_cut(&rest, ' ');
        bool is_beginning = str_ends(mark, S("*"));

        need_mark(s, mark.ptr[0], str_slice(mark, 1, mark.len - is_beginning),
                  is_beginning);
    }
    s->filter_count = s->find.need_count;
    buf_done(&marks);
    directory_ranks(s->ask, &s->first, &s->end);
    s->find.has_max_rate = s->ask->has_max_rate;
    s->find.max_hourly = s->ask->max_hourly;
}

/* --- words --- */

static int compare_reach(const void *a, const void *b)
{
    const struct branch *x = a, *y = b;

    if (x->reached != y->reached)
        return x->reached < y->reached ? 1 : -1;
    return x->term < y->term ? -1 : 1;
}

/* A word that few have is done with; the others make boxes. */
static enum err look_up(struct search *s, struct branch *branch, bool *ret_is_rare)
{
    size_t count = 0;
    uint64_t ranks[FEW + 1];
    enum err err;

    find_anew(s);
    need_term(s, branch, DIRECTORY_PROFILE);
    err = find(s, FEW + 1, ranks, &count);
    if (err)
        return err;
    *ret_is_rare = count <= FEW;
    if (*ret_is_rare)
        return look_at_all(s, ranks, count);
    branch->reached = ranks[FEW];
    s->branch_count++;
    return OK;
}

static enum err look_up_term(struct search *s, struct directory_term *term)
{
    struct branch *branch = &s->branches[s->branch_count];
    bool is_rare = false;
    enum err err;

    *branch = (struct branch){ .term = term };
    err = look_up(s, branch, &is_rare);
    if (err || !term->may_begin || !is_rare) {
        term->may_begin = false;
        return err;
    }
    branch->is_beginning = true;
    return look_up(s, branch, &is_rare);
}

static unsigned weight_at(const struct branch *branch, uint8_t place)
{
    unsigned weight = place ? directory_weight((enum directory_class)(place - 1)) : 0;

    return branch->is_beginning ? weight / 2 : weight;
}

static enum err look_up_terms(struct search *s)
{
    enum err err = OK;

    for (size_t i = 0; i < s->ask->term_count && !err; i++)
        err = look_up_term(s, &s->ask->terms[i]);
    qsort(s->branches, s->branch_count, sizeof(s->branches[0]), compare_reach);
    s->is_whole = s->branch_count <= BRANCHES;
    for (; s->branch_count > BRANCHES; s->branch_count--)
        s->beside += weight_at(&s->branches[s->branch_count - 1], DIRECTORY_CLASS_COUNT);
    return err;
}

/* --- boxes --- */

static unsigned sum(const struct search *s, const uint8_t places[static BRANCHES])
{
    unsigned total = 0;

    for (size_t i = 0; i < s->branch_count; i++)
        total += weight_at(&s->branches[i], places[i]);
    return total;
}

static void add_box(struct search *s, struct box box)
{
    box.upper = sum(s, box.high);
    if (box.upper == 0)
        return;
    if (s->box_count == s->box_size) {
        s->box_size = s->box_size ? 2 * s->box_size : 64;
        s->boxes = xrealloc(s->boxes, s->box_size * sizeof(s->boxes[0]));
    }
    s->boxes[s->box_count++] = box;
}

static struct box take_highest(struct search *s)
{
    size_t best = 0;
    struct box box;

    for (size_t i = 1; i < s->box_count; i++)
        if (s->boxes[i].upper > s->boxes[best].upper)
            best = i;
    box = s->boxes[best];
    s->boxes[best] = s->boxes[--s->box_count];
    return box;
}

static void add_first_box(struct search *s)
{
    struct box all = {};

    for (size_t i = 0; i < s->branch_count; i++)
        all.high[i] = DIRECTORY_CLASS_COUNT;
    add_box(s, all);
}

/* Along a word that the box says nothing about yet, or else along the first that is not
 * settled. False: it is a single score. */
static bool cut(struct search *s, const struct box *box)
{
    size_t at = BRANCHES;
    struct box upper = *box, lower = *box;

    for (size_t i = s->branch_count; i-- > 0;)
        if (box->low[i] < box->high[i] && (at == BRANCHES || box->low[i] <= box->low[at]))
            at = i;
    if (at == BRANCHES)
        return false;
    upper.low[at] = (uint8_t)((box->low[at] + box->high[at] + 1) / 2);
    lower.high[at] = (uint8_t)(upper.low[at] - 1);
    add_box(s, upper);
    add_box(s, lower);
    return true;
}

static void need_box(struct search *s, const struct box *box)
{
    find_anew(s);
    for (size_t i = 0; i < s->branch_count; i++)
        if (box->low[i])
            need_term(s, &s->branches[i], (enum directory_class)(box->low[i] - 1));
}

static bool is_single(const struct search *s, const struct box *box)
{
    return memcmp(box->low, box->high, s->branch_count) == 0;
}

/* Can one of the same score with a higher rank still be among the best? */
static bool is_too_late(const struct search *s, unsigned score, uint64_t rank)
{
    struct directory_place place = { score, rank };

    return s->top_count == s->top_size && !is_better(&place, &s->top[s->top_count - 1]);
}

/* The first of a box of one score. What is asked for is "at least", so that some may have
 * a higher one, and were on a page before: then it goes on. */
static enum err take_first(struct search *s, const struct box *box)
{
    uint64_t ranks[FEW + 1];
    size_t limit = s->is_whole ? s->top_size : FEW;
    size_t count = limit;
    enum err err = OK;

    if (s->is_whole && s->ask->has_cursor && box->upper == s->ask->after.score)
        find_after(s, s->ask->after.rank);
    while (!err && count == limit && !is_time_up(s)) {
        err = find(s, limit, ranks, &count);
        if (!err)
            err = look_at_all(s, ranks, count);
        s->is_cut |= !s->is_whole && count == limit;
        if (err || !count || !s->is_whole || is_too_late(s, box->upper, ranks[count - 1]))
            break;
        find_after(s, ranks[count - 1]);
    }
    return err;
}

static enum err open_box(struct search *s, const struct box *box)
{
    size_t count = 0;
    uint64_t ranks[FEW + 1];
    enum err err;

    if (sum(s, box->low) == 0 && cut(s, box))
        return OK; /* it is nearly everything */
    need_box(s, box);
    if (is_single(s, box))
        return take_first(s, box);
    err = find(s, FEW + 1, ranks, &count);
    if (err)
        return err;
    if (count <= FEW)
        return look_at_all(s, ranks, count);
    (void)cut(s, box);
    return OK;
}

/* May one that was not looked at be better by words that make no boxes? */
static bool may_miss(const struct search *s, unsigned upper)
{
    return !s->is_whole && (s->top_count < s->top_size ||
                            s->top[s->top_count - 1].score <= upper + s->beside);
}

static enum err open_boxes(struct search *s)
{
    enum err err = OK;

    add_first_box(s);
    while (!err && s->box_count && !is_time_up(s)) {
        struct box box = take_highest(s);

        if (s->top_count == s->top_size && s->top[s->top_count - 1].score > box.upper) {
            s->is_cut |= may_miss(s, box.upper);
            break;
        }
        if (s->ask->has_cursor && sum(s, box.low) > s->ask->after.score)
            continue; /* they were on pages before */
        err = open_box(s, &box);
        s->is_cut |= !s->box_count && may_miss(s, 0);
    }
    s->page->is_partial |= s->is_cut;
    return err;
}

/* --- the other ways --- */

static enum err search_members(struct search *s)
{
    const struct str_list *members = &s->ask->query->members;
    enum err err = OK;

    for (size_t i = 0; i < members->count && !err; i++) {
        err = s->directory->ops->get(s->directory, members->items[i], look_at, s);
        if (err == ERR_NOT_FOUND)
            err = OK; /* it has left the directory */
    }
    return err ? err : s->err;
}

/* All that pass the filters. */
static enum err list(struct search *s)
{
    uint64_t ranks[FEW + 1];
    size_t count = 0;
    enum err err;

    find_anew(s);
    if (s->ask->has_cursor)
        find_after(s, s->ask->after.rank);
    err = find(s, s->top_size, ranks, &count);
    for (size_t i = 0; i < count && !err; i++)
        keep(s, (struct directory_place){ .rank = ranks[i] });
    return err;
}

static enum err search(struct search *s)
{
    enum err err;

    if (s->ask->has_text && !s->ask->term_count)
        return OK; /* there is no word in it */
    if (s->ask->query->is_of_team)
        return search_members(s);
    if (!s->ask->term_count)
        return list(s);
    err = look_up_terms(s);
    return err || !s->branch_count ? err : open_boxes(s);
}

/* --- the answer --- */

struct filling {
    struct search *search;
    size_t count; /* of hits */
    bool is_there[TOP];
    enum err err;
};

static void fill_hit(void *user, uint64_t rank, struct str json)
{
    struct filling *filling = user;
    struct search *s = filling->search;
    struct str kept = arena_str(&s->page->arena, json);
    struct directory_hit *hit;
    size_t at = 0;

    while (at < filling->count && (s->top[at].rank != rank || filling->is_there[at]))
        at++;
    if (at == filling->count)
        return;
    hit = &s->page->hits[at];
    if (!kept.ptr || directory_read(kept, &s->page->arena, &hit->resource) != OK) {
        filling->err = directory_fail(s->directory, "a resource is damaged");
        return;
    }
    directory_match(s->ask, &hit->resource, &hit->match);
    filling->is_there[at] = true;
    s->page->count++;
}

static void write_cursor(struct directory_page *page, const struct directory_place *last)
{
    struct buf cursor;

    buf_init(&cursor, DIRECTORY_CURSOR);
    directory_cursor_write(&cursor, last);
    memcpy(page->cursor, cursor.ptr, cursor.len);
    page->cursor[cursor.len] = '\0';
    buf_done(&cursor);
}

static enum err fill_page(struct search *s)
{
    struct filling filling = { .search = s };
    uint64_t ranks[TOP];
    enum err err;

    filling.count = s->top_count < s->ask->limit ? s->top_count : s->ask->limit;
    if (!filling.count)
        return OK;
    for (size_t i = 0; i < filling.count; i++)
        ranks[i] = s->top[i].rank;
    err = s->directory->ops->load(s->directory, ranks, filling.count, fill_hit, &filling);
    if (!err)
        err = filling.err;
    if (!err && s->page->count != filling.count)
        err = directory_fail(s->directory, "a resource is missing");
    if (!err && s->top_count > filling.count)
        write_cursor(s->page, &s->top[filling.count - 1]);
    return err;
}

void directory_page_init(struct directory_page *page)
{
    memset(page, 0, sizeof(*page));
    arena_init(&page->arena, HITS_ARENA);
}

void directory_page_done(struct directory_page *page)
{
    arena_done(&page->arena);
}

static void empty_page(struct directory_page *page)
{
    arena_reset(&page->arena);
    page->count = page->finds = page->loads = 0;
    page->cursor[0] = '\0';
    page->is_partial = false;
}

enum err directory_search(struct store_directory *directory,
                          const struct directory_ask *ask, struct directory_page *ret)
{
    struct search *s = xcalloc(1, sizeof(*s));
    struct directory_ask own = *ask;
    enum err err;

    s->directory = directory;
    s->ask = &own;
    s->page = ret;
    s->top_size = ask->limit + 1;
    s->until_ns = clock_mono_ns() + SEARCH_MS * UINT64_C(1000000);
    arena_init(&s->arena, RESOURCE_ARENA);
    empty_page(ret);
    need_filters(s);
    err = search(s);
    if (!err)
        err = fill_page(s);
    arena_done(&s->arena);
    free(s->boxes);
    free(s->seen);
    free(s);
    return err;
}
