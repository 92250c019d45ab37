/* SPDX-License-Identifier: Apache-2.0 */
#include "store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

/* Makes `dir` and what is missing above it. */
static enum err make_folders(const char *dir)
{
    char path[PATH_MAX];
    size_t len = strlen(dir);

    if (len == 0 || len >= sizeof(path)) {
        errno = len ? ENAMETOOLONG : ENOENT;
        return ERR_IO;
    }
    memcpy(path, dir, len + 1);
    for (size_t i = 1; i <= len; i++) {
        char c = path[i];

        if (c != '/' && c != '\0')
            continue;
        path[i] = '\0';
        if (mkdir(path, 0700) && errno != EEXIST)
            return ERR_IO;
        path[i] = c;
    }
    return OK;
}

static void write_pid(int fd)
{
    char text[32];
    int len = snprintf(text, sizeof(text), "%d\n", (int)getpid());

    if (ftruncate(fd, 0) == 0)
        (void)!write(fd, text, (size_t)len); /* the lock is what counts */
}

/* The descriptor of DIR/lock, or -1. */
static int open_lock(const char *dir)
{
    CLEANUP(fd_closep) int folder = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0)
        return -1;
    return openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

enum err data_lock(const char *dir, int *ret_fd)
{
    enum err err = make_folders(dir);
    int fd;

    if (err)
        return err;
    fd = open_lock(dir);
    if (fd < 0)
        return ERR_IO;
    if (flock(fd, LOCK_EX | LOCK_NB)) {
        err = errno == EWOULDBLOCK ? ERR_CONFLICT : ERR_IO;
        (void)close(fd);
        return err;
    }
    write_pid(fd);
    *ret_fd = fd;
    return OK;
}
