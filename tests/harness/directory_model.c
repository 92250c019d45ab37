/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Made-up resources and questions, answered by the store and by looking at every one of
 * them: the same hits, in the same order, on every page.
 */
#include "base/xalloc.h"
#include "dice.h"
#include "directory_suite.h"

enum { RESOURCES = 2500, PAGES = 8 };

static const char *const vocabulary[] = {
    "python",  "developer", "java",    "javascript", "design",  "designer",
    "finance", "bank",      "data",    "cloud",      "senior",  "berlin",
    "zurich",  "support",   "testing", "security",   "mobile",  "writer",
    "german",  "english",   "cobol",   "welding",    "quantum", "opera",
};

struct model {
    struct directory_stage on;
    struct resource *resources;
    struct directory_place *order; /* of the question at hand */
    size_t count;
    struct dice dice;
};

/* Few words are frequent and many are rare. */
static const char *word(struct model *m)
{
    size_t most = COUNT(vocabulary);

    if (dice_below(&m->dice, 4))
        most = dice_below(&m->dice, 3) ? 8 : 20;
    return vocabulary[dice_below(&m->dice, most)];
}

static void make_one(struct model *m, size_t i)
{
    static const char *const available[] = { "full-time", "part-time", "contract",
                                             "weekends", "unavailable" };
    char json[1024];
    int len;

    len = snprintf(
        json, sizeof(json),
        "{\"id\":\"r-%zu\",\"kind\":\"%s\",\"name\":\"N%zu %s\",\"role\":\"%s %s\","
        "\"skills\":[\"%s\",\"%s %zu\"],\"availability\":\"%s\","
        "\"location\":\"%s\",\"rate\":%zu,"
        "\"profile\":\"%s %s and %s, %s with %s.\"}",
        i, i % 3 ? "human" : "agent", i, word(m), word(m), word(m), word(m), word(m),
        i % 7, available[dice_below(&m->dice, 5)], word(m), i % 200, word(m), word(m),
        word(m), word(m), word(m));
    m->resources[i] = resource_of(&m->on, (struct str){ json, (size_t)len });
}

static int compare(const void *a, const void *b)
{
    const struct directory_place *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Is the last word finished? It is when many have it. */
static void finish_word(struct model *m, struct directory_ask *ask)
{
    struct directory_ask alone = *ask;
    struct directory_match match;
    size_t count = 0;

    for (size_t i = 0; i < ask->term_count; i++) {
        if (!ask->terms[i].may_begin)
            continue;
        alone.terms[0] = ask->terms[i];
        alone.terms[0].may_begin = false;
        alone.term_count = 1;
        for (size_t j = 0; j < RESOURCES; j++) {
            directory_match(&alone, &m->resources[j], &match);
            count += match.score && directory_passes(ask, &m->resources[j]);
        }
        ask->terms[i].may_begin = count <= DIRECTORY_FINISHED;
    }
}

/* Looks at all. */
static void expect(struct model *m, struct directory_ask *ask)
{
    m->count = 0;
    finish_word(m, ask);
    for (size_t i = 0; i < RESOURCES; i++) {
        struct directory_match match;

        if (!directory_passes(ask, &m->resources[i]))
            continue;
        directory_match(ask, &m->resources[i], &match);
        if (match.score || !ask->term_count)
            m->order[m->count++] =
                (struct directory_place){ match.score, resource_rank(&m->resources[i]) };
    }
    qsort(m->order, m->count, sizeof(m->order[0]), compare);
}

static size_t check_page(struct model *m, const struct directory_page *page, size_t at)
{
    size_t wrong = 0;

    for (size_t i = 0; i < page->count; i++) {
        const struct directory_hit *hit = &page->hits[i];
        uint64_t rank = resource_rank(&hit->resource);

        wrong += at + i >= m->count || m->order[at + i].rank != rank ||
                 m->order[at + i].score != hit->match.score;
    }
    return wrong;
}

static void ask_all_pages(struct model *m, struct directory_query *query)
{
    struct directory_page *page = &m->on.page;
    char cursor[DIRECTORY_CURSOR + 1] = "";
    struct directory_ask ask;
    size_t at = 0, wrong = 0;

    CHECK_INT(directory_ask_read(query, &ask, NULL), OK);
    expect(m, &ask);
    for (size_t i = 0; i < PAGES; i++) {
        query->cursor = str_of(cursor);
        CHECK_INT(directory_ask_read(query, &ask, NULL), OK);
        CHECK_INT(store_resource_search(m->on.directory, &ask, page), OK);
        wrong += check_page(m, page, at) + page->is_partial;
        at += page->count;
        if (!page->cursor[0])
            break;
        memcpy(cursor, page->cursor, sizeof(cursor));
    }
    if (!page->cursor[0])
        wrong += at != m->count;
    CHECK_INT(wrong, 0);
    if (wrong)
        printf("# asked for \"" STR_FMT "\", %zu of %zu\n", STR_ARG(query->text), at,
               m->count);
}

static void put_all(struct model *m)
{
    for (size_t i = 0; i < RESOURCES; i++)
        make_one(m, i);
    CHECK_INT(store_resource_put_all(m->on.directory, m->resources, RESOURCES), OK);
    /* Half of them again, as they are or changed. */
    for (size_t i = 0; i < RESOURCES; i += 4)
        make_one(m, i);
    CHECK_INT(store_resource_put_all(m->on.directory, m->resources, RESOURCES / 2), OK);
    CHECK_INT(store_resource_put_all(m->on.directory, m->resources + RESOURCES / 2,
                                     RESOURCES - RESOURCES / 2),
              OK);
}

static void ask_one(struct model *m)
{
    struct directory_query query = { .limit = 1 + dice_below(&m->dice, 30) };
    size_t words = dice_below(&m->dice, 4), len = 0;
    char text[256] = "", skill[32];
    struct str skills[] = { { skill, 0 } };

    for (size_t i = 0; i <= words; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
                                word(m));
    if (dice_below(&m->dice, 3) == 0)
        len -= 2;
    query.text = (struct str){ text, len };
    if (dice_below(&m->dice, 5) == 0)
        query.kind = S("agent");
    if (dice_below(&m->dice, 5) == 0)
        query.max_rate = S("60");
    if (dice_below(&m->dice, 8) == 0)
        query.availability = S("Contract");
    if (dice_below(&m->dice, 8) == 0)
        query.location = S("be");
    if (dice_below(&m->dice, 8) == 0) {
        skills[0].len = (size_t)snprintf(skill, sizeof(skill), "%s", word(m));
        query.skills = (struct str_list){ skills, 1 };
    }
    if (dice_below(&m->dice, 10) == 0)
        query.text = S("");
    ask_all_pages(m, &query);
}

TEST(answers_are_those_of_looking_at_all_of_them)
{
    struct model m = { .dice = { 7 } };

    directory_stage_init(&m.on);
    m.resources = xcalloc(RESOURCES, sizeof(*m.resources));
    m.order = xcalloc(RESOURCES, sizeof(*m.order));
    put_all(&m);
    for (uint64_t i = dice_rounds("QUESTIONS", suite_questions); i > 0; i--)
        ask_one(&m);
    free(m.resources);
    free(m.order);
    directory_stage_done(&m.on);
}
