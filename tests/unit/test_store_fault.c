/* SPDX-License-Identifier: Apache-2.0 */
/* A disk that fails: nothing is said to be durable that is not, and when the disk is well
 * again everything that was handed over is there once. */
#include <errno.h>

#include "fault.h"
#include "store_stage.h"

enum { BATCHES = 8, RECORDS = 5 };

/* Batches under way. */
struct load {
    struct stage stage;
    struct loop *loop;
    struct store *store;
    struct handed handed[BATCHES];
};

static void load_init(struct load *load)
{
    stage_init(&load->stage);
    load->loop = loop_new();
    load->store = stage_open(&load->stage);
    commit_records(load->store, load->loop, "before", 1);
}

static void load_done(struct load *load)
{
    for (int i = 0; i < BATCHES; i++)
        store_batch_done(&load->handed[i].batch);
    loop_free(load->loop);
    stage_done(&load->stage);
}

/* Hands all of them over; each changes the same item and one of its own. */
static void hand_over(struct load *load)
{
    for (int i = 0; i < BATCHES; i++) {
        struct handed *handed = &load->handed[i];
        char key[8], value[8];

        (void)snprintf(key, sizeof(key), "k%d", i);
        (void)snprintf(value, sizeof(value), "%d", i);
        handed_init(handed, load->loop);
        note_records(&handed->batch, "room", RECORDS);
        put_item(&handed->batch, STORE_GRANT, "room", "last", value);
        put_item(&handed->batch, STORE_GRANT, "room", key, value);
        store_commit(load->store, &handed->batch);
    }
}

static void check_all_there(struct load *load)
{
    struct walk walk;

    for (int i = 0; i < BATCHES; i++) {
        wait_for(load->loop, &load->handed[i].is_done);
        CHECK_INT(load->handed[i].batch.err, OK);
    }
    fault_clear();
    CHECK(!store_is_failing(load->store));
    CHECK_INT(store_queued(load->store), 0);
    store_close(load->store);
    walk_all(&load->stage, &walk);
    CHECK_INT(walk.count, 1 + BATCHES * RECORDS);
    CHECK_INT(walk.last_signed.seq, walk.count);
    CHECK_STR(items_of(&load->stage, STORE_GRANT),
              S("room/k0=0 room/k1=1 room/k2=2 room/k3=3 room/k4=4 room/k5=5 room/k6=6 "
                "room/k7=7 room/last=7 "));
}

struct ask_job {
    struct store_job job;
    bool is_done;
    enum err err;
};

static void ask_work(struct store_job *job, struct store *store)
{
    struct store_token token = { .name = S("t") };

    CONTAINER_OF(job, struct ask_job, job)->err = store_token_add(store, &token);
}

static void ask_done(struct store_job *job)
{
    CONTAINER_OF(job, struct ask_job, job)->is_done = true;
}

static int done_count(const struct load *load)
{
    int count = 0;

    for (int i = 0; i < BATCHES; i++)
        count += load->handed[i].is_done;
    return count;
}

TEST(what_is_not_on_the_disk_is_not_durable)
{
    static const struct fault faults[] = {
        { FAULT_SYNC, EIO, "audit.db", 0, 0 },
        { FAULT_SYNC, EIO, "moot.db", 0, 0 },
        { FAULT_WRITE, EIO, "audit.db", 0, 0 },
        { FAULT_WRITE, EIO, "moot.db", 0, 0 },
        { FAULT_SYNC, ENOSPC, "/test_store", 0, 0 },
        { FAULT_WRITE, ENOSPC, "/test_store", 0, 0 },
    };

    FOR_EACH_CASE(fault, faults) {
        struct ask_job ask = { .job = { .work = ask_work, .done = ask_done } };
        struct store_health health = {};
        struct load load;

        load_init(&load);
        fault_set(fault);
        hand_over(&load);
        while (health.failures < 2) {
            loop_turn(load.loop, 10);
            store_health(load.store, &health);
        }
        CHECK(health.is_failing && health.failing_since_ms && health.why[0]);
        CHECK(store_is_failing(load.store));
        CHECK(store_queued(load.store) > 0);
        /* Jobs do not wait for the disk. */
        ask.job.loop = load.loop;
        store_submit(load.store, &ask.job);
        wait_for(load.loop, &ask.is_done);
        CHECK_INT(ask.err, ERR_IO);
        CHECK_INT(done_count(&load), 0);
        fault_clear();
        check_all_there(&load);
        load_done(&load);
    }
}

/* Whichever call of a commit fails, once. */
TEST(every_moment_of_a_commit_may_fail)
{
    for (int call = FAULT_SYNC; call <= FAULT_WRITE; call++) {
        for (long skip = 0; skip < (call == FAULT_SYNC ? 4 : 30); skip++) {
            struct load load;

            load_init(&load);
            fault_set(
                &(struct fault){ (enum fault_call)call, EIO, "/test_store", skip, 1 });
            hand_over(&load);
            check_all_there(&load);
            load_done(&load);
        }
    }
}

TEST(closing_gives_up_what_cannot_be_written)
{
    struct load load;
    struct walk walk;

    load_init(&load);
    fault_set(&(struct fault){ FAULT_SYNC, EIO, "audit.db", 0, 0 });
    hand_over(&load);
    while (!store_is_failing(load.store))
        loop_turn(load.loop, 1);
    store_close(load.store);
    fault_clear();
    for (int i = 0; i < BATCHES; i++) {
        wait_for(load.loop, &load.handed[i].is_done);
        CHECK_INT(load.handed[i].batch.err, ERR_IO);
    }
    /* What was durable before is there; of the rest nobody knows. */
    walk_all(&load.stage, &walk);
    CHECK(walk.count >= 1);
    load_done(&load);
}

/* A job that fails leaves the store failing only as long as the disk does. */
TEST(a_store_with_nothing_to_write_recovers_as_well)
{
    struct ask_job ask = { .job = { .work = ask_work, .done = ask_done } };
    struct load load = {};

    load_init(&load);
    ask.job.loop = load.loop;
    fault_set(&(struct fault){ FAULT_SYNC, EIO, "moot.db", 0, 1 });
    store_submit(load.store, &ask.job);
    wait_for(load.loop, &ask.is_done);
    CHECK_INT(ask.err, ERR_IO);
    while (store_is_failing(load.store))
        loop_turn(load.loop, 1);
    hand_over(&load);
    check_all_there(&load);
    load_done(&load);
}
