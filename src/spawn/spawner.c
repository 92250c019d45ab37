/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spawner's own program: forks a keeper for each START. Its children are keepers;
 * what else appears among them was left behind by a keeper that was killed, and is
 * killed, before the program hears of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/xalloc.h"
#include "loop/loop.h"
#include "spawn/spawn_priv.h"

enum { MAX_KEPT = 4096, WORDS_PER_TURN = 64 };

struct host {
    struct loop *loop;
    struct loop_fd control;
    struct loop_timer sweep, last;
    struct link kept;
    size_t count;
    bool is_over; /* the program is gone */
};

/* A keeper that lives, or whose leavings are being swept. */
struct kept {
    struct link link;
    struct host *host;
    struct loop_fd end; /* its pidfd; removed: it was killed, and reaped */
    pid_t pid;          /* 0: likewise */
    int socket;         /* a copy: if the keeper cannot say the end, we do */
};

static void kept_free(struct kept *kept)
{
    struct host *host = kept->host;
    int fd = kept->end.fd;

    loop_fd_remove(host->loop, &kept->end);
    fd_closep(&fd);
    (void)close(kept->socket);
    list_remove(&kept->link);
    host->count--;
    free(kept);
    if (host->is_over && host->count == 0)
        loop_stop(host->loop);
}

static size_t living(const struct host *host, pid_t pids[static MAX_KEPT])
{
    const struct kept *kept;
    size_t count = 0;

    LIST_FOREACH(kept, &host->kept, link)
        if (kept->pid)
            pids[count++] = kept->pid;
    return count;
}

static void on_sweep(struct loop_timer *timer)
{
    static const struct word lost = { .type = WORD_ENDED,
                                      .exit = CHILD_LOST,
                                      .why = "its keeper was killed" };
    struct host *host = CONTAINER_OF(timer, struct host, sweep);
    pid_t pids[MAX_KEPT];
    struct kept *kept;

    if (!family_kill(pids, living(host, pids))) {
        loop_timer_set(host->loop, timer, SWEEP_MS);
        return;
    }
    LIST_FOREACH(kept, &host->kept, link)
        if (!kept->pid) {
            (void)word_send(kept->socket, &lost, NULL, 0);
            kept_free(kept);
        }
}

static void on_keeper_end(struct loop_fd *self, uint32_t)
{
    struct kept *kept = CONTAINER_OF(self, struct kept, end);
    struct host *host = kept->host;
    int status = 0, fd = self->fd;

    if (waitpid(kept->pid, &status, WNOHANG) == 0)
        return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) {
        kept_free(kept);
        return;
    }
    loop_fd_remove(host->loop, self);
    (void)close(fd);
    kept->pid = 0;
    loop_timer_set(host->loop, &host->sweep, 0);
}

static void say_not_started(int socket, int code, const char *why)
{
    struct word word = { .type = WORD_ENDED, .exit = CHILD_NOT_STARTED, .value = code };

    (void)snprintf(word.why, sizeof(word.why), "%s", why);
    (void)word_send(socket, &word, NULL, 0);
}

static void keep_watch(struct host *host, pid_t pid, int *socket)
{
    struct kept *kept = xcalloc(1, sizeof(*kept));

    *kept = (struct kept){ .host = host, .pid = pid, .socket = fd_take(socket) };
    kept->end = (struct loop_fd){ .fd = pidfd_of(pid),
                                  .events = EPOLLIN,
                                  .on_ready = on_keeper_end };
    list_append(&host->kept, &kept->link);
    host->count++;
    if (kept->end.fd < 0 || loop_fd_add(host->loop, &kept->end)) {
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0);
        kept->pid = 0;
        loop_timer_set(host->loop, &host->sweep, 0);
    }
}

static void start(struct host *host, int fds[static WORD_FDS])
{
    pid_t self = getpid(), pid;

    if (host->count == MAX_KEPT || fds[START_PLAN] < 0) {
        say_not_started(fds[START_SOCKET], EMFILE, "too many servers");
        return;
    }
    pid = fork();
    if (pid == 0)
        keeper_run(fds, self);
    if (pid < 0)
        say_not_started(fds[START_SOCKET], errno, "the spawner cannot fork");
    else
        keep_watch(host, pid, &fds[START_SOCKET]);
}

/* Keepers end by themselves, as their sockets do; SIGTERM is for those whose socket is
 * kept open by somebody. */
static void on_over(struct host *host)
{
    struct kept *kept;

    loop_fd_remove(host->loop, &host->control);
    host->is_over = true;
    if (host->count == 0)
        loop_stop(host->loop);
    LIST_FOREACH(kept, &host->kept, link)
        if (kept->pid)
            (void)kill(kept->pid, SIGTERM);
    loop_timer_set(host->loop, &host->last, SPAWNER_GRACE);
}

static void on_control(struct loop_fd *self, uint32_t)
{
    struct host *host = CONTAINER_OF(self, struct host, control);

    for (int i = 0; i < WORDS_PER_TURN; i++) {
        int fds[WORD_FDS];
        struct word word;
        enum err err = word_receive(self->fd, &word, fds);

        if (err == ERR_AGAIN)
            return;
        if (err) {
            on_over(host);
            return;
        }
        if (word.type == WORD_START)
            start(host, fds);
        for (int j = 0; j < WORD_FDS; j++)
            fd_closep(&fds[j]);
    }
}

/* Keepers that do not come to an end: with them goes what they keep, now as ours. */
static void on_last(struct loop_timer *timer)
{
    struct host *host = CONTAINER_OF(timer, struct host, last);
    struct kept *kept;

    LIST_FOREACH(kept, &host->kept, link)
        if (kept->pid)
            (void)kill(kept->pid, SIGKILL);
}

static bool is_socket(int fd)
{
    socklen_t size = sizeof(int);
    int type = 0;

    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
           type == SOCK_SEQPACKET;
}

/* Two descriptors for each keeper. What a server may open its plan says. */
static void raise_limit(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files))
        return;
    files.rlim_cur = files.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &files);
}

int spawner_main(int control_fd)
{
    struct host host = {};

    if (!is_socket(control_fd)) {
        fputs("moot: spawner is started by moot itself\n", stderr);
        return 2;
    }
    (void)close_range((unsigned)control_fd + 1, ~0U, 0);
    (void)fcntl(control_fd, F_SETFD, FD_CLOEXEC);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    (void)prctl(PR_SET_NAME, "moot-spawner");
    raise_limit();
    list_init(&host.kept);
    host.sweep.on_fire = on_sweep;
    host.last.on_fire = on_last;
    host.loop = loop_new();
    host.control =
        (struct loop_fd){ .fd = control_fd, .events = EPOLLIN, .on_ready = on_control };
    if (!host.loop || loop_fd_add(host.loop, &host.control))
        return 1;
    loop_run(host.loop);
    loop_free(host.loop);
    return 0;
}
