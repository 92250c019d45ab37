/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/cleanup.h"
#include "directory/query.h"
#include "harness.h"

/* "word/stem word/stem*"; borrowed until the next call. */
static struct str terms_of(const char *text)
{
    static char out[4096];
    struct directory_query query = { .text = str_of(text) };
    struct directory_ask ask;
    size_t len = 0;

    CHECK_INT(directory_ask_read(&query, &ask, NULL), OK);
    for (size_t i = 0; i < ask.term_count; i++) {
        const struct directory_term *term = &ask.terms[i];

        len +=
            (size_t)snprintf(out + len, sizeof(out) - len, "%s%.*s/%.*s%s",
                             len ? " " : "", (int)term->word_len, term->word,
                             (int)term->stem_len, term->stem, term->may_begin ? "*" : "");
    }
    return (struct str){ out, len };
}

TEST(a_text_is_understood_as_words_without_fillers)
{
    static const struct {
        const char *text;
        struct str terms;
    } cases[] = {
        { "Python developer with experience in a certain field",
          S("python/python developer/develop certain/certain field/field*") },
        { "developers developing", S("developers/develop") },
        { "developing developers developing", S("developing/develop*") },
        { "c", S("c/c") },
        { "go", S("go/go") },
        { "with the", S("with/with the/the*") },
        { "python in", S("python/python") },
        { "", S("") },
        { "?", S("") },
        { "a1 a2 a3 a4 a5 a6 a7 a8 a9 b1 b2 b3 b4 b5 b6 b7 b8",
          S("a1/a1 a2/a2 a3/a3 a4/a4 a5/a5 a6/a6 a7/a7 a8/a8 a9/a9 b1/b1 b2/b2 b3/b3 "
            "b4/b4 b5/b5 b6/b6 b7/b7") },
    };

    FOR_EACH_CASE(c, cases)
        CHECK_STR(terms_of(c->text), c->terms);
}

static const struct str many[DIRECTORY_SKILLS + 1] = {
    S("a"), S("a"), S("a"), S("a"), S("a"), S("a"), S("a"), S("a"), S("a"),
    S("a"), S("a"), S("a"), S("a"), S("a"), S("a"), S("a"), S("a"),
};
static const struct str nothing[] = { S("") };

TEST(what_is_wrong_is_refused_by_name)
{
    static const struct {
        struct directory_query query;
        struct str field;
    } cases[] = {
        { { .text = S("a\xff") }, S("query") },
        { { .skills = { many, COUNT(many) } }, S("skills") },
        { { .skills = { nothing, 1 } }, S("skills") },
        { { .kind = S("robot") }, S("kind") },
        { { .currency = S("EURO") }, S("currency") },
        { { .max_rate = S("cheap") }, S("max_rate") },
        { { .max_rate = S("-1") }, S("max_rate") },
        { { .max_rate = S("1 OR 1=1") }, S("max_rate") },
        { { .max_rate = S("1e999") }, S("max_rate") },
        { { .limit = DIRECTORY_PAGE + 1 }, S("limit") },
        { { .cursor = S("x") }, S("cursor") },
        { { .cursor = S("AQAAAAAAAAAAAAAAA") }, S("cursor") },
        { { .location = S("a b c d e f g h i") }, S("location") },
    };

    FOR_EACH_CASE(c, cases) {
        struct resource_problem problem = {};
        struct directory_ask ask;

        CHECK_INT(directory_ask_read(&c->query, &ask, &problem), ERR_INVALID);
        CHECK_STR(problem.field, c->field);
        CHECK(problem.what);
        CHECK_INT(directory_ask_read(&c->query, &ask, NULL), ERR_INVALID);
    }
}

TEST(the_limit_has_a_preset)
{
    struct directory_ask ask;

    CHECK_INT(directory_ask_read(&(struct directory_query){}, &ask, NULL), OK);
    CHECK_INT(ask.limit, DIRECTORY_PRESET_PAGE);
    CHECK_INT(directory_ask_read(&(struct directory_query){ .limit = 7 }, &ask, NULL),
              OK);
    CHECK_INT(ask.limit, 7);
}

TEST(a_cursor_gives_back_its_place)
{
    static const struct directory_place places[] = {
        { 0, 0 },
        { 44, 1 },
        { UINT32_MAX, INT64_MAX },
        { 1, UINT64_C(4) << 59 },
    };

    FOR_EACH_CASE(c, places) {
        struct directory_place back = {};
        struct buf text;

        buf_init(&text, DIRECTORY_CURSOR);
        directory_cursor_write(&text, c);
        CHECK_INT(directory_cursor_parse(buf_str(&text), &back), OK);
        CHECK(!text.is_full && back.score == c->score && back.rank == c->rank);
        for (size_t i = 0; i < text.len; i++)
            CHECK_INT(directory_cursor_parse((struct str){ text.ptr, i }, &back),
                      ERR_INVALID);
        buf_done(&text);
    }
}

TEST(rates_are_compared_by_the_hour)
{
    static const struct {
        struct resource_rate rate;
        bool has_rate;
        uint64_t hourly;
    } cases[] = {
        { { S("100"), S("EUR"), RESOURCE_HOUR }, true, 100000000 },
        { { S("800"), S("EUR"), RESOURCE_DAY }, true, 100000000 },
        { { S("16000"), S("EUR"), RESOURCE_MONTH }, true, 100000000 },
        { { S("0.5"), S(""), RESOURCE_HOUR }, true, 500000 },
        { { S("0"), S(""), RESOURCE_HOUR }, true, 0 },
        { { S("1e300"), S(""), RESOURCE_HOUR }, true, 1000000000000000 },
        { { S(""), S(""), RESOURCE_HOUR }, false, 0 },
    };

    FOR_EACH_CASE(c, cases) {
        uint64_t hourly = 0;

        CHECK_INT(resource_hourly(&c->rate, &hourly), c->has_rate);
        CHECK_INT(hourly, c->hourly);
    }
}

TEST(ranks_follow_availability_and_then_nothing_one_could_choose)
{
    struct resource a = { .id = S("a"), .availability = S("full-time") };
    struct resource b = { .id = S("b"), .availability = S("Part-Time") };
    struct resource z = { .id = S("a"), .availability = S("unavailable") };

    CHECK(resource_rank(&a) < resource_rank(&b) && resource_rank(&b) < resource_rank(&z));
    CHECK(resource_rank(&z) <= INT64_MAX);
    CHECK_INT(resource_rank(&a) & 0xff, resource_rank(&z) & 0xff);
    a.availability = b.availability;
    CHECK(resource_rank(&a) != resource_rank(&b));
}
