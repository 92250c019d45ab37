/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directory_suite.h"

const unsigned suite_questions = 150;

void suite_init(struct stage *stage)
{
    stage_init(stage);
}

void suite_done(struct stage *stage)
{
    stage_done(stage);
}

static void tamper(const char *path, const char *sql)
{
    sqlite3 *db = NULL;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
}

TEST(a_newer_directory_and_one_of_another_program_are_left_alone)
{
    static const struct {
        const char *sql, *why;
    } cases[] = {
        { "PRAGMA user_version = 99", "made by a newer version" },
        { "PRAGMA application_id = 1", "not a directory of this program" },
        { "CREATE TRIGGER t AFTER INSERT ON place BEGIN SELECT 1; END",
          "not a directory of this program" },
    };

    FOR_EACH_CASE(c, cases) {
        struct store_directory *directory = NULL;
        struct stage stage;
        char *why = NULL;

        stage_init(&stage);
        CHECK_INT(store_directory_open(&stage.setup, &directory, &why), OK);
        store_directory_close(directory);
        tamper(stage_path(&stage, "directory.db"), c->sql);
        CHECK_INT(store_directory_open(&stage.setup, &directory, &why), ERR_CONFLICT);
        CHECK(why && strstr(why, c->why));
        free(why);
        stage_done(&stage);
    }
}

struct opener {
    const struct stage *stage;
    pthread_barrier_t *start;
    char *why;
};

static void *open_and_close(void *user)
{
    struct opener *opener = user;
    struct store_directory *directory = NULL;

    (void)pthread_barrier_wait(opener->start);
    (void)store_directory_open(&opener->stage->setup, &directory, &opener->why);
    store_directory_close(directory);
    return NULL;
}

TEST(a_new_directory_is_opened_by_several_at_once)
{
    enum { THREADS = 4, ROUNDS = 25 };

    for (int round = 0; round < ROUNDS; round++) {
        struct opener openers[THREADS] = {};
        pthread_t threads[THREADS];
        pthread_barrier_t start;
        struct stage stage;

        stage_init(&stage);
        CHECK_INT(pthread_barrier_init(&start, NULL, THREADS), 0);
        for (size_t i = 0; i < THREADS; i++) {
            openers[i] = (struct opener){ .stage = &stage, .start = &start };
            CHECK_INT(pthread_create(&threads[i], NULL, open_and_close, &openers[i]), 0);
        }
        for (size_t i = 0; i < THREADS; i++) {
            CHECK_INT(pthread_join(threads[i], NULL), 0);
            CHECK_STR(str_of(openers[i].why ? openers[i].why : ""), S(""));
            free(openers[i].why);
        }
        CHECK_INT(pthread_barrier_destroy(&start), 0);
        stage_done(&stage);
    }
}

TEST(two_with_the_same_rank_are_both_found)
{
    struct directory_stage on;
    struct resource b;

    directory_stage_init(&on);
    b = resource_of(&on, S("{\"id\":\"b\",\"kind\":\"agent\",\"name\":\"Rare\"}"));
    put_json(&on, S("{\"id\":\"a\",\"kind\":\"agent\",\"name\":\"Rare\"}"));
    {
        char sql[256];

        (void)snprintf(sql, sizeof(sql),
                       "UPDATE place SET rank = %llu; UPDATE resource SET rank = %llu",
                       (unsigned long long)resource_rank(&b),
                       (unsigned long long)resource_rank(&b));
        tamper(stage_path(&on.stage, "directory.db"), sql);
    }
    CHECK_INT(store_resource_put_all(on.directory, &b, 1), OK);
    CHECK_STR(ids_found(&on, &(struct directory_query){}), S("a b"));
    directory_stage_done(&on);
}

TEST(a_damaged_file_is_an_error_and_no_end)
{
    struct directory_stage on;
    struct directory_ask ask;
    struct directory_query query = { .text = S("rare") };

    directory_stage_init(&on);
    put_json(&on, S("{\"id\":\"a\",\"kind\":\"agent\",\"name\":\"Rare\"}"));
    tamper(stage_path(&on.stage, "directory.db"), "UPDATE resource SET json = '{'");
    CHECK_INT(directory_ask_read(&query, &ask, NULL), OK);
    CHECK_INT(store_resource_search(on.directory, &ask, &on.page), ERR_IO);
    CHECK(strstr(store_directory_problem(on.directory), "damaged"));
    directory_stage_done(&on);
}

/* Its end means nothing to SQLite. */
static void lengthen_log(struct directory_stage *on)
{
    CHECK_INT(truncate(stage_path(&on->stage, "directory.db-wal"), 65 << 20), 0);
}

static long long log_bytes(struct directory_stage *on)
{
    struct stat found = {};

    CHECK_INT(stat(stage_path(&on->stage, "directory.db-wal"), &found), 0);
    return found.st_size;
}

TEST(a_log_that_an_import_made_long_is_cut_when_it_has_ended)
{
    struct directory_stage on;
    struct resource a;

    directory_stage_init(&on);
    a = resource_of(&on, S("{\"id\":\"a\",\"kind\":\"agent\",\"name\":\"Rare\"}"));
    put_json(&on, S("{\"id\":\"b\",\"kind\":\"agent\",\"name\":\"Rare\"}"));
    CHECK(log_bytes(&on) > 0);
    lengthen_log(&on);
    CHECK_STR(ids_found(&on, &(struct directory_query){}), S("b"));
    CHECK_INT(log_bytes(&on), 65 << 20); /* who reads leaves it alone */
    CHECK_INT(store_directory_begin(on.directory), OK);
    CHECK_INT(store_resource_put_all(on.directory, &a, 1), OK);
    store_directory_rollback(on.directory);
    CHECK_INT(log_bytes(&on), 0);
    CHECK_INT(store_resource_put_all(on.directory, &a, 1), OK);
    lengthen_log(&on);
    CHECK_INT(store_resource_put_all(on.directory, &a, 1), OK);
    CHECK_INT(log_bytes(&on), 0);
    CHECK_STR(ids_found(&on, &(struct directory_query){}), S("b a"));
    directory_stage_done(&on);
}
