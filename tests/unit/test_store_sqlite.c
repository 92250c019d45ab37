/* SPDX-License-Identifier: Apache-2.0 */
#include "query_suite.h"
#include "store_suite.h"

void suite_init(struct stage *stage)
{
    stage_init(stage);
}

void suite_done(struct stage *stage)
{
    stage_done(stage);
}

/* The index follows, is closed, gone on with, and built again when it was deleted. */
static void wait_for_index(struct store *store, uint64_t seq)
{
    struct store_health health = {};

    while (health.indexed_seq < seq)
        store_health(store, &health);
    CHECK_INT(health.indexed_seq, seq);
}

TEST(the_index_follows_the_record)
{
    struct loop *loop = loop_new();
    struct asked asked;
    struct stage stage;
    struct store *store;

    stage_init(&stage);
    store = stage_open(&stage);
    asked_init(&asked, loop);
    asked.read.query.text = S("number");
    asked.read.query.limit = 1000;
    commit_records(store, loop, "room", 30);
    wait_for_index(store, 30);
    commit_records(store, loop, "room", 30);
    wait_for_index(store, 60);
    wait_for_answer(store, loop, &asked);
    CHECK_INT(asked.read.page.count, 40);
    store_close(store);
    store = stage_open(&stage);
    commit_records(store, loop, "room", 30);
    wait_for_index(store, 90);
    CHECK_INT(unlink(stage_path(&stage, "search.db")), 0);
    commit_records(store, loop, "room", 30);
    wait_for_index(store, 120);
    wait_for_answer(store, loop, &asked);
    CHECK_INT(asked.read.page.count, 80);
    CHECK_INT(access(stage_path(&stage, "search.db"), F_OK), 0);
    store_read_done(&asked.read);
    store_close(store);
    loop_free(loop);
    stage_done(&stage);
}
