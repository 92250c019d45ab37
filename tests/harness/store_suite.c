/* SPDX-License-Identifier: Apache-2.0 */
#include "store_suite.h"

#include "audit/verify.h"
#include "base/clock.h"
#include "base/xalloc.h"

TEST(items_are_kept_and_forgotten)
{
    struct loop *loop = loop_new();
    struct handed handed;
    struct stage stage;
    struct store *store;

    suite_init(&stage);
    store = stage_open(&stage);
    handed_init(&handed, loop);
    put_item(&handed.batch, STORE_GRANT, "room", "b", "1");
    put_item(&handed.batch, STORE_GRANT, "room", "a", "{\"x\":[2]}");
    put_item(&handed.batch, STORE_GRANT, "", "z", "3");
    put_item(&handed.batch, STORE_STRIKE, "room", "a", "4");
    put_item(&handed.batch, STORE_GRANT, "room", "gone", "5");
    remove_item(&handed.batch, STORE_GRANT, "room", "gone");
    put_item(&handed.batch, STORE_GRANT, "room", "b", "6");
    remove_item(&handed.batch, STORE_GRANT, "elsewhere", "b");
    store_commit(store, &handed.batch);
    wait_for(loop, &handed.is_done);
    CHECK_INT(handed.batch.err, OK);
    store_close(store);
    CHECK_STR(items_of(&stage, STORE_GRANT), S("/z=3 room/a={\"x\":[2]} room/b=6 "));
    CHECK_STR(items_of(&stage, STORE_STRIKE), S("room/a=4 "));
    CHECK_STR(items_of(&stage, STORE_RULE), S(""));
    store_batch_done(&handed.batch);
    loop_free(loop);
    suite_done(&stage);
}

TEST(records_are_chained_over_batches_and_restarts)
{
    struct loop *loop = loop_new();
    struct store_health health;
    struct stage stage;
    struct walk walk;

    suite_init(&stage);
    for (int round = 0; round < 3; round++) {
        struct store *store = stage_open(&stage);

        for (int i = 1; i <= 10; i++)
            commit_records(store, loop, "room", i);
        store_health(store, &health);
        CHECK_INT(health.head.seq, 55 * (round + 1));
        CHECK_INT(health.records, 55);
        CHECK(!health.is_failing && !health.failures && !store_is_failing(store));
        CHECK_INT(store_queued(store), 0);
        store_close(store);
        walk_all(&stage, &walk);
        CHECK_INT(walk.count, 55 * (round + 1));
        /* Closing signs. */
        CHECK_INT(walk.last_signed.seq, walk.head.seq);
        CHECK(memcmp(walk.last_signed.hash, walk.head.hash, SHA256_BYTES) == 0);
    }
    CHECK_INT(walk.bodies, 110);
    loop_free(loop);
    suite_done(&stage);
}

TEST(a_thousand_records_are_signed_at_once)
{
    struct loop *loop = loop_new();
    struct store_health health;
    struct stage stage;
    struct store *store;
    struct walk walk;

    suite_init(&stage);
    store = stage_open(&stage);
    commit_records(store, loop, "room", 1000);
    store_health(store, &health);
    CHECK_INT(health.checkpoint_seq, 1000);
    store_close(store);
    walk_all(&stage, &walk);
    CHECK_INT(walk.count, 1000);
    loop_free(loop);
    suite_done(&stage);
}

TEST(an_idle_store_signs_by_itself)
{
    struct loop *loop = loop_new();
    struct store_health health = {};
    struct stage stage;
    struct store *store;

    suite_init(&stage);
    store = stage_open(&stage);
    commit_records(store, loop, "room", 1);
    while (health.checkpoint_seq < 1) {
        loop_turn(loop, 10);
        store_health(store, &health);
    }
    CHECK_INT(health.checkpoint_seq, 1);
    store_close(store);
    loop_free(loop);
    suite_done(&stage);
}

TEST(closing_makes_everything_durable)
{
    enum { BATCHES = 200 };
    struct loop *loop = loop_new();
    struct handed *handed = xcalloc(BATCHES, sizeof(*handed));
    struct stage stage;
    struct store *store;
    struct walk walk;

    suite_init(&stage);
    store = stage_open(&stage);
    for (int i = 0; i < BATCHES; i++) {
        handed_init(&handed[i], loop);
        note_records(&handed[i].batch, "room", 3);
        store_commit(store, &handed[i].batch);
    }
    store_close(store);
    walk_all(&stage, &walk);
    CHECK_INT(walk.count, 3 * BATCHES);
    for (int i = 0; i < BATCHES; i++) {
        wait_for(loop, &handed[i].is_done);
        CHECK_INT(handed[i].batch.err, OK);
        store_batch_done(&handed[i].batch);
    }
    free(handed);
    loop_free(loop);
    suite_done(&stage);
}

/* Bytes that an SQL text might not survive. */
TEST(texts_are_kept_as_they_are)
{
    static const char odd[] = "'\"\\\t\n\0\x7f\xc3\xa4%_;--";
    struct str text = { odd, sizeof(odd) - 1 };
    struct audit_record record = { .topic = text,
                                   .participant = text,
                                   .kind = text,
                                   .id = text,
                                   .correlation = text,
                                   .verdict = text,
                                   .by = text };
    struct loop *loop = loop_new();
    struct handed handed;
    struct stage stage;
    struct store *store;
    struct walk walk;

    suite_init(&stage);
    store = stage_open(&stage);
    handed_init(&handed, loop);
    audit_batch_add(&handed.batch.records, &record);
    store_batch_put(&handed.batch,
                    &(struct store_item){ STORE_RULE, text, text, S("1") });
    store_commit(store, &handed.batch);
    wait_for(loop, &handed.is_done);
    CHECK_INT(handed.batch.err, OK);
    store_close(store);
    walk_all(&stage, &walk); /* the hash covers them */
    CHECK_INT(walk.count, 1);
    store_batch_done(&handed.batch);
    loop_free(loop);
    suite_done(&stage);
}

/* --- retention --- */

/* One record with a body of 100 bytes. */
static void note_body(struct store_batch *batch, const char *topic, uint64_t at_ms,
                      enum audit_event event)
{
    char body[101];

    (void)snprintf(body, sizeof(body), "\"%098d\"", 7);
    audit_batch_add(&batch->records, &(struct audit_record){ .at_ms = at_ms,
                                                             .event = event,
                                                             .topic = str_of(topic),
                                                             .body = str_of(body) });
}

/* Ten records each of two topics and of none, in turn, at 1000, 1001, …; one of them is
 * a retention record. */
static void fill(const struct stage *stage)
{
    static const char *const topics[] = { "a", "b", "" };
    struct loop *loop = loop_new();
    struct store *store = stage_open(stage);
    struct handed handed;

    handed_init(&handed, loop);
    for (int i = 0; i < 30; i++)
        note_body(&handed.batch, topics[i % 3], 1000 + (uint64_t)i,
                  i == 2 ? AUDIT_RETENTION : AUDIT_ENVELOPE);
    store_commit(store, &handed.batch);
    store_close(store);
    wait_for(loop, &handed.is_done);
    CHECK_INT(handed.batch.err, OK);
    store_batch_done(&handed.batch);
    loop_free(loop);
}

TEST(bodies_are_removed_by_age_and_size)
{
    static const struct str a[] = { S("a") };
    static const struct {
        struct engine_strip strip;
        struct engine_stripped stripped;
    } steps[] = {
        /* by age: what is as old as that stays */
        { { S("a"), NULL, 0, 1003, 0, 100 }, { 1, 100, 1, 1, false } },
        { { S("a"), NULL, 0, 1003, 0, 100 }, {} },
        { { S("a"), NULL, 0, 1010, 0, 2 }, { 2, 200, 4, 7, true } },
        { { S("a"), NULL, 0, 1010, 0, 2 }, { 1, 100, 10, 10, false } },
        /* by size: six are left */
        { { S("a"), NULL, 0, 0, 600, 100 }, {} },
        { { S("a"), NULL, 0, 0, 599, 100 }, { 1, 100, 13, 13, false } },
        { { S("a"), NULL, 0, 0, 250, 2 }, { 2, 200, 16, 19, true } },
        { { S("a"), NULL, 0, 0, 250, 2 }, { 1, 100, 22, 22, false } },
        { { S("a"), NULL, 0, 1030, 250, 100 }, { 2, 200, 25, 28, false } },
        /* of all but one, where a retention record keeps its own */
        { { S(""), a, 1, 1005, 0, 100 }, { 2, 200, 2, 5, false } },
        { { S(""), a, 1, 0, 1500, 100 }, { 2, 200, 6, 8, false } },
        /* another rule for what those had counted */
        { { S("b"), NULL, 0, 0, 600, 100 }, { 1, 100, 11, 11, false } },
        { { S(""), a, 1, 0, 1400, 100 }, {} },
        { { S(""), NULL, 0, 0, 1, 100 }, { 14, 1400, 9, 30, false } },
        { { S("b"), NULL, 0, 0, 1, 100 }, {} },
        { { S("c"), NULL, 0, 9999, 1, 100 }, {} },
    };
    const struct engine_ops *ops;
    struct engine *engine = NULL;
    struct stage stage;
    struct walk walk;

    suite_init(&stage);
    fill(&stage);
    ops = engine_for(&stage.setup);
    CHECK_INT(ops->open(&stage.setup, ENGINE_WRITER, NULL, &engine, NULL), OK);
    FOR_EACH_CASE(step, steps) {
        struct engine_stripped got = {};

        CHECK_INT(ops->begin(engine), OK);
        CHECK_INT(ops->strip(engine, &step->strip, &got), OK);
        CHECK_INT(ops->commit(engine), OK);
        CHECK_INT(got.count, step->stripped.count);
        CHECK_INT(got.bytes, step->stripped.bytes);
        CHECK_INT(got.first_seq, step->stripped.first_seq);
        CHECK_INT(got.last_seq, step->stripped.last_seq);
        CHECK_INT(got.has_more, step->stripped.has_more);
    }
    ops->close(engine);
    walk_all(&stage, &walk);
    CHECK_INT(walk.count, 30);
    CHECK_INT(walk.bodies, 1);
    suite_done(&stage);
}

/* The record as `moot audit verify` looks at it. */
struct proof {
    struct audit_verifier *verifier;
    struct audit_checkpoint checkpoints[64];
    size_t count, next;
    struct buf removals; /* what retention records say */
};

static inline bool keep_checkpoint(void *user, const struct audit_checkpoint *checkpoint)
{
    struct proof *proof = user;

    proof->checkpoints[proof->count++] = *checkpoint;
    return proof->count < COUNT(proof->checkpoints);
}

static inline bool prove_record(void *user, const struct audit_record *record)
{
    struct proof *proof = user;
    const struct audit_checkpoint *next = &proof->checkpoints[proof->next];
    bool holds = audit_verify_record(proof->verifier, record);

    if (record->event == AUDIT_RETENTION) {
        buf_put(&proof->removals, record->topic);
        buf_put(&proof->removals, record->body);
    }
    if (!holds || proof->next == proof->count || next->head.seq != record->seq)
        return holds;
    proof->next++;
    return audit_verify_checkpoint(proof->verifier, next);
}

/* What the retention records say is in *ret_removals, which the caller frees. */
static inline struct audit_report prove(const struct stage *stage,
                                        struct buf *ret_removals)
{
    const struct engine_ops *ops = engine_for(&stage->setup);
    struct audit_query all = { .order = AUDIT_OLDEST_FIRST };
    char installation[AUDIT_INSTALLATION];
    struct engine *engine = NULL;
    struct audit_origin origin;
    struct audit_report report;
    struct proof proof = {};

    buf_init(&proof.removals, 100000);
    CHECK_INT(ops->open(&stage->setup, ENGINE_READER, NULL, &engine, NULL), OK);
    CHECK_INT(ops->origin(engine, &origin, installation), OK);
    proof.verifier = audit_verifier_new(origin.installation, origin.public_key, NULL);
    CHECK_INT(ops->checkpoints(engine, 0, keep_checkpoint, &proof), OK);
    CHECK_INT(ops->read(engine, &all, prove_record, &proof), OK);
    audit_verify_end(proof.verifier, &report);
    audit_verifier_free(proof.verifier);
    ops->close(engine);
    *ret_removals = proof.removals;
    return report;
}

static inline struct store_audit *make_rules(const struct store_retention *rules,
                                             size_t count)
{
    struct store_audit *audit = xcalloc(1, sizeof(*audit));

    arena_init(&audit->arena, 100000);
    audit->retention = arena_alloc(&audit->arena, count * sizeof(*rules));
    memcpy(audit->retention, rules, count * sizeof(*rules));
    audit->retention_count = count;
    return audit;
}

/* Opens with these rules, adds one record, and waits until so many are there: what
 * retention says as well. */
static inline void run_retention(const struct stage *stage,
                                 const struct store_retention *rules, size_t count,
                                 uint64_t until_seq)
{
    struct loop *loop = loop_new();
    struct store *store = stage_open(stage);
    struct store_health health = {};
    struct handed handed;

    store_set_audit(store, make_rules(rules, count));
    handed_init(&handed, loop);
    audit_batch_add(&handed.batch.records,
                    &(struct audit_record){ .at_ms = clock_wall_ms(), .topic = S("a") });
    store_commit(store, &handed.batch);
    wait_for(loop, &handed.is_done);
    while (health.head.seq < until_seq)
        store_health(store, &health);
    CHECK_INT(health.head.seq, until_seq);
    CHECK(!health.is_failing);
    store_close(store);
    store_batch_done(&handed.batch);
    loop_free(loop);
}

/* As fill(), but without what is no removal. */
static inline void fill_plain(const struct stage *stage, int count)
{
    static const char *const topics[] = { "a", "b", "" };
    struct loop *loop = loop_new();
    struct store *store = stage_open(stage);
    struct handed handed;

    handed_init(&handed, loop);
    for (int i = 0; i < count; i++)
        note_body(&handed.batch, topics[i % 3], 1000 + (uint64_t)i, AUDIT_ENVELOPE);
    store_commit(store, &handed.batch);
    store_close(store);
    wait_for(loop, &handed.is_done);
    store_batch_done(&handed.batch);
    loop_free(loop);
}

TEST(retention_says_what_it_removed_and_the_chain_holds)
{
    static const struct store_retention rules[] = {
        { S("a"), 0, 250 },
        { S("b"), 0, 0 },
        { S(""), 3600000, 0 },
    };
    struct audit_report report;
    struct buf removals;
    struct stage stage;

    suite_init(&stage);
    fill_plain(&stage, 30);
    run_retention(&stage, rules, COUNT(rules), 33);
    report = prove(&stage, &removals);
    CHECK(!report.is_damaged);
    CHECK_STR(str_of(report.what), S(""));
    CHECK_INT(report.records, 33);
    CHECK_INT(report.removed, 18);
    CHECK_STR(buf_str(&removals),
              S("a{\"topic\":\"a\",\"count\":8,\"bytes\":800,\"first_seq\":1,"
                "\"last_seq\":22,\"reason\":\"size\"}"
                "{\"except\":[\"a\",\"b\"],\"count\":10,\"bytes\":1000,"
                "\"first_seq\":3,\"last_seq\":30,\"reason\":\"age\"}"));
    buf_done(&removals);

    /* Once more: nothing is left to be removed. */
    run_retention(&stage, rules, COUNT(rules), 34);
    report = prove(&stage, &removals);
    CHECK(!report.is_damaged);
    CHECK_INT(report.removed, 18);
    buf_done(&removals);
    suite_done(&stage);
}

TEST(retention_goes_on_step_by_step)
{
    static const struct store_retention rules[] = { { S(""), 1, 0 } };
    struct audit_report report;
    struct buf removals;
    struct stage stage;

    suite_init(&stage);
    fill_plain(&stage, 2500);
    run_retention(&stage, rules, 1, 2501 + 3);
    report = prove(&stage, &removals);
    CHECK(!report.is_damaged);
    CHECK_INT(report.removed, 2500);
    buf_done(&removals);
    suite_done(&stage);
}

TEST(a_body_that_went_without_a_record_is_missed)
{
    const struct engine_ops *ops;
    struct engine *engine = NULL;
    struct engine_stripped stripped;
    struct audit_report report;
    struct buf removals;
    struct stage stage;

    suite_init(&stage);
    fill_plain(&stage, 30);
    ops = engine_for(&stage.setup);
    CHECK_INT(ops->open(&stage.setup, ENGINE_WRITER, NULL, &engine, NULL), OK);
    CHECK_INT(ops->begin(engine), OK);
    CHECK_INT(ops->strip(engine,
                         &(struct engine_strip){
                             .topic = S("b"), .before_ms = 1002, .limit = 1 },
                         &stripped),
              OK);
    CHECK_INT(ops->commit(engine), OK);
    ops->close(engine);
    report = prove(&stage, &removals);
    CHECK(report.is_damaged);
    CHECK_INT(report.bad_seq, 2);
    CHECK_INT(report.records, 30);
    buf_done(&removals);
    suite_done(&stage);
}
