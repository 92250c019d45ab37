/* SPDX-License-Identifier: Apache-2.0 */
/* Who descends from whom, as /proc says it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "spawn/spawn_priv.h"

enum {
    FAMILY = 4096,         /* more are met the next time */
    LIST_BYTES = 64 << 10, /* of one thread's children */
    PATH_BYTES = 64,
};

struct family {
    pid_t pids[FAMILY];
    size_t count;
};

int pidfd_of(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static void read_list(const char *path, struct buf *ret)
{
    CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return;
    while (buf_reserve(ret, 4096) == OK) {
        got = read(fd, ret->ptr + ret->len, ret->size - ret->len);
        if (got <= 0)
            return;
        ret->len += (size_t)got;
    }
}

static void add_children(struct family *family, const char *path)
{
    struct buf list;
    struct str rest;

    buf_init(&list, LIST_BYTES);
    read_list(path, &list);
    rest = buf_str(&list);
    while (rest.len && family->count < FAMILY) {
        uint64_t pid;

        if (str_to_u64(str_cut(&rest, ' '), INT32_MAX, &pid) == OK)
            family->pids[family->count++] = (pid_t)pid;
    }
    buf_done(&list);
}

/* The children of all threads of a process. */
static void gather(struct family *family, pid_t pid)
{
    char path[PATH_BYTES];
    struct dirent *entry;
    DIR *tasks;

    (void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    if (!tasks)
        return;
    while ((entry = readdir(tasks))) {
        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof(path), "/proc/%d/task/%.16s/children", (int)pid,
                       entry->d_name);
        add_children(family, path);
    }
    (void)closedir(tasks);
}

static bool is_among(pid_t pid, const pid_t *pids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (pids[i] == pid)
            return true;
    return false;
}

bool family_kill(const pid_t *spared, size_t count)
{
    struct family family = {};
    bool is_left = false;

    gather(&family, getpid());
    for (size_t i = 0; i < family.count; i++) {
        pid_t pid = family.pids[i];

        if (is_among(pid, spared, count))
            continue;
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, WNOHANG | __WALL);
        is_left = true; /* it may have left children, which are ours only now */
    }
    return !is_left;
}
