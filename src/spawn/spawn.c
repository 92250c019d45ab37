/* SPDX-License-Identifier: Apache-2.0 */
/* The program's side of the spawner: starts it, and starts it again. */
#include "spawn/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/xalloc.h"
#include "spawn/program.h"

enum { START_AGAIN_MS = 500, VARIABLES = 16 };

/* --- starting --- */

static bool set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;

    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    return posix_spawnattr_setsigmask(attributes, &none) == 0 &&
           posix_spawnattr_setsigdefault(attributes, &all) == 0 &&
           /* A session of its own: what is typed on our terminal is not for it. */
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETSID) == 0;
}

static bool set_files(posix_spawn_file_actions_t *files, int socket)
{
    return posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                            0) == 0 &&
           posix_spawn_file_actions_addopen(files, STDOUT_FILENO, "/dev/null", O_WRONLY,
                                            0) == 0 &&
           posix_spawn_file_actions_adddup2(files, socket, SPAWNER_FD) == 0;
}

/* Of the environment only what loading the program needs, where that is somewhere of its
 * own or has a sanitizer: secrets are the business of plans. */
static void choose_variables(char *ret[static VARIABLES + 1])
{
    size_t count = 0;

    for (char **at = environ; *at && count < VARIABLES; at++) {
        struct str name = { *at, strcspn(*at, "=") };

        if (str_starts(name, S("LD_")) || str_ends(name, S("SAN_OPTIONS")))
            ret[count++] = *at;
    }
    ret[count] = NULL;
}

/* The same program, even where another one lies at its path by now. */
static pid_t run_spawner(int socket)
{
    static char name[] = "moot", word[] = SPAWNER_WORD;
    char *const words[] = { name, word, NULL };
    char *variables[VARIABLES + 1];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    pid_t pid = 0;

    choose_variables(variables);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawn_file_actions_init(&files);
    if (!set_attributes(&attributes) || !set_files(&files, socket) ||
        posix_spawn(&pid, "/proc/self/exe", &files, &attributes, words, variables))
        pid = 0;
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&attributes);
    return pid;
}

static void kill_spawner(struct spawner *spawner)
{
    (void)kill(spawner->pid, SIGKILL);
    (void)waitpid(spawner->pid, NULL, 0);
    spawner->pid = 0;
}

static enum err watch(struct spawner *spawner)
{
    int fd = pidfd_of(spawner->pid);

    if (fd < 0)
        return ERR_IO;
    spawner->end.fd = fd;
    if (loop_fd_add(spawner->loop, &spawner->end) == OK)
        return OK;
    spawner->end.fd = -1;
    (void)close(fd);
    return ERR_IO;
}

/* The descriptor of the socket stays the same: other threads write to it at any time. */
static enum err start(struct spawner *spawner)
{
    int pair[2];

    if (word_pair(pair))
        return ERR_IO;
    spawner->pid = run_spawner(pair[1]);
    (void)close(pair[1]);
    if (!spawner->pid) {
        (void)close(pair[0]);
        return ERR_IO;
    }
    if (spawner->control < 0) {
        spawner->control = pair[0];
    } else {
        (void)dup3(pair[0], spawner->control, O_CLOEXEC);
        (void)close(pair[0]);
    }
    if (watch(spawner) == OK)
        return OK;
    kill_spawner(spawner);
    return ERR_IO;
}

/* --- its death --- */

/* What its keepers kept is ours now; only when it is gone there is a new spawner. */
static void on_sweep(struct loop_timer *timer)
{
    struct spawner *spawner = CONTAINER_OF(timer, struct spawner, sweep);

    if (!family_kill(NULL, 0))
        loop_timer_set(spawner->loop, timer, SWEEP_MS);
    else if (start(spawner))
        loop_timer_set(spawner->loop, timer, START_AGAIN_MS);
    else
        log_info("spawner.restart", "pid=%d", (int)spawner->pid);
}

static void unwatch(struct spawner *spawner)
{
    int fd = spawner->end.fd;

    loop_fd_remove(spawner->loop, &spawner->end);
    if (fd >= 0)
        (void)close(fd);
}

static void on_end(struct loop_fd *self, uint32_t)
{
    struct spawner *spawner = CONTAINER_OF(self, struct spawner, end);

    if (waitpid(spawner->pid, NULL, WNOHANG) == 0)
        return;
    log_warn("spawner.die", "pid=%d: all servers end, and are started again",
             (int)spawner->pid);
    unwatch(spawner);
    spawner->pid = 0;
    loop_timer_set(spawner->loop, &spawner->sweep, 0);
}

/* --- opening and closing --- */

enum err spawner_open(struct loop *loop, struct spawner **ret)
{
    struct spawner *spawner = xcalloc(1, sizeof(*spawner));

    *spawner = (struct spawner){ .loop = loop, .control = -1 };
    spawner->end = (struct loop_fd){ .fd = -1, .events = EPOLLIN, .on_ready = on_end };
    spawner->sweep.on_fire = on_sweep;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) || start(spawner)) {
        if (spawner->control >= 0)
            (void)close(spawner->control);
        free(spawner);
        return ERR_IO;
    }
    *ret = spawner;
    return OK;
}

/* True: it has ended by itself. */
static bool wait_for_end(const struct spawner *spawner)
{
    uint64_t until = clock_mono_ms() + SPAWNER_LAST;
    uint64_t now;

    while ((now = clock_mono_ms()) < until) {
        struct pollfd polled = { .fd = spawner->end.fd, .events = POLLIN };

        if (poll(&polled, 1, (int)(until - now)) > 0)
            return true;
    }
    return false;
}

/* What the spawner left behind, which is nothing unless it was killed. */
static void sweep_all(void)
{
    for (int i = 0; i < SPAWNER_LAST / SWEEP_MS && !family_kill(NULL, 0); i++)
        (void)poll(NULL, 0, SWEEP_MS);
}

void spawner_close(struct spawner *spawner)
{
    if (!spawner)
        return;
    (void)close(spawner->control);
    if (spawner->pid && !wait_for_end(spawner))
        (void)kill(spawner->pid, SIGKILL);
    if (spawner->pid)
        (void)waitpid(spawner->pid, NULL, 0);
    unwatch(spawner);
    loop_timer_clear(spawner->loop, &spawner->sweep);
    sweep_all();
    free(spawner);
}

pid_t spawner_pid(const struct spawner *spawner)
{
    return spawner->pid;
}
