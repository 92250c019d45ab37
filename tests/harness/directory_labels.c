/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions in everyday words, and whom a person would name for each. Precision at 5: of
 * the first five hits, or of as many as there are right ones if they are fewer, how many
 * are right. With those of queries.json in view the weights were chosen; those of
 * held-out.json were labelled before they were asked for the first time, and nothing may
 * be fitted to them: they tell what to expect of others.
 */
#include <stdio.h>

#include "directory_suite.h"

enum { FIRST = 5 };

static struct str read_whole(const char *path, struct buf *out)
{
    FILE *file = fopen(path, "re");
    size_t got = 1;

    CHECK(file);
    while (file && got > 0 && buf_reserve(out, 4096) == OK) {
        got = fread(out->ptr + out->len, 1, 4096, file);
        out->len += got;
    }
    if (file)
        (void)fclose(file);
    return buf_str(out);
}

static void put_resources(struct directory_stage *on, const struct json *list)
{
    struct resource all[128];
    size_t count = 0;

    JSON_FOREACH(item, list) {
        struct resource_problem problem = {};

        if (resource_read(item, &on->arena, &all[count], &problem))
            printf("# resource %zu: " STR_FMT " %s\n", count, STR_ARG(problem.field),
                   problem.what);
        else
            count++;
    }
    CHECK_INT(count, list->count);
    CHECK_INT(store_resource_put_all(on->directory, all, count), OK);
}

static bool is_right(const struct json *right, struct str id)
{
    JSON_FOREACH(item, right)
        if (str_eq(json_text(item), id))
            return true;
    return false;
}

static double precision(struct directory_stage *on, const struct json *question)
{
    const struct json *right = json_find(question, S("right"));
    struct str text = json_text(json_find(question, S("query")));
    size_t most = right->count < FIRST ? right->count : FIRST, good = 0;
    struct str ids = ids_found(on, &(struct directory_query){ .text = text });

    for (size_t i = 0; i < most && i < on->page.count; i++)
        good += is_right(right, on->page.hits[i].resource.id);
    if (good < most)
        printf("# %zu of %zu: \"" STR_FMT "\": %.*s\n", good, most, STR_ARG(text),
               ids.len < 100 ? (int)ids.len : 100, ids.ptr);
    return (double)good / (double)most;
}

static const struct json *read_labels(struct directory_stage *on, const char *name,
                                      struct buf *text)
{
    const struct json *root = NULL;
    char path[4096];

    (void)snprintf(path, sizeof(path), "%s/%s", LABELS, name);
    CHECK_INT(json_parse(read_whole(path, text), &on->arena, &root, NULL), OK);
    return root;
}

static void check_precision(const char *name, double least)
{
    const struct json *questions;
    struct directory_stage on;
    struct buf people, text;
    double total = 0;

    directory_stage_init(&on);
    buf_init(&people, 1 << 20);
    buf_init(&text, 1 << 20);
    put_resources(&on,
                  json_find(read_labels(&on, "queries.json", &people), S("resources")));
    questions = json_find(read_labels(&on, name, &text), S("queries"));
    JSON_FOREACH(question, questions)
        total += precision(&on, question);
    total /= (double)questions->count;
    printf("# precision at %d of %zu questions of %s: %.3f\n", FIRST, questions->count,
           name, total);
    CHECK(total >= least);
    buf_done(&people);
    buf_done(&text);
    directory_stage_done(&on);
}

TEST(everyday_questions_find_whom_a_person_would_name)
{
    check_precision("queries.json", 0.90);
}

TEST(everyday_questions_that_nothing_was_fitted_to_do_so_as_well)
{
    check_precision("held-out.json", 0.85);
}
