/* SPDX-License-Identifier: Apache-2.0 */
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/xalloc.h"
#include "store/search.h"
#include "store_stage.h"

enum { PART = 64, STALE_MS = 1000 };

static void suite_init(struct stage *stage)
{
    stage_init(stage);
}

static void suite_done(struct stage *stage)
{
    stage_done(stage);
}

static void suite_index(const struct stage *stage);

#include "search_suite.c"

/* --- the index --- */

/* Brings it up to date at this time. */
static void index_at(const struct stage *stage, uint64_t now_ms)
{
    struct engine *engine = open_engine(stage, ENGINE_READER);
    struct search_options options = { stage_path(stage, "search.db"), PART, STALE_MS };
    struct search_writer *writer = NULL;
    bool is_damaged = false, has_more = true;

    if (search_writer_open(&options, engine, &writer, &is_damaged)) {
        CHECK(is_damaged);
        search_discard(options.path);
        CHECK_INT(search_writer_open(&options, engine, &writer, &is_damaged), OK);
    }
    while (has_more)
        CHECK_INT(search_write(writer, now_ms, &has_more), OK);
    search_writer_close(writer);
    engine->ops->close(engine);
}

static void suite_index(const struct stage *stage)
{
    index_at(stage, 1);
}

/* The candidates for this text in a part. Borrowed until the next call. */
static bool keep_candidate(void *user, uint64_t seq)
{
    buf_putf(user, "%llu ", (unsigned long long)seq);
    return true;
}

static struct str candidates(const struct stage *stage, const char *match, uint64_t part)
{
    static struct buf out = { .max = 1 << 20 };
    struct engine unused = {};
    struct search_reader *reader =
        search_reader_open(stage_path(stage, "search.db"), &unused);
    struct search_range range = { .match = str_of(match),
                                  .part = part,
                                  .below = INT64_MAX,
                                  .order = AUDIT_OLDEST_FIRST };
    struct search_state state;

    buf_clear(&out);
    CHECK(reader != NULL);
    CHECK_INT(search_begin(reader, &state), OK);
    CHECK_INT(search_find(reader, &range, keep_candidate, &out), OK);
    search_end(reader);
    search_reader_close(reader);
    return buf_str(&out);
}

TEST(an_index_has_the_words_of_its_parts)
{
    struct stage stage;
    struct stat file;

    stage_init(&stage);
    fill(&stage, 0, RECORDS);
    index_at(&stage, 1);
    CHECK_STR(candidates(&stage, "\"seldom\"", 0), S("51 "));
    CHECK_STR(candidates(&stage, "\"seldom\"", 1), S("101 "));
    CHECK_STR(candidates(&stage, "\"seldom\"", 6), S(""));
    CHECK_INT(stat(stage_path(&stage, "search.db"), &file), 0);
    CHECK_INT(file.st_mode & 0777, 0600);
    stage_done(&stage);
}

/* --- an index that is not what it should be --- */

static void run_sql(const struct stage *stage, const char *sql)
{
    sqlite3 *db = NULL;

    CHECK_INT(sqlite3_open(stage_path(stage, "search.db"), &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    (void)sqlite3_close(db);
}

static const struct audit_query seldom = { .text = S("seldom"),
                                           .order = AUDIT_OLDEST_FIRST };
static const struct str all_seldom = S("51 101 151 201 251 301 351 ");

TEST(an_index_that_cannot_be_trusted_is_not_used_and_built_again)
{
    static const char *const wrongs[] = {
        "UPDATE state SET version = 2",
        "UPDATE state SET installation = 'ffffffffffffffffffffffffffffffff'",
        "UPDATE state SET hash = zeroblob(32)",
        "UPDATE state SET seq = 100000",
        "UPDATE state SET is_closed = 0, boot = '00000000-0000-0000-0000-000000000000'",
        "DROP TABLE state",
        "DELETE FROM state; INSERT INTO state VALUES (1, 1, '', 64, 1, x'00', '', 1)",
    };

    FOR_EACH_CASE(wrong, wrongs) {
        struct engine *engine;
        struct stage stage;

        stage_init(&stage);
        fill(&stage, 0, RECORDS);
        index_at(&stage, 1);
        /* What it does not know now is found only where it is not asked. */
        run_sql(&stage, "DROP TABLE w1; CREATE VIRTUAL TABLE w1 USING fts5(words,"
                        " content='', detail=none, columnsize=0)");
        engine = open_engine(&stage, ENGINE_READER);
        CHECK_STR(ask(engine, &seldom), S("51 151 201 251 301 351 "));
        run_sql(&stage, *wrong);
        CHECK_STR(ask(engine, &seldom), all_seldom);
        index_at(&stage, 1);
        CHECK_STR(candidates(&stage, "\"seldom\"", 1), S("101 "));
        CHECK_STR(ask(engine, &seldom), all_seldom);
        CHECK(!engine->has_damaged_index);
        engine->ops->close(engine);
        stage_done(&stage);
    }
}

TEST(an_index_that_fails_in_the_middle_is_done_without)
{
    struct engine *engine;
    struct stage stage;

    stage_init(&stage);
    fill(&stage, 0, RECORDS);
    index_at(&stage, 1);
    run_sql(&stage, "DROP TABLE w2");
    engine = open_engine(&stage, ENGINE_READER);
    for (int order = 0; order < 2; order++) {
        struct audit_query query = seldom;

        engine->has_damaged_index = false;
        query.order = (enum audit_order)order;
        CHECK_STR(ask(engine, &query),
                  order ? all_seldom : S("351 301 251 201 151 101 51 "));
        CHECK(engine->has_damaged_index);
    }
    engine->ops->close(engine);
    stage_done(&stage);
}

TEST(a_file_that_is_no_index_is_done_without)
{
    struct engine *engine;
    struct stage stage;
    FILE *file;

    stage_init(&stage);
    fill(&stage, 0, RECORDS);
    file = fopen(stage_path(&stage, "search.db"), "w");
    CHECK(file != NULL);
    for (int i = 0; i < 10000; i++)
        (void)fputs("no index", file);
    (void)fclose(file);
    engine = open_engine(&stage, ENGINE_READER);
    CHECK_STR(ask(engine, &seldom), all_seldom);
    index_at(&stage, 1);
    CHECK_STR(ask(engine, &seldom), all_seldom);
    CHECK_STR(candidates(&stage, "\"seldom\"", 1), S("101 "));
    engine->ops->close(engine);
    stage_done(&stage);
}

/* --- retention --- */

TEST(a_part_that_lost_bodies_is_built_again)
{
    struct engine_strip strip = { .topic = S("room"),
                                  .before_ms = FIRST_MS + 1000,
                                  .limit = 1000 };
    struct audit_record removal = { .event = AUDIT_RETENTION };
    struct engine_stripped gone;
    struct engine *engine;
    struct stage stage;
    struct buf body;

    stage_init(&stage);
    buf_init(&body, 4096);
    fill(&stage, 0, RECORDS);
    index_at(&stage, 1);
    CHECK_STR(candidates(&stage, "\"201\" OR \"200\"", 3), S("201 202 "));
    engine = open_engine(&stage, ENGINE_WRITER);
    CHECK_INT(engine->ops->begin(engine), OK);
    CHECK_INT(engine->ops->strip(engine, &strip, &gone), OK);
    buf_putf(&body,
             "{\"topic\":\"room\",\"count\":%llu,\"bytes\":%llu,\"first_seq\":%llu,"
             "\"last_seq\":%llu,\"reason\":\"age\"}",
             (unsigned long long)gone.count, (unsigned long long)gone.bytes,
             (unsigned long long)gone.first_seq, (unsigned long long)gone.last_seq);
    removal.body = buf_str(&body);
    chain_and_append(engine, &removal, 1);
    CHECK_INT(engine->ops->commit(engine), OK);
    engine->ops->close(engine);

    index_at(&stage, 10); /* hears of it */
    CHECK_STR(candidates(&stage, "\"201\" OR \"200\"", 3), S("201 202 "));
    index_at(&stage, 10 + STALE_MS - 1);
    CHECK_STR(candidates(&stage, "\"201\" OR \"200\"", 3), S("201 202 "));
    index_at(&stage, 10 + STALE_MS); /* its time has come */
    CHECK_STR(candidates(&stage, "\"201\" OR \"200\"", 3), S(""));
    CHECK_STR(candidates(&stage, "\"usual\" AND \"204\"", 3), S("205 "));
    engine = open_engine(&stage, ENGINE_READER);
    CHECK_STR(ask(engine, &seldom), S("51 101 151 251 301 351 "));
    engine->ops->close(engine);
    fill(&stage, RECORDS, RECORDS + 60); /* and what comes later is taken in */
    index_at(&stage, 2 * STALE_MS);
    CHECK_STR(candidates(&stage, "\"seldom\"", 6), S("402 "));
    buf_done(&body);
    stage_done(&stage);
}
