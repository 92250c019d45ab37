/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every engine does, as tests. A program for one engine defines, before it includes
 * this, how a fresh store comes about and goes:
 *
 *     static void suite_init(struct stage *stage);    with stage->setup filled in
 *     static void suite_done(struct stage *stage);
 */
#pragma once

#include <stdatomic.h>

#include "audit/chain.h"
#include "base/buf.h"
#include "base/xalloc.h"
#include "loop/loop.h"
#include "store/engine.h"
#include "store_stage.h"

/* --- handing over and waiting --- */

struct handed {
    struct store_batch batch;
    bool is_done;
};

static inline void on_handed(struct store_batch *batch)
{
    CONTAINER_OF(batch, struct handed, batch)->is_done = true;
}

static inline void handed_init(struct handed *handed, struct loop *loop)
{
    handed->is_done = false;
    store_batch_init(&handed->batch, loop);
    handed->batch.done = on_handed;
}

static inline void wait_for(struct loop *loop, const bool *is_done)
{
    while (!*is_done)
        loop_turn(loop, 1000);
}

static inline void put_item(struct store_batch *batch, enum store_section section,
                            const char *topic, const char *key, const char *value)
{
    store_batch_put(batch, &(struct store_item){ section, str_of(topic), str_of(key),
                                                 str_of(value) });
}

static inline void remove_item(struct store_batch *batch, enum store_section section,
                               const char *topic, const char *key)
{
    store_batch_remove(batch,
                       &(struct store_item){ section, str_of(topic), str_of(key), {} });
}

/* Records that are told apart by their id; every third has no body. */
static inline void note_records(struct store_batch *batch, const char *topic, int count)
{
    static atomic_int last;
    char id[32], body[64];

    for (int i = 0; i < count; i++) {
        int number = atomic_fetch_add(&last, 1) + 1;
        struct audit_record record = { .at_ms = 1700000000000 + (uint64_t)number % 7,
                                       .event = (enum audit_event)(number % 3),
                                       .topic = str_of(topic),
                                       .participant = S("ann"),
                                       .kind = S("chat"),
                                       .correlation = S("c"),
                                       .verdict = S("allowed"),
                                       .by = S("*") };

        (void)snprintf(id, sizeof(id), "%d", number);
        (void)snprintf(body, sizeof(body), "{\"text\":\"number %d\"}", number);
        record.id = str_of(id);
        if (number % 3)
            record.body = str_of(body);
        audit_batch_add(&batch->records, &record);
    }
}

/* Hands a batch with these over and waits until it is durable. */
static inline void commit_records(struct store *store, struct loop *loop,
                                  const char *topic, int count)
{
    struct handed handed;

    handed_init(&handed, loop);
    note_records(&handed.batch, topic, count);
    store_commit(store, &handed.batch);
    wait_for(loop, &handed.is_done);
    CHECK_INT(handed.batch.err, OK);
    store_batch_done(&handed.batch);
}

/* --- looking --- */

static inline void write_item(void *user, const struct store_item *item)
{
    buf_putf(user, STR_FMT "/" STR_FMT "=" STR_FMT " ", STR_ARG(item->topic),
             STR_ARG(item->key), STR_ARG(item->value));
}

/* The store as it is when opened anew. Borrowed until the next call. */
static inline struct str items_of(const struct stage *stage, enum store_section section)
{
    static struct buf out = { .max = 1 << 20 };
    struct store *store = stage_open(stage);

    buf_clear(&out);
    CHECK_INT(store_item_each(store, section, write_item, &out), OK);
    store_close(store);
    return buf_str(&out);
}

/* The whole record, checked: nothing is missing, every hash fits. */
struct walk {
    struct audit_head head;
    uint64_t count, bodies;
    uint64_t checkpoints;
    struct str installation;
    uint8_t public_key[ED25519_PUBLIC];
    struct audit_head last_signed;
};

static inline bool walk_record(void *user, const struct audit_record *record)
{
    struct walk *walk = user;
    struct audit_record sealed = *record;
    uint8_t hash[SHA256_BYTES];

    CHECK_INT(record->seq, walk->head.seq + 1);
    CHECK(record->at_ms >= walk->head.at_ms);
    audit_hash(&walk->head, record, hash);
    CHECK(memcmp(hash, record->hash, sizeof(hash)) == 0);
    if (record->body.ptr) {
        audit_seal_body(&sealed);
        CHECK(memcmp(sealed.body_hash, record->body_hash, sizeof(hash)) == 0);
        walk->bodies++;
    }
    walk->head.seq = record->seq;
    walk->head.at_ms = record->at_ms;
    memcpy(walk->head.hash, hash, sizeof(hash));
    walk->count++;
    return true;
}

static inline bool walk_checkpoint(void *user, const struct audit_checkpoint *checkpoint)
{
    struct walk *walk = user;

    CHECK(audit_checkpoint_holds(checkpoint, walk->installation, walk->public_key));
    CHECK(checkpoint->head.seq > walk->last_signed.seq);
    walk->last_signed = checkpoint->head;
    walk->checkpoints++;
    return true;
}

/* Goes through the record of a store that is closed. */
static inline void walk_all(const struct stage *stage, struct walk *walk)
{
    const struct engine_ops *ops = engine_for(&stage->setup);
    struct audit_query query = { .order = AUDIT_OLDEST_FIRST };
    char installation[AUDIT_INSTALLATION];
    struct audit_origin origin;
    struct engine *engine = NULL;
    struct audit_head head;
    uint64_t signed_seq;
    char *why = NULL;

    *walk = (struct walk){};
    CHECK_INT(ops->open(&stage->setup, ENGINE_READER, NULL, &engine, &why), OK);
    CHECK_STR(str_of(why), (struct str){});
    CHECK_INT(ops->origin(engine, &origin, installation), OK);
    walk->installation = origin.installation;
    memcpy(walk->public_key, origin.public_key, sizeof(walk->public_key));
    audit_chain_begin(origin.installation, &walk->head);
    CHECK_INT(ops->read(engine, &query, walk_record, walk), OK);
    CHECK_INT(ops->checkpoints(engine, 0, walk_checkpoint, walk), OK);
    CHECK_INT(ops->head(engine, &head, &signed_seq), OK);
    CHECK_INT(head.seq, walk->head.seq);
    CHECK_INT(signed_seq, walk->last_signed.seq);
    walk->installation = (struct str){};
    ops->close(engine);
}

/* --- the tests --- */

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
    while (health.checkpoint_seq < 1)
        store_health(store, &health);
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
