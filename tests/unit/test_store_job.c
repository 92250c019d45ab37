/* SPDX-License-Identifier: Apache-2.0 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/xalloc.h"
#include "harness.h"
#include "loop/loop.h"
#include "store/store.h"
#include "store_stage.h"

enum { JOBS = 40 };

/* One loop on one thread that adds tokens and waits for every answer. */
struct client {
    struct loop *loop;
    struct store *store;
    int number;
    int answered;
    int disordered;
    int failed;
};

struct add_job {
    struct store_job job;
    struct client *client;
    int number;
    enum err err;
    pthread_t worked_on;
};

static void add_work(struct store_job *job, struct store *store)
{
    struct add_job *add = CONTAINER_OF(job, struct add_job, job);
    struct store_token token = {};
    char name[32];

    (void)snprintf(name, sizeof(name), "%d.%d", add->client->number, add->number);
    token.name = str_of(name);
    memcpy(token.hash, name, strlen(name));
    add->err = store_token_add(store, &token);
    add->worked_on = pthread_self();
}

static void add_done(struct store_job *job)
{
    struct add_job *add = CONTAINER_OF(job, struct add_job, job);
    struct client *client = add->client;

    if (add->number != client->answered)
        client->disordered++;
    if (add->err || pthread_equal(add->worked_on, pthread_self()))
        client->failed++;
    if (++client->answered == JOBS)
        loop_stop(client->loop);
    free(add);
}

static void *run_client(void *user)
{
    struct client *client = user;

    for (int i = 0; i < JOBS; i++) {
        struct add_job *add = xcalloc(1, sizeof(*add));

        *add = (struct add_job){
            .job = { .loop = client->loop, .work = add_work, .done = add_done },
            .client = client,
            .number = i,
        };
        store_submit(client->store, &add->job);
    }
    loop_run(client->loop);
    return NULL;
}

static void count(void *user, const struct store_token *)
{
    ++*(int *)user;
}

TEST(jobs_of_several_loops_are_answered_in_order)
{
    struct stage stage;
    struct client clients[2] = {};
    pthread_t threads[2];
    struct store *store;
    int tokens = 0;

    stage_init(&stage);
    store = stage_open(&stage);
    for (int i = 0; i < 2; i++) {
        clients[i] = (struct client){ .loop = loop_new(), .store = store, .number = i };
        CHECK_INT(pthread_create(&threads[i], NULL, run_client, &clients[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        (void)pthread_join(threads[i], NULL);
    store_close(store);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(clients[i].answered, JOBS);
        CHECK_INT(clients[i].disordered, 0);
        CHECK_INT(clients[i].failed, 0);
        loop_free(clients[i].loop);
    }
    store = stage_open(&stage);
    CHECK_INT(store_token_each(store, count, &tokens), OK);
    CHECK_INT(tokens, 2 * JOBS);
    store_close(store);
    stage_done(&stage);
}

TEST(closing_waits_for_what_was_handed_over)
{
    struct stage stage;
    struct client client = {};
    struct add_job add = { .client = &client, .err = ERR_AGAIN };
    struct store *store;

    stage_init(&stage);
    store = stage_open(&stage);
    client.loop = loop_new();
    add.job =
        (struct store_job){ .loop = client.loop, .work = add_work, .done = add_done };
    store_submit(store, &add.job);
    store_close(store);
    CHECK_INT(add.err, OK);
    loop_free(client.loop);
    stage_done(&stage);
}
