/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Servers that leave processes in sessions of their own, and random kills of whoever has
 * a part in them: each child's end is told once, and nothing is left. MOOT_KILLS says how
 * many.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/xalloc.h"
#include "harness.h"
#include "loop/loop.h"
#include "spawn/spawn.h"

/* A sanitizer reserves more than any server needs. */
#define PLENTY ((size_t)1 << 46)

enum { CHILDREN = 6, KILLS = 60, PATIENCE_MS = 30'000 };

struct run {
    struct stage *stage;
    size_t slot;
    unsigned ends;
};

struct stage {
    struct loop *loop;
    struct spawner *spawner;
    struct spawn *spawn;
    struct sandbox_plan *plan;
    size_t started, ended, running;
    pid_t pids[CHILDREN];
    struct run *runs[CHILDREN];
    char mark[32]; /* an argument that all of them have */
};

static void on_started(void *user, pid_t pid, int)
{
    const struct run *run = user;

    run->stage->pids[run->slot] = pid;
}

static void on_ended(void *user, const struct child_end *end)
{
    struct run *run = user;

    (void)end;
    CHECK_INT(++run->ends, 1);
    run->stage->pids[run->slot] = 0;
    run->stage->runs[run->slot] = NULL;
    run->stage->ended++;
    run->stage->running--;
    free(run);
}

static const struct child_ops ops = { on_started, on_ended };

static void start_one(struct stage *s, size_t slot)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int fds[3] = { null, dup(null), dup(null) };
    struct run *run = xcalloc(1, sizeof(*run));

    *run = (struct run){ .stage = s, .slot = slot };
    s->started++;
    s->running++;
    s->pids[slot] = -1; /* under way */
    s->runs[slot] = run;
    (void)child_start(s->spawn, s->plan, fds, &ops, run);
}

/* Processes with our mark among their arguments; the pid of the nth of them. */
static size_t count_marked(const char *mark, size_t nth, pid_t *ret)
{
    struct dirent *entry;
    DIR *all = opendir("/proc");
    size_t count = 0;

    while (all && (entry = readdir(all))) {
        char path[300], words[512];
        ssize_t got = -1;

        (void)snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
        CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            got = read(fd, words, sizeof(words));
        if (got <= 0 || !memmem(words, (size_t)got, mark, strlen(mark)))
            continue;
        if (count == nth)
            *ret = (pid_t)strtol(entry->d_name, NULL, 10);
        count++;
    }
    (void)closedir(all);
    return count;
}

static pid_t parent_of(pid_t pid)
{
    char path[64], line[256];
    pid_t parent = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "PPid:", 5) == 0)
            parent = (pid_t)strtol(line + 5, NULL, 10);
    if (file)
        (void)fclose(file);
    return parent;
}

/* A leader, a keeper, the spawner, or anybody who has the mark. */
static void kill_somebody(struct stage *s, unsigned *seed)
{
    pid_t leader = s->pids[(size_t)rand_r(seed) % CHILDREN];
    pid_t victim = 0;

    switch (rand_r(seed) % 8) {
    case 0: victim = spawner_pid(s->spawner); break;
    case 1:
    case 2: victim = leader > 0 ? parent_of(leader) : 0; break;
    case 3:
    case 4: victim = leader; break;
    default: (void)count_marked(s->mark, (size_t)rand_r(seed) % 12, &victim);
    }
    if (victim > 1 && victim != getpid())
        (void)kill(victim, SIGKILL);
}

static void stage_open(struct stage *s)
{
    struct permit permit = { .level = SANDBOX_OFF,
                             .network = NETWORK_ANY,
                             .memory = PLENTY };
    char script[160];
    struct str words[4] = { S("/bin/sh"), S("-c") };
    struct sandbox_command command = { words, 4, S("/usr") };
    char *why = NULL;

    *s = (struct stage){ .loop = loop_new() };
    (void)snprintf(s->mark, sizeof(s->mark), "moot-kills-%d", (int)getpid());
    (void)snprintf(script, sizeof(script),
                   "(setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' %s &);"
                   "while :; do sleep 1; done",
                   s->mark);
    words[2] = str_of(script);
    words[3] = str_of(s->mark);
    CHECK_INT(sandbox_plan_make(&permit, &command, &s->plan, &why), OK);
    free(why);
    CHECK_INT(spawner_open(s->loop, &s->spawner), OK);
    s->spawn = spawn_new(s->spawner, s->loop);
}

TEST(whoever_is_killed_whenever_nothing_is_left)
{
    const char *wanted = getenv("MOOT_KILLS");
    long kills = wanted ? strtol(wanted, NULL, 10) : KILLS;
    unsigned seed = (unsigned)clock_mono_ns();
    uint64_t until;
    struct stage s;
    pid_t any;

    printf("# seed %u\n", seed);
    stage_open(&s);
    for (long i = 0; i < kills; i++) {
        for (size_t slot = 0; slot < CHILDREN; slot++)
            if (s.pids[slot] == 0)
                start_one(&s, slot);
        for (int turns = rand_r(&seed) % 8; turns >= 0; turns--)
            loop_turn(s.loop, rand_r(&seed) % 4);
        kill_somebody(&s, &seed);
    }
    spawn_free(s.spawn); /* what runs is abandoned */
    for (size_t slot = 0; slot < CHILDREN; slot++)
        free(s.runs[slot]);
    spawner_close(s.spawner);
    until = clock_mono_ms() + PATIENCE_MS;
    while (count_marked(s.mark, 0, &any) && clock_mono_ms() < until)
        (void)usleep(1000);
    CHECK_INT(count_marked(s.mark, 0, &any), 0);
    CHECK_INT(s.started, s.ended + s.running);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    sandbox_plan_free(s.plan);
    loop_free(s.loop);
}
