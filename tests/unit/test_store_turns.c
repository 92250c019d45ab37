/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the two writers writes: the patient one, unless somebody waits. */
#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>

#include "store_stage.h"

enum { NAME = 32 };

static pid_t thread_called(const char *name)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *entry;
    pid_t found = 0;

    while (!found && (entry = readdir(tasks))) {
        char path[300], comm[NAME] = "";
        FILE *file;

        (void)snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
        file = fopen(path, "r");
        if (file && fgets(comm, sizeof(comm), file) && comm[0])
            comm[strcspn(comm, "\n")] = '\0';
        if (file)
            (void)fclose(file);
        if (strcmp(comm, name) == 0)
            found = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    (void)closedir(tasks);
    return found;
}

/* How often it has gone to sleep, and so has been woken. */
static long sleeps_of(pid_t thread)
{
    char path[64], line[128];
    long count = -1;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/self/task/%d/status", thread);
    file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file))
        (void)sscanf(line, "voluntary_ctxt_switches: %ld", &count);
    if (file)
        (void)fclose(file);
    return count;
}

static void commit_one(struct store *store, struct loop *loop, bool can_wait)
{
    struct handed handed;

    handed_init(&handed, loop);
    handed.batch.can_wait = can_wait;
    note_records(&handed.batch, "room", 1);
    store_commit(store, &handed.batch);
    wait_for(loop, &handed.is_done);
    CHECK_INT(handed.batch.err, OK);
    store_batch_done(&handed.batch);
}

/* Until it waits for the first time. */
static long settled_sleeps_of(pid_t thread)
{
    while (sleeps_of(thread) == 0)
        (void)usleep(1000);
    return sleeps_of(thread);
}

TEST(who_is_not_waited_for_runs_last)
{
    struct loop *loop = loop_new();
    struct stage stage;
    struct store *store;
    pid_t prompt, patient;
    long before;

    stage_init(&stage);
    store = stage_open(&stage);
    commit_one(store, loop, true);
    prompt = thread_called("store");
    patient = thread_called("store-patient");
    CHECK(prompt && patient);
    /* Without the privilege to come back it goes less far. */
    CHECK(sched_getscheduler(patient) == SCHED_IDLE ||
          getpriority(PRIO_PROCESS, (id_t)patient) == 19);
    CHECK_INT(sched_getscheduler(prompt), SCHED_OTHER);
    before = settled_sleeps_of(prompt);
    for (int i = 0; i < 5; i++)
        commit_one(store, loop, true);
    CHECK_INT(sleeps_of(prompt), before);
    commit_one(store, loop, false);
    CHECK(sleeps_of(prompt) > before);
    store_close(store);
    loop_free(loop);
    stage_done(&stage);
}

/* The order is the queue's, whoever writes. */
TEST(what_waits_is_written_before_what_is_waited_for_behind_it)
{
    enum { COUNT_OF_EACH = 40 };
    struct loop *loop = loop_new();
    struct handed handed[2 * COUNT_OF_EACH];
    struct stage stage;
    struct store *store;
    struct walk walk;

    stage_init(&stage);
    store = stage_open(&stage);
    for (int i = 0; i < 2 * COUNT_OF_EACH; i++) {
        handed_init(&handed[i], loop);
        handed[i].batch.can_wait = i % 2 == 0;
        note_records(&handed[i].batch, "room", 3);
        store_commit(store, &handed[i].batch);
    }
    wait_for(loop, &handed[2 * COUNT_OF_EACH - 1].is_done);
    for (int i = 0; i < 2 * COUNT_OF_EACH; i++) {
        CHECK(handed[i].is_done);
        store_batch_done(&handed[i].batch);
    }
    store_close(store);
    walk_all(&stage, &walk);
    CHECK_INT(walk.count, 6 * COUNT_OF_EACH);
    loop_free(loop);
    stage_done(&stage);
}

TEST(closing_waits_for_what_can_wait)
{
    struct loop *loop = loop_new();
    struct handed handed;
    struct stage stage;
    struct store *store;
    struct walk walk;

    stage_init(&stage);
    store = stage_open(&stage);
    handed_init(&handed, loop);
    handed.batch.can_wait = true;
    note_records(&handed.batch, "room", 100);
    store_commit(store, &handed.batch);
    store_close(store);
    wait_for(loop, &handed.is_done);
    CHECK_INT(handed.batch.err, OK);
    store_batch_done(&handed.batch);
    walk_all(&stage, &walk);
    CHECK_INT(walk.count, 100);
    CHECK_INT(walk.last_signed.seq, 100);
    loop_free(loop);
    stage_done(&stage);
}
