/* SPDX-License-Identifier: Apache-2.0 */
#include "directory_suite.h"

#include "base/clock.h"
#include "base/xalloc.h"

/* --- the stage --- */

void directory_stage_init(struct directory_stage *on)
{
    char *why = NULL;

    suite_init(&on->stage);
    on->store = stage_open(&on->stage);
    CHECK_INT(store_directory_open(&on->stage.setup, &on->directory, &why), OK);
    if (why)
        printf("# %s\n", why);
    free(why);
    arena_init(&on->arena, 64 << 20);
    directory_page_init(&on->page);
}

void directory_stage_done(struct directory_stage *on)
{
    directory_page_done(&on->page);
    arena_done(&on->arena);
    store_directory_close(on->directory);
    store_close(on->store);
    suite_done(&on->stage);
}

struct resource resource_of(struct directory_stage *on, struct str json)
{
    struct resource_problem problem = {};
    struct resource resource = {};
    const struct json *root = NULL;

    CHECK_INT(json_parse(arena_str(&on->arena, json), &on->arena, &root, NULL), OK);
    CHECK_INT(resource_read(root, &on->arena, &resource, &problem), OK);
    return resource;
}

void put_json(struct directory_stage *on, struct str json)
{
    struct resource resource = resource_of(on, json);

    CHECK_INT(store_resource_put_all(on->directory, &resource, 1), OK);
}

struct str ids_found(struct directory_stage *on, const struct directory_query *query)
{
    static char ids[64 << 10];
    struct directory_ask ask;
    size_t len = 0;

    CHECK_INT(directory_ask_read(query, &ask, NULL), OK);
    CHECK_INT(store_resource_search(on->directory, &ask, &on->page), OK);
    CHECK(!on->page.is_partial);
    for (size_t i = 0; i < on->page.count; i++)
        len += (size_t)snprintf(ids + len, sizeof(ids) - len, "%s" STR_FMT, i ? " " : "",
                                STR_ARG(on->page.hits[i].resource.id));
    return (struct str){ ids, len };
}

static struct str found_by(struct directory_stage *on, const char *text)
{
    return ids_found(on, &(struct directory_query){ .text = str_of(text) });
}

static const struct str people[] = {
    S("{\"id\":\"ann\",\"kind\":\"human\",\"name\":\"Ann Kern\",\"role\":\"Developer\","
      "\"skills\":[\"Python\",\"FastAPI\"],\"availability\":\"part-time\","
      "\"location\":\"Zürich, Switzerland\",\"languages\":[\"German\",\"English\"],"
      "\"rate\":{\"amount\":120.5,\"currency\":\"CHF\",\"per\":\"hour\"},"
      "\"profile\":\"Builds data services for banks.\"}"),
    S("{\"id\":\"bob\",\"kind\":\"human\",\"name\":\"Bob Java\",\"role\":\"Designer\","
      "\"skills\":[\"Figma\",\"C++\"],\"availability\":\"full-time\","
      "\"location\":\"Berlin\",\"rate\":{\"amount\":640,\"currency\":\"EUR\","
      "\"per\":\"day\"},\"profile\":\"Some Python, and a developer at heart.\"}"),
    S("{\"id\":\"coder\",\"kind\":\"agent\",\"name\":\"Coder\",\"role\":\"Python "
      "developer\",\"skills\":[\"Code review\",\"JavaScript\"],"
      "\"availability\":\"full-time\"}"),
    S("{\"id\":\"dee\",\"kind\":\"human\",\"name\":\"Dee\",\"role\":\"Java developer\","
      "\"skills\":[\"Java\"],\"availability\":\"unavailable\",\"location\":\"Bern\"}"),
};

static void put_people(struct directory_stage *on)
{
    struct resource all[COUNT(people)];

    for (size_t i = 0; i < COUNT(people); i++)
        all[i] = resource_of(on, people[i]);
    CHECK_INT(store_resource_put_all(on->directory, all, COUNT(people)), OK);
}

/* --- keeping --- */

struct listed {
    char ids[256];
    size_t len, most;
};

static bool note_id(void *user, const struct resource *resource)
{
    struct listed *listed = user;

    listed->len +=
        (size_t)snprintf(listed->ids + listed->len, sizeof(listed->ids) - listed->len,
                         STR_FMT " ", STR_ARG(resource->id));
    return --listed->most > 0;
}

TEST(resources_are_kept_and_given_back_as_they_were)
{
    struct directory_stage on;
    struct resource got = {};
    struct listed all = { .most = 100 }, some = { .most = 2 };
    uint64_t count = 0;

    directory_stage_init(&on);
    CHECK_INT(store_resource_count(on.directory, &count), OK);
    CHECK_INT(count, 0);
    put_people(&on);
    CHECK_INT(store_resource_count(on.directory, &count), OK);
    CHECK_INT(count, COUNT(people));
    CHECK_INT(store_resource_get(on.directory, S("ann"), &on.arena, &got), OK);
    CHECK_STR(got.name, S("Ann Kern"));
    CHECK_STR(got.location, S("Zürich, Switzerland"));
    CHECK_STR(got.rate.amount, S("120.5"));
    CHECK_INT(got.skills.count, 2);
    CHECK_INT(store_resource_get(on.directory, S("an"), &on.arena, &got), ERR_NOT_FOUND);
    CHECK_INT(store_resource_each(on.directory, S(""), note_id, &all), OK);
    CHECK_STR(str_of(all.ids), S("ann bob coder dee "));
    CHECK_INT(store_resource_each(on.directory, S("ann"), note_id, &some), OK);
    CHECK_STR(str_of(some.ids), S("bob coder "));
    directory_stage_done(&on);
}

TEST(resources_are_there_after_a_restart)
{
    struct directory_stage on;
    uint64_t count = 0;

    directory_stage_init(&on);
    put_people(&on);
    store_directory_close(on.directory);
    store_close(on.store);
    on.store = stage_open(&on.stage);
    CHECK_INT(store_directory_open(&on.stage.setup, &on.directory, NULL), OK);
    CHECK_INT(store_resource_count(on.directory, &count), OK);
    CHECK_INT(count, COUNT(people));
    CHECK_STR(found_by(&on, "figma"), S("bob"));
    directory_stage_done(&on);
}

TEST(a_resource_that_was_replaced_is_found_by_what_it_is_now)
{
    struct directory_stage on;
    uint64_t count = 0;

    directory_stage_init(&on);
    put_people(&on);
    put_json(&on, S("{\"id\":\"dee\",\"kind\":\"human\",\"name\":\"Dee\",\"role\":"
                    "\"Gardener\",\"availability\":\"full-time\"}"));
    CHECK_STR(found_by(&on, "gardeners"), S("dee"));
    CHECK_STR(found_by(&on, "bern"), S(""));
    CHECK_STR(
        ids_found(&on, &(struct directory_query){ .availability = S("unavailable") }),
        S(""));
    CHECK_INT(store_resource_count(on.directory, &count), OK);
    CHECK_INT(count, COUNT(people));
    directory_stage_done(&on);
}

TEST(a_resource_that_was_removed_is_not_found)
{
    struct directory_stage on;
    struct resource got;
    bool was_found = false;

    directory_stage_init(&on);
    put_people(&on);
    CHECK_INT(store_resource_remove(on.directory, S("bob"), &was_found), OK);
    CHECK(was_found);
    CHECK_INT(store_resource_remove(on.directory, S("bob"), &was_found), OK);
    CHECK(!was_found);
    CHECK_INT(store_resource_get(on.directory, S("bob"), &on.arena, &got), ERR_NOT_FOUND);
    CHECK_STR(found_by(&on, "figma designer berlin"), S(""));
    directory_stage_done(&on);
}

TEST(a_batch_is_put_whole_or_not_at_all)
{
    struct directory_stage on;
    struct resource twice[2];
    uint64_t count = 9;

    directory_stage_init(&on);
    twice[0] = resource_of(&on, people[0]);
    twice[1] = resource_of(&on, people[0]);
    CHECK_INT(store_resource_put_all(on.directory, twice, 2), ERR_INVALID);
    twice[1] = resource_of(&on, people[1]);
    twice[1].id = S("");
    CHECK_INT(store_resource_put_all(on.directory, twice, 2), ERR_INVALID);
    CHECK_INT(store_resource_count(on.directory, &count), OK);
    CHECK_INT(count, 0);
    directory_stage_done(&on);
}

TEST(what_was_begun_and_not_committed_leaves_nothing_behind)
{
    struct directory_stage on;
    uint64_t count = 9;

    directory_stage_init(&on);
    CHECK_INT(store_directory_begin(on.directory), OK);
    put_people(&on);
    CHECK_STR(found_by(&on, "figma"), S("bob"));
    store_directory_rollback(on.directory);
    CHECK_INT(store_resource_count(on.directory, &count), OK);
    CHECK_INT(count, 0);
    CHECK_STR(found_by(&on, "figma"), S(""));
    CHECK_INT(store_directory_begin(on.directory), OK);
    put_people(&on);
    CHECK_INT(store_directory_commit(on.directory), OK);
    CHECK_INT(store_resource_count(on.directory, &count), OK);
    CHECK_INT(count, COUNT(people));
    directory_stage_done(&on);
}

/* --- finding --- */

TEST(words_are_found_wherever_they_stand_and_weigh_by_their_place)
{
    static const struct {
        const char *text;
        struct str ids;
    } cases[] = {
        { "python", S("ann coder bob") }, /* skill, role, profile */
        { "Python developer with experience in banking", S("ann coder bob dee") },
        { "PYTHON", S("ann coder bob") },
        { "pytho", S("ann coder bob") }, /* the last word may be a beginning */
        { "pytho developer", S("coder ann dee bob") }, /* the first may not */
        { "developers", S("coder ann dee bob") },
        { "developing", S("coder ann dee bob") },
        { "java", S("dee bob coder") }, /* whole words before beginnings */
        { "c++", S("bob") },
        { "fast api", S("") },
        { "zurich", S("ann") },
        { "ZÜRICH", S("ann") },
        { "swiss", S("") },
        { "someone who knows figma", S("bob") },
        { "bank", S("ann") },
        { "agent", S("coder") },
        { "full-time designer", S("bob coder ann") },
        { "part time", S("ann bob coder") },
        { "nobody", S("") },
        { "with", S("") },
        { "!!!", S("") },
        { "", S("bob coder ann dee") },
        { "  ", S("bob coder ann dee") },
    };
    struct directory_stage on;

    directory_stage_init(&on);
    put_people(&on);
    FOR_EACH_CASE(c, cases)
        CHECK_STR(found_by(&on, c->text), c->ids);
    directory_stage_done(&on);
}

static const struct str skills_python[] = { S("python") };
static const struct str skills_both[] = { S("PYTHON"), S("fastapi") };
static const struct str skills_half[] = { S("code") };
static const struct str team[] = { S("dee"), S("ann"), S("gone") };

TEST(filters_hold_all_at_once)
{
    static const struct {
        struct directory_query query;
        struct str ids;
    } cases[] = {
        { { .skills = { skills_python, 1 } }, S("ann") },
        { { .skills = { skills_both, 2 } }, S("ann") },
        { { .skills = { skills_half, 1 } }, S("") },
        { { .availability = S("Full-Time") }, S("bob coder") },
        { { .kind = S("agent") }, S("coder") },
        { { .kind = S("HUMAN") }, S("bob ann dee") },
        { { .location = S("ber") }, S("bob dee") },
        { { .location = S("switz zur") }, S("ann") },
        { { .location = S("rich") }, S("") },
        { { .max_rate = S("80") }, S("bob") },
        { { .max_rate = S("79.99") }, S("") },
        { { .max_rate = S("1e3") }, S("bob ann") },
        { { .max_rate = S("1000"), .currency = S("chf") }, S("ann") },
        { { .text = S("developer"), .max_rate = S("100") }, S("bob") },
        { { .text = S("developer"), .kind = S("human") }, S("ann dee bob") },
        { { .text = S("developer"), .kind = S("agent"), .location = S("b") }, S("") },
        { { .is_of_team = true, .members = { team, 3 } }, S("ann dee") },
        { { .is_of_team = true, .members = { team, 3 }, .text = S("java") }, S("dee") },
        { { .is_of_team = true }, S("") },
    };
    struct directory_stage on;

    directory_stage_init(&on);
    put_people(&on);
    FOR_EACH_CASE(c, cases)
        CHECK_STR(ids_found(&on, &c->query), c->ids);
    directory_stage_done(&on);
}

TEST(a_hit_says_why)
{
    struct directory_query query = { .text = S("Figma and python"), .limit = 1 };
    struct directory_stage on;
    struct directory_ask ask;
    struct json_writer w;
    struct buf out;

    directory_stage_init(&on);
    put_people(&on);
    buf_init(&out, 4096);
    CHECK_STR(ids_found(&on, &query), S("bob"));
    CHECK(on.page.cursor[0]);
    CHECK_INT(directory_ask_read(&query, &ask, NULL), OK);
    json_write_init(&w, &out);
    directory_reason_write(&w, &ask, &on.page.hits[0].resource, &on.page.hits[0].match);
    CHECK_STR(buf_str(&out),
              S("{\"words\":[\"figma\",\"python\"],\"skills\":[\"Figma\"]}"));
    buf_done(&out);
    directory_stage_done(&on);
}

/* --- hostile texts --- */

TEST(no_text_is_anything_but_words)
{
    static const struct str texts[] = {
        S("\"python"),
        S("python\" OR \"x"),
        S("python' ; DROP TABLE moot.resource; --"),
        S("'python'"),
        S("NEAR(python developer, 5)"),
        S("marks : python"),
        S("^python"),
        S("python*"),
        S("python AND NOT developer"),
        S("python & !developer | (x"),
        S("python:*A"),
        S("python <-> developer"),
        S("-python"),
        S("{python}"),
        S("$1 python %s %n"),
        S("python\\' \\\" \\"),
        S("pyth\0on"),
        S("\0"),
        S("\xe2\x80\xaepython\xe2\x80\xac"),
        S("עברית \xe2\x80\x8fpython"),
        S("\xf0\x9f\x90\x8d python"),
        S("python + # ++ ## c# +c"),
        S("e\xcc\x81\xcc\x81\xcc\x81 python"),
        S("epython apython kagent f0000000000000000"),
    };
    struct directory_stage on;
    uint64_t count = 0;

    directory_stage_init(&on);
    put_people(&on);
    FOR_EACH_CASE(c, texts) {
        (void)ids_found(&on, &(struct directory_query){ .text = *c });
        if (memmem(c->ptr, c->len, "python", 6) && !memmem(c->ptr, c->len, "epyth", 5))
            CHECK_STR(on.page.hits[0].resource.id, S("ann"));
        (void)ids_found(&on, &(struct directory_query){ .location = *c });
        (void)ids_found(&on, &(struct directory_query){ .availability = *c });
        (void)ids_found(&on, &(struct directory_query){ .skills = { c, 1 } });
    }
    CHECK_INT(store_resource_count(on.directory, &count), OK);
    CHECK_INT(count, COUNT(people));
    directory_stage_done(&on);
}

TEST(a_huge_text_is_bounded)
{
    struct directory_stage on;
    struct directory_ask ask;
    char text[DIRECTORY_TEXT + 1];

    directory_stage_init(&on);
    put_people(&on);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = i % 3 == 2 ? ' ' : (char)('a' + i / 3 % 26);
    CHECK_INT(
        directory_ask_read(&(struct directory_query){ .text = { text, sizeof(text) } },
                           &ask, NULL),
        ERR_INVALID);
    CHECK_STR(
        ids_found(&on, &(struct directory_query){ .text = { text, DIRECTORY_TEXT } }),
        S(""));
    memset(text, 'x', sizeof(text));
    CHECK_STR(
        ids_found(&on, &(struct directory_query){ .text = { text, DIRECTORY_TEXT } }),
        S(""));
    directory_stage_done(&on);
}

/* On all pages. */
static size_t count_found(struct directory_stage *on, const struct directory_query *asked)
{
    struct directory_query query = *asked;
    char cursor[DIRECTORY_CURSOR + 1] = "";
    size_t count = 0;

    query.limit = DIRECTORY_PAGE;
    do {
        query.cursor = str_of(cursor);
        (void)ids_found(on, &query);
        count += on->page.count;
        memcpy(cursor, on->page.cursor, sizeof(cursor));
    } while (cursor[0]);
    return count;
}

/* Few words that begin so are asked for one by one, many as a beginning. */
TEST(a_beginning_may_mean_any_number_of_words)
{
    enum { WORDS = 700 };
    struct resource all[WORDS];
    struct directory_stage on;

    directory_stage_init(&on);
    for (size_t i = 0; i < WORDS; i++) {
        char json[128];
        int len = snprintf(json, sizeof(json),
                           "{\"id\":\"r-%zu\",\"kind\":\"agent\",\"name\":\"N\","
                           "\"location\":\"%s%zu\"}",
                           i, i % 10 ? "many" : "manyfew", i);

        all[i] = resource_of(&on, (struct str){ json, (size_t)len });
    }
    CHECK_INT(store_resource_put_all(on.directory, all, WORDS), OK);
    CHECK_INT(count_found(&on, &(struct directory_query){ .location = S("manyfew") }),
              70);
    CHECK_INT(count_found(&on, &(struct directory_query){ .location = S("many") }), 700);
    CHECK_INT(count_found(&on, &(struct directory_query){ .text = S("manyfe") }), 70);
    CHECK_INT(count_found(&on, &(struct directory_query){ .text = S("man") }), 700);
    directory_stage_done(&on);
}

TEST(an_answer_says_when_more_words_were_frequent_than_are_weighed)
{
    enum { PEOPLE = 300 };
    static const struct {
        struct str text;
        bool is_partial;
    } cases[] = {
        { S("alpha beta gamma delta"), false },
        { S("alpha beta gamma delta epsilon"), true },
        { S("alpha beta gamma delta rare"), false },
    };
    struct resource all[PEOPLE];
    struct directory_stage on;
    struct directory_ask ask;

    directory_stage_init(&on);
    for (size_t i = 0; i < PEOPLE; i++) {
        char json[256];
        int len = snprintf(json, sizeof(json),
                           "{\"id\":\"r-%zu\",\"kind\":\"human\",\"name\":\"N\",\"role\":"
                           "\"alpha beta gamma delta\",\"skills\":[\"%s\"]}",
                           i, i % 2 ? "epsilon" : "zeta");

        all[i] = resource_of(&on, (struct str){ json, (size_t)len });
    }
    CHECK_INT(store_resource_put_all(on.directory, all, PEOPLE), OK);
    FOR_EACH_CASE(c, cases) {
        struct directory_query query = { .text = c->text };

        CHECK_INT(directory_ask_read(&query, &ask, NULL), OK);
        CHECK_INT(store_resource_search(on.directory, &ask, &on.page), OK);
        CHECK_INT(on.page.count, DIRECTORY_PRESET_PAGE);
        CHECK_INT(on.page.is_partial, c->is_partial);
    }
    directory_stage_done(&on);
}

TEST(a_resource_of_any_texts_is_kept_and_found)
{
    static const struct str texts[] = {
        S("it's \\\"quoted\\\""), S("a\\\\b"), S("\\u202ehidden"), S("日本語の開発者"),
        S("\\ud83d\\ude00"),      S("'); --"), S("x:*y&z|!"),
    };
    struct directory_stage on;

    directory_stage_init(&on);
    FOR_EACH_CASE(c, texts) {
        char json[512];
        int len = snprintf(json, sizeof(json),
                           "{\"id\":\"r%ld\",\"kind\":\"agent\",\"name\":\"" STR_FMT
                           "\",\"role\":\"" STR_FMT "\",\"skills\":[\"" STR_FMT
                           "\"],\"location\":\"" STR_FMT "\"}",
                           test_case, STR_ARG(*c), STR_ARG(*c), STR_ARG(*c), STR_ARG(*c));

        put_json(&on, (struct str){ json, (size_t)len });
    }
    CHECK_STR(found_by(&on, "quoted"), S("r0"));
    CHECK_STR(found_by(&on, "hidden"), S("r2"));
    CHECK_STR(found_by(&on, "開発"), S("r3"));
    directory_stage_done(&on);
}

/* --- from a loop --- */

struct asked {
    struct store_directory_job job;
    struct resource *resources;
    size_t count;
    uint64_t ret_count;
    enum err err;
    bool had_directory;
    bool is_done;
};

static void on_done(struct store_directory_job *job)
{
    CONTAINER_OF(job, struct asked, job)->is_done = true;
}

static void put_work(struct store_directory_job *job, struct store_directory *directory)
{
    struct asked *asked = CONTAINER_OF(job, struct asked, job);

    asked->had_directory = directory;
    asked->err = store_resource_put_all(directory, asked->resources, asked->count);
}

static void count_work(struct store_directory_job *job, struct store_directory *directory)
{
    struct asked *asked = CONTAINER_OF(job, struct asked, job);

    asked->had_directory = directory;
    asked->err = store_resource_count(directory, &asked->ret_count);
}

TEST(loops_hand_over_jobs_which_are_done_when_the_store_closes)
{
    struct loop *loop = loop_new();
    struct asked puts[COUNT(people)] = {}, count = {};
    struct resource resources[COUNT(people)];
    struct directory_stage on;
    uint64_t left = 0;

    directory_stage_init(&on);
    for (size_t i = 0; i < COUNT(people); i++) {
        resources[i] = resource_of(&on, people[i]);
        puts[i] = (struct asked){
            .job = { .loop = loop,
                     .lane = DIRECTORY_WRITES,
                     .work = put_work,
                     .done = on_done },
            .resources = &resources[i],
            .count = 1,
        };
    }
    store_directory_submit(on.store, &puts[0].job);
    wait_for(loop, &puts[0].is_done);
    CHECK_INT(puts[0].err, OK);
    count.job =
        (struct store_directory_job){ .loop = loop, .work = count_work, .done = on_done };
    store_directory_submit(on.store, &count.job);
    wait_for(loop, &count.is_done);
    CHECK_INT(count.err, OK);
    CHECK_INT(count.ret_count, 1);
    for (size_t i = 1; i < COUNT(people); i++)
        store_directory_submit(on.store, &puts[i].job);
    store_close(on.store);
    for (size_t i = 1; i < COUNT(people); i++) {
        wait_for(loop, &puts[i].is_done);
        CHECK_INT(puts[i].err, OK);
    }
    CHECK_INT(store_resource_count(on.directory, &left), OK);
    CHECK_INT(left, COUNT(people));
    on.store = stage_open(&on.stage);
    loop_free(loop);
    directory_stage_done(&on);
}

TEST(without_a_connection_everything_is_an_error)
{
    struct resource resource = { .id = S("x") };
    struct directory_page page;
    struct directory_ask ask = {};
    struct arena arena;
    uint64_t count;
    bool was_found;

    arena_init(&arena, 1024);
    directory_page_init(&page);
    CHECK_INT(store_resource_put_all(NULL, &resource, 1), ERR_IO);
    CHECK_INT(store_resource_remove(NULL, S("x"), &was_found), ERR_IO);
    CHECK_INT(store_resource_get(NULL, S("x"), &arena, &resource), ERR_IO);
    CHECK_INT(store_resource_each(NULL, S(""), note_id, NULL), ERR_IO);
    CHECK_INT(store_resource_count(NULL, &count), ERR_IO);
    CHECK_INT(store_resource_search(NULL, &ask, &page), ERR_IO);
    CHECK_INT(store_directory_begin(NULL), ERR_IO);
    CHECK_INT(store_directory_commit(NULL), ERR_IO);
    store_directory_rollback(NULL);
    store_directory_close(NULL);
    directory_page_done(&page);
    arena_done(&arena);
}
