/* SPDX-License-Identifier: Apache-2.0 */
/* Children from their start to their end: what they get, what is told of them, and that
 * nothing is left of them, whoever is killed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "harness.h"
#include "loop/loop.h"
#include "spawn/spawn.h"

/* A sanitizer reserves more than any server needs. */
#define PLENTY ((size_t)1 << 46)

enum { PATIENCE_MS = 20'000 };

/* A spawner, a loop, and one child whose output is kept. */
struct stage {
    struct loop *loop;
    struct spawner *spawner;
    struct spawn *spawn;
    struct child *child;
    int out; /* what it says */
    int in;
    struct buf said;
    enum sandbox_level level;
    pid_t pid;
    bool has_ended;
    struct child_end end;
    char why[200];
};

static void on_started(void *user, pid_t pid, int proxy_fd)
{
    struct stage *s = user;

    s->pid = pid;
    CHECK_INT(proxy_fd, -1);
}

static void on_ended(void *user, const struct child_end *end)
{
    struct stage *s = user;

    CHECK(!s->has_ended);
    s->has_ended = true;
    s->end = *end;
    (void)snprintf(s->why, sizeof(s->why), "%s", end->why);
    s->child = NULL;
}

static const struct child_ops ops = { on_started, on_ended };

static void stage_open(struct stage *s)
{
    *s = (struct stage){ .loop = loop_new(), .out = -1, .in = -1, .level = SANDBOX_OFF };
    CHECK_INT(spawner_open(s->loop, &s->spawner), OK);
    s->spawn = spawn_new(s->spawner, s->loop);
    buf_init(&s->said, 1 << 20);
}

static void stage_close(struct stage *s)
{
    spawn_free(s->spawn);
    spawner_close(s->spawner);
    loop_free(s->loop);
    fd_closep(&s->out);
    fd_closep(&s->in);
    buf_done(&s->said);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static struct sandbox_plan *plan_for(enum sandbox_level level, const struct str *words,
                                     size_t count)
{
    struct permit permit = { .level = level,
                             .memory = PLENTY,
                             .network =
                                 level == SANDBOX_OFF ? NETWORK_ANY : NETWORK_NONE };
    struct sandbox_command command = { .words = words,
                                       .count = count,
                                       .folder = S("/usr") };
    struct sandbox_plan *plan = NULL;
    char *why = NULL;

    CHECK_INT(sandbox_plan_make(&permit, &command, &plan, &why), OK);
    if (why)
        printf("# %s\n", why);
    free(why);
    return plan;
}

static bool has_strict(void)
{
    return access("/usr/bin/bwrap", X_OK) == 0;
}

static void run_words(struct stage *s, const struct str *words, size_t count)
{
    struct sandbox_plan *plan = plan_for(s->level, words, count);
    int in[2], out[2];
    int fds[3];

    CHECK_INT(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
    fds[0] = in[0];
    fds[1] = out[1];
    fds[2] = dup(STDERR_FILENO);
    fd_closep(&s->in);
    fd_closep(&s->out);
    s->in = in[1];
    s->out = out[0];
    s->has_ended = false;
    s->pid = 0;
    buf_clear(&s->said);
    s->child = child_start(s->spawn, plan, fds, &ops, s);
    sandbox_plan_free(plan);
}

static void run_script(struct stage *s, const char *script)
{
    struct str words[] = { S("/bin/sh"), S("-c"), str_of(script) };

    run_words(s, words, COUNT(words));
}

/* Turns the loop until the flag is set; the end of the patience is a failure. */
static void turn_until(struct stage *s, const bool *flag)
{
    uint64_t until = clock_mono_ms() + PATIENCE_MS;

    while (!*flag && clock_mono_ms() < until)
        loop_turn(s->loop, 50);
    CHECK(*flag);
}

/* What it says until its end, or until a line has ended. */
static struct str hear(struct stage *s, bool is_line)
{
    while (!is_line || !memchr(s->said.ptr ? s->said.ptr : "", '\n', s->said.len)) {
        ssize_t got;

        CHECK_INT(buf_reserve(&s->said, 4096), OK);
        got = read(s->out, s->said.ptr + s->said.len, 4096);
        if (got <= 0)
            break;
        s->said.len += (size_t)got;
    }
    return buf_str(&s->said);
}

static pid_t hear_pid(struct stage *s)
{
    struct str line = hear(s, true);
    uint64_t pid = 0;

    line.len = str_find(line, '\n', 0);
    CHECK_INT(str_to_u64(line, INT32_MAX, &pid), OK);
    return (pid_t)pid;
}

static bool is_there(pid_t pid)
{
    return pid > 1 && kill(pid, 0) == 0;
}

/* Someone killed just before may have taken it along. */
static void end(pid_t pid)
{
    CHECK(pid > 1);
    if (pid > 1)
        CHECK(kill(pid, SIGKILL) == 0 || errno == ESRCH);
}

static void wait_until_gone(struct stage *s, pid_t pid)
{
    uint64_t until = clock_mono_ms() + PATIENCE_MS;

    while (is_there(pid) && clock_mono_ms() < until)
        loop_turn(s->loop, 5);
    CHECK(!is_there(pid));
}

TEST(a_child_says_and_ends_as_it_likes)
{
    static const struct {
        const char *script;
        struct str says;
        enum child_exit type;
        int code;
        const char *why;
    } cases[] = {
        { "echo hello", S("hello\n"), CHILD_EXITED, 0, "it ended with code 0" },
        { "exit 7", S(""), CHILD_EXITED, 7, "it ended with code 7" },
        { "kill -9 $$", S(""), CHILD_KILLED, 9, "it was ended by signal 9 (Killed)" },
        { "kill -15 $$", S(""), CHILD_KILLED, 15,
          "it was ended by signal 15 (Terminated)" },
    };
    struct stage s;

    stage_open(&s);
    FOR_EACH_CASE(c, cases) {
        run_script(&s, c->script);
        turn_until(&s, &s.has_ended);
        CHECK(s.pid > 0);
        CHECK_INT(s.end.type, c->type);
        CHECK_INT(s.end.code, c->code);
        CHECK_STR(str_of(s.why), str_of(c->why));
        CHECK_STR(hear(&s, false), c->says);
    }
    stage_close(&s);
}

/* Nothing but its three streams, a session and a group of its own, no signal blocked or
 * ignored, and of the environment what the plan says. */
TEST(a_child_inherits_nothing)
{
    struct stage s;

    stage_open(&s);
    setenv("MOOT_TEST_SECRET", "sesame", 1);
    run_script(&s,
               "ls /proc/self/fd | grep -v '^[012]$' | wc -l;"
               "cut -d' ' -f5,6 /proc/$$/stat | sed \"s/$$/me/g\";"
               "grep -oE '^Sig(Blk|Ign)|.{7}$' /proc/$$/status | grep -A1 Sig | xargs;"
               "env | grep -c SECRET");
    turn_until(&s, &s.has_ended);
    /* The one descriptor is that of ls on the folder. */
    CHECK_STR(hear(&s, false), S("1\nme me\nSigBlk 0000000 SigIgn 0000000\n0\n"));
    stage_close(&s);
}

TEST(a_command_that_cannot_run_is_told)
{
    static const char path[] = "/tmp/moot-test-no-program";
    struct str word = str_of(path);
    struct stage s;
    FILE *file = fopen(path, "we");

    CHECK(file && fputs("#!/nowhere/at-all\n", file) > 0 && fclose(file) == 0);
    CHECK_INT(chmod(path, 0755), 0);
    stage_open(&s);
    run_words(&s, &word, 1);
    turn_until(&s, &s.has_ended);
    CHECK_INT(s.pid, 0);
    CHECK_INT(s.end.type, CHILD_NOT_STARTED);
    CHECK_INT(s.end.code, ENOENT);
    CHECK(strstr(s.why, "No such file or directory"));
    stage_close(&s);
    CHECK_INT(unlink(path), 0);
}

TEST(what_a_child_has_started_ends_with_it)
{
    struct stage s;
    pid_t stray;

    stage_open(&s);
    /* In a session of its own, and nobody's child by the time it speaks. */
    run_script(&s, "(setsid sh -c 'echo $$; exec sleep 1000' </dev/null &) ; read line");
    stray = hear_pid(&s);
    CHECK(is_there(stray));
    (void)close(fd_take(&s.in));
    turn_until(&s, &s.has_ended);
    CHECK_INT(s.end.type, CHILD_EXITED);
    CHECK(!is_there(stray)); /* already: its end was told after theirs */
    stage_close(&s);
}

/* Under bubblewrap too, which is of its group. */
static void stop_gently(enum sandbox_level level)
{
    struct stage s;

    stage_open(&s);
    s.level = level;
    run_script(&s, "trap 'echo bye; exit 3' TERM; echo; while :; do sleep 0.01; done");
    (void)hear(&s, true);
    child_stop(s.child, 10'000);
    turn_until(&s, &s.has_ended);
    CHECK_INT(s.end.type, CHILD_EXITED);
    CHECK_INT(s.end.code, 3);
    CHECK_STR(hear(&s, false), S("\nbye\n"));
    stage_close(&s);
}

TEST(stopping_is_gentle_first)
{
    stop_gently(SANDBOX_OFF);
    if (has_strict())
        stop_gently(SANDBOX_STRICT);
}

TEST(who_does_not_stop_is_killed)
{
    struct stage s;

    stage_open(&s);
    run_script(&s, "trap '' TERM; echo; while :; do sleep 1; done");
    (void)hear(&s, true);
    child_stop(s.child, 50);
    turn_until(&s, &s.has_ended);
    CHECK_INT(s.end.type, CHILD_KILLED);
    CHECK_INT(s.end.code, SIGKILL);
    stage_close(&s);
}

TEST(a_signal_reaches_the_whole_group)
{
    struct stage s;

    stage_open(&s);
    run_script(&s, "trap 'echo outer' USR1;"
                   "sh -c 'trap \"echo inner; exit\" USR1; echo; while :; do sleep 0.01; "
                   "done' & wait; wait; exit 0");
    (void)hear(&s, true);
    child_signal(s.child, SIGUSR1);
    turn_until(&s, &s.has_ended);
    CHECK(strstr(buf_cstr(&s.said), "\n"));
    (void)hear(&s, false);
    CHECK(strstr(buf_cstr(&s.said), "inner\n"));
    CHECK(strstr(buf_cstr(&s.said), "outer\n"));
    stage_close(&s);
}

TEST(an_abandoned_child_ends)
{
    struct stage s;
    pid_t pid;

    stage_open(&s);
    run_script(&s, "trap '' TERM; echo $$; while :; do sleep 1; done");
    pid = hear_pid(&s);
    child_abandon(s.child);
    wait_until_gone(&s, pid);
    CHECK(!s.has_ended);
    stage_close(&s);
}

static pid_t parent_of(pid_t pid)
{
    char path[64], line[512];
    int parent = 0;
    FILE *file;

    (void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "PPid: %d", &parent) ==
            1) /* NOLINT(cert-err34-c): by the kernel */
            break;
    if (file)
        (void)fclose(file);
    return (pid_t)parent;
}

/* The leader, and a stray that is no longer below it. */
static const char leaves_stray[] =
    "(setsid sh -c 'echo $$; exec sleep 1000' </dev/null &) ; exec sleep 1000";

TEST(a_killed_keeper_leaves_nothing)
{
    struct stage s;
    pid_t stray;

    stage_open(&s);
    run_script(&s, leaves_stray);
    stray = hear_pid(&s);
    while (!s.pid)
        loop_turn(s.loop, 50);
    end(parent_of(s.pid));
    turn_until(&s, &s.has_ended);
    CHECK_INT(s.end.type, CHILD_LOST);
    CHECK(!is_there(stray));
    CHECK(!is_there(s.pid));
    stage_close(&s);
}

TEST(a_killed_spawner_leaves_nothing_and_is_started_again)
{
    struct stage s;
    pid_t stray, spawner;

    stage_open(&s);
    spawner = spawner_pid(s.spawner);
    run_script(&s, leaves_stray);
    stray = hear_pid(&s);
    while (!s.pid)
        loop_turn(s.loop, 50);
    end(spawner);
    turn_until(&s, &s.has_ended);
    wait_until_gone(&s, stray);
    wait_until_gone(&s, s.pid);

    run_script(&s, "echo again"); /* waits for the new one, if need be */
    turn_until(&s, &s.has_ended);
    CHECK_INT(s.end.type, CHILD_EXITED);
    CHECK_STR(hear(&s, false), S("again\n"));
    CHECK(spawner_pid(s.spawner) != spawner);
    stage_close(&s);
}

TEST(a_killed_spawner_and_keeper_leave_nothing)
{
    struct stage s;
    pid_t stray, keeper;

    stage_open(&s);
    run_script(&s, leaves_stray);
    stray = hear_pid(&s);
    while (!s.pid)
        loop_turn(s.loop, 50);
    keeper = parent_of(s.pid);
    end(keeper); /* first: it must not see the other end */
    end(spawner_pid(s.spawner));
    turn_until(&s, &s.has_ended);
    CHECK_INT(s.end.type, CHILD_LOST);
    wait_until_gone(&s, stray);
    wait_until_gone(&s, s.pid);
    stage_close(&s);
}

TEST(closing_ends_what_nobody_freed)
{
    struct stage s;
    pid_t stray;

    stage_open(&s);
    run_script(&s, leaves_stray);
    stray = hear_pid(&s);
    spawner_close(s.spawner); /* its socket is open still */
    CHECK(!is_there(stray));
    turn_until(&s, &s.has_ended);
    spawn_free(s.spawn);
    loop_free(s.loop);
    fd_closep(&s.out);
    fd_closep(&s.in);
    buf_done(&s.said);
}

/* Processes that run this command, in whatever namespace. */
static size_t count_of(const char *command)
{
    char path[300], words[256];
    struct dirent *entry;
    DIR *all = opendir("/proc");
    size_t count = 0;

    while (all && (entry = readdir(all))) {
        ssize_t got = -1;

        (void)snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
        CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd >= 0)
            got = read(fd, words, sizeof(words) - 1);
        for (ssize_t i = 0; i + 1 < got; i++)
            if (words[i] == '\0')
                words[i] = ' ';
        words[got < 0 ? 0 : got] = '\0';
        count += strcmp(words, command) == 0;
    }
    (void)closedir(all);
    return count;
}

TEST(whoever_is_killed_nothing_of_a_strict_sandbox_is_left)
{
    enum {
        THE_LEADER,
        THE_KEEPER,
        THE_SPAWNER,
        ALL_OF_THEM
    } cases[] = { THE_LEADER, THE_KEEPER, THE_SPAWNER, ALL_OF_THEM };
    struct stage s;

    if (!has_strict())
        return;
    stage_open(&s);
    s.level = SANDBOX_STRICT;
    FOR_EACH_CASE(c, cases) {
        pid_t keeper;

        run_script(&s, "setsid sleep 8642.5 & echo; exec sleep 8642.5");
        (void)hear(&s, true);
        while (!s.pid)
            loop_turn(s.loop, 50);
        while (count_of("sleep 8642.5") < 2)
            loop_turn(s.loop, 1);
        keeper = parent_of(s.pid);
        if (*c == THE_SPAWNER || *c == ALL_OF_THEM)
            end(spawner_pid(s.spawner));
        if (*c == THE_KEEPER || *c == ALL_OF_THEM)
            end(keeper);
        if (*c == THE_LEADER || *c == ALL_OF_THEM)
            end(s.pid);
        turn_until(&s, &s.has_ended);
        if (*c == THE_LEADER || *c == THE_KEEPER)
            CHECK_INT(count_of("sleep 8642.5"), 0);
        while (count_of("sleep 8642.5"))
            loop_turn(s.loop, 1);
        while (spawner_pid(s.spawner) == 0)
            loop_turn(s.loop, 1);
    }
    stage_close(&s);
}
