/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/cleanup.h"
#include "directory/match.h"
#include "harness.h"

static const struct str skills[] = { S("Python"), S("Machine Learning"), S("C++") };
static const struct str languages[] = { S("German") };

static const struct resource ann = {
    .id = S("ann"),
    .name = S("Ann Kern"),
    .role = S("Developer"),
    .skills = { skills, COUNT(skills) },
    .availability = S("part-time"),
    .location = S("Zürich"),
    .languages = { languages, 1 },
    .time_zone = S("Europe/Zurich"),
    .profile = S("With Python she develops trading systems, and learned Esperanto."),
};

static struct directory_match match_of(const char *text, struct directory_ask *ask,
                                       struct directory_query *query)
{
    struct directory_match match;

    *query = (struct directory_query){ .text = str_of(text) };
    CHECK_INT(directory_ask_read(query, ask, NULL), OK);
    directory_match(ask, &ann, &match);
    return match;
}

TEST(a_word_counts_once_where_it_weighs_most)
{
    static const struct {
        const char *text;
        unsigned score;
    } cases[] = {
        { "python", 22 },    /* a skill, though it is in the profile as well */
        { "learning", 22 },  /* a word of a skill */
        { "developer", 16 }, /* the role, before the profile */
        { "kern", 12 },      /* the name */
        { "zurich", 10 },    /* the place */
        { "german", 10 },
        { "europe", 10 },
        { "part", 10 },
        { "traders", 0 },
        { "trading", 8 }, /* the profile */
        { "human", 8 },
        { "pyth", 11 }, /* half, for a beginning */
        { "esper", 4 },
        { "py", 0 },           /* too short for one */
        { "pyth zurich", 10 }, /* only the last */
        { "python developer kern", 22 + 16 + 12 },
        { "python pythons", 22 }, /* the same word */
        { "c++", 22 },
        { "c", 0 },
        { "with", 0 }, /* in running text it is not looked for */
        { "nothing", 0 },
        { "", 0 },
    };
    struct directory_query query;
    struct directory_ask ask;

    FOR_EACH_CASE(c, cases)
        CHECK_INT(match_of(c->text, &ask, &query).score, c->score);
}

TEST(a_reason_names_words_and_skills)
{
    static const struct {
        const char *text;
        struct str reason;
    } cases[] = {
        { "Python and cooking", S("{\"words\":[\"python\"],\"skills\":[\"Python\"]}") },
        { "learned german",
          S("{\"words\":[\"learned\",\"german\"],\"skills\":[\"Machine Learning\"]}") },
        { "cooking", S("{\"words\":[],\"skills\":[]}") },
    };

    FOR_EACH_CASE(c, cases) {
        struct directory_query query;
        struct directory_ask ask;
        struct directory_match match = match_of(c->text, &ask, &query);
        struct json_writer w;
        struct buf out;

        buf_init(&out, 1024);
        json_write_init(&w, &out);
        directory_reason_write(&w, &ask, &ann, &match);
        CHECK_STR(buf_str(&out), c->reason);
        buf_done(&out);
    }
}

TEST(skills_that_were_asked_for_are_reasons)
{
    static const struct str wanted[] = { S("c++"), S("python") };
    struct directory_query query = { .skills = { wanted, 2 } };
    struct directory_match match;
    struct directory_ask ask;

    CHECK_INT(directory_ask_read(&query, &ask, NULL), OK);
    CHECK(directory_passes(&ask, &ann));
    directory_match(&ask, &ann, &match);
    CHECK_INT(match.skills, 1 << 0 | 1 << 2);
    CHECK_INT(match.score, 0);
}

/* --- marks --- */

static bool has_mark(struct str marks, struct str mark)
{
    while (marks.len) {
        struct str next = str_cut(&marks, ' ');

        if (str_ends(mark, S("*")) ? str_starts(next, str_slice(mark, 0, mark.len - 1))
                                   : str_eq(next, mark))
            return true;
    }
    return false;
}

TEST(marks_tell_the_place_or_better)
{
    static const struct {
        struct str mark;
        bool is_there;
    } cases[] = {
        { S("epython"), true },  { S("apython"), true },    { S("edevelop"), false },
        { S("ddevelop"), true }, { S("ddeveloper"), true }, { S("adevelop"), true },
        { S("bzurich"), true },  { S("czurich"), false },   { S("aesperanto"), true },
        { S("atrade"), true },   { S("atrading"), false },  { S("awith"), false },
        { S("khuman"), true },   { S("lzurich"), true },    { S("leurope"), false },
        { S("ec++"), true },
    };
    struct buf marks;

    buf_init(&marks, 1 << 16);
    directory_marks(&ann, &marks);
    FOR_EACH_CASE(c, cases)
        CHECK_INT(has_mark(buf_str(&marks), c->mark), c->is_there);
    buf_done(&marks);
}

/* The weight by which the marks find a term. */
static unsigned weight_by_marks(struct str marks, const struct directory_term *term)
{
    unsigned weight = 0;

    for (int i = 0; i < DIRECTORY_CLASS_COUNT; i++) {
        char mark[DIRECTORY_MARK + 2];
        unsigned full = directory_weight((enum directory_class)i);
        int len = snprintf(mark, sizeof(mark), "%c%.*s*",
                           directory_letter((enum directory_class)i), (int)term->word_len,
                           term->word);

        if (term->may_begin && has_mark(marks, (struct str){ mark, (size_t)len }) &&
            full / 2 > weight)
            weight = full / 2;
        len = snprintf(mark, sizeof(mark), "%c%.*s",
                       directory_letter((enum directory_class)i), (int)term->stem_len,
                       term->stem);
        if (has_mark(marks, (struct str){ mark, (size_t)len }) && full > weight)
            weight = full;
    }
    return weight;
}

TEST(marks_and_scores_agree)
{
    static const char *const texts[] = {
        "python", "pyth",   "developers", "devel",     "kern",  "ker",  "zurich",
        "zur",    "german", "europe",     "esperanto", "esper", "c++",  "learns",
        "trades", "nobody", "univers",    "human",     "part",  "time", "she",
    };
    struct directory_query query;
    struct directory_ask ask;
    struct buf marks;

    buf_init(&marks, 1 << 16);
    directory_marks(&ann, &marks);
    FOR_EACH_CASE(c, texts) {
        struct directory_match match = match_of(*c, &ask, &query);

        CHECK_INT(ask.term_count, 1);
        CHECK_INT(weight_by_marks(buf_str(&marks), &ask.terms[0]), match.score);
    }
    buf_done(&marks);
}

TEST(filters_are_marks_too)
{
    static const struct str wanted[] = { S("MACHINE learning") };
    struct directory_query query = {
        .skills = { wanted, 1 },
        .availability = S("Part-Time"),
        .kind = S("Human"),
        .location = S("züri"),
    };
    struct directory_ask ask;
    struct buf marks, filters;
    struct str rest;
    size_t count = 0;

    buf_init(&marks, 1 << 16);
    buf_init(&filters, 1 << 16);
    directory_marks(&ann, &marks);
    CHECK_INT(directory_ask_read(&query, &ask, NULL), OK);
    directory_filter_marks(&ask, &filters);
    rest = str_trim(buf_str(&filters));
    while (rest.len) {
        CHECK(has_mark(buf_str(&marks), str_cut(&rest, ' ')));
        count++;
    }
    CHECK_INT(count, 3); /* availability is a range of ranks */
    buf_done(&marks);
    buf_done(&filters);
}
