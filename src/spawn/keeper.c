/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A keeper starts one server, tells the program what becomes of it, and ends only when
 * nothing is left of it. It waits for words of the program, the end of its socket (nobody
 * is left who wants the server), SIGTERM (the spawner is gone) and SIGCHLD.
 *
 *     running ──STOP, end, SIGTERM──► stopping ──grace──► killing ──► nothing is left
 *        └──────── the leader ended ───────────────────────►┘
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "spawn/spawn_priv.h"

enum { GROUP_PATHS = 16 << 10 };

struct keeper {
    int fds[WORD_FDS];
    int signals; /* a signalfd */
    int report;  /* of the leader, until the command runs; else -1 */
    struct sandbox_plan *plan;
    struct buf group;
    pid_t leader;     /* 0: there is none, or it was reaped */
    uint64_t kill_at; /* UINT64_MAX: not stopping */
    struct word end;
};

static void fail(struct keeper *k, int code, const char *why)
{
    k->end.exit = CHILD_NOT_STARTED;
    k->end.value = code;
    (void)snprintf(k->end.why, sizeof(k->end.why), "%.80s: %.60s", why, strerror(code));
}

/* --- starting --- */

/* The spawner's descriptors are not ours: our own move down to the first ones, in their
 * order (each stands above its new place, since the spawner has one more), and the rest
 * is closed. */
static bool drop_foreign(struct keeper *k)
{
    for (int i = 0; i < WORD_FDS; i++) {
        k->fds[i] = dup3(k->fds[i], SPAWNER_FD + i, O_CLOEXEC);
        if (k->fds[i] < 0)
            return false;
    }
    return close_range(SPAWNER_FD + WORD_FDS, ~0U, 0) == 0;
}

static bool set_up(struct keeper *k, pid_t spawner)
{
    sigset_t wanted;

    if (!drop_foreign(k))
        return false;
    (void)prctl(PR_SET_NAME, "moot-keeper");
    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGTERM);
    (void)sigaddset(&wanted, SIGCHLD);
    (void)sigprocmask(SIG_SETMASK, &wanted, NULL);
    k->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (k->signals < 0)
        return false;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) || prctl(PR_SET_PDEATHSIG, SIGTERM))
        return false;
    if (getppid() != spawner)
        (void)raise(SIGTERM); /* it ended before it could have told us */
    return true;
}

static bool read_plan(struct keeper *k)
{
    struct stat file;
    struct str bytes;
    void *map;
    enum err err;

    if (fstat(k->fds[START_PLAN], &file) || file.st_size <= 0)
        return false;
    bytes.len = (size_t)file.st_size;
    map = mmap(NULL, bytes.len, PROT_READ, MAP_PRIVATE, k->fds[START_PLAN], 0);
    if (map == MAP_FAILED)
        return false;
    bytes.ptr = map;
    err = sandbox_plan_read(bytes, &k->plan);
    (void)munmap(map, bytes.len);
    return err == OK;
}

static bool fork_leader(struct keeper *k)
{
    struct leader leader = { .plan = k->plan,
                             .group = buf_cstr(&k->group),
                             .socket = k->fds[START_SOCKET],
                             .keeper = getpid() };
    int report[2];

    memcpy(leader.streams, k->fds, sizeof(leader.streams));
    if (pipe2(report, O_CLOEXEC | O_NONBLOCK))
        return false;
    leader.report = report[1];
    k->report = report[0];
    k->leader = fork();
    if (k->leader == 0)
        leader_run(&leader);
    (void)close(report[1]);
    return k->leader > 0;
}

/* The pipes are the server's alone: their end is seen when it ends. */
static void drop_streams(struct keeper *k)
{
    for (int i = START_IN; i <= START_ERR; i++)
        (void)close(k->fds[i]);
    (void)close(k->fds[START_PLAN]);
}

static void start(struct keeper *k, pid_t spawner)
{
    if (!set_up(k, spawner))
        fail(k, errno, "the keeper");
    else if (!read_plan(k))
        fail(k, EINVAL, "the plan");
    else if (sandbox_group_make(k->plan, &k->group))
        fail(k, errno, "the cgroup");
    else if (!fork_leader(k))
        fail(k, errno, "fork");
    drop_streams(k);
}

/* --- stopping --- */

/* Bubblewrap is of the group as well, and does not mind SIGTERM. A leader that has made
 * no group yet gets it alone, when it no longer blocks it. */
static void signal_all(const struct keeper *k, int signal)
{
    if (k->leader > 0 && kill(-k->leader, signal) && errno == ESRCH)
        (void)kill(k->leader, signal);
}

static void stop(struct keeper *k, uint64_t grace_ms)
{
    uint64_t at = clock_mono_ms() + grace_ms;

    if (k->kill_at == UINT64_MAX)
        signal_all(k, SIGTERM);
    if (at < k->kill_at)
        k->kill_at = at;
}

static void keep_status(struct keeper *k, int status)
{
    k->leader = 0;
    if (k->end.exit == CHILD_NOT_STARTED)
        return;
    k->end.exit = WIFEXITED(status) ? CHILD_EXITED : CHILD_KILLED;
    k->end.value = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    if (WIFEXITED(status))
        (void)snprintf(k->end.why, WORD_WHY, "it ended with code %d", k->end.value);
    else
        (void)snprintf(k->end.why, WORD_WHY, "it was ended by signal %d (%s)",
                       k->end.value, strsignal(k->end.value));
}

/* True: there is no child left. */
static bool reap(struct keeper *k)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0)
        if (pid == k->leader)
            keep_status(k, status);
    return pid < 0 && errno == ECHILD;
}

/* --- waiting --- */

/* The leader's report ends with the start of the command, or holds why there is none. */
static void hear_report(struct keeper *k)
{
    struct leader_failure failure;
    struct word started = { .type = WORD_STARTED, .value = k->leader };
    ssize_t got = read(k->report, &failure, sizeof(failure));

    if (got < 0)
        return;
    (void)close(k->report);
    k->report = -1;
    if (got == sizeof(failure)) {
        failure.why[sizeof(failure.why) - 1] = '\0';
        fail(k, failure.code, failure.why);
        return;
    }
    (void)word_send(k->fds[START_SOCKET], &started, NULL, 0);
}

static void hear_program(struct keeper *k)
{
    int fds[WORD_FDS];
    struct word word;
    enum err err = word_receive(k->fds[START_SOCKET], &word, fds);

    if (err == ERR_AGAIN)
        return;
    if (err) {
        (void)close(fd_take(&k->fds[START_SOCKET]));
        stop(k, ORPHAN_GRACE);
    } else if (word.type == WORD_SIGNAL) {
        signal_all(k, word.value);
    } else if (word.type == WORD_STOP) {
        stop(k, word.grace_ms);
    }
}

static void hear_signals(struct keeper *k)
{
    struct signalfd_siginfo info;

    while (read(k->signals, &info, sizeof(info)) == sizeof(info))
        if (info.ssi_signo == SIGTERM)
            stop(k, ORPHAN_GRACE);
}

static int patience(const struct keeper *k)
{
    uint64_t now = clock_mono_ms();

    if (k->leader == 0 || k->kill_at <= now)
        return SWEEP_MS;
    if (k->kill_at == UINT64_MAX)
        return -1;
    return k->kill_at - now > INT_MAX ? INT_MAX : (int)(k->kill_at - now);
}

static void wait_for_news(struct keeper *k)
{
    struct pollfd polled[] = {
        { .fd = k->report, .events = POLLIN },
        { .fd = k->fds[START_SOCKET], .events = POLLIN },
        { .fd = k->signals, .events = POLLIN },
    };

    if (poll(polled, COUNT(polled), patience(k)) <= 0)
        return;
    if (polled[0].revents)
        hear_report(k);
    if (polled[1].revents)
        hear_program(k);
    if (polled[2].revents)
        hear_signals(k);
}

/* The leader is reaped by reap() alone, which keeps how it ended. */
static void kill_all(const struct keeper *k)
{
    signal_all(k, SIGKILL);
    (void)family_kill(&k->leader, k->leader ? 1 : 0);
}

/* Whatever the leader left behind ends with it. */
static void keep(struct keeper *k)
{
    while (!reap(k)) {
        if (k->leader == 0 || k->kill_at <= clock_mono_ms())
            kill_all(k);
        wait_for_news(k);
    }
}

void keeper_run(const int fds[static WORD_FDS], pid_t spawner)
{
    struct keeper k = { .signals = -1,
                        .report = -1,
                        .kill_at = UINT64_MAX,
                        .end = { .type = WORD_ENDED, .exit = CHILD_EXITED } };

    memcpy(k.fds, fds, sizeof(k.fds));
    buf_init(&k.group, GROUP_PATHS);
    start(&k, spawner);
    if (k.leader > 0)
        keep(&k);
    if (k.group.len)
        sandbox_group_end(buf_cstr(&k.group));
    if (k.report >= 0)
        hear_report(&k);
    if (k.fds[START_SOCKET] >= 0)
        (void)word_send(k.fds[START_SOCKET], &k.end, NULL, 0);
    _exit(EXIT_SUCCESS);
}
