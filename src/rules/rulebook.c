/* SPDX-License-Identifier: Apache-2.0 */
/* The book itself: its pages, their order, and what their rules may be used for. */
#include <stdlib.h>

#include "base/plain.h"
#include "base/utf8.h"
#include "base/xalloc.h"
#include "rules/rulebook_priv.h"

enum { TREE_BYTES = 16 << 20 };

/* --- pages --- */

/* Words of others, as far as a page has room for them. */
static struct str copy_words(struct arena *arena, struct str words, size_t max)
{
    CLEANUP(buf_done) struct buf plain;
    struct str text = str_slice(words, 0, max);

    buf_init(&plain, 6 * max + 16);
    plain_put(&plain, str_slice(text, 0, utf8_valid(text)), PLAIN_LINE);
    text = str_slice(buf_str(&plain), 0, max);
    return arena_str(arena, str_slice(text, 0, utf8_valid(text)));
}

/* What a rule covers is read from its own text, as it will be after a restart. */
static enum err copy_rule(struct page *page, const struct rule *rule)
{
    CLEANUP(arena_done) struct arena tree;
    CLEANUP(buf_done) struct buf text;
    const struct json *root;
    struct json_writer w;
    enum err err;

    arena_init(&tree, TREE_BYTES);
    buf_init(&text, RULEBOOK_TEXT);
    json_write_init(&w, &text);
    rule_write(&w, rule);
    if (text.is_full)
        return ERR_TOO_BIG;
    err = json_parse(buf_str(&text), &tree, &root, NULL);
    if (err)
        return err;
    page->text_bytes = text.len;
    return rule_read(root, buf_str(&text), &page->arena, &page->held.rule, NULL);
}

enum err page_new(const struct held_rule *held, struct page **ret)
{
    CLEANUP(page_freep) struct page *page = xcalloc(1, sizeof(*page));
    enum err err;

    arena_init(&page->arena, PAGE_MEMORY);
    page->held = *held;
    err = copy_rule(page, &held->rule);
    if (err)
        return err;
    page->held.changed_by = copy_words(&page->arena, held->changed_by, RULE_NAME);
    page->held.reason = copy_words(&page->arena, held->reason, RULE_NOTE);
    if (!page->held.changed_by.ptr || !page->held.reason.ptr)
        return ERR_TOO_BIG;
    *ret = TAKE(page);
    return OK;
}

void page_free(struct page *page)
{
    if (!page)
        return;
    list_remove(&page->link);
    arena_done(&page->arena);
    free(page);
}

size_t page_cost(const struct page *page)
{
    size_t memory = sizeof(*page) + page->arena.total;

    return memory > page->text_bytes ? memory : page->text_bytes;
}

/* --- the book --- */

struct rulebook *rulebook_new(struct str topic)
{
    struct rulebook *book = xcalloc(1, sizeof(*book));

    arena_init(&book->arena, topic.len + 64);
    book->topic = arena_str(&book->arena, topic);
    list_init(&book->pages);
    list_init(&book->gone);
    return book;
}

static void free_all(struct link *head)
{
    struct page *page;

    LIST_FOREACH(page, head, link)
        page_free(page);
}

void rulebook_free(struct rulebook *book)
{
    if (!book)
        return;
    free_all(&book->pages);
    free_all(&book->gone);
    arena_done(&book->arena);
    free(book);
}

struct page *book_find(const struct rulebook *book, struct str id)
{
    struct page *page;

    LIST_FOREACH(page, &book->pages, link)
        if (str_eq(page->held.rule.id, id))
            return page;
    return NULL;
}

static bool is_before(const struct rule *a, const struct rule *b)
{
    if (a->created_ms != b->created_ms)
        return a->created_ms < b->created_ms;
    return str_cmp(a->id, b->id) < 0;
}

void book_insert(struct rulebook *book, struct page *page)
{
    struct link *at = &book->pages; /* it comes before this one */

    while (at->prev != &book->pages) {
        const struct page *before = CONTAINER_OF(at->prev, struct page, link);

        if (!is_before(&page->held.rule, &before->held.rule))
            break;
        at = at->prev;
    }
    list_append(at, &page->link);
    book->count++;
}

void book_take_out(struct rulebook *book, struct page *page)
{
    list_remove(&page->link);
    list_append(&book->gone, &page->link);
    book->count--;
}

size_t rulebook_bytes(const struct rulebook *book)
{
    struct page *page;
    size_t sum = 0;

    LIST_FOREACH(page, &book->pages, link)
        sum += page_cost(page);
    return sum;
}

size_t rulebook_count(const struct rulebook *book)
{
    return book->count;
}

const struct held_rule *rulebook_find(const struct rulebook *book, struct str id)
{
    const struct page *page = book_find(book, id);

    return page ? &page->held : NULL;
}

static const struct held_rule *next_of(const struct link *head,
                                       const struct held_rule *after)
{
    const struct link *next =
        after ? ((const struct page *)after)->link.next : head->next;

    if (next == head)
        return NULL;
    return (const struct held_rule *)((const char *)next - offsetof(struct page, link));
}

const struct held_rule *rulebook_next(const struct rulebook *book,
                                      const struct held_rule *after)
{
    return next_of(&book->pages, after);
}

const struct held_rule *rulebook_next_dropped(const struct rulebook *book,
                                              const struct held_rule *after)
{
    const struct held_rule *held = next_of(&book->gone, after);

    while (held && !((const struct page *)held)->is_dropped)
        held = next_of(&book->gone, held);
    return held;
}

const struct held_rule *rulebook_next_covering(const struct rulebook *book,
                                               const struct held_rule *after,
                                               const struct rule_proposal *proposal,
                                               uint64_t now_ms)
{
    const struct held_rule *held = rulebook_next(book, after);

    while (held &&
           (held->rule.state != RULE_ACTIVE || !rule_is_current(&held->rule, now_ms) ||
            !rule_covers(&held->rule, proposal, NULL)))
        held = rulebook_next(book, held);
    return held;
}

/* --- use --- */

static enum err not_now(struct rulebook_problem *problem, const char *state,
                        const char *what)
{
    problem->field = S("rule");
    problem->state = state;
    problem->what = what;
    return ERR_RULE_STATE;
}

static enum err judge_use(const struct rulebook *book, const struct rule_use *use,
                          struct rulebook_problem *problem)
{
    const struct held_rule *held = rulebook_find(book, use->id);
    const char *state;

    if (!held) {
        problem->field = S("rule");
        problem->what = "is no rule of this topic";
        return ERR_NOT_FOUND;
    }
    state = rule_state_name(held->rule.state).ptr;
    if (str_eq(use->by, held->rule.proposer) ||
        str_eq(use->by, use->proposal->proposer)) {
        problem->field = S("rule");
        problem->what = "is about proposals of your own";
        return ERR_FORBIDDEN;
    }
    if (held->rule.state != RULE_ACTIVE)
        return not_now(problem, state, "is not active");
    if (!rule_is_current(&held->rule, use->at_ms))
        return not_now(problem, "expired", "has expired");
    if (!rule_covers(&held->rule, use->proposal, &problem->miss))
        return not_now(problem, state, "does not cover the proposal");
    if (held_rule_used(held, use->at_ms) >= held->rule.budget)
        return not_now(problem, "used up", "was used as often as it may be in an hour");
    return OK;
}

enum err rulebook_may_use(const struct rulebook *book, const struct rule_use *use,
                          struct rulebook_problem *problem)
{
    struct rulebook_problem unasked;

    return judge_use(book, use, problem ? problem : &unasked);
}

void rulebook_use(struct rulebook *book, const struct rule_use *use)
{
    struct page *page = book_find(book, use->id);

    if (!page)
        return; /* it was removed since */
    page->held.uses++;
    if (use->at_ms > page->held.last_use_ms)
        page->held.last_use_ms = use->at_ms;
    rule_hour_use(&page->held.hour, use->at_ms);
}
