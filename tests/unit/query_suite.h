/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of a loop to a store that writes, as tests for every engine: behind
 * store_suite.h, which it uses. */
#pragma once

#include "base/xalloc.h"
#include "store_suite.h"

struct asked {
    struct store_read read;
    bool is_done;
};

static inline void on_answer(struct store_read *read)
{
    CONTAINER_OF(read, struct asked, read)->is_done = true;
}

static inline void asked_init(struct asked *asked, struct loop *loop)
{
    asked->is_done = false;
    store_read_init(&asked->read, loop);
    asked->read.done = on_answer;
}

static inline void wait_for_answer(struct store *store, struct loop *loop,
                                   struct asked *asked)
{
    asked->is_done = false;
    store_query(store, &asked->read);
    wait_for(loop, &asked->is_done);
}

TEST(pages_lead_through_the_whole_record)
{
    struct loop *loop = loop_new();
    struct audit_record record;
    uint64_t next = 1;
    struct asked asked;
    struct stage stage;
    struct store *store;

    suite_init(&stage);
    store = stage_open(&stage);
    commit_records(store, loop, "room", 250);
    asked_init(&asked, loop);
    asked.read.query.order = AUDIT_OLDEST_FIRST;
    asked.read.query.limit = 100;
    do {
        size_t at = 0;

        wait_for_answer(store, loop, &asked);
        CHECK_INT(asked.read.err, OK);
        CHECK(asked.read.page.count <= 100);
        while (audit_batch_next(&asked.read.page, &at, &record))
            CHECK_INT(record.seq, next++);
        asked.read.query.after_seq = asked.read.reached_seq;
    } while (asked.read.has_more);
    CHECK_INT(next, 251);
    store_read_done(&asked.read);
    store_close(store);
    loop_free(loop);
    suite_done(&stage);
}

TEST(a_page_of_large_bodies_ends_early)
{
    struct loop *loop = loop_new();
    struct audit_record record = { .at_ms = 1, .topic = S("room") };
    struct handed handed;
    struct asked asked;
    struct stage stage;
    struct store *store;
    struct buf body;

    suite_init(&stage);
    store = stage_open(&stage);
    buf_init(&body, 2 << 20);
    buf_putf(&body, "\"%*s\"", 1 << 20, "x");
    record.body = buf_str(&body);
    handed_init(&handed, loop);
    for (int i = 0; i < 8; i++)
        audit_batch_add(&handed.batch.records, &record);
    store_commit(store, &handed.batch);
    wait_for(loop, &handed.is_done);
    asked_init(&asked, loop);
    asked.read.query.limit = 100;
    wait_for_answer(store, loop, &asked);
    CHECK(asked.read.has_more);
    CHECK(asked.read.page.count >= 1 && asked.read.page.count <= 5);
    store_read_done(&asked.read);
    store_batch_done(&handed.batch);
    store_close(store);
    buf_done(&body);
    loop_free(loop);
    suite_done(&stage);
}

TEST(what_was_cancelled_or_is_open_at_the_end_is_answered)
{
    enum { MANY = 20 };
    struct loop *loop = loop_new();
    struct asked *asked = xcalloc(MANY, sizeof(*asked));
    struct stage stage;
    struct store *store;

    suite_init(&stage);
    store = stage_open(&stage);
    commit_records(store, loop, "room", 100);
    for (int i = 0; i < MANY; i++) {
        asked_init(&asked[i], loop);
        asked[i].read.query.topic = S("elsewhere");
        atomic_store(&asked[i].read.is_cancelled, i == 0);
        store_query(store, &asked[i].read);
    }
    wait_for(loop, &asked[0].is_done);
    CHECK_INT(asked[0].read.err, ERR_CLOSED);
    store_close(store);
    for (int i = 0; i < MANY; i++) {
        wait_for(loop, &asked[i].is_done);
        CHECK(asked[i].read.err == OK || asked[i].read.err == ERR_CLOSED);
        store_read_done(&asked[i].read);
    }
    free(asked);
    loop_free(loop);
    suite_done(&stage);
}
